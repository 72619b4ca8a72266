//! The ids of everything that can be referred to.

use crate::failure::Failure;
use crate::workspace::Workspace;
use crate::{docs, history, memory, work};
use std::collections::HashSet;

/// The ids of all records of the modules that are on.
pub fn all(workspace: &Workspace) -> Result<HashSet<String>, Failure> {
    let mut ids = HashSet::new();
    if workspace.config.cards.enabled {
        ids.extend(work::load::all(workspace)?.cards.into_iter().map(|it| it.id.clone()));
    }
    ids.extend(docs::load::all(workspace)?.documents.into_iter().map(|it| it.id));
    let history = history::load::all(workspace)?;
    ids.extend(history.fragments.into_iter().map(|it| it.id));
    ids.extend(history.releases.into_iter().map(|it| it.id));
    ids.extend(memory::load::all(workspace)?.records.into_iter().map(|it| it.id));
    Ok(ids)
}
