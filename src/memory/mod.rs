//! Memory: what was learned, decided, suffered, agreed on and is going on, one folder a collection.

pub mod load;
mod record;

pub use load::Listing;
pub use record::Memory;

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
