//! Reading fragments and releases from their folders.

use super::LISTS;
use super::fragment::{Fragment, Stage};
use super::release::Release;
use super::staging;
use crate::failure::{Code, Failure};
use crate::path::trim;
use crate::record::order::natural;
use crate::record::{RecordFile, id};
use crate::workspace::files::{self, Source, Unreadable};
use crate::workspace::{Seal, Switch, Workspace, parallel};
use std::collections::HashMap;
use std::path::PathBuf;

/// Everything the changelog is made of.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// Fragments by id, natural order.
    pub fragments: Vec<Fragment>,
    /// Releases, the newest first: by date, then by id.
    pub releases: Vec<Release>,
    /// Files that are neither, with their path from the root.
    pub unreadable: Vec<Unreadable>,
    /// What tells later whether the same would be found.
    pub seals: Vec<Seal>,
    /// The highest sequence that a fragment uses.
    pub highest_fragment: u64,
    /// The highest sequence that a release uses.
    pub highest_release: u64,
}

/// Reads everything; nothing when the module is off. Fragments that a release has taken in and not released yet, or never
/// will because it was cut off, count as unreleased.
pub fn all(workspace: &Workspace) -> Result<Listing, Failure> {
    let settings = &workspace.config.changelog;
    let mut listing = Listing::default();
    if settings.enabled == Switch::Off {
        return Ok(listing);
    }
    let (unreleased, releases) = (&workspace.paths.fragments, &workspace.paths.releases);
    let staging = staging::folder(workspace);
    // In the order that a release moves them, so that no fragment is missed on its way.
    for (folder, other, stage) in [
        (unreleased, Some(releases), Stage::Unreleased),
        (&staging, None, Stage::Unreleased),
        (releases, Some(unreleased), Stage::Released),
    ] {
        let besides = other.map(PathBuf::as_path);
        let mut found = files::records(workspace, folder, besides)?;
        listing.seals.push(found.seal_of_records(folder, besides));
        if *folder == staging {
            found.sources.retain(|source| staging::is_fragment(&source.path));
            found.unreadable.retain(|file| staging::is_fragment(&file.path));
        }
        let root = workspace.repo_path(folder);
        listing.highest_fragment = listing.highest_fragment.max(found.highest(&settings.id_prefix));
        listing.highest_release = listing.highest_release.max(found.highest(&settings.release_prefix));
        let whole = |path: &str| format!("{root}/{path}");
        let unreadable = found.unreadable.into_iter();
        listing
            .unreadable
            .extend(unreadable.map(|it| Unreadable { path: whole(&it.path), reason: it.reason }));
        let read = |Source { path, text, .. }: Source| (whole(&path), RecordFile::parse(text, LISTS).ok());
        for (path, record) in parallel::map(found.sources, read) {
            if let Err(reason) = listing.add(path.clone(), record, stage, &settings.release_prefix) {
                listing.unreadable.push(Unreadable { path, reason });
            }
        }
    }
    listing.once(workspace);
    let ids = listing.fragments.iter().filter_map(|it| id::sequence(&it.id, &settings.id_prefix));
    listing.highest_fragment = ids.fold(listing.highest_fragment, u64::max);
    let ids = listing.releases.iter().filter_map(|it| id::sequence(&it.id, &settings.release_prefix));
    listing.highest_release = ids.fold(listing.highest_release, u64::max);
    listing.order();
    Ok(listing)
}

impl Listing {
    /// Takes a file in; the error is the reason why it is neither.
    fn add(
        &mut self,
        path: String,
        record: Option<RecordFile>,
        stage: Stage,
        release_prefix: &str,
    ) -> Result<(), String> {
        // A release states a version or lies in a file named like one; what is broken is called by what it was to be.
        let name = path.rsplit('/').next().unwrap_or(&path);
        let named = stage == Stage::Released && name.starts_with(&format!("{release_prefix}-"));
        let missing = |release: Code, fragment: Code, what: &str| {
            format!("{}: {path} has no {what}", if named { release } else { fragment }.name)
        };
        let Some(record) = record else {
            return Err(missing(
                Code::RELEASE_FRONTMATTER_REQUIRED,
                Code::CHANGE_FRONTMATTER_REQUIRED,
                "header",
            ));
        };
        let versioned = record.field("version").is_some();
        let Some(id) = record.field("id").map(|id| trim(id).to_owned()) else {
            let code = if versioned || named { Code::RELEASE_ID_REQUIRED } else { Code::CHANGE_ID_REQUIRED };
            return Err(format!("{}: {path} has no id in its header", code.name));
        };
        if versioned || id.starts_with(&format!("{release_prefix}-")) {
            self.releases.push(Release::new(id, path, record));
        } else {
            self.fragments.push(Fragment::new(id, path, stage, record));
        }
        Ok(())
    }

    /// Drops what was read before it moved on: a fragment whose id is read once more and whose file is gone.
    fn once(&mut self, workspace: &Workspace) {
        let mut seen: HashMap<String, usize> = HashMap::new();
        for fragment in &self.fragments {
            *seen.entry(fragment.id.clone()).or_default() += 1;
        }
        self.fragments.retain(|it| {
            it.is_released() || seen[&it.id] == 1 || workspace.root.join(&it.path).symlink_metadata().is_ok()
        });
    }

    fn order(&mut self) {
        self.fragments.sort_by(|a, b| natural(&a.id, &b.id).then_with(|| a.path.cmp(&b.path)));
        self.releases.sort_by(|a, b| {
            let dates = b.field("date").cmp(&a.field("date"));
            dates.then_with(|| natural(&b.id, &a.id)).then_with(|| a.path.cmp(&b.path))
        });
        self.unreadable.sort_by(|a, b| a.path.cmp(&b.path));
        let mut listed: HashMap<String, Vec<String>> = HashMap::new();
        for release in &self.releases {
            for fragment in release.fragments() {
                listed.entry(fragment).or_default().push(release.id.clone());
            }
        }
        for fragment in &mut self.fragments {
            fragment.releases = listed.get(&fragment.id).cloned().unwrap_or_default();
        }
    }
}
