//! What a shell command changed: a walk through the scopes that others hold, bounded, never through a link.

use crate::activity::board::Claim;
use crate::clock::Time;
use crate::fs::{Dir, Kind};
use crate::path::{Flavour, same_name};
use crate::scope;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::ops::ControlFlow;
use std::time::Instant;

/// How many directory entries one scan looks at.
pub(super) const MOST: usize = 4000;

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
        window,
        until,
        left: MOST,
        entered: BTreeSet::new(),
        names: Vec::new(),
        entries: Vec::new(),
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
            let Some(kind) = kind_at(root, &start.literal) else { continue };
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

fn kind_at(root: &Dir, literal: &str) -> Option<Kind> {
    if literal.is_empty() {
        return Some(Kind::Dir);
    }
    let found = match literal.rsplit_once('/') {
        Some((folder, name)) => root.below(folder).and_then(|folder| folder.stat(name)),
        None => root.stat(literal),
    };
    found.ok().map(|stat| stat.kind)
}

fn is_closed(name: &str) -> bool {
    CLOSED.iter().any(|closed| same_name(name, closed, Flavour::HOST))
}

struct Walk<'a> {
    root: &'a Dir,
    plan: &'a [Planned<'a>],
    window: Time,
    until: Instant,
    left: usize,
    entered: BTreeSet<String>,
    /// The names of one directory, one after the other; used again for the next.
    names: Vec<u8>,
    /// Where each name lies, and what it is.
    entries: Vec<(u32, u32, Kind)>,
    out: Scanned,
}

impl Walk<'_> {
    fn single(&mut self, path: &str) {
        if self.left == 0 {
            self.out.stopped = true;
            return;
        }
        self.left -= 1;
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let stat = if folder.is_empty() {
            self.root.stat(name)
        } else {
            self.root.below(folder).and_then(|folder| folder.stat(name))
        };
        if let Ok(stat) = stat
            && stat.kind == Kind::File
        {
            self.judge(stat.mtime_ns, || path.to_owned());
        }
    }

    /// Breadth first, the names of a directory sorted.
    fn below(&mut self, literal: &str) -> io::Result<()> {
        let mut queue = vec![literal.to_owned()];
        let mut at = 0;
        while at < queue.len() {
            let folder = std::mem::take(&mut queue[at]);
            at += 1;
            if self.entered.contains(&folder) {
                continue;
            }
            if Instant::now() > self.until {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "too many files for the time there is"));
            }
            self.out.stopped |= self.left == 0;
            if self.out.stopped {
                break;
            }
            self.folder(&folder, &mut queue);
            self.entered.insert(folder);
        }
        Ok(())
    }

    fn folder(&mut self, folder: &str, queue: &mut Vec<String>) {
        let opened;
        let dir = if folder.is_empty() {
            self.root
        } else {
            // A folder that is gone, a link or not ours to read holds nothing that can be looked at.
            let Ok(dir) = self.root.below(folder) else { return };
            opened = dir;
            &opened
        };
        self.names.clear();
        self.entries.clear();
        let (names, entries, left) = (&mut self.names, &mut self.entries, &mut self.left);
        let mut more = false;
        let _ = dir.list(|name, kind| {
            if *left == 0 {
                more = true;
                return ControlFlow::Break(());
            }
            *left -= 1;
            let bytes = name.as_encoded_bytes();
            entries.push((names.len() as u32, bytes.len() as u32, kind));
            names.extend_from_slice(bytes);
            ControlFlow::Continue(())
        });
        self.out.stopped |= more;
        let names = std::mem::take(&mut self.names);
        let mut entries = std::mem::take(&mut self.entries);
        let name_of = |entry: &(u32, u32, Kind)| &names[entry.0 as usize..(entry.0 + entry.1) as usize];
        entries.sort_unstable_by(|a, b| name_of(a).cmp(name_of(b)));
        for entry in &entries {
            let bytes = name_of(entry);
            match entry.2 {
                Kind::File => {
                    if let Some(mtime_ns) = mtime(dir, bytes) {
                        self.judge(mtime_ns, || joined(folder, bytes));
                    }
                }
                Kind::Dir => {
                    let path = joined(folder, bytes);
                    if !is_closed(path.rsplit('/').next().unwrap_or_default()) {
                        queue.push(path);
                    }
                }
                Kind::Link | Kind::Other => {}
            }
        }
        (self.names, self.entries) = (names, entries);
    }

    /// Keeps a file when it changed in the window and an entry covers it; the first one in plan order takes it.
    fn judge(&mut self, mtime_ns: i64, path: impl FnOnce() -> String) {
        let mtime = mtime_ns.div_euclid(1_000_000);
        if mtime <= self.window.ms() {
            return;
        }
        let path = path();
        if let Some(taker) = self.plan.iter().find(|planned| scope::covers(planned.entry, &path)) {
            self.out.findings.push(Finding { path, claim: taker.claim, mtime });
        }
    }
}

#[cfg(unix)]
fn mtime(dir: &Dir, name: &[u8]) -> Option<i64> {
    use std::os::unix::ffi::OsStrExt;
    // The listing may be older than the entry: whatever it is by now, only a regular file counts.
    dir.stat_entry(OsStr::from_bytes(name))
        .ok()
        .filter(|stat| stat.kind == Kind::File)
        .map(|stat| stat.mtime_ns)
}

#[cfg(not(unix))]
fn mtime(dir: &Dir, name: &[u8]) -> Option<i64> {
    let name = std::str::from_utf8(name).ok()?;
    dir.stat_entry(OsStr::new(name)).ok().filter(|stat| stat.kind == Kind::File).map(|stat| stat.mtime_ns)
}

fn joined(folder: &str, name: &[u8]) -> String {
    let name = String::from_utf8_lossy(name);
    if folder.is_empty() { name.into_owned() } else { format!("{folder}/{name}") }
}
