//! `.project/generated/claude-code.json`: which values of merged files are generated, and what they were.
//!
//! What other versions recorded for files that this one does not manage stays.

use super::hooks::HOOKS;
use crate::record::digest;
use serde_json::{Map, Value as Json};

/// Where it lies.
pub(super) const PATH: &str = ".project/generated/claude-code.json";

/// The ledger after an install of the hooks.
///
/// `old` is the file's content; the reason when it is not a ledger.
pub(super) fn updated(old: Option<&[u8]>, command: &str) -> Result<String, String> {
    let mut ledger = match old {
        None => Map::new(),
        Some(bytes) => match serde_json::from_slice(bytes) {
            Ok(Json::Object(ledger)) => ledger,
            Ok(_) => return Err("it is not an object".to_owned()),
            Err(error) => return Err(error.to_string()),
        },
    };
    let mut section = |name: &str| match ledger.shift_remove(name) {
        None => Ok(Map::new()),
        Some(Json::Object(section)) => Ok(section),
        Some(_) => Err(format!("`{name}` is not an object")),
    };
    let (mut keys, mut digests) = (section("keys")?, section("digests")?);
    keys.insert("hooks".to_owned(), HOOKS.iter().map(|hook| Json::from(hook.key())).collect());
    digests.retain(|key, _| !key.starts_with("hooks."));
    digests.extend(HOOKS.iter().map(|hook| (hook.key(), digest(hook.group(command).to_string()).into())));
    let known = ["keys", "digests", "version"].map(str::to_owned);
    let values = [Json::Object(keys), Json::Object(digests), env!("CARGO_PKG_VERSION").into()];
    ledger.shift_remove("version");
    let whole = Json::Object(known.into_iter().zip(values).chain(ledger).collect());
    Ok(format!("{whole:#}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Json {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_new_ledger_names_the_hooks_and_their_digests() {
        let text = updated(None, "workfile").unwrap();
        assert!(text.starts_with("{\n  \"keys\": {\n    \"hooks\": [\n      \"hooks.SessionStart\",\n"));
        let ledger = read(&text);
        assert_eq!(ledger["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(ledger["keys"].as_object().unwrap().len(), 1);
        let compact = r#"{"matcher":"Edit|Write|NotebookEdit","hooks":[{"type":"command","command":"workfile","args":["hook","pre-tool-use"],"timeout":5}]}"#;
        assert_eq!(ledger["digests"]["hooks.PreToolUse"], digest(compact));
        assert_eq!(updated(Some(text.as_bytes()), "workfile").unwrap(), text);
    }

    #[test]
    fn an_earlier_ledger_is_understood_and_its_other_entries_stay() {
        let parents = r#"{"keys":{"mcp":["mcpServers"],"hooks":["hooks"]},"version":"0.1.4"}"#;
        let ledger = read(&updated(Some(parents.as_bytes()), "workfile").unwrap());
        assert_eq!(ledger["keys"]["mcp"], serde_json::json!(["mcpServers"]));
        assert_eq!(ledger["keys"]["hooks"].as_array().unwrap().len(), HOOKS.len());
        let digests =
            r#"{"keys":{},"digests":{"mcpServers.workfile":"sha256:1","hooks.Stop":"sha256:2"},"more":1}"#;
        let ledger = read(&updated(Some(digests.as_bytes()), "workfile").unwrap());
        assert_eq!(ledger["digests"]["mcpServers.workfile"], "sha256:1");
        assert_eq!(ledger["digests"].get("hooks.Stop"), None);
        assert_eq!(ledger["more"], 1);
    }

    #[test]
    fn an_install_repeated_changes_no_byte() {
        let old = r#"{"z":1,"keys":{"mcp":[]},"a":2,"digests":{},"y":3,"version":"0","b":{}}"#;
        let once = updated(Some(old.as_bytes()), "workfile").unwrap();
        assert_eq!(updated(Some(once.as_bytes()), "workfile").unwrap(), once);
        let order = ["\"z\"", "\"a\"", "\"y\"", "\"b\""].map(|key| once.find(key).unwrap());
        assert!(order.is_sorted(), "{once}");
    }

    #[test]
    fn what_is_not_a_ledger_is_named() {
        for (text, reason) in [
            ("[]", "not an object"),
            ("{", "line 1"),
            (r#"{"keys":[]}"#, "`keys`"),
            (r#"{"digests":1}"#, "`digests`"),
        ] {
            assert!(updated(Some(text.as_bytes()), "workfile").unwrap_err().contains(reason), "{text}");
        }
    }
}
