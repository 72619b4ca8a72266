//! `workfile doc …` end to end: what it prints, where it writes, and what a stranger's folders can do.

use crate::compare::{Entry, tree};
use crate::process::{Call, call, text};
use crate::world::World;
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;

const DOCS: &str = ".project/docs";

fn world() -> World {
    World::new().clock("2026-03-01T12:34:56.000Z")
}

/// A valid document.
fn document(id: &str, title: &str) -> String {
    format!(
        "---\nid: {id}\ntitle: {title}\nkind: guide\nstatus: draft\ncreated: 2026-01-01\nupdated: 2026-01-02\n---\n\nText.\n"
    )
}

fn with_document(world: World, id: &str) -> World {
    world.file(&format!("{DOCS}/guide/{id}-x.md"), document(id, id))
}

fn patch(id: &str, changes: &Json) -> Call {
    call(["doc", "patch", id, "--json-input", "-", "--json"]).stdin(changes.to_string())
}

/// Every file below a folder, by its path in it.
fn files(world: &World, folder: &str) -> BTreeSet<String> {
    let all = tree(&world.root.join(folder)).into_iter();
    all.filter(|(_, entry)| *entry != Entry::Directory).map(|(path, _)| path).collect()
}

#[test]
fn both_spellings_of_the_commands_are_one() {
    let world = world();
    world.run(["docs", "create", "--title", "One"]).success("DOC-0001 reference/DOC-0001-one.md\n");
    world.run(["doc", "create", "--title", " Two ", "--folder", "."]).success("DOC-0002 DOC-0002-two.md\n");
    world.run(["docs", "list"]).success(
        "DOC-0001\tmanaged\tdraft\tOne\t.project/docs/reference/DOC-0001-one.md\n\
         DOC-0002\tmanaged\tdraft\tTwo\t.project/docs/DOC-0002-two.md\n",
    );
    world.run(["doc", "note", "DOC-0002", "--text", "see DOC-0001"]).success("DOC-0002 noted\n");
    let shown = world.run(["doc", "show", "DOC-0002"]).json();
    assert_eq!((&shown["title"], &shown["outgoing"][0]["id"]), (&json!("Two"), &json!("DOC-0001")));
    world.run(["doc", "show", "DOC-0003"]).fails(1, "DOC_NOT_FOUND");
    let refused = world.run(["doc", "create", "--title", "x", "--dry-run"]).fails(1, "CLI_FLAG_UNSUPPORTED");
    assert!(refused.as_str().unwrap().contains("workfile doc list"), "{refused}");
}

#[test]
fn a_list_is_filtered_before_it_is_cut() {
    let world =
        with_document(with_document(world(), "DOC-0001"), "DOC-0002").file("README.md", "# Read me\n");
    let listed = world.run(["doc", "list", "--managed", "--limit", "1", "--json"]).json();
    assert_eq!((&listed["total"], &listed["records"][0]["id"]), (&json!(2), &json!("DOC-0001")));
    assert_eq!(listed["records"].as_array().unwrap().len(), 1);
    assert_eq!(world.run(["doc", "list", "--json"]).json()["total"], 3);
    let found = world.run(["doc", "list", "--query", "read -status:draft"]).text();
    assert_eq!(found.lines().count(), 1, "{found}");
    let ended = world.run(["doc", "list", "--query", "nowhere"]).ended;
    assert_eq!(
        (ended.code, text(&ended.stdout), text(&ended.stderr)),
        (Some(0), "", "workfile: no record matches\n")
    );
    world.run(["doc", "list", "--limit", "0"]).fails(1, "CLI_OPTION_INVALID");
    world.run(["doc", "list", "--limit", "x"]).fails(1, "CLI_OPTION_INVALID");
}

#[test]
fn what_is_refused_writes_nothing() {
    let world = world();
    let long = "x".repeat(121);
    for (input, code) in [
        (json!({}), "DOC_TITLE_REQUIRED"),
        (json!({"title": " \u{feff} "}), "DOC_TITLE_REQUIRED"),
        (json!({"title": long}), "DOC_TITLE_TOO_LONG"),
        (json!({"title": "x", "folder": 3}), "DOC_FIELD_INVALID"),
        (json!({"title": "x", "tags": {"a": 1}}), "DOC_FIELD_INVALID"),
        (json!({"title": "x\u{1b}[2J"}), "DOC_FIELD_INVALID"),
        (json!({"title": "x", "source": "a\nid: DOC-9"}), "DOC_FIELD_INVALID"),
        (json!({"title": "x", "id": "DOC-0009"}), "DOC_FIELD_UNKNOWN"),
        (json!({"title": "x", "created": "2020-01-01"}), "DOC_FIELD_UNKNOWN"),
        (json!({"title": "x", "kind": "../x"}), "DOC_KIND_INVALID"),
        (json!({"title": "x", "status": "final"}), "DOC_STATUS_INVALID"),
        (json!({"title": "x", "reviewed": "2026-02-30"}), "DOC_DATE_INVALID"),
        (json!({"title": "x", "reviewed": "2026-13-99"}), "DOC_DATE_INVALID"),
        (json!({"title": "x", "review_interval_days": -1}), "DOC_REVIEW_INTERVAL_INVALID"),
        (json!({"title": "x", "review_interval_days": 1.5}), "DOC_REVIEW_INTERVAL_INVALID"),
    ] {
        let create = call(["doc", "create", "--json-input", "-", "--json"]).stdin(input.to_string());
        world.run(create).fails(1, code);
    }
    for input in ["[]", "{", "\"x\""] {
        let create = call(["doc", "create", "--json-input", "-", "--json"]).stdin(input);
        world.run(create).fails(1, "CLI_INPUT_INVALID");
    }
    assert!(!world.root.join(DOCS).exists());
    let title = "é".repeat(120);
    world.run(["doc", "create", "--title", &title, "--json"]).json();
}

#[test]
fn every_field_is_written_in_the_order_of_the_table() {
    let world = world();
    let input = json!({
        "tags": "one, two", "review_interval_days": 30, "reviewed": "2026-02-28", "source": "a letter", "status": "",
        "scope": ["src", ""], "supersedes": ["DOC-0404"], "related": null, "owners": ["core"], "title": "T: x",
        "body": "\n\nText.\n\n",
    });
    let made =
        world.run(call(["doc", "create", "--json-input", "-", "--json"]).stdin(input.to_string())).json();
    assert_eq!(made["review_interval_days"], 30);
    assert_eq!(
        world.read(".project/docs/reference/DOC-0001-t-x.md"),
        "---\nid: DOC-0001\ntitle: \"T: x\"\nkind: reference\nstatus: draft\nowners: [core]\nsupersedes: [DOC-0404]\n\
         scope: [src]\ntags: [\"one, two\"]\nsource: a letter\nreviewed: 2026-02-28\nreview_interval_days: 30\n\
         created: 2026-03-01\nupdated: 2026-03-01\n---\n\nText.\n"
    );
}

#[test]
fn no_folder_leads_out_of_the_managed_root() {
    let world = with_document(world(), "DOC-0001").file(&format!("{DOCS}/file"), "x");
    let before = tree(&world.root);
    for folder in
        ["..", "../x", "a/../../x", "/tmp", "C:/x", "a\\b", "..\\x", ".git", "a/.hidden", "file", "file/x"]
    {
        let details = world.run(["doc", "create", "--title", "x", "--folder", folder, "--json"]);
        assert_eq!(details.fails(1, "DOC_FOLDER_INVALID")["details"]["folder"], folder);
        world.run(["doc", "move", "DOC-0001", "--folder", folder, "--json"]).fails(1, "DOC_FOLDER_INVALID");
    }
    let mut after = tree(&world.root);
    after.retain(|path, _| !path.starts_with(".project/.cache"));
    assert_eq!(after, before);
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link() {
    let outside = tempfile::tempdir().unwrap();
    let world = with_document(world(), "DOC-0001").link(&format!("{DOCS}/out"), outside.path());
    let world = world.link(&format!("{DOCS}/in"), "elsewhere").file("elsewhere/keep", "");
    for folder in ["out", "out/deep", "in"] {
        world.run(["doc", "create", "--title", "x", "--folder", folder]).fails(1, "DOC_FOLDER_INVALID");
        world.run(["doc", "move", "DOC-0001", "--folder", folder]).fails(1, "DOC_FOLDER_INVALID");
    }
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
    assert_eq!(files(&world, "elsewhere").len(), 1);

    let linked = self::world().link(DOCS, outside.path());
    let refused = linked.run(["doc", "create", "--title", "x"]);
    refused.fails(1, "RECORD_PATH_ESCAPES_WORKSPACE");
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn a_patch_changes_what_it_names_and_an_empty_one_nothing() {
    let world = with_document(world(), "DOC-0001");
    let path = format!("{DOCS}/guide/DOC-0001-x.md");
    let before = world.read(&path);
    for changes in [json!({"title": " DOC-0001 "}), json!({"tags": []}), json!({"body": "Text."})] {
        let same = world.run(patch("DOC-0001", &changes)).json();
        assert_eq!(
            (&same["updated"], world.read(&path)),
            (&json!("2026-01-02"), before.clone()),
            "{changes}"
        );
    }
    for (changes, code) in [
        (json!({}), "DOC_CHANGES_EMPTY"),
        (json!({"id": "DOC-0002"}), "DOC_FIELD_NOT_PATCHABLE"),
        (json!({"updated": "2026-01-01"}), "DOC_FIELD_NOT_PATCHABLE"),
        (json!({"title": "  "}), "DOC_REQUIRED_FIELDS_MISSING"),
        (json!({"kind": null}), "DOC_REQUIRED_FIELDS_MISSING"),
        (json!({"reviewed": "2026-02-29"}), "DOC_DATE_INVALID"),
    ] {
        world.run(patch("DOC-0001", &changes)).fails(1, code);
        assert_eq!(world.read(&path), before, "{changes}");
    }
    world.run(["doc", "patch", "DOC-0001"]).fails(1, "CLI_ARGUMENT_REQUIRED");
    world.run(patch("DOC-0002", &json!({"title": "x"}))).fails(1, "DOC_NOT_FOUND");
    world.run(patch("DOC-0001", &json!({"title": "New"}))).json();
    assert_eq!(files(&world, DOCS).len(), 1, "a patch moves no file");
}

#[test]
fn a_file_with_crlf_keeps_it_throughout() {
    let path = format!("{DOCS}/DOC-0001-x.md");
    let world = world().file(&path, document("DOC-0001", "X").replace('\n', "\r\n"));
    world.run(patch("DOC-0001", &json!({"body": "a\nb\r\nc\n", "tags": ["t"]}))).json();
    let after = world.read(&path);
    assert!(after.ends_with("updated: 2026-03-01\r\ntags: [t]\r\n---\r\n\r\na\r\nb\r\nc\r\n"), "{after:?}");
    world.run(["doc", "note", "DOC-0001", "--text", "n", "--actor", "ann"]).success("DOC-0001 noted\n");
    let after = world.read(&path);
    assert!(after.ends_with("c\r\n\r\n## Notes\r\n\r\n- 2026-03-01 12:34Z ann — n\r\n"), "{after:?}");
    assert_eq!(after.matches('\n').count(), after.matches("\r\n").count());
}

#[test]
fn indexed_documents_and_doubled_ids_are_not_written() {
    let world = world().file("docs/a.md", document("DOC-0007", "A"));
    let refused = world.run(patch("DOC-0007", &json!({"title": "x"}))).fails(1, "DOC_NOT_MANAGED");
    assert!(refused["message"].as_str().unwrap().contains("docs/a.md"), "{refused}");
    // A new document does not get the id of an indexed one.
    world.run(["doc", "create", "--title", "B", "--folder", ""]).success("DOC-0008 DOC-0008-b.md\n");
    let world =
        with_document(world, "DOC-0001").file(&format!("{DOCS}/DOC-0001-y.md"), document("DOC-0001", "Y"));
    let refused = world.run(patch("DOC-0001", &json!({"title": "x"}))).fails(3, "DOC_ID_AMBIGUOUS");
    let paths = json!([".project/docs/DOC-0001-y.md", ".project/docs/guide/DOC-0001-x.md"]);
    assert_eq!(refused["details"]["files"], paths);
}

#[test]
fn a_move_keeps_the_bytes_and_clears_up() {
    let world = with_document(world(), "DOC-0001")
        .file(&format!("{DOCS}/a/b/DOC-0002-x.md"), document("DOC-0002", "X"));
    let before = world.read(&format!("{DOCS}/a/b/DOC-0002-x.md"));
    world
        .run(["doc", "move", "DOC-0002", "--folder", "c/d/"])
        .success("DOC-0002 is .project/docs/c/d/DOC-0002-x.md\n");
    assert_eq!(world.read(&format!("{DOCS}/c/d/DOC-0002-x.md")), before);
    assert!(!world.root.join(DOCS).join("a").exists());
    world
        .run(["doc", "move", "DOC-0001", "--folder", ""])
        .success("DOC-0001 is .project/docs/DOC-0001-x.md\n");
    world
        .run(["doc", "move", "DOC-0002", "--folder", "."])
        .success("DOC-0002 is .project/docs/DOC-0002-x.md\n");
    assert_eq!(tree(&world.root.join(DOCS)).len(), 2, "the root stays, its folders are gone");
    world.run(["doc", "move", "DOC-0001"]).fails(1, "CLI_ARGUMENT_REQUIRED");
    let stale = ["doc", "move", "DOC-0001", "--folder", "x", "--expected-revision", "sha256:old", "--json"];
    let conflict = world.run(stale).fails(3, "DOC_WRITE_CONFLICT");
    assert!(conflict["details"].get("current").is_none(), "{conflict}");
    let world = world.file(&format!("{DOCS}/e/DOC-0001-x.md"), "in the way");
    world.run(["doc", "move", "DOC-0001", "--folder", "e"]).fails(3, "DOC_MOVE_TARGET_EXISTS");
    assert_eq!(world.read(&format!("{DOCS}/e/DOC-0001-x.md")), "in the way");
}

#[test]
fn a_text_is_replaced_from_a_file_or_from_standard_input() {
    let world = with_document(world(), "DOC-0001").file("new.md", "\n\nFrom a file.\n");
    let path = format!("{DOCS}/guide/DOC-0001-x.md");
    world.run(["doc", "write", "DOC-0001", "--body-file", "new.md"]).success("DOC-0001 written\n");
    assert!(world.read(&path).ends_with("updated: 2026-03-01\n---\n\nFrom a file.\n"));
    world.run(call(["doc", "write", "DOC-0001"]).stdin("Piped.")).success("DOC-0001 written\n");
    assert!(world.read(&path).ends_with("---\n\nPiped.\n"));
    world.run(call(["doc", "write", "DOC-0001"]).stdin(" \n")).success("DOC-0001 written\n");
    assert!(world.read(&path).ends_with("updated: 2026-03-01\n---\n"));
    world.run(["doc", "write", "DOC-0001", "--body-file", "none.md"]).fails(1, "CLI_INPUT_INVALID");
}

#[test]
fn a_note_is_one_line_in_its_section() {
    let body = "# T\n\n```\n## Notes\n```\n\n## Notes\n\n- old\n\n## End\n";
    let path = format!("{DOCS}/DOC-0001-x.md");
    let world = world().file(&path, document("DOC-0001", "X").replace("Text.\n", body));
    let note = |words: &[&str]| call(["doc", "note", "DOC-0001", "--actor", "ann"]).words(words);
    world.run(note(&["--text", "a\n## Forged\n\t b"])).success("DOC-0001 noted\n");
    world.run(note(&["--text", "c", "--section", "Log"])).success("DOC-0001 noted\n");
    let after = world.read(&path);
    let line = "- 2026-03-01 12:34Z ann — ";
    assert!(
        after.ends_with(&format!(
            "```\n\n## Notes\n\n- old\n{line}a ## Forged b\n\n## End\n\n## Log\n\n{line}c\n"
        )),
        "{after}"
    );
    assert!(after.contains("updated: 2026-03-01\n"));
    world.run(note(&["--text", " \n"])).fails(1, "DOC_NOTE_REQUIRED");
    for section in ["", "  ", "a\nb", "# x"] {
        world.run(note(&["--text", "x", "--section", section])).fails(1, "DOC_NOTE_SECTION_INVALID");
    }
    world.run(note(&["--text", "x", "--expected-revision", "sha256:old"])).fails(3, "DOC_WRITE_CONFLICT");
    assert_eq!(world.read(&path), after);
}

#[test]
fn a_disabled_module_takes_nothing() {
    let config =
        "export default { schemaVersion: 2, docs: { enabled: false }, memory: { enabled: false } };\n";
    let world = world().file("project.config.mjs", config);
    let refused = world.run(["doc", "create", "--title", "x", "--json"]).fails(1, "MODULE_DISABLED");
    assert_eq!(refused["details"]["module"], "docs");
    world.run(["doc", "move", "DOC-0001", "--folder", ""]).fails(1, "MODULE_DISABLED");
    world.run(call(["doc", "write", "DOC-0001"]).stdin("x")).fails(1, "MODULE_DISABLED");
    world.run(["memory", "add", "learning", "--title", "x"]).fails(1, "MODULE_DISABLED");
    world.run(["memory", "supersede", "A", "--by", "B"]).fails(1, "MODULE_DISABLED");
}

#[test]
fn processes_that_create_at_once_get_ids_of_their_own() {
    let world = world();
    let titles: Vec<String> = (0..6).map(|number| format!("Number {number}")).collect();
    let calls =
        titles.iter().map(|title| call(["doc", "create", "--folder", "", "--title", title])).collect();
    let ids: BTreeSet<String> = world
        .run_together(calls)
        .iter()
        .map(|run| {
            assert_eq!(run.ended.code, Some(0), "{:?}", run.ended);
            text(&run.ended.stdout).split(' ').next().unwrap().to_owned()
        })
        .collect();
    assert_eq!((ids.len(), files(&world, DOCS).len()), (6, 6));
    assert_eq!(files(&world, ".project/.cache/locks").len(), 0, "no reservation stays");
}
