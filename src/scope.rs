//! Scope entries: what a card says its work will change.
//!
//! [`covers`] tests an entry against a path and serves the guard and the scan alike; [`overlaps`] tests entries
//! against entries and serves the warning of a claim. Entries come from cards and cards come from forks, so the
//! matcher is linear: no recursion, no backtracking across segments, no regular expressions.

use crate::path::{Flavour, same_char, same_name, trim};

/// Longest entry that counts, in bytes.
pub const ENTRY_BYTES: usize = 1024;

/// Words of a bit set that has room for every segment of the longest entry and the end behind them.
const WORDS: usize = ENTRY_BYTES / 2 / 64 + 1;

/// The segments of an entry; `None` when it covers nothing (empty, absolute, with a drive or a `..`).
///
/// `\` counts as `/`; empty segments and `.` are not there. No segment at all stands for the whole repository.
fn segments(entry: &str) -> Option<impl Iterator<Item = &str> + Clone> {
    let entry = trim(entry);
    let bytes = entry.as_bytes();
    let drive = bytes.len() > 1 && bytes[1] == b':' && bytes[0].is_ascii_alphabetic();
    if entry.is_empty() || entry.len() > ENTRY_BYTES || drive || entry.starts_with(['/', '\\']) {
        return None;
    }
    let parts = entry.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".");
    (!parts.clone().any(|part| part == "..")).then_some(parts)
}

/// Whether `entry` covers the repository path `path` or one of its ancestor directories.
///
/// `**` as a whole segment is any number of segments, also none; in any other segment `*` is any run of characters
/// and `?` one character, neither crossing `/`; everything else is literal.
pub fn covers(entry: &str, path: &str) -> bool {
    covers_as(entry, path, Flavour::HOST)
}

/// [`covers`] as another platform would compare.
pub fn covers_as(entry: &str, path: &str, flavour: Flavour) -> bool {
    let Some(parts) = segments(entry) else { return false };
    // Bit i: the first i segments of the entry have matched so far.
    let mut reached = [0_u64; WORDS];
    let close = |set: &mut [u64; WORDS]| {
        let mut end = 0;
        for (at, part) in parts.clone().enumerate() {
            if part == "**" && has(set, at) {
                put(set, at + 1);
            }
            end = at + 1;
        }
        has(set, end)
    };
    put(&mut reached, 0);
    if close(&mut reached) && parts.clone().next().is_none() {
        return true;
    }
    for name in path.split('/') {
        let mut next = [0_u64; WORDS];
        for (at, part) in parts.clone().enumerate() {
            if has(&reached, at) {
                if part == "**" {
                    put(&mut next, at);
                } else if segment_matches(part, name, flavour) {
                    put(&mut next, at + 1);
                }
            }
        }
        reached = next;
        if close(&mut reached) {
            return true;
        }
        if reached == [0; WORDS] {
            return false;
        }
    }
    false
}

fn put(set: &mut [u64; WORDS], bit: usize) {
    set[bit / 64] |= 1 << (bit % 64);
}

fn has(set: &[u64; WORDS], bit: usize) -> bool {
    set[bit / 64] & (1 << (bit % 64)) != 0
}

/// One segment of an entry against one name: `*` and `?` only, the last `*` is the only place to return to.
fn segment_matches(pattern: &str, name: &str, flavour: Flavour) -> bool {
    if !pattern.contains(['*', '?']) {
        return same_name(pattern, name, flavour);
    }
    let (mut left, mut right) = (pattern.chars(), name.chars());
    let mut retry: Option<(std::str::Chars<'_>, std::str::Chars<'_>)> = None;
    loop {
        let mut ahead = left.clone();
        match (ahead.next(), right.clone().next()) {
            (Some('*'), _) => {
                left = ahead;
                retry = Some((left.clone(), right.clone()));
            }
            (None, None) => return true,
            (Some(wanted), Some(found)) if wanted == '?' || same_char(wanted, found, flavour) => {
                left = ahead;
                right.next();
            }
            _ => {
                let Some((after_star, mut from)) = retry.take() else { return false };
                if from.next().is_none() {
                    return false;
                }
                left = after_star.clone();
                right = from.clone();
                retry = Some((after_star, from));
            }
        }
    }
}

/// Where a walk for an entry begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// The segments before the first one with `*` or `?`, joined by `/`; empty for the root.
    pub literal: String,
    /// Whether anything stands behind the literal part.
    pub pattern: bool,
}

/// The start of a walk for `entry`; `None` when the entry covers nothing.
pub fn start(entry: &str) -> Option<Start> {
    let mut found = Start { literal: String::new(), pattern: false };
    for part in segments(entry)? {
        if part.contains(['*', '?']) {
            found.pattern = true;
            break;
        }
        if !found.literal.is_empty() {
            found.literal.push('/');
        }
        found.literal.push_str(part);
    }
    Some(found)
}

/// The pairs `(mine, theirs)` of two scopes that overlap: equal, or one a path prefix of the other at a `/`.
///
/// `\` counts as `/`, a leading `./` and trailing `/` do not count, patterns are literal text, empty entries are
/// ignored. The pairs hold the entries as written, in the order of `mine`, then of `theirs`.
pub fn overlaps(mine: &[String], theirs: &[String]) -> Vec<(String, String)> {
    let plain = |entry: &str| {
        let text = entry.replace('\\', "/");
        let text = text.strip_prefix("./").unwrap_or(&text);
        text.trim_end_matches('/').to_owned()
    };
    let mut pairs = Vec::new();
    for left in mine {
        for right in theirs {
            let (a, b) = (plain(left), plain(right));
            let below = |outer: &str, inner: &str| {
                inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            if !a.is_empty() && !b.is_empty() && (below(&a, &b) || below(&b, &a)) {
                pairs.push((left.clone(), right.clone()));
            }
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_table_of_the_specification_holds() {
        for (entry, covered, not) in [
            ("src/api", &["src/api/x.ts", "src/api"][..], &["src/api-v2/x.ts"][..]),
            ("src/*.ts", &["src/a.ts"], &["src/a.tsx", "src/x/a.ts"]),
            ("src/*", &["src/a", "src/a/b/c"], &["src"]),
            ("src/**/test.ts", &["src/test.ts", "src/a/b/test.ts"], &["src/a/test.tsx"]),
            ("**/*.md", &["README.md", "docs/a/b.md"], &["docs/a.mdx"]),
            ("app/[id]/page.tsx", &["app/[id]/page.tsx"], &["app/i/page.tsx"]),
            ("src/?.rs", &["src/a.rs", "src/é.rs"], &["src/ab.rs", "src/.rs"]),
            (" ./src\\api/ ", &["src/api/x"], &["src/ap"]),
            (".", &["anything", "a/b"], &[]),
            ("./", &["anything"], &[]),
            ("**", &["a", "a/b"], &[]),
            ("", &[], &["a"]),
            ("/src", &[], &["src/a", "src"]),
            ("C:/src", &[], &["src/a"]),
            ("../x", &[], &["x"]),
            ("a/../b", &[], &["b", "a/b"]),
            ("src/**", &["src", "src/a"], &["srcs"]),
            ("a*b*c", &["abc", "aXbYc", "abcbc"], &["abcb", "ab"]),
            ("a***c", &["ac", "abc"], &["ab"]),
        ] {
            for path in covered {
                assert!(covers_as(entry, path, Flavour::Posix), "{entry:?} covers {path}");
            }
            for path in not {
                assert!(!covers_as(entry, path, Flavour::Posix), "{entry:?} does not cover {path}");
            }
        }
    }

    #[test]
    fn case_counts_only_where_the_platform_says_so() {
        assert!(covers_as("SRC/*.RS", "src/a.rs", Flavour::Mac));
        assert!(!covers_as("SRC/*.RS", "src/a.rs", Flavour::Posix));
    }

    #[test]
    fn a_hostile_pattern_is_linear() {
        let entry = format!("{}x", "*a".repeat(400));
        assert!(!covers(&entry, &"a".repeat(30_000)));
        let entry = "**/".repeat(300) + "x";
        assert!(!covers(&entry, &"a/".repeat(2_000)));
        assert!(
            !covers(&"a".repeat(ENTRY_BYTES + 1), &"a".repeat(ENTRY_BYTES + 1)),
            "too long covers nothing"
        );
    }

    #[test]
    fn a_walk_starts_before_the_first_pattern() {
        let at = |entry| start(entry).map(|start| (start.literal, start.pattern));
        assert_eq!(at("src/api"), Some(("src/api".into(), false)));
        assert_eq!(at("./src//a*/b"), Some(("src".into(), true)));
        assert_eq!(at("**/x"), Some((String::new(), true)));
        assert_eq!(at("."), Some((String::new(), false)));
        assert_eq!(at("../x"), None);
    }

    proptest! {
        #[test]
        fn a_literal_entry_covers_itself_and_what_is_below(parts in proptest::collection::vec("[a-zé\\[\\]{}!]{1,6}", 1..6), tail in "[a-z]{1,5}") {
            let entry = parts.join("/");
            let below = format!("{entry}/{tail}");
            let beside = format!("{entry}{tail}");
            prop_assert!(covers_as(&entry, &entry, Flavour::Posix));
            prop_assert!(covers_as(&entry, &below, Flavour::Posix));
            prop_assert!(!covers_as(&entry, &beside, Flavour::Posix));
        }

        #[test]
        fn nothing_panics(entry in "\\PC{0,60}", path in "\\PC{0,60}") {
            covers(&entry, &path);
            start(&entry);
            overlaps(std::slice::from_ref(&entry), std::slice::from_ref(&path));
        }
    }
}
