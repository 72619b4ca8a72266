//! Cutting a release: it consumes all of its fragments or none, whenever the process ends.

use super::LISTS;
use super::check;
use super::fields::{CUT, IDS};
use super::fragment::{Fragment, Stage};
use super::load::{self, Listing};
use super::parsed;
use super::preview::select;
use super::release::Release;
use super::staging::{self, FRAGMENTS, Staged};
use super::version;
use crate::clock;
use crate::failure::{Code, Failure};
use crate::fs::Created;
use crate::path::trim;
use crate::record::id::{self, Allocation, Attempt};
use crate::record::{self, Header, RecordFile, Value};
use crate::workspace::Workspace;
use crate::workspace::edit::{self, Candidate, reachable};
use crate::workspace::files;
use serde_json::{Map, Value as Json};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// How often an id of the changelog is tried for.
pub(super) const TRIES: usize = 64;
/// Longest file name that comes from a version.
const SLUG: usize = 70;

/// A release that is asked for.
#[derive(Clone, Debug)]
pub struct Cut<'a> {
    /// The version.
    pub version: &'a str,
    /// The title; `Version <version>` without it.
    pub title: Option<String>,
    /// The day; today without it.
    pub date: Option<String>,
    /// The commit it was made from.
    pub commit: Option<String>,
    /// The Markdown below the header.
    pub body: String,
    /// Tags.
    pub tags: Vec<String>,
    /// The fragments, by id; all unreleased ones without it.
    pub ids: Option<Vec<String>>,
}

impl<'a> Cut<'a> {
    /// Reads what else a caller sends: `title`, `date`, `commit`, `body`, `tags`, `fragmentIds`.
    pub fn of(version: &'a str, input: &Map<String, Json>) -> Result<Self, Failure> {
        let draft = edit::draft(&CUT, input)?;
        let text = |key: &str| draft.text(key).map(|text| trim(text).to_owned());
        let list = |key: &str| {
            draft.fields.iter().find_map(|(name, value)| match value {
                Value::List(items) if name == key => Some(items.clone()),
                _ => None,
            })
        };
        // An empty list names no fragment, which is not the same as saying nothing.
        let named = input.get(IDS).is_some_and(|ids| !ids.is_null());
        let ids = named.then(|| list(IDS).unwrap_or_default());
        let (title, date, commit) = (text("title"), text("date"), text("commit"));
        Ok(Self {
            version,
            title,
            date,
            commit,
            tags: list("tags").unwrap_or_default(),
            ids,
            body: draft.body,
        })
    }
}

/// A release that was cut.
#[derive(Clone, Debug)]
pub struct Released {
    /// The release.
    pub release: Release,
    /// The fragments that it consumed, where they are now.
    pub consumed: Vec<Fragment>,
}

/// Cuts a release. Refused or cut off, it leaves every fragment as it was.
pub fn cut(workspace: &Workspace, cut: &Cut<'_>) -> Result<Released, Failure> {
    cut_watched(workspace, cut, &mut || ())
}

/// [`cut`], with a call after every step that changes a file.
pub(super) fn cut_watched(
    workspace: &Workspace,
    cut: &Cut<'_>,
    watch: &mut dyn FnMut(),
) -> Result<Released, Failure> {
    workspace.module_writable("changelog", workspace.config.changelog.enabled)?;
    let _lock = staging::lock(workspace)?;
    let plan = Plan::of(workspace, cut)?;
    plan.allocate(watch).map_err(|mut failure| {
        // What this one has begun is undone as what a cut off one leaves behind.
        if let Err(undo) = staging::heal(workspace, watch) {
            let later = "the next change of the changelog puts back what was moved already";
            failure.text = format!("{}; {later} ({})", failure.text, undo.text);
        }
        failure
    })
}

/// What a release will consume and be.
struct Plan<'a> {
    workspace: &'a Workspace,
    header: Vec<(String, Value)>,
    body: &'a str,
    /// The name of its folder.
    name: String,
    target: PathBuf,
    fragments: Vec<Fragment>,
    highest: u64,
}

impl<'a> Plan<'a> {
    /// Everything that can be refused is refused here.
    fn of(workspace: &'a Workspace, cut: &'a Cut<'_>) -> Result<Self, Failure> {
        let settings = &workspace.config.changelog;
        let version = version::check(cut.version, settings.strategy)?;
        let date = check_date(cut.date.as_deref())?;
        let listing = load::all(workspace)?;
        if let Some(other) = listing.releases.iter().find(|it| it.field("version").map(trim) == Some(version))
        {
            let text = format!("version {version} is released already, as {}", other.id);
            let failure = Failure::new(Code::RELEASE_VERSION_DUPLICATE, text).with("version", version);
            return Err(failure.with("id", other.id.as_str()).remedy("workfile changelog list"));
        }
        let fragments: Vec<Fragment> = select(&listing, cut.ids.as_deref())?.into_iter().cloned().collect();
        if fragments.is_empty() {
            let text = "there is no unreleased fragment to release";
            let failure = Failure::new(Code::RELEASE_FRAGMENTS_REQUIRED, text);
            return Err(failure.remedy("workfile changelog add --title TEXT"));
        }
        consumable(&fragments, &listing, workspace)?;
        let name = record::slug(version, SLUG, "release");
        let target = workspace.paths.releases.join(&name);
        if target.symlink_metadata().is_ok() {
            return Err(folder_exists(workspace, &target, version));
        }
        for folder in [&workspace.paths.fragments, &workspace.paths.releases] {
            reachable(workspace, folder, "fragment")?;
        }
        let title = cut.title.clone().unwrap_or_else(|| format!("Version {version}"));
        let ids: Vec<String> = fragments.iter().map(|it| it.id.clone()).collect();
        let header = [
            ("title", Value::Text(title)),
            ("version", Value::Text(version.to_owned())),
            ("date", Value::Text(date)),
            ("fragments", Value::List(ids)),
            ("commit", Value::Text(cut.commit.clone().unwrap_or_default())),
            ("tags", Value::List(cut.tags.clone())),
        ];
        let header = header.map(|(key, value)| (key.to_owned(), value)).into();
        Ok(Self {
            workspace,
            header,
            body: &cut.body,
            name,
            target,
            fragments,
            highest: listing.highest_release,
        })
    }

    fn allocate(&self, watch: &mut dyn FnMut()) -> Result<Released, Failure> {
        let locks = format!("{}/ids", self.workspace.paths.locks);
        let how = Allocation {
            root: &self.workspace.root,
            locks: &locks,
            prefix: &self.workspace.config.changelog.release_prefix,
            tries: TRIES,
            exhausted: Code::RECORD_ID_ALLOCATION_FAILED,
        };
        let mut first = Some(self.highest);
        let highest = || match first.take() {
            Some(highest) => Ok(highest),
            None => load::all(self.workspace).map(|listing| listing.highest_release),
        };
        id::allocate(&how, highest, |id| self.make(id, watch).map(Attempt::Written))
    }

    /// Puts the release together under its id and moves it to its place.
    fn make(&self, id: &str, watch: &mut dyn FnMut()) -> Result<Released, Failure> {
        let workspace = self.workspace;
        let mut header = vec![("id".to_owned(), Value::Text(id.to_owned()))];
        header.extend(self.header.iter().cloned());
        let text = record::render(&header, self.body)?;
        let file = format!("{id}-{}.md", self.name);
        let path = format!("{}/{file}", workspace.repo_path(&self.target));
        let record = parsed(&path, text.clone())?;
        let release = Release::new(id.to_owned(), path, record);

        let mut staged = Staged::begin(workspace, &self.name, watch)?;
        staged.note(&self.origins())?;
        staged.write(&file, &text)?;
        let taken = self.fragments.iter().map(|fragment| self.take(fragment, &mut staged));
        let consumed = taken.collect::<Result<Vec<Fragment>, Failure>>()?;
        if staged.place(&self.target)? == Created::Taken {
            return Err(folder_exists(workspace, &self.target, &self.name));
        }
        Ok(Released { release, consumed })
    }

    /// Moves a fragment into the release, as it is now: under its own lock, and judged once more when it has changed.
    fn take(&self, fragment: &Fragment, staged: &mut Staged<'_>) -> Result<Fragment, Failure> {
        let workspace = self.workspace;
        let _lock = edit::lock(workspace, "changelog", &fragment.id)?;
        let path = below(workspace, fragment);
        let now = files::again(workspace, &workspace.paths.fragments, path)?;
        let now = now.and_then(|source| RecordFile::parse(source.text, LISTS).ok());
        let now = now.filter(|record| record.field("id").map(trim) == Some(&fragment.id));
        let Some(now) = now else {
            let text = format!("{} is gone from {} since it was selected", fragment.id, fragment.path);
            return Err(Failure::new(Code::CHANGE_FRAGMENT_NOT_FOUND, text)
                .with("ids", [fragment.id.as_str()].as_slice()));
        };
        if now.text() != fragment.text() {
            check::fragment(candidate(&fragment.id, &now.header), &workspace.config)
                .map_err(|it| invalid(&fragment.id, &it))?;
        }
        match staged.take(&workspace.paths.fragments.join(path))? {
            Created::Fresh => {
                let path = format!("{}/{FRAGMENTS}/{}", workspace.repo_path(&self.target), fragment.file());
                Ok(Fragment::new(fragment.id.clone(), path, Stage::Released, now))
            }
            // Names that differ for us and not for the file system.
            Created::Taken => Err(same_name(fragment)),
        }
    }

    /// The subfolders that fragments come from, by file name.
    fn origins(&self) -> Map<String, Json> {
        let origin = |fragment: &Fragment| {
            let (folder, file) = below(self.workspace, fragment).rsplit_once('/')?;
            Some((file.to_owned(), folder.into()))
        };
        self.fragments.iter().filter_map(origin).collect()
    }
}

/// The path of an unreleased fragment below their folder.
fn below<'a>(workspace: &Workspace, fragment: &'a Fragment) -> &'a str {
    let folder = workspace.repo_path(&workspace.paths.fragments);
    let rest = fragment.path.strip_prefix(&folder).unwrap_or(&fragment.path);
    rest.trim_start_matches('/')
}

/// A day that is one; today without one.
pub(super) fn check_date(date: Option<&str>) -> Result<String, Failure> {
    let Some(date) = date.map(trim).filter(|date| !date.is_empty()) else { return Ok(clock::now().date()) };
    if clock::is_date(date) {
        return Ok(date.to_owned());
    }
    let text = format!("`{date}` is no day written YYYY-MM-DD");
    Err(Failure::new(Code::RELEASE_DATE_INVALID, text).with("field", "date").with("value", date))
}

/// Refuses a fragment that is not valid or that is not the only one with its id or its file name.
fn consumable(fragments: &[Fragment], listing: &Listing, workspace: &Workspace) -> Result<(), Failure> {
    for fragment in fragments {
        check::fragment(candidate(&fragment.id, &fragment.header), &workspace.config)
            .map_err(|failure| invalid(&fragment.id, &failure))?;
    }
    for fragment in fragments {
        let same = listing.fragments.iter().filter(|it| it.id == fragment.id);
        let paths: Vec<&str> = same.map(|it| it.path.as_str()).collect();
        if paths.len() > 1 {
            let text = format!("{} is the id of several fragments: {}", fragment.id, paths.join(", "));
            return Err(refused(&fragment.id, Code::CHANGE_ID_DUPLICATE, text));
        }
    }
    let mut names = HashSet::new();
    match fragments.iter().find(|fragment| !names.insert(fragment.file())) {
        Some(fragment) => Err(same_name(fragment)),
        None => Ok(()),
    }
}

fn same_name(fragment: &Fragment) -> Failure {
    let text = format!("another fragment of this release has the file name of {}", fragment.path);
    refused(&fragment.id, Code::CHANGE_FILE_EXISTS, text)
}

fn candidate<'a>(id: &'a str, header: &'a Header) -> Candidate<'a> {
    Candidate { called: id, header }
}

fn invalid(id: &str, why: &Failure) -> Failure {
    let failure = refused(id, why.code, format!("a release cannot consume {id}: {}", why.text));
    failure.remedy("workfile changelog verify")
}

fn refused(id: &str, code: Code, text: String) -> Failure {
    Failure::new(Code::RELEASE_FRAGMENT_INVALID, text).with("id", id).with("code", code.name)
}

fn folder_exists(workspace: &Workspace, target: &Path, version: &str) -> Failure {
    let shown = workspace.repo_path(target);
    let text = format!("{shown} is there already, and {version} would be released into it");
    Failure::new(Code::RELEASE_DIRECTORY_EXISTS, text).with("path", shown)
}

#[cfg(test)]
mod tests;
