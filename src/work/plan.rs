//! What a command wants done to a card: a value, made by the command and carried out by `mutate` alone.

use super::card::{Card, Place};
use super::fields::{DONE, is_open};
use super::input::Assignment;
use super::mutate::Caller;
use super::renamed::Renamed;
use super::verified::{self, Close};
use crate::clock::Time;
use crate::record::Header;

/// The heading of the trail.
pub(super) const ACTIVITY: &str = "## Activity";
/// The heading of the notes.
pub(super) const NOTES: &str = "## Notes";

/// What a command wants done to the card it was shown.
pub(super) struct Plan {
    /// Changes of the header, in order.
    pub(super) changes: Vec<Assignment>,
    /// The body text that replaces the card's, as it is to stand in the file; lines are added to it.
    pub(super) body_text: Option<String>,
    /// Lines of the body, in order.
    pub(super) lines: Vec<Line>,
    /// Whom the trail lines name.
    pub(super) signed: Option<String>,
    /// Where the card goes.
    pub(super) home: Home,
    /// An id that gets another name wherever the file has it.
    pub(super) renamed: Option<Renamed>,
    /// The close that the card is sealed with.
    pub(super) close: Option<Close>,
}

/// A line that is added to the body.
pub(super) enum Line {
    /// The text of a trail line.
    Trail(String),
    /// A whole line under a heading.
    Under(String, String),
}

/// Where a card goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Home {
    /// It stays where it is.
    Stay,
    /// Out of the archive, when the change leaves it open.
    LiveWhenOpen,
    /// Into the archive, under the same path.
    Archive,
    /// To another file of its folder.
    File(String),
}

impl Plan {
    /// Nothing yet, signed by the caller.
    pub(super) fn new(caller: &Caller, home: Home) -> Self {
        Self {
            changes: Vec::new(),
            body_text: None,
            lines: Vec::new(),
            signed: caller.actor().map(str::to_owned),
            home,
            renamed: None,
            close: None,
        }
    }

    /// Adds a trail line.
    pub(super) fn trail(&mut self, text: impl Into<String>) {
        self.lines.push(Line::Trail(text.into()));
    }

    /// Seals the card with a close; the evidence stands behind the trail.
    pub(super) fn close(&mut self, close: Option<Close>, caller: &Caller, now: Time) {
        let note = close.as_ref().and_then(|close| close.note(caller, now));
        self.lines.extend(note.map(|note| Line::Under(NOTES.to_owned(), note)));
        self.close = close;
    }

    /// Drops the `verified` block when the card leaves done.
    pub(super) fn leave(&mut self, from: Option<&str>, to: &str) {
        if from == Some(DONE) && to != DONE {
            self.changes.push(Assignment::clear(verified::KEY));
        }
    }

    /// The folder and the file that a card will be in.
    pub(super) fn placed(&self, before: &Card, after: &Header) -> (Place, String) {
        let open = after.text("status").is_none_or(is_open);
        let place = match &self.home {
            Home::LiveWhenOpen if before.is_archived() && open => Place::Live,
            Home::Archive => Place::Archive,
            _ => before.place,
        };
        let file = match &self.home {
            Home::File(file) => file.clone(),
            _ => before.file.clone(),
        };
        (place, file)
    }
}
