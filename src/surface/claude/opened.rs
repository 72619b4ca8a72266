//! What an install opened in a file that belongs to the repository, so that an uninstall closes that and nothing else.
//!
//! The ledger keeps it. Where no record is, a container in which nothing but ours stands counts as opened by an install:
//! versions that kept no record wrote such files.

use super::jsonedit::{Fate, Layout, Splice, apply};
use serde_json::{Map, Value as Json, json};
use std::ops::Range;

/// The key of the file itself.
pub(super) const WHOLE: &str = "";

/// A list or an object that our values stand in.
pub(super) struct Container<'t> {
    /// `hooks.PreToolUse`; [`WHOLE`] for the file itself.
    pub(super) key: String,
    /// The text between its brackets.
    pub(super) inner: &'t str,
    /// Whether something of ours stands in it, and nothing else.
    pub(super) holds_ours_alone: bool,
}

/// What an install opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Opened {
    /// The containers; [`WHOLE`] when the file is new.
    keys: Vec<String>,
    /// What stood in containers that were empty, when it was more than nothing.
    blanks: Vec<(String, String)>,
    /// A line end at the end of the file.
    newline: bool,
}

/// The white space of JSON.
fn is_blank(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
}

impl Opened {
    /// A new file with these containers.
    pub(super) fn file(wanted: &[String]) -> Self {
        let keys = std::iter::once(WHOLE.to_owned()).chain(wanted.iter().cloned()).collect();
        Self { keys, ..Self::default() }
    }

    /// What is known of a file that is there, before `wanted` containers are opened in it.
    pub(super) fn before(known: Option<&Self>, containers: &[Container], wanted: &[String]) -> Self {
        let find = |key: &str| containers.iter().find(|container| container.key == key);
        let is_opened = |key: &str| match (find(key), known) {
            (None, _) => true,
            (Some(_), Some(known)) => known.has(key),
            (Some(container), None) => container.holds_ours_alone,
        };
        let all = std::iter::once(WHOLE).chain(wanted.iter().map(String::as_str));
        let keys = all.clone().filter(|key| is_opened(key)).map(str::to_owned).collect();
        let blank = |key: &str| {
            let inner = find(key)?.inner;
            let known = || known.and_then(|known| known.blank(key));
            let blank = if is_blank(inner) { Some(inner) } else { known() }?;
            (!blank.is_empty()).then(|| (key.to_owned(), blank.to_owned()))
        };
        Self {
            keys,
            blanks: all.filter_map(blank).collect(),
            newline: known.is_some_and(|known| known.newline),
        }
    }

    /// The same after a line end was put at the end of `text`, when it has none.
    pub(super) fn with_end_of(mut self, text: &str) -> Self {
        self.newline |= !text.ends_with('\n');
        self
    }

    /// Whether an install opened this container.
    pub(super) fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|known| known == key)
    }

    fn blank(&self, key: &str) -> Option<&str> {
        self.blanks.iter().find(|(known, _)| known == key).map(|(_, blank)| blank.as_str())
    }

    /// Takes children out of a container; one that this leaves empty looks as it did before an install.
    pub(super) fn take_out(
        &self,
        key: &str,
        layout: &Layout,
        container: &Range<usize>,
        children: &[(Range<usize>, Fate)],
    ) -> Vec<Splice> {
        if children.is_empty() || children.iter().any(|(_, fate)| !matches!(fate, Fate::Drop)) {
            return layout.edit(container, children, &[], 0);
        }
        let with = self.blank(key).unwrap_or_default().to_owned();
        vec![Splice { at: container.start + 1..container.end - 1, with }]
    }

    /// The text with the splices done, and without the line end that an install put there.
    pub(super) fn close(&self, text: &str, splices: Vec<Splice>) -> String {
        let mut text = apply(text, splices);
        if self.newline && text.ends_with('\n') {
            text.pop();
            text.truncate(text.strip_suffix('\r').map_or(text.len(), str::len));
        }
        text
    }

    /// As the ledger keeps it: `{keys, blanks?, newline?}`.
    pub(super) fn to_json(&self) -> Json {
        let mut json = Map::new();
        json.insert("keys".to_owned(), json!(self.keys));
        if !self.blanks.is_empty() {
            let blanks = self.blanks.iter().map(|(key, blank)| (key.clone(), Json::from(blank.as_str())));
            json.insert("blanks".to_owned(), Json::Object(blanks.collect()));
        }
        if self.newline {
            json.insert("newline".to_owned(), true.into());
        }
        Json::Object(json)
    }

    /// What a ledger says. It is a file of the repository: what could put more than white space into another is not taken.
    pub(super) fn from_json(json: &Json) -> Option<Self> {
        let keys = json.get("keys")?.as_array()?.iter().filter_map(Json::as_str).map(str::to_owned).collect();
        let blanks = json.get("blanks").and_then(Json::as_object).into_iter().flatten();
        let blank = |(key, blank): (&String, &Json)| {
            let blank = blank.as_str().filter(|blank| is_blank(blank))?;
            Some((key.clone(), blank.to_owned()))
        };
        let newline = json.get("newline").and_then(Json::as_bool).unwrap_or_default();
        Some(Self { keys, blanks: blanks.filter_map(blank).collect(), newline })
    }
}

/// What is left of a file without our values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// All of it: nothing of ours stands there.
    All,
    /// This text.
    Text(String),
    /// Nothing, and an install made the file.
    Nothing,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn container<'t>(key: &str, inner: &'t str, holds_ours_alone: bool) -> Container<'t> {
        Container { key: key.to_owned(), inner, holds_ours_alone }
    }

    #[test]
    fn what_was_there_before_was_not_opened() {
        let wanted = ["a".to_owned(), "a.b".to_owned(), "a.c".to_owned()];
        let there = [container(WHOLE, "x", false), container("a", " \n", false), container("a.b", "y", true)];
        let first = Opened::before(None, &there, &wanted).with_end_of("{}");
        assert_eq!(
            first.keys,
            ["a.b", "a.c"],
            "what holds ours alone was opened by a version without a record"
        );
        assert_eq!(first.blanks, [("a".to_owned(), " \n".to_owned())]);
        let now = [container(WHOLE, "x", false), container("a", "z", true), container("a.b", "y", true)];
        let second = Opened::before(Some(&first), &now, &wanted).with_end_of("{}\n");
        assert_eq!(second, first, "what is known stays");
        assert!(Opened::file(&wanted).has(WHOLE) && Opened::file(&wanted).has("a.c"));
    }

    #[test]
    fn a_record_is_read_back_and_brings_nothing_but_white_space() {
        let opened = Opened {
            keys: vec![WHOLE.to_owned(), "hooks".to_owned()],
            blanks: vec![("hooks".to_owned(), "\r\n\t ".to_owned())],
            newline: true,
        };
        assert_eq!(Opened::from_json(&opened.to_json()), Some(opened));
        let hostile = json!({ "keys": ["a", 7], "blanks": { "a": "\"x\": 1", "b": "\u{a0}", "c": 1 }, "newline": "yes" });
        let read = Opened::from_json(&hostile).unwrap();
        assert_eq!((read.keys, read.blanks, read.newline), (vec!["a".to_owned()], vec![], false));
        assert_eq!(Opened::from_json(&json!([])), None);
    }
}
