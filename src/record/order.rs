//! The orders in which people are shown texts and ids; the same on every machine, whatever its locale.

use std::cmp::Ordering;
use unicode_normalization::UnicodeNormalization;

/// Text order: without regard to case and diacritics; white space, punctuation, digits, letters; then by code point. Of
/// equal texts the one with the lower-case letter comes first, then the code points decide.
pub fn text(left: &str, right: &str) -> Ordering {
    by_fold(left, right).then_with(|| ties(left, right))
}

/// Natural order: text order in which a run of digits compares as a number. `T-9999` comes before `T-10000`.
pub fn natural(left: &str, right: &str) -> Ordering {
    if let Some(order) = same_but_for_a_number(left.as_bytes(), right.as_bytes()) {
        return order;
    }
    let (mut a, mut b) = (left, right);
    loop {
        let (x, y) = (chunk(a), chunk(b));
        if x.is_empty() || y.is_empty() {
            return x.len().cmp(&y.len()).then_with(|| ties(left, right));
        }
        let order = if is_number(x) && is_number(y) {
            let (x, y) = (x.trim_start_matches('0'), y.trim_start_matches('0'));
            x.len().cmp(&y.len()).then_with(|| x.cmp(y))
        } else {
            by_fold(x, y)
        };
        if order != Ordering::Equal {
            return order;
        }
        (a, b) = (&a[x.len()..], &b[y.len()..]);
    }
}

/// Most ids that are compared differ in nothing but the last digits of numbers of one length.
fn same_but_for_a_number(left: &[u8], right: &[u8]) -> Option<Ordering> {
    if left.len() != right.len() {
        return None;
    }
    let same = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    let (left, right) = (&left[same..], &right[same..]);
    let is_number = |rest: &[u8]| rest.iter().all(u8::is_ascii_digit);
    (is_number(left) && is_number(right)).then(|| left.cmp(right))
}

/// Whether `left` comes before `right` once both are folded.
fn by_fold(left: &str, right: &str) -> Ordering {
    // Nothing in ASCII decomposes.
    if left.is_ascii() && right.is_ascii() {
        return left.bytes().map(ascii_key).cmp(right.bytes().map(ascii_key));
    }
    folded(left).cmp(folded(right))
}

/// [`folded`] for one character of ASCII.
fn ascii_key(byte: u8) -> (u8, u8) {
    let class = match byte {
        b'\t'..=b'\r' | b' ' => 0,
        b'0'..=b'9' => 2,
        b'a'..=b'z' | b'A'..=b'Z' => 3,
        _ => 1,
    };
    (class, byte.to_ascii_lowercase())
}

/// What a text is compared by: the class of each character, then the character without case and diacritics.
fn folded(text: &str) -> impl Iterator<Item = (u8, char)> {
    let plain = text.chars().flat_map(char::to_lowercase).nfd();
    plain.filter(|c| !is_diacritic(*c)).map(|c| (class(c), c))
}

/// Whether a character is a mark that folding drops (U+0300 to U+036F).
pub fn is_diacritic(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

fn class(c: char) -> u8 {
    match c {
        c if crate::path::is_space(c) => 0,
        c if c.is_numeric() => 2,
        c if c.is_alphabetic() => 3,
        _ => 1,
    }
}

fn ties(left: &str, right: &str) -> Ordering {
    let letters = |text: &str| text.chars().filter(|c| c.is_alphabetic()).collect::<Vec<_>>();
    let cases = |text: &str| letters(text).into_iter().map(char::is_uppercase).collect::<Vec<_>>();
    cases(left).cmp(&cases(right)).then_with(|| left.cmp(right))
}

fn is_number(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
}

/// The first run of digits or of anything else.
fn chunk(text: &str) -> &str {
    let number = is_number(text);
    let end = text.find(|c: char| c.is_ascii_digit() != number).unwrap_or(text.len());
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn titles_are_in_the_order_of_the_example() {
        let wanted = ["billing", "index", "Named by frontmatter", "README", "sp ace", "start", "The guide"];
        let mut titles = wanted;
        titles.reverse();
        titles.sort_by(|a, b| text(a, b));
        assert_eq!(titles, wanted);
    }

    #[test]
    fn classes_come_before_code_points_and_case_breaks_ties() {
        let wanted = ["a b", "a-b", "a1", "ab", "éa", "Éa", "eb", "zé", "ß", "й"];
        let mut texts = wanted;
        texts.reverse();
        texts.sort_by(|a, b| text(a, b));
        assert_eq!(texts, wanted);
    }

    #[test]
    fn digits_compare_as_numbers() {
        let mut ids = ["T-10000", "T-9999", "t-3", "T-0010", "T-0002", "ADR-0001", "T-002", "T-0002-x"];
        ids.sort_by(|a, b| natural(a, b));
        assert_eq!(ids, ["ADR-0001", "T-0002", "T-002", "T-0002-x", "t-3", "T-0010", "T-9999", "T-10000"]);
    }

    #[test]
    fn ascii_is_folded_in_one_way() {
        for byte in 0..=127_u8 {
            let text = char::from(byte).to_string();
            let (class, letter) = ascii_key(byte);
            assert!(folded(&text).eq([(class, char::from(letter))]), "{byte}");
        }
    }

    proptest! {
        #[test]
        fn the_quick_answer_is_the_long_one(a in "[aA]{0,2}-?[0-9]{0,4}", b in "[aA]{0,2}-?[0-9]{0,4}") {
            if let Some(order) = same_but_for_a_number(a.as_bytes(), b.as_bytes()) {
                // Something behind both that is no digit sends it the long way.
                prop_assert_eq!(natural(&format!("{a}x"), &format!("{b}x")), order);
            }
        }

        #[test]
        fn both_are_orders(mut texts in prop::collection::vec("[aAéÉbB0-9 ._-]{0,4}", 0..6)) {
            for order in [text, natural] {
                texts.sort_by(|a, b| order(a, b));
                for pair in texts.windows(2) {
                    prop_assert!(order(&pair[0], &pair[1]) != Ordering::Greater);
                    prop_assert_eq!(order(&pair[0], &pair[1]) == Ordering::Equal, pair[0] == pair[1]);
                }
            }
        }
    }
}
