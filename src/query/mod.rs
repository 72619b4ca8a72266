//! Questions about records: which there are, which match, who names whom, what can be started, what belongs together.
//!
//! A request is a struct and an answer is a value; whoever asks says how they come in and go out.

pub mod context;
mod entry;
mod expression;
pub mod graph;
mod index;
pub mod list;
mod markdown;
pub mod next;
mod pattern;
mod reference;
mod score;
pub mod search;
pub mod view;
mod word;

pub use entry::{Entry, Kind};
pub use index::Index;
pub use view::{Shower, View};
