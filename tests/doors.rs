//! The doors between the rooms: imports go down the list in `src/lib.rs` only, never up, never sideways.
//!
//! Every path that begins with `crate::`, `super::` or the crate's own name counts, in `use` lines and in the middle
//! of code, in unit tests too.

use std::fmt::Write as _;
use std::path::Path;

/// The rooms, the topmost line first; those in one line do not import each other.
const LINES: &[&[&str]] = &[
    &["main", "bin"],
    &["hook", "cli", "mcp", "client", "vault"],
    &["doctor"],
    &["surface", "query"],
    &["work", "docs", "history", "memory"],
    &["workspace"],
    &["activity"],
    &["record"],
    &["fs", "scope"],
    &["path", "clock", "failure"],
];

/// What the hooks are made of, and nothing else.
const HOOK: &[&str] = &["activity", "fs", "scope", "path", "clock", "failure"];

/// The header parser and what it returns: what the board's rebuild takes from the records.
const HEADER_PARSER: &[&str] = &[
    "read_head",
    "head_mentions",
    "Head",
    "Header",
    "Mention",
    "Entry",
    "Value",
    "Item",
    "Style",
    "NotARecord",
];

/// Where the board is rebuilt.
const REBUILD: &str = "src/activity/rebuild.rs";

#[test]
fn imports_go_down_only() {
    let mut found = String::new();
    let mut files = 0;
    for (path, source) in sources() {
        files += 1;
        for finding in check(&path, &source) {
            writeln!(found, "  {path}: {finding}").unwrap();
        }
    }
    assert!(files > 20, "the sources are not where they were");
    assert!(found.is_empty(), "doors that do not exist:\n{found}");
}

/// Every source file of the crate by its path from the package's root.
pub(crate) fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = crate::compare::tree(&root.join("src"));
    let text = |entry| match entry {
        crate::compare::Entry::File(bytes) => String::from_utf8(bytes).ok(),
        _ => None,
    };
    let sources =
        files.into_iter().filter(|(path, _)| Path::new(path).extension().is_some_and(|end| end == "rs"));
    sources.filter_map(|(path, entry)| Some((format!("src/{path}"), text(entry)?))).collect()
}

/// What is wrong with the imports of one file.
fn check(path: &str, source: &str) -> Vec<String> {
    let module = module_of(path);
    let room = module.first().map_or("the crate's root", String::as_str);
    let imports = imports(source, &module);
    imports
        .iter()
        .filter_map(|import| Some(format!("{}: {}", import.join("::"), judge(path, room, import)?)))
        .collect()
}

fn judge(path: &str, room: &str, import: &[String]) -> Option<String> {
    let target = import.first().map_or("*", String::as_str);
    if target == room {
        return None;
    }
    let line = |room: &str| LINES.iter().position(|line| line.contains(&room));
    let Some(to) = line(target) else { return Some("not one of the rooms".to_owned()) };
    let Some(from) = line(room) else { return Some(format!("{room} is not one of the rooms")) };
    if to < from {
        return Some(format!("up from {room}"));
    }
    if to == from {
        return Some(format!("sideways from {room}"));
    }
    if room == "hook" && !HOOK.contains(&target) {
        return Some(format!("not one of {}", HOOK.join(", ")));
    }
    if room == "activity" && target == "record" {
        let header_only = import.get(1).is_some_and(|item| HEADER_PARSER.contains(&item.as_str()));
        if path != REBUILD || !header_only {
            return Some("only the board's rebuild may use the header parser, and nothing else".to_owned());
        }
    }
    None
}

/// The module that a file is; `main.rs` and the programs in `bin/` are rooms of their own.
fn module_of(path: &str) -> Vec<String> {
    let name = path.strip_prefix("src/").unwrap_or(path).trim_end_matches(".rs");
    let mut module: Vec<_> = name.split('/').map(str::to_owned).collect();
    if module.last().is_some_and(|last| last == "mod" || module == ["lib"]) {
        module.pop();
    }
    module
}

/// The absolute paths that a file names, one for each leaf of a group.
fn imports(source: &str, module: &[String]) -> Vec<Vec<String>> {
    let tokens = tokens(source);
    let mut found = Vec::new();
    // Modules written inside this file, with the depth of their braces.
    let mut inner: Vec<(String, usize)> = Vec::new();
    let mut depth = 0;
    let mut at = 0;
    while at < tokens.len() {
        let behind = at.checked_sub(1).map_or("", |before| tokens[before].as_str());
        match tokens[at].as_str() {
            "{" => depth += 1,
            "}" => {
                depth -= 1;
                inner.pop_if(|(_, opened)| *opened == depth);
            }
            "mod" if tokens.get(at + 2).is_some_and(|token| token == "{") => {
                inner.push((tokens[at + 1].clone(), depth));
            }
            first @ ("crate" | "super" | "workfile") if behind != "::" && next_is(&tokens, at + 1, "::") => {
                let mut base: Vec<String> = match first {
                    "super" => module.iter().chain(inner.iter().map(|(name, _)| name)).cloned().collect(),
                    _ => Vec::new(),
                };
                while tokens[at] == "super" && next_is(&tokens, at + 1, "::") {
                    base.pop();
                    at += 2;
                }
                if first != "super" {
                    at += 2;
                }
                at = tree(&tokens, at, &base, &mut found);
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

fn next_is(tokens: &[String], at: usize, wanted: &str) -> bool {
    tokens.get(at).is_some_and(|token| token == wanted)
}

/// Reads `a::b`, `a::*` or `a::{b, c::{d}}` from `at` on; returns where it ends.
fn tree(tokens: &[String], mut at: usize, base: &[String], found: &mut Vec<Vec<String>>) -> usize {
    let mut path = base.to_vec();
    loop {
        match tokens.get(at).map(String::as_str) {
            Some("{") => {
                at += 1;
                while !next_is(tokens, at, "}") && at < tokens.len() {
                    at = tree(tokens, at, &path, found);
                    while at < tokens.len() && !matches!(tokens[at].as_str(), "," | "}" | "{") {
                        at += 1;
                    }
                    at += usize::from(next_is(tokens, at, ","));
                }
                return at + 1;
            }
            Some("self") | None => {}
            Some(segment) => path.push(segment.to_owned()),
        }
        at += 1;
        if !next_is(tokens, at, "::") {
            found.push(path);
            return at;
        }
        at += 1;
    }
}

/// Words, `::` and single marks of a source without comments, texts and characters.
fn tokens(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            comment(rest)
        } else if let Some(length) = literal(rest) {
            length
        } else if first.is_alphanumeric() || first == '_' {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            found.push(rest[..end].to_owned());
            end
        } else if rest.starts_with("::") {
            found.push("::".to_owned());
            2
        } else {
            if !first.is_whitespace() {
                found.push(first.to_string());
            }
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    found
}

/// The length of a block comment, nested ones inside it.
fn comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        if text[at..].starts_with("/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if text[at..].starts_with("*/") {
            (depth, at) = (depth - 1, at + 2);
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// The length of the text or character that begins here; `None` for anything else, a lifetime among them.
fn literal(text: &str) -> Option<usize> {
    let letters = text.bytes().take_while(|byte| matches!(byte, b'b' | b'c' | b'r')).count().min(2);
    let hashes = text[letters..].bytes().take_while(|&byte| byte == b'#').count();
    let open = letters + hashes;
    if text[open..].starts_with('"') && text[..letters].ends_with('r') {
        let close = format!("\"{}", "#".repeat(hashes));
        return Some(open + 1 + text[open + 1..].find(&close)? + close.len());
    }
    if hashes > 0 || letters > 1 || text.starts_with('r') {
        return None;
    }
    let quote = text[letters..].chars().next().filter(|&quote| quote == '"' || quote == '\'')?;
    let inside = &text[letters + 1..];
    if quote == '\'' && !inside.starts_with('\\') {
        let character = inside.chars().next()?.len_utf8();
        return inside[character..].starts_with('\'').then_some(letters + 1 + character + 1);
    }
    let mut escaped = false;
    let end = inside.char_indices().find(|&(_, c)| {
        let ends = c == quote && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    });
    end.map(|(end, _)| letters + 1 + end + 1)
}

mod tests {
    use super::*;

    fn paths(path: &str, source: &str) -> Vec<String> {
        imports(source, &module_of(path)).iter().map(|import| import.join("::")).collect()
    }

    #[test]
    fn groups_and_lines_are_understood() {
        let source = "
            use crate::{
                path::{self, inside},
                // crate::hook is only mentioned
                fs,
            };
            pub(crate) use crate::clock::Time as Moment;
            fn f<'a>(x: &'a str) -> bool { let q = '\"'; crate::scope::covers(x, \"crate::cli\") }
            macro_rules! m { () => { $crate::record::read() } }
            const RAW: &str = r#\"use crate::work;\"#; /* crate::work /* crate::work */ crate::work */
        ";
        let expected = ["path", "path::inside", "fs", "clock::Time", "scope::covers", "record::read"];
        assert_eq!(paths("src/activity/board.rs", source), expected);
    }

    #[test]
    fn super_goes_up_from_where_it_stands() {
        let source = "
            use super::session; use super::super::cli::Args;
            mod tests { use super::*; use super::super::session; use super::super::super::hook; }
            use super::actor;
        ";
        let expected = [
            "activity::session",
            "cli::Args",
            "activity::board::*",
            "activity::session",
            "hook",
            "activity::actor",
        ];
        assert_eq!(paths("src/activity/board.rs", source), expected);
        assert_eq!(paths("src/scope.rs", "use super::clock;"), ["clock"]);
        assert_eq!(paths("src/fs/mod.rs", "use super::*;"), ["*"]);
        assert_eq!(paths("src/main.rs", "workfile::cli::run()"), ["cli::run"]);
    }

    #[test]
    fn doors_that_do_not_exist_are_found() {
        for (path, source, why) in [
            ("src/record/mod.rs", "use crate::{failure::Failure, work::{cards}};", "up from record"),
            ("src/fs/lock.rs", "fn f() { crate::scope::covers(a, b); }", "sideways from fs"),
            ("src/clock.rs", "mod tests { use super::super::path::trim; }", "sideways from clock"),
            ("src/hook/mod.rs", "use crate::{\n    activity,\n    record,\n};", "not one of activity"),
            ("src/hook/mod.rs", "use crate::workspace::Workspace;", "not one of activity"),
            ("src/hook/mod.rs", "use crate::cli::Args;", "sideways from hook"),
            ("src/activity/rebuild.rs", "use crate::record;", "only the board's rebuild"),
            ("src/activity/rebuild.rs", "use crate::record::{read_head, patch};", "only the board's rebuild"),
            ("src/activity/session.rs", "use crate::record::read_head;", "only the board's rebuild"),
            ("src/path.rs", "use super::*;", "not one of the rooms"),
            ("src/odds/mod.rs", "use crate::path;", "odds is not one of the rooms"),
            ("src/workspace/mod.rs", "use crate::utils::x;", "not one of the rooms"),
        ] {
            let found = check(path, source);
            assert_eq!(found.len(), 1, "{path} {source}: {found:?}");
            assert!(found[0].contains(why), "{found:?}");
        }
    }

    #[test]
    fn doors_that_exist_are_not() {
        for (path, source) in [
            ("src/main.rs", "fn main() { workfile::hook::run(None) }"),
            ("src/bin/workfile-mcp.rs", "use workfile::cli;"),
            ("src/activity/rebuild.rs", "use crate::record::{read_head, Head, Header, Value};"),
            (
                "src/hook/scan.rs",
                "use super::payload::Payload; use crate::{activity::board, fs, scope, path, clock, failure};",
            ),
            ("src/cli/card.rs", "use crate::work::cards; use super::args::Args;"),
            ("src/lib.rs", "pub mod hook; pub mod cli;"),
        ] {
            assert_eq!(check(path, source), Vec::<String>::new(), "{path}");
        }
    }
}
