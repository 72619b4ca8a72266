//! `.project/generated/claude-code.json`: which values of merged files are generated, what they were, and what an install
//! opened and made around them.
//!
//! What other versions recorded for files that this one does not manage stays.

use super::hooks::HOOKS;
use super::opened::Opened;
use super::servers;
use crate::record::digest;
use serde_json::{Map, Value as Json};

/// Where it lies.
pub(super) const PATH: &str = ".project/generated/claude-code.json";

/// The keys of this version, in the order they are written; others follow as they stood.
const KEYS: [&str; 5] = ["keys", "digests", "version", "opened", "folders"];

/// The ledger, read.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger(Map<String, Json>);

impl Ledger {
    /// Reads a file; `None` is an empty ledger, the error is why a file is none.
    pub(super) fn read(bytes: Option<&[u8]>) -> Result<Self, String> {
        let Some(bytes) = bytes else { return Ok(Self::default()) };
        let ledger = match serde_json::from_slice(bytes) {
            Ok(Json::Object(ledger)) => Self(ledger),
            Ok(_) => return Err("it is not an object".to_owned()),
            Err(error) => return Err(error.to_string()),
        };
        match ["keys", "digests", "opened"]
            .into_iter()
            .find(|name| ledger.0.get(*name).is_some_and(|it| !it.is_object()))
        {
            Some(name) => Err(format!("`{name}` is not an object")),
            None => Ok(ledger),
        }
    }

    /// The version that wrote it.
    pub(super) fn version(&self) -> Option<&str> {
        self.0.get("version")?.as_str()
    }

    /// What an install opened in a file; `None` when a version wrote it that kept no record.
    pub(super) fn opened(&self, path: &str) -> Option<Opened> {
        Opened::from_json(self.0.get("opened")?.get(path)?)
    }

    /// The folders that installs made; `None` as above.
    pub(super) fn folders(&self) -> Option<Vec<&str>> {
        Some(self.0.get("folders")?.as_array()?.iter().filter_map(Json::as_str).collect())
    }

    fn section(&mut self, name: &str) -> &mut Map<String, Json> {
        let section = self.0.entry(name).or_insert_with(|| Map::new().into());
        if !section.is_object() {
            *section = Map::new().into();
        }
        section.as_object_mut().expect("it was made one in the line above")
    }

    /// Records the hooks that name `command`.
    pub(super) fn record_hooks(&mut self, command: &str) {
        self.section("keys")
            .insert("hooks".to_owned(), HOOKS.iter().map(|hook| Json::from(hook.key())).collect());
        let digests = self.section("digests");
        digests.retain(|key, _| !key.starts_with("hooks."));
        digests.extend(HOOKS.iter().map(|hook| (hook.key(), digest(hook.group(command).to_string()).into())));
    }

    /// Records the server.
    pub(super) fn record_server(&mut self, server: &Json) {
        self.section("keys").insert("mcp".to_owned(), vec![servers::KEY].into());
        self.section("digests").insert(servers::KEY.to_owned(), digest(server.to_string()).into());
    }

    /// Whether a value is listed as generated in a section of `keys`.
    pub(super) fn lists(&self, section: &str, key: &str) -> bool {
        let keys = self.0.get("keys").and_then(|keys| keys.get(section)?.as_array());
        keys.into_iter().flatten().any(|listed| listed == key)
    }

    /// The digest that was recorded for a value.
    pub(super) fn digest(&self, key: &str) -> Option<&str> {
        self.0.get("digests")?.get(key)?.as_str()
    }

    /// Records what was opened in a file.
    pub(super) fn record_opened(&mut self, path: &str, opened: &Opened) {
        self.section("opened").insert(path.to_owned(), opened.to_json());
    }

    /// Adds folders that were made.
    pub(super) fn record_folders(&mut self, made: Vec<String>) {
        let known: Vec<String> = self.folders().unwrap_or_default().into_iter().map(str::to_owned).collect();
        let new = made.into_iter().filter(|folder| !known.contains(folder));
        let all: Vec<String> = known.iter().cloned().chain(new).collect();
        self.0.insert("folders".to_owned(), all.into());
    }

    /// The file's text, written by this version.
    pub(super) fn text(&self) -> String {
        let mut rest = self.0.clone();
        rest.insert("version".to_owned(), env!("CARGO_PKG_VERSION").into());
        let known: Vec<(String, Json)> =
            KEYS.iter().filter_map(|key| Some(((*key).to_owned(), rest.shift_remove(*key)?))).collect();
        format!("{:#}\n", Json::Object(known.into_iter().chain(rest).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn updated(old: Option<&str>) -> Result<String, String> {
        let mut ledger = Ledger::read(old.map(str::as_bytes))?;
        ledger.record_hooks("workfile");
        Ok(ledger.text())
    }

    fn read(text: &str) -> Json {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_new_ledger_names_the_hooks_and_their_digests() {
        let text = updated(None).unwrap();
        assert!(text.starts_with("{\n  \"keys\": {\n    \"hooks\": [\n      \"hooks.SessionStart\",\n"));
        let ledger = read(&text);
        assert_eq!(ledger["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(ledger["keys"].as_object().unwrap().len(), 1);
        let compact = r#"{"matcher":"Edit|Write|NotebookEdit","hooks":[{"type":"command","command":"workfile","args":["hook","pre-tool-use"],"timeout":5}]}"#;
        assert_eq!(ledger["digests"]["hooks.PreToolUse"], digest(compact));
        assert_eq!(updated(Some(&text)).unwrap(), text);
    }

    #[test]
    fn an_earlier_ledger_is_understood_and_its_other_entries_stay() {
        let parents = r#"{"keys":{"mcp":["mcpServers"],"hooks":["hooks"]},"version":"0.1.4"}"#;
        let ledger = read(&updated(Some(parents)).unwrap());
        assert_eq!(ledger["keys"]["mcp"], serde_json::json!(["mcpServers"]));
        assert_eq!(ledger["keys"]["hooks"].as_array().unwrap().len(), HOOKS.len());
        let digests =
            r#"{"keys":{},"digests":{"mcpServers.workfile":"sha256:1","hooks.Stop":"sha256:2"},"more":1}"#;
        let ledger = read(&updated(Some(digests)).unwrap());
        assert_eq!(ledger["digests"]["mcpServers.workfile"], "sha256:1");
        assert_eq!(ledger["digests"].get("hooks.Stop"), None);
        assert_eq!(ledger["more"], 1);
        let earlier = Ledger::read(Some(parents.as_bytes())).unwrap();
        assert_eq!((earlier.version(), earlier.opened("x"), earlier.folders()), (Some("0.1.4"), None, None));
    }

    #[test]
    fn an_install_repeated_changes_no_byte() {
        let old = r#"{"z":1,"keys":{"mcp":[]},"a":2,"digests":{},"y":3,"version":"0","b":{}}"#;
        let once = updated(Some(old)).unwrap();
        assert_eq!(updated(Some(&once)).unwrap(), once);
        let order = ["\"z\"", "\"a\"", "\"y\"", "\"b\""].map(|key| once.find(key).unwrap());
        assert!(order.is_sorted(), "{once}");
    }

    #[test]
    fn what_was_opened_and_made_is_kept() {
        let mut ledger = Ledger::default();
        let opened = Opened::file(&["hooks".to_owned()]);
        ledger.record_opened("a.json", &opened);
        ledger.record_folders(vec![".claude".to_owned()]);
        ledger.record_folders(vec![".claude".to_owned(), ".claude/skills".to_owned()]);
        let again = Ledger::read(Some(ledger.text().as_bytes())).unwrap();
        assert_eq!(again.opened("a.json"), Some(opened));
        assert_eq!(again.folders(), Some(vec![".claude", ".claude/skills"]));
        assert_eq!(again.text(), ledger.text());
    }

    #[test]
    fn what_is_not_a_ledger_is_named() {
        for (text, reason) in [
            ("[]", "not an object"),
            ("{", "line 1"),
            (r#"{"keys":[]}"#, "`keys`"),
            (r#"{"digests":1}"#, "`digests`"),
            (r#"{"opened":""}"#, "`opened`"),
        ] {
            assert!(updated(Some(text)).unwrap_err().contains(reason), "{text}");
        }
    }
}
