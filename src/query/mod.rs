//! Questions about records: which can be started, which match.

pub mod list;
pub mod next;
pub mod row;
