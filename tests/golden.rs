//! Recorded cases as one readable file each, and the runner that goes through a folder of them.
//!
//! The format, byte for byte:
//!
//! - Text before the first header is the comment: what the case shows.
//! - A header is a line `-- NAME --`; the lines after it, up to the next header, are that file's content, line ends
//!   included. A name is a path with `/` and holds no line feed; one that ends in `/` is an empty directory.
//! - `-- NAME -- no final newline` says that the line feed before the next header (or the end) is not content.
//! - A line of content or comment that begins with `-- `, or with backslashes and then `-- `, has one more backslash
//!   in front here than in the file. Every other line stands as it is, whatever its bytes.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One case: a comment and files by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Archive {
    pub(crate) comment: Vec<u8>,
    pub(crate) files: BTreeMap<String, Vec<u8>>,
}

const UNENDED: &[u8] = b" no final newline";

impl Archive {
    /// Reads the format. Panics on what it does not allow, with the line.
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        let mut archive = Self::default();
        let mut open: Option<(String, bool)> = None;
        let mut content = Vec::new();
        let mut close = |open: Option<(String, bool)>, mut content: Vec<u8>| {
            let Some((name, unended)) = open else {
                archive.comment = content;
                return;
            };
            assert!(!unended || content.pop() == Some(b'\n'), "{name}: no line to take the line feed from");
            assert!(!name.ends_with('/') || content.is_empty(), "{name}: a directory with content");
            assert!(archive.files.insert(name.clone(), content).is_none(), "{name} stands there twice");
        };
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            if let Some(header) = header(line) {
                close(open.replace(header), std::mem::take(&mut content));
            } else {
                content.extend(line.strip_prefix(b"\\").filter(|rest| is_marked(rest)).unwrap_or(line));
            }
        }
        close(open, content);
        archive
    }

    /// Writes the format.
    pub(crate) fn pack(&self) -> Vec<u8> {
        let mut out = Vec::new();
        escape(&mut out, &self.comment);
        for (name, content) in &self.files {
            let unended = content.last().is_some_and(|&byte| byte != b'\n');
            out.extend(format!("-- {name} --").bytes());
            out.extend(if unended { UNENDED } else { b"" });
            out.push(b'\n');
            escape(&mut out, content);
            if unended {
                out.push(b'\n');
            }
        }
        out
    }

    /// A file that must be there, as text.
    pub(crate) fn text(&self, name: &str) -> &str {
        let bytes = self.files.get(name).unwrap_or_else(|| panic!("the case has no file {name}"));
        std::str::from_utf8(bytes).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The files below `folder`, their names without it.
    pub(crate) fn below<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = (&'a str, &'a [u8])> {
        let inside = move |name: &'a str| name.strip_prefix(folder)?.strip_prefix('/');
        self.files.iter().filter_map(move |(name, bytes)| Some((inside(name)?, bytes.as_slice())))
    }
}

/// The name of a header line and whether its content lacks the final line feed.
fn header(line: &[u8]) -> Option<(String, bool)> {
    if !line.starts_with(b"-- ") {
        return None;
    }
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let (line, unended) = line.strip_suffix(UNENDED).map_or((line, false), |rest| (rest, true));
    let name = line.strip_prefix(b"-- ").and_then(|rest| rest.strip_suffix(b" --"));
    let name = name.and_then(|name| std::str::from_utf8(name).ok()).filter(|name| !name.is_empty());
    let name = name.unwrap_or_else(|| panic!("not a header: {}", String::from_utf8_lossy(line)));
    Some((name.to_owned(), unended))
}

/// Whether a line is `-- …` behind any number of backslashes.
fn is_marked(line: &[u8]) -> bool {
    let slashes = line.iter().take_while(|&&byte| byte == b'\\').count();
    line[slashes..].starts_with(b"-- ")
}

fn escape(out: &mut Vec<u8>, content: &[u8]) {
    for line in content.split_inclusive(|&byte| byte == b'\n') {
        if is_marked(line) {
            out.push(b'\\');
        }
        out.extend(line);
    }
}

/// Every case of an area, by name.
pub(crate) fn cases(area: &str) -> Vec<(String, Archive)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(area);
    let mut found: Vec<_> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, Archive::parse(&std::fs::read(&path).unwrap()))
        })
        .collect();
    found.sort_by(|left, right| left.0.cmp(&right.0));
    found
}

/// What a run of one case found: nothing, or its differences.
pub(crate) type Findings = Vec<String>;

/// Runs all cases at once and fails with the name and the first difference of every one that differs.
///
/// Cases in `later` wait for a part of the program that is not there yet: they must differ, so that the list
/// shrinks as the program grows. `GOLDEN=text` in the environment keeps to the names that hold the text and shows
/// all their differences.
#[track_caller]
pub(crate) fn run_all(area: &str, later: &[&str], run: impl Fn(&str, &Archive) -> Findings + Sync) {
    let only = std::env::var("GOLDEN").ok();
    let mut cases = cases(area);
    for name in later {
        assert!(cases.iter().any(|case| case.0 == *name), "{area} has no case {name}");
    }
    cases.retain(|case| only.as_ref().is_none_or(|only| case.0.contains(only.as_str())));
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(BTreeMap::new());
    let work = || {
        while let Some((name, archive)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            let found = catch_unwind(AssertUnwindSafe(|| run(name, archive)));
            let found =
                found.unwrap_or_else(|panic| vec![format!("the case cannot run: {}", message(&*panic))]);
            let found = match (later.contains(&name.as_str()), found.is_empty()) {
                (true, false) => Vec::new(),
                (true, true) => vec!["passes now: take it off the list of later cases".to_owned()],
                (false, _) => found,
            };
            if !found.is_empty() {
                failed.lock().unwrap().insert(name, found);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(work);
        }
    });
    let failed = failed.into_inner().unwrap();
    let shown = if only.is_some() { usize::MAX } else { 1 };
    let report: String = failed
        .iter()
        .flat_map(|(name, found)| found.iter().take(shown).map(move |line| format!("\n  {name}: {line}")))
        .collect();
    assert!(failed.is_empty(), "{} of {} {area} cases differ:{report}", failed.len(), cases.len());
}

/// What a panic said.
fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without a text")
}

mod tests {
    use super::*;
    use proptest::prelude::*;

    fn archive(comment: &str, files: &[(&str, &[u8])]) -> Archive {
        let files = files.iter().map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec())).collect();
        Archive { comment: comment.as_bytes().to_vec(), files }
    }

    #[test]
    fn headers_separate_files() {
        let text = b"# Title\n-- a.txt --\none\ntwo\n-- b/c d.txt -- no final newline\nthree\n-- empty --\n-- dir/ --\n";
        let expected = archive(
            "# Title\n",
            &[("a.txt", b"one\ntwo\n"), ("b/c d.txt", b"three"), ("empty", b""), ("dir/", b"")],
        );
        assert_eq!(Archive::parse(text), expected);
    }

    #[test]
    fn content_that_looks_like_a_header_survives() {
        for content in [&b"-- x --\n"[..], b"-- ", b"\\-- x --\n\\\\-- y\n--\n", b"\xff\xfe\0\r\n-- z --\r\n"]
        {
            let kept = archive("-- not a file --\n", &[("a", content), ("b -- c", content)]);
            assert_eq!(Archive::parse(&kept.pack()), kept, "{content:?}");
        }
    }

    #[test]
    #[should_panic(expected = "not a header")]
    fn a_broken_header_is_refused() {
        Archive::parse(b"-- a.txt\n");
    }

    #[test]
    #[should_panic(expected = "stands there twice")]
    fn a_repeated_name_is_refused() {
        Archive::parse(b"-- a --\n-- a --\n");
    }

    #[test]
    #[should_panic(expected = "passes now")]
    fn a_later_case_that_passes_is_reported() {
        run_all("records", &["01-create-minimal"], |name, _| {
            if name.starts_with("01") { Vec::new() } else { vec!["differs".to_owned()] }
        });
    }

    #[test]
    fn every_recorded_case_is_packed_canonically() {
        for area in ["hooks", "knowledge", "mcp", "records"] {
            for (name, archive) in cases(area) {
                assert_eq!(Archive::parse(&archive.pack()), archive, "{area}/{name}");
                assert!(archive.files.contains_key("case.json"), "{area}/{name}");
                assert!(archive.comment.starts_with(b"# "), "{area}/{name}");
            }
        }
    }

    #[test]
    fn no_case_is_missing() {
        let count = |area| cases(area).len();
        assert_eq!((count("hooks"), count("knowledge"), count("mcp"), count("records")), (115, 21, 14, 43));
    }

    proptest! {
        #[test]
        fn what_is_packed_is_read_back(
            comment in "([-\\\\ ]{0,4}[a-z -]{0,6}\n){0,3}",
            files in proptest::collection::btree_map("[a-z.][a-z /.-]{0,8}[a-z]", "[-\\\\ \r\na-c\u{e9}]{0,40}", 0..4),
        ) {
            let files = files.into_iter().map(|(name, text)| (name, text.into_bytes())).collect();
            let kept = Archive { comment: comment.into_bytes(), files };
            prop_assert_eq!(Archive::parse(&kept.pack()), kept);
        }
    }
}
