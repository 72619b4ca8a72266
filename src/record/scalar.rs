//! Values in one line: quotes taken off and flow lists split, and the same the other way round.

use crate::path::{is_space, trim};
use std::fmt::Write;

/// `text` without the quotes around it; anything that is not quoted properly is the text it shows.
pub(super) fn unquote(text: &str) -> String {
    let inside = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    if inside('"').is_some() {
        return serde_json::from_str(text).unwrap_or_else(|_| text.to_owned());
    }
    match inside('\'') {
        Some(plain) if !plain.contains('\'') => plain.to_owned(),
        _ => text.to_owned(),
    }
}

/// The items of `[a, "b, c"]` or `a, b`; empty ones are dropped.
pub(super) fn flow_list(inline: &str) -> Vec<String> {
    let inner = inline.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(inline);
    let mut items = Vec::new();
    let mut start = 0;
    let mut quote = None;
    let mut escaped = false;
    // A quote opens only as the first character of an item, so that `it's` needs none.
    let mut fresh = true;
    for (at, c) in inner.char_indices() {
        match quote {
            Some('"') if escaped => escaped = false,
            Some('"') if c == '\\' => escaped = true,
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if c == ',' => {
                push_item(&mut items, &inner[start..at]);
                start = at + 1;
                fresh = true;
            }
            None if fresh && (c == '"' || c == '\'') => {
                quote = Some(c);
                fresh = false;
            }
            None => fresh = fresh && is_space(c),
        }
    }
    push_item(&mut items, &inner[start..]);
    items
}

/// Adds an item of a list as it stands in the file, unless it is empty.
pub(super) fn push_item(items: &mut Vec<String>, raw: &str) {
    let item = unquote(trim(raw));
    if !item.is_empty() {
        items.push(item);
    }
}

/// `text` as the value of a key, quoted where it has to be.
pub(super) fn scalar(text: &str) -> String {
    if needs_quotes(text) { quoted(text) } else { text.to_owned() }
}

/// `text` as an item of a list, quoted where it has to be.
pub(super) fn item(text: &str) -> String {
    // Some YAML readers take a dash in front of the closing bracket for one that begins an item.
    let dash = text.strip_suffix('-').is_some_and(|rest| rest.ends_with(is_space));
    if dash || needs_quotes(text) || text.contains([',', '"', '\'']) { quoted(text) } else { text.to_owned() }
}

/// `[a, "b, c"]`.
pub(super) fn list(items: &[String]) -> String {
    let items: Vec<_> = items.iter().map(|text| item(text)).collect();
    format!("[{}]", items.join(", "))
}

/// Whether a reader could end a line, a value or a header here, or see nothing; or whether YAML has no such character.
pub(super) const fn is_control(c: char) -> bool {
    matches!(
        c,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
    )
}

fn needs_quotes(text: &str) -> bool {
    // What begins with one of the latter is no plain text to YAML readers.
    let opens = |c: char| {
        is_space(c)
            || matches!(c, '"' | '\'' | ',' | '-' | '?' | '&' | '*' | '!' | '|' | '>' | '%' | '@' | '`')
    };
    text.is_empty()
        || text.starts_with(opens)
        || text.ends_with(is_space)
        || text.contains(|c| matches!(c, ':' | '#' | '[' | ']' | '{' | '}') || is_control(c))
}

/// `text` as a JSON string, with every line separator and control character escaped.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if is_control(c) => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_dash_at_the_end_of_an_item_is_quoted() {
        assert_eq!(list(&["a -".to_owned(), "b-".to_owned(), "-".to_owned()]), "[\"a -\", b-, \"-\"]");
    }

    #[test]
    fn quotes_that_do_not_match_are_text() {
        for text in ["\"", "'", "\"a", "a'", "'it''s'", "\"bad \\q\"", "\"\\ud800\"", "\"a\" \"b\""] {
            assert_eq!(unquote(text), text);
        }
        assert_eq!(unquote("''"), "");
        assert_eq!(unquote("\"\\u00e9\""), "é");
    }

    #[test]
    fn an_open_quote_keeps_its_commas() {
        assert_eq!(flow_list("[a, \"b, c]"), ["a", "\"b, c"]);
        assert_eq!(flow_list("[\"a\\\", b\", c]"), ["a\", b", "c"]);
        assert_eq!(flow_list("[[a]"), ["[a"]);
        assert_eq!(flow_list("["), ["["]);
        assert_eq!(flow_list("\u{a0}'a, b'\u{3000},c"), ["a, b", "c"]);
    }

    proptest! {
        #[test]
        fn a_scalar_reads_back(text in any::<String>()) {
            prop_assert_eq!(unquote(trim(&scalar(&text))), text);
        }

        #[test]
        fn a_list_reads_back(items in prop::collection::vec("\\PC{1,6}|[ ,'\"\\\\\\[\\]a\n]{1,6}", 0..5)) {
            prop_assert_eq!(flow_list(&list(&items)), items);
        }

        #[test]
        fn a_quoted_value_is_one_line(text in any::<String>()) {
            prop_assert!(!scalar(&text).contains(is_control));
        }
    }
}
