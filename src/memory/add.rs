//! Add: a new record in a collection.

use super::fields::{self, KIND};
use super::load::{self, Listing};
use super::record::Memory;
use crate::failure::{Code, Failure};
use crate::path::trim;
use crate::workspace::edit::{self, Candidate, New, draft};
use crate::workspace::{Collection, Workspace};
use serde_json::{Map, Value as Json};
use std::cell::RefCell;

/// How often an id is tried for.
const TRIES: usize = 32;

/// The enabled collection of that name, in either spelling: `learnings`, `learning`.
pub fn collection(workspace: &Workspace, name: &str) -> Result<&'static Collection, Failure> {
    let enabled = &workspace.config.memory.collections;
    let named = |collection: &&&'static Collection| collection.id == name || collection.singular == name;
    enabled.iter().find(named).copied().ok_or_else(|| {
        let known: Vec<&str> = enabled.iter().map(|collection| collection.id).collect();
        let text = format!("no collection {name} is enabled; memory.collections has {}", known.join(", "));
        let failure = Failure::new(Code::MEMORY_COLLECTION_DISABLED, text);
        failure.with("field", "collection").with("value", name).with("allowed", known)
    })
}

/// Makes a record of the fields in `input`: those of the table and `body`.
pub fn add(workspace: &Workspace, name: &str, input: &Map<String, Json>) -> Result<Memory, Failure> {
    workspace.module_writable("memory", workspace.config.memory.enabled)?;
    let collection = collection(workspace, name)?;
    let mut draft = draft(&KIND, input)?;
    if draft.text("title").is_none() {
        let failure = Failure::new(Code::MEMORY_TITLE_REQUIRED, "a new memory record needs a title");
        return Err(failure.remedy(format!("workfile memory add {} --title TEXT", collection.singular)));
    }
    draft.default(&KIND, "status", collection.statuses[0]);

    let listing = RefCell::new(Listing::default());
    let highest = || {
        *listing.borrow_mut() = load::all(workspace)?;
        Ok(listing.borrow().highest(collection))
    };
    let check = |candidate: Candidate<'_>| {
        fields::check(candidate, collection)?;
        let id = candidate.text("id").unwrap_or_default();
        match listing.borrow().find(id) {
            None => Ok(()),
            Some(other) => {
                let text = format!("{id} is the id of {}", other.path);
                Err(Failure::new(Code::MEMORY_ID_DUPLICATE, text)
                    .with("id", id)
                    .with("path", other.path.as_str()))
            }
        }
    };
    let title = trim(draft.text("title").unwrap_or_default()).to_owned();
    let exhausted = Code::MEMORY_ID_ALLOCATION_FAILED;
    let new = New { kind: &KIND, draft: &draft, prefix: collection.prefix, tries: TRIES, exhausted };
    let folder = workspace.paths.memory.join(collection.id);
    let place = |id: &str| folder.join(fields::file_name(id, &title));
    let fresh = edit::create(workspace, new, highest, check, place)?;
    let file = fields::file_name(&fresh.id, &title);
    Memory::written(collection, workspace.repo_path(&fresh.path), file, fresh.text)
}
