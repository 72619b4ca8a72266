//! The recorded cases of documents, changelog, memory and what reads them, each in a workspace of its own. What the parts
//! of a case mean is in `golden/README.md`.

use crate::client::{Client, tool_call};
use crate::compare::{Entry, Kind, Placeholders, Tree, equal, tree};
use crate::golden::{Archive, Findings, run_all};
use crate::golden_mcp::{snapshot, strays};
use crate::process::{Ended, call};
use crate::world::World;
use filetime::FileTime;
use serde_json::{Map, Value as Json, json};
use std::path::Path;

/// Cases for commands and tools that are not there yet.
const LATER: &[&str] = &[];

/// The time of every run, and of the last change of every file before it.
const CLOCK: &str = "2026-12-01T09:30:15.250Z";

#[test]
fn every_recorded_case_comes_out_as_recorded() {
    run_all("knowledge", LATER, |_, archive| {
        let case: Json = serde_json::from_str(archive.text("case.json")).unwrap();
        KnowledgeCase::new(archive, &case).run()
    });
}

struct KnowledgeCase<'a> {
    archive: &'a Archive,
    case: &'a Json,
    world: World,
    placeholders: Placeholders<'a>,
    /// What must stand there in the end, as far as it is known.
    want: Tree,
}

impl<'a> KnowledgeCase<'a> {
    fn new(archive: &'a Archive, case: &'a Json) -> Self {
        let mut world = World::bare().env("WORKFILE_CLOCK", CLOCK);
        for (path, bytes) in archive.below("input") {
            world = world.file(path, bytes);
        }
        for (name, value) in case["env"].as_object().unwrap() {
            world = world.env(name, value.as_str().unwrap());
        }
        let want = files(&world.root);
        settle(&world.root);
        let placeholders = placeholders(archive, &world.root);
        Self { archive, case, world, placeholders, want }
    }

    fn run(mut self) -> Findings {
        let mut found = Findings::new();
        // One server for calls that follow each other.
        let mut server: Option<Client> = None;
        for (index, step) in self.case["steps"].as_array().unwrap().iter().enumerate() {
            for (path, text) in step.get("writeFirst").and_then(Json::as_object).into_iter().flatten() {
                let text = text.as_str().unwrap();
                self.world.write(path, text);
                self.want.insert(path.clone(), Entry::File(text.into()));
            }
            let at = format!("step {}", index + 1);
            let Some(args) = step.get("args") else {
                let server = server.get_or_insert_with(|| Client::start(&self.world, &[]));
                self.call(&format!("{at} ({})", step["tool"]), step, server, &mut found);
                continue;
            };
            if let Some(server) = server.take() {
                server.ends_well();
            }
            let args: Vec<&str> =
                args.as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
            let at = format!("{at} ({})", args[..args.len().min(3)].join(" "));
            let stdin = step.get("stdin").map_or("", |text| text.as_str().unwrap());
            let ended = self.world.run(call([]).words(&args).stdin(stdin)).ended;
            equal(&format!("{at} exit"), &step["exit"].as_i64(), &ended.code.map(i64::from), &mut found);
            self.check_output(&at, step, &ended, &mut found);
            if args.contains(&"--json") && step.get("stderr").is_some() {
                equal(&format!("{at} stdout"), &"", &&*String::from_utf8_lossy(&ended.stdout), &mut found);
            }
        }
        if let Some(server) = server {
            server.ends_well();
        }
        self.check_files(&mut found);
        found
    }

    /// A call of a tool, failed or not.
    fn call(&self, at: &str, step: &Json, server: &mut Client, found: &mut Findings) {
        let name = step["tool"].as_str().unwrap();
        let mut answer = server.ask(&tool_call(1, name, &step["arguments"]));
        let mut got = answer["result"]["structuredContent"].take();
        let wanted = step["isError"] == true;
        equal(&format!("{at} isError"), &wanted, &(answer["result"]["isError"] == true), found);
        if let Some(stray) = strays(&snapshot(name)["outputSchema"], &got) {
            found.push(format!("{at}: {stray}"));
        }
        let Some(file) = step.get("structuredContent") else { return };
        let want: Json = serde_json::from_str(self.archive.text(file.as_str().unwrap())).unwrap();
        if wanted {
            without_more_details(&want, &mut got);
        } else if let Some(how) = step.get("reduce") {
            got = reduced(how.as_str().unwrap(), &got);
        }
        self.placeholders.json(at, &want, &got, found);
    }

    fn check_output(&self, at: &str, step: &Json, ended: &Ended, found: &mut Findings) {
        for (stream, bytes) in [("stdout", &ended.stdout), ("stderr", &ended.stderr)] {
            let Some(file) = step.get(stream).map(|file| file.as_str().unwrap()) else { continue };
            let at = format!("{at} {stream}");
            let (want, text) = (self.archive.text(file), String::from_utf8_lossy(bytes));
            if !is_json(file) {
                self.placeholders.text(&at, want, &text, found);
                continue;
            }
            let mut want: Json = serde_json::from_str(want).unwrap();
            let Ok(mut got) = serde_json::from_str::<Json>(&text) else {
                found.push(format!("{at}: one JSON value is due, got {text:?}"));
                continue;
            };
            if let Some(only) = step.get("compareOnly").and_then(Json::as_array) {
                for side in [&mut want, &mut got] {
                    side.as_object_mut().unwrap().retain(|key, _| only.iter().any(|name| name == key));
                }
            }
            if stream == "stderr" {
                without_more_details(&want, &mut got);
            } else if let Some(how) = step.get("reduce") {
                got = reduced(how.as_str().unwrap(), &got);
            }
            self.placeholders.json(&at, &want, &got, found);
        }
    }

    /// What was recorded stands there, everything else is as it was, and nothing else is there.
    fn check_files(&mut self, found: &mut Findings) {
        for path in self.case["filesRemoved"].as_array().unwrap() {
            self.want.remove(path.as_str().unwrap());
        }
        for (path, name) in self.case["filesWritten"].as_object().unwrap() {
            let text = self.archive.text(name.as_str().unwrap());
            self.want.insert(path.clone(), Entry::File(text.into()));
        }
        let mut got = files(&self.world.root);
        got.retain(|path, _| !path.starts_with(".project/.cache/"));
        let json: Vec<String> = self.want.keys().filter(|path| is_json(path)).cloned().collect();
        for path in json {
            // A recorded baseline holds messages.
            if let (Some(Entry::File(want)), Some(Entry::File(have))) = (self.want.get(&path), got.get(&path))
                && let (Ok(want), Ok(have)) = (serde_json::from_slice(want), serde_json::from_slice(have))
            {
                self.placeholders.json(&path, &want, &have, found);
                self.want.remove(&path);
                got.remove(&path);
            }
        }
        self.placeholders.tree("", &self.want, &got, found);
    }
}

/// The files below a folder, without the folders themselves.
fn files(root: &Path) -> Tree {
    let mut files = tree(root);
    files.retain(|_, entry| *entry != Entry::Directory);
    files
}

/// Sets the modification time of everything to the clock's.
fn settle(root: &Path) {
    let time = workfile::clock::Time::parse(CLOCK).unwrap().ms();
    let time = FileTime::from_unix_time(time.div_euclid(1000), (time.rem_euclid(1000) * 1_000_000) as u32);
    for path in tree(root).keys() {
        filetime::set_file_mtime(root.join(path), time).unwrap();
    }
    filetime::set_file_mtime(root, time).unwrap();
}

fn is_json(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|end| end == "json")
}

/// A failure without those facts that are not recorded.
fn without_more_details(want: &Json, got: &mut Json) {
    let recorded = want["error"].get("details").and_then(Json::as_object);
    let Some(error) = got.get_mut("error").and_then(Json::as_object_mut) else { return };
    match (recorded, error.get_mut("details").and_then(Json::as_object_mut)) {
        (Some(recorded), Some(details)) => details.retain(|key, _| recorded.contains_key(key)),
        (None, Some(_)) => drop(error.shift_remove("details")),
        (_, None) => {}
    }
}

/// The part of an answer that was recorded.
fn reduced(how: &str, got: &Json) -> Json {
    let records = || got["records"].as_array().into_iter().flatten();
    if how.starts_with("total, mode") {
        let pairs: Vec<Json> = records().map(|record| json!([record["id"], record["searchScore"]])).collect();
        return json!({"total": got["total"], "mode": got["mode"], "records": pairs});
    }
    assert!(how.starts_with("records as ids"), "unknown reduction: {how}");
    let ids: Vec<Json> = records().map(|record| record["id"].clone()).collect();
    let mut whole: Map<String, Json> = got.as_object().cloned().unwrap_or_default();
    whole.insert("records".to_owned(), ids.into());
    whole.into()
}

/// The placeholders of a case: the fixed ones, and every `{{MESSAGE:words}}` that stands in one of its files.
fn placeholders<'a>(archive: &'a Archive, root: &Path) -> Placeholders<'a> {
    let mut all = vec![
        ("{{TODAY}}", Kind::Exactly(CLOCK[..10].to_owned())),
        ("{{STAMP}}", Kind::Exactly(format!("{} {}Z", &CLOCK[..10], &CLOCK[11..16]))),
        ("{{NOW}}", Kind::Time),
        ("{{REVISION}}", Kind::Revision),
        ("{{NUMBER}}", Kind::Number),
        ("{{ROOT}}", Kind::Exactly(root.display().to_string())),
        ("{{TEXT}}", Kind::Anything),
        ("{{INTRO}}", Kind::Text),
        ("{{MESSAGE}}", Kind::Text),
    ];
    for (_, bytes) in archive.below("expected") {
        let text = std::str::from_utf8(bytes).unwrap_or_default();
        for (at, _) in text.match_indices("{{MESSAGE:") {
            let token = &text[at..at + text[at..].find("}}").unwrap() + 2];
            let words = token["{{MESSAGE:".len()..token.len() - 2].split(' ').map(str::to_owned).collect();
            all.push((token, Kind::Holding(words)));
        }
    }
    Placeholders(all)
}
