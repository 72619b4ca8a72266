//! Cards: fields, loading, validation, mutations, claims, gates, verify.
//!
//! A card is a record under `.project/cards`; its header says what the work is, who holds it and what it will change.
//! Every mutation has one shape, held by one function: take the card's lock, list the cards, read this one again,
//! compare the revision, ask the guards, build the candidate, validate the whole of it, write it, tell the board.
//! Whoever is refused leaves every byte as it was.

pub mod acceptance;
pub mod archive;
pub mod card;
pub mod claim;
pub mod create;
pub mod criteria;
pub mod diagnose;
pub mod fields;
pub mod git;
pub mod load;
pub mod note;
pub mod patch;
pub mod reap;
pub mod refusal;
pub mod release;
pub mod renumber;
pub mod repair;
pub mod standing;
pub mod sweep;
pub mod trail;
pub mod transition;
pub mod verified;
pub mod verify;
pub mod verify_block;
pub mod write;

mod guard;
mod hierarchy;
mod input;
mod interrupt;
mod mutate;
mod plan;
mod process;
pub mod references;
mod renamed;
mod validate;
mod way;

pub use card::{Card, Place};
pub use guard::{Force, Waiver, accepted_methods};
pub use load::{Listing, Unreadable};
pub use mutate::{Caller, Target};
pub use verified::Proof;

#[cfg(test)]
mod testing {
    //! Cards and settings of unit tests.

    use super::{Card, Place};
    use crate::workspace::Cards;

    /// One area, one axis, one verify command.
    pub(super) fn settings() -> Cards {
        Cards {
            enabled: true,
            areas: vec!["core".to_owned()],
            axes: vec![("context".to_owned(), vec!["billing".to_owned(), "berths".to_owned()])],
            verify_commands: vec![vec!["make".to_owned(), "check".to_owned()]],
            methods: Vec::new(),
            verify_timeout: 600,
            id_prefix: "T".to_owned(),
            max_hierarchy_depth: 2,
            claim_lease_hours: 24.0,
            activity_trail: true,
        }
    }

    /// A card with these header lines behind its id.
    pub(super) fn card(id: &str, header: &str) -> Card {
        let text = format!("---\nid: {id}\n{header}\n---\n\nBody.\n");
        Card::parse(format!("{id}-x.md"), Place::Live, text).unwrap()
    }
}
