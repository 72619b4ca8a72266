//! Work grows with the length of a text and no faster, whatever a stranger writes into it.
//!
//! A text is made in one length and in sixteen times that; the longer one may take 64 times as long, where work that grows with
//! the square takes 256 times. Only the two are compared with each other, so that a slow or busy machine changes nothing.

use crate::world::World;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use std::time::Duration;
use workfile::docs::local_links;
use workfile::query::graph::Graph;
use workfile::query::list::Filter;
use workfile::query::{Index, search};
use workfile::record::{Change, Value, patch, read, with_body};
use workfile::workspace::{Access, Globs, MODULE_FILE, Missing, Start, Workspace};

const LONGER: usize = 16;
const ALLOWED: u32 = 64;

/// Fails when the work on `make(16 * size)` is far more than sixteen times that on `make(size)`.
#[track_caller]
fn grows_with_the_text<T>(size: usize, make: impl Fn(usize) -> T, work: impl Fn(&T)) {
    let least = |input: &T, stop: Duration| {
        let mut least = Duration::MAX;
        for _ in 0..4 {
            let start = busy();
            work(input);
            least = least.min(busy().saturating_sub(start));
            if least <= stop {
                break;
            }
        }
        least
    };
    let allowed = least(&make(size), Duration::ZERO) * ALLOWED;
    let taken = least(&make(size * LONGER), allowed);
    assert!(taken <= allowed, "{taken:?} are too much: {allowed:?} would do");
}

/// How long this thread has been at work: what others do on the machine counts little.
#[cfg(unix)]
fn busy() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(not(unix))]
fn busy() -> Duration {
    static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed()
}

/// A pattern over and over.
fn again(unit: &str) -> impl Fn(usize) -> String + '_ {
    move |size| unit.repeat(size)
}

/// Lines that are all different.
fn each(line: impl Fn(usize) -> String) -> impl Fn(usize) -> String {
    move |size| (0..size).map(&line).collect()
}

/// A number in letters.
fn letters(mut number: usize) -> String {
    let mut name = String::new();
    for _ in 0..6 {
        name.push(char::from(b'a' + (number % 26) as u8));
        number /= 26;
    }
    name
}

/// Patterns of a few marks that mean something where a text is read.
fn units(marks: &'static str, count: usize) -> Vec<String> {
    let mut runner = TestRunner::deterministic();
    let unit = proptest::string::string_regex(marks).unwrap();
    (0..count).map(|_| unit.new_tree(&mut runner).unwrap().current()).collect()
}

fn load(world: &World) -> Result<Workspace, workfile::failure::Failure> {
    Workspace::load(&Start::Exactly(world.root.clone()), Missing::Refuse, Access::ReadOnly)
}

const LISTS: &[&str] = &["tags", "scope"];

#[test]
fn headers() {
    let texts: [Box<dyn Fn(usize) -> String>; 10] = [
        Box::new(each(|at| format!("k{at}: v\n"))),
        Box::new(again("junk\n")),
        Box::new(again("\n  x\n")),
        Box::new(|size| format!("m:\n{}", each(|at| format!("    f{at}: v\n"))(size))),
        Box::new(|size| format!("r:\n  - a: b\n{}", each(|at| format!("    f{at}: v\n"))(size))),
        Box::new(|size| format!("tags: [{}]\n", "a,".repeat(size))),
        Box::new(|size| format!("tags: {}\n", "\"\\".repeat(size))),
        Box::new(|size| format!("l: |\n{}", " \n  x\n".repeat(size))),
        Box::new(|size| format!("{}\n", " ".repeat(size))),
        Box::new(again("a:\n")),
    ];
    for header in texts {
        header_grows(&header);
    }
    for unit in units("[ab:\\[\\]{}\"'|>#, \n-]{1,6}", 12) {
        header_grows(&again(&unit));
    }
}

fn header_grows(header: &dyn Fn(usize) -> String) {
    let set = |key: &str| -> Change { (key.to_owned(), Some(Value::Text("x".to_owned()))) };
    grows_with_the_text(
        2_000,
        |size| format!("---\n{}\n---\n{}", header(size), header(size)),
        |text| {
            let _ = read(text, LISTS).map(|document| document.header.duplicates().len());
            let _ = patch(text, &[set("new"), set("tags"), set("a")], LISTS, Some("2026-03-04"));
            let _ = with_body(text, text);
        },
    );
}

#[test]
fn many_changes_of_a_header_are_made_at_once() {
    grows_with_the_text(
        100,
        |size| {
            let header = each(|at| format!("k{at}: v\n"))(size);
            let change = |at| (format!("n{at}"), Some(Value::Text("x".to_owned())));
            (format!("---\n{header}---\n"), (0..size).map(change).collect::<Vec<Change>>())
        },
        |(text, changes)| drop(patch(text, changes, LISTS, None).unwrap()),
    );
}

#[test]
fn patterns_of_documents() {
    for unit in units("[ab*?/.]{1,4}", 12) {
        grows_with_the_text(4_000, again(&unit), |path| {
            let globs = Globs::new(["**/a*b/**/*.md", "?a/**/b*", "*a*a*a*a*b"]);
            let _ = (globs.matches(path), globs.may_match_below(path), globs.covers_folder(path));
        });
        grows_with_the_text(16, again(&unit), |pattern| {
            let globs = Globs::new([pattern.as_str()]);
            let _ = (globs.matches("a/b/a/b.md"), globs.may_match_below("a/b"));
        });
    }
}

#[test]
fn links_and_ids_in_a_body() {
    let mut all = units("[\\[\\]()`~<>%\"' \n/#]{1,6}", 8);
    all.extend(
        ["[a](b.md \"", "](", "[", "`", "[[T-0001|", "[[T-0001", "A-", "```\n", "` `` ", "[a](<", "%2"]
            .map(str::to_owned),
    );
    for unit in all {
        let roots = ["docs".to_owned()];
        grows_with_the_text(500, again(&unit), |body| drop(local_links(body, "docs/a.md", &roots)));
        let graph = |body: &str| {
            let card = format!("---\nid: T-0001\ntitle: A\nstatus: next\n---\n{body}");
            let world = World::new().file(".project/cards/T-0001-a.md", card);
            let workspace = load(&world).unwrap();
            (Index::load(&workspace).unwrap(), workspace)
        };
        grows_with_the_text(
            500,
            |size| graph(&unit.repeat(size)),
            |(index, workspace)| drop(Graph::new(workspace, index).outgoing(0)),
        );
    }
    grows_with_the_text(500, each(|at| format!("[a](b{at}.md) [[T-{at:05}]] T-{at:06}\n")), |body| {
        drop(local_links(body, "docs/a.md", &[]));
    });
}

#[test]
fn searches() {
    let world = World::new()
        .file(
            ".project/cards/T-0001-a.md",
            "---\nid: T-0001\ntitle: Alpha\nstatus: next\ntags: [a, b]\n---\nbeta",
        )
        .file("docs/a.md", "# A\n\nText.\n");
    let workspace = load(&world).unwrap();
    let index = Index::load(&workspace).unwrap();
    let look = |query: &String| {
        let request = search::Request {
            query: query.clone(),
            kinds: Vec::new(),
            filter: Filter::nothing(),
            offset: 0,
            limit: 10,
        };
        let _ = search::search(&index, &request).map(|hits| hits.total);
    };
    for unit in units("[ab:\"/ é_*(-]{1,6}", 8) {
        grows_with_the_text(1_000, again(&unit), look);
    }
    grows_with_the_text(1_000, each(|at| format!("{}:x ", letters(at))), look);
    grows_with_the_text(1_000, each(|at| format!("-{} ", letters(at))), look);
    grows_with_the_text(1_000, |size| format!("\"{}\"", each(|at| format!("{} ", letters(at)))(size)), look);
}

#[test]
fn configurations() {
    let texts: [Box<dyn Fn(usize) -> String>; 6] = [
        Box::new(each(|at| format!("const a{at} = {at};\n"))),
        Box::new(|size| format!("export default {{ {} }}", each(|at| format!("k{at}: 1,"))(size))),
        Box::new(|size| format!("export default {{ x: [{}] }}", "'a',".repeat(size))),
        Box::new(|size| format!("export default {{ x: {}1 }}", "- ".repeat(size))),
        Box::new(|size| format!("export default {{ x: 1{} }}", " + 1".repeat(size))),
        Box::new(|size| format!("export const integrations = {}", "`${`".repeat(size))),
    ];
    let grows = |text: &dyn Fn(usize) -> String| {
        grows_with_the_text(
            1_000,
            |size| World::new().file(MODULE_FILE, text(size)),
            |world| drop(load(world)),
        );
    };
    for text in texts {
        grows(&text);
    }
    for unit in units("[a{}\\[\\]():,;'\"`$/*\\\\\n-]{1,5}", 12) {
        grows(&|size| format!("export default {{ a: {}", unit.repeat(size)));
    }
}

/// One workspace and many searches in it.
fn soup() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-c]{1,3}",
        "(-)?(tag|tags|status|kind|claim|scope|nothing):[a-c\"]{0,3}",
        "[\":/()*+?\\[\\]{}|\\\\^$. -]{1,3}",
        Just("/".to_owned()),
        any::<String>(),
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

#[test]
fn no_search_is_more_than_refused() {
    let world = World::new()
        .file(
            ".project/cards/T-0001-a.md",
            "---\nid: T-0001\ntitle: Alpha a\nstatus: next\ntags: [a, b]\n---\nbeta b",
        )
        .file(".project/cards/T-0002-b.md", "---\nid: T-0002\ntitle: É \u{202e}c\n---\n")
        .file("docs/a.md", "# A\n\nText a b c.\n");
    let workspace = load(&world).unwrap();
    let index = Index::load(&workspace).unwrap();
    let mut runner = TestRunner::default();
    let all = (soup(), 0..3_usize, 0..4_usize);
    let ran = runner.run(&all, |(query, offset, limit)| {
        let request = search::Request { query, kinds: Vec::new(), filter: Filter::nothing(), offset, limit };
        match search::search(&index, &request) {
            Ok(hits) => {
                prop_assert!(hits.total <= index.len());
                prop_assert_eq!(hits.page.len(), hits.total.saturating_sub(offset).min(limit));
                prop_assert!(hits.page.windows(2).all(|two| two[0].place != two[1].place));
            }
            Err(failure) => prop_assert_eq!(failure.code, workfile::failure::Code::SEARCH_REGEX_INVALID),
        }
        Ok(())
    });
    ran.unwrap();
}
