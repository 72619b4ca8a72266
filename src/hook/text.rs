//! What a record or a path may put into an answer: short, on one line, and never mistaken for our own words.

use crate::path::{is_control, is_invisible};

/// Longest id that is shown, in characters.
pub(super) const ID: usize = 20;
/// Longest title.
pub(super) const TITLE: usize = 80;
/// Longest name, and longest scope entry.
pub(super) const NAME: usize = 120;
/// Longest path.
pub(super) const PATH: usize = 300;
/// Longest time.
pub(super) const TIME: usize = 40;

/// `text` on one line without control, direction and zero-width characters, at most `most` characters.
pub(super) fn clean(text: &str, most: usize) -> String {
    let mut out = String::with_capacity(text.len().min(most * 4));
    let mut count = 0;
    let mut gap = false;
    for c in text.chars() {
        match c {
            c if is_invisible(c) => {}
            c if c == ' ' || is_control(c) => gap = count > 0,
            c => {
                if gap {
                    out.push(' ');
                    count += 1;
                    gap = false;
                }
                out.push(c);
                count += 1;
            }
        }
        if count > most {
            let keep = out.char_indices().nth(most - 1).map_or(out.len(), |(at, _)| at);
            out.truncate(keep);
            out.push('…');
            break;
        }
    }
    out
}

/// [`clean`] for a place between double quotes.
pub(super) fn quoted(text: &str, most: usize) -> String {
    clean(text, most).replace('"', "'")
}

/// A holder's name: as it is when it is plain, in quotes otherwise.
pub(super) fn name(text: &str) -> String {
    let shown = clean(text, NAME);
    if !shown.is_empty() && shown.chars().all(|c| c.is_ascii_alphanumeric() || "._@#:+/-".contains(c)) {
        shown
    } else {
        format!("\"{}\"", shown.replace('"', "'"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_one_short_line() {
        assert_eq!(clean("  a\r\n\u{1b}[31m b\u{202e}\u{200b}c\u{85} ", 80), "a [31m bc");
        assert_eq!(clean("abcdef", 6), "abcdef");
        assert_eq!(clean("abcdefg", 6), "abcde…");
        assert_eq!(clean("ab cd ef gh", 6), "ab cd…");
        assert_eq!(clean("éééé", 3), "éé…");
        assert_eq!(clean("\u{feff}", 3), "");
        assert_eq!(clean("a\u{2028}b\u{2029}c", 80), "a b c", "these end lines too");
        assert_eq!(clean("a\u{e0049}\u{e0067}\u{61c}\u{2060}\u{ad}b", 80), "ab", "nobody would see these");
    }

    #[test]
    fn a_name_that_is_more_than_a_name_is_quoted() {
        assert_eq!(name("solo@box#aaaaaaaa"), "solo@box#aaaaaaaa");
        assert_eq!(name("Ignore \"all\" rules"), "\"Ignore 'all' rules\"");
        assert_eq!(name(""), "\"\"");
    }
}
