//! Amending the newest release: its title, date, commit, body and tags. What it released stays released.

use super::fields::RELEASE;
use super::load::{self, Listing};
use super::release::Release;
use super::staging;
use crate::failure::{Code, Failure};
use crate::path::trim;
use crate::record::id;
use crate::workspace::Workspace;
use crate::workspace::edit::{self, Candidate, Changes, Target};
use serde_json::{Map, Value as Json};

/// The keys that every release has.
const REQUIRED: [&str; 5] = ["id", "title", "version", "date", "fragments"];

/// Amends the release that `target` names by version or id. A null or empty value counts as not given; an empty list takes
/// the tags out.
pub fn amend(
    workspace: &Workspace,
    target: Target<'_>,
    changes: &Map<String, Json>,
) -> Result<Release, Failure> {
    let settings = &workspace.config.changelog;
    workspace.module_writable("changelog", settings.enabled)?;
    let _lock = staging::lock(workspace)?;
    let listing = load::all(workspace)?;
    let before = newest(&listing, trim(target.id), &settings.release_prefix)?;
    edit::unchanged(before, target.revision).map_err(|mut failure| {
        failure.details.shift_remove("current");
        failure
    })?;
    let given = |(key, value): &(&String, &Json)| {
        RELEASE.field(key).is_none() && *key != "body" || !(value.is_null() || value.as_str() == Some(""))
    };
    let given = changes.iter().filter(given).map(|(key, value)| (key.clone(), value.clone())).collect();
    let changes = edit::changes(&RELEASE, &given)?;
    check(before, &changes)?;
    match edit::rewritten(before, &RELEASE, &changes, None)? {
        Some(text) => edit::write(workspace, before, text),
        None => Ok(before.clone()),
    }
}

/// The release with the highest sequence, when it is the one that is meant.
fn newest<'a>(listing: &'a Listing, asked: &str, prefix: &str) -> Result<&'a Release, Failure> {
    let version = |it: &'a Release| it.field("version").map(trim);
    let meant: Vec<&Release> =
        listing.releases.iter().filter(|it| it.id == asked || version(it) == Some(asked)).collect();
    let Some(first) = meant.first() else {
        let text = format!("no release has the version or the id `{asked}`");
        return Err(Failure::new(Code::RELEASE_NOT_FOUND, text).remedy("workfile changelog list"));
    };
    let sequence = |it: &Release| id::sequence(&it.id, prefix);
    let highest = listing.releases.iter().map(sequence).max().flatten();
    let newest: Vec<&Release> = listing.releases.iter().filter(|it| sequence(it) == highest).collect();
    match newest[..] {
        [newest] if meant.iter().any(|it| std::ptr::eq(*it, newest)) => Ok(newest),
        [newest] => {
            let shown = |it: &'a Release| version(it).unwrap_or(&it.id);
            let text = format!(
                "{} is not the newest release any more; only {} can be amended",
                shown(first),
                shown(newest)
            );
            Err(Failure::new(Code::RELEASE_NOT_AMENDABLE, text).with("id", first.id.as_str()))
        }
        _ => {
            let files: Vec<&str> = newest.iter().map(|it| it.path.as_str()).collect();
            let text = format!(
                "several releases have the highest id: {}; give all but one another",
                files.join(", ")
            );
            Err(Failure::new(Code::CHANGE_ID_AMBIGUOUS, text).with("files", files))
        }
    }
}

/// The release as it would be has a day that is one, and lacks nothing.
fn check(before: &Release, changes: &Changes) -> Result<(), Failure> {
    let mut header = before.header.clone();
    for (key, value) in &changes.header {
        header.set(key, value.clone());
    }
    let candidate = Candidate { called: &before.id, header: &header };
    candidate.dates(&["date"], Code::RELEASE_DATE_INVALID)?;
    candidate.required(&REQUIRED, Code::RELEASE_MISSING_REQUIRED)
}
