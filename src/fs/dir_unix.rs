//! [`Dir`] on Unix: handles, `openat`, no-follow throughout.

use super::{Kind, Probe, Stat, read_more, refused, temporary_name};
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::{CStr, OsStr};
use std::fs::File;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicBool, Ordering};

/// A directory held open. Paths given to it are relative, `/` separated, without `.` and `..`; a link anywhere in them
/// is an error, whatever it points to.
#[derive(Debug)]
pub struct Dir {
    fd: OwnedFd,
    listed: AtomicBool,
}

/// An entry of a directory that is being listed.
#[derive(Debug)]
pub struct Entry<'a> {
    dir: &'a Dir,
    name: &'a CStr,
    kind: Kind,
}

impl Entry<'_> {
    /// Its raw name.
    pub fn name(&self) -> &OsStr {
        OsStr::from_bytes(self.name.to_bytes())
    }

    /// What the listing says it is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The modification time of a regular file, in nanoseconds; `None` for anything else that is there by now.
    pub fn file_time(&self) -> Option<i64> {
        let stat = rustix::fs::statat(&self.dir.fd, self.name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        (FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile).then(|| mtime_of(&stat))
    }

    /// What it is now, links not followed.
    pub fn stat(&self) -> io::Result<Stat> {
        Ok(stat_of(&rustix::fs::statat(&self.dir.fd, self.name, AtFlags::SYMLINK_NOFOLLOW)?))
    }
}

const FILE: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

impl Dir {
    fn new(fd: OwnedFd) -> Self {
        Self { fd, listed: AtomicBool::new(false) }
    }

    /// Opens a directory by path; links in `path` itself are followed.
    pub fn open(path: &str) -> io::Result<Self> {
        Ok(Self::new(rustix::fs::open(path, FOLDER, Mode::empty())?))
    }

    /// Opens a directory below this one.
    pub fn below(&self, path: &str) -> io::Result<Self> {
        Ok(Self::new(self.open_at(path, FOLDER | OFlags::NOFOLLOW, Mode::empty())?))
    }

    /// Opens a directory below this one and makes what is missing on the way.
    pub fn make(&self, path: &str) -> io::Result<Self> {
        match self.below(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            done => return done,
        }
        let mut at: Option<Self> = None;
        for name in path.split('/') {
            let here = at.as_ref().unwrap_or(self);
            match rustix::fs::mkdirat(&here.fd, name, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            at = Some(here.below(name)?);
        }
        at.ok_or_else(|| refused("an empty path"))
    }

    /// Opens a regular file for reading. Anything else at that name is an error.
    pub fn open_file(&self, path: &str) -> io::Result<(File, Stat)> {
        let file = self.open_at(path, FILE | OFlags::RDONLY, Mode::empty())?;
        let stat = plain(&file)?;
        Ok((File::from(file), stat))
    }

    /// Reads a regular file of at most `cap` bytes; a longer one is an error.
    pub fn read(&self, path: &str, cap: u64) -> io::Result<Vec<u8>> {
        self.read_and_stat(path, cap).map(|(bytes, _)| bytes)
    }

    /// [`Dir::read`], and what the file was.
    pub fn read_and_stat(&self, path: &str, cap: u64) -> io::Result<(Vec<u8>, Stat)> {
        let (file, stat) = self.open_file(path)?;
        Ok((read_whole(&file, &stat, cap)?, stat))
    }

    /// [`Dir::read`] by a process that ends soon, which leaves closing the file to its end.
    pub fn read_and_leave(&self, path: &str, cap: u64) -> io::Result<Vec<u8>> {
        let (file, stat) = self.open_file(path)?;
        let bytes = read_whole(&file, &stat, cap);
        std::mem::forget(file);
        bytes
    }

    /// What is at `path`, links not followed.
    pub fn stat(&self, path: &str) -> io::Result<Stat> {
        Ok(stat_of(&rustix::fs::statat(&self.fd, path, AtFlags::SYMLINK_NOFOLLOW)?))
    }

    /// Whether a link stands anywhere in `path`, its last name included. For a process that ends soon.
    pub fn probe(&self, path: &str) -> Probe {
        // With NOFOLLOW beside it, O_PATH would open a link itself.
        #[cfg(target_os = "linux")]
        match open_beneath(&self.fd, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
            None => {}
            Some(Ok(found)) => {
                // Asked about once or twice in a process that ends soon, which closes it then.
                std::mem::forget(found);
                return Probe::Plain;
            }
            Some(Err(Errno::NOENT)) => return Probe::Missing,
            Some(Err(_)) => return Probe::Linked,
        }
        self.probe_by_walking(path)
    }

    fn probe_by_walking(&self, path: &str) -> Probe {
        let found = match path.rsplit_once('/') {
            Some((folder, name)) => self.below(folder).and_then(|folder| folder.stat(name)),
            None => self.stat(path),
        };
        match found {
            Ok(stat) if stat.kind != Kind::Link => Probe::Plain,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Probe::Missing,
            _ => Probe::Linked,
        }
    }

    /// What this directory is itself.
    pub fn stat_self(&self) -> io::Result<Stat> {
        Ok(stat_of(&rustix::fs::fstat(&self.fd)?))
    }

    /// Opens a directory entry by its raw name.
    pub fn enter(&self, name: &OsStr) -> io::Result<Self> {
        let flags = FOLDER | OFlags::NOFOLLOW;
        Ok(Self::new(rustix::fs::openat(&self.fd, name.as_bytes(), flags, Mode::empty())?))
    }

    /// Hands each entry to `each`, in no order, `.` and `..` left out, until it breaks. A file system that does not say
    /// what an entry is costs a `stat` for it.
    pub fn list(&self, mut each: impl FnMut(&Entry<'_>) -> ControlFlow<()>) -> io::Result<()> {
        // A handle reads on from where an earlier listing stopped.
        if self.listed.swap(true, Ordering::Relaxed) {
            rustix::fs::seek(&self.fd, rustix::fs::SeekFrom::Start(0))?;
        }
        let mut visit = |name: &CStr, known: FileType| {
            if matches!(name.to_bytes(), b"." | b"..") {
                return ControlFlow::Continue(());
            }
            let mut entry = Entry { dir: self, name, kind: kind_of(known) };
            if known == FileType::Unknown {
                entry.kind = entry.stat().map_or(Kind::Other, |stat| stat.kind);
            }
            each(&entry)
        };
        #[cfg(target_os = "linux")]
        {
            let mut buffer = [const { std::mem::MaybeUninit::uninit() }; 16 * 1024];
            let mut entries = rustix::fs::RawDir::new(&self.fd, &mut buffer);
            while let Some(entry) = entries.next() {
                let entry = entry?;
                if visit(entry.file_name(), entry.file_type()).is_break() {
                    break;
                }
            }
        }
        #[cfg(not(target_os = "linux"))]
        for entry in rustix::fs::Dir::read_from(&self.fd)? {
            let entry = entry?;
            if visit(entry.file_name(), entry.file_type()).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Puts `bytes` at `name` whole: a fresh file, one write, a rename over whatever is there, a link included. Not
    /// flushed: what a power cut takes is rebuilt.
    pub fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.replace_by(name, |file| file.write_all(bytes))
    }

    /// [`Dir::replace`] by what `write` puts into the fresh file.
    pub fn replace_by(&self, name: &str, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
        self.put(name, write)
    }

    /// [`Dir::replace`]; the answer is what was written, as it can be told from a later file of that name.
    pub fn replace_and_stat(&self, name: &str, bytes: &[u8]) -> io::Result<Stat> {
        self.put(name, |file| {
            file.write_all(bytes)?;
            Ok(stat_of(&rustix::fs::fstat(file)?))
        })
    }

    fn put<T>(&self, name: &str, write: impl FnOnce(&mut File) -> io::Result<T>) -> io::Result<T> {
        let (temporary, mut file) = loop {
            let temporary = temporary_name();
            match self.create(&temporary) {
                // Left by a process of the same number; the next name is free.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                file => break (temporary, file?),
            }
        };
        let done = write(&mut file)
            .and_then(|seen| Ok(rustix::fs::renameat(&self.fd, &*temporary, &self.fd, name).map(|()| seen)?));
        if done.is_err() {
            let _ = self.remove(&temporary);
        }
        done
    }

    /// Makes a new file; one that is there already is `AlreadyExists`.
    pub fn create(&self, name: &str) -> io::Result<File> {
        let flags = FILE | OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        Ok(File::from(rustix::fs::openat(&self.fd, name, flags, Mode::from_raw_mode(0o666))?))
    }

    /// Adds `bytes` at the end of a regular file in one write, making the file when it is missing. For a process that
    /// ends soon: closing the file is left to its end.
    pub fn append_and_leave(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let flags = FILE | OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE;
        let file = self.open_at(path, flags, Mode::from_raw_mode(0o666))?;
        plain(&file)?;
        let mut file = File::from(file);
        let written = file.write_all(bytes);
        std::mem::forget(file);
        written
    }

    /// Renames an entry, over an existing one.
    pub fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.fd, from, &self.fd, to)?)
    }

    /// Gives a file a second name; one that is there already is `AlreadyExists`.
    pub fn link(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(rustix::fs::linkat(&self.fd, from, &self.fd, to, AtFlags::empty())?)
    }

    /// Removes a file or link.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.fd, name, AtFlags::empty())?)
    }

    /// One `openat2` where the kernel has it, a walk of handles where not.
    fn open_at(&self, path: &str, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
        #[cfg(target_os = "linux")]
        if let Some(opened) = open_beneath(&self.fd, path, flags, mode) {
            return Ok(opened?);
        }
        walk(self.fd.as_fd(), path, flags, mode)
    }
}

/// One call that passes no link; `None` where the kernel is too old for it or a sandbox does not know it.
#[cfg(target_os = "linux")]
fn open_beneath(from: &OwnedFd, path: &str, flags: OFlags, mode: Mode) -> Option<Result<OwnedFd, Errno>> {
    use rustix::fs::ResolveFlags;
    static MISSING: AtomicBool = AtomicBool::new(false);
    if MISSING.load(Ordering::Relaxed) {
        return None;
    }
    match rustix::fs::openat2(from, path, flags, mode, ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH) {
        Err(Errno::NOSYS | Errno::PERM) => {
            MISSING.store(true, Ordering::Relaxed);
            None
        }
        opened => Some(opened),
    }
}

fn read_whole(file: &File, stat: &Stat, cap: u64) -> io::Result<Vec<u8>> {
    if stat.size > cap {
        return Err(refused("larger than is read"));
    }
    let size = stat.size as usize;
    let mut bytes = Vec::with_capacity(size);
    while bytes.len() < size && read_more(file, &mut bytes)? > 0 {}
    Ok(bytes)
}

/// Opens each directory of `path` without following, then its last name with `flags`.
fn walk(from: std::os::fd::BorrowedFd<'_>, path: &str, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
    let mut held: Option<OwnedFd> = None;
    let (folders, last) = path.rsplit_once('/').map_or((None, path), |(folders, last)| (Some(folders), last));
    for name in folders.into_iter().flat_map(|folders| folders.split('/')) {
        let here = held.as_ref().map_or(from, AsFd::as_fd);
        held = Some(rustix::fs::openat(here, name, FOLDER | OFlags::NOFOLLOW, Mode::empty())?);
    }
    let here = held.as_ref().map_or(from, AsFd::as_fd);
    Ok(rustix::fs::openat(here, last, flags, mode)?)
}

/// The stat of an open file that is regular.
fn plain(file: &OwnedFd) -> io::Result<Stat> {
    let stat = stat_of(&rustix::fs::fstat(file)?);
    if stat.kind == Kind::File { Ok(stat) } else { Err(refused("not a regular file")) }
}

fn kind_of(kind: FileType) -> Kind {
    match kind {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Dir,
        FileType::Symlink => Kind::Link,
        _ => Kind::Other,
    }
}

#[allow(
    clippy::useless_conversion,
    clippy::unnecessary_cast,
    reason = "the field types differ between platforms"
)]
fn stat_of(stat: &rustix::fs::Stat) -> Stat {
    Stat {
        kind: kind_of(FileType::from_raw_mode(stat.st_mode)),
        size: stat.st_size as u64,
        mtime_ns: mtime_of(stat),
        ctime_ns: nanoseconds(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        ino: stat.st_ino.into(),
    }
}

#[allow(clippy::unnecessary_cast, reason = "the field types differ between platforms")]
fn mtime_of(stat: &rustix::fs::Stat) -> i64 {
    nanoseconds(stat.st_mtime as i64, stat.st_mtime_nsec as i64)
}

fn nanoseconds(seconds: i64, part: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_of_opening_refuse_links() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        std::fs::create_dir_all(at("a/b")).unwrap();
        std::fs::write(at("a/b/f"), "x").unwrap();
        std::os::unix::fs::symlink(at("a"), at("l")).unwrap();
        std::os::unix::fs::symlink(at("a/b/f"), at("a/b/g")).unwrap();
        let dir = Dir::open(root.path().to_str().unwrap()).unwrap();
        let flags = FILE | OFlags::RDONLY;
        for (path, opens) in [("a/b/f", true), ("l/b/f", false), ("a/b/g", false), ("a/missing/f", false)] {
            assert_eq!(dir.open_at(path, flags, Mode::empty()).is_ok(), opens, "openat2 {path}");
            assert_eq!(walk(dir.fd.as_fd(), path, flags, Mode::empty()).is_ok(), opens, "walk {path}");
            assert_eq!(dir.probe(path), dir.probe_by_walking(path), "probe {path}");
            assert_eq!(dir.probe(path) == Probe::Plain, opens, "probe {path}");
        }
    }
}
