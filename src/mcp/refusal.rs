//! Refusals in the words of the protocol: the code in `data`, and never a path of the machine.

use super::host::Host;
use super::message::{INTERNAL_ERROR, INVALID_PARAMS, RpcError};
use crate::failure::{Code, Failure};
use serde_json::{Map, Value as Json};
use std::path::Path;

/// An error with the failure's code, message and details in its data.
pub(super) fn error(code: i64, failure: &Failure) -> RpcError {
    let data = failure.to_json()["error"].take();
    RpcError::new(code, failure.message()).with(data)
}

/// Refused parameters.
pub(super) fn params(failure: &Failure) -> RpcError {
    error(INVALID_PARAMS, failure)
}

/// Refused parameters about a resource: its address is told as it was asked for.
pub(super) fn params_of(uri: &str, failure: &Failure) -> RpcError {
    let mut data = failure.to_json()["error"].take();
    data["uri"] = uri.into();
    RpcError::new(INVALID_PARAMS, failure.message()).with(data)
}

/// A failure that is not about what was asked for.
pub(super) fn defect(host: &Host, failure: &Failure) -> RpcError {
    let mut failure = failure.clone();
    failure.text = relative(&failure.text, &host.root);
    failure.details.clear();
    error(INTERNAL_ERROR, &failure)
}

/// `MCP_ARGUMENT_INVALID` for a parameter of a method.
pub(super) fn argument(name: &str, problem: &str) -> RpcError {
    let text = format!("`{name}` {problem}");
    params(&Failure::new(Code::MCP_ARGUMENT_INVALID, text).with("argument", name))
}

/// `MCP_ARGUMENT_REQUIRED` for a parameter of a method.
pub(super) fn required(name: &str) -> RpcError {
    let text = format!("`{name}` is required, a string that is not blank");
    params(&Failure::new(Code::MCP_ARGUMENT_REQUIRED, text).with("argument", name))
}

/// Every text in `value` without the root's path: what stays is relative to it.
pub(super) fn without_root(value: &mut Json, root: &Path) {
    match value {
        Json::String(text) => *text = relative(text, root),
        Json::Array(items) => items.iter_mut().for_each(|item| without_root(item, root)),
        Json::Object(members) => members.values_mut().for_each(|member| without_root(member, root)),
        _ => {}
    }
}

/// A text without the root's path, by the name it was found under and by its real one.
pub(super) fn relative(text: &str, root: &Path) -> String {
    let real = root.canonicalize().ok();
    let roots = [Some(root), real.as_deref()].into_iter().flatten().filter_map(Path::to_str);
    roots
        .filter(|root| root.len() > 1)
        .fold(text.to_owned(), |text, root| text.replace(&format!("{root}/"), "").replace(root, "."))
}

/// How many characters of a detail a text repeats.
const REPEATED: usize = 600;

/// The message of a failed call. A model is shown this text and nothing else, so it says what the details hold; what can
/// be done next is named as tools, which is what the reader has.
pub(super) fn spoken(failure: &Failure) -> String {
    let mut text = crate::path::one_line(&failure.text);
    let said = missing(&text, &failure.details);
    if !said.is_empty() {
        text = format!("{text} ({})", said.join("; "));
    }
    let remedies: Vec<String> = failure.remedy.iter().filter_map(|command| remedy(command)).collect();
    if remedies.is_empty() { text } else { format!("{text}; try {}", remedies.join(" or ")) }
}

/// What of the details the text does not say yet. A whole record is not repeated.
fn missing(text: &str, details: &Map<String, Json>) -> Vec<String> {
    let mut said = Vec::new();
    for (name, value) in details {
        let shown = match value {
            Json::Null => continue,
            Json::String(value) => value.clone(),
            Json::Array(items) if items.iter().all(Json::is_string) => {
                items.iter().filter_map(Json::as_str).collect::<Vec<_>>().join(", ")
            }
            _ if name == "current" => continue,
            other => other.to_string(),
        };
        let names_itself =
            matches!(name.as_str(), "argument" | "option" | "field" | "reason" | "id" | "value");
        if shown.is_empty() || text.contains(&shown) || names_itself && !value.is_array() {
            continue;
        }
        let shown: String = crate::path::one_line(&shown).chars().take(REPEATED).collect();
        said.push(format!("{name}: {shown}"));
    }
    said
}

/// Commands and the tools that do the same.
const TOOLS: &[(&str, &str)] = &[
    ("workfile card show", "project_get_record"),
    ("workfile card list", "project_card_list"),
    ("workfile card create", "project_card_create"),
    ("workfile card patch", "project_card_patch"),
    ("workfile card note", "project_card_note"),
    ("workfile card claim", "project_card_claim"),
    ("workfile card release", "project_card_release"),
    ("workfile card transition", "project_card_transition"),
    ("workfile card write", "project_card_write"),
    ("workfile card archive", "project_card_archive"),
    ("workfile card reopen", "project_card_reopen"),
    ("workfile doc list", "project_doc_list"),
    ("workfile doc show", "project_get_record"),
    ("workfile doc create", "project_doc_create"),
    ("workfile doc move", "project_doc_move"),
    ("workfile doc patch", "project_doc_patch"),
    ("workfile doc write", "project_doc_write"),
    ("workfile doc note", "project_doc_note"),
    ("workfile changelog list", "project_changelog_list"),
    ("workfile changelog show", "project_get_record"),
    ("workfile changelog add", "project_changelog_add"),
    ("workfile changelog patch", "project_changelog_patch"),
    ("workfile changelog preview", "project_changelog_preview"),
    ("workfile changelog release", "project_changelog_release"),
    ("workfile memory list", "project_memory_list"),
    ("workfile memory show", "project_get_record"),
    ("workfile memory add", "project_memory_add"),
    ("workfile memory patch", "project_memory_patch"),
    ("workfile memory graduate", "project_memory_graduate"),
    ("workfile memory supersede", "project_memory_supersede"),
    ("workfile search", "project_search"),
    ("workfile doctor", "project_doctor"),
    ("workfile next", "project_next"),
];

/// What a tool's caller can do instead of typing a command; nothing where the command is for people only.
fn remedy(command: &str) -> Option<String> {
    if command.contains("--force") || command.contains("--reason") {
        return None;
    }
    let same = TOOLS.iter().find(|(typed, _)| command.starts_with(typed));
    Some(same.map_or_else(|| format!("`{command}`"), |(_, tool)| (*tool).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_failure_says_what_its_details_hold() {
        let failure = Failure::new(Code::CARD_ENUM_INVALID, "the type\nof a card cannot be `story`")
            .with("field", "type")
            .with("value", "story")
            .with("allowed", ["epic", "idea"].as_slice())
            .with("current", json!({"id": "T-0001"}))
            .remedy("workfile card show T-0001")
            .remedy("workfile card claim T-0001 --force --reason TEXT");
        assert_eq!(
            spoken(&failure),
            "the type of a card cannot be `story` (allowed: epic, idea); try project_get_record"
        );
    }

    #[test]
    fn every_remedy_is_a_tool_that_exists() {
        for (command, tool) in TOOLS {
            assert!(crate::mcp::tools::find(tool).is_some(), "{command}: {tool}");
        }
    }

    #[test]
    fn no_path_of_the_machine_is_told() {
        let root = Path::new("/home/ann/shop");
        let mut value = json!({"a": ["cannot open /home/ann/shop/.project/x", {"b": "/home/ann/shop"}]});
        without_root(&mut value, root);
        assert_eq!(value, json!({"a": ["cannot open .project/x", {"b": "."}]}));
    }
}
