//! The recorded dialogues, each with a server and a workspace of its own; and every tool's definition.
//!
//! What the parts of a dialogue mean is in `golden/README.md`.

use crate::client::Client;
use crate::golden::{Archive, Findings, run_all};
use crate::world::World;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

#[test]
fn every_recorded_dialogue_goes_as_it_was_recorded() {
    run_all("mcp", &[], |_, archive| Dialogue::new(archive).run(archive));
}

/// One dialogue: a workspace, and what placeholders were bound to.
struct Dialogue {
    world: World,
    case: Json,
    bound: BTreeMap<String, String>,
}

impl Dialogue {
    fn new(archive: &Archive) -> Self {
        let case: Json = serde_json::from_str(archive.text("case.json")).unwrap();
        let mut world = World::bare();
        for (path, bytes) in archive.below("before") {
            world = world.file(path, bytes);
        }
        for entry in case["setup"].as_array().unwrap() {
            let text = |key: &str| entry[key].as_str().unwrap_or_default();
            let count = |key: &str| entry[key].as_u64().unwrap_or(1);
            let (piece, times) =
                (entry["repeat"][0].as_str().unwrap_or_default(), entry["repeat"][1].as_u64());
            for number in count("from")..=count("to") {
                let fill = |text: &str| {
                    text.replace("{n4}", &format!("{number:04}")).replace("{n}", &number.to_string())
                };
                let content = fill(text("text")) + &piece.repeat(times.unwrap_or(0) as usize) + text("tail");
                world.write(&fill(text("path")), content);
            }
        }
        let root = world.root.display().to_string();
        let bound = [("root".to_owned(), root), ("version".to_owned(), env!("CARGO_PKG_VERSION").to_owned())];
        Self { world, case, bound: bound.into() }
    }

    fn run(mut self, archive: &Archive) -> Findings {
        let args: Vec<String> =
            self.case["args"].as_array().unwrap().iter().map(|arg| self.filled(arg)).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let mut client = Client::start(&self.world, &args);
        let steps: Vec<Json> =
            archive.text("steps.ndjson").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let mut found = Findings::new();
        let mut held = Vec::new();
        for (index, step) in steps.iter().enumerate() {
            let at = format!("step {} ({})", index + 1, step["case"].as_str().unwrap());
            held.extend(self.sent(step));
            // A request and its cancellation go down in one write.
            let next = &steps.get(index + 1).map_or(&Json::Null, |next| &next["send"]);
            if next["method"] == "notifications/cancelled"
                && next["params"]["requestId"] == step["send"]["id"]
            {
                continue;
            }
            client.send_bytes(&std::mem::take(&mut held));
            if step["thenCloseInput"] == true {
                client.close_input();
            }
            for want in step["expect"].as_array().unwrap() {
                let line = client.line();
                if line.contains(['\u{2028}', '\u{2029}', '\u{85}']) {
                    found.push(format!("{at}: a raw line separator"));
                }
                let got: Json = serde_json::from_str(&line).unwrap();
                let extra = step["send"]["method"] == "subscriptions/listen";
                if extra && got["error"]["data"]["code"] == "MCP_METHOD_NOT_FOUND" {
                    // What the rest of the dialogue is about is not offered.
                    client.ends_well();
                    return found;
                }
                self.message(&at, want, &got, &line, &mut found);
                let tool = step["send"]["params"]["name"].as_str().unwrap_or_default();
                if let Some(data) = got["result"].get("structuredContent") {
                    let stray = strays(&snapshot(tool)["outputSchema"], data);
                    found.extend(stray.map(|stray| format!("{at}: {stray}")));
                }
            }
            if !found.is_empty() {
                // What follows would only repeat it.
                return found;
            }
        }
        let (rest, ended) = client.end();
        if !rest.is_empty() || ended.code != Some(0) || !ended.stderr.is_empty() {
            found.push(format!("the end: {ended:?}, and unasked {rest:?}"));
        }
        found
    }

    /// The bytes of a step, line feed included.
    fn sent(&self, step: &Json) -> Vec<u8> {
        if let Some(bytes) = step["sendBytes"].as_str() {
            return base64(bytes);
        }
        let mut line = self.filled(&step["send"]);
        line.push('\n');
        line.into_bytes()
    }

    /// A value with everything that is bound filled in; a text without its quotes.
    fn filled(&self, value: &Json) -> String {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        self.bound.iter().fold(text, |text, (name, value)| text.replace(&format!("{{{{{name}}}}}"), value))
    }

    fn message(&mut self, at: &str, want: &Json, got: &Json, line: &str, found: &mut Findings) {
        if let Some(id) = want["id"].as_str().and_then(|id| id.strip_prefix("{{number:")) {
            let digits = id.trim_end_matches("}}");
            if !line.contains(&format!("\"id\":{digits},")) {
                found.push(format!("{at}: the id {digits} is due, got {line}"));
            }
        } else {
            self.json(&format!("{at} id"), &want["id"], &got["id"], found);
        }
        if got["result"]["isError"] == true && want["result"]["isError"] != true {
            found.push(format!("{at}: failed with {}", got["result"]["content"][0]["text"]));
        }
        for member in ["result", "error"] {
            if got.get(member).is_some() && want.get(member).is_none() && want.is_object() {
                found.push(format!("{at}: an unexpected {member}: {got}"));
            }
        }
        self.json(at, want, got, found);
    }

    fn json(&mut self, at: &str, want: &Json, got: &Json, found: &mut Findings) {
        match (want, got) {
            (Json::Object(wanted), Json::Object(gotten)) => {
                for (key, want) in wanted.iter().filter(|(key, _)| *key != "...") {
                    let at = format!("{at}.{key}");
                    match gotten.get(key) {
                        Some(got) => self.json(&at, want, got, found),
                        None => found.push(format!("{at}: {want} is due, and missing")),
                    }
                }
            }
            (Json::Array(wanted), Json::Array(gotten)) if wanted.len() == gotten.len() => {
                for (index, (want, got)) in wanted.iter().zip(gotten).enumerate() {
                    self.json(&format!("{at}[{index}]"), want, got, found);
                }
            }
            (Json::String(want), got) if want.contains("{{") => {
                if !self.fits(want, got) {
                    found.push(format!("{at}: {want} is due, got {got}"));
                }
            }
            _ if want == got => {}
            _ => found.push(format!("{at}: {want} is due, got {got}")),
        }
    }

    fn fits(&mut self, want: &str, got: &Json) -> bool {
        let whole = want.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}"));
        match whole.map(|name| name.split_once(':').unwrap_or((name, ""))) {
            Some(("any", _)) => true,
            Some(("object" | "record", _)) => got.is_object(),
            Some(("int", _)) => got.as_u64().is_some_and(|number| number > 0),
            Some(("number", digits)) => got.is_number() && !digits.is_empty(),
            Some(("prefix", _)) => got.is_array(),
            Some(("json", _)) => got.as_str().is_some_and(|text| serde_json::from_str::<Json>(text).is_ok()),
            Some(("clipped", _)) => got.as_str().is_some_and(|text| text.ends_with('…')),
            Some(("tool", name)) => *got == snapshot(name),
            _ => got.as_str().is_some_and(|got| self.text(want, got)),
        }
    }

    /// Whether a text is what is due; names that are met for the first time are bound.
    fn text(&mut self, want: &str, got: &str) -> bool {
        let Some((before, rest)) = want.split_once("{{") else { return want == got };
        let Some(got) = got.strip_prefix(before) else { return false };
        let (name, after) = rest.split_once("}}").unwrap();
        if let Some(value) = self.bound.get(name).cloned() {
            return got.strip_prefix(value.as_str()).is_some_and(|rest| self.text(after, rest));
        }
        let length = match name {
            "today" => Some(10),
            "minute" => Some(16),
            // With milliseconds where this project writes it, without where somebody else did.
            "timestamp" => Some(if got.len() < 24 || got.as_bytes()[19] == b'Z' { 20 } else { 24 }),
            _ => None,
        };
        if let Some(length) = length {
            return got.split_at_checked(length).is_some_and(|(one, rest)| {
                let shape: String = one.chars().map(|c| if c.is_ascii_digit() { '9' } else { c }).collect();
                let shape = shape.replace(' ', "T");
                let known = ["9999-99-99T99:99:99.999Z", "9999-99-99T99:99:99Z"];
                known.iter().any(|known| known.starts_with(&shape)) && self.text(after, rest)
            });
        }
        let ends: Vec<usize> = got.char_indices().map(|(at, _)| at).skip(1).chain([got.len()]).collect();
        let end = ends.into_iter().rev().find(|end| *end > 0 && self.text(after, &got[*end..]));
        if let (Some(end), true) = (end, name.contains(':')) {
            self.bound.insert(name.to_owned(), got[..end].to_owned());
        }
        end.is_some()
    }
}

fn base64(text: &str) -> Vec<u8> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b'=').map(value).collect();
    let groups = digits.chunks(4).flat_map(|group| {
        let bits =
            group.iter().fold(0u32, |bits, digit| bits << 6 | u32::from(*digit)) << (6 * (4 - group.len()));
        bits.to_be_bytes()[1..group.len()].to_vec()
    });
    groups.collect()
}

#[test]
fn texts_for_a_model_name_tools_that_are_listed() {
    let tools = listed(&[]);
    let world = World::new();
    let mut client = Client::start(&world, &[]);
    let found = client.ask(&crate::client::request(1, "server/discover", serde_json::json!({})));
    client.ends_well();
    let instructions = found["result"]["instructions"].as_str().unwrap().to_owned();
    assert!(instructions.len() < 4096, "a client cuts what is longer");
    let texts = tools.iter().map(Json::to_string).chain([instructions]);
    for text in texts {
        for word in text.split(|c: char| !c.is_ascii_lowercase() && c != '_') {
            let known = || tools.iter().any(|tool| tool["name"] == word);
            assert!(!word.starts_with("project_") || known(), "{word} in {text}");
        }
    }
}

/// Where a value strays from a schema, as far as the schemas of this project go.
pub(crate) fn strays(schema: &Json, value: &Json) -> Option<String> {
    let Json::Object(rules) = schema else { return Some(format!("{schema} is no schema")) };
    for (rule, wanted) in rules {
        let items = || value.as_array().into_iter().flatten();
        let stray =
            match rule.as_str() {
                "description" | "default" | "additionalProperties" => None,
                "type" => {
                    let holds = match wanted.as_str().unwrap() {
                        "object" => value.is_object(),
                        "array" => value.is_array(),
                        "string" => value.is_string(),
                        "boolean" => value.is_boolean(),
                        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
                        "number" => value.is_number(),
                        "null" => value.is_null(),
                        other => panic!("{other}"),
                    };
                    (!holds).then(|| format!("{value} is no {wanted}"))
                }
                "enum" => (!wanted.as_array().unwrap().contains(value))
                    .then(|| format!("{value} is not in {wanted}")),
                "const" => (wanted != value).then(|| format!("{value} is not {wanted}")),
                "required" => {
                    let missing = wanted
                        .as_array()
                        .unwrap()
                        .iter()
                        .find(|name| value.get(name.as_str().unwrap()).is_none());
                    missing.map(|name| format!("{name} is missing in {value}"))
                }
                "properties" => wanted.as_object().unwrap().iter().find_map(|(name, schema)| {
                    value
                        .get(name)
                        .and_then(|value| strays(schema, value))
                        .map(|stray| format!("{name}: {stray}"))
                }),
                "items" => items().find_map(|item| strays(wanted, item)),
                "minItems" => (items().count() < wanted.as_u64().unwrap() as usize)
                    .then(|| format!("{value} is too short")),
                "maxItems" => (items().count() > wanted.as_u64().unwrap() as usize)
                    .then(|| format!("{value} is too long")),
                "minimum" => (value.as_f64() < wanted.as_f64()).then(|| format!("{value} is too small")),
                "anyOf" => {
                    let branches: Vec<_> =
                        wanted.as_array().unwrap().iter().map(|branch| strays(branch, value)).collect();
                    branches.into_iter().collect::<Option<Vec<_>>>().map(|all| all.join(" and "))
                }
                other => panic!("{other} is a rule that nobody checks"),
            };
        if stray.is_some() {
            return stray;
        }
    }
    None
}

/// Where definitions of tools are kept.
fn definitions() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/tools")
}

/// A tool as it was recorded.
pub(crate) fn snapshot(name: &str) -> Json {
    let path = definitions().join(format!("{name}.json"));
    std::fs::read(path).map_or(Json::Null, |bytes| serde_json::from_slice(&bytes).unwrap())
}

/// Every tool as it is listed.
fn listed(args: &[&str]) -> Vec<Json> {
    let world = World::new();
    let mut client = Client::start(&world, args);
    let mut answer = client.ask(&crate::client::request(1, "tools/list", serde_json::json!({})));
    client.ends_well();
    match answer["result"]["tools"].take() {
        Json::Array(tools) => tools,
        other => panic!("{other}"),
    }
}

/// `GOLDEN_WRITE=1` writes them anew.
#[test]
fn every_tool_is_defined_as_it_was_recorded() {
    let tools = listed(&[]);
    let name = |tool: &Json| tool["name"].as_str().unwrap().to_owned();
    if std::env::var_os("GOLDEN_WRITE").is_some() {
        let _ = std::fs::remove_dir_all(definitions());
        std::fs::create_dir_all(definitions()).unwrap();
        for tool in &tools {
            std::fs::write(definitions().join(format!("{}.json", name(tool))), format!("{tool:#}\n"))
                .unwrap();
        }
    }
    for tool in &tools {
        assert_eq!(*tool, snapshot(&name(tool)), "{}", name(tool));
    }
    let recorded = std::fs::read_dir(definitions()).unwrap();
    let recorded: BTreeSet<String> = recorded
        .map(|entry| entry.unwrap().file_name().into_string().unwrap().replace(".json", ""))
        .collect();
    assert_eq!(recorded, tools.iter().map(name).collect::<BTreeSet<_>>());
}

#[test]
fn the_list_of_tools_is_sorted_and_small_and_the_same_each_time() {
    let tools = listed(&[]);
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(names.is_sorted(), "{names:?}");
    assert!(
        names.iter().all(|name| include_str!("golden/mcp-tools.txt").lines().any(|known| known == *name))
    );
    let whole = serde_json::to_string(&tools).unwrap().len();
    let mut inputs = tools.clone();
    for tool in &mut inputs {
        tool.as_object_mut().unwrap().remove("outputSchema");
    }
    let inputs = serde_json::to_string(&inputs).unwrap().len();
    assert!(whole < 90_000 && inputs < 40_000, "{whole} bytes, {inputs} without output schemas");
    let reading = listed(&["--read-only"]);
    let reads = |tool: &&Json| tool["annotations"]["readOnlyHint"] == true;
    assert_eq!(reading, tools.iter().filter(reads).cloned().collect::<Vec<_>>());
    assert_eq!(tools, listed(&[]));
}

#[test]
fn every_property_of_every_tool_is_described() {
    for tool in listed(&[]) {
        let name = tool["name"].as_str().unwrap();
        assert!(tool["description"].as_str().unwrap().len() > 60, "{name}");
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{name}");
        assert!(tool["inputSchema"]["properties"].get("workspace").is_none(), "{name}: hosts add their own");
        for (property, schema) in tool["inputSchema"]["properties"].as_object().unwrap() {
            assert!(schema["description"].as_str().unwrap().ends_with('.'), "{name}.{property}");
        }
        // Some clients report type lists and empty schemas as not portable.
        let text = tool.to_string();
        let text = text.replace("\"properties\":{}", "");
        assert!(!text.contains("\"type\":[") && !text.contains(":{}"), "{name}: {text}");
        assert!(tool["outputSchema"]["properties"].get("error").is_some(), "{name}");
    }
}
