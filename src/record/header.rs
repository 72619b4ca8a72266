//! The header: which lines belong to which key, and what they say.
//!
//! One parser serves readers ([`Header`]) and writers ([`Node`]). It looks at every line a fixed number of times,
//! whatever the lines hold.

use super::scalar::{flow_list, push_item, unquote};
use super::value::{Item, Value};
use crate::path::{is_space, one_line, trim};
use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

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
    /// Never rewritten: anything deeper, read as raw text, and values with comments between their lines.
    Opaque,
}

/// One key of a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The key. Those that most records have are not allocated for each of them.
    pub key: Cow<'static, str>,
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
    pub(super) fn parse(lines: &[&str], lists: &[&str]) -> Self {
        // Most keys take one line.
        let mut entries = Vec::with_capacity(lines.len());
        entries.extend(nodes(lines, lists).map(|node| Entry {
            key: known(node.key),
            value: node.value,
            style: node.style,
        }));
        Self { entries }
    }

    /// The value of `key`, the last one when it occurs twice.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.entries.iter().rev().find(|entry| entry.key == key)?.value.as_ref()
    }

    /// The text of `key` when it is a single text.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_text()
    }

    /// The items of `key`; a single non-empty text counts as a list of one; empty when absent.
    pub fn list(&self, key: &str) -> Vec<String> {
        match self.get(key) {
            Some(Value::List(items)) => items.clone(),
            Some(Value::Text(text)) if !text.is_empty() => vec![text.clone()],
            _ => Vec::new(),
        }
    }

    /// A header of these keys and values, as a new record has it; empty values are left out.
    pub fn of(fields: &[(String, Value)]) -> Self {
        let full = fields.iter().filter(|(_, value)| !value.is_empty());
        let entry = |(key, value): &(String, Value)| Entry {
            key: known(key),
            value: Some(value.clone()),
            style: Style::Flow,
        };
        Self { entries: full.map(entry).collect() }
    }

    /// Sets one key, once, where it stood first, else at the end; `None` takes it out.
    pub fn set(&mut self, key: &str, value: Option<Value>) {
        let at = self.entries.iter().position(|entry| entry.key == key);
        self.entries.retain(|entry| entry.key != key);
        let Some(value) = value else { return };
        let entry = Entry { key: known(key), value: Some(value), style: Style::Flow };
        let at = at.unwrap_or(self.entries.len()).min(self.entries.len());
        self.entries.insert(at, entry);
    }

    /// The keys that are written more than once, each named once, in file order.
    pub fn duplicates(&self) -> Vec<&str> {
        let mut seen = HashSet::new();
        let mut named = HashSet::new();
        let again = self.entries.iter().map(|entry| &*entry.key).filter(|key| !seen.insert(*key));
        again.filter(|key| named.insert(*key)).collect()
    }
}

/// A key as headers keep it.
fn known(key: &str) -> Cow<'static, str> {
    macro_rules! one_of {
        ($($name:literal)*) => {
            match key {
                $($name => Cow::Borrowed($name),)*
                _ => Cow::Owned(key.to_owned()),
            }
        };
    }
    one_of! {
        "id" "title" "status" "type" "priority" "area" "created" "updated" "claimed_by"
        "claimed_at" "scope" "tags" "depends" "parent" "origin" "raised" "related" "effort"
        "milestone" "source" "start" "due" "verify" "verified" "kind" "owners" "reviewed"
        "supersedes" "superseded_by" "visibility" "cards" "issues" "decisions" "version" "date" "fragments"
        "commit" "category" "confidence" "occurrences" "severity" "started_at" "resolved_at" "corrective_actions" "deciders"
        "expires" "review_after" "graduated_to"
    }
}

/// A key with its place in the header: what a writer needs beside the value.
pub(super) struct Node<'a> {
    pub(super) key: &'a str,
    pub(super) value: Option<Value>,
    pub(super) style: Style,
    /// The lines of the key, its own first.
    pub(super) lines: Range<usize>,
    /// The white space in front of the first line below the key.
    pub(super) indent: &'a str,
    /// What stands behind the key of a literal or folded value.
    pub(super) indicator: &'a str,
}

/// The keys of a header given as lines without their ends.
pub(super) fn nodes<'a>(lines: &[&'a str], lists: &[&str]) -> impl Iterator<Item = Node<'a>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let (key, rest) = loop {
            match split_key(lines.get(at)?) {
                Some(split) => break split,
                None => at += 1,
            }
        };
        let start = at;
        let inline = trim(rest);
        at = span_end(lines, start + 1, inline);
        let (style, value, indent) = value(inline, &lines[start + 1..at], Declared::of(key, lists));
        Some(Node { key, value, style, lines: start..at, indent, indicator: inline })
    })
}

/// Whether the kind of record declares a key to hold a list.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Declared {
    List,
    No,
}

impl Declared {
    pub(super) fn of(key: &str, lists: &[&str]) -> Self {
        if lists.contains(&key) { Self::List } else { Self::No }
    }
}

/// `KEY:` at the start of `text`, and what follows the colon.
fn split_key(text: &str) -> Option<(&str, &str)> {
    let bytes = text.as_bytes();
    if !bytes.first().is_some_and(|&first| first.is_ascii_alphabetic() || first == b'_') {
        return None;
    }
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    let length = bytes.iter().take_while(|byte| is_name(byte)).count();
    Some((&text[..length], text[length..].strip_prefix(':')?))
}

/// Where the lines of a key end that start at `at`, its own line not counted.
fn span_end(lines: &[&str], at: usize, inline: &str) -> usize {
    let mut at = at;
    loop {
        match lines.get(at) {
            Some(line) if is_indented(line) => at += 1,
            Some(line) if inline.is_empty() && (*line == "-" || line.starts_with("- ")) => at += 1,
            Some(line) if is_blank(line) && lines.get(at + 1).is_some_and(|next| is_indented(next)) => {
                at += 2;
            }
            _ => return at,
        }
    }
}

fn is_blank(line: &str) -> bool {
    line.chars().all(is_space)
}

fn is_indented(line: &str) -> bool {
    line.starts_with(is_space) && !is_blank(line)
}

fn indent_of(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches(is_space).len()]
}

/// Style, value and indentation of a key: the first reading that fits.
fn value<'a>(inline: &str, below: &[&'a str], declared: Declared) -> (Style, Option<Value>, &'a str) {
    let full: Vec<&'a str> = below.iter().copied().filter(|line| !is_blank(line)).collect();
    let Some(indent) = full.first().map(|line| indent_of(line)) else {
        let value = match declared {
            Declared::List => Some(Value::List(flow_list(inline))),
            Declared::No if inline.is_empty() => None,
            Declared::No => Some(Value::Text(unquote(inline))),
        };
        return (Style::Flow, value, "");
    };
    if let Some(style) = block_scalar(inline) {
        let text = unindented(below, &full);
        let text = if style == Style::Folded { one_line(&text) } else { text };
        return (style, Some(Value::Text(text)), indent);
    }
    if inline.is_empty()
        && let Some((style, value)) = structure(&full, declared)
    {
        return (style, Some(value), indent);
    }
    (Style::Opaque, Some(Value::Text(below.join("\n"))), indent)
}

/// The style that `|`, `>-`, `|+2` and their like announce.
fn block_scalar(inline: &str) -> Option<Style> {
    let (style, rest) = match inline.split_at_checked(1)? {
        ("|", rest) => (Style::Literal, rest),
        (">", rest) => (Style::Folded, rest),
        _ => return None,
    };
    let digits = rest.strip_prefix(['+', '-']).unwrap_or(rest);
    digits.bytes().all(|byte| byte.is_ascii_digit()).then_some(style)
}

/// The lines without the indentation that all `full` ones share.
fn unindented(below: &[&str], full: &[&str]) -> String {
    let width = |line: &&str| indent_of(line).chars().count();
    let common = full.iter().map(width).min().unwrap_or(0);
    let strip = |line: &&str| {
        let indent = line.char_indices().take(common).take_while(|(_, c)| is_space(*c)).last();
        let cut = indent.map_or(0, |(at, c)| at + c.len_utf8());
        line[cut..].to_owned()
    };
    let mut text = below.iter().map(strip).collect::<Vec<_>>().join("\n");
    text.truncate(text.trim_end_matches('\n').len());
    text
}

/// A list, a list of mappings or a mapping in lines of its own.
///
/// Comments between the lines are passed over; since a rewrite would lose them, the value is opaque to writers.
fn structure(full: &[&str], declared: Declared) -> Option<(Style, Value)> {
    let is_comment = |line: &&str| line.trim_start_matches(is_space).starts_with('#');
    let lines: Vec<&str> = full.iter().copied().filter(|line| !is_comment(line)).collect();
    let (style, value) = match (block(&lines), declared) {
        (Some(items), _) => (Style::Block, Value::List(items)),
        (None, Declared::List) => return None,
        (None, Declared::No) => match records(&lines) {
            Some(records) => (Style::Records, Value::Records(records)),
            None => (Style::Mapping, Value::Mapping(mapping(&lines)?)),
        },
    };
    Some((if lines.len() == full.len() { style } else { Style::Opaque }, value))
}

/// `- item` lines, indented as they like.
fn block(lines: &[&str]) -> Option<Vec<String>> {
    if lines.is_empty() {
        return None;
    }
    let mut items = Vec::new();
    for line in lines {
        push_item(&mut items, line.trim_start_matches(is_space).strip_prefix('-')?);
    }
    Some(items)
}

/// `name: value` lines, all at one indentation.
fn mapping(lines: &[&str]) -> Option<Vec<(String, Item)>> {
    let indent = indent_of(lines.first()?);
    let mut names = HashSet::new();
    let mut fields = Vec::new();
    for line in lines {
        let (name, item) = field(line.strip_prefix(indent)?)?;
        if !names.insert(name) {
            return None;
        }
        fields.push((name.to_owned(), item));
    }
    Some(fields)
}

/// `- name: value` lines that open a record, and `name: value` lines two columns further in.
///
/// Records of one field each never get here: their lines are a list of texts with colons in them.
fn records(lines: &[&str]) -> Option<Vec<Vec<(String, Item)>>> {
    let indent = indent_of(lines.first()?);
    let mut names = HashSet::new();
    let mut records: Vec<Vec<(String, Item)>> = Vec::new();
    for line in lines {
        let line = line.strip_prefix(indent)?;
        let text = if let Some(first) = line.strip_prefix("- ") {
            records.push(Vec::new());
            names.clear();
            first
        } else {
            line.strip_prefix("  ")?
        };
        let (name, item) = field(text)?;
        if !names.insert(name) {
            return None;
        }
        records.last_mut()?.push((name.to_owned(), item));
    }
    Some(records)
}

/// `name: value`, the value not empty.
fn field(text: &str) -> Option<(&str, Item)> {
    let (name, rest) = split_key(text)?;
    let raw = trim(rest);
    if raw.is_empty() || !rest.starts_with(is_space) {
        return None;
    }
    let item = if raw.starts_with('[') && raw.ends_with(']') {
        Item::List(flow_list(raw))
    } else {
        Item::Text(unquote(raw))
    };
    Some((name, item))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(text: &str) -> Header {
        Header::parse(&text.split('\n').collect::<Vec<_>>(), &["tags"])
    }

    #[test]
    fn the_last_of_two_is_the_value_and_the_doctor_can_ask() {
        let header = header("a: 1\nb: 2\na: 3\na: 4\ntags: x");
        assert_eq!(header.text("a"), Some("4"));
        assert_eq!(header.duplicates(), ["a"]);
        assert_eq!(header.list("a"), ["4"]);
        assert_eq!(header.list("tags"), ["x"]);
        assert!(header.list("none").is_empty());
        assert_eq!(header.text("tags"), None);
    }

    #[test]
    fn a_second_blank_line_ends_a_value() {
        let header = header("tags:\n  - a\n\n\n  - b\nl: |\n  x\n\n\n  y");
        assert_eq!(header.list("tags"), ["a"]);
        assert_eq!(header.text("l"), Some("x"));
    }

    #[test]
    fn a_comment_makes_a_value_opaque_to_writers_only() {
        let read =
            header("tags:\n  - a\n  # why\n  - b\nm:\n  k: v\n  # why\nr:\n  # why\n  - a: 1\n    b: 2");
        assert_eq!(read.list("tags"), ["a", "b"]);
        assert!(matches!(read.get("m"), Some(Value::Mapping(_))));
        assert!(matches!(read.get("r"), Some(Value::Records(_))));
        assert!(read.entries.iter().all(|entry| entry.style == Style::Opaque));
        assert_eq!(header("a:\n  # alone").text("a"), Some("  # alone"));
    }

    #[test]
    fn one_column_off_is_opaque() {
        for text in [
            "m:\n  a: 1\n   b: 2",
            "m:\n  a: 1\n b: 2",
            "m:\n  - a: 1\n   b: 2",
            "m:\n  - a: 1\n    b: 2\n    b: 3",
            "m:\n  - a: 1\n    b: 2\n   - a: 3",
            "m:\n  a:1",
            "m:\n  a: 1\n  - b",
        ] {
            let header = header(text);
            assert_eq!(header.entries[0].style, Style::Opaque, "{text}");
            assert_eq!(header.text("m"), text.strip_prefix("m:\n"), "{text}");
        }
    }

    #[test]
    fn records_may_start_at_the_first_column() {
        let header = header("r:\n- id: a\n  run: [x]\n- id: b\nnext: 1");
        assert_eq!(header.entries[0].style, Style::Records);
        assert_eq!(header.text("next"), Some("1"));
    }

    #[test]
    fn a_declared_list_is_never_a_mapping() {
        assert_eq!(header("tags:\n  a: 1").text("tags"), Some("  a: 1"));
        assert_eq!(header("tags:").get("tags"), Some(&Value::List(Vec::new())));
    }

    #[test]
    fn indicators_take_a_sign_and_digits() {
        for (inline, style) in
            [("|", Style::Literal), (">-", Style::Folded), ("|+2", Style::Literal), (">12", Style::Folded)]
        {
            assert_eq!(header(&format!("k: {inline}\n  a")).entries[0].style, style);
        }
        for inline in ["|x", "|2-", "|--", "||"] {
            assert_eq!(header(&format!("k: {inline}\n  a")).entries[0].style, Style::Opaque, "{inline}");
        }
    }

    #[test]
    fn common_indentation_is_counted_in_characters() {
        assert_eq!(header("k: |\n\u{a0}\u{a0}a\n\u{a0}b").text("k"), Some("\u{a0}a\nb"));
    }
}
