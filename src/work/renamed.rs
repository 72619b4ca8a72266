//! One id written for another, wherever it stands as a word.

/// An id and its new name. Both begin and end with a letter or a digit.
#[derive(Clone, Debug)]
pub(super) struct Renamed {
    /// The id so far.
    pub(super) from: String,
    /// The id from now on.
    pub(super) to: String,
}

impl Renamed {
    /// `text` with every occurrence replaced; `T-0001` is not in `T-00010`, nor in `aT-0001`.
    pub(super) fn in_text(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        for at in places(text, &self.from) {
            out.push_str(&text[done..at]);
            out.push_str(&self.to);
            done = at + self.from.len();
        }
        out.push_str(&text[done..]);
        out
    }
}

/// Whether `id` stands in `text` as a word.
pub(super) fn mentions(text: &str, id: &str) -> bool {
    places(text, id).next().is_some()
}

fn places<'a>(text: &'a str, id: &'a str) -> impl Iterator<Item = usize> + 'a {
    let in_word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let bytes = text.as_bytes();
    text.match_indices(id).map(|(at, _)| at).filter(move |at| {
        !in_word(at.checked_sub(1).and_then(|before| bytes.get(before))) && !in_word(bytes.get(at + id.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_words_are_replaced() {
        let renamed = Renamed { from: "T-0001".to_owned(), to: "T-0042".to_owned() };
        for (before, after) in [
            ("T-0001", "T-0042"),
            ("T-00010 aT-0001 _T-0001 T-0001_", "T-00010 aT-0001 _T-0001 T-0001_"),
            ("[[T-0001]], T-0001. éT-0001é T-0001-x", "[[T-0042]], T-0042. éT-0042é T-0042-x"),
            ("T-0001T-0001", "T-0001T-0001"),
            ("", ""),
        ] {
            assert_eq!(renamed.in_text(before), after);
            assert_eq!(mentions(before, "T-0001"), before != after);
        }
    }
}
