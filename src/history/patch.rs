//! Changing a fragment that is not released yet.

use super::check;
use super::fields::FRAGMENT;
use super::fragment::Fragment;
use super::load::{self, Listing};
use super::staging;
use crate::failure::{Code, Failure};
use crate::path::trim;
use crate::record::id;
use crate::workspace::Workspace;
use crate::workspace::edit::{self, Candidate, Target, locate};
use serde_json::{Map, Value as Json};

/// Applies changes to an unreleased fragment: fields of the table, and `body`.
pub fn patch(
    workspace: &Workspace,
    target: Target<'_>,
    changes: &Map<String, Json>,
) -> Result<Fragment, Failure> {
    workspace.module_writable("changelog", workspace.config.changelog.enabled)?;
    let _lock = staging::lock(workspace)?;
    // An id of another form cannot be kept, and its lock could be the one that is held already.
    if !id::is_valid(target.id, &workspace.config.changelog.id_prefix) {
        let found = find(load::all(workspace)?, target.id)?;
        check::fragment(Candidate { called: &found.id, header: &found.header }, &workspace.config)?;
    }
    edit::patch(
        workspace,
        target,
        || find(load::all(workspace)?, target.id),
        |_| edit::changes(&FRAGMENT, changes),
        |_, candidate| check::fragment(candidate, &workspace.config),
    )
}

/// The unreleased fragment with this id; what else has it is named for what it is.
fn find(listing: Listing, id: &str) -> Result<Fragment, Failure> {
    let is_version = |version: &str| trim(version) == trim(id);
    let has = |fragment: &&Fragment| fragment.id == id;
    if !listing.fragments.iter().filter(has).any(|it| !it.is_released()) {
        let release =
            listing.releases.iter().find(|it| it.id == id || it.field("version").is_some_and(is_version));
        if let Some(release) = release {
            let version = release.field("version").unwrap_or("without a version");
            let text = format!("{} is the release {version}, not a fragment", release.id);
            let failure =
                Failure::new(Code::CHANGE_RECORD_NOT_A_FRAGMENT, text).with("id", release.id.as_str());
            return Err(failure.remedy("workfile changelog release VERSION --amend"));
        }
        if let Some(fragment) = listing.fragments.iter().find(has) {
            let by = listing.releases.iter().find(|it| fragment.releases.contains(&it.id));
            let version = by.and_then(|it| it.field("version"));
            let with = version.map_or_else(String::new, |version| format!(" with {version}"));
            let text = format!("{id} was released{with} and does not change any more");
            let failure = Failure::new(Code::CHANGE_FRAGMENT_RELEASED, text).with("id", id);
            return Err(failure.with("version", version.map_or(Json::Null, Json::from)));
        }
    }
    locate(listing.fragments.into_iter().filter(|it| !it.is_released()), id)
}
