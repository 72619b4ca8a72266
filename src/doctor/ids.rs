//! Ids that several files carry: which of them keeps it, and why some cannot be told apart by a program.

use super::everything::{Everything, Kind, Named};
use crate::workspace::{Finding, Severity};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// Why nobody but a person can heal a duplicated id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    MixedKinds,
    Release,
    IndexedDocument,
    MultipleReleased,
}

impl Reason {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::MixedKinds => "mixed-kinds",
            Self::Release => "release",
            Self::IndexedDocument => "indexed-document",
            Self::MultipleReleased => "multiple-released",
        }
    }

    pub(super) fn text(self) -> &'static str {
        match self {
            Self::MixedKinds => {
                "records of several kinds carry it, and which one is meant elsewhere cannot be told"
            }
            Self::Release => "a release keeps its id for good; rename one of the files by hand",
            Self::IndexedDocument => "a document that is only indexed carries it; change its header by hand",
            Self::MultipleReleased => "several releases have published it; what is published is not changed",
        }
    }
}

/// One id and the files that carry it, by path.
#[derive(Clone, Debug)]
pub(super) struct Duplicate<'a> {
    pub(super) id: &'a str,
    pub(super) records: Vec<Named<'a>>,
}

impl Duplicate<'_> {
    /// Why it cannot be healed; `None` when it can.
    pub(super) fn reason(&self) -> Option<Reason> {
        let first = self.records[0].kind.name();
        let count = |kind| self.records.iter().filter(|record| record.kind == kind).count();
        if self.records.iter().any(|record| record.kind.name() != first) {
            Some(Reason::MixedKinds)
        } else if count(Kind::Release) > 0 {
            Some(Reason::Release)
        } else if count(Kind::Indexed) > 0 {
            Some(Reason::IndexedDocument)
        } else if count(Kind::Released) > 1 {
            Some(Reason::MultipleReleased)
        } else {
            None
        }
    }

    pub(super) fn paths(&self) -> Vec<String> {
        self.records.iter().map(|record| record.path.to_string()).collect()
    }

    /// The kind of the first file.
    pub(super) fn kind(&self) -> &'static str {
        self.records[0].kind.name()
    }

    /// All but the one that keeps the id, in the order in which they move: the released fragment keeps it if there is one, else
    /// the oldest, ties by path.
    pub(super) fn movers(&self) -> Vec<&Named<'_>> {
        let mut records: Vec<&Named<'_>> = self.records.iter().collect();
        let key = |record: &Named<'_>| {
            (record.kind != Kind::Released, record.created.map(str::to_owned), record.path.to_string())
        };
        records.sort_by_cached_key(|record| key(record));
        records.remove(0);
        records
    }
}

/// Every id of several files, by its bytes.
pub(super) fn duplicates(everything: &Everything) -> Vec<Duplicate<'_>> {
    let mut by_id: BTreeMap<&str, Vec<Named<'_>>> = BTreeMap::new();
    for record in everything.named() {
        by_id.entry(record.id).or_default().push(record);
    }
    let several = by_id.into_iter().filter(|(_, records)| records.len() > 1);
    let mut found: Vec<Duplicate<'_>> = several.map(|(id, records)| Duplicate { id, records }).collect();
    for duplicate in &mut found {
        duplicate.records.sort_by(|a, b| a.path.cmp(&b.path));
    }
    found
}

pub(super) fn findings(everything: &Everything) -> Vec<Finding> {
    let finding = |duplicate: &Duplicate<'_>| {
        let (reason, paths) = (duplicate.reason(), duplicate.paths());
        let remedy = match reason {
            Some(reason) => reason.text().to_owned(),
            None if duplicate.kind() == "card" => {
                "`workfile doctor --fix` or `workfile card renumber --duplicates` gives all but one a new id"
                    .to_owned()
            }
            None => "`workfile doctor --fix` gives all but one a new id".to_owned(),
        };
        let what = format!("{} files carry the id {}", paths.len(), duplicate.id);
        let file = paths[0].clone();
        Finding::new(Severity::Error, "doctor", "duplicate-record-id", what, remedy)
            .about(duplicate.id, file)
            .with("paths", paths)
            .with("kind", duplicate.kind())
            .with("healable", reason.is_none())
            .with("reason", reason.map_or(Json::Null, |reason| reason.name().into()))
    };
    duplicates(everything).iter().map(finding).collect()
}
