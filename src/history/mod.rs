//! History: change fragments, and the releases that consume them.

mod fragment;
pub mod load;
mod release;

pub use fragment::{Fragment, Stage};
pub use load::Listing;
pub use release::Release;

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
