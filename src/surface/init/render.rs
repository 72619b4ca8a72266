//! The texts that `init` writes.

use super::Values;
use crate::workspace::SCHEMA_VERSION;
use ignore::gitignore::GitignoreBuilder;
use serde_json::{Map, Value as Json, json};

/// Longest line of a list; longer ones have one element a line.
const LINE: usize = 100;

/// The configuration as a module that every tool of the format reads.
pub(super) fn module(values: &Values) -> String {
    let name = quoted(&values.name);
    let areas = list(&values.areas, "    areas: ");
    let sources = list(&values.docs, "    sources: ");
    let agents = list(&values.agents, "    targets: ");
    let ci = list(&values.ci, "    targets: ");
    format!(
        "// Read as data, never executed: values, constants and arithmetic over numbers.\n\
         export default {{\n\
         \x20 schemaVersion: {SCHEMA_VERSION},\n\
         \x20 name: {name},\n\
         \x20 cards: {{\n\
         \x20   // The first is the area of a card that names none.\n\
         \x20   areas: {areas},\n\
         \x20 }},\n\
         \x20 docs: {{\n\
         \x20   sources: {sources},\n\
         \x20 }},\n\
         \x20 agents: {{\n\
         \x20   targets: {agents},\n\
         \x20 }},\n\
         \x20 ci: {{\n\
         \x20   targets: {ci},\n\
         \x20 }},\n\
         \x20 mcp: {{\n\
         \x20   allowMutations: true,\n\
         \x20 }},\n\
         }};\n"
    )
}

/// The same as JSON.
pub(super) fn object(values: &Values) -> String {
    pretty(&Json::Object(data(values)))
}

/// What either form says.
pub(super) fn data(values: &Values) -> Map<String, Json> {
    let data = json!({
        "schemaVersion": SCHEMA_VERSION,
        "name": values.name,
        "cards": { "areas": values.areas },
        "docs": { "sources": values.docs },
        "agents": { "targets": values.agents },
        "ci": { "targets": values.ci },
        "mcp": { "allowMutations": true },
    });
    if let Json::Object(data) = data { data } else { Map::new() }
}

/// JSON as it stands in a file: two spaces, a line feed at the end.
pub(super) fn pretty(value: &Json) -> String {
    format!("{value:#}\n")
}

fn quoted(text: &str) -> String {
    Json::from(text).to_string()
}

fn list(items: &[String], before: &str) -> String {
    let items: Vec<String> = items.iter().map(|item| quoted(item)).collect();
    let line = format!("[{}]", items.join(", "));
    if before.len() + line.chars().count() < LINE {
        return line;
    }
    let lines: Vec<String> = items.iter().map(|item| format!("      {item},")).collect();
    format!("[\n{}\n    ]", lines.join("\n"))
}

/// `old` with a line for the folder `cache` at its end; `None` when its lines cover the folder already.
pub(super) fn gitignore(old: &[u8], cache: &str) -> Option<Vec<u8>> {
    if covers(old, cache) {
        return None;
    }
    let line_end: &[u8] = if old.windows(2).any(|pair| pair == b"\r\n") { b"\r\n" } else { b"\n" };
    let mut new = old.to_vec();
    if !old.is_empty() && !old.ends_with(b"\n") {
        new.extend_from_slice(line_end);
    }
    new.extend_from_slice(cache.as_bytes());
    new.push(b'/');
    new.extend_from_slice(line_end);
    Some(new)
}

/// Whether everything in a folder is ignored: the folder itself is, or both a file and a folder of any name in it are.
fn covers(lines: &[u8], folder: &str) -> bool {
    let mut builder = GitignoreBuilder::new("");
    for line in String::from_utf8_lossy(lines).lines() {
        // A line that is no pattern ignores nothing.
        let _ = builder.add_line(None, line);
    }
    let Ok(patterns) = builder.build() else { return false };
    let ignores = |path: &str, is_dir: bool| patterns.matched_path_or_any_parents(path, is_dir).is_ignore();
    let anything = format!("{folder}/q7ZkV");
    ignores(folder, true) || (ignores(&anything, true) && ignores(&anything, false))
}
