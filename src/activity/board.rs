//! The board: every claim of a workspace in one file.
use std::path::Path;

/// One claimed card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The card's id.
    pub id: String,
    /// Its title.
    pub title: Option<String>,
    /// Its status.
    pub status: Option<String>,
    /// Who holds it.
    pub claimed_by: String,
    /// Since when, as the card says it.
    pub claimed_at: Option<String>,
    /// The discriminator of the holder's session.
    pub session: Option<String>,
    /// What the work will change.
    pub scope: Vec<String>,
}

/// What a mutation did to a card, as far as the board is concerned.
#[derive(Clone, Debug)]
pub enum Change {
    /// The card is claimed and one of holder, time, status, title or scope changed. A `session` of `None` is looked up.
    Claimed(Claim),
    /// The card is not claimed any more, or gone.
    Unclaimed(String),
    /// Nothing that the board shows.
    Unseen,
}

/// Keeps the board in step with one mutation: [`Upkeep::begin`] just before the record is renamed into place,
/// [`Upkeep::finish`] just after, both inside the record's lock.
#[derive(Debug)]
pub struct Upkeep;

impl Upkeep {
    /// Samples the cards folder.
    pub fn begin(_root: &Path) -> Self {
        todo!()
    }
    /// Writes the change under `locks/board.lock` and runs `look` while it is held, so that of two claims made at once
    /// one sees the other. The record is on disk already: a board that cannot be written is left to its next reader.
    pub fn finish<T>(self, _change: Change, _look: impl FnOnce() -> T) -> T {
        todo!()
    }
}
