//! One file format: a header of flat values between two fences, then Markdown.
//!
//! The header is a small subset that looks like YAML and is not parsed as YAML: every scalar is the text it shows. A
//! write touches the lines that a change names and no others; what cannot be rewritten safely is refused.

use crate::failure::Failure;
use serde_json::Value as Json;

/// A header value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// One text.
    Text(String),
    /// A list of texts.
    List(Vec<String>),
    /// A flat mapping, in file order.
    Mapping(Vec<(String, Item)>),
    /// A list of flat mappings.
    Records(Vec<Vec<(String, Item)>>),
}

/// A value inside a mapping: one level, no deeper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// One text.
    Text(String),
    /// A list of texts.
    List(Vec<String>),
}

impl Value {
    /// The text of a [`Value::Text`].
    pub fn as_text(&self) -> Option<&str> {
        todo!()
    }
    /// Whether writing this value removes its key: an empty text, list or mapping.
    pub fn is_empty(&self) -> bool {
        todo!()
    }
    /// The value as JSON: text, array, object, array of objects.
    pub fn to_json(&self) -> Json {
        todo!()
    }
}

/// How a value stands in the file; a patch keeps it where it can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// `key: value` or `key: [a, b]`.
    Flow,
    /// `key:` and `- item` lines.
    Block,
    /// `key: |` and lines.
    Literal,
    /// `key: >` and lines.
    Folded,
    /// `key:` and `name: value` lines.
    Mapping,
    /// `key:` and `- name: value` groups.
    Records,
    /// Anything deeper: read as raw text, never rewritten.
    Opaque,
}

/// One key of a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Its value; `None` when the key stands there with nothing (the key counts as absent).
    pub value: Option<Value>,
    /// How the value stands in the file.
    pub style: Style,
}

/// The keys of a record, in file order. A key written twice occurs twice; the last one is the value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The entries.
    pub entries: Vec<Entry>,
}

impl Header {
    /// The value of `key`, the last one when it occurs twice.
    pub fn get(&self, _key: &str) -> Option<&Value> {
        todo!()
    }
    /// The text of `key` when it is a single text.
    pub fn text(&self, _key: &str) -> Option<&str> {
        todo!()
    }
    /// The items of `key`; a single non-empty text counts as a list of one; empty when absent.
    pub fn list(&self, _key: &str) -> Vec<String> {
        todo!()
    }
}

/// Why a file is not a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotARecord {
    /// No opening fence in line 1, or no closing one.
    NoFrontmatter,
    /// Bytes that are not UTF-8.
    NotUtf8,
}

impl NotARecord {
    /// `frontmatter not found` or `not valid UTF-8`.
    pub fn reason(self) -> &'static str {
        todo!()
    }
}

/// A record taken apart: `prefix` and `body_text` together are the whole text.
#[derive(Clone, Debug)]
pub struct Document<'a> {
    /// Everything up to and with the line end of the closing fence, a BOM included.
    pub prefix: &'a str,
    /// The rest.
    pub body_text: &'a str,
    /// The header's keys.
    pub header: Header,
}

impl Document<'_> {
    /// The body: the body text trimmed.
    pub fn body(&self) -> &str {
        todo!()
    }
}

/// Reads a record. `lists` are the declared list keys of its kind.
pub fn read<'a>(_text: &'a str, _lists: &[&str]) -> Result<Document<'a>, NotARecord> {
    todo!()
}

/// What the beginning of a file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Head {
    /// The whole header.
    Header(Header),
    /// The closing fence is not in these bytes; more of the file may have it.
    Unfinished,
    /// Not a record, however much follows.
    NotARecord(NotARecord),
}

/// Reads the header from the first bytes of a file, which may end anywhere, inside a character too.
pub fn read_head(_bytes: &[u8], _lists: &[&str]) -> Head {
    todo!()
}

/// A change to one key: a value replaces or adds it, `None` or an empty value removes it.
pub type Change = (String, Option<Value>);

/// `text` with the header changes applied in order; the body and every line no change names stay byte for byte.
///
/// `updated` is the date written to the key `updated` unless `changes` names it; `None` leaves it alone.
/// `RECORD_FRONTMATTER_MISSING`, `_OPAQUE`, `_DUPLICATE_KEY`, `_UNREPRESENTABLE`, details `{key}`.
pub fn patch(
    _text: &str,
    _changes: &[Change],
    _lists: &[&str],
    _updated: Option<&str>,
) -> Result<String, Failure> {
    todo!()
}

/// A new record: fences, the given keys in order (empty values left out), an empty line, the trimmed body, LF.
pub fn render(_header: &[(String, Value)], _body: &str) -> Result<String, Failure> {
    todo!()
}

/// One `## ` section of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The heading line trimmed; `None` for the text before the first one.
    pub heading: Option<String>,
    /// The section's text, heading line included, without leading line ends and trailing white space.
    pub text: String,
}

/// The sections of a body; the first is the text without heading, empty or not.
pub fn sections(_body: &str) -> Vec<Section> {
    todo!()
}

/// For each line of `body` (split at LF), whether it is inside fenced code or a fence itself.
pub fn fenced_lines(_body: &str) -> Vec<bool> {
    todo!()
}

/// Section texts put together again: the non-empty ones, one blank line between them, LF line ends.
pub fn join_sections(_sections: &[Section]) -> String {
    todo!()
}

/// `body` with `line` under the last line of the first section with that heading, or in a new one at the end. A `line`
/// of several lines is appended as it is.
pub fn append_under_heading(_body: &str, _heading: &str, _line: &str) -> String {
    todo!()
}

/// The file `text` with its body replaced: line ends as in the prefix, `prefix + EOL + body + EOL`, or the prefix alone
/// for an empty body.
pub fn with_body(_text: &str, _body: &str) -> Result<String, Failure> {
    todo!()
}

/// `- <stamp> <actor> · <text>`; `unknown` without an actor.
pub fn trail_line(_stamp: &str, _actor: Option<&str>, _text: &str) -> String {
    todo!()
}

/// Whether a line has the shape of a trail line.
pub fn is_trail_line(_line: &str) -> bool {
    todo!()
}

/// The part of a file name that comes from a title (`records.md` 3): lower case, decomposed, `a-z0-9` and `-`, at most
/// `max` characters, `fallback` when nothing is left.
pub fn slug(_title: &str, _max: usize, _fallback: &str) -> String {
    todo!()
}

/// `sha256:` and the hex SHA-256 of a file's bytes.
pub fn revision(_bytes: &[u8]) -> String {
    todo!()
}

/// `text` as JavaScript counts its length.
pub fn utf16_len(text: &str) -> usize {
    text.encode_utf16().count()
}

/// The ids of one kind of record: `<prefix>-<sequence>`.
pub mod id {
    use super::Failure;
    use crate::failure::Code;
    use std::path::Path;

    /// Whether `id` is `<prefix>-` and at least four digits.
    pub fn is_valid(_id: &str, _prefix: &str) -> bool {
        todo!()
    }
    /// The sequence at the start of `text`, `<prefix>-<digits>` and anything behind it.
    pub fn sequence(_text: &str, _prefix: &str) -> Option<u64> {
        todo!()
    }
    /// `<prefix>-<sequence>`, padded to four digits.
    pub fn format(_prefix: &str, _sequence: u64) -> String {
        todo!()
    }
    /// What a writer under a reserved id reports.
    pub enum Attempt<T> {
        /// The record is written.
        Written(T),
        /// The file name was taken meanwhile.
        Collision,
    }
    /// How an id is found and kept while its record is made.
    pub struct Allocation<'a> {
        /// The workspace root.
        pub root: &'a Path,
        /// The folder of reservations, relative to the root, `/` separated (`.project/.cache/locks/ids`).
        pub locks: &'a str,
        /// The id prefix.
        pub prefix: &'a str,
        /// How often to try.
        pub tries: usize,
        /// The code raised when all tries are used up.
        pub exhausted: Code,
    }
    /// Allocates the next id: `highest` scans for the highest used sequence (0 for none) and is asked again under the
    /// reservation; `write` makes the record under the id. Refused writes use up no id.
    pub fn allocate<T>(
        _how: &Allocation<'_>,
        _highest: impl FnMut() -> Result<u64, Failure>,
        _write: impl FnMut(&str) -> Result<Attempt<T>, Failure>,
    ) -> Result<T, Failure> {
        todo!()
    }
}
