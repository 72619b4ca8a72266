//! Where a release is put together: all of it moves in unseen, and the whole moves to its place in one step.
//!
//! Whatever stands in `<cache>/release-staging` while nobody holds the lock was cut off before that step, so nobody has
//! seen the release: its fragments go back to where they came from, byte for byte, and the rest is removed. A failure
//! is undone the same way. A fragment is in exactly one place at every moment, and every step back can be taken again.
//!
//! ```text
//! release-staging/1-0-0-4f2a/REL-0001-1-0-0.md
//! release-staging/1-0-0-4f2a/fragments/CHG-0001-a.md
//! release-staging/1-0-0-4f2a.json                     which subfolders the fragments came from, when from any
//! ```

use crate::failure::Failure;
use crate::fs::{self, Created, Lock};
use crate::workspace::edit::{self, reachable};
use crate::workspace::{Workspace, files};
use serde_json::{Map, Value as Json};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

/// The folder of fragments in that of a release.
pub(super) const FRAGMENTS: &str = "fragments";

/// No note about subfolders is larger.
const CAP: u64 = 16 * 1024 * 1024;

/// Where releases are put together.
pub(super) fn folder(workspace: &Workspace) -> PathBuf {
    workspace.paths.cache.join("release-staging")
}

/// Whether a path below [`folder`] is that of a fragment.
pub(super) fn is_fragment(path: &str) -> bool {
    path.split('/').nth(1) == Some(FRAGMENTS)
}

/// Holds the changelog: one process at a time adds, changes or releases fragments. What an earlier one left behind when it
/// was cut off is put back first.
pub(super) fn lock(workspace: &Workspace) -> Result<Lock, Failure> {
    let lock = edit::lock(workspace, "changelog", "release")?;
    heal(workspace, &mut || ())?;
    Ok(lock)
}

/// Puts back what was cut off. The caller holds the lock.
pub(super) fn heal(workspace: &Workspace, watch: &mut dyn FnMut()) -> Result<(), Failure> {
    let staging = folder(workspace);
    // Behind a link lies somebody else's folder.
    if files::open_folder(workspace, &staging)?.is_none() {
        return Ok(());
    }
    let entries = list(&staging)?;
    for (path, _) in entries.iter().filter(|(_, kind)| kind.is_dir()) {
        put_back(workspace, path, watch)?;
    }
    // Notes about folders that are gone, and notes that were never finished.
    for (path, _) in entries.iter().filter(|(path, kind)| kind.is_file() && !path.with_extension("").is_dir())
    {
        remove(path)?;
        watch();
    }
    Ok(())
}

/// A release that is being put together.
pub(super) struct Staged<'a> {
    workspace: &'a Workspace,
    folder: PathBuf,
    note: PathBuf,
    watch: &'a mut dyn FnMut(),
}

impl<'a> Staged<'a> {
    /// Makes the folder; `name` is that of the release's. `watch` is called after every step that changes a file.
    pub(super) fn begin(
        workspace: &'a Workspace,
        name: &str,
        watch: &'a mut dyn FnMut(),
    ) -> Result<Self, Failure> {
        let unique = format!("{name}-{:08x}", fastrand::u32(..));
        let staging = folder(workspace);
        let folder = staging.join(&unique);
        reachable(workspace, &folder.join(FRAGMENTS), "fragment")?;
        let staged = Self { workspace, note: staging.join(unique + ".json"), folder, watch };
        (staged.watch)();
        Ok(staged)
    }

    /// Writes down which subfolder of the unreleased fragments each file name comes from.
    pub(super) fn note(&mut self, origins: &Map<String, Json>) -> Result<(), Failure> {
        if !origins.is_empty() {
            let text = Json::Object(origins.clone()).to_string();
            fs::create_watched(&self.workspace.root, &self.note, text.as_bytes(), &mut |_| (self.watch)())?;
        }
        Ok(())
    }

    /// Writes the release itself.
    pub(super) fn write(&mut self, file: &str, text: &str) -> Result<(), Failure> {
        let path = self.folder.join(file);
        fs::create_watched(&self.workspace.root, &path, text.as_bytes(), &mut |_| (self.watch)())?;
        Ok(())
    }

    /// Moves a fragment in; [`Created::Taken`] when another one has its file name.
    pub(super) fn take(&mut self, fragment: &Path) -> Result<Created, Failure> {
        let to = self.folder.join(FRAGMENTS).join(fragment.file_name().unwrap_or_default());
        let moved = fs::rename(&self.workspace.root, fragment, &to)?;
        (self.watch)();
        Ok(moved)
    }

    /// Moves the whole to its place; [`Created::Taken`] when something is there. From here on it is a release.
    pub(super) fn place(&mut self, target: &Path) -> Result<Created, Failure> {
        fs::flush_folder(&self.folder.join(FRAGMENTS));
        fs::flush_folder(&self.folder);
        if fs::rename(&self.workspace.root, &self.folder, target)? == Created::Taken {
            return Ok(Created::Taken);
        }
        (self.watch)();
        fs::flush_folder(&self.workspace.paths.fragments);
        fs::flush_folder(&self.workspace.paths.releases);
        // The release is made; a note that stays is removed by the next one.
        let _ = std::fs::remove_file(&self.note);
        (self.watch)();
        Ok(Created::Fresh)
    }
}

/// Moves every fragment below `staged` back to where it came from and removes the folder.
fn put_back(workspace: &Workspace, staged: &Path, watch: &mut dyn FnMut()) -> Result<(), Failure> {
    let inner = staged.join(FRAGMENTS);
    let mut note = staged.as_os_str().to_owned();
    note.push(".json");
    let origins = origins(Path::new(&note));
    if inner.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        for (path, _) in list(&inner)?.iter().filter(|(_, kind)| kind.is_file()) {
            return_one(workspace, path, &origins)?;
            watch();
        }
        fs::flush_folder(&workspace.paths.fragments);
        // What is no file was put here by nobody of us, and stays with its folder.
        let _ = std::fs::remove_dir(&inner);
        watch();
    }
    for (path, _) in list(staged)?.iter().filter(|(_, kind)| kind.is_file()) {
        remove(path)?;
        watch();
    }
    let _ = std::fs::remove_dir(staged);
    watch();
    Ok(())
}

/// Moves one fragment back. A file that has taken its name meanwhile keeps it: when it is the same, as after
/// `git checkout`, one of the two goes; else the one that comes back gets another name, and nothing is lost.
fn return_one(workspace: &Workspace, staged: &Path, origins: &Map<String, Json>) -> Result<(), Failure> {
    let name = staged.file_name().unwrap_or_default();
    let home = home(workspace, name, origins);
    let mut target = home.join(name);
    for copy in 2_u32.. {
        if fs::rename(&workspace.root, staged, &target)? == Created::Fresh {
            break;
        }
        let read = |path: &Path| fs::read_regular(path, files::CAP).ok().flatten();
        if target.symlink_metadata().is_ok_and(|found| found.is_file())
            && read(staged).is_some_and(|ours| read(&target).as_ref() == Some(&ours))
        {
            return remove(staged);
        }
        let stem = Path::new(name).file_stem().unwrap_or_default().to_string_lossy();
        target = home.join(format!("{stem}-{copy}.md"));
    }
    Ok(())
}

/// The folder that a file name came from: below the unreleased fragments, and one that is read.
fn home(workspace: &Workspace, name: &OsStr, origins: &Map<String, Json>) -> PathBuf {
    let top = &workspace.paths.fragments;
    let noted = name.to_str().and_then(|name| origins.get(name)?.as_str());
    let is_plain =
        |part: &str| !part.is_empty() && !part.starts_with('.') && !part.contains(['\\', '\0', ':']);
    let Some(noted) = noted.filter(|noted| noted.split('/').all(is_plain)) else { return top.clone() };
    let home = top.join(noted);
    let reached = fs::make_folder(&workspace.root, &home).and_then(|_| files::open_folder(workspace, &home));
    if matches!(reached, Ok(Some(_))) { home } else { top.clone() }
}

/// What the note says; nothing when it cannot be read: fragments then go back to the folder itself.
fn origins(note: &Path) -> Map<String, Json> {
    let is_file = note.symlink_metadata().is_ok_and(|found| found.is_file());
    let bytes = if is_file { fs::read_regular(note, CAP).ok().flatten() } else { None };
    bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

/// The entries of a folder with what they are, by name; links are not followed.
fn list(folder: &Path) -> Result<Vec<(PathBuf, std::fs::FileType)>, Failure> {
    let fail = |error: io::Error| Failure::io("list", folder, &error);
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        entries.push((entry.path(), entry.file_type().map_err(fail)?));
    }
    entries.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    Ok(entries)
}

fn remove(path: &Path) -> Result<(), Failure> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Failure::io("remove", path, &error)),
        _ => Ok(()),
    }
}
