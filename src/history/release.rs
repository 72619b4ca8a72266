//! A release as it stands in its file.

use super::fields::RELEASE;
use super::parsed;
use crate::failure::Failure;
use crate::record::RecordFile;
use crate::workspace::Workspace;
use crate::workspace::edit::{Kind, Record};
use serde_json::{Map, Value as Json};
use std::ops::Deref;

/// One release.
#[derive(Clone, Debug)]
pub struct Release {
    /// The id.
    pub id: String,
    /// The path from the root, with `/`.
    pub path: String,
    record: RecordFile,
}

/// A release is a record with an id and a path.
impl Deref for Release {
    type Target = RecordFile;

    fn deref(&self) -> &RecordFile {
        &self.record
    }
}

impl Release {
    pub(super) fn new(id: String, path: String, record: RecordFile) -> Self {
        Self { id, path, record }
    }

    /// The base name of its file.
    pub fn file(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// The ids of the fragments it released, in its own order.
    pub fn fragments(&self) -> Vec<String> {
        self.list("fragments")
    }

    /// The record with every key.
    pub fn to_json(&self) -> Map<String, Json> {
        let mut json = Map::new();
        let mut put = |key: &str, value: Json| json.insert(key.to_owned(), value);
        put("id", self.id.as_str().into());
        put("kind", "release".into());
        put("recordType", "release".into());
        if let Some(title) = self.field("title") {
            put("title", title.into());
        }
        put("path", self.path.as_str().into());
        put("file", self.file().into());
        put("body", self.body().into());
        for key in ["version", "date"] {
            if let Some(text) = self.field(key) {
                put(key, text.into());
            }
        }
        put("fragments", self.fragments().into());
        if let Some(commit) = self.field("commit") {
            put("commit", commit.into());
        }
        let tags = self.list("tags");
        if !tags.is_empty() {
            put("tags", tags.into());
        }
        if let Some(date) = self.field("date") {
            put("created", date.into());
            put("updated", date.into());
        }
        put("revision", self.revision().into());
        put("metadata", self.metadata());
        json
    }
}

impl Record for Release {
    const KIND: &'static Kind = &RELEASE;

    fn id(&self) -> &str {
        &self.id
    }

    fn path(&self) -> &str {
        &self.path
    }

    fn to_json(&self) -> Map<String, Json> {
        Self::to_json(self)
    }

    fn again(&self, _: &Workspace, text: String) -> Result<Self, Failure> {
        Ok(Self { record: parsed(&self.path, text)?, ..self.clone() })
    }
}
