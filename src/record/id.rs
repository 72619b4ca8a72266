//! The ids of one kind of record: `<prefix>-<sequence>`.
//!
//! A new id is the highest used one and one more, found twice: before it is reserved, and again while it is.

use crate::failure::{Code, Failure};
use crate::fs::{Lock, Purpose};
use serde_json::Value as Json;
use std::path::Path;

/// No sequence lies above this one: what does is ignored where it stands in a file name, and never given out.
const LAST: u64 = u64::MAX - 1;

/// Whether `id` is `<prefix>-` and at least four digits.
pub fn is_valid(id: &str, prefix: &str) -> bool {
    let digits = id.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('-'));
    digits.is_some_and(|digits| digits.len() >= 4 && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The sequence at the start of `text`, `<prefix>-<digits>` and anything behind it. `None` when there is none or when
/// it is too large to count on from.
pub fn sequence(text: &str, prefix: &str) -> Option<u64> {
    let rest = text.strip_prefix(prefix)?.strip_prefix('-')?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    rest[..digits].parse().ok().filter(|sequence| *sequence <= LAST)
}

/// `<prefix>-<sequence>`, padded to four digits.
pub fn format(prefix: &str, sequence: u64) -> String {
    format!("{prefix}-{sequence:04}")
}

/// What a writer under a reserved id reports.
#[derive(Debug)]
pub enum Attempt<T> {
    /// The record is written.
    Written(T),
    /// The file name was taken meanwhile.
    Collision,
}

/// How an id is found and kept while its record is made.
#[derive(Clone, Copy, Debug)]
pub struct Allocation<'a> {
    /// The workspace root.
    pub root: &'a Path,
    /// The folder of reservations, relative to the root, `/` separated (`.project/.cache/locks/ids`).
    pub locks: &'a str,
    /// The id prefix.
    pub prefix: &'a str,
    /// How often to try.
    pub tries: usize,
    /// The code raised when all tries are used up.
    pub exhausted: Code,
}

/// Allocates the next id: `highest` scans for the highest used sequence (0 for none) and is asked again under the
/// reservation; `write` makes the record under the id. Refused writes use up no id.
///
/// The code `exhausted` when all tries are used up, details `{contention: <OS error name or null>}`.
pub fn allocate<T>(
    how: &Allocation<'_>,
    mut highest: impl FnMut() -> Result<u64, Failure>,
    mut write: impl FnMut(&str) -> Result<Attempt<T>, Failure>,
) -> Result<T, Failure> {
    let mut contention = None;
    let mut last = highest()?;
    for _ in 0..how.tries {
        let Some(candidate) = last.checked_add(1).filter(|next| *next <= LAST) else { break };
        let id = format(how.prefix, candidate);
        let purpose = Purpose::Reservation { id: &id };
        let Some(reservation) = Lock::try_take(how.root, how.locks, &format!("{id}.lock"), purpose)? else {
            contention = Some("EEXIST");
            last = candidate;
            continue;
        };
        last = highest()?;
        if last >= candidate {
            continue;
        }
        match write(&id)? {
            Attempt::Written(record) => return Ok(record),
            Attempt::Collision => {
                contention = Some("EEXIST");
                drop(reservation);
                // A name that is taken and that no scan sees must not be tried for ever.
                last = highest()?.max(candidate);
            }
        }
    }
    let text = format!("no free {} id after {} tries", how.prefix, how.tries);
    Err(Failure::new(how.exhausted, text).with("contention", contention.map_or(Json::Null, Json::from)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn how(root: &Path) -> Allocation<'_> {
        let exhausted = Code::CARD_ID_ALLOCATION_FAILED;
        Allocation { root, locks: "locks/ids", prefix: "T", tries: 32, exhausted }
    }

    type Outcome = Result<Attempt<String>, Failure>;
    const WRITE: fn(&str) -> Outcome = |id| Ok(Attempt::Written(id.to_owned()));

    fn reservations(root: &Path) -> usize {
        std::fs::read_dir(root.join("locks/ids")).unwrap().count()
    }

    #[test]
    fn an_id_has_four_digits_and_grows_past_them() {
        for id in ["T-0001", "T-12345"] {
            assert!(is_valid(id, "T"), "{id}");
        }
        for id in ["T-001", "T-", "T", "DOC-0001", "T-0001 ", "T-00a1", "T-٠٠٠١", "t-0001", ""] {
            assert!(!is_valid(id, "T"), "{id}");
        }
        assert_eq!(format("T", 7), "T-0007");
        assert_eq!(format("T", 12_345), "T-12345");
    }

    #[test]
    fn sequences_too_large_to_count_on_from_are_ignored() {
        assert_eq!(sequence("T-0042-some-title.md", "T"), Some(42));
        assert_eq!(sequence("T-7", "T"), Some(7));
        assert_eq!(sequence("T-18446744073709551614", "T"), Some(LAST));
        for text in ["T-18446744073709551615", "T-99999999999999999999.md", "T-x", "T-", "X-1", "T1", ""] {
            assert_eq!(sequence(text, "T"), None, "{text}");
        }
    }

    #[test]
    fn the_next_id_follows_the_highest() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(allocate(&how(root.path()), || Ok(41), WRITE).unwrap(), "T-0042");
        assert_eq!(reservations(root.path()), 0);
    }

    #[test]
    fn a_reserved_id_is_left_to_its_owner() {
        let root = tempfile::tempdir().unwrap();
        let purpose = Purpose::Reservation { id: "T-0001" };
        let theirs = Lock::try_take(root.path(), "locks/ids", "T-0001.lock", purpose).unwrap().unwrap();
        assert_eq!(allocate(&how(root.path()), || Ok(0), WRITE).unwrap(), "T-0002");
        let text = std::fs::read_to_string(root.path().join("locks/ids/T-0001.lock")).unwrap();
        assert!(text.starts_with("{\"id\":\"T-0001\""));
        drop(theirs);
    }

    #[test]
    fn an_id_used_between_scan_and_reservation_is_passed_over() {
        let root = tempfile::tempdir().unwrap();
        let scans = Cell::new(0);
        let highest = || {
            scans.set(scans.get() + 1);
            Ok(if scans.get() == 1 { 1 } else { 5 })
        };
        assert_eq!(allocate(&how(root.path()), highest, WRITE).unwrap(), "T-0006");
        assert_eq!(reservations(root.path()), 0);
    }

    #[test]
    fn a_taken_name_starts_over_and_a_refused_write_uses_up_no_id() {
        let root = tempfile::tempdir().unwrap();
        let write = |id: &str| if id == "T-0003" { Ok(Attempt::Collision) } else { WRITE(id) };
        assert_eq!(allocate(&how(root.path()), || Ok(2), write).unwrap(), "T-0004");
        let refuse = |_: &str| Err::<Attempt<()>, _>(Failure::new(Code::CARD_TITLE_REQUIRED, "no title"));
        assert_eq!(
            allocate(&how(root.path()), || Ok(2), refuse).unwrap_err().code,
            Code::CARD_TITLE_REQUIRED
        );
        assert_eq!(reservations(root.path()), 0);
        assert_eq!(allocate(&how(root.path()), || Ok(2), WRITE).unwrap(), "T-0003");
    }

    #[test]
    fn the_tries_are_counted_and_the_contention_is_named() {
        let root = tempfile::tempdir().unwrap();
        let count = Cell::new(0);
        let collide = |_: &str| {
            count.set(count.get() + 1);
            Ok(Attempt::<()>::Collision)
        };
        let failed = allocate(&how(root.path()), || Ok(0), collide).unwrap_err();
        assert_eq!((failed.code, count.get()), (Code::CARD_ID_ALLOCATION_FAILED, 32));
        assert_eq!(failed.details["contention"], "EEXIST");

        let scans = Cell::new(0);
        let racing = || {
            scans.set(scans.get() + 1);
            Ok(scans.get())
        };
        let failed = allocate(&how(root.path()), racing, WRITE).unwrap_err();
        assert_eq!(failed.details["contention"], Json::Null);
    }

    #[test]
    fn nothing_follows_the_last_sequence() {
        let root = tempfile::tempdir().unwrap();
        for highest in [LAST, u64::MAX] {
            let failed = allocate(&how(root.path()), || Ok(highest), WRITE).unwrap_err();
            assert_eq!(failed.code, Code::CARD_ID_ALLOCATION_FAILED);
        }
        assert_eq!(allocate(&how(root.path()), || Ok(LAST - 1), WRITE).unwrap(), "T-18446744073709551614");
    }
}
