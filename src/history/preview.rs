//! Which unreleased fragments a release would consume, and how they would read.

use super::fragment::Fragment;
use super::load::{self, Listing};
use super::render::{self, Group};
use crate::failure::{Code, Failure};
use crate::path::trim;
use crate::workspace::{Changelog, Workspace};
use serde_json::{Map, Value as Json, json};

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Preview<'a> {
    /// The fragments, by id; all without it.
    pub ids: Option<&'a [String]>,
    /// The visibility that groups and Markdown are narrowed to.
    pub visibility: Option<&'a str>,
}

/// The answer to a [`Preview`].
#[derive(Clone, Debug)]
pub struct Previewed {
    /// `{fragments, groups, markdown}`.
    pub json: Map<String, Json>,
    /// The groups as they would be rendered; empty for none.
    pub markdown: String,
}

/// Shows what a release would consume. `CHANGE_FRAGMENT_NOT_FOUND`, `CHANGE_VISIBILITY_INVALID`.
pub fn preview(workspace: &Workspace, preview: Preview<'_>) -> Result<Previewed, Failure> {
    let settings = &workspace.config.changelog;
    if let Some(visibility) = preview.visibility {
        check_visibility(visibility, settings)?;
    }
    let listing = load::all(workspace)?;
    let chosen = select(&listing, preview.ids)?;
    let groups = render::groups(chosen.iter().copied(), settings, preview.visibility);
    let markdown = render::markdown(&groups);
    let records =
        |fragments: &[&Fragment]| fragments.iter().map(|it| Json::Object(it.to_json())).collect::<Json>();
    let shown = |group: &Group<'_>| json!({"type": group.kind, "fragments": records(&group.fragments)});
    let json = Map::from_iter([
        ("fragments".to_owned(), records(&chosen)),
        ("groups".to_owned(), groups.iter().map(shown).collect()),
        ("markdown".to_owned(), markdown.as_str().into()),
    ]);
    Ok(Previewed { json, markdown })
}

/// The unreleased fragments, all or those with these ids, in the order of the listing.
///
/// `CHANGE_FRAGMENT_NOT_FOUND` names every id that is none of them, details `{ids}`.
pub(super) fn select<'a>(listing: &'a Listing, ids: Option<&[String]>) -> Result<Vec<&'a Fragment>, Failure> {
    let unreleased = listing.fragments.iter().filter(|it| !it.is_released());
    let Some(ids) = ids else { return Ok(unreleased.collect()) };
    let chosen: Vec<&Fragment> = unreleased.filter(|it| ids.iter().any(|id| trim(id) == it.id)).collect();
    let missing: Vec<&str> =
        ids.iter().map(|id| trim(id)).filter(|id| !chosen.iter().any(|it| it.id == *id)).collect();
    if missing.is_empty() {
        return Ok(chosen);
    }
    let text = format!("not among the unreleased fragments: {}", missing.join(", "));
    let failure = Failure::new(Code::CHANGE_FRAGMENT_NOT_FOUND, text).with("ids", missing);
    Err(failure.remedy("workfile changelog list --unreleased"))
}

/// `CHANGE_VISIBILITY_INVALID`: a visibility that no fragment may have would show an empty changelog.
pub(super) fn check_visibility(visibility: &str, settings: &Changelog) -> Result<(), Failure> {
    let allowed = &settings.visibilities;
    if allowed.iter().any(|known| known == visibility) {
        return Ok(());
    }
    let text = format!("no fragment can have the visibility `{visibility}`");
    let failure = Failure::new(Code::CHANGE_VISIBILITY_INVALID, text).with("field", "visibility");
    Err(failure.with("value", visibility).with("allowed", allowed.as_slice()))
}
