//! What the heads of the cards said last time, so that a card that has not changed is not opened again.
//!
//! A card is known by its path and by inode, size, modification and change time together; the last one moves with every
//! change and no program can set it. What changed shortly before it was read may change again without its times moving
//! and is never taken from here. The file is this machine's own: a copy of it matches no inode.
//!
//! ```text
//! magic  checksum of the rest  length of the outline (8 bytes each)
//! per card, little endian: inode, size, mtime, ctime (8 bytes each), lengths of path and claim (2 bytes each), both
//! a claim is its texts: id, holder, title, status, time, session, then the scope; each its length (2 bytes, all ones for none)
//! and itself
//! the outline: inode, size, mtime of board.json, mtime of the folder, number of cards, number in doing (8 bytes each), then
//! the claims that a session is shown, each behind its length (4 bytes)
//! ```
//!
//! The outline is what a session's start says of a board, as long as neither board nor cards have changed.

use super::board::{Board, Claim};
use crate::fs::{Dir, Stat, checksum};
use std::ops::Range;

const FILE: &str = "heads.bin";
const MAGIC: &[u8; 8] = b"wfheads2";
/// Before the first card.
const LEAD: usize = 24;
/// A card's numbers and lengths.
const FIXED: usize = 36;
/// A longer file counts as absent.
const CAP: u64 = 64 * 1024 * 1024;
/// How many claims a session is shown.
const SHOWN: usize = 25;

/// The cards as they were, and as they are being found now.
pub(super) struct Heads {
    old: Vec<u8>,
    /// Where the cards of the old file end and the outline begins.
    end: usize,
    /// Where the next card of the old file is expected: folders are usually listed in one order.
    cursor: usize,
    /// The old cards by path, once they are not.
    sorted: Option<Vec<(Range<usize>, usize)>>,
    new: New,
}

/// What a session is shown of a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outline {
    /// How many claims are in doing.
    pub doing: usize,
    /// The first of them.
    pub shown: Vec<Claim>,
}

impl Outline {
    /// The outline of a board.
    pub fn of(board: &Board) -> Self {
        let doing = board.claims.iter().filter(|claim| claim.is_doing());
        Self { doing: doing.clone().count(), shown: doing.take(SHOWN).cloned().collect() }
    }
}

/// What is to be written.
enum New {
    /// So far just what was there, up to the cursor.
    AsBefore,
    /// Something else.
    Differs(Vec<u8>),
}

/// What is known of one card.
pub(super) enum Known {
    /// Its head has not changed: its claim, if it states one.
    Same(Option<Claim>),
    /// It has to be read.
    Unknown,
}

impl Heads {
    /// Reads what there is; anything that is not whole is nothing.
    pub(super) fn read(activity: Option<&Dir>) -> Self {
        let old = activity.and_then(|activity| activity.read(FILE, CAP).ok()).filter(|bytes| is_whole(bytes));
        let old = old.unwrap_or_else(|| sealed(blank(), &[]));
        let end = old.len() - number(&old, 16) as usize;
        Self { old, end, cursor: LEAD, sorted: None, new: New::AsBefore }
    }

    /// Whether nothing at all is known.
    pub(super) fn is_empty(&self) -> bool {
        self.end == LEAD
    }

    /// Where the claim of the card at `path` lies, when the card is as it was.
    fn same(&mut self, path: &[u8], stat: &Stat) -> Option<(usize, Range<usize>)> {
        let (at, then, claim) = self.position(path)?;
        (then == stat.numbers()).then_some((at, claim))
    }

    /// Whether the card at `path` is as it was; what follows is expected behind it.
    pub(super) fn is_same(&mut self, path: &[u8], stat: &Stat) -> bool {
        let found = self.same(path, stat);
        if let Some((_, claim)) = &found {
            self.cursor = claim.end;
        }
        found.is_some()
    }

    /// What is known of the card at `path`, of which `stat` is true now.
    pub(super) fn find(&mut self, path: &[u8], stat: &Stat) -> Known {
        let Some((at, claim_range)) = self.same(path, stat) else { return Known::Unknown };
        let claim = &self.old[claim_range.clone()];
        let claim = if claim.is_empty() { None } else { decode(claim) };
        if claim.is_none() && !claim_range.is_empty() {
            return Known::Unknown;
        }
        let card = at..claim_range.end;
        if card.start != self.cursor {
            self.differ();
        }
        self.cursor = card.end;
        if let New::Differs(new) = &mut self.new {
            new.extend_from_slice(&self.old[card]);
        }
        Known::Same(claim)
    }

    /// Keeps what was read of a card at `now` (nanoseconds).
    pub(super) fn keep(&mut self, path: &[u8], stat: &Stat, claim: Option<&Claim>, now_ns: i64) {
        // Wherever the card stood before, it does not stand there as it is now.
        let new = self.differ();
        // A card that cannot be kept is read each time.
        let Some(claim) = claim.map_or(Some(Vec::new()), encode) else { return };
        let (Ok(path_len), Ok(claim_len)) = (u16::try_from(path.len()), u16::try_from(claim.len())) else {
            return;
        };
        if !stat.is_settled(now_ns) {
            return;
        }
        for number in stat.numbers() {
            new.extend_from_slice(&number.to_le_bytes());
        }
        new.extend_from_slice(&path_len.to_le_bytes());
        new.extend_from_slice(&claim_len.to_le_bytes());
        new.extend_from_slice(path);
        new.extend_from_slice(&claim);
    }

    /// Writes what was found and the outline of `board`, whose file is `stat`, unless it is what was there.
    pub(super) fn store(mut self, activity: &Dir, board: &Board, stat: &Stat) -> std::io::Result<()> {
        if self.cursor != self.end {
            self.differ();
        }
        let cards = match self.new {
            New::AsBefore => self.old[..self.end].to_vec(),
            New::Differs(new) => new,
        };
        let outline = outline(board, stat, count(&cards)).unwrap_or_default();
        let new = sealed(cards, &outline);
        if new == self.old || new.len() == LEAD { Ok(()) } else { activity.replace(FILE, &new) }
    }

    /// The outline, while `board.json` is `board` and the folder of cards was changed at `cards`. It holds when every card
    /// [is the same](Self::is_same) and there are as many as it says.
    pub(super) fn outline(&self, board: &Stat, cards: i64) -> Option<(u64, Outline)> {
        let outline = &self.old[self.end..];
        let stamp = [board.ino, board.size, board.mtime_ns.cast_unsigned(), cards.cast_unsigned()];
        if outline.len() < 48 || (0..4).any(|place| number(outline, place * 8) != stamp[place]) {
            return None;
        }
        let mut shown = Vec::new();
        let mut rest = &outline[48..];
        while let Some((length, tail)) = rest.split_first_chunk() {
            let (claim, tail) = tail.split_at_checked(u32::from_le_bytes(*length) as usize)?;
            shown.push(decode(claim)?);
            rest = tail;
        }
        Some((number(outline, 32), Outline { doing: number(outline, 40) as usize, shown }))
    }

    /// From here on what is written is not what was there.
    fn differ(&mut self) -> &mut Vec<u8> {
        if let New::AsBefore = self.new {
            self.new = New::Differs(self.old[..self.cursor].to_vec());
        }
        match &mut self.new {
            New::Differs(new) => new,
            New::AsBefore => unreachable!("made to differ above"),
        }
    }

    /// Where the card with this path begins, its numbers, and where its claim lies.
    fn position(&mut self, path: &[u8]) -> Option<(usize, [u64; 4], Range<usize>)> {
        if let Some((numbers, found, claim)) = self.card(self.cursor)
            && &self.old[found] == path
        {
            return Some((self.cursor, numbers, claim));
        }
        if self.sorted.is_none() {
            let mut sorted = Vec::new();
            let mut at = LEAD;
            while let Some((_, path, claim)) = self.card(at) {
                sorted.push((path, at));
                at = claim.end;
            }
            sorted.sort_unstable_by(|a, b| self.old[a.0.clone()].cmp(&self.old[b.0.clone()]));
            self.sorted = Some(sorted);
        }
        let sorted = self.sorted.as_ref()?;
        let found = sorted.binary_search_by(|(range, _)| self.old[range.clone()].cmp(path)).ok()?;
        let at = sorted[found].1;
        let (numbers, _, claim) = self.card(at)?;
        Some((at, numbers, claim))
    }

    /// The numbers, path and claim of the card that begins at `at`.
    fn card(&self, at: usize) -> Option<([u64; 4], Range<usize>, Range<usize>)> {
        let fixed = self.old[..self.end].get(at..at + FIXED)?;
        let number = |place: usize| number(fixed, place * 8);
        let length = |place: usize| usize::from(u16::from_le_bytes([fixed[place], fixed[place + 1]]));
        let path = at + FIXED..at + FIXED + length(32);
        let claim = path.end..path.end + length(34);
        (claim.end <= self.end).then_some(([number(0), number(1), number(2), number(3)], path, claim))
    }
}

/// A text that is not there.
const NONE: u16 = u16::MAX;

/// A claim as bytes; `None` when one of its texts is too long for its length.
fn encode(claim: &Claim) -> Option<Vec<u8>> {
    let fixed = [
        Some(&claim.id),
        Some(&claim.claimed_by),
        claim.title.as_ref(),
        claim.status.as_ref(),
        claim.claimed_at.as_ref(),
        claim.session.as_ref(),
    ];
    let mut out = Vec::new();
    for text in fixed.into_iter().chain(claim.scope.iter().map(Some)) {
        let length = match text {
            Some(text) => u16::try_from(text.len()).ok().filter(|length| *length != NONE)?,
            None => NONE,
        };
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(text.map_or("", |text| text).as_bytes());
    }
    Some(out)
}

fn decode(bytes: &[u8]) -> Option<Claim> {
    let mut rest = bytes;
    let mut next = || -> Option<Option<String>> {
        let (length, tail) = rest.split_first_chunk()?;
        let length = u16::from_le_bytes(*length);
        if length == NONE {
            rest = tail;
            return Some(None);
        }
        let (text, tail) = tail.split_at_checked(usize::from(length))?;
        rest = tail;
        Some(Some(std::str::from_utf8(text).ok()?.to_owned()))
    };
    let (id, claimed_by, title, status) = (next()??, next()??, next()?, next()?);
    let (claimed_at, session) = (next()?, next()?);
    let scope = std::iter::from_fn(|| next().flatten()).collect();
    rest.is_empty().then_some(Claim { id, title, status, claimed_by, claimed_at, session, scope })
}

fn is_whole(bytes: &[u8]) -> bool {
    let Some((lead, rest)) = bytes.split_at_checked(LEAD) else { return false };
    lead[..8] == *MAGIC && number(lead, 8) == checksum(&bytes[16..]) && number(lead, 16) <= rest.len() as u64
}

/// A file without cards and outline, its checksum and length still to come.
fn blank() -> Vec<u8> {
    let mut file = vec![0; LEAD];
    file[..8].copy_from_slice(MAGIC);
    file
}

/// Puts the outline behind the cards, and says so in front.
fn sealed(mut file: Vec<u8>, outline: &[u8]) -> Vec<u8> {
    file.extend_from_slice(outline);
    file[16..LEAD].copy_from_slice(&(outline.len() as u64).to_le_bytes());
    let sum = checksum(&file[16..]);
    file[8..16].copy_from_slice(&sum.to_le_bytes());
    file
}

/// How many cards are in a file without an outline.
fn count(cards: &[u8]) -> u64 {
    let mut count = 0;
    let mut at = LEAD;
    while let Some([a, b, c, d]) = cards.get(at + 32..at + FIXED) {
        at += FIXED + usize::from(u16::from_le_bytes([*a, *b])) + usize::from(u16::from_le_bytes([*c, *d]));
        count += 1;
    }
    count
}

/// The outline of a board as bytes. `None` for one that a session's start could still change: without a time, with a claim
/// whose session may turn up, or with sessions that continue others.
fn outline(board: &Board, stat: &Stat, cards: u64) -> Option<Vec<u8>> {
    let settled = board.claims.iter().all(|claim| claim.session.is_some()) && board.aliases.is_empty();
    let cards_mtime_ns = board.cards_mtime_ns.filter(|_| settled)?;
    let outline = Outline::of(board);
    let mut out = Vec::new();
    for number in [stat.ino, stat.size, stat.mtime_ns.cast_unsigned(), cards_mtime_ns.cast_unsigned(), cards]
    {
        out.extend_from_slice(&number.to_le_bytes());
    }
    out.extend_from_slice(&(outline.doing as u64).to_le_bytes());
    for claim in &outline.shown {
        let claim = encode(claim)?;
        out.extend_from_slice(&u32::try_from(claim.len()).ok()?.to_le_bytes());
        out.extend_from_slice(&claim);
    }
    Some(out)
}

fn number(bytes: &[u8], at: usize) -> u64 {
    let bytes = bytes[at..].first_chunk().copied().unwrap_or_default();
    u64::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::{Kind, RACY_NS};

    fn stat(number: u64) -> Stat {
        Stat { kind: Kind::File, size: number, mtime_ns: 5, ctime_ns: 6, ino: number + 1 }
    }

    fn claim(id: &str) -> Claim {
        Claim {
            id: id.to_owned(),
            title: None,
            status: Some("doing".to_owned()),
            claimed_by: "ann".to_owned(),
            claimed_at: None,
            session: None,
            scope: vec!["src".to_owned()],
        }
    }

    #[test]
    fn a_claim_comes_back_as_it_was() {
        let full =
            Claim {
                title: Some("Tïtle".to_owned()), scope: vec![String::new(), "a".into()], ..claim("T-1")
            };
        for claim in [claim("T-1"), full, Claim { scope: Vec::new(), ..claim("") }] {
            assert_eq!(decode(&encode(&claim).unwrap()), Some(claim));
        }
        let long = Claim { title: Some("x".repeat(70_000)), ..claim("T-1") };
        assert_eq!(encode(&long), None);
        for junk in
            [&b"\x01"[..], b"\xff\xff", b"\x01\x00a\x01\x00b\xff\xff\xff\xff\xff\xff\x09", b"\x01\x00\xff"]
        {
            assert_eq!(decode(junk), None);
        }
    }

    const LATER: i64 = 10 * RACY_NS;

    fn folder() -> (tempfile::TempDir, Dir) {
        let keep = tempfile::tempdir().unwrap();
        let dir = Dir::open(keep.path().to_str().unwrap()).unwrap();
        (keep, dir)
    }

    fn told(known: &Known) -> &str {
        match known {
            Known::Same(Some(claim)) => &claim.id,
            Known::Same(None) => "no claim",
            Known::Unknown => "unknown",
        }
    }

    #[test]
    fn what_has_not_changed_is_known_in_any_order() {
        let (_keep, dir) = folder();
        let mut heads = Heads::read(Some(&dir));
        heads.keep(b"a.md", &stat(1), None, LATER);
        heads.keep(b"b.md", &stat(2), Some(&claim("T-2")), LATER);
        heads.keep(b"sub/c.md", &stat(3), None, LATER);
        heads.store(&dir, &Board::default(), &stat(9)).unwrap();
        let mut heads = Heads::read(Some(&dir));
        assert_eq!(told(&heads.find(b"sub/c.md", &stat(3))), "no claim");
        assert_eq!(told(&heads.find(b"a.md", &stat(1))), "no claim");
        assert_eq!(told(&heads.find(b"b.md", &stat(2))), "T-2");
        assert_eq!(told(&heads.find(b"d.md", &stat(2))), "unknown");
        for changed in [
            Stat { size: 9, ..stat(1) },
            Stat { mtime_ns: 9, ..stat(1) },
            Stat { ctime_ns: 9, ..stat(1) },
            Stat { ino: 9, ..stat(1) },
        ] {
            assert_eq!(told(&heads.find(b"a.md", &changed)), "unknown");
        }
    }

    #[test]
    fn what_changed_just_before_is_not_kept() {
        let (_keep, dir) = folder();
        let mut heads = Heads::read(Some(&dir));
        heads.keep(b"a.md", &stat(1), None, 6 + RACY_NS - 1);
        heads.keep(b"b.md", &stat(2), None, 6 + RACY_NS);
        heads.store(&dir, &Board::default(), &stat(9)).unwrap();
        let mut heads = Heads::read(Some(&dir));
        assert_eq!(told(&heads.find(b"a.md", &stat(1))), "unknown");
        assert_eq!(told(&heads.find(b"b.md", &stat(2))), "no claim");
    }

    #[test]
    fn any_damage_is_as_good_as_nothing() {
        let (keep, dir) = folder();
        let mut heads = Heads::read(Some(&dir));
        heads.keep(b"a.md", &stat(1), Some(&claim("T-1")), LATER);
        heads.store(&dir, &Board::default(), &stat(9)).unwrap();
        let file = keep.path().join(FILE);
        let whole = std::fs::read(&file).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            std::fs::write(&file, &damaged).unwrap();
            assert_eq!(told(&Heads::read(Some(&dir)).find(b"a.md", &stat(1))), "unknown", "byte {at}");
            std::fs::write(&file, &whole[..at]).unwrap();
            assert_eq!(told(&Heads::read(Some(&dir)).find(b"a.md", &stat(1))), "unknown", "cut at {at}");
        }
    }

    #[test]
    fn an_outline_holds_for_one_board_and_one_folder() {
        let (_keep, dir) = folder();
        let held = Claim { session: Some("aaaa".to_owned()), ..claim("T-1") };
        let board = Board { cards_mtime_ns: Some(7), claims: vec![held.clone()], ..Board::default() };
        let mut heads = Heads::read(Some(&dir));
        heads.keep(b"a.md", &stat(1), Some(&claim("T-1")), LATER);
        heads.store(&dir, &board, &stat(9)).unwrap();
        let heads = Heads::read(Some(&dir));
        assert_eq!(heads.outline(&stat(9), 7), Some((1, Outline { doing: 1, shown: vec![held] })));
        assert_eq!(heads.outline(&stat(8), 7), None);
        assert_eq!(heads.outline(&stat(9), 8), None);
        let mut heads = Heads::read(Some(&dir));
        heads.find(b"a.md", &stat(1));
        let unsettled = Board { claims: vec![claim("T-1")], ..board };
        heads.store(&dir, &unsettled, &stat(9)).unwrap();
        assert_eq!(Heads::read(Some(&dir)).outline(&stat(9), 7), None, "a session may still turn up");
    }

    #[test]
    fn what_did_not_change_is_not_written_again() {
        let (keep, dir) = folder();
        Heads::read(Some(&dir)).store(&dir, &Board::default(), &stat(9)).unwrap();
        assert!(!keep.path().join(FILE).exists(), "nothing to say");
        let mut heads = Heads::read(Some(&dir));
        heads.keep(b"a.md", &stat(1), None, LATER);
        heads.store(&dir, &Board::default(), &stat(9)).unwrap();
        let before = dir.stat(FILE).unwrap();
        let mut heads = Heads::read(Some(&dir));
        heads.find(b"a.md", &stat(1));
        heads.store(&dir, &Board::default(), &stat(9)).unwrap();
        assert_eq!(dir.stat(FILE).unwrap(), before);
    }
}
