//! A memory record as it stands in its file.

use super::LISTS;
use crate::failure::{Code, Failure};
use crate::path::trim;
use crate::record::RecordFile;
use crate::workspace::Collection;
use serde_json::{Map, Value as Json};
use std::ops::Deref;

/// One memory record.
#[derive(Clone, Debug)]
pub struct Memory {
    /// The id.
    pub id: String,
    /// Its collection.
    pub collection: &'static Collection,
    /// The path from the root, with `/`.
    pub path: String,
    /// The path below the collection's folder.
    pub file: String,
    record: RecordFile,
}

/// A memory is a record with an id, a collection and a path.
impl Deref for Memory {
    type Target = RecordFile;

    fn deref(&self) -> &RecordFile {
        &self.record
    }
}

impl Memory {
    pub(super) fn new(
        id: String,
        collection: &'static Collection,
        path: String,
        file: String,
        record: RecordFile,
    ) -> Self {
        Self { id, collection, path, file, record }
    }

    /// The record whose file was just written with `text`.
    pub(super) fn written(
        collection: &'static Collection,
        path: String,
        file: String,
        text: String,
    ) -> Result<Self, Failure> {
        let unreadable = |reason: &str| {
            let text = format!("{path} was written and would not be readable: {reason}");
            Failure::new(Code::INTERNAL_ERROR, text)
        };
        let record = RecordFile::parse(text, LISTS).map_err(|problem| unreadable(problem.reason()))?;
        let id =
            record.field("id").map(|id| trim(id).to_owned()).ok_or_else(|| unreadable("it has no id"))?;
        Ok(Self { id, collection, path, file, record })
    }

    /// Its state, whether or not its collection knows it.
    pub fn status(&self) -> Option<&str> {
        self.field("status")
    }

    /// The record with every key.
    pub fn to_json(&self) -> Map<String, Json> {
        let mut json = Map::new();
        let mut put = |key: &str, value: Json| json.insert(key.to_owned(), value);
        put("id", self.id.as_str().into());
        put("kind", "memory".into());
        put("recordType", self.collection.id.into());
        put("collection", self.collection.id.into());
        if let Some(title) = self.field("title") {
            put("title", title.into());
        }
        put("path", self.path.as_str().into());
        put("file", self.file.as_str().into());
        put("body", self.body().into());
        for key in ["status", "category", "confidence"] {
            if let Some(text) = self.field(key) {
                put(key, text.into());
            }
        }
        if let Some(count) = self.field("occurrences").and_then(|count| trim(count).parse::<u64>().ok()) {
            put("occurrences", count.into());
        }
        for key in ["severity", "started_at", "resolved_at", "expires", "review_after"] {
            if let Some(text) = self.field(key) {
                put(key, text.into());
            }
        }
        for key in [
            "deciders",
            "related",
            "supersedes",
            "superseded_by",
            "graduated_to",
            "corrective_actions",
            "scope",
            "owners",
            "tags",
        ] {
            let list = self.list(key);
            if !list.is_empty() {
                put(key, list.into());
            }
        }
        for key in ["created", "updated"] {
            if let Some(text) = self.field(key) {
                put(key, text.into());
            }
        }
        put("revision", self.revision().into());
        put("metadata", self.metadata());
        json
    }
}
