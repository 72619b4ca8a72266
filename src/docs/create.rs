//! Create: a new managed document.

use super::document::{Document, Origin};
use super::fields::{self, KIND};
use super::folder::{Folder, resolve};
use super::load::{self, Listing};
use crate::failure::{Code, Failure};
use crate::path::trim;
use crate::workspace::edit::{self, Candidate, New, draft};
use crate::workspace::{DocLayout, Workspace};
use serde_json::{Map, Value as Json};
use std::cell::RefCell;

/// How often an id is tried for.
const TRIES: usize = 32;

/// Makes a document of the fields in `input`: those of the table, `folder`, `body`.
pub fn create(workspace: &Workspace, input: &Map<String, Json>) -> Result<Document, Failure> {
    let settings = &workspace.config.docs;
    workspace.module_writable("docs", settings.enabled)?;
    let mut input = input.clone();
    let given = match input.shift_remove("folder") {
        None | Some(Json::Null) => None,
        Some(Json::String(folder)) => Some(folder),
        Some(_) => {
            let failure = Failure::new(Code::DOC_FIELD_INVALID, "`folder` is not a text");
            return Err(failure.with("field", "folder").with("reason", "type"));
        }
    };
    let mut draft = draft(&KIND, &input)?;
    if draft.text("title").is_none() {
        let failure = Failure::new(Code::DOC_TITLE_REQUIRED, "a new document needs a title");
        return Err(failure.remedy("workfile doc create --title TEXT"));
    }
    draft.default(&KIND, "kind", &settings.default_kind);
    draft.default(&KIND, "status", &settings.default_status);
    let folder = match (given, draft.text("kind")) {
        (Some(given), _) => resolve(workspace, &given)?,
        // A kind that does not exist is refused for what it is, not for the folder it would give.
        (None, Some(kind))
            if settings.layout == DocLayout::ByKind && settings.kinds.iter().any(|known| known == kind) =>
        {
            resolve(workspace, kind)?
        }
        (None, _) => Folder::top(),
    };

    let listing = RefCell::new(Listing::default());
    let highest = || {
        *listing.borrow_mut() = load::all(workspace)?;
        Ok(listing.borrow().highest_of_all(&settings.id_prefix))
    };
    let check = |candidate: Candidate<'_>| {
        fields::check(candidate, settings)?;
        let id = candidate.text("id").unwrap_or_default();
        match listing.borrow().find(id) {
            None => Ok(()),
            Some(other) => {
                let text = format!("{id} is the id of {}", other.path);
                Err(Failure::new(Code::DOC_ID_DUPLICATE, text)
                    .with("id", id)
                    .with("path", other.path.as_str()))
            }
        }
    };
    let title = trim(draft.text("title").unwrap_or_default()).to_owned();
    let exhausted = Code::DOC_ID_ALLOCATION_FAILED;
    let new = New { kind: &KIND, draft: &draft, prefix: &settings.id_prefix, tries: TRIES, exhausted };
    let place = |id: &str| workspace.paths.docs.join(folder.file(&fields::file_name(id, &title)));
    let fresh = edit::create(workspace, new, highest, check, place)?;
    let file = folder.file(&fields::file_name(&fresh.id, &title));
    Document::at(workspace, Origin::Managed, workspace.repo_path(&fresh.path), file, fresh.text)
}
