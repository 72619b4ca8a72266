//! What a shell command changed: a walk through the scopes that others hold, bounded, never through a link.

use crate::activity::board::Claim;
use crate::clock::Time;
use crate::fs::{Dir, Kind, Stat};
use crate::path::{Flavour, same_name};
use crate::scope;
use std::collections::VecDeque;
use std::ffi::OsStr;
use std::io;
use std::ops::{ControlFlow, Range};
use std::rc::Rc;
use std::time::Instant;

/// How many directory entries one scan looks at.
pub(super) const MOST: usize = 4000;

/// How many folders are held open at once; a process may have a thousand or so.
const HELD: usize = 200;

/// Folders that are never entered.
const CLOSED: [&str; 3] = [".git", "node_modules", ".project"];

/// A file inside a scope that changed in the window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    /// The repository path.
    pub(super) path: String,
    /// Which of the claims takes it.
    pub(super) claim: usize,
    /// The file's time, in milliseconds.
    pub(super) mtime: i64,
}

/// What a scan came to.
#[derive(Debug, Default)]
pub(super) struct Scanned {
    /// What changed, by path.
    pub(super) findings: Vec<Finding>,
    /// Whether the bound ended it early.
    pub(super) stopped: bool,
}

/// One scope entry, in the order of the walk.
struct Planned<'a> {
    order: Order,
    claim: usize,
    entry: &'a str,
    literal: String,
}

/// A folder that is still to be looked at.
struct Waiting {
    path: Range<usize>,
    /// Where its own name begins in the path.
    name: usize,
    /// The folder that it is in, held open; without one it is opened by its path.
    parent: Option<Rc<Dir>>,
}

/// A big directory cannot hide a single file behind the bound.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Order {
    File,
    Folder,
    Pattern,
}

/// Files covered by one of `claims` whose time is later than `window`.
///
/// An error when the time ran out: half a scan would name the wrong files as all there are.
pub(super) fn scan(root: &Dir, claims: &[&Claim], window: Time, until: Instant) -> io::Result<Scanned> {
    let plan = plan(root, claims);
    let mut walk = Walk {
        root,
        plan: &plan,
        window_ns: window.ms().saturating_add(1).saturating_mul(1_000_000),
        until,
        left: MOST,
        walked: Vec::new(),
        paths: String::new(),
        queue: VecDeque::new(),
        held: 0,
        names: String::new(),
        folders: Vec::new(),
        out: Scanned::default(),
    };
    for entry in &plan {
        if walk.out.stopped {
            break;
        }
        match entry.order {
            Order::File => walk.single(&entry.literal),
            Order::Folder | Order::Pattern => walk.below(&entry.literal)?,
        }
    }
    let mut out = walk.out;
    out.findings.sort_by(|a, b| a.path.cmp(&b.path));
    out.findings.dedup_by(|a, b| a.path == b.path);
    Ok(out)
}

fn plan<'a>(root: &Dir, claims: &[&'a Claim]) -> Vec<Planned<'a>> {
    let mut plan = Vec::new();
    for (claim, held) in claims.iter().enumerate() {
        for entry in &held.scope {
            let Some(start) = scope::start(entry) else { continue };
            if start.literal.split('/').any(is_closed) {
                continue;
            }
            // A literal part that is missing or runs through a link has nothing to walk.
            let kind = if start.literal.is_empty() {
                Some(Kind::Dir)
            } else {
                look(root, &start.literal).map(|stat| stat.kind)
            };
            let Some(kind) = kind else { continue };
            let order = match kind {
                Kind::File if !start.pattern => Order::File,
                Kind::Dir if start.pattern => Order::Pattern,
                Kind::Dir => Order::Folder,
                _ => continue,
            };
            plan.push(Planned { order, claim, entry, literal: start.literal });
        }
    }
    plan.sort_by(|a, b| (a.order, a.claim, a.entry).cmp(&(b.order, b.claim, b.entry)));
    plan
}

/// What is at a repository path, when no link is on the way to it.
fn look(root: &Dir, path: &str) -> Option<Stat> {
    let found = match path.rsplit_once('/') {
        Some((folder, name)) => root.below(folder).and_then(|folder| folder.stat(name)),
        None => root.stat(path),
    };
    found.ok()
}

fn is_closed(name: &str) -> bool {
    CLOSED.iter().any(|closed| same_name(name, closed, Flavour::HOST))
}

struct Walk<'a> {
    root: &'a Dir,
    plan: &'a [Planned<'a>],
    /// The first time that is later than the window, in nanoseconds.
    window_ns: i64,
    until: Instant,
    left: usize,
    /// Literal parts that have been walked to their end, with all that is below.
    walked: Vec<&'a str>,
    /// The paths of the folders of one walk, one after the other, and the folders that are waiting.
    paths: String,
    queue: VecDeque<Waiting>,
    /// How many folders are held open for the ones below them.
    held: usize,
    /// The names of the folders in one folder, and where each lies; used again for the next.
    names: String,
    folders: Vec<Range<usize>>,
    out: Scanned,
}

impl<'a> Walk<'a> {
    fn single(&mut self, path: &str) {
        if self.left == 0 {
            self.out.stopped = true;
            return;
        }
        self.left -= 1;
        if let Some(stat) = look(self.root, path)
            && stat.kind == Kind::File
            && stat.mtime_ns >= self.window_ns
        {
            keep(self.plan, &mut self.out, path.to_owned(), stat.mtime_ns);
        }
    }

    /// Breadth first, the names of a folder sorted. What an earlier entry has walked is not walked again.
    fn below(&mut self, literal: &'a str) -> io::Result<()> {
        if self.walked.iter().any(|done| is_inside(done, literal)) {
            return Ok(());
        }
        self.paths.clear();
        self.paths.push_str(literal);
        self.queue.clear();
        self.queue.push_back(Waiting { path: 0..literal.len(), name: 0, parent: None });
        while let Some(folder) = self.queue.pop_front() {
            if Instant::now() > self.until {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "too many files for the time there is"));
            }
            self.out.stopped |= self.left == 0;
            if self.out.stopped {
                return Ok(());
            }
            self.folder(folder);
        }
        self.walked.push(literal);
        Ok(())
    }

    fn folder(&mut self, folder: Waiting) {
        let path = &self.paths[folder.path.clone()];
        let opened = match &folder.parent {
            Some(parent) => parent.enter(OsStr::new(&self.paths[folder.name..folder.path.end])),
            None if path.is_empty() => self.root.enter(OsStr::new(".")),
            None => self.root.below(path),
        };
        if folder.parent.is_some_and(|parent| Rc::strong_count(&parent) == 1) {
            self.held -= 1;
        }
        // A folder that is gone, a link or not ours to read holds nothing that can be looked at.
        let Ok(dir) = opened else { return };
        self.names.clear();
        self.folders.clear();
        let _ = dir.list(|entry| {
            if self.left == 0 {
                self.out.stopped = true;
                return ControlFlow::Break(());
            }
            self.left -= 1;
            match entry.kind() {
                Kind::File => {
                    // The listing may be older than the entry: whatever it is by now, only a regular file counts.
                    if let Some(mtime_ns) = entry.file_time()
                        && mtime_ns >= self.window_ns
                    {
                        let name = entry.name().to_string_lossy();
                        keep(self.plan, &mut self.out, joined(path, &name), mtime_ns);
                    }
                }
                Kind::Dir => {
                    // A name that is no text cannot be part of a scope either.
                    if let Some(name) = entry.name().to_str().filter(|name| !is_closed(name)) {
                        let begin = self.names.len();
                        self.names.push_str(name);
                        self.folders.push(begin..self.names.len());
                    }
                }
                Kind::Link | Kind::Other => {}
            }
            ControlFlow::Continue(())
        });
        let names = &self.names;
        self.folders.sort_unstable_by(|a, b| names[a.clone()].cmp(&names[b.clone()]));
        let parent = (self.held < HELD && !self.folders.is_empty()).then(|| Rc::new(dir));
        self.held += usize::from(parent.is_some());
        for name in &self.folders {
            let begin = self.paths.len();
            self.paths.extend_from_within(folder.path.clone());
            if begin < self.paths.len() {
                self.paths.push('/');
            }
            let own = self.paths.len();
            self.paths.push_str(&names[name.clone()]);
            if self.walked.contains(&&self.paths[begin..]) {
                self.paths.truncate(begin);
            } else {
                let path = begin..self.paths.len();
                self.queue.push_back(Waiting { path, name: own, parent: parent.clone() });
            }
        }
        if parent.is_some_and(|parent| Rc::strong_count(&parent) == 1) {
            self.held -= 1;
        }
    }
}

/// Keeps a file that changed when an entry covers it; the first one in plan order takes it.
fn keep(plan: &[Planned<'_>], out: &mut Scanned, path: String, mtime_ns: i64) {
    if let Some(taker) = plan.iter().find(|planned| scope::covers(planned.entry, &path)) {
        out.findings.push(Finding { path, claim: taker.claim, mtime: mtime_ns.div_euclid(1_000_000) });
    }
}

/// Whether the repository path `inner` is `outer` or below it; everything is below the root.
fn is_inside(outer: &str, inner: &str) -> bool {
    outer.is_empty() || inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn joined(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}
