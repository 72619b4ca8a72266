//! Folders below the managed root, and the move of a document from one to another.

use super::document::{Document, Origin};
use super::fields::KIND;
use super::patch::find;
use crate::activity::DEEPEST;
use crate::failure::{Code, Failure};
use crate::fs::{self, Created};
use crate::path::is_control;
use crate::workspace::Workspace;
use crate::workspace::edit::{self, Target};
use std::path::{Path, PathBuf};

/// Longest name of a folder, in bytes.
const NAME: usize = 255;

/// A folder of documents below the managed root, made only by [`resolve`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Folder(String);

impl Folder {
    /// The managed root itself.
    pub(super) fn top() -> Self {
        Self(String::new())
    }

    /// The path of a file in it, below the managed root.
    pub(super) fn file(&self, name: &str) -> String {
        if self.0.is_empty() { name.to_owned() } else { format!("{}/{name}", self.0) }
    }

    fn path(&self, workspace: &Workspace) -> PathBuf {
        if self.0.is_empty() { workspace.paths.docs.clone() } else { workspace.paths.docs.join(&self.0) }
    }
}

/// The folder that a caller names, the same on every platform: inside the managed root, behind no link, and such that the
/// documents in it are found again.
pub(super) fn resolve(workspace: &Workspace, given: &str) -> Result<Folder, Failure> {
    let refused = |why: &str| {
        let text = format!("the folder `{given}` {why}");
        Failure::new(Code::DOC_FOLDER_INVALID, text).with("folder", given)
    };
    let folder = lexical(given).map_err(refused)?;
    let mut path = workspace.paths.docs.clone();
    for name in folder.0.split('/').filter(|name| !name.is_empty()) {
        path.push(name);
        match path.symlink_metadata() {
            Ok(found) if found.is_symlink() => return Err(refused("lies behind a link")),
            Ok(found) if !found.is_dir() => return Err(refused("has the name of a file")),
            _ => {}
        }
    }
    Ok(folder)
}

fn lexical(given: &str) -> Result<Folder, &'static str> {
    if given.starts_with('/') || given.as_bytes().get(1) == Some(&b':') {
        return Err("is absolute; folders count from the root of the managed documents");
    }
    if given.contains('\\') || given.contains(is_control) {
        return Err("holds a backslash or a control character");
    }
    let mut names: Vec<&str> = Vec::new();
    for name in given.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop().ok_or("leaves the root of the managed documents")?),
            name if name.starts_with('.') => return Err("is hidden, and hidden folders are not read"),
            name if name.len() > NAME => return Err("has a name that is too long"),
            name => names.push(name),
        }
    }
    if names.len() > DEEPEST {
        return Err("lies deeper than folders are read");
    }
    Ok(Folder(names.join("/")))
}

/// A move.
#[derive(Clone, Copy, Debug)]
pub struct Move<'a> {
    /// Which document.
    pub target: Target<'a>,
    /// The folder below the managed root; empty or `.` for the root itself.
    pub folder: Option<&'a str>,
}

/// Moves a managed document to another folder. Its bytes stay as they are, folders left empty go.
pub fn relocate(workspace: &Workspace, moving: Move<'_>) -> Result<Document, Failure> {
    workspace.module_writable("docs", workspace.config.docs.enabled)?;
    let id = moving.target.id;
    let given = moving.folder.ok_or_else(|| {
        let text =
            format!("the folder that {id} moves to is missing; an empty one is the root of the documents");
        Failure::new(Code::DOC_FOLDER_REQUIRED, text)
            .remedy(format!("workfile doc move {id} --folder FOLDER"))
    })?;
    let folder = resolve(workspace, given)?;
    let _lock = edit::lock(workspace, KIND.module, id)?;
    let before = edit::fresh(workspace, find(workspace, id)?)?;
    edit::unchanged(&before, moving.target.revision).map_err(|mut failure| {
        failure.details.shift_remove("current");
        failure
    })?;
    let name = before.file.rsplit('/').next().unwrap_or(&before.file);
    let file = folder.file(name);
    if file == before.file {
        return Ok(before);
    }
    let (from, to) = (workspace.root.join(&before.path), workspace.paths.docs.join(&file));
    let top = &workspace.paths.docs;
    let done = edit::reachable(workspace, &folder.path(workspace), KIND.noun)
        .and_then(|()| fs::rename(&workspace.root, &from, &to));
    if !matches!(done, Ok(Created::Fresh)) {
        remove_empty(&folder.path(workspace), top);
    }
    if done? == Created::Taken {
        let text = format!("{id} cannot move to {}: it is there already", workspace.repo_path(&to));
        let failure = Failure::new(Code::DOC_MOVE_TARGET_EXISTS, text).with("id", id);
        return Err(failure.with("folder", folder.0));
    }
    for folder in [from.parent(), to.parent()] {
        fs::flush_folder(folder.unwrap_or(top));
    }
    remove_empty(from.parent().unwrap_or(top), top);
    let path = workspace.repo_path(&to);
    Document::at(workspace, Origin::Managed, path, file, before.text().to_string())
}

/// Removes `folder` and those above it while they are empty, but never `top` or what is not below it.
fn remove_empty(folder: &Path, top: &Path) {
    let below = folder.ancestors().take_while(|path| *path != top && path.starts_with(top));
    for path in below {
        if std::fs::remove_dir(path).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_the_same_however_it_is_spelled() {
        for (given, wanted) in [
            ("", ""),
            (".", ""),
            ("./", ""),
            ("ops/", "ops"),
            ("a//b/./c/", "a/b/c"),
            ("a/../b", "b"),
            ("é x", "é x"),
        ] {
            assert_eq!(lexical(given).unwrap(), Folder(wanted.to_owned()), "{given}");
        }
    }

    #[test]
    fn a_folder_elsewhere_is_refused() {
        let deep = "a/".repeat(DEEPEST + 1);
        let long = "é".repeat(128);
        for given in [
            "..",
            "../x",
            "a/../../x",
            "/etc",
            "/",
            "C:/x",
            "c:",
            "a\\b",
            "..\\x",
            "a\0",
            "a\nb",
            "\u{1b}[2J",
            ".git",
            "a/.hidden/b",
            "...",
            &deep,
            &long,
        ] {
            assert!(lexical(given).is_err(), "{given:?}");
        }
        assert!(lexical(&"a/".repeat(DEEPEST)).is_ok());
    }

    #[test]
    fn empty_folders_go_and_nothing_else() {
        let top = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(top.path().join("root/a/b/c")).unwrap();
        std::fs::write(top.path().join("root/a/keep"), "").unwrap();
        remove_empty(&top.path().join("root/a/b/c"), &top.path().join("root"));
        assert!(!top.path().join("root/a/b").exists() && top.path().join("root/a/keep").exists());
        std::fs::remove_file(top.path().join("root/a/keep")).unwrap();
        remove_empty(&top.path().join("root/a"), &top.path().join("root"));
        assert!(top.path().join("root").exists() && !top.path().join("root/a").exists());
        remove_empty(top.path(), &top.path().join("root"));
        assert!(top.path().exists());
    }
}
