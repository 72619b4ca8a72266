//! What became of one file of the surface, as an install and an uninstall report it.

use crate::failure::{Code, Failure};
use serde_json::{Map, Value as Json};

/// What became of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It is new.
    Created,
    /// It was changed.
    Updated,
    /// It was as it should be.
    Unchanged,
    /// It is of an earlier version and was deleted.
    Retired,
    /// It was deleted.
    Removed,
    /// It was generated, somebody changed it, and it stays.
    Kept,
    /// It has content that nothing here wrote, and stays.
    Unmanaged,
    /// It cannot be merged, and stays.
    Conflict,
}

impl Status {
    /// As reports print it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::Unchanged => "unchanged",
            Self::Retired => "retired",
            Self::Removed => "removed",
            Self::Kept => "kept",
            Self::Unmanaged => "unmanaged",
            Self::Conflict => "conflict",
        }
    }

    /// Whether the file was left as it is although it should have changed.
    pub(super) const fn is_refused(self) -> bool {
        matches!(self, Self::Unmanaged | Self::Conflict)
    }

    /// Whether the file is not what it was.
    pub(super) const fn is_change(self) -> bool {
        matches!(self, Self::Created | Self::Updated | Self::Retired | Self::Removed)
    }
}

/// One file of a report.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Relative to the root, with `/`.
    pub path: String,
    /// What became of it.
    pub status: Status,
    /// Why it was not written or not deleted.
    pub reason: Option<String>,
    /// The code of a refusal.
    pub code: Option<Code>,
    /// Whether a change that somebody made by hand is gone.
    pub hand_edited: bool,
}

impl Entry {
    /// An entry with nothing more to say.
    pub(super) fn new(path: impl Into<String>, status: Status) -> Self {
        Self { path: path.into(), status, reason: None, code: None, hand_edited: false }
    }

    /// A file that stays although it was generated once.
    pub(super) fn kept(path: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { reason: Some(reason.into()), ..Self::new(path, Status::Kept) }
    }

    /// A file that could not be handled.
    pub(super) fn refused(path: &str, failure: Failure) -> Self {
        let status =
            if failure.code == Code::GENERATED_FILE_UNMANAGED { Status::Unmanaged } else { Status::Conflict };
        Self { reason: Some(failure.text), code: Some(failure.code), ..Self::new(path, status) }
    }

    /// `{path, status, reason?, code?, handEdited?}`.
    pub(super) fn to_json(&self) -> Json {
        let mut entry = Map::new();
        entry.insert("path".to_owned(), self.path.as_str().into());
        entry.insert("status".to_owned(), self.status.name().into());
        if let Some(reason) = &self.reason {
            entry.insert("reason".to_owned(), reason.as_str().into());
        }
        if let Some(code) = self.code {
            entry.insert("code".to_owned(), code.name.into());
        }
        if self.hand_edited {
            entry.insert("handEdited".to_owned(), true.into());
        }
        Json::Object(entry)
    }
}
