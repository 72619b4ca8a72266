//! One clock, UTC, in milliseconds; tests set it with `WORKFILE_CLOCK`.
//!
//! A fixed clock decides what is recorded, never who may do what: locks, waiting and comparisons with file times stay
//! with [`Time::system`].

use std::time::{SystemTime, UNIX_EPOCH};

/// A moment, in milliseconds since 1970-01-01 UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(i64);

/// The current time of commands and the server: `WORKFILE_CLOCK` (RFC 3339) when it is set and can be read, else the
/// system's.
pub fn now() -> Time {
    match std::env::var("WORKFILE_CLOCK") {
        Ok(text) => Time::parse(&text).unwrap_or_else(Time::system),
        Err(_) => Time::system(),
    }
}

/// The current time of a hook: [`now`] under `WORKFILE_TEST=1`, the system's otherwise.
pub fn hook_now() -> Time {
    if std::env::var_os("WORKFILE_TEST").is_some_and(|value| value == "1") { now() } else { Time::system() }
}

impl Time {
    /// The system's time.
    pub fn system() -> Self {
        Self::from(SystemTime::now())
    }

    /// A moment from milliseconds since the epoch.
    pub const fn from_ms(ms: i64) -> Self {
        Self(ms)
    }

    /// Milliseconds since the epoch.
    pub const fn ms(self) -> i64 {
        self.0
    }

    /// Milliseconds from `earlier` to this moment; negative when it is later.
    pub const fn since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// A moment this many milliseconds earlier.
    #[must_use]
    pub const fn minus(self, ms: i64) -> Self {
        Self(self.0.saturating_sub(ms))
    }

    /// `YYYY-MM-DDTHH:MM:SS`, a fraction of any length or none, then `Z` or an offset `±hh:mm`; or a plain date, which
    /// is its midnight UTC. Days and hours must exist. Anything else is `None`.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let day = days(text.get(..10)?)?;
        if bytes.len() == 10 {
            return Some(Self(day * DAY_MS));
        }
        let number = |at: usize| -> Option<i64> {
            let digits = bytes.get(at..at + 2)?;
            digits
                .iter()
                .all(u8::is_ascii_digit)
                .then(|| i64::from((digits[0] - b'0') * 10 + digits[1] - b'0'))
        };
        if bytes.get(10)? != &b'T' || bytes.get(13)? != &b':' || bytes.get(16)? != &b':' {
            return None;
        }
        let (hour, minute, second) = (number(11)?, number(14)?, number(17)?);
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        let mut at = 19;
        let mut fraction = 0;
        if bytes.get(at) == Some(&b'.') {
            let digits = bytes[at + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            if digits == 0 {
                return None;
            }
            for place in 0..3 {
                let digit = if place < digits { bytes[at + 1 + place] - b'0' } else { 0 };
                fraction = fraction * 10 + i64::from(digit);
            }
            at += 1 + digits;
        }
        let offset = match bytes.get(at)? {
            b'Z' if bytes.len() == at + 1 => 0,
            sign @ (b'+' | b'-') if bytes.len() == at + 6 && bytes[at + 3] == b':' => {
                let (hours, minutes) = (number(at + 1)?, number(at + 4)?);
                if hours > 23 || minutes > 59 {
                    return None;
                }
                (hours * 60 + minutes) * if *sign == b'-' { -60_000 } else { 60_000 }
            }
            _ => return None,
        };
        Some(Self(day * DAY_MS + ((hour * 60 + minute) * 60 + second) * 1000 + fraction - offset))
    }

    /// `YYYY-MM-DDTHH:MM:SS.mmmZ`.
    pub fn timestamp(self) -> String {
        let mut out = String::with_capacity(24);
        self.push_timestamp(&mut out);
        out
    }

    /// Appends [`Time::timestamp`] to `out`.
    pub fn push_timestamp(self, out: &mut String) {
        let (year, month, day) = civil(self.0.div_euclid(DAY_MS));
        let ms = self.0.rem_euclid(DAY_MS);
        let (second, ms) = (ms / 1000, ms % 1000);
        digits(out, year, 4);
        for (mark, value, width) in [
            ('-', month, 2),
            ('-', day, 2),
            ('T', second / 3600, 2),
            (':', second / 60 % 60, 2),
            (':', second % 60, 2),
            ('.', ms, 3),
        ] {
            out.push(mark);
            digits(out, value, width);
        }
        out.push('Z');
    }

    /// `YYYY-MM-DD`.
    pub fn date(self) -> String {
        let mut text = self.timestamp();
        text.truncate(10);
        text
    }

    /// `YYYY-MM-DD HH:MMZ`, as trail lines and notes carry it.
    pub fn stamp(self) -> String {
        let text = self.timestamp();
        format!("{} {}Z", &text[..10], &text[11..16])
    }
}

impl From<SystemTime> for Time {
    fn from(time: SystemTime) -> Self {
        Self(match time.duration_since(UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
            Err(before) => {
                let before = before.duration();
                let whole = i64::try_from(before.as_millis()).unwrap_or(i64::MAX);
                -whole - i64::from(before.subsec_nanos() % 1_000_000 != 0)
            }
        })
    }
}

/// Whether `text` is `YYYY-MM-DD` and such a day exists.
pub fn is_date(text: &str) -> bool {
    days(text).is_some()
}

const DAY_MS: i64 = 86_400_000;

/// The years written have four digits; what lies outside is written as it comes.
fn digits(out: &mut String, value: i64, width: usize) {
    let mut buffer = [b'0'; 20];
    let mut at = buffer.len();
    let mut rest = value.unsigned_abs();
    while rest > 0 || buffer.len() - at < width {
        at -= 1;
        buffer[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    if value < 0 {
        out.push('-');
    }
    out.extend(buffer[at..].iter().map(|&digit| char::from(digit)));
}

/// Days since the epoch of `YYYY-MM-DD`; `None` when it has another shape or no such day exists.
fn days(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return None;
    }
    let number = |range: std::ops::Range<usize>| {
        bytes[range]
            .iter()
            .try_fold(0_i64, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + i64::from(byte - b'0')))
    };
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => return None,
    };
    if day < 1 || day > last {
        return None;
    }
    // Years that begin in March make the leap day the last of its year.
    let (shifted, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let era = shifted.div_euclid(400);
    let of_era = shifted.rem_euclid(400);
    let of_year = (153 * month + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

/// Year, month and day of a number of days since the epoch.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (year + era * 400 + carry, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_timestamp_has_one_spelling_when_written() {
        let time = Time::parse("2026-03-04T05:06:07.089Z").unwrap();
        assert_eq!(time.timestamp(), "2026-03-04T05:06:07.089Z");
        assert_eq!(time.date(), "2026-03-04");
        assert_eq!(time.stamp(), "2026-03-04 05:06Z");
        assert_eq!(Time::from_ms(0).timestamp(), "1970-01-01T00:00:00.000Z");
        assert_eq!(Time::from_ms(-1).timestamp(), "1969-12-31T23:59:59.999Z");
    }

    #[test]
    fn offsets_and_fractions_are_read() {
        let at = |text| Time::parse(text).map(Time::timestamp);
        assert_eq!(at("2026-08-01T10:00:00+02:00").as_deref(), Some("2026-08-01T08:00:00.000Z"));
        assert_eq!(at("2026-08-01T10:00:00.123456Z").as_deref(), Some("2026-08-01T10:00:00.123Z"));
        assert_eq!(at("2026-08-01T10:00:00.5-00:30").as_deref(), Some("2026-08-01T10:30:00.500Z"));
        assert_eq!(at("2026-08-01").as_deref(), Some("2026-08-01T00:00:00.000Z"));
        for wrong in [
            "yesterday",
            "2026-13-01",
            "2026-02-30",
            "2026-08-01T25:00:00Z",
            "2026-08-01T10:00Z",
            "",
            "2026-08-01T10:00:00",
            "2026-08-01T10:00:00.Z",
            "２026-08-01",
        ] {
            assert_eq!(at(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_date_must_exist() {
        assert!(is_date("2024-02-29"));
        assert!(!is_date("2026-02-29"));
        assert!(!is_date("2026-2-01"));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(ms in -62_135_596_800_000_i64..253_402_300_800_000) {
            let time = Time::from_ms(ms);
            prop_assert_eq!(Time::parse(&time.timestamp()), Some(time));
        }

        #[test]
        fn nothing_panics(text in "\\PC{0,40}") {
            Time::parse(&text);
            is_date(&text);
        }
    }
}
