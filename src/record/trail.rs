//! Lines of the `## Activity` trail: `- <stamp> <actor> · <text>`.

use crate::path::one_line;
use std::borrow::Cow;

/// `- <stamp> <actor> · <text>`; `unknown` without an actor.
///
/// It is one line whatever the parts hold: a line break in one of them would forge the next entry.
pub fn trail_line(stamp: &str, actor: Option<&str>, text: &str) -> String {
    format!("- {stamp} {} · {}", unbroken(actor.unwrap_or("unknown")), unbroken(text))
}

fn unbroken(text: &str) -> Cow<'_, str> {
    if text.contains(['\n', '\r']) { one_line(text).into() } else { text.into() }
}

/// Whether a line has the shape of a trail line.
pub fn is_trail_line(line: &str) -> bool {
    const SHAPE: &[u8] = b"- 0000-00-00 00:00Z ";
    let Some((stamp, rest)) = line.split_at_checked(SHAPE.len()) else { return false };
    let fits = |(found, wanted): (u8, &u8)| match wanted {
        b'0' => found.is_ascii_digit(),
        wanted => found == *wanted,
    };
    // The actor reaches up to the first dot or dash, whichever it is: notes have a dash there.
    let actor = rest.split(['·', '—']).next().unwrap_or(rest);
    stamp.bytes().zip(SHAPE).all(fits)
        && actor.len() > 1
        && actor.ends_with(' ')
        && rest[actor.len()..].starts_with("· ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_recognised() {
        let line = trail_line("2026-03-04 05:06Z", Some("ana@lab"), "next → doing");
        assert_eq!(line, "- 2026-03-04 05:06Z ana@lab · next → doing");
        assert!(is_trail_line(&line));
        assert!(is_trail_line(&trail_line("2026-03-04 05:06Z", None, "claimed")));
    }

    #[test]
    fn a_text_of_several_lines_forges_no_entry() {
        let line = trail_line("2026-03-04 05:06Z", Some("a\r\nb"), "x\n- 2026-03-04 05:06Z c · claimed");
        assert_eq!(line, "- 2026-03-04 05:06Z a b · x - 2026-03-04 05:06Z c · claimed");
    }

    #[test]
    fn an_entry_without_an_actor_is_none() {
        for line in [
            "- 2026-03-04 05:06Z  · x",
            "- 2026-03-04 05:06Z · x",
            "- 2026-03-04 05:06Z a·b · x",
            "- 2026-03-04 05:06Z ab· x",
            "- é",
        ] {
            assert!(!is_trail_line(line), "{line}");
        }
    }
}
