//! `/context` of earlier versions: a command that shadowed one of the host's.

use crate::surface::managed::{self, Style};
use std::path::{Path, PathBuf};

/// Where it lies.
pub(super) const PATH: &str = ".claude/commands/context.md";

/// The kind that its marker carries.
pub(super) const KIND: &str = "claude-command-context";

/// A command file that an earlier version wrote.
pub(super) struct Retired {
    /// Where it really is.
    pub(super) path: PathBuf,
    /// Whether somebody changed it, or wrote beside what was generated.
    pub(super) is_edited: bool,
}

/// The generated file; one without a block of that kind is the repository's own, and a link was never generated.
pub(super) fn find(root: &Path) -> Option<Retired> {
    if root.join(PATH).symlink_metadata().ok()?.is_symlink() {
        return None;
    }
    let file = managed::read(root, PATH).ok()?;
    let text = file.text()?;
    let block = managed::find(text, KIND, Style::Frontmatter)?;
    let is_edited = block.is_hand_edited() || !block.is_whole_file(text);
    Some(Retired { is_edited, path: file.path })
}
