//! Generated files on disk: regular, bounded, and never behind a link that leads out of the repository.
//!
//! A link that stays inside the repository is followed, for reading and writing alike, so that one text can serve under
//! two names.

use super::{Block, Foreign, Mode, merge};
use crate::failure::{Code, Failure};
use crate::fs::{self, Created, Dir};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

/// More than any generated file or settings file has.
const CAP: u64 = 1 << 20;

/// A file as it was read.
#[derive(Clone, Debug)]
pub struct OnDisk {
    /// Where it really is, or would be.
    pub path: PathBuf,
    /// Its bytes; `None` when it is not there.
    pub bytes: Option<Vec<u8>>,
}

impl OnDisk {
    /// The text of a file that is there and is UTF-8.
    pub fn text(&self) -> Option<&str> {
        self.bytes.as_deref().and_then(|bytes| std::str::from_utf8(bytes).ok())
    }
}

/// Whether a run writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Apply {
    /// It does.
    Write,
    /// `--dry-run`: it says what would be done.
    DryRun,
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is new.
    Created,
    /// It was changed.
    Updated {
        /// A change that somebody made inside the block is gone.
        hand_edited: bool,
    },
    /// It was as it should be.
    Unchanged,
}

/// Reads `path`, relative to `root` with `/`. Nothing there is no failure.
///
/// `RECORD_PATH_ESCAPES_WORKSPACE` for a link that leads out or nowhere, `GENERATED_FILE_UNREADABLE` for what is no
/// regular file of at most 1 MiB.
pub fn read(root: &Path, path: &str) -> Result<OnDisk, Failure> {
    let unreadable = |error: &io::Error| {
        let text = format!("{path} cannot be read: {error}");
        Failure::new(Code::GENERATED_FILE_UNREADABLE, text).with("path", path)
    };
    let real = fs::real_path(root, &root.join(path))?;
    let text = real.parent().and_then(Path::to_str).zip(real.file_name().and_then(OsStr::to_str));
    let Some((folder, name)) = text else {
        return Err(unreadable(&io::Error::new(io::ErrorKind::InvalidInput, "its path is not UTF-8")));
    };
    match Dir::open(folder).and_then(|folder| folder.read(name, CAP)) {
        Ok(bytes) => Ok(OnDisk { path: real, bytes: Some(bytes) }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(OnDisk { path: real, bytes: None }),
        Err(error) => Err(unreadable(&error)),
    }
}

/// Writes the new text of a file that was read, whole or not at all; its mode stays.
pub fn write(root: &Path, file: &OnDisk, text: &str) -> Result<(), Failure> {
    if file.bytes.is_some() {
        return fs::replace(root, &file.path, text.as_bytes());
    }
    match fs::create(root, &file.path, text.as_bytes())? {
        Created::Fresh => Ok(()),
        Created::Taken => {
            let text = format!("{} was made by somebody else meanwhile", file.path.display());
            Err(Failure::new(Code::GENERATED_FILE_UNMANAGED, text))
        }
    }
}

/// What would become of one file.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The file as it was read.
    pub file: OnDisk,
    /// What it should hold.
    pub text: String,
    /// What that makes of it.
    pub outcome: Outcome,
}

/// Finds out what a [`sync`] of one file would do. Nothing is written.
///
/// `GENERATED_FILE_UNMANAGED` for a file with other content that may not be overwritten, besides what [`read`] refuses.
pub fn plan(
    root: &Path,
    path: &str,
    block: &Block,
    mode: Mode,
    foreign: Foreign,
) -> Result<Planned, Failure> {
    let file = read(root, path)?;
    let unmanaged = || {
        let text = format!("{path} has content that no Workfile command wrote; --force overwrites it");
        Failure::new(Code::GENERATED_FILE_UNMANAGED, text).with("path", path)
    };
    let (old, mode) = match (&file.bytes, file.text()) {
        (None, _) => ("", mode),
        (Some(_), Some(text)) => (text, mode),
        // What is not UTF-8 has no block and nothing can be added to it.
        (Some(_), None) => ("\u{fffd}", Mode::Dedicated),
    };
    let merged = merge(old, block, mode, foreign).ok_or_else(unmanaged)?;
    let outcome = match &file.bytes {
        None => Outcome::Created,
        Some(bytes) if bytes == merged.text.as_bytes() => Outcome::Unchanged,
        Some(_) => Outcome::Updated { hand_edited: merged.hand_edited },
    };
    Ok(Planned { file, text: merged.text, outcome })
}

/// Brings one file up to date, as [`plan`] says.
pub fn sync(
    root: &Path,
    path: &str,
    block: &Block,
    mode: Mode,
    foreign: Foreign,
    apply: Apply,
) -> Result<Outcome, Failure> {
    let planned = plan(root, path, block, mode, foreign)?;
    if apply == Apply::Write && planned.outcome != Outcome::Unchanged {
        write(root, &planned.file, &planned.text)?;
    }
    Ok(planned.outcome)
}

#[cfg(test)]
mod tests {
    use super::super::Style;
    use super::*;

    fn demo() -> Block {
        Block::new("demo", Style::Html, "body")
    }

    fn run(root: &Path, path: &str, apply: Apply) -> Result<Outcome, Failure> {
        sync(root, path, &demo(), Mode::Dedicated, Foreign::Refuse, apply)
    }

    #[test]
    fn a_second_run_leaves_the_file_alone_and_a_dry_run_every_file() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("a/b.md");
        assert_eq!(run(root.path(), "a/b.md", Apply::DryRun).unwrap(), Outcome::Created);
        assert!(!root.path().join("a").exists());
        assert_eq!(run(root.path(), "a/b.md", Apply::Write).unwrap(), Outcome::Created);
        assert_eq!(run(root.path(), "a/b.md", Apply::Write).unwrap(), Outcome::Unchanged);
        let text = std::fs::read_to_string(&path).unwrap().replace("body", "mine");
        std::fs::write(&path, &text).unwrap();
        let edited = Outcome::Updated { hand_edited: true };
        assert_eq!(run(root.path(), "a/b.md", Apply::DryRun).unwrap(), edited);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        assert_eq!(run(root.path(), "a/b.md", Apply::Write).unwrap(), edited);
        assert_eq!(run(root.path(), "a/b.md", Apply::Write).unwrap(), Outcome::Unchanged);
    }

    #[test]
    fn what_is_no_readable_text_is_refused_and_stays() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("folder")).unwrap();
        std::fs::write(root.path().join("large"), vec![b'x'; CAP as usize + 1]).unwrap();
        std::fs::write(root.path().join("latin"), b"caf\xe9").unwrap();
        for (path, code) in [
            ("folder", Code::GENERATED_FILE_UNREADABLE),
            ("large", Code::GENERATED_FILE_UNREADABLE),
            ("large/inside", Code::GENERATED_FILE_UNREADABLE),
            ("latin", Code::GENERATED_FILE_UNMANAGED),
        ] {
            let refused = run(root.path(), path, Apply::Write).unwrap_err();
            assert_eq!(refused.code, code, "{path}");
            assert!(refused.text.contains(path));
        }
        assert_eq!(std::fs::read(root.path().join("latin")).unwrap(), b"caf\xe9");
        let append =
            sync(root.path(), "latin", &demo(), Mode::Append, Foreign::Refuse, Apply::Write).unwrap_err();
        assert_eq!(append.code, Code::GENERATED_FILE_UNMANAGED);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_inside_the_repository_only() {
        use std::os::unix::fs::symlink;
        let (root, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let at = |name: &str| root.path().join(name);
        std::fs::write(out.path().join("f"), "outside").unwrap();
        std::fs::write(at("real.md"), "").unwrap();
        symlink(out.path(), at("folder")).unwrap();
        symlink(out.path().join("f"), at("file")).unwrap();
        symlink("nowhere", at("dangling")).unwrap();
        symlink("dangling", at("chain")).unwrap();
        symlink("real.md", at("alias.md")).unwrap();
        for path in ["folder/f", "folder/new/x", "file", "dangling", "dangling/x", "chain"] {
            let refused = run(root.path(), path, Apply::Write).unwrap_err();
            assert_eq!(refused.code, Code::RECORD_PATH_ESCAPES_WORKSPACE, "{path}");
        }
        assert_eq!(std::fs::read_to_string(out.path().join("f")).unwrap(), "outside");
        assert_eq!(std::fs::read_dir(out.path()).unwrap().count(), 1);
        assert_eq!(
            run(root.path(), "alias.md", Apply::Write).unwrap(),
            Outcome::Updated { hand_edited: false }
        );
        assert!(at("alias.md").symlink_metadata().unwrap().is_symlink());
        assert!(std::fs::read_to_string(at("real.md")).unwrap().contains("body"));
    }
}
