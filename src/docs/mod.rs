//! Documents: managed ones, which this room writes, and indexed ones, which are only read.
//!
//! A managed document is a record under `docs.managedPath`. An indexed one is any file that `docs.sources` names; its header,
//! if it has one, is taken as it is, and an id is derived from its path.

mod document;
mod links;
pub mod load;

pub use document::{Document, LISTS, Origin};
pub use links::{LocalLink, local_links};
pub use load::Listing;
