//! A record as it stands in its file: the whole text is kept, so that a digest is made only where one is asked for.

use super::{Header, NotARecord, Text, Value, digest, read};
use crate::path::{is_space, trim};
use serde_json::{Map, Value as Json};
use std::ops::Range;

/// The text of one record and where its parts are.
#[derive(Clone, Debug, Default)]
pub struct RecordFile {
    /// The header; empty for a text without one.
    pub header: Header,
    text: Text,
    /// Where the header's closing fence ends; 0 without a header.
    fence: usize,
    body: Range<usize>,
}

impl RecordFile {
    /// Reads the text of a record. `lists` are the declared list keys of its kind.
    pub fn parse(text: impl Into<Text>, lists: &[&str]) -> Result<Self, NotARecord> {
        let text = text.into();
        let document = read(&text, lists)?;
        let body = body_of(&text, document.body_text);
        let fence = document.prefix.len();
        let header = document.header;
        Ok(Self { header, text, fence, body })
    }

    /// The same for a text that may have no header: all of it is the body then.
    pub fn lenient(text: impl Into<Text>, lists: &[&str]) -> Self {
        let text = text.into();
        Self::parse(text.clone(), lists).unwrap_or_else(|_| {
            let body = body_of(&text, &text);
            Self { header: Header::default(), text, fence: 0, body }
        })
    }

    /// Whether there is a header.
    pub fn has_header(&self) -> bool {
        self.fence > 0
    }

    /// The whole file.
    pub fn text(&self) -> &Text {
        &self.text
    }

    /// The Markdown, trimmed.
    pub fn body(&self) -> &str {
        &self.text[self.body.clone()]
    }

    /// Everything behind the header, as it is in the file: what a change of the body starts from.
    pub fn body_text(&self) -> &str {
        &self.text[self.fence..]
    }

    /// The digest of the file's bytes.
    pub fn revision(&self) -> String {
        digest(&*self.text)
    }

    /// The text of a header key that is not blank.
    pub fn field(&self, key: &str) -> Option<&str> {
        self.header.text(key).filter(|value| !trim(value).is_empty())
    }

    /// The items of a declared list key; none when it is absent.
    pub fn list(&self, key: &str) -> Vec<String> {
        self.header.list(key)
    }

    /// The header as it was read, key by key; of a key written twice the value that counts, where it came first.
    pub fn metadata(&self) -> Json {
        let mut json = Map::new();
        for entry in &self.header.entries {
            if let Some(value) = self.header.get(&entry.key) {
                json.entry(entry.key.as_ref()).or_insert_with(|| value.to_json());
            }
        }
        Json::Object(json)
    }

    /// Whether the header has something under this key, of whatever shape.
    pub fn has(&self, key: &str) -> bool {
        self.header.get(key).is_some_and(|value| match value {
            Value::Text(text) => !trim(text).is_empty(),
            value => !value.is_empty(),
        })
    }
}

/// Where the trimmed body lies in the file.
fn body_of(text: &str, body_text: &str) -> Range<usize> {
    let body = trim(body_text);
    let lead = body_text.len() - body_text.trim_start_matches(is_space).len();
    let start = if body.is_empty() { text.len() } else { text.len() - body_text.len() + lead };
    start..start + body.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_are_where_they_are() {
        let file =
            RecordFile::parse("---\nid: A-1\ntags: [a, b]\n---\n\n Text. \n".to_owned(), &["tags"]).unwrap();
        assert_eq!((file.body(), file.body_text()), ("Text.", "\n Text. \n"));
        assert_eq!(file.list("tags"), ["a", "b"]);
        assert!(file.has("tags") && file.has("id") && !file.has("title") && file.has_header());
        assert!(RecordFile::parse("# Title".to_owned(), &[]).is_err());
    }

    #[test]
    fn a_text_without_header_is_a_body() {
        let file = RecordFile::lenient("\n# Title\n\nText.\n".to_owned(), &[]);
        assert_eq!((file.body(), file.has_header()), ("# Title\n\nText.", false));
        assert_eq!(file.header.entries.len(), 0);
        let empty = RecordFile::lenient(" \n".to_owned(), &[]);
        assert_eq!(empty.body(), "");
    }
}
