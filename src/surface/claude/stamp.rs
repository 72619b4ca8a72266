//! The build stamp: one byte string in the binary that tells which build a file is without running it.
//!
//! Running a binary from a clone just to ask for its version would execute the repository's code.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

const START: &str = "workfile-build version=";
const MIDDLE: &str = " commit=";
const END: &str = " end";

const PARTS: [&str; 5] = [
    START,
    env!("CARGO_PKG_VERSION"),
    MIDDLE,
    match option_env!("WORKFILE_COMMIT") {
        Some(commit) => commit,
        None => "unknown",
    },
    END,
];

const LENGTH: usize = {
    let mut length = 0;
    let mut part = 0;
    while part < PARTS.len() {
        length += PARTS[part].len();
        part += 1;
    }
    length
};

#[used]
static STAMP: [u8; LENGTH] = {
    let mut out = [0; LENGTH];
    let mut at = 0;
    let mut part = 0;
    while part < PARTS.len() {
        let bytes = PARTS[part].as_bytes();
        let mut byte = 0;
        while byte < bytes.len() {
            out[at] = bytes[byte];
            at += 1;
            byte += 1;
        }
        part += 1;
    }
    out
};

/// Longer than any stamp.
const LONGEST: usize = 256;
/// How much of a file is read at a time.
const WINDOW: usize = 64 * 1024;
/// How much of a file is looked at.
const CAP: u64 = 64 << 20;

/// Which build a binary is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The version of the crate.
    pub version: String,
    /// The commit it was built from, or `unknown`.
    pub commit: String,
}

impl Stamp {
    /// The build that is running.
    pub fn running() -> Self {
        // Read at run time and through a black box, so that the bytes are in the binary as they are looked for.
        let stamp = std::hint::black_box(&STAMP);
        find(stamp).unwrap_or_else(|| Self { version: PARTS[1].to_owned(), commit: PARTS[3].to_owned() })
    }

    /// The build of a binary; `None` when its first 64 MiB carry no stamp.
    pub fn of_file(path: &Path) -> io::Result<Option<Self>> {
        let mut file = File::open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        Self::of(file.by_ref().take(CAP))
    }

    /// Reads window by window; each begins with the end of the one before.
    fn of(mut source: impl Read) -> io::Result<Option<Self>> {
        let mut window = Vec::with_capacity(WINDOW + LONGEST);
        loop {
            let read = source.by_ref().take(WINDOW as u64).read_to_end(&mut window)?;
            if let Some(stamp) = find(&window) {
                return Ok(Some(stamp));
            }
            if read == 0 {
                return Ok(None);
            }
            window.drain(..window.len().saturating_sub(LONGEST));
        }
    }
}

/// The first whole stamp in `bytes`. The program also holds the stamp's parts as texts; those are no stamp.
fn find(bytes: &[u8]) -> Option<Stamp> {
    memchr::memmem::find_iter(bytes, START).find_map(|at| {
        let rest = &bytes[at + START.len()..];
        let (version, rest) = word(rest)?;
        let (commit, rest) = word(rest.strip_prefix(MIDDLE.as_bytes())?)?;
        rest.starts_with(END.as_bytes()).then_some(Stamp { version, commit })
    })
}

/// The letters, digits, dots, pluses and hyphens that `bytes` begin with.
fn word(bytes: &[u8]) -> Option<(String, &[u8])> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'+' | b'-');
    let length = bytes.iter().take(LONGEST / 3).take_while(|byte| is_part(byte)).count();
    let (word, rest) = bytes.split_at(length);
    (length > 0).then(|| (word.iter().copied().map(char::from).collect(), rest))
}

/// The bytes of a stamp, put together at run time: the test program holds one whole stamp only.
#[cfg(test)]
pub(super) fn written(version: &str, commit: &str) -> Vec<u8> {
    [START, version, MIDDLE, commit, END].concat().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(version: &str, commit: &str) -> Stamp {
        Stamp { version: version.to_owned(), commit: commit.to_owned() }
    }

    #[test]
    fn this_build_has_one() {
        let running = Stamp::running();
        assert_eq!(running.version, env!("CARGO_PKG_VERSION"));
        let own = std::env::current_exe().unwrap();
        assert_eq!(Stamp::of_file(&own).unwrap(), Some(running));
    }

    #[test]
    fn a_stamp_is_found_wherever_a_window_ends() {
        let text = written("1.2.3-rc.1", "abc123");
        for before in [0, 1, WINDOW - 30, WINDOW - 1, WINDOW, 2 * WINDOW - 10, 3 * WINDOW - 256] {
            let mut bytes = vec![0; before];
            bytes.extend_from_slice(&text);
            bytes.extend_from_slice(&[0; 100]);
            assert_eq!(Stamp::of(&*bytes).unwrap(), Some(stamp("1.2.3-rc.1", "abc123")), "{before}");
        }
    }

    #[test]
    fn parts_of_a_stamp_are_none() {
        let whole = written("1.0.0", "abc");
        for bytes in [
            START.as_bytes().to_vec(),
            whole[..whole.len() - 1].to_vec(),
            written("", "abc"),
            written("1 0", "abc"),
            written(&"1".repeat(LONGEST), "abc"),
            Vec::new(),
        ] {
            assert_eq!(Stamp::of(&*bytes).unwrap(), None, "{}", String::from_utf8_lossy(&bytes));
        }
        let after = [START.as_bytes(), b"\0", &written("2.0.0", "unknown")].concat();
        assert_eq!(Stamp::of(&*after).unwrap(), Some(stamp("2.0.0", "unknown")));
    }

    #[test]
    fn what_is_no_file_has_no_build() {
        let root = tempfile::tempdir().unwrap();
        assert!(Stamp::of_file(root.path()).is_err());
        assert!(Stamp::of_file(&root.path().join("missing")).is_err());
    }
}
