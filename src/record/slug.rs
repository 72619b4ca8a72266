//! File names from titles.

use unicode_normalization::UnicodeNormalization;

/// The part of a file name that comes from a title (`records.md` 3): lower case, decomposed, `a-z0-9` and `-`, at most
/// `max` characters, `fallback` when nothing is left.
pub fn slug(title: &str, max: usize, fallback: &str) -> String {
    let lower = title.to_lowercase();
    let mut slug = String::new();
    let mut gap = false;
    for c in lower.nfd().filter(|c| !super::order::is_diacritic(*c)) {
        if !matches!(c, 'a'..='z' | '0'..='9') {
            gap = true;
            continue;
        }
        if gap && !slug.is_empty() && slug.len() < max {
            slug.push('-');
        }
        if slug.len() >= max {
            break;
        }
        gap = false;
        slug.push(c);
    }
    if slug.is_empty() { fallback.to_owned() } else { slug }
}

/// The file name that a record's title gives: `<id>-<slug>.md`; `max` and `fallback` as for [`slug`].
pub fn file_name(id: &str, title: &str, max: usize, fallback: &str) -> String {
    format!("{id}-{}.md", slug(title, max, fallback))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_dash_at_the_cut_stays_and_one_at_the_end_goes() {
        assert_eq!(slug("abc def", 4, "card"), "abc-");
        assert_eq!(slug("abc !!!", 4, "card"), "abc");
        assert_eq!(slug("ΑΣ", 9, "document"), "document");
    }

    proptest! {
        #[test]
        fn a_slug_is_a_plain_file_name(title in any::<String>(), max in 1_usize..60) {
            let slug = slug(&title, max, "x");
            prop_assert!(!slug.is_empty() && slug.len() <= max && !slug.starts_with('-'));
            prop_assert!(slug.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-')));
        }
    }
}
