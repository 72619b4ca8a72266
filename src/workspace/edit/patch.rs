//! A record changed under its lock.

use super::{Candidate, Changes, Kind, Record, Target};
use crate::clock;
use crate::failure::{Code, Failure};
use crate::fs::{self, Lock, Purpose};
use crate::path::trim;
use crate::record::{self, Change, Header, RecordFile, Style, Value};
use crate::workspace::Workspace;
use crate::workspace::files::{self, Unreadable};
use serde_json::Value as Json;

/// Changes one record: `find` loads and finds it under its lock, `plan` says what becomes of it, `check` judges the header
/// that it would have.
pub fn patch<R: Record>(
    workspace: &Workspace,
    target: Target<'_>,
    find: impl FnOnce() -> Result<R, Failure>,
    plan: impl FnOnce(&R) -> Result<Changes, Failure>,
    check: impl FnOnce(&R, Candidate<'_>) -> Result<(), Failure>,
) -> Result<R, Failure> {
    let _lock = lock(workspace, R::KIND.module, target.id)?;
    let before = fresh(workspace, find()?)?;
    unchanged(&before, target.revision)?;
    let changes = plan(&before)?;
    let today = clock::now().date();
    let header = candidate(&before.header, &changes, &today);
    check(&before, Candidate { called: before.id(), header: &header })?;
    match rewritten(&before, R::KIND, &changes, Some(&today))? {
        Some(text) => write(workspace, &before, text),
        None => Ok(before),
    }
}

/// The record as its file has it now: a listing may have been made before the lock was taken, or from a cache.
pub fn fresh<R: Record>(workspace: &Workspace, record: R) -> Result<R, Failure> {
    let found = files::again(workspace, &workspace.root, record.path())?;
    let found = found.ok_or_else(|| missing(R::KIND, record.id(), &[]))?;
    if *found.text == **record.text() {
        return Ok(record);
    }
    let now = record.again(workspace, found.text.to_string())?;
    if now.id() == record.id() { Ok(now) } else { Err(missing(R::KIND, record.id(), &[])) }
}

/// Waits for the lock of one record of a module.
pub fn lock(workspace: &Workspace, module: &str, id: &str) -> Result<Lock, Failure> {
    let folder = format!("{}/{module}", workspace.paths.locks);
    Lock::take(&workspace.root, &folder, &lock_name(id), Purpose::Record { module, id })
}

/// Waits for the locks of several records of a module, in the order of their names, so that nobody waits in a circle.
pub fn locks(workspace: &Workspace, module: &str, ids: &[&str]) -> Result<Vec<Lock>, Failure> {
    let mut named: Vec<(String, &str)> = ids.iter().map(|id| (lock_name(id), *id)).collect();
    named.sort_unstable();
    named.dedup_by(|one, other| one.0 == other.0);
    named.into_iter().map(|(_, id)| lock(workspace, module, id)).collect()
}

/// The lock's file name: the id where it can be one. Two ids that share a name wait for each other, no more.
fn lock_name(id: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' };
    let name: String = id.chars().map(plain).take(100).collect();
    format!("{name}.lock")
}

/// The record with this id among `records`: one, and only one.
pub fn locate<R: Record>(records: impl IntoIterator<Item = R>, id: &str) -> Result<R, Failure> {
    let mut found = records.into_iter().filter(|record| record.id() == id);
    let kind = R::KIND;
    let first = found.next().ok_or_else(|| missing(kind, id, &[]))?;
    let others: Vec<String> = found.map(|record| record.path().to_owned()).collect();
    if others.is_empty() {
        return Ok(first);
    }
    let files: Vec<String> = std::iter::once(first.path().to_owned()).chain(others).collect();
    let text = format!("{id} is the id of several files: {}; give all but one another id", files.join(", "));
    Err(Failure::new(kind.codes.ambiguous, text).with("files", files))
}

/// There is no such record; with the reason when a file of that name is there and cannot be read.
pub fn missing(kind: &Kind, id: &str, unreadable: &[Unreadable]) -> Failure {
    let named = |file: &&Unreadable| {
        let name = file.path.rsplit('/').next().unwrap_or(&file.path);
        name.strip_prefix(id).is_some_and(|rest| rest.starts_with(['-', '.']))
    };
    let text = match unreadable.iter().find(named) {
        Some(file) => {
            format!("there is no {} {id}; {} cannot be read: {}", kind.noun, file.path, file.reason)
        }
        None => format!("there is no {} {id}", kind.noun),
    };
    Failure::new(kind.codes.not_found, text).remedy(kind.list)
}

/// Refuses when the record has another revision than the caller saw.
pub fn unchanged<R: Record>(record: &R, expected: Option<&str>) -> Result<(), Failure> {
    let Some(expected) = expected.filter(|expected| !expected.is_empty()) else { return Ok(()) };
    let actual = record.revision();
    if actual == expected {
        return Ok(());
    }
    let text = format!("{} has changed since revision {expected}", record.id());
    let failure = Failure::new(R::KIND.codes.conflict, text).with("id", record.id());
    let failure = failure.with("expectedRevision", expected).with("actualRevision", actual);
    let failure = failure.with("current", Json::Object(record.to_json()));
    Err(failure.remedy(format!("{} {}", R::KIND.show, record.id())))
}

/// The header that the changes would make, dated today.
pub fn candidate(header: &Header, changes: &Changes, today: &str) -> Header {
    let mut header = header.clone();
    for (key, value) in &changes.header {
        header.set(key, value.clone());
    }
    header.set("updated", Some(Value::Text(today.to_owned())));
    header
}

/// The text that the changes make of a record, with `today` as the day of the change where its kind has one; `None` when they
/// change nothing.
pub fn rewritten(
    record: &RecordFile,
    kind: &Kind,
    changes: &Changes,
    today: Option<&str>,
) -> Result<Option<String>, Failure> {
    let header: Vec<Change> =
        changes.header.iter().filter(|change| matters(&record.header, change)).cloned().collect();
    let body = changes.body.as_deref().filter(|body| !same_lines(trim(body), record.body()));
    if header.is_empty() && body.is_none() {
        return Ok(None);
    }
    let mut text = record::patch(record.text(), &header, kind.lists, today)?;
    let Some(body) = body else { return Ok(Some(text)) };
    if !text.ends_with('\n') && record.body_text().is_empty() {
        // The file ended with its header's fence.
        text.push_str(if text.contains("\r\n") { "\r\n" } else { "\n" });
    }
    record::with_body(&text, body).map(Some)
}

/// Whether two texts differ in nothing but how their lines end.
fn same_lines(left: &str, right: &str) -> bool {
    left.lines().eq(right.lines())
}

/// Replaces the record's file by `text`, in one step and never through a link.
pub fn write<R: Record>(workspace: &Workspace, before: &R, text: String) -> Result<R, Failure> {
    let path = workspace.root.join(before.path());
    if super::hidden(workspace, &path) {
        let shown = before.path();
        let text = format!("{shown} lies behind a link by now and is not written");
        return Err(Failure::new(Code::RECORD_PATH_ESCAPES_WORKSPACE, text).with("path", shown));
    }
    fs::replace(&workspace.root, &path, text.as_bytes())?;
    before.again(workspace, text)
}

/// Whether a change would do anything. What cannot be rewritten safely is not looked into but left to be refused.
pub fn matters(header: &Header, (key, value): &Change) -> bool {
    let mut entries = header.entries.iter().filter(|entry| entry.key == *key);
    let (first, second) = (entries.next(), entries.next());
    if second.is_some() || first.is_some_and(|entry| entry.style == Style::Opaque) {
        return true;
    }
    let value = value.as_ref().filter(|value| !value.is_empty());
    first.and_then(|entry| entry.value.as_ref()) != value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_name_stays_in_its_folder() {
        assert_eq!(lock_name("T-0001"), "T-0001.lock");
        assert_eq!(lock_name("../../x y"), ".._.._x_y.lock");
        assert!(lock_name(&"é".repeat(500)).len() < 120);
    }

    #[test]
    fn a_change_to_the_same_value_is_none() {
        let text =
            "---\nid: T-0001\ntitle: A\ntags: a, b\ndeep:\n  a:\n    b: c\nx: 1\nx: 1\n---\n".to_owned();
        let record = RecordFile::parse(text, &["tags"]).unwrap();
        let change = |key: &str, value: Option<Value>| matters(&record.header, &(key.to_owned(), value));
        let list = |items: &[&str]| Some(Value::List(items.iter().map(|item| (*item).to_owned()).collect()));
        assert!(!change("title", Some(Value::Text("A".to_owned()))));
        assert!(change("title", Some(Value::Text("B".to_owned()))));
        assert!(!change("tags", list(&["a", "b"])));
        assert!(!change("effort", None));
        assert!(!change("effort", list(&[])));
        assert!(change("tags", None));
        assert!(change("deep", None) && change("x", Some(Value::Text("1".to_owned()))));
    }
}
