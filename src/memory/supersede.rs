//! Supersede: one record takes the place of another, and both say so.

use super::fields;
use super::load::{self, Listing};
use super::patch::{locate, writable};
use super::record::Memory;
use crate::clock;
use crate::failure::{Code, Failure};
use crate::fs;
use crate::workspace::Workspace;
use crate::workspace::edit::{self, Candidate, Changes, Target};
use std::collections::HashSet;

/// How often the locks are taken anew because somebody superseded the record meanwhile.
const TRIES: usize = 8;

/// A record that another one takes the place of.
#[derive(Clone, Copy, Debug)]
pub struct Supersede<'a> {
    /// Which record.
    pub target: Target<'a>,
    /// What takes its place; it may be of another collection.
    pub by: &'a str,
}

/// Both records afterwards.
#[derive(Clone, Debug)]
pub struct Superseded {
    /// The one that was superseded.
    pub record: Memory,
    /// The one that took its place.
    pub replacement: Memory,
}

/// Supersedes a record. Everything is checked before the first write, and a write that fails undoes those before it.
pub fn supersede(workspace: &Workspace, supersede: Supersede<'_>) -> Result<Superseded, Failure> {
    writable(workspace)?;
    let (id, by) = (supersede.target.id, supersede.by);
    if id == by {
        let text = format!("{id} cannot take its own place");
        return Err(Failure::new(Code::MEMORY_SUPERSESSION_SELF, text).with("id", id));
    }
    // Whatever took its place before is changed too, so it is locked with the others; who that is, the record says.
    let mut earlier = earlier_replacements(&load::all(workspace)?, id, by);
    for _ in 0..TRIES {
        let ids: Vec<&str> = [id, by].into_iter().chain(earlier.iter().map(String::as_str)).collect();
        let _locks = edit::locks(workspace, fields::KIND.module, &ids)?;
        let listing = load::all(workspace)?;
        let by_now = earlier_replacements(&listing, id, by);
        if by_now.iter().all(|id| earlier.contains(id)) {
            return locked(workspace, supersede, &listing, &by_now);
        }
        earlier = by_now;
    }
    let text = format!("{id} is superseded by others again and again");
    Err(Failure::new(Code::WRITE_LOCK_TIMEOUT, text).with("id", id))
}

/// The records that took the place of `id` before and are there.
fn earlier_replacements(listing: &Listing, id: &str, by: &str) -> Vec<String> {
    let named = listing.find(id).map(|record| record.list("superseded_by")).unwrap_or_default();
    named.into_iter().filter(|other| other != by && other != id && listing.find(other).is_some()).collect()
}

fn locked(
    workspace: &Workspace,
    supersede: Supersede<'_>,
    listing: &Listing,
    earlier: &[String],
) -> Result<Superseded, Failure> {
    let (id, by) = (supersede.target.id, supersede.by);
    let fresh = |id: &str| edit::fresh(workspace, locate(listing, id)?.clone());
    let (old, new) = (fresh(id)?, fresh(by)?);
    edit::unchanged(&old, supersede.target.revision)?;
    if !old.collection.statuses.contains(&"superseded") {
        let text = format!("{id} is in {}, whose records are not superseded", old.collection.id);
        let failure = Failure::new(Code::MEMORY_SUPERSESSION_UNSUPPORTED, text);
        return Err(failure.with("id", id).with("collection", old.collection.id));
    }
    acyclic(listing, &new, id)?;

    let mut supersedes = new.list("supersedes");
    if !supersedes.iter().any(|other| other == id) {
        supersedes.push(id.to_owned());
    }
    let changes = Changes::default().text("status", "superseded").list("superseded_by", vec![by.to_owned()]);
    let mut plans = vec![(old, changes), (new, Changes::default().list("supersedes", supersedes))];
    for other in earlier {
        let other = fresh(other)?;
        let kept: Vec<String> = other.list("supersedes").into_iter().filter(|it| it != id).collect();
        plans.push((other, Changes::default().list("supersedes", kept)));
    }

    let today = clock::now().date();
    let mut writes = Vec::new();
    for (record, changes) in plans {
        let header = edit::candidate(&record.header, &changes, &today);
        fields::check(Candidate { called: &record.id, header: &header }, record.collection)?;
        let text = edit::rewritten(&record, &fields::KIND, &changes, Some(&today))?;
        writes.push((record, text));
    }
    let mut written = commit(workspace, writes)?.into_iter();
    match (written.next(), written.next()) {
        (Some(record), Some(replacement)) => Ok(Superseded { record, replacement }),
        _ => Err(Failure::new(Code::INTERNAL_ERROR, "two records were to be written")),
    }
}

/// Refuses when the replacement, or what took its place in turn, leads back to `id`.
fn acyclic(listing: &Listing, replacement: &Memory, id: &str) -> Result<(), Failure> {
    let mut seen = HashSet::new();
    let mut waiting = vec![replacement.id.clone()];
    while let Some(next) = waiting.pop() {
        if next == id {
            let by = &replacement.id;
            let text = format!("{by} is itself superseded by {id}, so the two would lead in a circle");
            return Err(Failure::new(Code::MEMORY_SUPERSESSION_CYCLE, text)
                .with("id", id)
                .with("by", by.as_str()));
        }
        if let Some(record) = listing.find(&next)
            && seen.insert(next)
        {
            waiting.extend(record.list("superseded_by"));
        }
    }
    Ok(())
}

/// Writes all of them or none: when one fails, those before it get their text back.
fn commit(workspace: &Workspace, writes: Vec<(Memory, Option<String>)>) -> Result<Vec<Memory>, Failure> {
    let mut done: Vec<Memory> = Vec::new();
    let mut written = Vec::new();
    for (record, text) in writes {
        let Some(text) = text else {
            written.push(record);
            continue;
        };
        match edit::write(workspace, &record, text) {
            Ok(after) => {
                done.push(record);
                written.push(after);
            }
            Err(mut failure) => {
                for before in done.into_iter().rev() {
                    let path = workspace.root.join(&before.path);
                    if let Err(error) = fs::replace(&workspace.root, &path, before.text().as_bytes()) {
                        failure.text =
                            format!("{}; {} stays changed: {}", failure.text, before.path, error.text);
                    }
                }
                return Err(failure);
            }
        }
    }
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::{Access, Missing, Start};
    use std::path::Path;

    fn workspace(root: &Path) -> Workspace {
        let start = Start::Exactly(root.to_owned());
        Workspace::load(&start, Missing::Allow, Access::Write).unwrap()
    }

    #[test]
    fn what_was_written_before_a_failure_is_undone() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join(".project/memory/decisions");
        std::fs::create_dir_all(folder.join("later")).unwrap();
        let text = |id: &str| {
            format!(
                "---\nid: {id}\ntitle: T\nstatus: accepted\ncreated: 2026-01-01\nupdated: 2026-01-01\n---\n"
            )
        };
        std::fs::write(folder.join("ADR-0001-t.md"), text("ADR-0001")).unwrap();
        std::fs::write(folder.join("later/ADR-0002-t.md"), text("ADR-0002")).unwrap();
        let workspace = workspace(root.path());
        let records = load::all(&workspace).unwrap().records;
        // A file where the second record's folder was: nobody can write there, whoever runs the test.
        std::fs::remove_dir_all(folder.join("later")).unwrap();
        std::fs::write(folder.join("later"), "").unwrap();
        let writes = records.into_iter().map(|record| {
            let text = text(&record.id).replace("accepted", "rejected");
            (record, Some(text))
        });
        let failure = commit(&workspace, writes.collect()).unwrap_err();
        assert_eq!(failure.code, Code::INTERNAL_ERROR);
        assert_eq!(std::fs::read_to_string(folder.join("ADR-0001-t.md")).unwrap(), text("ADR-0001"));
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2, "no temporary file stays");
    }
}
