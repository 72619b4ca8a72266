//! Reading a whole file that a person may have put behind a link: what it leads to must be a regular file.

use super::refused;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Reads the regular file that `path` leads to; `None` when nothing is there.
///
/// A folder, a pipe or a device is an error of kind `InvalidInput` and is never opened, so that nothing waits for a
/// writer; so is a file of more than `cap` bytes.
pub fn read_regular(path: &Path, cap: u64) -> io::Result<Option<Vec<u8>>> {
    let found = match path.metadata() {
        Ok(found) => found,
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    if !found.is_file() {
        return Err(refused("not a regular file"));
    }
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::with_capacity(found.len().min(cap) as usize + 1);
    file.take(cap + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > cap {
        return Err(refused(&format!("more than {cap} bytes")));
    }
    Ok(Some(bytes))
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_of_a_known_size_are_read() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        std::fs::write(at("f"), "12345").unwrap();
        std::fs::create_dir(at("d")).unwrap();
        assert_eq!(read_regular(&at("f"), 5).unwrap().unwrap(), b"12345");
        assert!(read_regular(&at("none"), 5).unwrap().is_none());
        assert!(read_regular(&at("f/none"), 5).unwrap().is_none());
        for (name, cap) in [("f", 4), ("d", 5)] {
            assert_eq!(
                read_regular(&at(name), cap).unwrap_err().kind(),
                io::ErrorKind::InvalidInput,
                "{name}"
            );
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_followed_and_a_pipe_is_not_waited_for() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        std::fs::write(at("f"), "x").unwrap();
        std::os::unix::fs::symlink("f", at("l")).unwrap();
        std::os::unix::fs::symlink("nowhere", at("dangling")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", at("endless")).unwrap();
        assert_eq!(read_regular(&at("l"), 5).unwrap().unwrap(), b"x");
        assert!(read_regular(&at("dangling"), 5).unwrap().is_none());
        assert_eq!(read_regular(&at("endless"), 5).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        assert_eq!(read_regular(&at("pipe"), 5).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }
}
