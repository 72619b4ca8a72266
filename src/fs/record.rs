//! Writing records: whole or not at all, flushed, and never outside the workspace.

use super::temporary_name;
use crate::failure::{Code, Failure};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What became of [`create`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Created {
    /// The file is there now.
    Fresh,
    /// Something was there already and is untouched.
    Taken,
}

/// A step of a write, told to whoever watches the target's folder: between the first two, and before the third, nothing in
/// it changes but by others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The temporary file is there.
    Begun,
    /// It is whole and flushed.
    Flushed,
    /// The record is in its place, and nothing else of this write is to come.
    Placed,
}

/// Where `path`, which need not be there, really is: inside the real `root`. Both are absolute.
///
/// `RECORD_PATH_ESCAPES_WORKSPACE` when a link in it leads out, nowhere or in a circle.
pub fn real_path(root: &Path, path: &Path) -> Result<PathBuf, Failure> {
    let real_root = root.canonicalize().map_err(|error| Failure::io("resolve", root, &error))?;
    // What exists of the path decides; what is missing has no links.
    let mut existing = path;
    let real = loop {
        match existing.canonicalize() {
            Ok(real) => break real,
            Err(_) if existing.is_symlink() => return Err(escapes(root, path)),
            Err(error) => {
                existing = existing.parent().ok_or_else(|| Failure::io("resolve", path, &error))?;
            }
        }
    };
    if !real.starts_with(&real_root) {
        return Err(escapes(root, path));
    }
    match path.strip_prefix(existing) {
        Ok(missing) if missing != Path::new("") => Ok(real.join(missing)),
        _ => Ok(real),
    }
}

fn escapes(root: &Path, path: &Path) -> Failure {
    let shown = path.strip_prefix(root).unwrap_or(path).display().to_string();
    let text = format!("{shown} lies behind a link that leads out of the workspace or nowhere");
    Failure::new(Code::RECORD_PATH_ESCAPES_WORKSPACE, text).with("path", shown)
}

/// Makes a folder with all its parents and says where it really is; [`real_path`] says what is refused.
pub fn make_folder(root: &Path, folder: &Path) -> Result<PathBuf, Failure> {
    let real = real_path(root, folder)?;
    std::fs::create_dir_all(&real).map_err(|error| Failure::io("make folder", &real, &error))?;
    Ok(real)
}

/// Replaces the file at `path` by `bytes`: readers see the old or the new file, never half of one. The mode is kept.
pub fn replace(root: &Path, path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    replace_watched(root, path, bytes, &mut |_| ())
}

/// [`replace`], step by step.
pub fn replace_watched(
    root: &Path,
    path: &Path,
    bytes: &[u8],
    watch: &mut dyn FnMut(Step),
) -> Result<(), Failure> {
    let folder = make_folder(root, path.parent().unwrap_or(root))?;
    let target = folder.join(path.file_name().unwrap_or_default());
    let fail = |error: io::Error| Failure::io("write", path, &error);
    let temporary = Temporary::write(&folder, bytes, watch).map_err(fail)?;
    if let Ok(old) = target.symlink_metadata()
        && old.is_file()
    {
        std::fs::set_permissions(&temporary.0, old.permissions()).map_err(fail)?;
    }
    watch(Step::Flushed);
    let mut tries = 0;
    loop {
        match std::fs::rename(&temporary.0, &target) {
            Ok(()) => break,
            // Windows refuses while somebody has the old file open.
            Err(error) if cfg!(windows) && tries < 20 && is_busy(&error) && !read_only(&target) => {
                tries += 1;
                std::thread::sleep(Duration::from_millis(25));
            }
            Err(error) => return Err(fail(error)),
        }
    }
    watch(Step::Placed);
    temporary.renamed();
    flush_folder(&folder);
    Ok(())
}

/// Makes a new file with `bytes`; nobody ever sees half of it. What is there already stays.
pub fn create(root: &Path, path: &Path, bytes: &[u8]) -> Result<Created, Failure> {
    create_watched(root, path, bytes, &mut |_| ())
}

/// [`create`], step by step.
pub fn create_watched(
    root: &Path,
    path: &Path,
    bytes: &[u8],
    watch: &mut dyn FnMut(Step),
) -> Result<Created, Failure> {
    let folder = make_folder(root, path.parent().unwrap_or(root))?;
    let target = folder.join(path.file_name().unwrap_or_default());
    let fail = |error: io::Error| Failure::io("create", path, &error);
    let temporary = Temporary::write(&folder, bytes, watch).map_err(fail)?;
    watch(Step::Flushed);
    let linked = match std::fs::hard_link(&temporary.0, &target) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // A file system without hard links: the name is still taken exclusively.
        Err(_) => write_new(&target, bytes),
        done => done,
    };
    drop(temporary);
    match linked {
        Ok(()) => {
            watch(Step::Placed);
            flush_folder(&folder);
            Ok(Created::Fresh)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(Created::Taken),
        Err(error) => Err(fail(error)),
    }
}

/// Moves a record to another path with its final content. The content is replaced first, then the file moves: whenever
/// the process ends, there is one record and it is whole.
///
/// `CARD_FILE_EXISTS` when something is at `to`. Whatever is refused, `from` alone is there afterwards, as it was.
pub fn relocate(
    root: &Path,
    from: &Path,
    to: &Path,
    bytes: &[u8],
    watch: &mut dyn FnMut(Step),
) -> Result<(), Failure> {
    let taken = || {
        let text = format!("{} is there already", to.display());
        Failure::new(Code::CARD_FILE_EXISTS, text).with("path", to.display().to_string())
    };
    let real = |path: &Path| {
        let folder = make_folder(root, path.parent().unwrap_or(root))?;
        Ok(folder.join(path.file_name().unwrap_or_default()))
    };
    let (old, new) = (real(from)?, real(to)?);
    if new.symlink_metadata().is_ok() {
        return Err(taken());
    }
    let before = match std::fs::read(&old) {
        // Gone since it was read: what was made of it is the only copy.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return match create_watched(root, to, bytes, watch)? {
                Created::Fresh => Ok(()),
                Created::Taken => Err(taken()),
            };
        }
        before => before.map_err(|error| Failure::io("read", from, &error))?,
    };
    replace(root, from, bytes)?;
    watch(Step::Begun);
    watch(Step::Flushed);
    if let Err(error) = rename_new(&old, &new) {
        // Somebody made a file of that name in between.
        replace(root, from, &before)?;
        let exists = error.kind() == io::ErrorKind::AlreadyExists;
        return Err(if exists { taken() } else { Failure::io("move", from, &error) });
    }
    watch(Step::Placed);
    for path in [&new, &old] {
        flush_folder(path.parent().unwrap_or(root));
    }
    Ok(())
}

/// Moves a file or a folder, untouched, to a path where nothing is; the folder of `to` is made. Nothing is flushed: the
/// caller flushes once for all of its moves.
///
/// `RECORD_PATH_ESCAPES_WORKSPACE` when a link in either path leads out.
pub fn rename(root: &Path, from: &Path, to: &Path) -> Result<Created, Failure> {
    let old = real_path(root, from.parent().unwrap_or(root))?.join(from.file_name().unwrap_or_default());
    let new = make_folder(root, to.parent().unwrap_or(root))?.join(to.file_name().unwrap_or_default());
    // What renames without a flag would replace an empty folder.
    if new.symlink_metadata().is_ok() {
        return Ok(Created::Taken);
    }
    match rename_new(&old, &new) {
        Ok(()) => Ok(Created::Fresh),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(Created::Taken),
        Err(error) => Err(Failure::io("move", from, &error)),
    }
}

/// Renames to a name that nobody has.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            // File systems and kernels that do not know the flag.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            done => return Ok(done?),
        }
    }
    if from.is_dir() {
        return std::fs::rename(from, to);
    }
    std::fs::hard_link(from, to)?;
    std::fs::remove_file(from)
}

/// A flushed file under a name of its own, removed unless it was renamed.
struct Temporary(PathBuf);

impl Temporary {
    fn write(folder: &Path, bytes: &[u8], watch: &mut dyn FnMut(Step)) -> io::Result<Self> {
        let (temporary, mut file) = loop {
            let path = folder.join(temporary_name());
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                file => break (Self(path), file?),
            }
        };
        watch(Step::Begun);
        file.write_all(bytes).and_then(|()| file.sync_all())?;
        Ok(temporary)
    }

    fn renamed(self) {
        std::mem::forget(self);
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    let done = file.write_all(bytes).and_then(|()| file.sync_all());
    if done.is_err() {
        let _ = std::fs::remove_file(path);
    }
    done
}

/// A rename lasts once its folder is flushed; where a folder cannot be opened it lasts as the system sees fit.
pub fn flush_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

fn is_busy(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ResourceBusy)
}

fn read_only(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.permissions().readonly())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_created_file_is_never_overwritten_and_nothing_is_left_beside_it() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("deep/x.md");
        assert_eq!(create(root.path(), &path, b"one").unwrap(), Created::Fresh);
        assert_eq!(create(root.path(), &path, b"two").unwrap(), Created::Taken);
        assert_eq!(std::fs::read(&path).unwrap(), b"one");
        replace(root.path(), &path, b"three").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"three");
        let other = root.path().join("deep/y.md");
        create(root.path(), &other, b"y").unwrap();
        let refused = relocate(root.path(), &path, &other, b"z", &mut |_| ()).unwrap_err();
        assert_eq!(refused.code, Code::CARD_FILE_EXISTS);
        assert_eq!(std::fs::read(&other).unwrap(), b"y");
        assert_eq!(std::fs::read(&path).unwrap(), b"three");
        assert_eq!(std::fs::read_dir(root.path().join("deep")).unwrap().count(), 2);
    }

    #[test]
    fn a_file_is_renamed_as_it_is_and_never_over_another() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        std::fs::write(at("a.md"), "a").unwrap();
        std::fs::write(at("b.md"), "b").unwrap();
        let before = at("a.md").metadata().unwrap().modified().unwrap();
        assert_eq!(rename(root.path(), &at("a.md"), &at("b.md")).unwrap(), Created::Taken);
        assert_eq!(std::fs::read(at("b.md")).unwrap(), b"b");
        assert_eq!(rename(root.path(), &at("a.md"), &at("deep/er/a.md")).unwrap(), Created::Fresh);
        assert_eq!(at("deep/er/a.md").metadata().unwrap().modified().unwrap(), before);
        assert!(!at("a.md").exists() && rename(root.path(), &at("a.md"), &at("c.md")).is_err());
    }

    #[test]
    fn a_record_that_moves_is_in_one_place_at_every_step() {
        let root = tempfile::tempdir().unwrap();
        let (from, to) = (root.path().join("archive/x.md"), root.path().join("x.md"));
        create(root.path(), &from, b"old").unwrap();
        let mut seen = Vec::new();
        let at = |path: &Path| std::fs::read(path).ok();
        relocate(root.path(), &from, &to, b"new", &mut |step| seen.push((step, at(&from), at(&to)))).unwrap();
        let new = || Some(b"new".to_vec());
        let wanted = [(Step::Begun, new(), None), (Step::Flushed, new(), None), (Step::Placed, None, new())];
        assert_eq!(seen, wanted);
        assert_eq!(std::fs::read_dir(root.path().join("archive")).unwrap().count(), 0);
    }

    #[test]
    fn h17_a_file_that_appears_in_the_way_of_a_move_changes_nothing() {
        let root = tempfile::tempdir().unwrap();
        let (from, to) = (root.path().join("a.md"), root.path().join("b.md"));
        create(root.path(), &from, b"old").unwrap();
        let mut appear = |step| {
            if step == Step::Flushed {
                std::fs::write(&to, b"theirs").unwrap();
            }
        };
        let refused = relocate(root.path(), &from, &to, b"new", &mut appear).unwrap_err();
        assert_eq!(refused.code, Code::CARD_FILE_EXISTS);
        assert_eq!(
            (std::fs::read(&from).unwrap(), std::fs::read(&to).unwrap()),
            (b"old".to_vec(), b"theirs".to_vec())
        );
    }

    #[test]
    fn a_file_or_folder_is_moved_to_where_nothing_is() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        create(root.path(), &at("a/x.md"), b"x").unwrap();
        create(root.path(), &at("b/y.md"), b"y").unwrap();
        std::fs::create_dir(at("empty")).unwrap();
        for (from, to) in [("a", "b"), ("a", "empty"), ("a/x.md", "b/y.md")] {
            assert_eq!(rename(root.path(), &at(from), &at(to)).unwrap(), Created::Taken, "{from} {to}");
        }
        assert_eq!(rename(root.path(), &at("a"), &at("deep/c")).unwrap(), Created::Fresh);
        assert_eq!(rename(root.path(), &at("deep/c/x.md"), &at("x.md")).unwrap(), Created::Fresh);
        assert_eq!(std::fs::read(at("x.md")).unwrap(), b"x");
        assert_eq!(std::fs::read(at("b/y.md")).unwrap(), b"y");
        assert!(rename(root.path(), &at("gone"), &at("z")).is_err() && !at("z").exists());
        #[cfg(unix)]
        {
            let out = tempfile::tempdir().unwrap();
            std::os::unix::fs::symlink(out.path(), at("out")).unwrap();
            for (from, to) in [("x.md", "out/x.md"), ("out/x.md", "z")] {
                let refused = rename(root.path(), &at(from), &at(to)).unwrap_err();
                assert_eq!(refused.code, Code::RECORD_PATH_ESCAPES_WORKSPACE);
            }
        }
    }

    #[test]
    fn a_record_that_cannot_leave_its_place_is_not_there_twice() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        // A folder is no file that could be removed, whoever runs the test.
        std::fs::create_dir(at("from.md")).unwrap();
        assert!(relocate(root.path(), &at("from.md"), &at("to.md"), b"x", &mut |_| ()).is_err());
        assert!(!at("to.md").exists());
        relocate(root.path(), &at("gone.md"), &at("to.md"), b"x", &mut |_| ()).unwrap();
        assert!(at("to.md").exists(), "the only copy stays");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_out_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let out = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(out.path(), root.path().join("cards")).unwrap();
        std::os::unix::fs::symlink("/nowhere/at/all", root.path().join("dangling")).unwrap();
        std::os::unix::fs::symlink("circle", root.path().join("circle")).unwrap();
        for folder in ["cards", "cards/deep", "dangling", "circle/deep"] {
            let path = root.path().join(folder).join("x.md");
            let refused = create(root.path(), &path, b"x").unwrap_err();
            assert_eq!(refused.code, Code::RECORD_PATH_ESCAPES_WORKSPACE, "{folder}");
        }
        assert_eq!(std::fs::read_dir(out.path()).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn the_mode_is_kept() {
        use std::os::unix::fs::PermissionsExt;
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("x.md");
        std::fs::write(&path, "x").unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
        replace(root.path(), &path, b"y").unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    }
}
