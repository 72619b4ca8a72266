//! Documents: managed ones, which this room writes, and indexed ones, which are only read.
//!
//! A managed document is a record under `docs.managedPath`. An indexed one is any file that `docs.sources` names; its header,
//! if it has one, is taken as it is, and an id is derived from its path.

mod create;
mod diagnose;
mod document;
mod fields;
mod folder;
mod links;
pub mod load;
mod patch;

pub use create::create;
pub use diagnose::{Around, FRESHNESS, Files, diagnose, findings};
pub use document::{Document, LISTS, Origin};
pub use fields::{KIND, file_name};
pub use folder::{Move, relocate};
pub use links::{LinkNames, LocalLink, local_links};
pub use load::Listing;
pub use patch::{Note, SECTION, note, patch, write};
