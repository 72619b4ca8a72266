//! The board's share of every card mutation.

use super::board::{Board, Claim, cards_mtime};
use super::claim::session_of;
use super::rebuild::{is_same, remembered};
use super::session;
use crate::clock;
use crate::fs::{Dir, Lock, Purpose, Step};
use std::path::Path;

/// The folder of the board's lock, below a root. The hooks' files do not move with the configuration, nor does this.
const LOCKS: &str = ".project/.cache/locks";
const LOCK: &str = "board.lock";
const PURPOSE: Purpose<'_> = Purpose::Record { module: "cards", id: "board" };

/// What a mutation did to a card, as far as the board is concerned.
#[derive(Clone, Debug)]
pub enum Change {
    /// The card is claimed and one of holder, time, status, title or scope changed. A `session` of `None` is looked up.
    Claimed(Claim),
    /// The claimed card had this id before. It has the session of its claim, whoever renumbered it.
    Renumbered(String, Claim),
    /// The card is not claimed any more, or gone.
    Unclaimed(String),
    /// Nothing that the board shows.
    Unseen,
}

/// Keeps the board in step with one mutation: [`Upkeep::begin`] before the record is written, [`Upkeep::saw`] at each step
/// of the write, [`Upkeep::finish`] after it, all inside the record's lock.
///
/// The folder's time may only be moved on when nobody else changed a card meanwhile: a `git checkout` tells no board, and
/// what it brings would stay unseen. So the folder is looked at around each change of our own; of the long wait for the
/// disk between them nothing is taken on trust. `locks/board.lock` is held all the while: other mutations wait, and of two
/// at once neither vouches on the board for the other's card.
#[derive(Debug)]
pub struct Upkeep {
    /// `None` when somebody would not let go of it. The board is left then to its next reader, who finds that the folder's
    /// time has moved.
    lock: Option<Lock>,
    folder: Option<Dir>,
    before: Option<i64>,
    begun: Option<i64>,
    flushed: Option<i64>,
    after: Option<i64>,
}

impl Upkeep {
    /// Waits for the lock and samples the folder of cards.
    pub fn begin(root: &Path) -> Self {
        let lock = Lock::take(root, LOCKS, LOCK, PURPOSE).ok();
        let folder = open(root);
        let before = folder.as_ref().and_then(cards_mtime);
        Self { lock, folder, before, begun: None, flushed: None, after: None }
    }

    /// Samples it again at a step of the write.
    pub fn saw(&mut self, step: Step) {
        let sample = match step {
            Step::Begun => &mut self.begun,
            Step::Flushed => &mut self.flushed,
            Step::Placed => &mut self.after,
        };
        *sample = self.folder.as_ref().and_then(cards_mtime);
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
        let root = self.folder.as_ref()?;
        let activity = super::make(root).ok()?;
        // Whatever else stands in the board's place is replaced.
        let known = Board::read(&activity).ok().flatten();
        let mut board = known.as_ref().map(|(board, _)| board.clone()).unwrap_or_default();
        match change {
            Change::Claimed(mut claim) => {
                if claim.session.is_none() {
                    claim.session = remembered(&board.claims, &claim).or_else(|| looked_up(root, &claim));
                }
                board.claims.retain(|other| other.id != claim.id);
                add(&mut board, claim);
            }
            Change::Renumbered(from, mut claim) => {
                let to = std::mem::replace(&mut claim.id, from);
                claim.session = remembered(&board.claims, &claim).or_else(|| looked_up(root, &claim));
                // Another card may have the old id, and a claim of its own.
                board.claims.retain(|other| !is_same(other, &claim));
                claim.id = to;
                add(&mut board, claim);
            }
            Change::Unclaimed(id) => board.claims.retain(|other| other.id != id),
            Change::Unseen if known.is_none() => return None,
            Change::Unseen => {}
        }
        let alone = self.begun.is_some() && self.begun == self.flushed;
        if alone && board.cards_mtime_ns.is_some() && board.cards_mtime_ns == self.before {
            board.cards_mtime_ns = self.after;
        }
        board.built_at = clock::now().timestamp();
        board.store(&activity, known.as_ref()).ok().map(|_| ())
    }
}

fn add(board: &mut Board, mut claim: Claim) {
    claim.limit();
    board.claims.push(claim);
    board.claims.sort_by(|a, b| a.id.cmp(&b.id));
}

/// The session behind a claim, from the session files.
fn looked_up(root: &Dir, claim: &Claim) -> Option<String> {
    session_of(claim.held(), &claim.claimed_by, &session::of(root))
}

fn open(root: &Path) -> Option<Dir> {
    Dir::open(root.to_str()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activity::board::{Effort, current};
    use std::time::{Duration, Instant};

    const OLD: i64 = 1_700_000_000;

    /// Writes one card while `meanwhile` happens between two steps; whether the board passes for fresh afterwards.
    fn is_fresh_after(meanwhile: impl FnOnce(&Path)) -> bool {
        let keep = tempfile::tempdir().unwrap();
        let cards = keep.path().join(".project/cards");
        std::fs::create_dir_all(&cards).unwrap();
        filetime::set_file_mtime(&cards, filetime::FileTime::from_unix_time(OLD, 0)).unwrap();
        let root = open(keep.path()).unwrap();
        let effort = Effort { until: Instant::now() + Duration::from_secs(60), most_cards: None };
        current(&root, effort, clock::now()).unwrap();

        let touch = |name: &str, seconds: i64| {
            std::fs::write(cards.join(name), "x").unwrap();
            filetime::set_file_mtime(&cards, filetime::FileTime::from_unix_time(OLD + seconds, 0)).unwrap();
        };
        let mut upkeep = Upkeep::begin(keep.path());
        touch("temporary", 1);
        upkeep.saw(Step::Begun);
        meanwhile(&cards);
        upkeep.saw(Step::Flushed);
        touch("T-1.md", 3);
        upkeep.saw(Step::Placed);
        upkeep.finish(Change::Unclaimed("T-1".to_owned()), || ());
        let (board, _) = Board::read(&super::super::open(&root).unwrap()).unwrap().unwrap();
        board.cards_mtime_ns.is_some() && board.cards_mtime_ns == cards_mtime(&root)
    }

    #[test]
    fn the_lock_is_held_from_before_the_write_until_after_the_look_around() {
        let root = tempfile::tempdir().unwrap();
        let is_free = || Lock::try_take(root.path(), LOCKS, LOCK, PURPOSE).unwrap().is_some();
        let upkeep = Upkeep::begin(root.path());
        assert!(!is_free());
        assert!(upkeep.finish(Change::Unseen, || !is_free()));
        assert!(is_free());
        drop(Upkeep::begin(root.path()));
        assert!(is_free(), "a mutation that was refused gives it back");
    }

    #[test]
    fn a_mutation_keeps_the_board_fresh_only_when_it_was_alone() {
        assert!(is_fresh_after(|_| ()));
        let checkout = |cards: &Path| {
            std::fs::write(cards.join("T-2.md"), "x").unwrap();
            filetime::set_file_mtime(cards, filetime::FileTime::from_unix_time(OLD + 2, 0)).unwrap();
        };
        assert!(!is_fresh_after(checkout), "what somebody else brought would stay unseen");
    }
}
