//! Files in a repository that strangers can write to.
//!
//! [`Dir`] opens and replaces files relative to a directory handle and never follows a link below it: the hooks'
//! files. [`replace`], [`create`] and [`relocate`] write records: flushed, atomic, inside the workspace. [`Lock`] keeps
//! two processes from changing one record at once.

mod lock;
mod read;
mod record;
mod throwaway;

#[cfg(unix)]
#[path = "dir_unix.rs"]
mod dir;
#[cfg(not(unix))]
#[path = "dir_portable.rs"]
mod dir;

pub use dir::{Dir, Entry};
pub use lock::{Lock, Purpose, Standing, standing_locks};
pub use read::read_regular;
pub use record::{
    Created, Step, create, create_watched, flush_folder, make_folder, real_path, relocate, rename, replace,
    replace_watched,
};
pub use throwaway::Throwaway;

/// What a directory entry is, links not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Dir,
    /// A symbolic link or its like.
    Link,
    /// A pipe, a device, a socket.
    Other,
}

/// What a look at a path without following found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// Something is there, and no link on the way to it.
    Plain,
    /// Nothing is there; what leads to it was not judged.
    Missing,
    /// A link stands in the way, or it cannot be told.
    Linked,
}

/// What is known of a file without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// What it is, links not followed.
    pub kind: Kind,
    /// Length in bytes.
    pub size: u64,
    /// Modification time, in nanoseconds since 1970-01-01 UTC.
    pub mtime_ns: i64,
    /// Time of the last change to the entry itself, in nanoseconds; 0 where the platform has none.
    pub ctime_ns: i64,
    /// The file's number on its device; 0 where the platform has none.
    pub ino: u64,
}

/// What changed less than this before it was read may change again without its times moving, in nanoseconds: the coarsest
/// clock of a file system.
pub const RACY_NS: i64 = 2_000_000_000;

impl Stat {
    /// By what a file is known again: inode, size, modification and change time together. The last one moves with every
    /// change and no program can set it.
    pub fn numbers(&self) -> [u64; 4] {
        [self.ino, self.size, self.mtime_ns.cast_unsigned(), self.ctime_ns.cast_unsigned()]
    }

    /// Whether what was read at `now_ns` (nanoseconds) or later can be known again: not when it had just changed, and not
    /// where files have no number.
    pub fn is_settled(&self, now_ns: i64) -> bool {
        self.ino != 0 && now_ns.saturating_sub(self.mtime_ns.max(self.ctime_ns)) >= RACY_NS
    }
}

/// Tells damage, not intent: a sum of words, which the processor adds several at a time, and the length.
pub fn checksum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let sum = words.iter().fold(0_u64, |sum, word| sum.wrapping_add(u64::from_le_bytes(*word)));
    let rest = rest.iter().fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
    sum.wrapping_add(rest.rotate_left(31)).wrapping_add(bytes.len() as u64)
}

/// Opens what a caller has closed of stdin, stdout and stderr, so that no file of ours takes their place.
#[cfg(unix)]
pub fn open_standard_streams() {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let streams = [rustix::stdio::stdin(), rustix::stdio::stdout(), rustix::stdio::stderr()];
    let mut asked = streams.map(|stream| PollFd::from_borrowed_fd(stream, PollFlags::empty()));
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    if poll(&mut asked, Some(&now)).is_ok_and(|found| found > 0) {
        for stream in asked {
            if stream.revents().contains(PollFlags::NVAL)
                && let Ok(null) = std::fs::File::open("/dev/null")
            {
                // It takes the lowest free number, which is the closed stream's, and stays.
                std::mem::forget(null);
            }
        }
    }
}

/// Reads once into the room that `into` has left; 0 at the end of the file, or when there is no room. The room is not
/// cleared first, which for a small window costs more than the reading.
pub fn read_more(file: &std::fs::File, into: &mut Vec<u8>) -> std::io::Result<usize> {
    #[cfg(unix)]
    return Ok(rustix::io::read(file, rustix::buffer::spare_capacity(into))?);
    #[cfg(not(unix))]
    {
        use std::io::Read;
        let (length, room) = (into.len(), into.capacity() - into.len());
        into.resize(length + room, 0);
        let read = { file }.read(&mut into[length..]);
        into.truncate(length + *read.as_ref().unwrap_or(&0));
        read
    }
}

/// An error of this module: something is there and is not what may be opened.
fn refused(what: &str) -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::InvalidInput, what.to_owned())
}

/// The number of this process, asked for once.
pub fn process_id() -> u32 {
    static ID: std::sync::LazyLock<u32> = std::sync::LazyLock::new(std::process::id);
    *ID
}

/// Names of temporary files: nobody else's process has this number, and no two of one process are equal.
fn temporary_name() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    format!(".{}-{}.tmp", process_id(), COUNTER.fetch_add(1, Ordering::Relaxed))
}
