//! A document as it stands in its file.

use crate::clock::Time;
use crate::path::trim;
use crate::record::{self, RecordFile, Text};
use serde_json::{Map, Value as Json};
use std::ops::Deref;

/// Keys of a document's header that hold lists.
pub const LISTS: &[&str] = &[
    "tags",
    "depends",
    "scope",
    "related",
    "owners",
    "paths",
    "cards",
    "decisions",
    "actions",
    "supersedes",
];

/// Where a document comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It lies under the managed path and can be written.
    Managed,
    /// A source pattern names it.
    Indexed,
}

/// One document.
#[derive(Clone, Debug)]
pub struct Document {
    /// The id: of the header, else derived from the path.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// The path from the root, with `/`.
    pub path: String,
    /// The path below the managed root; the base name of an indexed document.
    pub file: String,
    /// Managed or indexed.
    pub origin: Origin,
    /// Length in bytes.
    pub size: u64,
    /// When the file was last changed.
    pub modified: Time,
    record: RecordFile,
}

/// A document is a record with an id and a path.
impl Deref for Document {
    type Target = RecordFile;

    fn deref(&self) -> &RecordFile {
        &self.record
    }
}

impl Document {
    /// Reads a document; whatever is in it, it is one.
    pub fn read(
        origin: Origin,
        path: String,
        file: String,
        text: impl Into<Text>,
        stat: &crate::fs::Stat,
    ) -> Self {
        let record = RecordFile::lenient(text, LISTS);
        let id = record.field("id").map_or_else(|| derived_id(&path), |id| trim(id).to_owned());
        let title = title(&record, &file);
        let modified = Time::from_ms(stat.mtime_ns.div_euclid(1_000_000));
        Self { id, title, path, file, origin, size: stat.size, modified, record }
    }

    /// Whether it can be written.
    pub fn is_managed(&self) -> bool {
        self.origin == Origin::Managed
    }

    /// What sort of document it is.
    pub fn kind(&self) -> &str {
        self.field("kind").unwrap_or("reference")
    }

    /// Its state.
    pub fn status(&self) -> &str {
        let usual = if self.is_managed() { "draft" } else { "current" };
        self.field("status").unwrap_or(usual)
    }

    /// The record with every key.
    pub fn to_json(&self) -> Map<String, Json> {
        let mut json = Map::new();
        let mut put = |key: &str, value: Json| json.insert(key.to_owned(), value);
        put("id", self.id.as_str().into());
        put("kind", "doc".into());
        put("title", self.title.as_str().into());
        put("path", self.path.as_str().into());
        put("file", self.file.as_str().into());
        put("body", self.body().into());
        put("managed", self.is_managed().into());
        put("documentKind", self.kind().into());
        put("status", self.status().into());
        for key in ["owners", "related", "supersedes", "scope", "tags"] {
            let list = self.list(key);
            if !list.is_empty() {
                put(key, list.into());
            }
        }
        for key in ["source", "created", "updated", "reviewed"] {
            if let Some(text) = self.field(key) {
                put(key, text.into());
            }
        }
        if let Some(days) = self.field("review_interval_days").and_then(|days| trim(days).parse::<u64>().ok())
        {
            put("review_interval_days", days.into());
        }
        put("modifiedAt", self.modified.timestamp().into());
        put("sizeBytes", self.size.into());
        put("revision", self.revision().into());
        put("metadata", self.metadata());
        json
    }
}

/// `PATH-` and the beginning of the path's digest, for a document that states no id.
fn derived_id(path: &str) -> String {
    let digest = record::digest(path);
    let hex = digest.strip_prefix("sha256:").unwrap_or(&digest);
    format!("PATH-{}", hex[..12].to_uppercase())
}

/// The header's title, else the first heading, else what the file's name says.
fn title(record: &RecordFile, file: &str) -> String {
    if let Some(title) = record.field("title") {
        return trim(title).to_owned();
    }
    let heading = record.body().lines().find_map(|line| {
        let rest = line.strip_prefix('#')?;
        let text = trim(rest);
        (rest.starts_with(crate::path::is_space) && !text.is_empty()).then(|| text.to_owned())
    });
    heading.unwrap_or_else(|| {
        let name = file.rsplit('/').next().unwrap_or(file);
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        let words: Vec<&str> = stem.split(['-', '_']).filter(|word| !word.is_empty()).collect();
        if words.is_empty() { name.to_owned() } else { words.join(" ") }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::{Kind, Stat};

    fn read(file: &str, text: &str) -> Document {
        let stat = Stat { kind: Kind::File, size: text.len() as u64, mtime_ns: 0, ctime_ns: 0, ino: 1 };
        Document::read(Origin::Indexed, format!("docs/{file}"), file.to_owned(), text.to_owned(), &stat)
    }

    #[test]
    fn ids_are_derived_as_recorded() {
        let cases: Json =
            serde_json::from_str(include_str!("../../tests/golden/vectors/pathIds.json")).unwrap();
        for case in cases.as_array().unwrap() {
            assert_eq!(derived_id(case["path"].as_str().unwrap()), case["id"].as_str().unwrap());
        }
    }

    #[test]
    fn a_title_is_found_in_the_header_the_body_or_the_name() {
        assert_eq!(read("a.md", "---\ntitle: T\n---\n# H\n").title, "T");
        assert_eq!(read("a.md", "text\n## no\n#no\n#  H \n").title, "H");
        assert_eq!(read("x/the_big--plan.md", "text").title, "the big plan");
        assert_eq!(read("--.md", "text").title, "--.md");
    }

    #[test]
    fn a_broken_header_is_text() {
        let document = read("a.md", "---\ntitle: T\n");
        assert_eq!(
            (document.title.as_str(), document.kind(), document.status()),
            ("a", "reference", "current")
        );
        assert!(document.to_json()["metadata"].as_object().unwrap().is_empty());
    }
}
