//! The files of a folder: every one that is wanted, read once, in one order, and nothing reached through a link.
//!
//! What has not changed since it was last read is taken from a cache (`cache.rs`) that never changes an answer.
//! A file that cannot be read is named with its reason and does not stop the others. Running out of memory or of open
//! files is no fault of a file and stops the run.

use super::cache::{self, Cache, Fresh};
use super::seal::{self, Seal};
use super::{Globs, Workspace, parallel};
use crate::activity::DEEPEST;
use crate::clock::Time;
use crate::failure::Failure;
use crate::fs::{Dir, Entry, Kind, Stat};
use crate::record::{NotARecord, Text, id};
use std::ffi::OsStr;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

/// No record is larger; what is, is named as unreadable.
pub const CAP: u64 = 16 * 1024 * 1024;

/// How deep folders of documents are looked into, which belong to the project and not to its records.
const DEEPEST_SOURCE: usize = 64;

/// A file that was read.
#[derive(Clone, Debug)]
pub struct Source {
    /// The path below its folder, with `/`.
    pub path: String,
    /// Its bytes as text.
    pub text: Text,
    /// What it was when it was read.
    pub stat: Stat,
}

/// A file that cannot be read as a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The path below its folder, with `/`.
    pub path: String,
    /// Why.
    pub reason: String,
}

/// What lies below a folder.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The files, by the bytes of their path.
    pub sources: Vec<Source>,
    /// What cannot be read.
    pub unreadable: Vec<Unreadable>,
    /// The names of all other entries: a link or a folder may carry the name of a record, and then its id is taken.
    others: Vec<String>,
    /// By what all of it is known again, if it can be.
    seen: Option<u64>,
}

impl Found {
    /// What tells later whether [`records`] would find the same.
    pub fn seal_of_records(&self, folder: &Path, besides: Option<&Path>) -> Seal {
        Seal::of_records(folder, besides, self.seen)
    }

    /// What tells later whether [`sources`] would find the same.
    pub fn seal_of_sources(&self) -> Seal {
        Seal::of_sources(self.seen)
    }

    /// The highest sequence of ids with this prefix in any name; 0 for none.
    pub fn highest(&self, prefix: &str) -> u64 {
        let paths = self.sources.iter().map(|source| &source.path);
        let paths = paths.chain(self.unreadable.iter().map(|file| &file.path));
        let names = paths.map(|path| path.rsplit('/').next().unwrap_or(path));
        let names = names.chain(self.others.iter().map(String::as_str));
        names.filter_map(|name| id::sequence(name, prefix)).max().unwrap_or(0)
    }
}

/// Which entries of a folder are wanted.
pub struct Wanted<'a> {
    /// Whether a subfolder, by its path, is looked into.
    pub folder: &'a dyn Fn(&str) -> bool,
    /// Whether a file, by its path, is read.
    pub file: &'a dyn Fn(&str) -> bool,
    /// How deep subfolders are looked into.
    pub deepest: usize,
}

/// Every record file below `folder`: `*.md`, in subfolders too, but in none that begins with a dot and not in `besides`. A
/// folder that is missing or only reached through a link has none.
pub fn records(workspace: &Workspace, folder: &Path, besides: Option<&Path>) -> Result<Found, Failure> {
    of_records(folder, besides, |asked| wanted(workspace, folder, asked))
}

/// The files that `docs.sources` names, outside the folder of managed documents.
pub fn sources(workspace: &Workspace) -> Result<Found, Failure> {
    of_sources(workspace, |asked| wanted(workspace, &workspace.root, asked))
}

/// By what the files of [`records`] are known again, as they are now.
pub(super) fn look_at_records(
    workspace: &Workspace,
    folder: &Path,
    besides: Option<&Path>,
) -> Result<Option<u64>, Failure> {
    of_records(folder, besides, |asked| look(workspace, folder, asked))
}

/// By what the files of [`sources`] are known again, as they are now.
pub(super) fn look_at_sources(workspace: &Workspace) -> Result<Option<u64>, Failure> {
    of_sources(workspace, |asked| look(workspace, &workspace.root, asked))
}

fn of_records<R>(folder: &Path, besides: Option<&Path>, then: impl FnOnce(&Wanted<'_>) -> R) -> R {
    let besides = besides.and_then(|inner| below(folder, inner));
    let plain = |path: &str| !name_of(path).starts_with('.') && besides.as_deref() != Some(path);
    let markdown = |path: &str| path.as_bytes().ends_with(b".md");
    then(&Wanted { folder: &plain, file: &markdown, deepest: DEEPEST })
}

fn of_sources<R>(workspace: &Workspace, then: impl FnOnce(&Wanted<'_>) -> R) -> R {
    let settings = &workspace.config.docs;
    let managed = workspace.repo_path(&workspace.paths.docs);
    let sources = Globs::new(settings.sources.iter().map(String::as_str));
    let exclude = Globs::new(settings.exclude.iter().map(String::as_str));
    let is_managed = |path: &str| {
        managed.is_empty()
            || path.strip_prefix(&managed).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let folder =
        |path: &str| !is_managed(path) && sources.may_match_below(path) && !exclude.covers_folder(path);
    let file = |path: &str| !is_managed(path) && sources.matches(path) && !exclude.matches(path);
    then(&Wanted { folder: &folder, file: &file, deepest: DEEPEST_SOURCE })
}

fn look(workspace: &Workspace, folder: &Path, wanted: &Wanted<'_>) -> Result<Option<u64>, Failure> {
    let Some(top) = open_folder(workspace, folder)? else { return Ok(seal::seen([].into_iter(), &[], &[])) };
    let (found, mut files) = walk(&top, folder, wanted, Look::Stat)?;
    files.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    let files = files.iter().map(|(path, stat)| (path.as_str(), stat.as_ref()));
    Ok(seal::seen(files, &found.unreadable, &found.others))
}

/// Every wanted file below `folder`.
pub fn wanted(workspace: &Workspace, folder: &Path, wanted: &Wanted<'_>) -> Result<Found, Failure> {
    // Before anything is read: what changes from here on is not settled.
    wanted_at(workspace, folder, wanted, Time::system().ms().saturating_mul(1_000_000))
}

/// [`wanted`], begun at `now_ns`.
pub(super) fn wanted_at(
    workspace: &Workspace,
    folder: &Path,
    wanted: &Wanted<'_>,
    now_ns: i64,
) -> Result<Found, Failure> {
    let Some(top) = open_folder(workspace, folder)? else {
        return Ok(Found { seen: seal::seen([].into_iter(), &[], &[]), ..Found::default() });
    };
    let name = workspace.repo_path(folder);
    let (walked, mut cache) = match cache::Found::open(workspace, &name) {
        None => (walk(&top, folder, wanted, Look::Name)?, None),
        // The cache is read by another thread while this one asks for the files' times.
        Some(cache) => std::thread::scope(|scope| {
            let reading = std::thread::Builder::new().spawn_scoped(scope, || cache.read());
            let walked = walk(&top, folder, wanted, Look::Stat)?;
            Ok::<_, Failure>((walked, reading.ok().and_then(|cache| cache.join().ok().flatten())))
        })?,
    };
    let (mut found, mut files) = walked;
    files.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    let known = |(path, stat): (String, Option<Stat>), cache: Option<&mut Cache>| {
        let known = stat.and_then(|stat| Some((cache?.find(&path, &stat)?, stat)));
        (path, known)
    };
    let files = files.into_iter().map(|file| known(file, cache.as_mut())).collect();
    let read = parallel::map(files, |(path, known): (String, Option<(Text, Stat)>)| match known {
        Some((text, stat)) => (Ok(Source { path, text, stat }), true),
        None => (read(&top, path), false),
    });
    let mut fresh = Fresh::default();
    let (listed, wanted) = (found.unreadable.len(), read.len());
    found.sources.reserve(wanted);
    for (read, is_known) in read {
        match read {
            Ok(source) => {
                if !is_known {
                    let settled = source.stat.is_settled(now_ns);
                    *(if settled { &mut fresh.settled } else { &mut fresh.racy }) += 1;
                }
                found.sources.push(source);
            }
            Err((path, Fault::File(reason))) => found.unreadable.push(Unreadable { path, reason }),
            Err((path, Fault::Run(error))) => return Err(Failure::io("read", &folder.join(path), &error)),
        }
    }
    cache::store(workspace, &name, &found.sources, cache.as_ref(), fresh, now_ns);
    // A file that could not be read may be readable next time without having changed.
    if found.sources.len() == wanted && found.sources.iter().all(|source| source.stat.is_settled(now_ns)) {
        let files = found.sources.iter().map(|source| (source.path.as_str(), Some(&source.stat)));
        found.seen = seal::seen(files, &found.unreadable[..listed], &found.others);
    }
    Ok(found)
}

/// Reads one file below `folder` again; `None` when it is not there as a readable file any more.
pub fn again(workspace: &Workspace, folder: &Path, path: &str) -> Result<Option<Source>, Failure> {
    let Some(top) = open_folder(workspace, folder)? else { return Ok(None) };
    match read(&top, path.to_owned()) {
        Ok(source) => Ok(Some(source)),
        Err((_, Fault::File(_))) => Ok(None),
        Err((path, Fault::Run(error))) => Err(Failure::io("read", &folder.join(path), &error)),
    }
}

/// A folder of the layout; `None` when it is missing or only reached through a link.
pub fn open_folder(workspace: &Workspace, folder: &Path) -> Result<Option<Dir>, Failure> {
    let root = &workspace.root;
    let text = root.to_str().ok_or(io::ErrorKind::InvalidFilename.into());
    let root = text.and_then(Dir::open).map_err(|error: io::Error| Failure::io("open", root, &error))?;
    let relative = workspace.repo_path(folder);
    let opened = if relative.is_empty() { root.enter(OsStr::new(".")) } else { root.below(&relative) };
    match opened {
        Ok(dir) => Ok(Some(dir)),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied || is_exhausted(&error) => {
            Err(Failure::io("open", folder, &error))
        }
        Err(_) => Ok(None),
    }
}

/// The path from `folder` to another one inside it.
fn below(folder: &Path, inner: &Path) -> Option<String> {
    let rest = inner.strip_prefix(folder).ok()?;
    let names: Vec<&str> = rest.iter().filter_map(OsStr::to_str).collect();
    (!names.is_empty()).then(|| names.join("/"))
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Why a file was not read.
enum Fault {
    /// Something about the file.
    File(String),
    /// Something about this process.
    Run(io::Error),
}

fn read(top: &Dir, path: String) -> Result<Source, (String, Fault)> {
    let (bytes, stat) = match top.read_and_stat(&path, CAP) {
        Ok(read) => read,
        Err(error) if is_exhausted(&error) => return Err((path, Fault::Run(error))),
        Err(error) => return Err((path, Fault::File(error.to_string()))),
    };
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Source { path, text: text.into(), stat }),
        Err(_) => Err((path, Fault::File(NotARecord::NotUtf8.reason().to_owned()))),
    }
}

/// Whether the process or the system has nothing left to open files with.
fn is_exhausted(error: &io::Error) -> bool {
    #[cfg(unix)]
    if let Some(code) = rustix::io::Errno::from_io_error(error) {
        use rustix::io::Errno;
        return matches!(code, Errno::MFILE | Errno::NFILE | Errno::NOMEM);
    }
    error.kind() == io::ErrorKind::OutOfMemory
}

/// What a walk asks about each wanted file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    /// Nothing: it will be read.
    Name,
    /// Whether it has changed.
    Stat,
}

/// A wanted file: its path, and what it is where that was asked.
type Walked = (String, Option<Stat>);

/// The wanted files below `top`, with one folder open at a time, and what else is there.
fn walk(top: &Dir, folder: &Path, wanted: &Wanted<'_>, look: Look) -> Result<(Found, Vec<Walked>), Failure> {
    let mut found = Found::default();
    let mut files = Vec::new();
    let mut waiting = vec![(String::new(), 0)];
    while let Some((at, depth)) = waiting.pop() {
        let mut each = |entry: &Entry<'_>| {
            let (raw, kind) = (entry.name(), entry.kind());
            let shown = raw.to_string_lossy();
            let path = if at.is_empty() { shown.clone().into_owned() } else { format!("{at}/{shown}") };
            let is_text = raw.to_str().is_some();
            match kind {
                Kind::File if (wanted.file)(&path) => {
                    if is_text {
                        let stat = if look == Look::Stat { entry.stat().ok() } else { None };
                        files.push((path, stat));
                    } else {
                        let reason = "the file's name is not valid UTF-8".to_owned();
                        found.unreadable.push(Unreadable { path, reason });
                    }
                    return ControlFlow::Continue(());
                }
                Kind::Dir if is_text && (wanted.folder)(&path) => {
                    if depth < wanted.deepest {
                        waiting.push((path, depth + 1));
                    } else {
                        let reason = format!("folders are looked into {} deep", wanted.deepest);
                        found.unreadable.push(Unreadable { path, reason });
                    }
                }
                _ => {}
            }
            found.others.push(shown.into_owned());
            ControlFlow::Continue(())
        };
        let listed = if at.is_empty() {
            top.list(&mut each)
        } else {
            top.below(&at).and_then(|dir| dir.list(&mut each))
        };
        match listed {
            Ok(()) => {}
            Err(error) if is_exhausted(&error) => {
                return Err(Failure::io("list", &folder.join(at), &error));
            }
            Err(error) => found.unreadable.push(Unreadable { path: at, reason: error.to_string() }),
        }
    }
    Ok((found, files))
}

/// Drops what is remembered of the records, so that the next reading looks at every file.
pub fn forget(workspace: &Workspace) -> Result<(), Failure> {
    workspace.writable()?;
    let folder = crate::fs::real_path(&workspace.root, &workspace.paths.cache.join("index"))?;
    match std::fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Failure::io("remove", &folder, &error)),
        _ => Ok(()),
    }
}
