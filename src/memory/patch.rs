//! Patch and graduate: one record changed in place.

use super::fields::{self, KIND};
use super::load::{self, Listing};
use super::record::Memory;
use crate::failure::{Code, Failure};
use crate::path::trim;
use crate::workspace::Workspace;
use crate::workspace::edit::{self, Changes, Kind, Record, Target};
use serde_json::{Map, Value as Json};

impl Record for Memory {
    const KIND: &'static Kind = &KIND;

    fn id(&self) -> &str {
        &self.id
    }

    fn path(&self) -> &str {
        &self.path
    }

    fn to_json(&self) -> Map<String, Json> {
        self.to_json()
    }

    fn again(&self, _: &Workspace, text: String) -> Result<Self, Failure> {
        Self::written(self.collection, self.path.clone(), self.file.clone(), text)
    }
}

/// Sets or clears fields, and replaces the text when `body` is among the changes. The collection stays.
pub fn patch(
    workspace: &Workspace,
    target: Target<'_>,
    input: &Map<String, Json>,
) -> Result<Memory, Failure> {
    change(workspace, target, |_| edit::changes(&KIND, input))
}

/// A learning that has become something else.
#[derive(Clone, Copy, Debug)]
pub struct Graduate<'a> {
    /// Which learning.
    pub target: Target<'a>,
    /// The records it has become, of any kind.
    pub to: &'a [String],
}

/// Marks a learning as graduated to other records. `is_known` says whether a record of any kind has an id.
pub fn graduate(
    workspace: &Workspace,
    graduate: Graduate<'_>,
    is_known: &dyn Fn(&str) -> bool,
) -> Result<Memory, Failure> {
    writable(workspace)?;
    let id = graduate.target.id;
    let mut to: Vec<&str> = Vec::new();
    for target in graduate.to.iter().map(|target| trim(target)).filter(|target| !target.is_empty()) {
        if !to.contains(&target) {
            to.push(target);
        }
    }
    change(workspace, graduate.target, |record| {
        if record.collection.id != "learnings" {
            let text = format!("{id} is a {}; only a learning graduates", record.collection.singular);
            return Err(Failure::new(Code::MEMORY_GRADUATION_INVALID, text).with("id", id));
        }
        if to.is_empty() {
            let text = format!("the records that {id} has become are missing");
            let failure = Failure::new(Code::MEMORY_GRADUATION_TARGET_REQUIRED, text);
            return Err(failure.remedy(format!("workfile memory graduate {id} --to ID")));
        }
        let unknown: Vec<&str> =
            to.iter().copied().filter(|target| *target == id || !is_known(target)).collect();
        if !unknown.is_empty() {
            let text = format!("{id} cannot graduate to {}: no other record has that id", unknown.join(", "));
            return Err(Failure::new(Code::MEMORY_GRADUATION_TARGET_NOT_FOUND, text).with("ids", unknown));
        }
        let targets = to.iter().map(|target| (*target).to_owned()).collect();
        Ok(Changes::default().text("status", "graduated").list("graduated_to", targets))
    })
}

pub(super) fn writable(workspace: &Workspace) -> Result<(), Failure> {
    workspace.module_writable("memory", workspace.config.memory.enabled)
}

fn change(
    workspace: &Workspace,
    target: Target<'_>,
    plan: impl FnOnce(&Memory) -> Result<Changes, Failure>,
) -> Result<Memory, Failure> {
    writable(workspace)?;
    let find = || locate(&load::all(workspace)?, target.id).cloned();
    edit::patch(workspace, target, find, plan, |record, candidate| {
        fields::check(candidate, record.collection)
    })
}

/// The record with this id: one, and only one.
pub(super) fn locate<'a>(listing: &'a Listing, id: &str) -> Result<&'a Memory, Failure> {
    let mut found = listing.records.iter().filter(|record| record.id == id);
    match (found.next(), found.next()) {
        (None, _) => Err(edit::missing(&KIND, id, &listing.unreadable)),
        (Some(record), None) => Ok(record),
        (Some(record), Some(_)) => edit::locate(listing.records.iter().cloned(), id).map(|_| record),
    }
}
