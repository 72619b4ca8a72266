//! Memory: what was learned, decided, suffered, agreed on and is going on, one folder a collection.

mod add;
mod diagnose;
mod fields;
pub mod load;
mod patch;
mod record;
mod supersede;

pub use add::{add, collection};
pub use diagnose::{Around, LIFECYCLE, diagnose, findings};
pub use fields::{CONFIDENCES, KIND, SEVERITIES, file_name};
pub use load::Listing;
pub use patch::{Graduate, graduate, patch};
pub use record::Memory;
pub use supersede::{Supersede, Superseded, supersede};

/// Keys of a memory record's header that hold lists.
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
    "supersedes",
    "superseded_by",
    "graduated_to",
    "deciders",
    "corrective_actions",
];
