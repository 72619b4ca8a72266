//! Changing a header: the lines that a change names, and no others.

use super::document::{BOM, Fences};
use super::header::{Node, Style, nodes};
use super::value::Value;
use super::write::{Written, entry};
use crate::failure::{Code, Failure};
use crate::path::trim;
use std::collections::{HashMap, HashSet};

/// A change to one key: a value replaces or adds it, `None` or an empty value removes it.
pub type Change = (String, Option<Value>);

/// `text` with the header changes applied in order; the body and every line no change names stay byte for byte.
///
/// `updated` is the date written to the key `updated` unless `changes` names it; `None` leaves it alone. Without an
/// effect the very text comes back: a caller that writes only on a change asks with `None` first and compares.
/// `RECORD_FRONTMATTER_MISSING`, `_OPAQUE`, `_DUPLICATE_KEY`, `_UNREPRESENTABLE`, details `{key}`.
pub fn patch(
    text: &str,
    changes: &[Change],
    lists: &[&str],
    updated: Option<&str>,
) -> Result<String, Failure> {
    let fences = Fences::of(text)?;
    let mut draft = Draft::new(&fences.lines, lists);
    for (key, value) in changes {
        draft.apply(key, value.as_ref())?;
    }
    if let Some(today) = updated
        && !changes.iter().any(|(key, _)| key == "updated")
    {
        draft.apply("updated", Some(&Value::Text(today.to_owned())))?;
    }
    let lines = draft.lines();
    if lines == fences.lines {
        return Ok(text.to_owned());
    }
    draft.check(&lines)?;

    let end = fences.line_end();
    let mut out = String::with_capacity(text.len() + 256);
    out.extend(text.starts_with(BOM).then_some(BOM));
    for line in ["---"].into_iter().chain(lines) {
        out.push_str(line);
        out.push_str(end);
    }
    out.push_str("---");
    if fences.prefix.ends_with('\n') {
        out.push_str(end);
    }
    out.push_str(&text[fences.prefix.len()..]);
    Ok(out)
}

/// What becomes of a key that the header has.
enum Fate {
    Kept,
    Removed,
    Replaced(Written),
}

/// A header with changes on it.
struct Draft<'a> {
    old: &'a [&'a str],
    lists: &'a [&'a str],
    nodes: Vec<(Node<'a>, Fate)>,
    places: HashMap<&'a str, usize>,
    twice: HashSet<&'a str>,
    /// Keys that the header lacks, in the order of their changes; `None` once removed again.
    added: Vec<(String, Option<Written>)>,
    added_places: HashMap<String, usize>,
}

impl<'a> Draft<'a> {
    fn new(old: &'a [&'a str], lists: &'a [&'a str]) -> Self {
        let nodes: Vec<_> = nodes(old, lists).map(|node| (node, Fate::Kept)).collect();
        let mut places = HashMap::new();
        let mut twice = HashSet::new();
        for (at, (node, _)) in nodes.iter().enumerate() {
            if places.insert(node.key, at).is_some() {
                twice.insert(node.key);
            }
        }
        Self { old, lists, nodes, places, twice, added: Vec::new(), added_places: HashMap::new() }
    }

    fn apply(&mut self, key: &str, value: Option<&Value>) -> Result<(), Failure> {
        if self.twice.contains(key) {
            let text = format!("the header has the key {key:?} more than once; keep one of them");
            return Err(Failure::new(Code::RECORD_FRONTMATTER_DUPLICATE_KEY, text).with("key", key));
        }
        let value = value.filter(|value| !value.is_empty());
        let Some(&at) = self.places.get(key) else { return self.add(key, value) };
        let (node, fate) = &mut self.nodes[at];
        if node.style == Style::Opaque {
            let text = format!("the value of {key:?} has a shape that is not rewritten; edit it in the file");
            return Err(Failure::new(Code::RECORD_FRONTMATTER_OPAQUE, text).with("key", key));
        }
        *fate = match value {
            Some(value) => Fate::Replaced(entry(key, value, Some(node), self.lists)?),
            // A key that stands there with nothing is absent already.
            None if node.value.is_none() => Fate::Kept,
            None => Fate::Removed,
        };
        Ok(())
    }

    fn add(&mut self, key: &str, value: Option<&Value>) -> Result<(), Failure> {
        let written = value.map(|value| entry(key, value, None, self.lists)).transpose()?;
        match self.added_places.get(key) {
            Some(&at) => self.added[at].1 = written,
            None if written.is_some() => {
                self.added_places.insert(key.to_owned(), self.added.len());
                self.added.push((key.to_owned(), written));
            }
            None => {}
        }
        Ok(())
    }

    /// The lines of the new header, without their ends.
    fn lines(&self) -> Vec<&str> {
        let mut lines = Vec::with_capacity(self.old.len() + self.added.len());
        let mut done = 0;
        for (node, fate) in &self.nodes {
            lines.extend(&self.old[done..node.lines.start]);
            match fate {
                Fate::Kept => lines.extend(&self.old[node.lines.clone()]),
                Fate::Removed => {}
                Fate::Replaced(written) => lines.extend(written.lines.iter().map(String::as_str)),
            }
            done = node.lines.end;
        }
        lines.extend(&self.old[done..]);
        let added = self.added.iter().filter_map(|(_, written)| written.as_ref());
        lines.extend(added.flat_map(|written| written.lines.iter().map(String::as_str)));
        lines
    }

    /// Refuses a header that does not read as intended: a stray `- item` line belongs to nobody behind a value, and
    /// to the key above once that value is gone.
    fn check(&self, lines: &[&str]) -> Result<(), Failure> {
        let old = self.nodes.iter().filter_map(|(node, fate)| match fate {
            Fate::Kept => Some(Reading::of(node)),
            Fate::Removed => None,
            Fate::Replaced(written) => Some(Reading::new(node.key, written)),
        });
        let added = self.added.iter().filter_map(|(key, written)| Some(Reading::new(key, written.as_ref()?)));
        let mut wanted = old.chain(added);
        for node in nodes(lines, self.lists) {
            if wanted.next() != Some(Reading::of(&node)) {
                return Err(stray(node.key));
            }
        }
        Ok(())
    }
}

/// A key as a reader finds it.
#[derive(PartialEq)]
struct Reading<'a> {
    key: &'a str,
    value: Option<&'a Value>,
    lines: usize,
}

impl<'a> Reading<'a> {
    fn of(node: &'a Node<'_>) -> Self {
        Self { key: node.key, value: node.value.as_ref(), lines: node.lines.len() }
    }

    fn new(key: &'a str, written: &'a Written) -> Self {
        Self { key, value: Some(&written.value), lines: written.lines.len() }
    }
}

fn stray(key: &str) -> Failure {
    let text =
        format!("lines below {key:?} belong to no key and would become its value; edit them in the file");
    Failure::new(Code::RECORD_FRONTMATTER_OPAQUE, text).with("key", key)
}

/// A new record: fences, the given keys in order (empty values left out), an empty line, the trimmed body, LF.
///
/// A list is written `[a, b]`, so its key must be a declared list key of the record's kind.
/// `RECORD_FRONTMATTER_UNREPRESENTABLE`, `_DUPLICATE_KEY`, details `{key}`.
pub fn render(header: &[(String, Value)], body: &str) -> Result<String, Failure> {
    let mut out = String::from("---\n");
    let mut seen = HashSet::new();
    for (key, value) in header.iter().filter(|(_, value)| !value.is_empty()) {
        if !seen.insert(key) {
            let text = format!("the key {key:?} is given more than once");
            return Err(Failure::new(Code::RECORD_FRONTMATTER_DUPLICATE_KEY, text).with("key", key.as_str()));
        }
        let lists: &[&str] = if matches!(value, Value::List(_)) { &[key] } else { &[] };
        for line in entry(key, value, None, lists)?.lines {
            out.push_str(&line);
            out.push('\n');
        }
    }
    out.push_str("---\n\n");
    out.push_str(&super::body::with_line_ends(trim(body), "\n"));
    out.push('\n');
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(key: &str, value: &str) -> Change {
        (key.to_owned(), Some(Value::Text(value.to_owned())))
    }

    #[test]
    fn a_patch_without_effect_returns_the_very_text() {
        let mixed = "---\r\na: 1\nb:\n--- \t\nbody\r\n";
        for changes in
            [vec![], vec![set("a", "1")], vec![("b".to_owned(), None)], vec![("c".to_owned(), None)]]
        {
            assert_eq!(patch(mixed, &changes, &[], None).unwrap(), mixed);
        }
        assert_eq!(
            patch(mixed, &[set("a", "2")], &[], None).unwrap(),
            "---\r\na: 2\r\nb:\r\n---\r\nbody\r\n"
        );
    }

    #[test]
    fn a_key_with_nothing_is_filled_in_its_place() {
        assert_eq!(patch("---\na:\nb: 1\n---", &[set("a", "x")], &[], None).unwrap(), "---\na: x\nb: 1\n---");
    }

    #[test]
    fn the_last_of_two_changes_to_a_key_counts() {
        let changes = [set("a", "1"), set("n", "1"), set("n", "2"), ("a".to_owned(), None), set("m", "3")];
        assert_eq!(patch("---\na: 0\n---\n", &changes, &[], None).unwrap(), "---\nn: 2\nm: 3\n---\n");
        let back = [set("n", "1"), ("n".to_owned(), None)];
        assert_eq!(patch("---\na: 0\n---\n", &back, &[], None).unwrap(), "---\na: 0\n---\n");
    }

    #[test]
    fn updated_is_set_unless_a_change_names_it() {
        let changes = [set("updated", "2020-01-01")];
        let out = patch("---\nid: T-1\n---\n", &changes, &[], Some("2026-03-04")).unwrap();
        assert_eq!(out, "---\nid: T-1\nupdated: 2020-01-01\n---\n");
    }

    #[test]
    fn stray_items_do_not_become_the_value_of_another_key() {
        let text = "---\nempty:\na: x\n- stray\n---\n";
        let refused = patch(text, &[("a".to_owned(), None)], &[], None).unwrap_err();
        assert_eq!(
            (refused.code, &refused.details["key"]),
            (Code::RECORD_FRONTMATTER_OPAQUE, &"empty".into())
        );
        let list = Value::List(vec!["y".to_owned()]);
        let refused = patch(text, &[("a".to_owned(), Some(list))], &[], None).unwrap_err();
        assert_eq!((refused.code, &refused.details["key"]), (Code::RECORD_FRONTMATTER_OPAQUE, &"a".into()));
        let list = Value::List(vec!["y".to_owned()]);
        let refused = patch("---\na: x\n-\n---\n", &[("a".to_owned(), Some(list))], &[], None).unwrap_err();
        assert_eq!(refused.code, Code::RECORD_FRONTMATTER_OPAQUE);
        assert_eq!(patch(text, &[set("a", "y")], &[], None).unwrap(), "---\nempty:\na: y\n- stray\n---\n");
    }

    #[test]
    fn a_text_without_fences_is_refused() {
        let refused = patch("# Title\n", &[set("a", "y")], &[], None).unwrap_err();
        assert_eq!(refused.code, Code::RECORD_FRONTMATTER_MISSING);
    }

    #[test]
    fn a_new_record_has_lf_line_ends_and_no_empty_values() {
        let header = [
            ("id".to_owned(), Value::Text("T-0001".to_owned())),
            ("area".to_owned(), Value::Text(String::new())),
            ("tags".to_owned(), Value::List(vec!["a".to_owned(), "b, c".to_owned()])),
            ("scope".to_owned(), Value::List(vec![String::new()])),
        ];
        let out = render(&header, "\r\n one\r\ntwo\n\n").unwrap();
        assert_eq!(out, "---\nid: T-0001\ntags: [a, \"b, c\"]\n---\n\none\ntwo\n");
        assert_eq!(render(&header[..1], " ").unwrap(), "---\nid: T-0001\n---\n\n\n");
        let twice = [header[0].clone(), header[0].clone()];
        assert_eq!(render(&twice, "").unwrap_err().code, Code::RECORD_FRONTMATTER_DUPLICATE_KEY);
    }
}
