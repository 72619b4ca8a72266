//! Reading memory from the folders of the enabled collections.

use super::LISTS;
use super::record::Memory;
use crate::failure::{Code, Failure};
use crate::path::trim;
use crate::record::order::natural;
use crate::record::{RecordFile, Text, id};
use crate::workspace::files::{self, Source, Unreadable};
use crate::workspace::{Collection, Seal, Switch, Workspace, parallel};

/// Every memory record of a workspace.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// The records by id, natural order.
    pub records: Vec<Memory>,
    /// Files that are none, with their path from the root.
    pub unreadable: Vec<Unreadable>,
    /// What tells later whether the same would be found.
    pub seals: Vec<Seal>,
    /// For each enabled collection the highest sequence in use.
    highest: Vec<(&'static str, u64)>,
}

impl Listing {
    /// The first record with this id.
    pub fn find(&self, id: &str) -> Option<&Memory> {
        self.records.iter().find(|record| record.id == id)
    }

    /// The enabled collections, in the order of the configuration.
    pub fn collections(&self) -> impl Iterator<Item = &'static str> {
        self.highest.iter().map(|(id, _)| *id)
    }

    /// The highest sequence that a name or an id of the collection uses.
    pub fn highest(&self, collection: &Collection) -> u64 {
        self.highest.iter().find(|(id, _)| *id == collection.id).map_or(0, |(_, highest)| *highest)
    }
}

/// Reads every record; none when the module is off.
pub fn all(workspace: &Workspace) -> Result<Listing, Failure> {
    let settings = &workspace.config.memory;
    let mut listing = Listing::default();
    if settings.enabled == Switch::Off {
        return Ok(listing);
    }
    for collection in &settings.collections {
        let folder = workspace.paths.memory.join(collection.id);
        let found = files::records(workspace, &folder, None)?;
        listing.seals.push(found.seal_of_records(&folder, None));
        let root = workspace.repo_path(&folder);
        let whole = |path: &str| format!("{root}/{path}");
        let mut highest = found.highest(collection.prefix);
        let unreadable = found.unreadable.into_iter();
        listing
            .unreadable
            .extend(unreadable.map(|it| Unreadable { path: whole(&it.path), reason: it.reason }));
        let read = |Source { path: file, text, .. }: Source| {
            let path = whole(&file);
            match read(&path, text) {
                Ok((id, record)) => Ok(Memory::new(id, collection, path, file, record)),
                Err(reason) => Err(Unreadable { path, reason }),
            }
        };
        for record in parallel::map(found.sources, read) {
            match record {
                Ok(record) => {
                    highest = highest.max(id::sequence(&record.id, collection.prefix).unwrap_or(0));
                    listing.records.push(record);
                }
                Err(file) => listing.unreadable.push(file),
            }
        }
        listing.highest.push((collection.id, highest));
    }
    listing.records.sort_by(|a, b| natural(&a.id, &b.id).then_with(|| a.path.cmp(&b.path)));
    listing.unreadable.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(listing)
}

/// The id and the record of a file; the error is the reason why it is none.
fn read(path: &str, text: Text) -> Result<(String, RecordFile), String> {
    let record = RecordFile::parse(text, LISTS)
        .map_err(|_| format!("{}: {path} has no header", Code::MEMORY_FRONTMATTER_REQUIRED.name))?;
    let id = record.field("id").map(|id| trim(id).to_owned());
    match id {
        Some(id) => Ok((id, record)),
        None => Err(format!("{}: {path} has no id in its header", Code::MEMORY_ID_REQUIRED.name)),
    }
}
