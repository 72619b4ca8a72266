//! Comparing what came out with what was recorded: JSON with placeholders, texts, file trees.

use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::Path;

/// What a placeholder in an expected text stands for.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// Any JSON value; the whole expected string.
    Any,
    /// A number; the whole expected string.
    Number,
    /// At least one character.
    Text,
    /// Any text, none too.
    Anything,
    /// A text in which each of these words occurs.
    Holding(Vec<String>),
    /// `YYYY-MM-DDTHH:MM:SS.mmmZ`.
    Time,
    /// `sha256:` and 64 hex digits.
    Revision,
    /// Exactly this.
    Exactly(String),
}

/// The placeholders of an area.
pub(crate) struct Placeholders<'a>(pub(crate) Vec<(&'a str, Kind)>);

impl Placeholders<'_> {
    /// Whether the text `got` is what `want` says.
    pub(crate) fn fit(&self, want: &str, got: &str) -> bool {
        let first = self.0.iter().filter_map(|(token, kind)| Some((want.find(token)?, *token, kind)));
        let Some((at, token, kind)) = first.min_by_key(|found| found.0) else { return want == got };
        let Some(got) = got.strip_prefix(&want[..at]) else { return false };
        let want = &want[at + token.len()..];
        let after = |length: usize, is_one: fn(&str) -> bool| {
            got.split_at_checked(length).is_some_and(|(one, rest)| is_one(one) && self.fit(want, rest))
        };
        match kind {
            Kind::Any | Kind::Number => false,
            Kind::Text | Kind::Anything | Kind::Holding(_) => {
                let is_one = |piece: &str| match kind {
                    Kind::Holding(words) => {
                        !piece.is_empty() && words.iter().all(|word| piece.contains(word))
                    }
                    Kind::Anything => true,
                    _ => !piece.is_empty(),
                };
                let mut ends = got.char_indices().map(|(end, _)| end).chain([got.len()]);
                ends.any(|end| is_one(&got[..end]) && self.fit(want, &got[end..]))
            }
            Kind::Time => after("2026-01-02T03:04:05.678Z".len(), is_time),
            Kind::Revision => after("sha256:".len() + 64, is_revision),
            Kind::Exactly(text) => got.strip_prefix(text.as_str()).is_some_and(|rest| self.fit(want, rest)),
        }
    }

    fn leaf(&self, want: &str, got: &Json) -> bool {
        match self.0.iter().find(|(token, _)| *token == want) {
            Some((_, Kind::Any)) => true,
            Some((_, Kind::Number)) => got.is_number(),
            _ => got.as_str().is_some_and(|got| self.fit(want, got)),
        }
    }

    /// Adds a line to `out` for every place where two values differ; objects have the same keys, in any order.
    pub(crate) fn json(&self, at: &str, want: &Json, got: &Json, out: &mut Vec<String>) {
        let same = match (want, got) {
            (Json::String(want), _) => self.leaf(want, got),
            (Json::Object(wanted), Json::Object(gotten)) => {
                for (key, value) in wanted {
                    match gotten.get(key) {
                        Some(found) => self.json(&format!("{at}.{key}"), value, found, out),
                        None => out.push(format!("{at}.{key}: expected {value}, got nothing")),
                    }
                }
                for (key, value) in gotten.iter().filter(|(key, _)| !wanted.contains_key(*key)) {
                    out.push(format!("{at}.{key}: expected nothing, got {value}"));
                }
                true
            }
            (Json::Array(wanted), Json::Array(gotten)) => {
                for (index, (want, got)) in wanted.iter().zip(gotten).enumerate() {
                    self.json(&format!("{at}[{index}]"), want, got, out);
                }
                equal(&format!("{at} length"), &wanted.len(), &gotten.len(), out);
                true
            }
            (Json::Number(want), Json::Number(got)) => want == got || want.as_f64() == got.as_f64(),
            _ => want == got,
        };
        if !same {
            out.push(format!("{at}: expected {want}, got {got}"));
        }
    }

    /// Adds a line to `out` for the first line in which two texts differ.
    pub(crate) fn text(&self, at: &str, want: &str, got: &str, out: &mut Vec<String>) {
        if self.fit(want, got) {
            return;
        }
        let (mut wanted, mut gotten) = (want.split_inclusive('\n'), got.split_inclusive('\n'));
        for number in 1.. {
            match (wanted.next(), gotten.next()) {
                (Some(want), Some(got)) if self.fit(want, got) => {}
                (None, None) => return out.push(format!("{at}: expected {want:?}, got {got:?}")),
                (want, got) => {
                    return out.push(format!("{at} line {number}: expected {want:?}, got {got:?}"));
                }
            }
        }
    }

    /// Adds a line to `out` for every path that is not the same in two trees.
    pub(crate) fn tree(&self, at: &str, want: &Tree, got: &Tree, out: &mut Vec<String>) {
        let mut paths: Vec<_> = want.keys().chain(got.keys()).collect();
        paths.sort_unstable();
        paths.dedup();
        for path in paths {
            let name = format!("{at}{path}");
            match (want.get(path), got.get(path)) {
                (Some(want), None) => out.push(format!("{name}: expected {}, got nothing", want.kind())),
                (None, Some(got)) => out.push(format!("{name}: expected nothing, got {}", got.kind())),
                (Some(Entry::File(want)), Some(Entry::File(got))) if want != got => {
                    match (std::str::from_utf8(want), std::str::from_utf8(got)) {
                        (Ok(want), Ok(got)) => self.text(&name, want, got, out),
                        _ => out.push(format!("{name}: bytes differ")),
                    }
                }
                (want, got) => equal(&name, &want, &got, out),
            }
        }
    }
}

/// Adds a line to `out` when two values are not equal.
pub(crate) fn equal<T: PartialEq + Debug>(at: &str, want: &T, got: &T, out: &mut Vec<String>) {
    if want != got {
        out.push(format!("{at}: expected {want:?}, got {got:?}"));
    }
}

fn is_time(text: &str) -> bool {
    let shape = "dddd-dd-ddTdd:dd:dd.dddZ";
    text.len() == shape.len()
        && text.bytes().zip(shape.bytes()).all(|(got, want)| match want {
            b'd' => got.is_ascii_digit(),
            mark => got == mark,
        })
}

fn is_revision(text: &str) -> bool {
    let digits = text.strip_prefix("sha256:").unwrap_or_default();
    digits.len() == 64 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// One thing in a file tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    File(Vec<u8>),
    Link(String),
    Directory,
}

impl Entry {
    fn kind(&self) -> &'static str {
        match self {
            Self::File(_) => "a file",
            Self::Link(_) => "a link",
            Self::Directory => "a directory",
        }
    }
}

/// Everything below a directory, by path with `/`.
pub(crate) type Tree = BTreeMap<String, Entry>;

/// Reads everything below `top`; links are not followed.
pub(crate) fn tree(top: &Path) -> Tree {
    let mut found = Tree::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(top.join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            let kind = entry.file_type().unwrap();
            let content = if kind.is_symlink() {
                Entry::Link(std::fs::read_link(entry.path()).unwrap().display().to_string())
            } else if kind.is_dir() {
                folders.push(path.clone());
                Entry::Directory
            } else {
                Entry::File(std::fs::read(entry.path()).unwrap())
            };
            found.insert(path, content);
        }
    }
    found
}

/// The temporary files in a tree: `tmp` stands behind a dot in their names.
pub(crate) fn temporary(tree: &Tree) -> Vec<&str> {
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let is_one = |path: &&str| name(path).split('.').skip(1).any(|part| part == "tmp");
    tree.keys().map(String::as_str).filter(is_one).collect()
}

mod tests {
    use super::*;
    use serde_json::json;

    fn placeholders() -> Placeholders<'static> {
        Placeholders(vec![
            ("<ANY>", Kind::Any),
            ("<MS>", Kind::Number),
            ("<MESSAGE>", Kind::Text),
            ("<TIME>", Kind::Time),
            ("<REVISION>", Kind::Revision),
            ("<ROOT>", Kind::Exactly("/w".to_owned())),
            ("<WORDS>", Kind::Holding(vec!["a".to_owned(), "b c".to_owned()])),
            ("<SOME>", Kind::Anything),
        ])
    }

    #[test]
    fn placeholders_match_their_kind_and_nothing_else() {
        let p = placeholders();
        assert!(p.fit("at <TIME>, in <ROOT>/a", "at 2026-01-02T03:04:05.678Z, in /w/a"));
        assert!(!p.fit("at <TIME>", "at 2026-01-02T03:04:05Z"));
        assert!(p.fit("<MESSAGE> and <MESSAGE>", "a and b and c"));
        assert!(p.fit("<MESSAGE>", "é") && !p.fit("<MESSAGE>", "") && !p.fit("<MESSAGE>!", "!"));
        assert!(p.fit("<REVISION>", &format!("sha256:{}", "0a".repeat(32))));
        assert!(!p.fit("<REVISION>", &format!("sha256:{}", "0A".repeat(32))));
        assert!(!p.fit("a", "ab") && !p.fit("<ROOT>", "/x"));
        assert!(p.fit("<WORDS>!", "b c, a!") && !p.fit("<WORDS>!", "b, a!") && !p.fit("<WORDS>!", "b c! a"));
        assert!(p.fit("x<SOME>", "x") && p.fit("<SOME>y", "xy"));
    }

    #[test]
    fn json_differs_by_one_key_or_type() {
        let found = |want: Json, got: Json| {
            let mut out = Vec::new();
            placeholders().json("", &want, &got, &mut out);
            out
        };
        let want = json!({"a": [1, "<MS>", "<ANY>"], "b": "<TIME>"});
        let time = "2026-01-02T03:04:05.678Z";
        assert!(found(want.clone(), json!({"b": time, "a": [1, 2.5, null]})).is_empty());
        assert_eq!(found(want.clone(), json!({"a": [1, "2", 3], "b": time})).len(), 1);
        assert_eq!(found(want.clone(), json!({"a": [1, 2], "b": time})), [".a length: expected 3, got 2"]);
        assert_eq!(found(want.clone(), json!({"a": [1, 2, 3]})).len(), 1);
        assert_eq!(found(want, json!({"a": [true, 2, 3], "b": time, "c": 1})).len(), 2);
    }

    #[test]
    fn the_first_line_that_differs_is_named() {
        let mut out = Vec::new();
        placeholders().text("x", "a\nb\n", "a\nb", &mut out);
        assert_eq!(out, ["x line 2: expected Some(\"b\\n\"), got Some(\"b\")"]);
    }
}
