//! Who names a card: records of every kind whose text has its id as a word.

use super::card::{Card, Place};
use super::load::{self, Listing};
use super::renamed::mentions;
use crate::failure::Failure;
use crate::record::{self, RecordFile};
use crate::workspace::files::{self, Found, Source};
use crate::workspace::{Switch, Workspace};
use std::path::Path;

/// A record that names a card, or could.
#[derive(Clone, Debug)]
pub(super) struct Text {
    /// The path from the root.
    pub(super) path: String,
    /// What it is.
    pub(super) kind: Kind,
    /// The id that its header states.
    pub(super) id: Option<String>,
    whole: record::Text,
}

/// What a record is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A card, in this file of this folder.
    Card(Place, String),
    /// A record of another module: what it is called, and whose lock its writers take.
    Other(&'static str, &'static str),
}

impl Kind {
    /// As answers call it.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Card(..) => "card",
            Self::Other(name, _) => name,
        }
    }
}

impl Text {
    /// Whether the text has an id as a word.
    pub(super) fn mentions(&self, id: &str) -> bool {
        mentions(&self.whole, id)
    }
}

/// Every readable record of a workspace, by the bytes of its path. `listing` are its cards.
pub(super) fn texts(workspace: &Workspace, listing: &Listing) -> Result<Vec<Text>, Failure> {
    let card = |card: &Card| Text {
        path: card.repo_path(workspace),
        kind: Kind::Card(card.place, card.file.clone()),
        id: Some(card.id.clone()),
        whole: card.text().clone(),
    };
    let mut texts: Vec<Text> = listing.cards.iter().map(card).collect();
    let mut add = |found: Found, folder: &Path, of: &dyn Fn(&str) -> Kind| {
        for Source { path, text, .. } in found.sources {
            let kind = of(path.rsplit('/').next().unwrap_or(&path));
            let id = RecordFile::lenient(text.clone(), &[]).field("id").map(str::to_owned);
            texts.push(Text { path: workspace.repo_path(&folder.join(&path)), kind, id, whole: text });
        }
    };
    let (config, paths) = (&workspace.config, &workspace.paths);
    if config.docs.enabled == Switch::On {
        let doc = |_: &str| Kind::Other("doc", "docs");
        add(files::records(workspace, &paths.docs, None)?, &paths.docs, &doc);
        add(files::sources(workspace)?, &workspace.root, &doc);
    }
    if config.changelog.enabled == Switch::On {
        let release = format!("{}-", config.changelog.release_prefix);
        let kind = |name: &str| {
            Kind::Other(if name.starts_with(&release) { "release" } else { "change" }, "changelog")
        };
        for (folder, other) in [(&paths.fragments, &paths.releases), (&paths.releases, &paths.fragments)] {
            add(files::records(workspace, folder, Some(other))?, folder, &kind);
        }
    }
    if config.memory.enabled == Switch::On {
        for collection in &config.memory.collections {
            let folder = paths.memory.join(collection.id);
            add(files::records(workspace, &folder, None)?, &folder, &|_| Kind::Other("memory", "memory"));
        }
    }
    texts.sort_by(|a, b| a.path.cmp(&b.path));
    // A pattern of documents may name a record of another module too.
    texts.dedup_by(|later, first| later.path == first.path);
    Ok(texts)
}

/// The paths of records that have `id` as a word and do not carry it; `own` is left out.
pub fn review(workspace: &Workspace, id: &str, own: &str) -> Result<Vec<String>, Failure> {
    let names = |text: &Text| text.path != own && text.id.as_deref() != Some(id) && text.mentions(id);
    Ok(all(workspace)?.into_iter().filter(names).map(|text| text.path).collect())
}

/// Lets lists of paths follow a file that got another name after they were made.
pub fn follow<'a>(lists: impl Iterator<Item = &'a mut Vec<String>>, from: &str, to: &str) {
    for path in lists.flatten().filter(|path| *path == from) {
        to.clone_into(path);
    }
}

/// Every readable record, the cards read anew.
pub(super) fn all(workspace: &Workspace) -> Result<Vec<Text>, Failure> {
    texts(workspace, &load::all(workspace)?)
}
