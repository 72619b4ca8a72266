//! The board: every claim of a workspace in one file, and what keeps it true.
//!
//! `board.json` is fresh while the modification time of `.project/cards` is the one it was built from; whoever finds it
//! stale rebuilds it from the cards. `board.idx` holds the same for the one question that is asked before every edit.

use super::heads::Heads;
pub use super::heads::Outline;
use super::index::{self, Asked};
use super::loose;
use super::rebuild::{Bound, is_unchanged, rebuild};
use super::{FOLDER, session};
use crate::clock::Time;
use crate::fs::{Dir, Kind, Stat};
use serde::Serialize;
use std::io;
use std::path::Path;
use std::time::Instant;

use super::claim::Held;
pub use super::claim::Me;
pub use super::upkeep::{Change, Upkeep};

/// The board's file, in the activity folder.
pub(super) const FILE: &str = "board.json";
/// Where the hooks look for cards, below a root.
pub(super) const CARDS: &str = ".project/cards";
/// Keys of a card whose value is a list however it is written.
pub const LISTS: [&str; 5] = ["tags", "depends", "scope", "related", "origin"];
/// A longer board counts as absent.
const CAP: u64 = 1024 * 1024;
/// What a reader takes of a board.
pub(super) const CLAIMS: usize = 2000;
const ENTRIES: usize = 256;
const ALIAS_KEYS: usize = 64;
const ALIAS_VALUES: usize = 8;

/// One claimed card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
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

impl Claim {
    /// Drops what no reader takes of a scope. Writers do the same, or an answer would depend on who read the cards last.
    pub(super) fn limit(&mut self) {
        self.scope.retain(|entry| entry.len() <= crate::scope::ENTRY_BYTES);
        self.scope.truncate(ENTRIES);
    }

    /// What the claim is judged by.
    pub fn held(&self) -> Held<'_> {
        Held {
            id: &self.id,
            by: Some(&self.claimed_by),
            at: self.claimed_at.as_deref(),
            session: self.session.as_deref(),
        }
    }

    /// Whether the claim guards anything now.
    pub fn is_doing(&self) -> bool {
        self.status.as_deref() == Some("doing")
    }
}

/// Every claim of a workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Board {
    /// When it was built, as written.
    pub built_at: String,
    /// The modification time of `.project/cards` that it was built from, in nanoseconds.
    pub cards_mtime_ns: Option<i64>,
    /// The claims, by id.
    pub claims: Vec<Claim>,
    /// Which sessions continue others.
    pub aliases: Aliases,
}

/// The discriminators that a session continues, by its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aliases(pub(super) Vec<(String, Vec<String>)>);

impl Aliases {
    /// Whether no session continues another.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The discriminators that the session `me` continues.
    pub fn of(&self, me: Option<&str>) -> &[String] {
        self.0.iter().find(|(key, _)| Some(key.as_str()) == me).map_or(&[], |(_, values)| values)
    }

    /// Notes that `me` continues `earlier` and whatever that one continued.
    pub fn continue_from(&mut self, me: &str, earlier: &str) {
        let mut values = vec![earlier.to_owned()];
        values.extend(self.of(Some(earlier)).iter().filter(|value| value.as_str() != me).cloned());
        values.truncate(ALIAS_VALUES);
        self.0.retain(|(key, _)| key != me);
        self.0.push((me.to_owned(), values));
        let extra = self.0.len().saturating_sub(ALIAS_KEYS);
        self.0.drain(..extra);
    }
}

impl Board {
    /// The claims in `doing` that are not `me`'s.
    pub fn foreign<'a>(&'a self, me: &'a Me) -> impl Iterator<Item = &'a Claim> {
        let continued = self.aliases.of(me.disc());
        self.claims.iter().filter(move |claim| {
            claim.is_doing() && !me.holds(claim.session.as_deref(), &claim.claimed_by, continued)
        })
    }

    /// Reads a board's text; `None` when it is not one. An entry that cannot be read costs itself alone.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let found: loose::Board = serde_json::from_slice(bytes).ok()?;
        let mut claims = found.claims.0?;
        for claim in &mut claims {
            claim.limit();
        }
        // Other tools need not keep the order.
        claims.sort_by(|a, b| a.id.cmp(&b.id));
        let mut aliases = found.aliases.0.0;
        aliases.truncate(ALIAS_KEYS);
        for (_, values) in &mut aliases {
            values.truncate(ALIAS_VALUES);
        }
        let cards_mtime_ns = found.cards_mtime_ns.0.and_then(|text| text.parse().ok());
        let built_at = found.built_at.0.unwrap_or_default();
        Some(Self { built_at, cards_mtime_ns, claims, aliases: Aliases(aliases) })
    }

    fn text(&self) -> io::Result<Vec<u8>> {
        let aliases = (!self.aliases.0.is_empty()).then_some(Pairs(&self.aliases.0));
        let written = Written {
            v: 1,
            built_at: &self.built_at,
            cards_mtime_ns: self.cards_mtime_ns.map(|ns| ns.to_string()),
            claims: &self.claims,
            aliases,
        };
        let mut text = serde_json::to_vec(&written)?;
        text.push(b'\n');
        Ok(text)
    }

    /// Reads the board as it is on disk, fresh or not, and what its file was. `None` when there is none or it is damaged; an
    /// error when something else stands in its place.
    pub(super) fn read(activity: &Dir) -> io::Result<Option<(Self, Stat)>> {
        match activity.read_and_stat(FILE, CAP) {
            Ok((bytes, stat)) => Ok(Self::parse(&bytes).map(|board| (board, stat))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(about(FILE, &error)),
        }
    }

    /// Writes board and index, unless nothing but the time of building differs from `before`. The answer is what the file
    /// of this board is.
    pub(super) fn store(&self, activity: &Dir, before: Option<&(Self, Stat)>) -> io::Result<Stat> {
        if let Some((before, stat)) = before
            && before.cards_mtime_ns == self.cards_mtime_ns
            && before.claims == self.claims
            && before.aliases == self.aliases
        {
            return Ok(*stat);
        }
        let stat = activity.replace_and_stat(FILE, &self.text()?)?;
        index::write(activity, self, &stat)?;
        Ok(stat)
    }
}

/// The modification time of the folder of cards; `None` when there is no such folder.
pub(super) fn cards_mtime(root: &Dir) -> Option<i64> {
    root.stat(CARDS).ok().filter(|stat| stat.kind == Kind::Dir).map(|stat| stat.mtime_ns)
}

/// How much a reader may do about a stale board.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Give up after this moment.
    pub until: Instant,
    /// Use a stale board as it is when the folder has more cards than this.
    pub most_cards: Option<usize>,
}

/// A board, and what kept it from being read or written. It is right all the same.
#[derive(Debug)]
pub struct Told {
    /// The board.
    pub board: Board,
    /// Why a file could not be used, when that happened.
    pub trouble: Option<io::Error>,
}

/// The board as it is true now, read when fresh and rebuilt when not. An error when the time ran out.
pub fn current(root: &Dir, effort: Effort, now: Time) -> io::Result<Told> {
    let found = Found::on_disk(root);
    match found.board {
        Some((board, _)) if board.cards_mtime_ns.is_some() && board.cards_mtime_ns == cards_mtime(root) => {
            Ok(Told { board, trouble: None })
        }
        _ => found.rebuilt(root, effort, now, |_| ()),
    }
}

/// Rebuilds the board, whether it is stale or not; `extra` may add to the aliases. An error when the time ran
/// out.
pub fn renewed(root: &Dir, effort: Effort, now: Time, extra: impl FnOnce(&mut Aliases)) -> io::Result<Told> {
    Found::on_disk(root).rebuilt(root, effort, now, extra)
}

/// The outline of the board, when neither it nor any card has changed since it was written: one look at each card and no
/// reading. `None` when anything has, or cannot be told.
pub fn unchanged(root: &Dir, until: Instant) -> Option<Outline> {
    let activity = super::open(root).ok()?;
    let mut heads = Heads::read(Some(&activity));
    let (cards, outline) = heads.outline(&activity.stat(FILE).ok()?, cards_mtime(root)?)?;
    is_unchanged(root, &mut heads, cards, until).is_ok_and(|same| same).then_some(outline)
}

/// What there is before a rebuild.
struct Found {
    activity: Option<Dir>,
    board: Option<(Board, Stat)>,
    trouble: Option<io::Error>,
}

impl Found {
    fn on_disk(root: &Dir) -> Self {
        // A folder that is not there yet is made when writing; a link in its place is never passed.
        match super::open(root) {
            Ok(activity) => {
                let (board, trouble) = match Board::read(&activity) {
                    Ok(board) => (board, None),
                    Err(error) => (None, Some(error)),
                };
                Self { activity: Some(activity), board, trouble }
            }
            Err(error) => {
                let trouble = (error.kind() != io::ErrorKind::NotFound).then(|| about("", &error));
                Self { activity: None, board: None, trouble }
            }
        }
    }

    fn rebuilt(
        self,
        root: &Dir,
        effort: Effort,
        now: Time,
        extra: impl FnOnce(&mut Aliases),
    ) -> io::Result<Told> {
        let Self { activity, board: before, mut trouble } = self;
        let sessions = session::of(root);
        let bound = Bound { until: effort.until, most: effort.most_cards.filter(|_| before.is_some()) };
        let known = before.as_ref().map_or(&[][..], |(before, _)| &before.claims);
        let mut aliases = before.as_ref().map(|(before, _)| before.aliases.clone()).unwrap_or_default();
        extra(&mut aliases);
        let mut heads = Heads::read(activity.as_ref());
        let Some(board) = rebuild(root, known, aliases, &sessions, &mut heads, bound, now)? else {
            return Ok(Told { board: before.map(|(before, _)| before).unwrap_or_default(), trouble });
        };
        let folder = activity.map_or_else(|| super::make(root), Ok);
        let written = folder.and_then(|activity| {
            let stat = board.store(&activity, before.as_ref())?;
            heads.store(&activity, &board, &stat)
        });
        if let Err(error) = written {
            trouble.get_or_insert_with(|| about(FILE, &error));
        }
        Ok(Told { board, trouble })
    }
}

/// An error that names the file of this room it is about.
fn about(file: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{FOLDER}/{file}: {error}"))
}

/// The claims that the board on disk has, fresh or not: of some it knows the session, which no card names.
#[derive(Debug)]
pub struct Known(Vec<Claim>);

impl Known {
    /// What is on disk now; nothing when that cannot be read.
    pub fn of(root: &Path) -> Self {
        let root = root.to_str().and_then(|root| Dir::open(root).ok());
        let activity = root.and_then(|root| super::open(&root).ok());
        let board = activity.and_then(|activity| Board::read(&activity).ok().flatten());
        Self(board.map(|(board, _)| board.claims).unwrap_or_default())
    }

    /// The session behind a claim.
    pub fn session(&self, claim: Held<'_>) -> Option<String> {
        let is_it = |known: &&Claim| {
            let known = known.held();
            (known.id, known.by, known.at) == (claim.id, claim.by, claim.at)
        };
        self.0.iter().filter(is_it).find_map(|known| known.session.clone())
    }
}

/// What stands in the way of editing a path.
#[derive(Debug)]
pub enum Guard {
    /// Nobody else holds it.
    Clear,
    /// Somebody does, or it cannot be told from the index: the board has the answer.
    Look,
}

/// Asks the index whether any foreign claim covers `path`. It answers [`Guard::Look`] whenever it is not exactly about
/// the board that is on disk, or the board is stale.
///
/// The index is read through `window`, whatever room that has.
pub fn ask_index(root: &Dir, path: &str, me: &Me, window: &mut Vec<u8>) -> Guard {
    let clear = index::is_clear(root, &Asked { path, me }, window);
    if clear == Some(true) { Guard::Clear } else { Guard::Look }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Written<'a> {
    v: u8,
    built_at: &'a str,
    cards_mtime_ns: Option<String>,
    claims: &'a [Claim],
    #[serde(skip_serializing_if = "Option::is_none")]
    aliases: Option<Pairs<'a>>,
}

struct Pairs<'a>(&'a [(String, Vec<String>)]);

impl Serialize for Pairs<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, values)| (key, values)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_entry_costs_itself_alone() {
        let text = br#"{"claims":[{"id":"T-1","claimedBy":"a","status":"doing","scope":"src","title":["x"]},7,{"id":5,"claimedBy":"b"},
            {"id":"T-2","claimedBy":"b","title":null,"scope":["x",3,"y"],"more":{}}],"aliases":{"a":["b",1],"c":{}},"z":1}"#;
        let board = Board::parse(text).unwrap();
        assert_eq!(board.claims.len(), 2);
        assert_eq!(board.claims[0].scope, ["src"]);
        assert_eq!(board.claims[1].scope, ["x", "y"]);
        assert_eq!(board.aliases.of(Some("a")), ["b"]);
        assert_eq!(board.cards_mtime_ns, None);
        assert_eq!(Board::parse(b"{"), None);
        assert_eq!(Board::parse(b"[]"), None);
        assert_eq!(Board::parse(br#"{"claims":{}}"#), None);
    }

    #[test]
    fn what_is_written_is_read_back() {
        let mut board = Board { built_at: "now".into(), cards_mtime_ns: Some(17), ..Board::default() };
        board.aliases.continue_from("b", "a");
        board.aliases.continue_from("c", "b");
        assert_eq!(board.aliases.of(Some("c")), ["b", "a"]);
        assert_eq!(Board::parse(&board.text().unwrap()), Some(board));
    }

    #[test]
    fn aliases_are_bounded() {
        let mut board = Board::default();
        for number in 0..100 {
            board.aliases.continue_from(&format!("s{}", number + 1), &format!("s{number}"));
        }
        assert_eq!(board.aliases.0.len(), ALIAS_KEYS);
        assert_eq!(board.aliases.of(Some("s100")).len(), ALIAS_VALUES);
        assert_eq!(board.aliases.of(Some("s100"))[0], "s99");
    }
}
