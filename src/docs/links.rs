//! The local links of a document and the paths that each can mean: one reader for the check and for the graph.
//!
//! Every step looks at a character a fixed number of times, whatever the text holds.

use crate::path::{find_byte, is_space, trim};
use crate::record::fenced_lines;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Longest label and longest target, in characters.
const LABEL: usize = 512;
const TARGET: usize = 1024;

/// What a route can be spelled without.
const ENDINGS: [&str; 5] = ["", ".md", ".mdx", "/index.md", "/index.mdx"];

/// A link to something in the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalLink {
    /// The target as it is written, without its title.
    pub target: String,
    /// Paths from the root with `/` that it can mean, the likeliest first; there is at least one. One that begins with
    /// `..` lies outside.
    pub candidates: Vec<String>,
}

/// The local links of the document at `path` with this body, each distinct target once, in their order.
pub fn local_links(body: &str, path: &str, route_roots: &[String]) -> Vec<LocalLink> {
    let mut seen = HashSet::new();
    let mut links = Vec::new();
    for written in written(body) {
        let target = without_title(written);
        let Some(meant) = meant(target) else { continue };
        if seen.insert(meant.clone()) {
            links.push(LocalLink {
                target: target.to_owned(),
                candidates: candidates(&meant, path, route_roots),
            });
        }
    }
    links
}

/// The last names of paths, as links to them are spelled: a quick look for texts that could link to one.
pub struct LinkNames(HashSet<String>);

impl LinkNames {
    /// The names of these paths.
    pub fn of<'a>(paths: impl Iterator<Item = &'a str>) -> Self {
        let mut names = HashSet::new();
        for path in paths {
            for ending in ENDINGS {
                let spelled = path.strip_suffix(ending).unwrap_or(path);
                names.insert(spelled.rsplit('/').next().unwrap_or(spelled).to_owned());
            }
        }
        Self(names)
    }

    /// Whether a text could link to one of the paths, whatever document it is; it never says no in error.
    pub fn may_be_linked_in(&self, body: &str) -> bool {
        let bytes = body.as_bytes();
        let mut at = 0;
        while let Some(next) = find_byte(b']', &bytes[at..]) {
            at += next + 1;
            let Some(rest) = body[at..].strip_prefix('(') else { continue };
            let target = &rest[..rest.find([')', '\n']).unwrap_or(rest.len())];
            let path = trim(target.split('#').next().unwrap_or(target));
            let name = path.rsplit('/').next().unwrap_or(path);
            // What takes a closer look is looked at more closely.
            let is_plain = !target.contains(['%', '?', '"', '\'', '(', '<', '>']);
            let is_name = !matches!(name, "" | "." | "..");
            if !is_plain || !is_name || self.0.contains(name) {
                return true;
            }
        }
        false
    }
}

/// What stands between the parentheses of every `[label](target)` that does not start in code.
fn written(body: &str) -> Vec<&str> {
    let code = code(body);
    let is_code = |at: usize| {
        let before = code.partition_point(|range| range.start <= at);
        before > 0 && code[before - 1].end > at
    };
    let mut found = Vec::new();
    // A label reaches back to here at most: no `]`, line end or earlier link is in it.
    let mut floor = 0;
    let mut at = 0;
    // Where the next end of a target behind some place was found: many may begin before it.
    let mut end = 0;
    while let Some(next) = body[at..].find([']', '\n']) {
        let close = at + next;
        at = close + 1;
        let label = floor..close;
        floor = at;
        if !body[close..].starts_with("](") {
            continue;
        }
        let from = at + 1;
        if end < from {
            end = body[from..].find([')', '\n']).map_or(body.len(), |length| from + length);
        }
        if !body[end..].starts_with(')') {
            continue;
        }
        let target = &body[from..end];
        let starts = |range: Range<usize>| {
            let mut marks = body[range.clone()].char_indices().rev().take(LABEL + 1);
            marks.any(|(offset, c)| c == '[' && !is_code(range.start + offset))
        };
        if (1..=TARGET).contains(&target.chars().take(TARGET + 1).count()) && starts(label) {
            found.push(target);
            at = end + 1;
            floor = at;
        }
    }
    found
}

/// The code of a body in order: fenced lines, and backtick spans outside of them.
fn code(body: &str) -> Vec<Range<usize>> {
    if !body.contains(['`', '~']) {
        return Vec::new();
    }
    let mut code = Vec::new();
    // Runs of backticks of the paragraph at hand.
    let mut runs: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    for (line, fenced) in body.split('\n').zip(fenced_lines(body)) {
        if fenced || trim(line).is_empty() {
            spans(&mut runs, &mut code);
        }
        if fenced {
            code.push(at..at + line.len() + 1);
        } else {
            let mut from = 0;
            while let Some(start) = line[from..].find('`') {
                let start = from + start;
                let length = line[start..].bytes().take_while(|byte| *byte == b'`').count();
                from = start + length;
                runs.push(at + start..at + from);
            }
        }
        at += line.len() + 1;
    }
    spans(&mut runs, &mut code);
    code
}

/// Turns the runs of a paragraph into spans: each reaches to the next run of its length, and is text when there is none.
fn spans(runs: &mut Vec<Range<usize>>, code: &mut Vec<Range<usize>>) {
    let mut partner = vec![None; runs.len()];
    let mut later = HashMap::new();
    for (index, run) in runs.iter().enumerate().rev() {
        partner[index] = later.insert(run.len(), index);
    }
    let mut at = 0;
    while at < runs.len() {
        match partner[at] {
            Some(end) => {
                code.push(runs[at].start..runs[end].end);
                at = end + 1;
            }
            None => at += 1,
        }
    }
    runs.clear();
}

/// The destination of what stands between the parentheses: without pointed brackets and without a title.
fn without_title(written: &str) -> &str {
    let written = trim(written);
    if let Some(rest) = written.strip_prefix('<') {
        return trim(rest.split_once('>').map_or(rest, |(inside, _)| inside));
    }
    let title = match written.chars().next_back() {
        Some(quote @ ('"' | '\'')) => written[..written.len() - 1].rfind(quote),
        // The target ends at the first `)`, which is the title's own.
        _ => written.rfind('('),
    };
    let before = title.map(|at| &written[..at]).filter(|before| before.ends_with(is_space));
    let target = before.map(trim).filter(|before| !before.is_empty()).unwrap_or(written);
    target.strip_suffix('>').unwrap_or(target)
}

/// The path that a destination means; `None` when it is not a local one.
fn meant(target: &str) -> Option<String> {
    if target.starts_with('#') || has_scheme(target) {
        return None;
    }
    let path = target.split(['?', '#']).next().filter(|path| !path.is_empty())?;
    Some(percent_decoded(path).unwrap_or_else(|| path.to_owned()))
}

fn has_scheme(target: &str) -> bool {
    let Some((scheme, _)) = target.split_once(':') else { return false };
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'.' | b'-'))
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
    while let Some(byte) = bytes.next() {
        let decoded =
            if byte == b'%' { digit(bytes.next())? * 16 + digit(bytes.next())? } else { byte.into() };
        out.push(u8::try_from(decoded).ok()?);
    }
    String::from_utf8(out).ok()
}

fn candidates(target: &str, path: &str, route_roots: &[String]) -> Vec<String> {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let (from, rest) = target.strip_prefix('/').map_or((folder, target), |rest| ("", rest));
    let file = joined(from, rest);
    let mut roots =
        route_roots.iter().map(|root| route_root(root)).filter(|root| is_inside(root, path)).peekable();
    if roots.peek().is_none() {
        return vec![spelled(&file, "")];
    }
    let readings = std::iter::once(file).chain(roots.map(|root| joined(root, rest)));
    let mut found: Vec<String> = Vec::new();
    for reading in readings {
        for ending in ENDINGS {
            let candidate = spelled(&reading, ending);
            if !found.contains(&candidate) {
                found.push(candidate);
            }
        }
    }
    found
}

fn route_root(root: &str) -> &str {
    let root = root.strip_prefix("./").unwrap_or(root).trim_end_matches('/');
    if root == "." { "" } else { root }
}

fn is_inside(folder: &str, path: &str) -> bool {
    folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// A path with an ending; the root itself is `.`.
fn spelled(path: &str, ending: &str) -> String {
    match (path, ending) {
        ("", "") => ".".to_owned(),
        ("", ending) => ending.trim_start_matches('/').to_owned(),
        (path, ending) => format!("{path}{ending}"),
    }
}

/// `target` from `folder` on, normal; what leaves the root begins with `..`.
fn joined(folder: &str, target: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    for segment in folder.split('/').chain(target.split('/')) {
        match segment {
            "" | "." => {}
            ".." if segments.last().is_some_and(|last| *last != "..") => {
                segments.pop();
            }
            segment => segments.push(segment),
        }
    }
    segments.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn targets(body: &str) -> Vec<String> {
        local_links(body, "docs/a.md", &[]).into_iter().map(|link| link.candidates[0].clone()).collect()
    }

    #[test]
    fn links_of_every_spelling_are_found_once() {
        let body = "[a](b.md) ![i](c.png) [](d.md) [x [y](e.md) [t](f.md \"Title\") [t](g.md 'T') [t](h.md (T)) \
            [p](<i j.md> \"T\") [q](k.md?x=1#y) [again](b.md#part) [s](sp%20ace.md) [bad](100%.md) [up](../x)";
        let wanted = [
            "b.md",
            "c.png",
            "d.md",
            "e.md",
            "f.md",
            "g.md",
            "h.md",
            "i j.md",
            "k.md",
            "sp ace.md",
            "100%.md",
        ];
        let wanted: Vec<String> = wanted.iter().map(|name| format!("docs/{name}")).collect();
        assert_eq!(targets(body), [wanted, vec!["x".to_owned()]].concat());
    }

    #[test]
    fn the_target_stays_as_it_is_written() {
        let links = local_links("[q](k%20l.md?x=1#y \"T\")", "a.md", &[]);
        assert_eq!(
            (links[0].target.as_str(), &*links[0].candidates),
            ("k%20l.md?x=1#y", &["k l.md".to_owned()][..])
        );
    }

    #[test]
    fn what_leads_elsewhere_is_no_local_link() {
        let body = "[a](#part) [b](https://example.org) [c](MAILTO:x@y) [d]() [e]( ) [f](?x) [g]\n(h.md) [i](j\nk) [l\n(m.md)";
        assert_eq!(targets(body), [] as [&str; 0]);
    }

    #[test]
    fn code_has_no_links() {
        let body = "`[a](no.md)` ``x ` [b](no.md)`` [c](yes.md)\n```\n[d](no.md)\n```\n[e](too.md) ` [f](open.md)\n\n`\n~~~\n[g](no.md)";
        assert_eq!(targets(body), ["docs/yes.md", "docs/too.md", "docs/open.md"]);
        assert_eq!(targets("`[` [a](b.md) [`c [x`](d.md)"), ["docs/b.md", "docs/d.md"]);
    }

    #[test]
    fn lengths_are_bounded() {
        let label = |length| format!("[{}](b.md)", "é".repeat(length));
        assert_eq!((targets(&label(LABEL)).len(), targets(&label(LABEL + 1)).len()), (1, 0));
        let target = |length| format!("[a]({})", "é".repeat(length));
        assert_eq!((targets(&target(TARGET)).len(), targets(&target(TARGET + 1)).len()), (1, 0));
    }

    #[test]
    fn a_path_counts_from_the_document_or_from_the_root() {
        assert_eq!(
            targets("[a](/src/x.rs) [b](../../etc/passwd) [c](..) [d](./e//f/)"),
            ["src/x.rs", "../etc/passwd", ".", "docs/e/f"]
        );
    }

    #[test]
    fn routes_are_read_in_every_spelling() {
        let roots = ["./site/".to_owned(), "other".to_owned()];
        let of = |body: &str, path: &str| local_links(body, path, &roots).remove(0).candidates;
        assert_eq!(of("[a](b)", "docs/x.md"), ["docs/b"]);
        assert_eq!(of("[a](b)", "sites/x.md"), ["sites/b"]);
        let five = |stem: &str| ENDINGS.map(|ending| format!("{stem}{ending}")).to_vec();
        assert_eq!(of("[a](b)", "site/x.md"), five("site/b"));
        assert_eq!(of("[a](b)", "site/deep/x.md"), [five("site/deep/b"), five("site/b")].concat());
        assert_eq!(of("[a](/b)", "site/x.md"), [five("b"), five("site/b")].concat());
        assert_eq!(of("[a](/)", "site/x.md")[..3], [".", ".md", ".mdx"].map(str::to_owned));
    }

    proptest! {
        #[test]
        fn a_quick_look_overlooks_no_link(
            link in "[ab./ #?%26<>\"'()]{0,9}", path in "(a/|b/){0,2}(a|b|index)(\\.mdx?)?",
            from in "(a/|b/){0,2}[ab]", code in "`?", named in 0..2_usize
        ) {
            // Half of the links name the path itself, else few would meet.
            let link = if named == 0 { link } else { format!("/{path}{link}") };
            let body = format!("{code}[x]({link}) y`");
            let links = local_links(&body, &from, &["a".to_owned(), String::new()]);
            let is_linked = links.iter().any(|link| link.candidates.contains(&path));
            prop_assert!(!is_linked || LinkNames::of([path.as_str()].into_iter()).may_be_linked_in(&body));
        }

        #[test]
        fn links_are_what_the_expression_says(body in "[\\[\\]()<>\"aé \n/.#]{0,40}") {
            let link = regex::Regex::new(r"\[[^\]\n]*\]\(([^)\n]+)\)").unwrap();
            let said: Vec<&str> = link.captures_iter(&body).map(|found| found.get(1).unwrap().as_str()).collect();
            prop_assert_eq!(written(&body), said);
        }

        #[test]
        fn a_link_in_code_is_none(body in "[\\[\\]()a \n]{0,24}", fence in "(```|~~~)[`~a]{0,2}") {
            let fenced = format!("{fence}\n{body}");
            if !fence.starts_with('`') || !fence[3..].contains('a') {
                prop_assert_eq!(written(&fenced), [""; 0]);
            }
            if !body.contains('\n') {
                let span = format!("``{body}``");
                prop_assert_eq!(written(&span), [""; 0]);
            }
        }

        #[test]
        fn every_text_has_links_or_none(body in any::<String>(), path in any::<String>()) {
            for text in [&body, &format!("[{body}]({body})")] {
                for link in local_links(text, &path, std::slice::from_ref(&body)) {
                    prop_assert!(!link.candidates.is_empty());
                    prop_assert!(link.candidates.iter().all(|path| !path.starts_with('/')));
                }
            }
        }

        #[test]
        fn nothing_panics(body in "[\\[\\]()`~<>%\"'é \n/.#?a:]{0,60}", path in "[a/.é]{0,9}") {
            for link in local_links(&body, &path, &["a".to_owned()]) {
                prop_assert!(!link.candidates.is_empty());
            }
        }
    }
}
