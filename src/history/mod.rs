//! History: change fragments, and the releases that consume them.
//!
//! Whoever writes holds one lock, so that a fragment is never changed while it moves and an id never given out twice.

pub mod add;
pub mod amend;
mod check;
pub mod cut;
pub mod diagnose;
mod fields;
mod fragment;
pub mod load;
pub mod output;
pub mod patch;
pub mod preview;
mod release;
mod render;
mod staging;
mod version;

pub use fragment::{Fragment, Stage};
pub use load::Listing;
pub use release::Release;

use crate::failure::{Code, Failure};
use crate::record::RecordFile;

/// Keys of a fragment's or a release's header that hold lists.
pub const LISTS: &[&str] = &[
    "tags",
    "depends",
    "scope",
    "related",
    "owners",
    "paths",
    "cards",
    "decisions",
    "actions",
    "issues",
    "fragments",
];

/// The text of a record that this program just made, read back.
fn parsed(path: &str, text: String) -> Result<RecordFile, Failure> {
    RecordFile::parse(text, LISTS).map_err(|reason| {
        Failure::new(Code::INTERNAL_ERROR, format!("{path} would not be readable: {}", reason.reason()))
    })
}

#[cfg(test)]
mod testing {
    //! Workspaces of unit tests.

    use super::Listing;
    use crate::workspace::{Access, Changelog, Missing, Start, Workspace};

    /// A workspace with all defaults and these files.
    pub(super) fn workspace(files: &[(&str, &str)]) -> (tempfile::TempDir, Workspace) {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let start = Start::Exactly(root.path().canonicalize().unwrap());
        let workspace = Workspace::load(&start, Missing::Allow, Access::Write).unwrap();
        (root, workspace)
    }

    /// What is read of these files.
    pub(super) fn listing(files: &[(String, String)]) -> Listing {
        let files: Vec<(&str, &str)> =
            files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let (_root, workspace) = workspace(&files);
        super::load::all(&workspace).unwrap()
    }

    /// The default settings.
    pub(super) fn settings() -> Changelog {
        workspace(&[]).1.config.changelog
    }

    /// A valid fragment.
    pub(super) fn fragment(id: &str, title: &str) -> String {
        format!(
            "---\nid: {id}\ntitle: {title}\ntype: fixed\narea: general\nvisibility: public\ncreated: 2026-01-01\n\
            updated: 2026-01-02\n---\n\nText of {id}.\n"
        )
    }
}
