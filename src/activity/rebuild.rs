//! The board from the cards themselves: one short read a card, whatever else is in the folder.

use super::board::{Board, CARDS, Claim};
use super::claim::{Held, session_of};
use super::session::Session;
use crate::clock::Time;
use crate::fs::{Dir, Kind};
use crate::record::{Head, Header, read_head};
use std::ffi::OsString;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::time::Instant;

/// The list keys that a claim is read from.
const LISTS: [&str; 5] = ["tags", "depends", "scope", "related", "origin"];
/// Enough for almost every header.
const HEAD: usize = 4 * 1024;
/// A header that does not end within this counts as absent.
const HEAD_CAP: u64 = 64 * 1024;
/// A folder changed less than this ago may change again without its time moving, in milliseconds.
const TICK_MS: i64 = 20;
/// How deep hand-made subfolders are followed.
const DEPTH: usize = 16;

/// What a rebuild may cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    /// Give up after this moment.
    pub(super) until: Instant,
    /// Do not start with more entries than this.
    pub(super) most: Option<usize>,
}

/// Builds a board; `None` when there are more cards than `bound` allows, an error when the time ran out.
///
/// `known` is the board so far: it knows sessions that cards do not, and aliases.
pub(super) fn rebuild(
    root: &Dir,
    known: &Board,
    sessions: &[Session],
    bound: Bound,
    now: Time,
) -> io::Result<Option<Board>> {
    let mut board = Board { built_at: now.timestamp(), aliases: known.aliases.clone(), ..Board::default() };
    // No folder, or a link in its place: no cards.
    if let Ok(cards) = root.below(CARDS) {
        let sampled = cards.stat_self()?.mtime_ns;
        if !collect(&cards, Place::Top, bound, 0, &mut board.claims)? {
            return Ok(None);
        }
        let age_ms = Time::system().ms() - sampled / 1_000_000;
        board.cards_mtime_ns = (age_ms >= TICK_MS).then_some(sampled);
    }
    for claim in &mut board.claims {
        claim.session = remembered(known, claim).or_else(|| {
            let held = Held {
                id: &claim.id,
                by: Some(&claim.claimed_by),
                at: claim.claimed_at.as_deref(),
                session: None,
            };
            session_of(held, &claim.claimed_by, sessions)
        });
    }
    board.claims.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(Some(board))
}

/// The session of the same claim on the board before.
pub(super) fn remembered(known: &Board, claim: &Claim) -> Option<String> {
    let claims = &known.claims;
    let same = |other: &&Claim| {
        other.id == claim.id
            && other.claimed_by == claim.claimed_by
            && other.claimed_at == claim.claimed_at
            && other.session.is_some()
    };
    let found = match claims.binary_search_by(|other| other.id.cmp(&claim.id)) {
        Ok(at) => claims.get(at).filter(same),
        Err(_) => None,
    };
    // Other tools need not keep the order, and one id may stand there twice.
    found.or_else(|| claims.iter().find(same))?.session.clone()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Top,
    Inside,
}

/// Adds the claims of one folder and its subfolders; `false` when the top has too many entries.
fn collect(dir: &Dir, place: Place, bound: Bound, depth: usize, claims: &mut Vec<Claim>) -> io::Result<bool> {
    let mut files: Vec<OsString> = Vec::new();
    let mut folders: Vec<OsString> = Vec::new();
    let mut seen = 0;
    dir.list(|name, kind| {
        seen += 1;
        let bytes = name.as_encoded_bytes();
        match kind {
            Kind::File if bytes.ends_with(b".md") => files.push(name.to_owned()),
            Kind::Dir if !bytes.starts_with(b".") && (place == Place::Inside || bytes != b"archive") => {
                folders.push(name.to_owned());
            }
            _ => {}
        }
        if bound.most.is_some_and(|most| seen > most) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    if bound.most.is_some_and(|most| seen > most) {
        return Ok(false);
    }
    files.sort_unstable();
    for (count, name) in files.iter().enumerate() {
        if count % 64 == 0 && Instant::now() > bound.until {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "too many cards for the time there is"));
        }
        // A card that cannot be opened or read costs itself alone.
        if let Some(header) = name.to_str().and_then(|name| head(dir, name)) {
            claims.extend(claim(&header));
        }
    }
    folders.sort_unstable();
    for name in folders {
        if depth < DEPTH
            && let Ok(folder) = dir.enter(&name)
        {
            let inner = Bound { most: None, ..bound };
            collect(&folder, Place::Inside, inner, depth + 1, claims)?;
        }
    }
    Ok(true)
}

/// The header of one card.
fn head(dir: &Dir, name: &str) -> Option<Header> {
    let (file, _) = dir.open_file(name).ok()?;
    let mut bytes = vec![0; HEAD];
    let mut filled = 0;
    let mut file = file.take(HEAD_CAP);
    while filled < bytes.len() {
        match file.read(&mut bytes[filled..]).ok()? {
            0 => break,
            read => filled += read,
        }
    }
    bytes.truncate(filled);
    if filled == HEAD && read_head(&bytes, &LISTS) == Head::Unfinished {
        file.read_to_end(&mut bytes).ok()?;
    }
    match read_head(&bytes, &LISTS) {
        Head::Header(header) => Some(header),
        Head::Unfinished | Head::NotARecord(_) => None,
    }
}

/// The claim that a card's header states.
fn claim(header: &Header) -> Option<Claim> {
    let text = |key: &str| header.text(key).filter(|text| !text.is_empty()).map(str::to_owned);
    Some(Claim {
        id: text("id")?,
        claimed_by: text("claimed_by")?,
        title: text("title"),
        status: text("status"),
        claimed_at: text("claimed_at"),
        session: None,
        scope: header.list("scope"),
    })
}
