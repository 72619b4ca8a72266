//! Folders that nobody needs any more when the program ends.

use std::io;
use std::path::{Path, PathBuf};

/// A new folder among the system's temporary ones, gone with everything in it when this value is.
#[derive(Debug)]
pub struct Throwaway {
    path: PathBuf,
    kept: bool,
}

impl Throwaway {
    /// Makes one whose name begins with `prefix`; its path has no links.
    pub fn make(prefix: &str) -> io::Result<Self> {
        let base = std::env::temp_dir();
        let base = base.canonicalize().unwrap_or(base);
        loop {
            let path = base.join(format!("{prefix}-{:08x}", fastrand::u32(..)));
            match std::fs::create_dir(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    return Err(io::Error::new(error.kind(), format!("{}: {error}", path.display())));
                }
                Ok(()) => return Ok(Self { path, kept: false }),
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Leaves it there.
    pub fn keep(&mut self) {
        self.kept = true;
    }
}

impl Drop for Throwaway {
    fn drop(&mut self) {
        if !self.kept {
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}
