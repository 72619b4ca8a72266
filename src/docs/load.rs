//! Reading documents from where the configuration says they are.

use super::document::{Document, Origin};
use crate::failure::{Code, Failure};
use crate::workspace::files::{self, Found, Source, Unreadable};
use crate::workspace::{Seal, Switch, Workspace, parallel};

/// Every document of a workspace.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// Managed and indexed ones, by the bytes of their path.
    pub documents: Vec<Document>,
    /// Files that are no documents, with their path from the root.
    pub unreadable: Vec<Unreadable>,
    /// What tells later whether the same would be found.
    pub seals: Vec<Seal>,
    /// The highest sequence that a name or an id of a managed document uses.
    pub highest: u64,
}

impl Listing {
    /// The first document with this id.
    pub fn find(&self, id: &str) -> Option<&Document> {
        self.documents.iter().find(|document| document.id == id)
    }

    /// [`Listing::highest`] with the ids of indexed documents: a new document gets none of those either.
    pub(super) fn highest_of_all(&self, prefix: &str) -> u64 {
        let ids =
            self.documents.iter().filter_map(|document| crate::record::id::sequence(&document.id, prefix));
        ids.fold(self.highest, u64::max)
    }
}

/// Reads every document; none when the module is off.
pub fn all(workspace: &Workspace) -> Result<Listing, Failure> {
    let settings = &workspace.config.docs;
    let mut listing = Listing::default();
    if settings.enabled == Switch::Off {
        return Ok(listing);
    }
    let managed = workspace.repo_path(&workspace.paths.docs);
    let found = files::records(workspace, &workspace.paths.docs, None)?;
    listing.seals.push(found.seal_of_records(&workspace.paths.docs, None));
    listing.highest = found.highest(&settings.id_prefix);
    listing.add(found, Origin::Managed, &managed, settings.max_file_bytes);
    let ids = listing.documents.iter().filter(|document| document.has_header());
    let ids = ids.filter_map(|document| crate::record::id::sequence(&document.id, &settings.id_prefix));
    listing.highest = ids.fold(listing.highest, u64::max);

    let found = files::sources(workspace)?;
    listing.seals.push(found.seal_of_sources());
    listing.add(found, Origin::Indexed, "", settings.max_file_bytes);
    listing.documents.sort_by(|a, b| a.path.cmp(&b.path));
    listing.unreadable.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(listing)
}

impl Listing {
    fn add(&mut self, found: Found, origin: Origin, folder: &str, most: u64) {
        let whole = |path: &str| if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") };
        let unreadable = found.unreadable.into_iter();
        self.unreadable.extend(unreadable.map(|it| Unreadable { path: whole(&it.path), reason: it.reason }));
        let read = |Source { path, text, stat }: Source| {
            let full = whole(&path);
            if text.len() as u64 > most {
                let reason = format!("{}: {full} has more than {most} bytes", Code::DOC_FILE_TOO_LARGE.name);
                return Err(Unreadable { path: full, reason });
            }
            let file = match origin {
                Origin::Managed => path,
                Origin::Indexed => path.rsplit('/').next().unwrap_or(&path).to_owned(),
            };
            Ok(Document::read(origin, full, file, text, &stat))
        };
        for document in parallel::map(found.sources, read) {
            match document {
                Ok(document) => self.documents.push(document),
                Err(file) => self.unreadable.push(file),
            }
        }
    }
}
