//! Every record of a workspace, read once.

use super::Checks;
use crate::clock::Time;
use crate::failure::Failure;
use crate::query::{self, Entry, Index};
use crate::work::diagnose::{self, Scene};
use crate::work::fields::DONE;
use crate::work::standing::Claims;
use crate::workspace::{Finding, Workspace, finding};
use crate::{docs, history, memory};
use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Deref;
use std::sync::Arc;

/// The index of all records, to be diagnosed.
#[derive(Clone, Debug)]
pub struct Everything(Arc<Index>);

impl Deref for Everything {
    type Target = Index;

    fn deref(&self) -> &Index {
        &self.0
    }
}

/// One record, as far as its id is concerned.
#[derive(Clone, Debug)]
pub(super) struct Named<'a> {
    pub(super) id: &'a str,
    pub(super) kind: Kind,
    /// The path from the root.
    pub(super) path: Cow<'a, str>,
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
        Index::load(workspace).map(|index| Self::of(Arc::new(index)))
    }

    /// Every record that was read.
    pub fn of(index: Arc<Index>) -> Self {
        Self(index)
    }

    /// Every record in the order of ids.
    pub(super) fn named(&self) -> impl Iterator<Item = Named<'_>> {
        self.entries().map(|entry| {
            let kind = match entry {
                Entry::Card(..) => Kind::Card,
                Entry::Doc(document) if document.is_managed() => Kind::Managed,
                Entry::Doc(_) => Kind::Indexed,
                Entry::Change(fragment) if fragment.is_released() => Kind::Released,
                Entry::Change(_) => Kind::Unreleased,
                Entry::Release(_) => Kind::Release,
                Entry::Memory(_) => Kind::Memory,
            };
            let date = if kind == Kind::Release { "date" } else { "created" };
            Named { id: entry.id(), kind, path: entry.path(), created: entry.record().field(date) }
        })
    }

    /// What the modules of some kinds find wrong with their own records.
    pub(super) fn modules(
        &self,
        workspace: &Workspace,
        checks: Checks,
        now: Time,
        kinds: &[query::Kind],
    ) -> Vec<Finding> {
        let ids = self.ids();
        let exists = |id: &str| ids.contains(id);
        let any = |some: &[query::Kind]| some.iter().any(|kind| kinds.contains(kind));
        let mut found = Vec::new();
        if any(&[query::Kind::Card]) {
            found.extend(diagnose::all(&Scene {
                workspace,
                listing: &self.cards,
                claims: &Claims::of(workspace, now),
                exists: &exists,
                paths: checks.paths,
                git: checks.git,
            }));
        }
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
        if any(&[query::Kind::Doc]) {
            found.extend(docs::diagnose(workspace, &self.docs, &around));
        }
        if any(&[query::Kind::Change, query::Kind::Release]) {
            found.extend(history::diagnose::diagnose(&self.history, &today, &workspace.config, exists));
        }
        if any(&[query::Kind::Memory]) {
            let around = memory::Around { is_known: &exists, today: &today };
            found.extend(memory::diagnose(&self.memory, &around));
        }
        found
    }

    /// What is wrong with memory, the gravest first.
    pub fn memory_findings(&self, now: Time) -> Vec<Finding> {
        let ids = self.ids();
        let around = memory::Around { is_known: &|id| ids.contains(id), today: &now.date() };
        let mut found = memory::diagnose(&self.memory, &around);
        found.sort_by(finding::order);
        found
    }

    /// The ids that a record can refer to.
    pub fn ids(&self) -> HashSet<&str> {
        self.entries().map(Entry::id).collect()
    }

    /// What is wrong with the changelog, the gravest first.
    pub fn changelog_findings(&self, workspace: &Workspace, now: Time) -> Vec<Finding> {
        let ids = self.ids();
        let exists = |id: &str| ids.contains(id);
        let mut found = history::diagnose::diagnose(&self.history, &now.date(), &workspace.config, exists);
        found.sort_by(finding::order);
        found
    }
}
