//! The text of a record, which may be a part of one long text that many records share.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// A text that costs nothing to copy.
#[derive(Clone, Default)]
pub struct Text {
    whole: Arc<String>,
    part: Range<usize>,
}

impl Text {
    /// A part of a longer text; `None` when it is none.
    pub fn part(whole: &Arc<String>, part: Range<usize>) -> Option<Self> {
        whole.get(part.clone())?;
        Some(Self { whole: Arc::clone(whole), part })
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self { part: 0..text.len(), whole: Arc::new(text) }
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.whole[self.part.clone()]
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Text {}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_whole_characters() {
        let whole = Arc::new("aéb".to_owned());
        assert_eq!(Text::part(&whole, 1..3).as_deref(), Some("é"));
        for part in [1..2, 0..9, 4..5] {
            assert!(Text::part(&whole, part).is_none());
        }
        assert_eq!(&*Text::from("x".to_owned()), "x");
    }
}
