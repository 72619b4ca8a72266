//! Edits of a JSON text that leave every other byte alone.

use serde_json::Value as Json;
use std::ops::Range;

/// One replacement; an empty range inserts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Splice {
    pub(super) at: Range<usize>,
    pub(super) with: String,
}

/// `text` with all replacements done. They do not overlap.
pub(super) fn apply(text: &str, mut splices: Vec<Splice>) -> String {
    splices.sort_by_key(|splice| (splice.at.start, splice.at.end));
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for Splice { at: place, with } in splices {
        out.push_str(&text[at..place.start]);
        out.push_str(&with);
        at = place.end;
    }
    out.push_str(&text[at..]);
    out
}

/// What happens to a child of a list or an object.
#[derive(Clone, Debug)]
pub(super) enum Fate {
    /// It stays; splices may lie inside it.
    Keep,
    /// It goes, and a comma with it.
    Drop,
    /// Another value stands in its place.
    Replace(String),
}

/// How a file is laid out, as far as new lines in it should look alike.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    unit: String,
    newline: &'static str,
}

impl Layout {
    /// The first indented line decides, else two spaces.
    pub(super) fn of(text: &str) -> Self {
        let indent = |line: &str| {
            let width = line.len() - line.trim_start_matches([' ', '\t']).len();
            let is_blank = line[width..].trim_end().is_empty();
            (width > 0 && !is_blank).then(|| line[..width].to_owned())
        };
        let unit = text.lines().find_map(indent).unwrap_or_else(|| "  ".to_owned());
        Self { unit, newline: if text.contains("\r\n") { "\r\n" } else { "\n" } }
    }

    /// The end of a line.
    pub(super) fn newline(&self) -> &'static str {
        self.newline
    }

    /// A new line at a depth.
    fn line(&self, depth: usize) -> String {
        format!("{}{}", self.newline, self.unit.repeat(depth))
    }

    /// `value` as it stands at a depth, its first line not indented.
    pub(super) fn render(&self, value: &Json, depth: usize) -> String {
        let mut out = String::new();
        self.write(&mut out, value, depth);
        out
    }

    /// A member as it stands at a depth.
    pub(super) fn render_member(&self, key: &str, value: &Json, depth: usize) -> String {
        format!("{}: {}", Json::from(key), self.render(value, depth))
    }

    fn write(&self, out: &mut String, value: &Json, depth: usize) {
        let (open, close, children): (_, _, Vec<(Option<&String>, &Json)>) = match value {
            Json::Array(elements) if !elements.is_empty() => {
                ('[', ']', elements.iter().map(|element| (None, element)).collect())
            }
            Json::Object(members) if !members.is_empty() => {
                ('{', '}', members.iter().map(|(key, value)| (Some(key), value)).collect())
            }
            plain => return out.push_str(&plain.to_string()),
        };
        out.push(open);
        for (index, (key, child)) in children.into_iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            out.push_str(&self.line(depth + 1));
            if let Some(key) = key {
                out.push_str(&Json::from(key.as_str()).to_string());
                out.push_str(": ");
            }
            self.write(out, child, depth + 1);
        }
        out.push_str(&self.line(depth));
        out.push(close);
    }

    /// The splices that carry out the fates of a container's children and add new ones at its end. `depth` is the
    /// container's own.
    pub(super) fn edit(
        &self,
        container: &Range<usize>,
        children: &[(Range<usize>, Fate)],
        added: &[String],
        depth: usize,
    ) -> Vec<Splice> {
        let stays = |fate: &Fate| !matches!(fate, Fate::Drop);
        let added: Vec<String> =
            added.iter().map(|child| format!("{}{child}", self.line(depth + 1))).collect();
        let Some(first_kept) = children.iter().position(|(_, fate)| stays(fate)) else {
            if children.is_empty() && added.is_empty() {
                return Vec::new();
            }
            let inner = container.start + 1..container.end - 1;
            let with = if added.is_empty() { String::new() } else { added.join(",") + &self.line(depth) };
            return vec![Splice { at: inner, with }];
        };
        let mut splices = Vec::new();
        for (index, (place, fate)) in children.iter().enumerate() {
            match fate {
                Fate::Keep => {}
                Fate::Replace(with) => splices.push(Splice { at: place.clone(), with: with.clone() }),
                Fate::Drop => {
                    // In front of the first that stays, the comma behind goes; behind it, the comma in front.
                    let at = if index < first_kept {
                        place.start..children[index + 1].0.start
                    } else {
                        children[index - 1].0.end..place.end
                    };
                    splices.push(Splice { at, with: String::new() });
                }
            }
        }
        if !added.is_empty() {
            let end = children[children.len() - 1].0.end;
            splices.push(Splice { at: end..end, with: format!(",{}", added.join(",")) });
        }
        splices
    }
}

#[cfg(test)]
mod tests {
    use super::super::jsontext::parse;
    use super::Fate::{Drop, Keep, Replace};
    use super::*;
    use serde_json::json;

    #[test]
    fn edits_keep_every_other_byte() {
        let edit = |text: &str, fates: &[Fate], added: &[&str]| {
            let list = parse(text.as_bytes()).unwrap().1;
            let places = list.elements().unwrap().iter().map(|element| element.span.clone());
            let children: Vec<_> = places.zip(fates.iter().cloned()).collect();
            let added: Vec<String> = added.iter().map(|&text| text.to_owned()).collect();
            apply(text, Layout::of(text).edit(&list.span, &children, &added, 0))
        };
        let new = || Replace("9".to_owned());
        assert_eq!(edit("[ 1.0 , 2e3,\n\t3 ]", &[Keep, Keep, Keep], &[]), "[ 1.0 , 2e3,\n\t3 ]");
        assert_eq!(edit("[ 1.0 , 2e3,\n\t3 ]", &[Drop, Keep, Drop], &[]), "[ 2e3 ]");
        assert_eq!(edit("[ 1.0 , 2e3,\n\t3 ]", &[Keep, Drop, Keep], &[]), "[ 1.0,\n\t3 ]");
        assert_eq!(edit("[1,2,3]", &[Drop, Drop, new()], &[]), "[9]");
        assert_eq!(edit("[1,2,3]", &[new(), Drop, Drop], &["4"]), "[9,\n  4]");
        assert_eq!(edit("[\n    1\n]", &[Keep], &["2", "3"]), "[\n    1,\n    2,\n    3\n]");
        assert_eq!(edit("[1,2]", &[Drop, Drop], &[]), "[]");
        assert_eq!(edit("[1]", &[Drop], &["2"]), "[\n  2\n]");
        assert_eq!(edit("[ ]", &[], &[]), "[ ]");
        assert_eq!(edit("[]", &[], &["1"]), "[\n  1\n]");
    }

    #[test]
    fn new_lines_look_like_the_others() {
        let value = json!({ "a": [1, { "b": [] }], "c": "\"" });
        let render = |text: &str| Layout::of(text).render(&value, 1);
        let two = "{\n    \"a\": [\n      1,\n      {\n        \"b\": []\n      }\n    ],\n    \"c\": \"\\\"\"\n  }";
        assert_eq!(render("{}"), two);
        assert_eq!(render("{\n\n\t\"x\": 1}"), two.replace("  ", "\t"));
        assert_eq!(render("{\r\n    \"x\": {\r\n  }"), two.replace("  ", "    ").replace('\n', "\r\n"));
    }
}
