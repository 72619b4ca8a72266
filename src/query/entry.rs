//! A record among all others: what every kind has in common, whichever room it comes from.

use crate::docs::Document;
use crate::history::{Fragment, Release};
use crate::memory::Memory;
use crate::record::{RecordFile, Value};
use crate::work::card::{Body, View};
use crate::work::load::Assets;
use crate::work::{Card, Place};
use crate::workspace::{Cards, Workspace};
use serde_json::{Map, Value as Json};
use std::borrow::Cow;

/// The kinds of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A card.
    Card,
    /// A document.
    Doc,
    /// A change fragment.
    Change,
    /// A release.
    Release,
    /// A memory record.
    Memory,
}

impl Kind {
    /// Every kind, in the order in which they are loaded.
    pub const ALL: [Self; 5] = [Self::Card, Self::Doc, Self::Change, Self::Release, Self::Memory];
    /// Their names, in the same order.
    pub const NAMES: &'static [&'static str] = &["card", "doc", "change", "release", "memory"];

    /// The name that a record carries as its `kind`.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// The kind of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Where the two sorts of cards lie, relative to the root.
#[derive(Clone, Debug, Default)]
pub(super) struct Folders {
    live: String,
    archive: String,
}

impl Folders {
    pub(super) fn of(workspace: &Workspace) -> Self {
        let [live, archive] = [&workspace.paths.cards, &workspace.paths.archive];
        Self { live: workspace.repo_path(live), archive: workspace.repo_path(archive) }
    }

    pub(super) fn entry<'a>(&'a self, card: &'a Card) -> Entry<'a> {
        let folder = if card.place == Place::Live { &self.live } else { &self.archive };
        Entry::Card(card, folder)
    }
}

/// One record.
#[derive(Clone, Copy, Debug)]
pub enum Entry<'a> {
    /// A card and the folder that its file is below, relative to the root.
    Card(&'a Card, &'a str),
    /// A document.
    Doc(&'a Document),
    /// A change fragment.
    Change(&'a Fragment),
    /// A release.
    Release(&'a Release),
    /// A memory record.
    Memory(&'a Memory),
}

impl<'a> Entry<'a> {
    /// Its kind.
    pub fn kind(self) -> Kind {
        match self {
            Self::Card(..) => Kind::Card,
            Self::Doc(_) => Kind::Doc,
            Self::Change(_) => Kind::Change,
            Self::Release(_) => Kind::Release,
            Self::Memory(_) => Kind::Memory,
        }
    }

    /// Its id.
    pub fn id(self) -> &'a str {
        match self {
            Self::Card(card, _) => &card.id,
            Self::Doc(document) => &document.id,
            Self::Change(fragment) => &fragment.id,
            Self::Release(release) => &release.id,
            Self::Memory(memory) => &memory.id,
        }
    }

    /// What is in its file.
    pub fn record(self) -> &'a RecordFile {
        match self {
            Self::Card(card, _) => card,
            Self::Doc(document) => document,
            Self::Change(fragment) => fragment,
            Self::Release(release) => release,
            Self::Memory(memory) => memory,
        }
    }

    /// What it is called.
    pub fn title(self) -> Option<&'a str> {
        match self {
            Self::Doc(document) => Some(&document.title),
            entry => entry.record().field("title"),
        }
    }

    /// Where its file is, relative to the root.
    pub fn path(self) -> Cow<'a, str> {
        match self {
            Self::Card(card, "") => card.file.as_str().into(),
            Self::Card(card, folder) => format!("{folder}/{}", card.file).into(),
            Self::Doc(document) => document.path.as_str().into(),
            Self::Change(fragment) => fragment.path.as_str().into(),
            Self::Release(release) => release.path.as_str().into(),
            Self::Memory(memory) => memory.path.as_str().into(),
        }
    }

    /// What it is among those of its kind: a card's or a fragment's type, a document's kind, a memory record's collection.
    pub fn record_type(self) -> Option<&'a str> {
        match self {
            Self::Card(card, _) => card.field("type"),
            Self::Doc(document) => Some(document.kind()),
            Self::Change(fragment) => fragment.field("type"),
            Self::Release(_) => Some("release"),
            Self::Memory(memory) => Some(memory.collection.id),
        }
    }

    /// Its state, whether or not its kind knows it.
    pub fn status(self) -> Option<&'a str> {
        match self {
            Self::Doc(document) => Some(document.status()),
            Self::Change(_) | Self::Release(_) => None,
            entry => entry.record().field("status"),
        }
    }

    /// When it was last changed; a release has its date.
    pub fn updated(self) -> Option<&'a str> {
        match self {
            Self::Release(release) => release.field("date"),
            entry => entry.record().field("updated"),
        }
    }

    /// The Markdown.
    pub fn body(self) -> &'a str {
        self.record().body()
    }

    /// The items of a list of its header, one text counting as a list of one.
    pub fn items(self, key: &str) -> impl Iterator<Item = &'a str> + use<'a> {
        let (one, many) = match self.record().header.get(key) {
            Some(Value::Text(text)) => (Some(text), [].as_slice()),
            Some(Value::List(items)) => (None, items.as_slice()),
            _ => (None, [].as_slice()),
        };
        one.into_iter().chain(many).map(String::as_str).filter(|item| !item.is_empty())
    }

    /// The declared axes that it carries.
    pub fn axes(self, settings: &Cards) -> Vec<&str> {
        let Self::Card(card, _) = self else { return Vec::new() };
        settings
            .axes
            .iter()
            .map(|(name, _)| name.as_str())
            .filter(|name| card.field(name).is_some())
            .collect()
    }

    /// The whole record, without what others say about it; of a card its files, where they are asked for.
    pub fn to_json(self, settings: &Cards, assets: Option<&Assets>) -> Map<String, Json> {
        let (mut json, record_type) = match self {
            Self::Card(card, _) => {
                let assets = assets.map(|assets| assets.of(&card.id));
                let view = View { body: Body::Whole, assets, only: None };
                let Json::Object(mut json) = card.view(view) else { return Map::new() };
                json.insert("kind".to_owned(), self.kind().name().into());
                json.insert("path".to_owned(), self.path().into());
                (json, self.record_type())
            }
            Self::Doc(document) => (document.to_json(), self.record_type()),
            Self::Change(fragment) => (fragment.to_json(), None),
            Self::Release(release) => (release.to_json(), None),
            Self::Memory(memory) => (memory.to_json(), None),
        };
        // A record that was written by hand without a title goes by its id.
        json.entry("title").or_insert_with(|| self.id().into());
        if let Some(record_type) = record_type {
            json.insert("recordType".to_owned(), record_type.into());
        }
        let axes = self.axes(settings);
        if !axes.is_empty() {
            json.insert("axes".to_owned(), axes.into());
        }
        json
    }

    /// Hands the values of a field, named in lower case, to `each`; whether the record has the field. A record's own keys
    /// come before those of its header.
    pub fn values(self, field: &str, each: &mut dyn FnMut(&str)) -> bool {
        let mut all = |values: &[&str]| {
            for value in values {
                each(value);
            }
            !values.is_empty()
        };
        let truth = |is: bool| if is { "true" } else { "false" };
        let own = match (field, self) {
            ("id", _) => all(&[self.id()]),
            ("kind", _) => {
                let singular =
                    if let Self::Memory(memory) = self { Some(memory.collection.singular) } else { None };
                let kinds = [Some(self.kind().name()), self.record_type(), singular];
                all(&kinds.into_iter().flatten().collect::<Vec<_>>())
            }
            ("recordtype", _) | ("documentkind", Self::Doc(_)) | ("collection", Self::Memory(_)) => {
                all(self.record_type().as_slice())
            }
            ("title", _) => all(self.title().as_slice()),
            ("status", _) => all(self.status().as_slice()),
            ("path", _) => all(&[&self.path()]),
            ("body", _) => all(&[self.body()]),
            ("revision", _) => all(&[&self.record().revision()]),
            ("file", Self::Card(card, _)) => all(&[&card.file]),
            ("file", Self::Doc(document)) => all(&[&document.file]),
            ("file", Self::Memory(memory)) => all(&[&memory.file]),
            ("file", _) => all(&[self.path().rsplit('/').next().unwrap_or_default()]),
            ("archived", Self::Card(card, _)) => all(&[truth(card.is_archived())]),
            ("managed", Self::Doc(document)) => all(&[truth(document.is_managed())]),
            ("modifiedat", Self::Doc(document)) => all(&[&document.modified.timestamp()]),
            ("sizebytes", Self::Doc(document)) => all(&[&document.size.to_string()]),
            ("released", Self::Change(fragment)) => all(&[truth(fragment.is_released())]),
            ("externalissues", Self::Change(_)) => all(&self.items("issues").collect::<Vec<_>>()),
            ("releaseids", Self::Change(fragment)) => {
                all(&fragment.releases.iter().map(String::as_str).collect::<Vec<_>>())
            }
            ("created" | "updated", Self::Release(_)) => all(self.updated().as_slice()),
            ("type", _) => {
                all(self.record_type().as_slice());
                false
            }
            _ => false,
        };
        own || self.header_values(field, each) || (field == "type" && self.record_type().is_some())
    }

    fn header_values(self, field: &str, each: &mut dyn FnMut(&str)) -> bool {
        let named = |entry: &&crate::record::Entry| entry.key.eq_ignore_ascii_case(field);
        match self.record().header.entries.iter().rev().find(named).and_then(|entry| entry.value.as_ref()) {
            Some(Value::Text(text)) => each(text),
            Some(Value::List(items)) => items.iter().for_each(|item| each(item)),
            _ => return false,
        }
        true
    }
}
