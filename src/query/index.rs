//! All records of the enabled modules as one list in the natural order of their ids.
//!
//! The list is nothing but an order over what the rooms below read; what a question does not need is not computed.

use super::entry::{Entry, Folders, Kind};
use crate::failure::Failure;
use crate::record::order::natural;
use crate::workspace::{Seal, Workspace, parallel};
use crate::{docs, history, memory, work};
use serde_json::{Map, Value as Json};
use std::cmp::Ordering;

/// Every record of some kinds.
#[derive(Clone, Debug, Default)]
pub struct Index {
    /// Cards, and files among them that are none.
    pub cards: work::Listing,
    /// Documents, and files that are none.
    pub docs: docs::Listing,
    /// Fragments and releases, and files that are neither.
    pub history: history::Listing,
    /// Memory, and files that are none.
    pub memory: memory::Listing,
    folders: Folders,
    /// The kinds that were asked for.
    kinds: Vec<Kind>,
    /// The records in the order of their ids, each by its place in the order of loading.
    order: Vec<u32>,
}

impl Index {
    /// Reads every record.
    pub fn load(workspace: &Workspace) -> Result<Self, Failure> {
        Self::of(workspace, &Kind::ALL)
    }

    /// Reads the records of these kinds.
    pub fn of(workspace: &Workspace, kinds: &[Kind]) -> Result<Self, Failure> {
        let index = Self { folders: Folders::of(workspace), ..Self::default() };
        index.with(workspace, kinds)
    }

    /// The same with the records of all other kinds.
    pub fn complete(self, workspace: &Workspace) -> Result<Self, Failure> {
        self.with(workspace, &Kind::ALL)
    }

    /// Whether [`Index::holds`] can ever say yes.
    pub fn is_sealed(&self) -> bool {
        self.other_seals().chain(&self.cards.seals).all(Seal::is_set)
    }

    /// Whether reading again would find the same, with the same configuration: every file is looked at and none is read.
    pub fn holds(&self, workspace: &Workspace) -> bool {
        let holds = |seal: &Seal| seal.holds(workspace);
        let (cards, others) =
            parallel::both(|| self.cards.seals.iter().all(holds), || self.other_seals().all(holds));
        cards && others
    }

    fn other_seals(&self) -> impl Iterator<Item = &Seal> {
        self.docs.seals.iter().chain(&self.history.seals).chain(&self.memory.seals)
    }

    fn with(mut self, workspace: &Workspace, kinds: &[Kind]) -> Result<Self, Failure> {
        let is_new = |kind: &Kind| kinds.contains(kind) && !self.kinds.contains(kind);
        let [cards, docs, changes, releases, memory] = Kind::ALL.map(|kind| is_new(&kind));
        // Most records are cards: their folders are listed while the others are.
        let all_cards = || (cards && workspace.config.cards.enabled).then(|| work::load::all(workspace));
        let all_others = || {
            let docs = docs.then(|| docs::load::all(workspace)).transpose()?;
            let history = (changes || releases).then(|| history::load::all(workspace)).transpose()?;
            let memory = memory.then(|| memory::load::all(workspace)).transpose()?;
            Ok::<_, Failure>((docs, history, memory))
        };
        let (all_cards, all_others) = parallel::both(all_cards, all_others);
        if let Some(all_cards) = all_cards {
            self.cards = all_cards?;
        }
        let (all_docs, all_history, all_memory) = all_others?;
        self.docs = all_docs.unwrap_or(self.docs);
        self.history = all_history.unwrap_or(self.history);
        self.memory = all_memory.unwrap_or(self.memory);
        self.kinds.extend(kinds);
        let entries = (0..self.loaded()).map(|place| (self.at(place), place as u32));
        let wanted = entries.filter(|(entry, _)| self.kinds.contains(&entry.kind()));
        let mut order: Vec<(&str, u32)> = wanted.map(|(entry, place)| (entry.id(), place)).collect();
        order.sort_by(|(a, _), (b, _)| natural(a, b));
        self.order = order.into_iter().map(|(_, place)| place).collect();
        Ok(self)
    }

    /// How many records were loaded, of whatever kind.
    fn loaded(&self) -> usize {
        let history = self.history.fragments.len() + self.history.releases.len();
        self.cards.cards.len() + self.docs.documents.len() + history + self.memory.records.len()
    }

    /// The record at a place in the order of loading.
    fn at(&self, place: usize) -> Entry<'_> {
        let mut at = place;
        let mut within = |length: usize| {
            let inside = at < length;
            at -= if inside { 0 } else { length };
            inside
        };
        if within(self.cards.cards.len()) {
            self.folders.entry(&self.cards.cards[at])
        } else if within(self.docs.documents.len()) {
            Entry::Doc(&self.docs.documents[at])
        } else if within(self.history.fragments.len()) {
            Entry::Change(&self.history.fragments[at])
        } else if within(self.history.releases.len()) {
            Entry::Release(&self.history.releases[at])
        } else {
            Entry::Memory(&self.memory.records[at])
        }
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The record at a place in the order of ids.
    pub fn entry(&self, place: usize) -> Entry<'_> {
        self.at(self.order[place] as usize)
    }

    /// Every record in the order of ids.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        self.order.iter().map(|place| self.at(*place as usize))
    }

    /// The places of all records in the order in which they were loaded: live cards, archived ones, documents, fragments,
    /// releases, memory.
    pub(super) fn as_loaded(&self) -> Vec<usize> {
        let mut places: Vec<usize> = (0..self.len()).collect();
        places.sort_unstable_by_key(|place| self.order[*place]);
        places
    }

    /// The place of the first record with this id.
    pub fn find(&self, id: &str) -> Option<usize> {
        let before = |place: &u32| natural(self.at(*place as usize).id(), id) == Ordering::Less;
        let place = self.order.partition_point(before);
        (place < self.len() && self.entry(place).id() == id).then_some(place)
    }

    /// How many records each module has, as reports print them.
    pub fn counts(&self) -> Map<String, Json> {
        let mut counts = Map::new();
        let mut put = |key: &str, count: usize| counts.insert(key.to_owned(), count.into());
        let managed = self.docs.documents.iter().filter(|document| document.is_managed()).count();
        put("cards", self.cards.cards.len());
        put("docs", self.docs.documents.len());
        put("managedDocs", managed);
        put("indexedDocs", self.docs.documents.len() - managed);
        let history = &self.history;
        if !history.fragments.is_empty() || !history.releases.is_empty() {
            put("changes", history.fragments.len());
            put("unreleasedChanges", history.fragments.iter().filter(|one| !one.is_released()).count());
            put("releases", history.releases.len());
        }
        if !self.memory.records.is_empty() {
            put("memory", self.memory.records.len());
            for collection in self.memory.collections() {
                let of = self.memory.records.iter().filter(|record| record.collection.id == collection);
                put(collection, of.count());
            }
        }
        counts
    }
}
