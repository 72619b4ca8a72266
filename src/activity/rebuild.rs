//! The board from the cards themselves: one look at each card, one short read of those that changed.

use super::DEEPEST;
use super::board::{Aliases, Board, CARDS, Claim, LISTS};
use super::claim::session_of;
use super::heads::{Heads, Known};
use super::session::Session;
use crate::clock::Time;
use crate::fs::{Dir, Entry, Kind, Stat, read_more};
use crate::path::trim;
use crate::record::{Head, Header, Mention, head_mentions, read_head};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::time::Instant;

/// Enough for almost every header.
const HEAD: usize = 4 * 1024;
/// A header that does not end within this counts as absent.
const HEAD_CAP: u64 = 64 * 1024;
/// A folder changed less than this ago may change again without its time moving, in milliseconds.
const TICK_MS: i64 = 20;

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
/// `known` are the claims of the board so far: it knows sessions that cards do not. `heads` is told what was found.
pub(super) fn rebuild(
    root: &Dir,
    known: &[Claim],
    aliases: Aliases,
    sessions: &[Session],
    heads: &mut Heads,
    bound: Bound,
    now: Time,
) -> io::Result<Option<Board>> {
    let mut board = Board { built_at: now.timestamp(), aliases, ..Board::default() };
    let mut found = Vec::new();
    // No folder, or a link in its place: no cards.
    if let Ok(cards) = root.below(CARDS) {
        let sampled = cards.stat_self()?.mtime_ns;
        let system = Time::system();
        let now_ns = system.ms().saturating_mul(1_000_000);
        let mut bytes = Vec::new();
        let mut each = |dir: &Dir, entry: &Entry<'_>, path: &[u8]| {
            let claim = look(dir, entry, path, heads, &mut bytes, now_ns);
            found.extend(claim.map(|claim| Found { path: path.to_owned(), claim }));
            ControlFlow::Continue(())
        };
        if !walk(&cards, bound, &mut 0, &mut each)? {
            return Ok(None);
        }
        let age_ms = system.ms() - sampled / 1_000_000;
        board.cards_mtime_ns = (age_ms >= TICK_MS).then_some(sampled);
    }
    // Folders are listed in no order: of two cards with one id, the first by path comes first.
    found.sort_unstable_by(|a, b| (&a.claim.id, &a.path).cmp(&(&b.claim.id, &b.path)));
    board.claims = found.into_iter().map(|found| found.claim).collect();
    for claim in &mut board.claims {
        claim.session =
            remembered(known, claim).or_else(|| session_of(claim.held(), &claim.claimed_by, sessions));
    }
    Ok(Some(board))
}

/// Whether every card is as `heads` knows it and there are `cards` of them; nothing is opened. An error when the time ran
/// out.
pub(super) fn is_unchanged(root: &Dir, heads: &mut Heads, cards: u64, until: Instant) -> io::Result<bool> {
    let Ok(folder) = root.below(CARDS) else { return Ok(false) };
    let mut same = 0;
    let mut look = |entry: &Entry<'_>, path: &[u8]| {
        let known = entry.stat().is_ok_and(|stat| heads.is_same(path, &stat));
        same += u64::from(known);
        if known { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let whole = walk(&folder, Bound { until, most: None }, &mut 0, &mut |_, entry, path| look(entry, path))?;
    Ok(whole && same == cards)
}

/// The session of the same claim among the claims of the board before, which are in order.
pub(super) fn remembered(claims: &[Claim], claim: &Claim) -> Option<String> {
    let first = claims.partition_point(|other| other.id < claim.id);
    let same = claims[first..].iter().take_while(|other| other.id == claim.id);
    let mut same = same.filter(|other| is_same(other, claim));
    same.find_map(|other| other.session.clone())
}

/// Whether two entries are about one claim: of one card, by one holder, made at one time.
pub(super) fn is_same(one: &Claim, other: &Claim) -> bool {
    one.id == other.id && one.claimed_by == other.claimed_by && one.claimed_at == other.claimed_at
}

/// A claim, and the card that states it.
struct Found {
    path: Vec<u8>,
    claim: Claim,
}

/// What is done with a card: the folder it is in, its entry, and its path below the folder of cards.
type Each<'a> = dyn FnMut(&Dir, &Entry<'_>, &[u8]) -> ControlFlow<()> + 'a;

/// Hands every card below the folder of cards to `each`, which may end it. `false` when it was ended, or when the
/// top has too many entries. `seen` counts entries.
fn walk(cards: &Dir, bound: Bound, seen: &mut usize, each: &mut Each<'_>) -> io::Result<bool> {
    walk_below(cards, &mut Vec::new(), 0, bound, seen, each)
}

/// [`walk`] of one folder and its subfolders; `prefix` is its path with a `/` behind it.
fn walk_below(
    dir: &Dir,
    prefix: &mut Vec<u8>,
    depth: usize,
    bound: Bound,
    seen: &mut usize,
    each: &mut Each<'_>,
) -> io::Result<bool> {
    let top = depth == 0;
    let mut folders: Vec<OsString> = Vec::new();
    let mut whole = Ok(true);
    dir.list(|entry| {
        *seen += 1;
        if top && bound.most.is_some_and(|most| *seen > most) {
            whole = Ok(false);
            return ControlFlow::Break(());
        }
        if seen.is_multiple_of(64) && Instant::now() > bound.until {
            whole = Err(io::Error::new(io::ErrorKind::TimedOut, "too many cards for the time there is"));
            return ControlFlow::Break(());
        }
        let bytes = entry.name().as_encoded_bytes();
        match entry.kind() {
            Kind::File if bytes.ends_with(b".md") => {
                let flow = if top {
                    each(dir, entry, bytes)
                } else {
                    let length = prefix.len();
                    prefix.extend_from_slice(bytes);
                    let flow = each(dir, entry, prefix);
                    prefix.truncate(length);
                    flow
                };
                if flow.is_break() {
                    whole = Ok(false);
                }
                return flow;
            }
            Kind::Dir if !bytes.starts_with(b".") && (!top || bytes != b"archive") => {
                folders.push(entry.name().to_owned());
            }
            _ => {}
        }
        ControlFlow::Continue(())
    })?;
    if !whole? {
        return Ok(false);
    }
    folders.sort_unstable();
    for name in folders {
        if depth < DEEPEST
            && let Ok(folder) = dir.enter(&name)
        {
            let length = prefix.len();
            prefix.extend_from_slice(name.as_encoded_bytes());
            prefix.push(b'/');
            let whole = walk_below(&folder, prefix, depth + 1, bound, seen, each)?;
            prefix.truncate(length);
            if !whole {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// The claim of one card, if it states one. A card that cannot be looked at or read costs itself alone.
fn look(
    dir: &Dir,
    entry: &Entry<'_>,
    path: &[u8],
    heads: &mut Heads,
    bytes: &mut Vec<u8>,
    now_ns: i64,
) -> Option<Claim> {
    if !heads.is_empty()
        && let Known::Same(claim) = heads.find(path, &entry.stat().ok()?)
    {
        return claim;
    }
    let (stat, claim) = read(dir, entry.name().to_str()?, bytes)?;
    heads.keep(path, &stat, claim.as_ref(), now_ns);
    claim
}

/// What a card's file is and the claim it states; `None` when it cannot be read. Most cards are nobody's: of those no
/// more is read than that they are.
fn read(dir: &Dir, name: &str, bytes: &mut Vec<u8>) -> Option<(Stat, Option<Claim>)> {
    let (file, stat) = dir.open_file(name).ok()?;
    bytes.clear();
    bytes.reserve(HEAD);
    read_until(&file, bytes, stat.size.min(HEAD as u64))?;
    let mut mention = head_mentions(bytes, HOLDER);
    if mention == Mention::Unfinished && stat.size > HEAD as u64 {
        let size = stat.size.min(HEAD_CAP);
        bytes.reserve((size as usize).saturating_sub(bytes.len()));
        read_until(&file, bytes, size)?;
        mention = head_mentions(bytes, HOLDER);
    }
    if mention == Mention::Unfinished {
        // The last line of a file need not end.
        bytes.push(b'\n');
        mention = head_mentions(bytes, HOLDER);
    }
    if mention != Mention::Yes {
        return Some((stat, None));
    }
    match read_head(bytes, &LISTS) {
        Head::Header(header) => Some((stat, claim(&header))),
        Head::Unfinished | Head::NotARecord(_) => Some((stat, None)),
    }
}

/// Reads on until `bytes` holds `size`, or the file ends.
fn read_until(file: &File, bytes: &mut Vec<u8>, size: u64) -> Option<()> {
    while (bytes.len() as u64) < size && read_more(file, bytes).ok()? > 0 {}
    Some(())
}

/// The key that makes a card somebody's.
const HOLDER: &str = "claimed_by";

/// The claim that a card's header states.
fn claim(header: &Header) -> Option<Claim> {
    let text = |key: &str| header.text(key).filter(|text| !trim(text).is_empty()).map(str::to_owned);
    let mut claim = Claim {
        id: text("id")?,
        claimed_by: text(HOLDER)?,
        title: text("title"),
        status: text("status"),
        claimed_at: text("claimed_at"),
        session: None,
        scope: header.list("scope"),
    };
    claim.limit();
    Some(claim)
}
