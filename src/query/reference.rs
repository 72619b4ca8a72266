//! Ids in a text: those between double brackets, and those that are merely named.
//!
//! Every character is looked at a fixed number of times, whatever the text holds.

use crate::path::{find_byte, is_space};

/// Letters and digits in front of an id's dash, at most.
const PREFIX: usize = 12;
/// Digits behind it, at least.
const DIGITS: usize = 4;

/// Every id between double brackets, `[[ID]]` or `[[ID|label]]`, in order, repeated ones too.
pub(super) fn wikilinks(body: &str) -> impl Iterator<Item = &str> {
    let bytes = body.as_bytes();
    let mut at = 0;
    // Where the next `]` behind some place was found: a label may reach far, and many may begin before it ends.
    let mut close = 0;
    std::iter::from_fn(move || {
        loop {
            at += find_byte(b'[', &bytes[at..])? + 1;
            let Some(inside) = body[at..].strip_prefix('[') else { continue };
            let inside = inside.trim_start_matches(is_space);
            let Some(length) = id_at(inside.as_bytes()) else { continue };
            let behind = inside[length..].trim_start_matches(is_space);
            if let Some(label) = behind.strip_prefix('|') {
                let from = body.len() - label.len();
                if close < from {
                    close = from + find_byte(b']', &bytes[from..]).unwrap_or(bytes.len() - from);
                }
                if bytes[close..].starts_with(b"]]") {
                    return Some(&inside[..length]);
                }
            } else if behind.starts_with("]]") {
                return Some(&inside[..length]);
            }
        }
    })
}

/// Every id that stands in the text as a word of its own, in order, repeated ones too; code and link targets count.
pub(super) fn mentions(body: &str) -> impl Iterator<Item = &str> {
    let bytes = body.as_bytes();
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let dash = at + find_byte(b'-', &bytes[at..])?;
            at = dash + 1;
            let prefix = bytes[..dash].iter().rev().take(PREFIX + 1).take_while(|byte| is_word(byte)).count();
            if prefix <= PREFIX
                && let Some(length) = id_at(&bytes[dash - prefix..])
                && !bytes.get(dash - prefix + length).is_some_and(is_word)
            {
                return Some(&body[dash - prefix..dash - prefix + length]);
            }
        }
    })
}

/// The length of the id that `text` begins with: a capital, capitals and digits, a dash, all digits behind it.
fn id_at(text: &[u8]) -> Option<usize> {
    let prefix =
        text.iter().take(PREFIX + 1).take_while(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    let prefix = prefix.count();
    if !(1..=PREFIX).contains(&prefix) || !text[0].is_ascii_uppercase() || text.get(prefix) != Some(&b'-') {
        return None;
    }
    let digits = text[prefix + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    (digits >= DIGITS).then_some(prefix + 1 + digits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use regex::Regex;

    #[test]
    fn a_label_may_hold_anything_but_a_bracket() {
        let all = |body| wikilinks(body).collect::<Vec<_>>();
        assert_eq!(
            all("[[T-0001]] [[ T-0002 | a\nb ]] [[T-0003|]] [[[T-0004]]] [[\u{a0}T-0005]]"),
            ["T-0001", "T-0002", "T-0003", "T-0004", "T-0005"]
        );
        assert_eq!(all("[[T-0001] [[T-01]] [[t-0001]] [[T-0001|a]b]] [[T-0001 x]] [T-0001]"), [""; 0]);
    }

    #[test]
    fn many_open_brackets_take_no_longer_than_few() {
        let body = "[[T-0001|".repeat(200_000);
        assert_eq!(wikilinks(&body).count(), 0);
        assert_eq!(mentions(&body).count(), 200_000);
        assert_eq!(mentions(&"A".repeat(1_000_000)).count(), 0);
        assert_eq!(mentions(&"-".repeat(1_000_000)).count(), 0);
    }

    proptest! {
        #[test]
        fn ids_are_what_the_expressions_say(body in "[\\[\\]| TA0-9_é\n-]{0,40}") {
            let link = Regex::new(r"\[\[\s*([A-Z][A-Z0-9]{0,11}-[0-9]{4,})\s*(?:\|[^\]]*)?\]\]").unwrap();
            let mention = Regex::new(r"(?-u:\b)[A-Z][A-Z0-9]{0,11}-[0-9]{4,}(?-u:\b)").unwrap();
            let linked: Vec<&str> = link.captures_iter(&body).map(|found| found.get(1).unwrap().as_str()).collect();
            prop_assert_eq!(wikilinks(&body).collect::<Vec<_>>(), linked.clone());
            let named: Vec<&str> = mention.find_iter(&body).map(|found| found.as_str()).collect();
            prop_assert_eq!(mentions(&body).collect::<Vec<_>>(), named.clone());
            prop_assert!(linked.iter().all(|id| named.contains(id)), "what is linked is mentioned");
        }

        #[test]
        fn every_text_has_ids_or_none(body in any::<String>(), cut in "[A-Z]{0,13}-[0-9]{0,6}") {
            for text in [&body, &format!("[[{cut}|{body}]]"), &format!("{body}{cut}{body}")] {
                for id in wikilinks(text).chain(mentions(text)) {
                    let (prefix, digits) = id.split_once('-').unwrap();
                    prop_assert!((1..=PREFIX).contains(&prefix.len()) && digits.len() >= DIGITS, "{}", id);
                }
            }
        }
    }
}
