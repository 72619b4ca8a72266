//! What is going on right now: roots, actors, session files, the board, the ledger.
//!
//! Everything here lies under `.project/.cache/activity`, is not versioned and can be deleted at any time. What a link
//! leads to is never read or written: the folder may have been committed by a stranger.

pub mod actor;
pub mod board;
pub mod claim;
mod heads;
mod index;
pub mod ledger;
mod loose;
mod rebuild;
pub mod root;
pub mod session;
mod upkeep;

use crate::fs::Dir;
use std::io;

/// The folder of this room, below a workspace root.
pub const FOLDER: &str = ".project/.cache/activity";

/// How deep subfolders of records are followed: a card that the guard does not see is none for anybody.
pub const DEEPEST: usize = 16;

/// Opens the activity folder of a root for reading.
pub fn open(root: &Dir) -> io::Result<Dir> {
    root.below(FOLDER)
}

/// Opens the activity folder of a root and makes what is missing of it.
pub fn make(root: &Dir) -> io::Result<Dir> {
    root.make(FOLDER)
}
