//! Acceptance criteria: the checklist of a body that says when the work is done.
//!
//! They are read from one region only, the first heading that promises them, so that a checklist elsewhere never
//! counts as one and a quoted one inside code never does either.

use crate::path::{is_space, one_line, trim};
use crate::record;
use serde_json::{Value as Json, json};

/// One box with its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its place among its like, from 1.
    pub index: usize,
    /// The text behind the box, trimmed.
    pub text: String,
    /// Whether the box is ticked.
    pub checked: bool,
    /// The line of the trimmed body, from 0.
    pub line: usize,
}

/// What a body says about its criteria.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Whether there is a region.
    pub present: bool,
    /// The items of the region.
    pub items: Vec<Item>,
    /// Items outside the region and outside the trail and the notes: nobody can address them.
    pub orphans: Vec<Item>,
}

impl Reading {
    /// The items that are not ticked.
    pub fn unchecked(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(|item| !item.checked)
    }

    /// Open boxes that nobody can address: those of a body without a region.
    pub fn unreadable(&self) -> impl Iterator<Item = &Item> {
        self.orphans.iter().filter(|item| !self.present && !item.checked)
    }

    /// `{present, items, unchecked, orphans}`.
    pub fn to_json(&self) -> Json {
        json!({
            "present": self.present,
            "items": self.items.iter().map(Item::to_json).collect::<Vec<_>>(),
            "unchecked": self.unchecked().map(Item::to_json).collect::<Vec<_>>(),
            "orphans": self.orphans.iter().map(Item::to_json).collect::<Vec<_>>(),
        })
    }
}

impl Item {
    fn to_json(&self) -> Json {
        json!({ "index": self.index, "text": self.text, "checked": self.checked, "line": self.line })
    }

    /// The digest that a verify entry binds this criterion by.
    pub fn digest(&self) -> String {
        digest(&self.text)
    }
}

/// The digest of a criterion's text: white space does not matter, case and punctuation do.
pub fn digest(text: &str) -> String {
    record::digest(one_line(text))
}

/// Reads the criteria of a trimmed body.
pub fn read(body: &str) -> Reading {
    let fenced = record::fenced_lines(body);
    let mut reading = Reading { present: false, items: Vec::new(), orphans: Vec::new() };
    let mut region: Option<usize> = None;
    let mut protected = false;
    for (number, (line, fenced)) in body.split('\n').zip(fenced).enumerate() {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if fenced {
            continue;
        }
        if let Some(level) = heading(line) {
            if level == 2 {
                protected = matches!(trim(line), "## Activity" | "## Notes");
            }
            if region.is_some_and(|open| level <= open) {
                region = None;
            }
            if !reading.present && promises_criteria(line) {
                reading.present = true;
                region = Some(level);
            }
            continue;
        }
        let Some(Boxed { checked, text, .. }) = item(line) else { continue };
        let list = match region {
            Some(_) => &mut reading.items,
            None if protected => continue,
            None => &mut reading.orphans,
        };
        let index = list.len() + 1;
        list.push(Item { index, text: text.to_owned(), checked, line: number });
    }
    reading
}

/// A box that is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The line of the trimmed body, as [`Item::line`] has it.
    pub line: usize,
    /// Whether the box is ticked or emptied.
    pub checked: bool,
}

/// A body as it is in its file, with these boxes set. Nothing else changes: one byte a box.
pub fn marked(body_text: &str, marks: &[Mark]) -> String {
    let lead = body_text.len() - body_text.trim_start_matches(is_space).len();
    let mut out = String::with_capacity(body_text.len());
    out.push_str(&body_text[..lead]);
    for (number, line) in body_text[lead..].split_inclusive('\n').enumerate() {
        let mark = marks.iter().rev().find(|mark| mark.line == number);
        match mark.zip(item(line.trim_end_matches(['\r', '\n']))) {
            Some((mark, found)) => {
                out.push_str(&line[..found.mark]);
                out.push(if mark.checked { 'x' } else { ' ' });
                out.push_str(&line[found.mark + 1..]);
            }
            None => out.push_str(line),
        }
    }
    out
}

/// The level of a heading line with a text.
fn heading(line: &str) -> Option<usize> {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    ((1..=6).contains(&level) && rest.starts_with(is_space) && !trim(rest).is_empty()).then_some(level)
}

/// Whether a heading line opens the region.
fn promises_criteria(line: &str) -> bool {
    let text = line.trim_start_matches('#').to_ascii_lowercase();
    let mut words = text.split(is_space).filter(|word| !word.is_empty());
    let ends = |word: Option<&str>, wanted: &str| {
        let rest = word.and_then(|word| word.strip_prefix(wanted));
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
    };
    match words.next() {
        Some("definition") => words.next() == Some("of") && ends(words.next(), "done"),
        Some("success" | "exit") => ends(words.next(), "criteria"),
        first => ends(first, "acceptance"),
    }
}

/// The box of a checklist line.
struct Boxed<'a> {
    /// Where its mark is in the line; one byte.
    mark: usize,
    checked: bool,
    /// What stands behind it, trimmed.
    text: &'a str,
}

fn item(line: &str) -> Option<Boxed<'_>> {
    let rest = line.trim_start_matches(is_space).strip_prefix(['-', '*'])?;
    let boxed = rest.trim_start_matches(is_space);
    if boxed.len() == rest.len() {
        return None;
    }
    let inside = boxed.strip_prefix('[')?;
    let mark = inside.chars().next().filter(|c| matches!(c, ' ' | 'x' | 'X'))?;
    let text = inside[1..].strip_prefix(']')?;
    let found = Boxed { mark: line.len() - inside.len(), checked: mark != ' ', text: trim(text) };
    text.starts_with(is_space).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn vectors(text: &str) -> Vec<Json> {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn every_body_reads_as_recorded() {
        for case in vectors(include_str!("../../tests/golden/vectors/acceptance-read.json")) {
            let body = case["body"].as_str().unwrap();
            assert_eq!(read(body).to_json(), case["reading"], "{}", case["name"]);
        }
    }

    #[test]
    fn a_longer_fence_is_not_closed_by_a_shorter_one() {
        let hardened: Json =
            serde_json::from_str(include_str!("../../tests/golden/vectors/hardened.json")).unwrap();
        for case in hardened["acceptance-read"].as_array().unwrap() {
            let texts: Vec<String> =
                read(case["body"].as_str().unwrap()).items.into_iter().map(|item| item.text).collect();
            assert_eq!(Json::from(texts), case["items"]);
        }
    }

    #[test]
    fn digests_are_as_recorded() {
        for case in vectors(include_str!("../../tests/golden/vectors/criterion-digest.json")) {
            assert_eq!(digest(case["text"].as_str().unwrap()), case["digest"], "{}", case["text"]);
        }
    }

    #[test]
    fn the_trail_and_the_notes_hold_no_orphans() {
        let body = "- [ ] a\n\n## Notes\n\n- [ ] b\n\n# Top\n\n- [ ] c\n\n## Activity\n- [x] d\n\n## Next\r\n- [ ] e\r";
        let texts: Vec<String> = read(body).orphans.into_iter().map(|item| item.text).collect();
        assert_eq!(texts, ["a", "e"]);
    }

    #[test]
    fn a_box_is_set_and_nothing_else() {
        let body = "\r\n \n  * [X]   a  \r\n```\r\n- [ ] b\r\n```\n- [ ] c\n\t-\u{a0}[ ] d";
        let marks = [(0, false), (2, true), (4, true), (5, true), (9, true)];
        let set = marked(body, &marks.map(|(line, checked)| Mark { line, checked }));
        let wanted = "\r\n \n  * [ ]   a  \r\n```\r\n- [x] b\r\n```\n- [x] c\n\t-\u{a0}[x] d";
        assert_eq!(set, wanted);
        assert_eq!(marked("", &[Mark { line: 0, checked: true }]), "");
    }

    proptest! {
        #[test]
        fn setting_a_box_is_read_back(
            body in "[\r\n ]{0,3}## Acceptance\n(- \\[[ xX]\\] [a-z]{1,3}\r?\n|```\n|[ab]\n| ){0,8}",
            checked in any::<bool>(),
            which in any::<prop::sample::Index>(),
        ) {
            let mut reading = read(trim(&body));
            prop_assume!(!reading.items.is_empty());
            let item = which.index(reading.items.len());
            let line = reading.items[item].line;
            let set = marked(&body, &[Mark { line, checked }]);
            prop_assert_eq!(set.len(), body.len());
            reading.items[item].checked = checked;
            prop_assert_eq!(read(trim(&set)), reading);
        }

        #[test]
        fn nothing_panics(body in "([-*#\\[\\]xX `~\r\n]|acceptance|[a-zé]){0,60}") {
            read(&body);
        }
    }
}
