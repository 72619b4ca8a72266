//! Patterns of documents: which files a project counts as its documentation.

use regex::bytes::{Regex, RegexSet};

/// Patterns over repository paths, anchored at both ends, case-sensitive: `*` is any run of characters within a segment, `?`
/// one of them, `**` any run of anything, `**/` also none.
#[derive(Clone, Debug)]
pub struct Globs {
    set: RegexSet,
    heads: Vec<Head>,
}

/// What a pattern says about folders.
#[derive(Clone, Debug)]
struct Head {
    /// The literal folders in front of the first wildcard.
    folders: String,
    /// How many folders a matching path lies in; `None` for any number.
    depth: Option<usize>,
    /// Whether it ends in what matches anything at all.
    is_endless: bool,
}

impl Globs {
    /// Compiles patterns; one that is too large to compile matches nothing.
    pub fn new<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Self {
        let patterns: Vec<&str> =
            patterns.into_iter().map(|pattern| pattern.strip_prefix("./").unwrap_or(pattern)).collect();
        let expressions: Vec<String> = patterns.iter().map(|pattern| expression(pattern)).collect();
        // A server compiles its patterns on every call, so each is compiled alone only when they do not compile together.
        let set = RegexSet::new(&expressions).unwrap_or_else(|_| {
            let fits = |one: String| if Regex::new(&one).is_ok() { one } else { NOTHING.to_owned() };
            RegexSet::new(expressions.into_iter().map(fits)).unwrap_or_else(|_| RegexSet::empty())
        });
        Self { set, heads: patterns.into_iter().map(head).collect() }
    }

    /// Whether any pattern matches `path`.
    pub fn matches(&self, path: &str) -> bool {
        self.set.is_match(path.as_bytes())
    }

    /// Whether any pattern can match something below the folder `path`.
    pub fn may_match_below(&self, path: &str) -> bool {
        let inside = |outer: &str, inner: &str| {
            outer.is_empty()
                || inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let depth = path.split('/').count();
        self.heads.iter().any(|head| {
            let near = inside(&head.folders, path) || inside(path, &head.folders);
            near && head.depth.is_none_or(|deepest| depth <= deepest)
        })
    }

    /// Whether everything below the folder `path` is matched, so that nobody need look there: one pattern matches the folder's
    /// own slash, and anything behind it.
    pub fn covers_folder(&self, path: &str) -> bool {
        self.set.matches(format!("{path}/").as_bytes()).iter().any(|at| self.heads[at].is_endless)
    }
}

/// An expression that matches nothing.
const NOTHING: &str = r"[^\s\S]";

fn head(pattern: &str) -> Head {
    let literal = pattern.find(['*', '?']).map_or(pattern, |at| &pattern[..at]);
    let folders = literal.rsplit_once('/').map_or(String::new(), |(folders, _)| folders.to_owned());
    let depth = (!pattern.contains("**")).then(|| pattern.matches('/').count());
    let is_endless = pattern.ends_with("**") || pattern.ends_with("**/*");
    Head { folders, depth, is_endless }
}

/// A pattern as an expression over bytes. Only `?` has to know where a character ends: in UTF-8 no byte of one is a `/`, and
/// no character begins inside another. Automata over whole characters take many times as long to build.
fn expression(pattern: &str) -> String {
    let mut out = String::from(r"(?s)\A");
    let mut rest = pattern;
    while let Some(next) = rest.chars().next() {
        let used = if rest.starts_with("**/") {
            out.push_str("(?:(?-u:.)*/)?");
            3
        } else if rest.starts_with("**") {
            out.push_str("(?-u:.)*");
            2
        } else {
            match next {
                '*' => out.push_str("(?-u:[^/])*"),
                '?' => out.push_str("[^/]"),
                next => out.push_str(&regex::escape(next.encode_utf8(&mut [0; 4]))),
            }
            next.len_utf8()
        };
        rest = &rest[used..];
    }
    out.push_str(r"\z");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value as Json;

    #[test]
    fn patterns_match_as_recorded() {
        let cases: Vec<Json> =
            serde_json::from_str(include_str!("../../tests/golden/vectors/globs.json")).unwrap();
        for case in cases {
            let globs = Globs::new([case["glob"].as_str().unwrap()]);
            assert_eq!(Json::from(globs.matches(case["path"].as_str().unwrap())), case["match"], "{case}");
        }
    }

    #[test]
    fn a_walk_goes_where_a_pattern_can_match_and_nowhere_else() {
        let globs = Globs::new(["README.md", "docs/**/*.md", ".project/specs/**/*.md"]);
        for path in ["docs", "docs/a/b", ".project", ".project/specs", ".project/specs/x"] {
            assert!(globs.may_match_below(path), "{path}");
        }
        for path in ["src", "docs2", ".project/cards", "doc"] {
            assert!(!globs.may_match_below(path), "{path}");
        }
        assert!(Globs::new(["**/*.md"]).may_match_below("any/thing"));
        let exclude = Globs::new(["**/node_modules/**", ".git/**"]);
        assert!(exclude.covers_folder("a/node_modules") && exclude.covers_folder(".git"));
        assert!(!exclude.covers_folder("a") && !Globs::new(["a/*.md"]).covers_folder("a"));
        assert!(Globs::new(["**/*"]).covers_folder("a") && !Globs::new(["**/?", "a/?**"]).covers_folder("a"));
    }

    #[test]
    fn a_pattern_is_no_expression_and_no_bomb() {
        assert!(Globs::new(["a+(b)?.md"]).matches("a+(b)c.md"));
        let bomb = "**/".repeat(2_000);
        assert!(!Globs::new([bomb.as_str()]).matches("a"));
    }

    #[test]
    fn a_pattern_that_is_too_large_leaves_the_others_as_they_are() {
        let large = "?".repeat(100_000);
        let globs = Globs::new([large.as_str(), "docs/*.md"]);
        assert!(globs.matches("docs/a.md") && !globs.matches(&"a".repeat(100_000)));
    }

    /// The rules of a pattern, word for word.
    fn reference(pattern: &[char], path: &[char]) -> bool {
        let skips = |rest: &[char], may: fn(char) -> bool| {
            let end = path.iter().position(|one| !may(*one)).unwrap_or(path.len());
            (0..=end).any(|at| reference(rest, &path[at..]))
        };
        match pattern {
            [] => path.is_empty(),
            ['*', '*', '/', rest @ ..] => {
                let inside = (0..path.len()).filter(|at| path[*at] == '/');
                reference(rest, path) || inside.into_iter().any(|at| reference(rest, &path[at + 1..]))
            }
            ['*', '*', rest @ ..] => skips(rest, |_| true),
            ['*', rest @ ..] => skips(rest, |one| one != '/'),
            ['?', rest @ ..] => path.first().is_some_and(|one| *one != '/') && reference(rest, &path[1..]),
            [one, rest @ ..] => path.first() == Some(one) && reference(rest, &path[1..]),
        }
    }

    proptest! {
        #[test]
        fn a_character_of_many_bytes_is_one_character(
            pattern in "([*?/aé\u{20ac}\u{1f600}\n]|\\*\\*/){0,6}", path in "[/aé\u{20ac}\u{1f600}\n]{0,6}",
        ) {
            let all = |text: &str| text.chars().collect::<Vec<_>>();
            let rest = pattern.strip_prefix("./").unwrap_or(&pattern);
            let expected = reference(&all(rest), &all(&path));
            prop_assert_eq!(Globs::new([pattern.as_str()]).matches(&path), expected);
        }

        #[test]
        fn a_walk_misses_nothing(pattern in "[ab*?/.]{0,7}", folders in "[ab]{1,2}(/[ab]{1,2}){0,2}", name in "[ab.]{1,3}") {
            let globs = Globs::new([pattern.as_str()]);
            let path = format!("{folders}/{name}");
            if globs.matches(&path) {
                for (at, _) in path.match_indices('/') {
                    prop_assert!(globs.may_match_below(&path[..at]), "{}", &path[..at]);
                }
            }
            if globs.covers_folder(&folders) {
                prop_assert!(globs.matches(&path));
            }
        }

        #[test]
        fn any_text_is_a_pattern(pattern in any::<String>(), path in any::<String>()) {
            let globs = Globs::new([pattern.as_str(), "*"]);
            let _ = (globs.may_match_below(&path), globs.covers_folder(&path));
            prop_assert_eq!(globs.matches(&path), !path.contains('/') || Globs::new([pattern.as_str()]).matches(&path));
        }
    }
}
