//! A card as it stands in its file.

use super::criteria::{self, Reading};
use super::fields::{LISTS, is_open};
use super::load;
use crate::failure::Code;
use crate::record::{RecordFile, Text};
use crate::workspace::Workspace;
use serde_json::{Map, Value as Json};
use std::ops::Deref;

/// Keys that are computed. A header may hold them; they never replace what is computed and are not shown.
pub(super) const COMPUTED: [&str; 14] = [
    "file",
    "archived",
    "body",
    "revision",
    "assets",
    "path",
    "kind",
    "recordType",
    "axes",
    "acceptance",
    "outgoing",
    "incoming",
    "incomingTotal",
    "issues",
];

/// Which of the two folders a card lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Among the live cards.
    Live,
    /// In the archive.
    Archive,
}

/// One card.
#[derive(Clone, Debug)]
pub struct Card {
    /// The id, as the header has it.
    pub id: String,
    /// The path below the card's folder, with `/`.
    pub file: String,
    /// Live or archived.
    pub place: Place,
    record: RecordFile,
}

/// A card is a record with an id and a place.
impl Deref for Card {
    type Target = RecordFile;

    fn deref(&self) -> &RecordFile {
        &self.record
    }
}

impl Card {
    /// Reads the text of a card's file; the error is the reason why it is none.
    pub fn parse(file: String, place: Place, text: impl Into<Text>) -> Result<Self, String> {
        let record = RecordFile::parse(text, &LISTS).map_err(|problem| problem.reason().to_owned())?;
        let Some(id) = record.field("id").map(str::to_owned) else {
            return Err(format!("{}: the header has no id", Code::CARD_ID_REQUIRED.name));
        };
        Ok(Self { id, file, place, record })
    }

    /// Where the file is, relative to the root, with `/`.
    pub fn repo_path(&self, workspace: &Workspace) -> String {
        workspace.repo_path(&load::folder(workspace, self.place).join(&self.file))
    }

    /// The status, whether or not the protocol knows it.
    pub fn status(&self) -> Option<&str> {
        self.field("status")
    }

    /// Who claims the card.
    pub fn holder(&self) -> Option<&str> {
        self.field("claimed_by")
    }

    /// What the work will change.
    pub fn scope(&self) -> Vec<String> {
        self.header.list("scope")
    }

    /// Whether the card lies in the archive.
    pub fn is_archived(&self) -> bool {
        self.place == Place::Archive
    }

    /// Whether the work is still ahead; a card without a status is open.
    pub fn is_open(&self) -> bool {
        self.status().is_none_or(is_open)
    }

    /// The acceptance criteria.
    pub fn acceptance(&self) -> Reading {
        criteria::read(self.body())
    }

    /// The card as every command prints it: `file`, `archived`, `body`, the header, `revision`.
    pub fn to_json(&self) -> Json {
        self.view(View { body: Body::Whole, assets: None, only: None })
    }

    /// The card in another cut.
    pub fn view(&self, view: View<'_>) -> Json {
        let wanted = |key: &str| view.only.is_none_or(|only| only.iter().any(|name| name == key));
        let mut json = Map::new();
        let mut put = |key: &str, value: &dyn Fn() -> Json| {
            if wanted(key) {
                json.insert(key.to_owned(), value());
            }
        };
        put("file", &|| self.file.clone().into());
        put("archived", &|| self.is_archived().into());
        if view.body == Body::Whole {
            put("body", &|| self.body().into());
        }
        for entry in &self.header.entries {
            // A key written twice stands where it came first, with the value that counts.
            if !COMPUTED.contains(&&*entry.key)
                && let Some(value) = self.header.get(&entry.key)
            {
                put(&entry.key, &|| value.to_json());
            }
        }
        put("revision", &|| self.revision().into());
        if let Some(assets) = view.assets {
            put("assets", &|| assets.clone().into());
        }
        if view.body == Body::Length {
            put("bodyBytes", &|| self.body().len().into());
        }
        Json::Object(json)
    }
}

/// What a view shows of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// All of it, as `body`.
    Whole,
    /// Its length, as `bodyBytes`.
    Length,
}

/// A cut of a card.
#[derive(Clone, Debug)]
pub struct View<'a> {
    /// The body or its length.
    pub body: Body,
    /// The names of the card's assets, when they are shown.
    pub assets: Option<Vec<String>>,
    /// The only keys to show.
    pub only: Option<&'a [String]>,
}
