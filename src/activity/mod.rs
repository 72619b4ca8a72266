//! What is going on right now: roots, actors, session files, the board, the ledger.
//!
//! Everything here lies under `.project/.cache/activity`, is not versioned and can be deleted at any time.

pub mod actor;
pub mod board;
pub mod claim;
pub mod root;
pub mod session;
