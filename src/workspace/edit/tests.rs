//! A kind of its own, so that no rule of a real one is in the way.

use super::*;
use crate::workspace::{Access, Missing, Start};
use serde_json::json;
use std::fs;
use std::path::PathBuf;

static NOTE: Kind = Kind {
    module: "notes",
    noun: "note",
    show: "workfile doc show",
    list: "workfile doc list",
    lists: &["tags"],
    fields: &[("title", Type::Text), ("tags", Type::List), ("count", Type::Number), ("due", Type::Text)],
    codes: Codes {
        unknown: Code::CARD_FIELD_UNKNOWN,
        invalid: Code::CARD_FIELD_INVALID,
        not_patchable: Code::CARD_FIELD_NOT_PATCHABLE,
        empty: Code::CARD_CHANGES_EMPTY,
        conflict: Code::CARD_WRITE_CONFLICT,
        not_found: Code::CARD_NOT_FOUND,
        ambiguous: Code::CARD_ID_AMBIGUOUS,
    },
};

struct Note {
    id: String,
    path: String,
    record: RecordFile,
}

impl Deref for Note {
    type Target = RecordFile;

    fn deref(&self) -> &RecordFile {
        &self.record
    }
}

impl Record for Note {
    const KIND: &'static Kind = &NOTE;

    fn id(&self) -> &str {
        &self.id
    }

    fn path(&self) -> &str {
        &self.path
    }

    fn to_json(&self) -> Map<String, Json> {
        Map::from_iter([("id".to_owned(), self.id.as_str().into())])
    }

    fn again(&self, _: &Workspace, text: String) -> Result<Self, Failure> {
        Ok(note(&self.path, text))
    }
}

fn note(path: &str, text: String) -> Note {
    let record = RecordFile::parse(text, NOTE.lists).unwrap();
    Note { id: record.field("id").unwrap_or_default().to_owned(), path: path.to_owned(), record }
}

struct Place {
    folder: tempfile::TempDir,
    workspace: Workspace,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let start = Start::Exactly(folder.path().to_owned());
        let workspace = Workspace::load(&start, Missing::Allow, Access::Write).unwrap();
        Self { folder, workspace }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Changes `n.md`; the answer is the refusal's code or the file afterwards.
    fn patch(&self, before: &str, input: &Json) -> Result<String, Failure> {
        fs::write(self.path("n.md"), before).unwrap();
        let plan = |_: &Note| changes(&NOTE, input.as_object().unwrap());
        let target = Target { id: "N-0001", revision: None };
        let find = || locate([note("n.md", before.to_owned())], "N-0001");
        patch(&self.workspace, target, find, plan, |_, candidate| {
            candidate.required(&["id", "title"], Code::CARD_REQUIRED_FIELD)
        })?;
        Ok(fs::read_to_string(self.path("n.md")).unwrap())
    }
}

const BEFORE: &str = "---\nid: N-0001\n# why\ntitle: A\nown: kept\nupdated: 2020-01-01\n---\n\nText.\n";

#[test]
fn a_change_touches_what_it_names() {
    let place = Place::new();
    let today = crate::clock::now().date();
    let after = place.patch(BEFORE, &json!({"tags": "x, y", "title": " B ", "count": 3, "due": ""})).unwrap();
    let wanted = format!(
        "---\nid: N-0001\n# why\ntitle: B\nown: kept\nupdated: {today}\ntags: [\"x, y\"]\ncount: 3\n---\n\nText.\n"
    );
    assert_eq!(after, wanted);
    let after = place.patch(BEFORE, &json!({"body": "\n\n new\nlines \n\n"})).unwrap();
    assert!(after.ends_with(&format!("updated: {today}\n---\n\nnew\nlines\n")), "{after}");
}

#[test]
fn a_change_without_effect_writes_nothing() {
    let place = Place::new();
    for input in [
        json!({"title": "A"}),
        json!({"title": " A "}),
        json!({"tags": [], "due": null}),
        json!({"body": " Text.\r\n"}),
    ] {
        assert_eq!(place.patch(BEFORE, &input).unwrap(), BEFORE, "{input}");
    }
}

#[test]
fn line_ends_follow_the_file() {
    let place = Place::new();
    let after =
        place.patch(&BEFORE.replace('\n', "\r\n"), &json!({"body": "a\nb\r\nc", "due": "d"})).unwrap();
    assert!(after.ends_with("due: d\r\n---\r\n\r\na\r\nb\r\nc\r\n"), "{after:?}");
    assert_eq!(after.matches('\n').count(), after.matches("\r\n").count());
    let bare = BEFORE.split_once("\n\nText").unwrap().0;
    let after = place.patch(bare, &json!({"body": "a"})).unwrap();
    assert!(after.ends_with("---\n\na\n"), "{after:?}");
    let emptied = place.patch(BEFORE, &json!({"body": null})).unwrap();
    assert!(emptied.ends_with("---\n"), "{emptied:?}");
}

#[test]
fn what_is_refused_leaves_the_file() {
    let place = Place::new();
    for (input, code, details) in [
        (json!({}), Code::CARD_CHANGES_EMPTY, json!({})),
        (json!({"id": "N-2", "x": 1}), Code::CARD_FIELD_NOT_PATCHABLE, json!({"fields": ["id", "x"]})),
        (json!({"title": 3}), Code::CARD_FIELD_INVALID, json!({"field": "title", "reason": "type"})),
        (json!({"tags": [["a"]]}), Code::CARD_FIELD_INVALID, json!({"field": "tags", "reason": "type"})),
        (json!({"tags": {"a": 1}}), Code::CARD_FIELD_INVALID, json!({"field": "tags", "reason": "type"})),
        (json!({"count": true}), Code::CARD_FIELD_INVALID, json!({"field": "count", "reason": "type"})),
        (json!({"body": ["a"]}), Code::CARD_FIELD_INVALID, json!({"field": "body", "reason": "type"})),
        (
            json!({"tags": ["a\u{2028}b"]}),
            Code::CARD_FIELD_INVALID,
            json!({"field": "tags", "reason": "control-character"}),
        ),
        (
            json!({"due": "a\nid: N-9"}),
            Code::CARD_FIELD_INVALID,
            json!({"field": "due", "reason": "control-character"}),
        ),
        (json!({"title": "  "}), Code::CARD_REQUIRED_FIELD, json!({"fields": ["title"]})),
    ] {
        let failure = place.patch(BEFORE, &input).unwrap_err();
        assert_eq!((failure.code, Json::Object(failure.details)), (code, details), "{input}");
        assert_eq!(fs::read_to_string(place.path("n.md")).unwrap(), BEFORE);
    }
}

#[test]
fn a_stale_revision_is_told_before_anything_is_read_of_the_input() {
    let place = Place::new();
    fs::write(place.path("n.md"), BEFORE).unwrap();
    let target = Target { id: "N-0001", revision: Some("sha256:old") };
    let find = || Ok(note("n.md", BEFORE.to_owned()));
    let plan = |_: &Note| changes(&NOTE, &Map::new());
    let failure = patch(&place.workspace, target, find, plan, |_, _| Ok(())).err().unwrap();
    assert_eq!(failure.code, Code::CARD_WRITE_CONFLICT);
    let keys: Vec<&String> = failure.details.keys().collect();
    assert_eq!(keys, ["id", "expectedRevision", "actualRevision", "current"]);
}

#[test]
fn what_counts_is_the_file_under_the_lock() {
    let place = Place::new();
    let now = BEFORE.replace("title: A", "title: Theirs");
    fs::write(place.path("n.md"), &now).unwrap();
    let seen = |find: &str, input: Json| {
        let find = note("n.md", find.to_owned());
        let target = Target { id: "N-0001", revision: None };
        let plan = |_: &Note| changes(&NOTE, input.as_object().unwrap());
        patch(&place.workspace, target, || Ok(find), plan, |_, _| Ok(()))
    };
    let after = seen(BEFORE, json!({"due": "d"})).unwrap();
    assert_eq!(after.field("title"), Some("Theirs"));
    fs::write(place.path("n.md"), BEFORE.replace("N-0001", "N-0002")).unwrap();
    assert_eq!(seen(BEFORE, json!({"due": "d"})).err().unwrap().code, Code::CARD_NOT_FOUND);
    fs::remove_file(place.path("n.md")).unwrap();
    assert_eq!(seen(BEFORE, json!({"due": "d"})).err().unwrap().code, Code::CARD_NOT_FOUND);
}

#[test]
fn an_id_is_of_one_record() {
    let two = || ["a.md", "b.md"].map(|path| note(path, BEFORE.to_owned()));
    let failure = locate(two(), "N-0001").err().unwrap();
    assert_eq!(
        (failure.code, &failure.details["files"]),
        (Code::CARD_ID_AMBIGUOUS, &json!(["a.md", "b.md"]))
    );
    assert_eq!(locate(two(), "N-0002").err().unwrap().code, Code::CARD_NOT_FOUND);
}

fn made(place: &Place, input: &Json) -> Result<Fresh, Failure> {
    let draft = draft(&NOTE, input.as_object().unwrap())?;
    let new =
        New { kind: &NOTE, draft: &draft, prefix: "N", tries: 4, exhausted: Code::CARD_ID_ALLOCATION_FAILED };
    let check = |candidate: Candidate<'_>| candidate.required(&["id", "title"], Code::CARD_REQUIRED_FIELD);
    create(&place.workspace, new, || Ok(6), check, |id| place.path(&format!("notes/{id}.md")))
}

#[test]
fn a_new_record_is_in_the_order_of_the_table() {
    let place = Place::new();
    let today = crate::clock::now().date();
    let fresh =
        made(&place, &json!({"body": "\n b \n", "due": " ", "tags": [" a ", ""], "title": " T "})).unwrap();
    let wanted =
        format!("---\nid: N-0007\ntitle: T\ntags: [a]\ncreated: {today}\nupdated: {today}\n---\n\nb\n");
    assert_eq!((fresh.id.as_str(), &fresh.text), ("N-0007", &wanted));
    assert_eq!(fs::read_to_string(&fresh.path).unwrap(), wanted);
    // The scan does not see it: the name is taken, and the next id is tried.
    assert_eq!(made(&place, &json!({"title": "T"})).unwrap().id, "N-0008");
}

#[test]
fn a_refused_record_leaves_nothing_behind() {
    let place = Place::new();
    let code = |input: &Json| made(&place, input).err().unwrap().code;
    assert_eq!(code(&json!({"titel": "T"})), Code::CARD_FIELD_UNKNOWN);
    assert_eq!(code(&json!({"title": " "})), Code::CARD_REQUIRED_FIELD);
    assert_eq!(fs::read_dir(place.folder.path()).unwrap().count(), 0);
}

#[cfg(unix)]
#[test]
fn nothing_is_written_behind_a_link() {
    let place = Place::new();
    fs::create_dir(place.path("elsewhere")).unwrap();
    std::os::unix::fs::symlink("elsewhere", place.path("notes")).unwrap();
    let failure = made(&place, &json!({"title": "T"})).err().unwrap();
    assert_eq!(failure.code, Code::RECORD_PATH_ESCAPES_WORKSPACE);
    fs::write(place.path("elsewhere/n.md"), BEFORE).unwrap();
    let failure =
        write(&place.workspace, &note("notes/n.md", BEFORE.to_owned()), "x".to_owned()).err().unwrap();
    assert_eq!(failure.code, Code::RECORD_PATH_ESCAPES_WORKSPACE);
    assert_eq!(fs::read_dir(place.path("elsewhere")).unwrap().count(), 1);
}
