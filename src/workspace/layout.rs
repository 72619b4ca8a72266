//! Where things are: every configured path, resolved and inside the root.

use super::config::{self, CONTAINED};
use crate::failure::{Code, Failure};
use crate::path::{inside, normalise};
use serde_json::Value as Json;
use std::path::{Path, PathBuf};

/// Absolute paths of the layout.
#[derive(Clone, Debug)]
pub struct Paths {
    /// `.project`.
    pub project: PathBuf,
    /// The folder of locks relative to the root with `/`: `.project/.cache/locks`.
    pub locks: String,
    /// Live cards.
    pub cards: PathBuf,
    /// Archived cards.
    pub archive: PathBuf,
    /// Assets of cards.
    pub assets: PathBuf,
    /// What can be rebuilt: `.project/.cache`.
    pub cache: PathBuf,
    /// Managed documents.
    pub docs: PathBuf,
    /// Unreleased fragments.
    pub fragments: PathBuf,
    /// Releases and what they released.
    pub releases: PathBuf,
    /// Memory, one folder a collection.
    pub memory: PathBuf,
}

impl Paths {
    /// Resolves the paths of a checked configuration.
    ///
    /// `CONFIG_PATH_OUTSIDE_WORKSPACE` for the first that is absolute or leaves the root.
    pub(super) fn of(merged: &Json, root: &Path) -> Result<Self, Failure> {
        for key in CONTAINED {
            relative(merged, key, root)?;
        }
        let place = |key: &str| relative(merged, key, root).map(|relative| root.join(relative));
        let cache = relative(merged, "storage.cache", root)?;
        Ok(Self {
            project: place("storage.root")?,
            locks: if cache.is_empty() { "locks".to_owned() } else { format!("{cache}/locks") },
            cards: place("cards.path")?,
            archive: place("cards.archivePath")?,
            assets: place("cards.assetsPath")?,
            cache: place("storage.cache")?,
            docs: place("docs.managedPath")?,
            fragments: place("changelog.fragmentsPath")?,
            releases: place("changelog.releasesPath")?,
            memory: place("memory.path")?,
        })
    }
}

/// The path at `key` relative to the root, normal, with `/`; empty for the root itself.
///
/// The same text is accepted or refused on every platform: `\` separates, and a drive or a leading separator is absolute.
fn relative(merged: &Json, key: &str, root: &Path) -> Result<String, Failure> {
    let value = config::at(merged, key).unwrap_or(&Json::Null);
    let root = normalise(&root.to_string_lossy(), "/");
    let found = value.as_str().and_then(|text| {
        let drive = text.as_bytes().get(1) == Some(&b':');
        let is_relative = !drive && !text.starts_with(['/', '\\']) && !text.contains('\0');
        let full = is_relative.then(|| normalise(text, &root))?;
        inside(&root, &full).map(str::to_owned)
    });
    found.ok_or_else(|| {
        let text = format!("{key} must be a path inside the workspace, not {value}");
        Failure::new(Code::CONFIG_PATH_OUTSIDE_WORKSPACE, text).with("path", key).with("value", value.clone())
    })
}
