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
const LOCK: &str = "board.lock";

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
///
/// `locks/board.lock` is held in between. The folder's time after the rename is then that of this rename: of two at once
/// neither vouches on the board for the other's card.
#[derive(Debug)]
pub struct Upkeep {
    root: PathBuf,
    before: Option<i64>,
    /// `None` when somebody would not let go of it. The board is repaired then by who finds that the folder's time has
    /// moved.
    lock: Option<Lock>,
}

impl Upkeep {
    /// Waits for the lock and samples the folder of cards.
    pub fn begin(root: &Path) -> Self {
        let purpose = Purpose::Record { module: "cards", id: "board" };
        let lock = Lock::take(root, LOCKS, LOCK, purpose).ok();
        let before = open(root).as_ref().and_then(cards_mtime);
        Self { root: root.to_owned(), before, lock }
    }

    /// Writes the change and runs `look` while the lock is held, so that of two claims made at once one sees the other.
    /// The record is on disk already: a board that cannot be written is left to its next reader.
    pub fn finish<T>(self, change: Change, look: impl FnOnce() -> T) -> T {
        if self.lock.is_some() {
            self.update(change);
        }
        look()
    }

    fn update(&self, change: Change) -> Option<()> {
        let root = open(&self.root)?;
        let after = cards_mtime(&root);
        let activity = super::make(&root).ok()?;
        // Whatever else stands in the board's place is replaced.
        let known = Board::read(&activity).ok().flatten();
        let mut board = known.as_ref().map(|(board, _)| board.clone()).unwrap_or_default();
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
        board.store(&activity, known.as_ref()).ok().map(|_| ())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activity::board::CARDS;

    #[test]
    fn nobody_else_tells_the_board_between_the_rename_and_its_telling() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join(CARDS)).unwrap();
        let purpose = Purpose::Record { module: "cards", id: "board" };
        let is_free = || Lock::try_take(root.path(), LOCKS, LOCK, purpose).unwrap().is_some();
        let upkeep = Upkeep::begin(root.path());
        assert!(!is_free());
        assert!(upkeep.finish(Change::Unseen, || !is_free()), "held for the look around too");
        assert!(is_free());
        drop(Upkeep::begin(root.path()));
        assert!(is_free(), "a mutation that was refused gives it back");
    }
}
