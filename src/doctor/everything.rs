//! Every record of a workspace, read once.

use super::Checks;
use crate::clock::Time;
use crate::failure::Failure;
use crate::history::Stage;
use crate::work::diagnose::{self, Scene};
use crate::work::fields::DONE;
use crate::work::standing::Claims;
use crate::workspace::{Finding, Switch, Workspace, finding};
use crate::{docs, history, memory, work};
use serde_json::{Map, Value as Json};
use std::collections::HashSet;

/// The records of the enabled modules.
#[derive(Clone, Debug)]
pub struct Everything {
    /// Cards.
    pub cards: work::Listing,
    /// Documents.
    pub docs: docs::Listing,
    /// Fragments and releases.
    pub history: history::Listing,
    /// Memory.
    pub memory: memory::Listing,
}

/// One record, as far as its id is concerned.
#[derive(Clone, Debug)]
pub(super) struct Named<'a> {
    pub(super) id: &'a str,
    pub(super) kind: Kind,
    /// The path from the root.
    pub(super) path: String,
    pub(super) created: Option<&'a str>,
}

/// What a record is, as far as a new id is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Card,
    Managed,
    Indexed,
    Unreleased,
    Released,
    Release,
    Memory,
}

impl Kind {
    /// The kind of the index.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Card => "card",
            Self::Managed | Self::Indexed => "doc",
            Self::Unreleased | Self::Released => "change",
            Self::Release => "release",
            Self::Memory => "memory",
        }
    }
}

impl Everything {
    /// Reads every record of the enabled modules.
    pub fn load(workspace: &Workspace) -> Result<Self, Failure> {
        let cards = if workspace.config.cards.enabled {
            work::load::all(workspace)?
        } else {
            work::Listing::default()
        };
        Ok(Self {
            cards,
            docs: docs::load::all(workspace)?,
            history: history::load::all(workspace)?,
            memory: memory::load::all(workspace)?,
        })
    }

    /// Every record: cards, documents, fragments, releases, memory.
    pub(super) fn named<'a>(&'a self, workspace: &Workspace) -> Vec<Named<'a>> {
        let mut named = Vec::new();
        for card in &self.cards.cards {
            let path = card.repo_path(workspace);
            named.push(Named { id: &card.id, kind: Kind::Card, path, created: card.field("created") });
        }
        for document in &self.docs.documents {
            let kind = if document.is_managed() { Kind::Managed } else { Kind::Indexed };
            let (path, created) = (document.path.clone(), document.field("created"));
            named.push(Named { id: &document.id, kind, path, created });
        }
        for fragment in &self.history.fragments {
            let kind = match fragment.stage {
                Stage::Unreleased => Kind::Unreleased,
                Stage::Released => Kind::Released,
            };
            let (path, created) = (fragment.path.clone(), fragment.field("created"));
            named.push(Named { id: &fragment.id, kind, path, created });
        }
        for release in &self.history.releases {
            let (path, created) = (release.path.clone(), release.field("date"));
            named.push(Named { id: &release.id, kind: Kind::Release, path, created });
        }
        for record in &self.memory.records {
            let (path, created) = (record.path.clone(), record.field("created"));
            named.push(Named { id: &record.id, kind: Kind::Memory, path, created });
        }
        named
    }

    /// What each module finds wrong with its own records.
    pub(super) fn modules(&self, workspace: &Workspace, checks: Checks, now: Time) -> Vec<Finding> {
        let ids = self.ids(workspace);
        let exists = |id: &str| ids.contains(id);
        let mut found = diagnose::all(&Scene {
            workspace,
            listing: &self.cards,
            claims: &Claims::of(workspace, now),
            exists: &exists,
            paths: checks.paths,
            git: checks.git,
        });
        let done_on = |id: &str| {
            let card = self.cards.find(id).filter(|card| card.status() == Some(DONE))?;
            card.field("updated").map(str::to_owned)
        };
        let today = now.date();
        let files = match checks.paths {
            diagnose::Paths::Check => docs::Files::Ask,
            diagnose::Paths::Skip => docs::Files::Leave,
        };
        let around = docs::Around { is_known: &exists, done_on: &done_on, today: &today, files };
        found.extend(docs::diagnose(workspace, &self.docs, &around));
        found.extend(history::diagnose::diagnose(&self.history, &today, &workspace.config, exists));
        let around = memory::Around { is_known: &exists, today: &today };
        found.extend(memory::diagnose(&self.memory, &around));
        found
    }

    /// What is wrong with memory, the gravest first.
    pub fn memory(&self, workspace: &Workspace, now: Time) -> Vec<Finding> {
        let ids = self.ids(workspace);
        let around = memory::Around { is_known: &|id| ids.contains(id), today: &now.date() };
        let mut found = memory::diagnose(&self.memory, &around);
        found.sort_by(finding::order);
        found
    }

    /// The ids that a record can refer to.
    pub fn ids(&self, workspace: &Workspace) -> HashSet<&str> {
        self.named(workspace).into_iter().map(|record| record.id).collect()
    }

    /// What is wrong with the changelog, the gravest first.
    pub fn changelog(&self, workspace: &Workspace, now: Time) -> Vec<Finding> {
        let ids = self.ids(workspace);
        let exists = |id: &str| ids.contains(id);
        let mut found = history::diagnose::diagnose(&self.history, &now.date(), &workspace.config, exists);
        found.sort_by(finding::order);
        found
    }

    /// How many records each module has; history and memory are counted when there is anything.
    pub(super) fn counts(&self, workspace: &Workspace) -> Map<String, Json> {
        let mut counts = Map::new();
        let mut put = |key: &str, count: usize| counts.insert(key.to_owned(), count.into());
        let config = &workspace.config;
        if config.cards.enabled {
            put("cards", self.cards.cards.len());
        }
        if config.docs.enabled == Switch::On {
            let managed = self.docs.documents.iter().filter(|document| document.is_managed()).count();
            put("docs", self.docs.documents.len());
            put("managedDocs", managed);
            put("indexedDocs", self.docs.documents.len() - managed);
        }
        if !self.history.fragments.is_empty() || !self.history.releases.is_empty() {
            let open = self.history.fragments.iter().filter(|fragment| !fragment.is_released()).count();
            put("changes", self.history.fragments.len());
            put("unreleasedChanges", open);
            put("releases", self.history.releases.len());
        }
        if !self.memory.records.is_empty() {
            put("memory", self.memory.records.len());
            for collection in &config.memory.collections {
                let of = self.memory.records.iter().filter(|record| record.collection == *collection);
                put(collection.id, of.count());
            }
        }
        counts
    }
}
