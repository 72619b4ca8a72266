//! Words of a text: what a search compares.
//!
//! Texts are folded first: lower case, without diacritics. A word is a run of letters, digits, marks, `_` and `-` that has
//! a letter or a digit in it; an id is one word.

use crate::record::order::is_diacritic;
use memchr::memmem::Finder;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{canonical_combining_class, decompose_canonical, is_combining_mark};

/// Appends the folded form of `text`.
pub(super) fn fold(text: &str, out: &mut String) {
    let mut rest = text;
    while !rest.is_empty() {
        // Nothing in ASCII decomposes, and nothing composes across it.
        let ascii = ascii_length(rest);
        let start = out.len();
        out.push_str(&rest[..ascii]);
        out[start..].make_ascii_lowercase();
        rest = &rest[ascii..];
        let other = rest.bytes().position(|byte| byte.is_ascii()).unwrap_or(rest.len());
        if !fold_in_order(&rest[..other], out) {
            out.extend(lower(&rest[..other]).nfd().filter(|c| !is_diacritic(*c)));
        }
        rest = &rest[other..];
    }
}

/// Lower case. One letter has two forms in it, which no comparison tells apart.
fn lower(text: &str) -> impl Iterator<Item = char> {
    text.chars().flat_map(char::to_lowercase).map(|c| if c == 'ς' { 'σ' } else { c })
}

/// [`fold`] for a text in which no marks are left that would have to be put in order; without them that is several times as
/// fast. When there are, it adds nothing and returns false.
fn fold_in_order(text: &str, out: &mut String) -> bool {
    let start = out.len();
    let mut in_order = true;
    for c in lower(text) {
        decompose_canonical(c, |part| {
            if !is_diacritic(part) {
                in_order &= canonical_combining_class(part) == 0;
                out.push(part);
            }
        });
        if !in_order {
            out.truncate(start);
            break;
        }
    }
    in_order
}

/// How much of the beginning of a text is ASCII; looked at in pieces, which is several times as fast as byte by byte.
fn ascii_length(text: &str) -> usize {
    const PIECE: usize = 64;
    let pieces = text.as_bytes().chunks(PIECE);
    let start = pieces.take_while(|piece| piece.is_ascii()).count() * PIECE;
    let rest = text.as_bytes().get(start..).unwrap_or_default();
    start.min(text.len()) + rest.iter().take_while(|byte| byte.is_ascii()).count()
}

/// [`fold`] as a text of its own.
pub(super) fn folded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    fold(text, &mut out);
    out
}

/// Whether a character is part of a word.
fn is_part(c: char) -> bool {
    if c.is_ascii() {
        c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
    } else {
        c.is_alphanumeric() || is_combining_mark(c)
    }
}

/// The words of a folded text.
pub(super) fn words(folded: &str) -> impl Iterator<Item = &str> {
    folded.split(|c| !is_part(c)).filter(|run| run.chars().any(char::is_alphanumeric))
}

/// A word or a phrase that is looked for in folded texts.
pub(super) struct Wanted {
    first: Finder<'static>,
    /// How long the first word is.
    length: usize,
    /// The words that follow it.
    follow: Vec<String>,
    /// The word itself, when a part of another counts, too.
    part: Option<String>,
    /// How often it was asked for.
    pub(super) times: u32,
}

impl Wanted {
    /// One word; a part of another may count.
    pub(super) fn word(word: &str) -> Self {
        Self { part: Some(word.to_owned()), ..Self::phrase(&[word]) }
    }

    /// The same, asked for so often.
    pub(super) fn asked(self, times: u32) -> Self {
        Self { times, ..self }
    }

    /// Words that follow each other; there is at least one.
    pub(super) fn phrase(words: &[&str]) -> Self {
        let (first, follow) = words.split_first().map_or(("", words), |(first, follow)| (*first, follow));
        let follow = follow.iter().map(|word| (*word).to_owned()).collect();
        Self { first: Finder::new(first).into_owned(), length: first.len(), follow, part: None, times: 1 }
    }

    /// Whether the text could have it: a quick look that never says no in error.
    pub(super) fn may_be_in(&self, folded: &str) -> bool {
        self.first.find(folded.as_bytes()).is_some()
    }

    /// Whether the text has it, as whole words.
    pub(super) fn is_in(&self, folded: &str) -> bool {
        let found = self.first.find_iter(folded.as_bytes());
        found.into_iter().any(|at| {
            let behind = &folded[at + self.length..];
            let is_word = !folded[..at].ends_with(is_part) && !behind.starts_with(is_part);
            is_word && words(behind).take(self.follow.len()).eq(self.follow.iter().map(String::as_str))
        })
    }

    /// Whether a word of the text has it as a part.
    pub(super) fn is_part_of(&self, folded: &str) -> bool {
        self.part.is_some() && self.may_be_in(folded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_are_split_as_described() {
        let all = |text: &str| words(&folded(text)).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(
            all("T-0042: Diseño_x — -- ÉTÉ, ΣΟΦΟΣ σοφός"),
            ["t-0042", "diseno_x", "ete", "σοφοσ", "σοφοσ"]
        );
        assert_eq!(all("привет, мир! 数据库 हिन्दी"), ["привет", "мир", "数据库", "हिन्दी"]);
        assert_eq!(all("a.b/c"), ["a", "b", "c"]);
        assert_eq!(all("- -- _ !"), [""; 0]);
    }

    proptest! {
        #[test]
        fn folding_piece_by_piece_is_folding(text in r"([a-z\x{c0}-\x{24f}\x{1e00}-\x{1ef9}\x{ac00}-\x{d7a3}\x{5b0}-\x{5ea}\x{640}-\x{65f}\x{915}-\x{93c}\x{300}-\x{328}\x{2014}]|\PC){0,12}") {
            let whole = lower(&text).nfd().filter(|c| !is_diacritic(*c));
            prop_assert_eq!(folded(&text), whole.collect::<String>());
        }
    }

    #[test]
    fn folding_is_the_same_in_pieces_and_at_once() {
        for text in ["e\u{301}a", "a\u{323}\u{301}b", "İı", "ﬁ", "Å", "\u{1e69}", "ẛ̣"] {
            let whole = text.chars().flat_map(char::to_lowercase).nfd().filter(|c| !is_diacritic(*c));
            assert_eq!(folded(text), whole.collect::<String>(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_quick_look_and_the_list_of_words_agree(
            text in "[aAéb -_\\-.—0]{0,16}", wanted in prop::collection::vec("[abe0]{0,2}[a0]", 1..3)
        ) {
            let text = folded(&text);
            let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
            let phrase = Wanted::phrase(&wanted);
            let all: Vec<&str> = words(&text).collect();
            let is_in = all.windows(wanted.len()).any(|some| some == wanted);
            prop_assert_eq!(phrase.is_in(&text), is_in);
            prop_assert!(!is_in || phrase.may_be_in(&text));
            let part = all.iter().any(|word| word.contains(wanted[0]));
            prop_assert_eq!(Wanted::word(wanted[0]).is_part_of(&text), part);
        }
    }
}
