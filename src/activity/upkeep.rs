//! The board's share of every card mutation.

use super::board::{Board, Claim, cards_mtime};
use super::claim::{Held, session_of};
use super::rebuild::remembered;
use super::session;
use crate::clock;
use crate::fs::{Dir, Lock, Purpose};
use std::path::{Path, PathBuf};

/// The folder of the board's lock, below a root. The hooks' files do not move with the configuration, nor does this.
const LOCKS: &str = ".project/.cache/locks";

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
pub struct Upkeep {
    root: PathBuf,
    before: Option<i64>,
}

impl Upkeep {
    /// Samples the folder of cards.
    pub fn begin(root: &Path) -> Self {
        let before = open(root).as_ref().and_then(cards_mtime);
        Self { root: root.to_owned(), before }
    }

    /// Writes the change under `locks/board.lock` and runs `look` while it is held, so that of two claims made at once
    /// one sees the other. The record is on disk already: a board that cannot be written is left to its next reader.
    pub fn finish<T>(self, change: Change, look: impl FnOnce() -> T) -> T {
        // Sampled before the wait for the lock: what others rename meanwhile is theirs to tell.
        let after = open(&self.root).as_ref().and_then(cards_mtime);
        // Without the lock the board still gets repaired: the folder's time has moved.
        let guard =
            Lock::take(&self.root, LOCKS, "board.lock", Purpose::Record { module: "cards", id: "board" });
        if guard.is_ok() {
            self.update(change, after);
        }
        let seen = look();
        drop(guard);
        seen
    }

    fn update(&self, change: Change, after: Option<i64>) -> Option<()> {
        let root = open(&self.root)?;
        let activity = super::make(&root).ok()?;
        // Whatever else stands in the board's place is replaced.
        let known = Board::read(&activity).ok().flatten();
        let mut board = known.clone().unwrap_or_default();
        match change {
            Change::Claimed(mut claim) => {
                if claim.session.is_none() {
                    claim.session = remembered(&board.claims, &claim).or_else(|| looked_up(&root, &claim));
                }
                board.claims.retain(|other| other.id != claim.id);
                board.claims.push(claim);
                board.claims.sort_by(|a, b| a.id.cmp(&b.id));
            }
            Change::Unclaimed(id) => board.claims.retain(|other| other.id != id),
            Change::Unseen if known.is_none() => return None,
            Change::Unseen => {}
        }
        if board.cards_mtime_ns.is_some() && board.cards_mtime_ns == self.before {
            board.cards_mtime_ns = after;
        }
        board.built_at = clock::now().timestamp();
        board.store(&activity, known.as_ref()).ok()
    }
}

/// The session behind a claim, from the session files.
fn looked_up(root: &Dir, claim: &Claim) -> Option<String> {
    let at = claim.claimed_at.as_deref();
    let held = Held { id: &claim.id, by: Some(&claim.claimed_by), at, session: None };
    session_of(held, &claim.claimed_by, &session::of(root))
}

fn open(root: &Path) -> Option<Dir> {
    Dir::open(root.to_str()?).ok()
}
