//! What is wrong with the changelog as it lies on disk.

use super::check::REQUIRED;
use super::fields::file_name;
use super::fragment::Fragment;
use super::load::Listing;
use super::release::Release;
use super::version;
use crate::clock;
use crate::path::trim;
use crate::record::RecordFile;
use crate::record::order::natural;
use crate::workspace::Config;
use crate::workspace::finding::BY_HAND;
use crate::workspace::finding::{Finding, Severity};
use std::collections::{HashMap, HashSet};
use std::fmt::Display;

/// The module that findings are reported under.
const MODULE: &str = "changelog";

/// Every finding, in no particular order but that of the listing. `today` is a day; `exists` says whether any record has an
/// id.
pub fn diagnose(
    listing: &Listing,
    today: &str,
    config: &Config,
    exists: impl Fn(&str) -> bool,
) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for file in &listing.unreadable {
        let what = format!("{} cannot be read: {}", file.path, file.reason);
        let remedy = "correct the file, or move it out of the changelog";
        findings.push(error("unreadable-changelog-record", what, remedy).in_file(&*file.path));
    }
    for it in &listing.fragments {
        let found = fragment(it, config, &exists);
        findings.extend(found.into_iter().map(|finding| finding.about(&*it.id, &*it.path)));
        // What is released keeps its name.
        if let Some(title) = it.field("title").filter(|_| !it.is_released()) {
            findings.extend(Finding::stale_name(MODULE, &it.id, &it.path, &file_name(&it.id, title)));
        }
    }
    let stages = stages(listing);
    // By id, so that the first with a version is the same whatever their dates are.
    let mut releases: Vec<&Release> = listing.releases.iter().collect();
    releases.sort_by(|a, b| natural(&a.id, &b.id).then_with(|| a.path.cmp(&b.path)));
    let mut versions: Vec<(String, Vec<&Release>)> = Vec::new();
    for it in releases {
        let found = release(it, today, config, &stages);
        findings.extend(found.into_iter().map(|finding| finding.about(&*it.id, &*it.path)));
        let Some(version) = value(it, "version") else { continue };
        match versions.iter_mut().find(|(known, _)| *known == version) {
            Some((_, of)) => of.push(it),
            None => versions.push((version, vec![it])),
        }
    }
    for (version, of) in versions.into_iter().filter(|(_, of)| of.len() > 1) {
        let ids: Vec<&str> = of.iter().map(|it| it.id.as_str()).collect();
        let message = format!("version {version} is that of several releases: {}", ids.join(", "));
        let remedy = "give all but one of them another `version` in the file";
        findings.push(error("release-version-duplicate", message, remedy).about(&*of[0].id, &*of[0].path));
    }
    findings
}

fn error(code: &'static str, what: impl Display, remedy: impl Display) -> Finding {
    Finding::new(Severity::Error, MODULE, code, what, remedy)
}

fn warning(code: &'static str, what: impl Display, remedy: impl Display) -> Finding {
    Finding::new(Severity::Warning, MODULE, code, what, remedy)
}

/// What corrects the day of a release.
const AMEND: &str =
    "`workfile changelog release --amend` corrects the newest, an edit of the file an older one";
/// What is left to a release that lists what it should not.
const UNLIST: &str = "take it out of `fragments` in the file";

fn fragment(it: &Fragment, config: &Config, exists: &impl Fn(&str) -> bool) -> Vec<Finding> {
    let (id, settings) = (&it.id, &config.changelog);
    let patch = if it.is_released() { BY_HAND } else { "`workfile changelog patch` sets it" };
    let remedy = |key: &str| if key == "created" { BY_HAND } else { patch };
    let mut found = missing(it, id, &REQUIRED[1..], "change-missing-required", remedy);
    let mut vocabulary = |key: &str, allowed: &[String], finding: fn(String, &str) -> Finding| {
        if let Some(value) = value(it, key).filter(|value| !allowed.contains(value)) {
            let message = format!("`{key}` of {id} is `{value}`, which is none of {}", allowed.join(", "));
            found.push(finding(message, patch));
        }
    };
    vocabulary("type", &settings.types, |what, remedy| error("change-invalid-type", what, remedy));
    vocabulary("visibility", &settings.visibilities, |what, remedy| {
        error("change-invalid-visibility", what, remedy)
    });
    vocabulary("area", &config.cards.areas, |what, remedy| warning("change-unknown-area", what, remedy));
    for key in ["created", "updated"] {
        if let Some(value) = value(it, key).filter(|value| !clock::is_date(value)) {
            let message = format!("`{key}` of {id} is `{value}`, which is no day written YYYY-MM-DD");
            found.push(error("change-invalid-date", message, BY_HAND));
        }
    }
    let mut seen = HashSet::new();
    for key in ["cards", "decisions", "related"] {
        for target in it.list(key) {
            if !exists(&target) && seen.insert(target.clone()) {
                let message = format!("{id} names {target} under `{key}`, and no record has that id");
                found.push(warning("change-missing-reference", message, patch));
            }
        }
    }
    if it.is_released() && it.releases.is_empty() {
        let message = format!("{id} lies among the releases and none of them lists it");
        let remedy = "list it in `fragments` of its release, or move it back to what is unreleased";
        found.push(error("released-fragment-unassigned", message, remedy));
    }
    let mut releases = it.releases.clone();
    releases.sort_unstable();
    releases.dedup();
    if releases.len() > 1 {
        let message = format!("{id} is listed by several releases: {}", releases.join(", "));
        let remedy = "take it out of `fragments` of all but one";
        found.push(error("fragment-consumed-multiple-times", message, remedy));
    }
    found
}

/// Whether fragments with an id are released; one that is, is enough.
fn stages(listing: &Listing) -> HashMap<&str, bool> {
    let mut stages: HashMap<&str, bool> = HashMap::new();
    for fragment in &listing.fragments {
        *stages.entry(&fragment.id).or_default() |= fragment.is_released();
    }
    stages
}

fn release(it: &Release, today: &str, config: &Config, stages: &HashMap<&str, bool>) -> Vec<Finding> {
    let id = &it.id;
    let keys = ["title", "version", "date"];
    let mut found = missing(it, id, &keys, "release-missing-required", |_| "write it into the file");
    let fragments = it.fragments();
    if fragments.is_empty() {
        let what = format!("`fragments` of {id} lists none");
        found.push(error("release-empty", what, "list those of its folder in the file"));
    }
    match value(it, "date") {
        Some(date) if !clock::is_date(&date) => {
            let message = format!("`date` of {id} is `{date}`, which is no day written YYYY-MM-DD");
            found.push(error("release-invalid-date", message, AMEND));
        }
        Some(date) if date.as_str() > today => {
            let message = format!("`date` of {id} is {date}, which has yet to come");
            found.push(warning("release-date-in-future", message, AMEND));
        }
        _ => {}
    }
    if let Some(version) = value(it, "version").filter(|it| !version::is_valid(it, config.changelog.strategy))
    {
        let message =
            format!("`version` of {id} is `{version}`, which `changelog.releaseStrategy` does not allow");
        found.push(error("release-invalid-version", message, BY_HAND));
    }
    let mut seen = HashSet::new();
    for listed in fragments {
        if !seen.insert(listed.clone()) {
            continue;
        }
        let finding = match stages.get(listed.as_str()) {
            None => {
                let what = format!("`fragments` of {id} lists {listed}, and there is no such fragment");
                error("release-missing-fragment", what, UNLIST)
            }
            Some(false) => {
                let what = format!("`fragments` of {id} lists {listed}, which is still unreleased");
                error("release-points-to-unreleased-fragment", what, UNLIST)
            }
            Some(true) => continue,
        };
        found.push(finding);
    }
    found
}

/// One finding for each key that the header lacks.
fn missing(
    record: &RecordFile,
    id: &str,
    keys: &[&'static str],
    code: &'static str,
    remedy: impl Fn(&str) -> &'static str,
) -> Vec<Finding> {
    let absent = keys.iter().filter(|key| !record.has(key));
    absent.map(|key| error(code, format!("{id} has no `{key}`"), remedy(key))).collect()
}

/// What a key holds, as text: a value of another shape shows as its JSON.
fn value(record: &RecordFile, key: &str) -> Option<String> {
    let value = record.header.get(key).filter(|_| record.has(key))?;
    Some(value.as_text().map_or_else(|| value.to_json().to_string(), |text| trim(text).to_owned()))
}
