//! The index that a server keeps between calls: while no file and no setting has changed, nothing is read again.

use crate::failure::Failure;
use crate::query::Index;
use crate::workspace::Workspace;
use serde_json::Value as Json;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An index that may be there.
#[derive(Debug, Default)]
pub(super) struct Kept {
    held: Mutex<Option<Arc<Held>>>,
    /// One call reads; those that come meanwhile wait for what it finds.
    reading: Mutex<()>,
}

/// An index and the configuration that it was read by.
#[derive(Debug)]
struct Held {
    settings: Json,
    index: Arc<Index>,
}

impl Kept {
    /// The records as they are now.
    pub(super) fn index(&self, workspace: &Workspace) -> Result<Arc<Index>, Failure> {
        let before = lock(&self.held).clone();
        if let Some(index) = current(before.as_ref(), workspace) {
            return Ok(index);
        }
        let _alone = lock(&self.reading);
        let now = lock(&self.held).clone();
        let is_news = now.as_ref().map(Arc::as_ptr) != before.as_ref().map(Arc::as_ptr);
        if is_news && let Some(index) = current(now.as_ref(), workspace) {
            return Ok(index);
        }
        // Two of them are never kept.
        drop((before, now, lock(&self.held).take()));
        let index = Arc::new(Index::load(workspace)?);
        if index.is_sealed() {
            let held = Held { settings: workspace.raw.clone(), index: index.clone() };
            *lock(&self.held) = Some(Arc::new(held));
        }
        Ok(index)
    }
}

fn current(held: Option<&Arc<Held>>, workspace: &Workspace) -> Option<Arc<Index>> {
    let held = held.filter(|held| held.settings == workspace.raw && held.index.holds(workspace))?;
    Some(held.index.clone())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
