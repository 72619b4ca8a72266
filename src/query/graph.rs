//! Which records name which: declared fields, links, mentions.
//!
//! Nothing is computed before it is asked for: what a record names is read from its own text alone, and who names some
//! records takes one look at all others, of which only those that could name one of them are read closely.

use super::entry::{Entry, Kind};
use super::index::Index;
use super::reference::{mentions, wikilinks};
use crate::docs::{LinkNames, local_links};
use crate::workspace::{Workspace, parallel};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

/// How one record names another, the strongest first: by rank, then by name.
const RELATIONS: [(&str, u8); 15] = [
    ("source", 0),
    ("cards", 1),
    ("corrective_actions", 1),
    ("decisions", 1),
    ("depends", 1),
    ("fragments", 1),
    ("graduated_to", 1),
    ("origin", 1),
    ("parent", 1),
    ("superseded_by", 1),
    ("supersedes", 1),
    ("related", 2),
    ("wikilink", 3),
    ("markdown", 4),
    ("mention", 5),
];

/// The fields of a kind that name records, in the order in which they are read.
fn declared(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Card => &["parent", "depends", "origin", "related"],
        Kind::Doc => &["supersedes", "related"],
        Kind::Change => &["cards", "decisions", "related"],
        Kind::Release => &["fragments"],
        Kind::Memory => &["supersedes", "superseded_by", "graduated_to", "corrective_actions", "related"],
    }
}

/// Every way in which one record names another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Relations(u16);

impl Relations {
    fn one(name: &str) -> Self {
        let place = RELATIONS.iter().position(|(known, _)| *known == name);
        Self(place.map_or(0, |place| 1 << place))
    }

    fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }

    fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The names, the strongest first.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        RELATIONS
            .iter()
            .enumerate()
            .filter(move |(place, _)| self.0 & (1 << place) != 0)
            .map(|(_, (name, _))| *name)
    }

    /// The rank of the strongest: 0 for the strongest there is.
    pub fn rank(self) -> u8 {
        RELATIONS.get(self.0.trailing_zeros() as usize).map_or(9, |(_, rank)| *rank)
    }

    /// Whether a field declares one of them; prose and files do not count.
    pub fn is_declared(self) -> bool {
        let prose = ["source", "wikilink", "markdown", "mention"].map(Self::one);
        self.0 & !prose.iter().fold(0, |all, one| all | one.0) != 0
    }
}

/// What a record names.
#[derive(Clone, Debug)]
pub struct Outgoing<'a> {
    /// The id, which need not be that of a record.
    pub id: &'a str,
    /// How.
    pub relations: Relations,
    /// The place of the record that has it.
    pub target: Option<usize>,
}

/// Who names a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incoming {
    /// The place of whoever does.
    pub from: usize,
    /// How.
    pub relations: Relations,
}

/// The records and how they name each other.
pub struct Graph<'a> {
    index: &'a Index,
    route_roots: &'a [String],
    paths: OnceLock<HashMap<Cow<'a, str>, usize>>,
}

impl<'a> Graph<'a> {
    /// The graph of an index; nothing is computed yet.
    pub fn new(workspace: &'a Workspace, index: &'a Index) -> Self {
        Self { index, route_roots: &workspace.config.docs.route_roots, paths: OnceLock::new() }
    }

    /// What the record at `place` names, each id once, in the order in which it is first found.
    pub fn outgoing(&self, place: usize) -> Vec<Outgoing<'a>> {
        let mut found: Vec<Outgoing<'a>> = Vec::new();
        let mut seen: HashMap<&str, usize> = HashMap::new();
        self.each(self.index.entry(place), &mut |id, how| {
            let at = *seen.entry(id).or_insert_with(|| {
                found.push(Outgoing { id, relations: Relations::default(), target: None });
                found.len() - 1
            });
            how.put_into(&mut found[at].relations);
        });
        found.retain(|edge| !edge.relations.is_empty());
        for edge in &mut found {
            edge.target = self.index.find(edge.id);
        }
        found
    }

    /// Who names each of the records at `places`, in the order of loading, all of them. Every record is looked at.
    pub fn incoming(&self, places: &[usize]) -> Vec<Vec<Incoming>> {
        // Of several records with one id the first is meant, and all of them show who names it.
        let mut ids: HashMap<&str, usize> = HashMap::with_capacity(places.len());
        for place in places {
            let next = ids.len();
            ids.entry(self.index.entry(*place).id()).or_insert(next);
        }
        if ids.is_empty() {
            return Vec::new();
        }
        let meant = Meant::of(self.index, &ids);
        let start = || vec![Relations::default(); ids.len()];
        let names = |all: &mut Vec<Relations>, from: usize| {
            let entry = self.index.entry(from);
            let mut named: Vec<(usize, Relations)> = Vec::new();
            if !meant.may_be_named_by(entry) {
                return (from, named);
            }
            let mut touched = Vec::new();
            self.each(entry, &mut |id, how| {
                if let Some(&target) = ids.get(id) {
                    let before = all[target];
                    how.put_into(&mut all[target]);
                    if before.is_empty() && !all[target].is_empty() {
                        touched.push(target);
                    }
                }
            });
            named.extend(touched.into_iter().map(|target| (target, std::mem::take(&mut all[target]))));
            (from, named)
        };
        let mut incoming = vec![Vec::new(); ids.len()];
        for (from, named) in parallel::fold(self.index.as_loaded(), start, names) {
            for (target, relations) in named {
                incoming[target].push(Incoming { from, relations });
            }
        }
        places.iter().map(|place| incoming[ids[self.index.entry(*place).id()]].clone()).collect()
    }

    /// Hands every id that a record names to `each`, as often as it does, in the order that decides: fields, double
    /// brackets, mentions, the card's source, links.
    fn each(&self, entry: Entry<'a>, each: &mut dyn FnMut(&'a str, How)) {
        let own = entry.id();
        let mut tell = |id: &'a str, how: How| {
            if id != own {
                each(id, how);
            }
        };
        for field in declared(entry.kind()) {
            let relation = Relations::one(field);
            entry.items(field).for_each(|id| tell(id, How::Also(relation)));
        }
        let body = entry.body();
        let [wikilink, mention, source, markdown] =
            ["wikilink", "mention", "source", "markdown"].map(Relations::one);
        wikilinks(body).for_each(|id| tell(id, How::Also(wikilink)));
        mentions(body).for_each(|id| tell(id, How::Alone(mention)));
        if entry.kind() == Kind::Card
            && let Some(path) = entry.record().field("source")
            && let Some(id) = self.at(path.split('#').next().unwrap_or(path))
        {
            tell(id, How::Also(source));
        }
        if body.contains("](") {
            for link in local_links(body, &entry.path(), self.route_roots) {
                if let Some(id) = link.candidates.iter().find_map(|path| self.at(path)) {
                    tell(id, How::Also(markdown));
                }
            }
        }
    }

    /// The id of the record whose file is at `path`.
    fn at(&self, path: &str) -> Option<&'a str> {
        let paths = self.paths.get_or_init(|| {
            let mut paths = HashMap::with_capacity(self.index.len());
            for (place, entry) in self.index.entries().enumerate() {
                paths.entry(entry.path()).or_insert(place);
            }
            paths
        });
        paths.get(path).map(|place| self.index.entry(*place).id())
    }
}

/// The records that are looked for in others: a quick look that never says no in error.
struct Meant<'a> {
    ids: &'a HashMap<&'a str, usize>,
    paths: HashSet<Cow<'a, str>>,
    names: LinkNames,
}

impl<'a> Meant<'a> {
    fn of(index: &'a Index, ids: &'a HashMap<&'a str, usize>) -> Self {
        let carries = |entry: &Entry<'_>| ids.contains_key(entry.id());
        let paths: HashSet<Cow<'a, str>> = index.entries().filter(carries).map(Entry::path).collect();
        let names = LinkNames::of(paths.iter().map(Cow::as_ref));
        Self { ids, paths, names }
    }

    /// Whether a record could name one of them. What stands between double brackets is mentioned as well.
    fn may_be_named_by(&self, entry: Entry<'_>) -> bool {
        let body = entry.body();
        declared(entry.kind()).iter().any(|field| entry.items(field).any(|id| self.ids.contains_key(id)))
            || mentions(body).any(|id| self.ids.contains_key(id))
            || entry
                .record()
                .field("source")
                .is_some_and(|path| self.paths.contains(path.split('#').next().unwrap_or(path)))
            || self.names.may_be_linked_in(body)
    }
}

/// How a relation joins those that are known of the same pair.
#[derive(Clone, Copy)]
enum How {
    /// Beside them.
    Also(Relations),
    /// Only where there is none: what is linked is not merely mentioned.
    Alone(Relations),
}

impl How {
    fn put_into(self, known: &mut Relations) {
        match self {
            Self::Also(relation) => known.add(relation),
            Self::Alone(relation) if known.is_empty() => known.add(relation),
            Self::Alone(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relations_are_in_the_order_of_rank_and_name() {
        let mut sorted = RELATIONS;
        sorted.sort_by_key(|(name, rank)| (*rank, *name));
        assert_eq!(sorted, RELATIONS);
        let mut all = Relations::one("mention");
        assert!(!all.is_declared());
        all.add(Relations::one("origin"));
        assert_eq!((all.names().collect::<Vec<_>>(), all.rank()), (vec!["origin", "mention"], 1));
        assert!(all.is_declared());
        for kind in Kind::ALL {
            assert!(declared(kind).iter().all(|field| Relations::one(field).is_declared()), "{kind:?}");
        }
    }
}
