//! [`Dir`] where there are no directory handles: every segment is looked at before it is passed.

use super::{Kind, Probe, Stat, refused, temporary_name};
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

/// A directory by its path. Paths given to it are relative, `/` separated, without `.` and `..`; a link anywhere in them
/// is an error, whatever it points to.
#[derive(Debug)]
pub struct Dir(PathBuf);

/// An entry of a directory that is being listed.
#[derive(Debug)]
pub struct Entry<'a> {
    dir: &'a Dir,
    name: OsString,
    kind: Kind,
}

impl Entry<'_> {
    /// Its raw name.
    pub fn name(&self) -> &OsStr {
        &self.name
    }

    /// What the listing says it is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The modification time of a regular file, in nanoseconds; `None` for anything else that is there by now.
    pub fn file_time(&self) -> Option<i64> {
        self.stat().ok().filter(|stat| stat.kind == Kind::File).map(|stat| stat.mtime_ns)
    }

    /// What it is now, links not followed.
    pub fn stat(&self) -> io::Result<Stat> {
        Ok(stat_of(&std::fs::symlink_metadata(self.dir.0.join(&self.name))?))
    }
}

impl Dir {
    /// Opens a directory by path; links in `path` itself are followed.
    pub fn open(path: &str) -> io::Result<Self> {
        let path = std::fs::canonicalize(path)?;
        if path.is_dir() { Ok(Self(path)) } else { Err(refused("not a directory")) }
    }

    /// Opens a directory below this one.
    pub fn below(&self, path: &str) -> io::Result<Self> {
        let full = self.resolve(path)?;
        match kind_of(&std::fs::symlink_metadata(&full)?) {
            Kind::Dir => Ok(Self(full)),
            _ => Err(refused("not a directory")),
        }
    }

    /// Opens a directory below this one and makes what is missing on the way.
    pub fn make(&self, path: &str) -> io::Result<Self> {
        let mut at = Self(self.0.clone());
        for name in path.split('/') {
            match std::fs::create_dir(at.0.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => at = at.below(name)?,
            }
        }
        Ok(at)
    }

    /// Opens a regular file for reading. Anything else at that name is an error.
    pub fn open_file(&self, path: &str) -> io::Result<(File, Stat)> {
        let full = self.plain(path)?;
        let file = File::open(full)?;
        let stat = stat_of(&file.metadata()?);
        Ok((file, stat))
    }

    /// Reads a regular file of at most `cap` bytes; a longer one is an error.
    pub fn read(&self, path: &str, cap: u64) -> io::Result<Vec<u8>> {
        self.read_and_stat(path, cap).map(|(bytes, _)| bytes)
    }

    /// [`Dir::read`], and what the file was.
    pub fn read_and_stat(&self, path: &str, cap: u64) -> io::Result<(Vec<u8>, Stat)> {
        let (file, stat) = self.open_file(path)?;
        if stat.size > cap {
            return Err(refused("larger than is read"));
        }
        let mut bytes = Vec::with_capacity(stat.size as usize + 1);
        file.take(cap).read_to_end(&mut bytes)?;
        Ok((bytes, stat))
    }

    /// [`Dir::read`]; elsewhere it saves a call.
    pub fn read_and_leave(&self, path: &str, cap: u64) -> io::Result<Vec<u8>> {
        self.read(path, cap)
    }

    /// What is at `path`, links not followed.
    pub fn stat(&self, path: &str) -> io::Result<Stat> {
        Ok(stat_of(&std::fs::symlink_metadata(self.0.join(path))?))
    }

    /// Whether a link stands anywhere in `path`, its last name included.
    pub fn probe(&self, path: &str) -> Probe {
        match self.resolve(path).and_then(|full| std::fs::symlink_metadata(full)) {
            Ok(found) if kind_of(&found) != Kind::Link => Probe::Plain,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Probe::Missing,
            _ => Probe::Linked,
        }
    }

    /// What this directory is itself.
    pub fn stat_self(&self) -> io::Result<Stat> {
        Ok(stat_of(&std::fs::symlink_metadata(&self.0)?))
    }

    /// Opens a directory entry by its raw name.
    pub fn enter(&self, name: &OsStr) -> io::Result<Self> {
        let full = self.0.join(name);
        match kind_of(&std::fs::symlink_metadata(&full)?) {
            Kind::Dir => Ok(Self(full)),
            _ => Err(refused("not a directory")),
        }
    }

    /// Hands each entry to `each`, in no order, until it breaks.
    pub fn list(&self, mut each: impl FnMut(&Entry<'_>) -> ControlFlow<()>) -> io::Result<()> {
        for found in std::fs::read_dir(&self.0)? {
            let found = found?;
            let kind = found.metadata().map_or(Kind::Other, |found| kind_of(&found));
            if each(&Entry { dir: self, name: found.file_name(), kind }).is_break() {
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
        self.put(name, write).map(|_| ())
    }

    /// [`Dir::replace`]; the answer is what was written, as it can be told from a later file of that name.
    pub fn replace_and_stat(&self, name: &str, bytes: &[u8]) -> io::Result<Stat> {
        self.put(name, |file| file.write_all(bytes))
    }

    fn put(&self, name: &str, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<Stat> {
        let temporary = temporary_name();
        let mut file = self.create(&temporary)?;
        let written = write(&mut file).and_then(|()| Ok(stat_of(&file.metadata()?)));
        drop(file);
        let mut tries = 0;
        let done = written.and_then(|stat| {
            loop {
                match self.rename(&temporary, name) {
                    // Somebody has the old file open without sharing it.
                    Err(error) if error.kind() == io::ErrorKind::PermissionDenied && tries < 5 => {
                        tries += 1;
                        std::thread::sleep(Duration::from_millis(10));
                    }
                    done => break done.map(|()| stat),
                }
            }
        });
        if done.is_err() {
            let _ = self.remove(&temporary);
        }
        done
    }

    /// Makes a new file; one that is there already is `AlreadyExists`.
    pub fn create(&self, name: &str) -> io::Result<File> {
        OpenOptions::new().write(true).create_new(true).open(self.0.join(name))
    }

    /// Adds `bytes` at the end of a regular file in one write, making the file when it is missing.
    pub fn append_and_leave(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let full = match self.plain(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.0.join(name),
            found => found?,
        };
        OpenOptions::new().append(true).create(true).open(full)?.write_all(bytes)
    }

    /// Renames an entry, over an existing one.
    pub fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        std::fs::rename(self.0.join(from), self.0.join(to))
    }

    /// Gives a file a second name; one that is there already is `AlreadyExists`.
    pub fn link(&self, from: &str, to: &str) -> io::Result<()> {
        std::fs::hard_link(self.0.join(from), self.0.join(to))
    }

    /// Removes a file or link.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        std::fs::remove_file(self.0.join(name))
    }

    /// The full path, once no segment before the last is a link.
    fn resolve(&self, path: &str) -> io::Result<PathBuf> {
        let mut full = self.0.clone();
        let mut names = path.split('/').peekable();
        while let Some(name) = names.next() {
            full.push(name);
            if names.peek().is_some() && kind_of(&std::fs::symlink_metadata(&full)?) != Kind::Dir {
                return Err(refused("a link or a file in the way"));
            }
        }
        Ok(full)
    }

    fn plain(&self, path: &str) -> io::Result<PathBuf> {
        let full = self.resolve(path)?;
        match kind_of(&std::fs::symlink_metadata(&full)?) {
            Kind::File => Ok(full),
            _ => Err(refused("not a regular file")),
        }
    }
}

fn kind_of(found: &Metadata) -> Kind {
    match found.file_type() {
        kind if kind.is_symlink() => Kind::Link,
        kind if kind.is_dir() => Kind::Dir,
        kind if kind.is_file() => Kind::File,
        _ => Kind::Other,
    }
}

fn stat_of(found: &Metadata) -> Stat {
    let mtime = found.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let mtime_ns = mtime.and_then(|after| i64::try_from(after.as_nanos()).ok()).unwrap_or(0);
    Stat { kind: kind_of(found), size: found.len(), mtime_ns, ctime_ns: 0, ino: 0 }
}

/// Kept beside the handles of the other platform: the path behind a directory.
impl AsRef<Path> for Dir {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}
