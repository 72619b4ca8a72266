//! Folders around the surface: which an install made, so that an uninstall takes those and no other.

use super::texts::TEXTS;
use super::{SETTINGS, ledger};
use std::path::Path;

/// Every folder that a file of the surface stands in, outermost first.
fn all() -> Vec<String> {
    let texts = TEXTS.iter().map(super::texts::Text::installed_path);
    let mut all: Vec<String> = texts
        .chain([SETTINGS.to_owned(), ledger::PATH.to_owned()])
        .flat_map(|path| above(&path).map(str::to_owned).collect::<Vec<_>>())
        .collect();
    all.sort();
    all.dedup();
    all
}

/// The folders above a path, outermost first.
fn above(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(cut, _)| &path[..cut])
}

/// Those that are not there.
pub(super) fn missing(root: &Path) -> Vec<String> {
    all().into_iter().filter(|folder| root.join(folder).symlink_metadata().is_err()).collect()
}

/// Those of `missing` that these new files need.
pub(super) fn made<'a>(missing: &[String], created: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut made: Vec<String> = created
        .flat_map(above)
        .filter(|folder| missing.iter().any(|it| it == folder))
        .map(str::to_owned)
        .collect();
    made.sort();
    made.dedup();
    made
}

/// Removes folders that are empty now: those that an install is known to have made, else those that `removed` files stood
/// in. A ledger belongs to its repository, so a folder that is none of the surface's is not touched whatever it says.
pub(super) fn remove(root: &Path, known: Option<&[String]>, removed: &[&str]) {
    for folder in all().iter().rev() {
        let may_go = match known {
            Some(known) => known.contains(folder),
            None => removed.iter().any(|path| above(path).any(|it| it == folder)),
        };
        let leads_elsewhere = crate::fs::real_path(root, &root.join(folder)).is_err();
        if may_go && !leads_elsewhere {
            // One that is not empty stays, and so does a link.
            let _ = std::fs::remove_dir(root.join(folder));
        }
    }
}
