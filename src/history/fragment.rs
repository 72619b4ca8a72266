//! A change fragment as it stands in its file.

use super::fields::FRAGMENT;
use super::parsed;
use crate::failure::Failure;
use crate::record::RecordFile;
use crate::workspace::Workspace;
use crate::workspace::edit::{Kind, Record};
use serde_json::{Map, Value as Json};
use std::ops::Deref;

/// Where a fragment lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Among the unreleased ones.
    Unreleased,
    /// Under the releases.
    Released,
}

/// One change fragment.
#[derive(Clone, Debug)]
pub struct Fragment {
    /// The id.
    pub id: String,
    /// The path from the root, with `/`.
    pub path: String,
    /// Whether it has been released.
    pub stage: Stage,
    /// The ids of the releases that list it.
    pub releases: Vec<String>,
    record: RecordFile,
}

/// A fragment is a record with an id and a path.
impl Deref for Fragment {
    type Target = RecordFile;

    fn deref(&self) -> &RecordFile {
        &self.record
    }
}

impl Fragment {
    pub(super) fn new(id: String, path: String, stage: Stage, record: RecordFile) -> Self {
        Self { id, path, stage, releases: Vec::new(), record }
    }

    /// The base name of its file.
    pub fn file(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Whether it has been released.
    pub fn is_released(&self) -> bool {
        self.stage == Stage::Released
    }

    /// The record with every key.
    pub fn to_json(&self) -> Map<String, Json> {
        let mut json = Map::new();
        let mut put = |key: &str, value: Json| json.insert(key.to_owned(), value);
        put("id", self.id.as_str().into());
        put("kind", "change".into());
        let kind = self.field("type");
        if let Some(kind) = kind {
            put("recordType", kind.into());
        }
        if let Some(title) = self.field("title") {
            put("title", title.into());
        }
        put("path", self.path.as_str().into());
        put("file", self.file().into());
        put("body", self.body().into());
        for key in ["type", "area", "visibility"] {
            if let Some(text) = self.field(key) {
                put(key, text.into());
            }
        }
        put("released", self.is_released().into());
        for (key, shown) in [
            ("cards", "cards"),
            ("issues", "externalIssues"),
            ("decisions", "decisions"),
            ("related", "related"),
            ("tags", "tags"),
        ] {
            let list = self.list(key);
            if !list.is_empty() {
                put(shown, list.into());
            }
        }
        for key in ["created", "updated"] {
            if let Some(text) = self.field(key) {
                put(key, text.into());
            }
        }
        put("revision", self.revision().into());
        put("metadata", self.metadata());
        if !self.releases.is_empty() {
            put("releaseIds", self.releases.clone().into());
        }
        json
    }
}

impl Record for Fragment {
    const KIND: &'static Kind = &FRAGMENT;

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
