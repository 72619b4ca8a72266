//! A new change fragment, under an id that neither an unreleased nor a released one has.

use super::check;
use super::cut::TRIES;
use super::fields::{FRAGMENT, file_name};
use super::fragment::{Fragment, Stage};
use super::load::{self, Listing};
use super::{parsed, staging};
use crate::failure::{Code, Failure};
use crate::workspace::Workspace;
use crate::workspace::edit::{self, Candidate, Fresh, New};
use serde_json::{Map, Value as Json};
use std::cell::RefCell;

/// Makes a fragment of the fields in `input`: those of the table, and `body`.
pub fn add(workspace: &Workspace, input: &Map<String, Json>) -> Result<Fragment, Failure> {
    let settings = &workspace.config.changelog;
    workspace.module_writable("changelog", settings.enabled)?;
    let mut draft = edit::draft(&FRAGMENT, input)?;
    let area = workspace.config.cards.areas.first().map(String::as_str).unwrap_or_default();
    for (key, value) in
        [("type", &*settings.default_type), ("area", area), ("visibility", &*settings.default_visibility)]
    {
        draft.default(&FRAGMENT, key, value);
    }
    let _lock = staging::lock(workspace)?;
    let listing = RefCell::new(Listing::default());
    let highest = || {
        let found = load::all(workspace)?;
        let highest = found.highest_fragment;
        listing.replace(found);
        Ok(highest)
    };
    let check = |candidate: Candidate<'_>| {
        check::fragment(candidate, &workspace.config)?;
        unused(candidate, &listing.borrow())
    };
    let title = draft.text("title").unwrap_or_default();
    let new = New {
        kind: &FRAGMENT,
        draft: &draft,
        prefix: &settings.id_prefix,
        tries: TRIES,
        exhausted: Code::RECORD_ID_ALLOCATION_FAILED,
    };
    let place = |id: &str| workspace.paths.fragments.join(file_name(id, title));
    let Fresh { id, path, text } = edit::create(workspace, new, highest, check, place)?;
    let path = workspace.repo_path(&path);
    let record = parsed(&path, text)?;
    Ok(Fragment::new(id, path, Stage::Unreleased, record))
}

/// No fragment has the id yet.
fn unused(candidate: Candidate<'_>, listing: &Listing) -> Result<(), Failure> {
    let id = candidate.text("id").unwrap_or_default();
    match listing.fragments.iter().find(|it| it.id == id) {
        None => Ok(()),
        Some(other) => {
            let text = format!("{id} is the id of {} already", other.path);
            Err(Failure::new(Code::CHANGE_ID_DUPLICATE, text)
                .with("id", id)
                .with("file", other.path.as_str()))
        }
    }
}
