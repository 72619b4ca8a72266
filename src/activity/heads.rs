//! What the heads of the cards said last time, so that a card that has not changed is not opened again.
//!
//! A card is known by its path and by inode, size, modification and change time together; the last one moves with every
//! change and no program can set it. What changed shortly before it was read may change again without its times moving
//! and is never taken from here. The file is this machine's own: a copy of it matches no inode.
//!
//! ```text
//! magic  checksum of the rest (8 bytes)
//! per card, little endian: inode, size, mtime, ctime (8 bytes each), lengths of path and claim (2 bytes each), both
//! a claim is its texts: id, holder, title, status, time, then the scope; each its length (2 bytes, all ones for none) and itself
//! ```

use super::board::Claim;
use crate::fs::{Dir, Stat};
use std::ops::Range;

const FILE: &str = "heads.bin";
const MAGIC: &[u8; 8] = b"wfheads1";
/// Before the first card.
const LEAD: usize = 16;
/// A card's numbers and lengths.
const FIXED: usize = 36;
/// A longer file counts as absent.
const CAP: u64 = 64 * 1024 * 1024;
/// What changed less than this before it was read is read again, in nanoseconds: the coarsest clock of a file system.
const RACY_NS: i64 = 2_000_000_000;

/// The cards as they were, and as they are being found now.
pub(super) struct Heads {
    old: Vec<u8>,
    /// Where the next card of the old file is expected: folders are usually listed in one order.
    cursor: usize,
    /// The old cards by path, once they are not.
    sorted: Option<Vec<(Range<usize>, usize)>>,
    new: New,
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
        let old = old.unwrap_or_else(|| [MAGIC.as_slice(), &checksum(&[]).to_le_bytes()].concat());
        Self { old, cursor: LEAD, sorted: None, new: New::AsBefore }
    }

    /// Whether nothing at all is known.
    pub(super) fn is_empty(&self) -> bool {
        self.old.len() == LEAD
    }

    /// What is known of the card at `path`, of which `stat` is true now.
    pub(super) fn find(&mut self, path: &[u8], stat: &Stat) -> Known {
        let Some((at, numbers_then, claim_range)) = self.position(path) else { return Known::Unknown };
        if numbers_then != numbers(stat) {
            return Known::Unknown;
        }
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
        if now_ns - stat.mtime_ns.max(stat.ctime_ns) < RACY_NS || stat.ino == 0 {
            return;
        }
        for number in numbers(stat) {
            new.extend_from_slice(&number.to_le_bytes());
        }
        new.extend_from_slice(&path_len.to_le_bytes());
        new.extend_from_slice(&claim_len.to_le_bytes());
        new.extend_from_slice(path);
        new.extend_from_slice(&claim);
    }

    /// Writes what was found, unless it is what was there.
    pub(super) fn store(mut self, activity: &Dir) -> std::io::Result<()> {
        if self.cursor != self.old.len() {
            self.differ();
        }
        let New::Differs(mut new) = self.new else { return Ok(()) };
        let sum = checksum(&new[LEAD..]);
        new[8..LEAD].copy_from_slice(&sum.to_le_bytes());
        if new == self.old { Ok(()) } else { activity.replace(FILE, &new) }
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
        let fixed = self.old.get(at..at + FIXED)?;
        let number = |place: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&fixed[place * 8..place * 8 + 8]);
            u64::from_le_bytes(bytes)
        };
        let length = |place: usize| usize::from(u16::from_le_bytes([fixed[place], fixed[place + 1]]));
        let path = at + FIXED..at + FIXED + length(32);
        let claim = path.end..path.end + length(34);
        (claim.end <= self.old.len()).then_some(([number(0), number(1), number(2), number(3)], path, claim))
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
    let (id, claimed_by, title, status, claimed_at) = (next()??, next()??, next()?, next()?, next()?);
    let scope = std::iter::from_fn(|| next().flatten()).collect();
    rest.is_empty().then_some(Claim { id, title, status, claimed_by, claimed_at, session: None, scope })
}

fn numbers(stat: &Stat) -> [u64; 4] {
    [stat.ino, stat.size, stat.mtime_ns.cast_unsigned(), stat.ctime_ns.cast_unsigned()]
}

fn is_whole(bytes: &[u8]) -> bool {
    let Some((lead, rest)) = bytes.split_at_checked(LEAD) else { return false };
    lead[..8] == *MAGIC && lead[8..] == checksum(rest).to_le_bytes()
}

/// Tells damage, not intent: a sum of words, which the processor adds several at a time, and the length.
fn checksum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let sum = words.iter().fold(0_u64, |sum, word| sum.wrapping_add(u64::from_le_bytes(*word)));
    let rest = rest.iter().fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
    sum.wrapping_add(rest.rotate_left(31)).wrapping_add(bytes.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::Kind;

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
        heads.store(&dir).unwrap();
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
        heads.store(&dir).unwrap();
        let mut heads = Heads::read(Some(&dir));
        assert_eq!(told(&heads.find(b"a.md", &stat(1))), "unknown");
        assert_eq!(told(&heads.find(b"b.md", &stat(2))), "no claim");
    }

    #[test]
    fn any_damage_is_as_good_as_nothing() {
        let (keep, dir) = folder();
        let mut heads = Heads::read(Some(&dir));
        heads.keep(b"a.md", &stat(1), Some(&claim("T-1")), LATER);
        heads.store(&dir).unwrap();
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
    fn what_did_not_change_is_not_written_again() {
        let (keep, dir) = folder();
        Heads::read(Some(&dir)).store(&dir).unwrap();
        assert!(!keep.path().join(FILE).exists(), "nothing to say");
        let mut heads = Heads::read(Some(&dir));
        heads.keep(b"a.md", &stat(1), None, LATER);
        heads.store(&dir).unwrap();
        let before = dir.stat(FILE).unwrap();
        let mut heads = Heads::read(Some(&dir));
        heads.find(b"a.md", &stat(1));
        heads.store(&dir).unwrap();
        assert_eq!(dir.stat(FILE).unwrap(), before);
    }
}
