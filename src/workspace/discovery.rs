//! Which directory is the workspace: one search for every surface.

use super::{MODULE_FILE, Missing, OBJECT_FILE, Start};
use crate::activity::root;
use crate::failure::{Code, Failure};
use crate::path::normalise;
use std::path::{Path, PathBuf};

/// The root that `start` names or leads to, absolute; with [`Missing::Allow`] the directory itself where there is none.
///
/// `WORKSPACE_NOT_FOUND` otherwise, and for what is no directory at all. Nothing is read but what declares a workspace.
pub fn locate(start: &Start, missing: Missing) -> Result<PathBuf, Failure> {
    let (directory, key) = match start {
        Start::Exactly(directory) => (absolute(directory)?, "root"),
        Start::From(directory) => (absolute(directory)?, "cwd"),
    };
    let found = match start {
        Start::Exactly(_) => is_declared(&directory).then(|| directory.clone()),
        Start::From(_) => directory.to_str().and_then(root::find_declared).map(PathBuf::from),
    };
    if let Some(found) = found {
        return Ok(found);
    }
    if missing == Missing::Allow && directory.is_dir() {
        return Ok(directory);
    }
    let place = directory.display();
    let text = match start {
        _ if !directory.is_dir() => format!("{place} is not a directory"),
        Start::Exactly(_) => format!("{place} is no workspace"),
        Start::From(_) => format!("there is no workspace in {place} or above it in its repository"),
    };
    let failure = Failure::new(Code::WORKSPACE_NOT_FOUND, text).with(key, place.to_string());
    Err(if directory.is_dir() { failure.remedy("workfile init") } else { failure })
}

/// Whether a directory declares a workspace; that one of the files exists is enough.
fn is_declared(directory: &Path) -> bool {
    [MODULE_FILE, OBJECT_FILE, ".project/VERSION"].iter().any(|name| directory.join(name).exists())
}

/// An absolute, lexically normal path, relative ones from the current directory.
fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    let full = std::path::absolute(path).map_err(|error| Failure::io("resolve", path, &error))?;
    Ok(match full.to_str() {
        // Elsewhere than on Windows a `\` may be part of a name, which the normaliser would take apart.
        Some(text) if cfg!(windows) || !text.contains('\\') => PathBuf::from(normalise(text, "/")),
        _ => full,
    })
}
