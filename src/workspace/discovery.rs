//! Which directory is the workspace: one search for every surface.

use super::{Missing, Start};
use crate::activity::root;
use crate::failure::{Code, Failure};
use crate::path::normalise;
use std::path::{Path, PathBuf};

/// The root that `start` names or leads to, absolute; with [`Missing::Allow`] the directory itself where there is none.
///
/// `WORKSPACE_NOT_FOUND` otherwise, and for what is no directory at all. Nothing is read but what declares a workspace.
pub fn locate(start: &Start, missing: Missing) -> Result<PathBuf, Failure> {
    let (directory, key) = match start {
        Start::Exactly(directory) => (directory, "root"),
        Start::From(directory) => (directory, "cwd"),
    };
    let full = std::path::absolute(directory).map_err(|error| Failure::io("resolve", directory, &error))?;
    let refused = |what: &str| {
        let place = full.display();
        Failure::new(Code::WORKSPACE_NOT_FOUND, format!("{place} {what}")).with(key, place.to_string())
    };
    let Some(text) = full.to_str() else { return Err(refused("is not UTF-8")) };
    let text = normalise(text, "/");
    let found = match start {
        Start::Exactly(_) => root::declares(&text).then(|| text.clone()),
        Start::From(_) => root::find_declared(&text),
    };
    match found {
        Some(root) => Ok(PathBuf::from(root)),
        None if !Path::new(&text).is_dir() => Err(refused("is not a directory")),
        None if missing == Missing::Allow => Ok(PathBuf::from(text)),
        None => {
            let what = match start {
                Start::Exactly(_) => "is no workspace",
                Start::From(_) => "is in no workspace: none is declared here or above, up to the repository",
            };
            Err(refused(what).remedy("workfile init"))
        }
    }
}
