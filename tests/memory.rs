//! `workfile memory …` end to end: what it prints, what it refuses, and who gets in whose way.

use crate::process::{Call, call, text};
use crate::world::World;
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;

fn world() -> World {
    World::new().clock("2026-03-01T12:34:56.000Z")
}

fn path(id: &str) -> String {
    let folder = if id.starts_with("ADR") { "decisions" } else { "learnings" };
    format!(".project/memory/{folder}/{id}-x.md")
}

/// Writes a valid decision or learning with these header lines besides.
fn with(world: World, id: &str, status: &str, lines: &str) -> World {
    let text = format!(
        "---\nid: {id}\ntitle: X\nstatus: {status}\n{lines}created: 2026-01-01\nupdated: 2026-01-02\n---\n\nText.\n"
    );
    world.file(&path(id), text)
}

fn patch(id: &str, changes: &Json) -> Call {
    call(["memory", "patch", id, "--json-input", "-", "--json"]).stdin(changes.to_string())
}

fn list(record: &Json, key: &str) -> Vec<String> {
    let items = record[key].as_array().into_iter().flatten();
    items.map(|item| item.as_str().unwrap().to_owned()).collect()
}

fn show(world: &World, id: &str) -> Json {
    world.run(["memory", "show", id]).json()
}

#[test]
fn both_spellings_of_the_commands_and_of_collections_are_one() {
    let world = world();
    world.run(["memory", "create", "learning", "--title", "One"]).success("LRN-0001 LRN-0001-one.md\n");
    world.run(["memory", "add", "learnings", "--title", " Two "]).success("LRN-0002 LRN-0002-two.md\n");
    world
        .run(["memory", "list", "--collection", "learning", "--status", "active"])
        .success("LRN-0001\tlearnings\tactive\tOne\nLRN-0002\tlearnings\tactive\tTwo\n");
    let found = world.run(["memory", "list", "--query", "two"]).text();
    assert_eq!(found, "LRN-0002\tlearnings\tactive\tTwo\n");
    world.run(["memory", "list", "--collection", "bogus"]).fails(1, "CLI_OPTION_INVALID");
    let listed = world.run(["memory", "list", "--limit", "1", "--json"]).json();
    assert_eq!((&listed["total"], listed["records"].as_array().unwrap().len()), (&json!(2), 1));
    world.run(["memory", "show", "LRN-0003"]).fails(1, "MEMORY_NOT_FOUND");
    world.run(["memory", "add", "--title", "x"]).fails(1, "CLI_ARGUMENT_REQUIRED");
    let refused = world.run(["memory", "add", "learning", "--title", "x", "--dry-run"]);
    assert!(refused.fails(1, "CLI_FLAG_UNSUPPORTED").as_str().unwrap().contains("workfile memory list"));
}

#[test]
fn what_is_refused_writes_nothing() {
    let world = world().file(
        "project.config.mjs",
        "export default { schemaVersion: 2, memory: { collections: [\"learnings\"] } };\n",
    );
    let add = |input: &Json| {
        call(["memory", "add", "learning", "--json-input", "-", "--json"]).stdin(input.to_string())
    };
    for (input, code) in [
        (json!({"title": " "}), "MEMORY_TITLE_REQUIRED"),
        (json!({"title": "x", "collection": "decisions"}), "MEMORY_FIELD_UNKNOWN"),
        (json!({"title": "x", "created": "2020-01-01"}), "MEMORY_FIELD_UNKNOWN"),
        (json!({"title": ["x"]}), "MEMORY_FIELD_INVALID"),
        (json!({"title": "x", "category": "a\u{7}"}), "MEMORY_FIELD_INVALID"),
        (json!({"title": "x", "status": "accepted"}), "MEMORY_STATUS_INVALID"),
        (json!({"title": "x", "expires": "2026-02-30"}), "MEMORY_DATE_INVALID"),
        (json!({"title": "x", "confidence": "huge"}), "LEARNING_CONFIDENCE_INVALID"),
        (json!({"title": "x", "occurrences": 0}), "LEARNING_OCCURRENCES_INVALID"),
        (json!({"title": "x", "occurrences": 1.5}), "LEARNING_OCCURRENCES_INVALID"),
    ] {
        world.run(add(&input)).fails(1, code);
    }
    let refused = world.run(["memory", "add", "decision", "--title", "x", "--json"]);
    assert_eq!(refused.fails(1, "MEMORY_COLLECTION_DISABLED")["details"]["allowed"], json!(["learnings"]));
    assert!(!world.root.join(".project/memory").exists());
    assert_eq!(world.run(add(&json!({"title": "x", "occurrences": 3}))).json()["occurrences"], 3);
}

#[test]
fn a_patch_changes_what_it_names_and_an_empty_one_nothing() {
    let world = with(world(), "ADR-0001", "accepted", "");
    let before = world.read(&path("ADR-0001"));
    for changes in [json!({"status": "accepted"}), json!({"tags": ""}), json!({"body": "\nText.\r\n"})] {
        world.run(patch("ADR-0001", &changes)).json();
        assert_eq!(world.read(&path("ADR-0001")), before, "{changes}");
    }
    for (changes, code) in [
        (json!({}), "MEMORY_CHANGES_EMPTY"),
        (json!({"id": "ADR-0002", "created": "x"}), "MEMORY_FIELD_NOT_PATCHABLE"),
        (json!({"title": ""}), "MEMORY_REQUIRED_FIELDS_MISSING"),
        (json!({"status": "active"}), "MEMORY_STATUS_INVALID"),
    ] {
        world.run(patch("ADR-0001", &changes)).fails(1, code);
    }
    world.run(patch("ADR-0404", &json!({"title": "x"}))).fails(1, "MEMORY_NOT_FOUND");
    let stale = patch("ADR-0001", &json!({"title": "x"})).words(&["--expected-revision", "sha256:old"]);
    let conflict = world.run(stale).fails(3, "MEMORY_WRITE_CONFLICT");
    assert_eq!(conflict["details"]["current"]["title"], "X");
    assert_eq!(world.read(&path("ADR-0001")), before);
    let after = world.run(patch("ADR-0001", &json!({"body": "New.", "owners": "ann"}))).json();
    assert_eq!((&after["body"], &after["owners"]), (&json!("New."), &json!(["ann"])));
    let world = world.file(".project/memory/decisions/deep/ADR-0001-y.md", before);
    world.run(patch("ADR-0001", &json!({"title": "x"}))).fails(3, "MEMORY_ID_AMBIGUOUS");
}

#[test]
fn a_learning_graduates_to_records_of_any_kind() {
    let world = with(
        with(world(), "LRN-0001", "discarded", "graduated_to: [OLD-0001]\n"),
        "ADR-0001",
        "accepted",
        "",
    );
    let world = world.card("T-0001", |card| card);
    let graduate = |to: &str| call(["memory", "graduate", "LRN-0001", "--json", "--to", to]);
    let refused =
        world.run(graduate("T-0001,T-0404,LRN-0001")).fails(1, "MEMORY_GRADUATION_TARGET_NOT_FOUND");
    assert_eq!(refused["details"]["ids"], json!(["T-0404", "LRN-0001"]));
    world.run(graduate(" , ")).fails(1, "MEMORY_GRADUATION_TARGET_REQUIRED");
    let done = world.run(graduate("T-0001, ADR-0001,T-0001")).json();
    assert_eq!(
        (&done["status"], list(&done, "graduated_to")),
        (&json!("graduated"), vec!["T-0001".into(), "ADR-0001".into()])
    );
    world.run(["memory", "graduate", "ADR-0001", "--to", "T-0001"]).fails(1, "MEMORY_GRADUATION_INVALID");
}

#[test]
fn a_second_replacement_takes_over_from_the_first() {
    let world = with(world(), "ADR-0001", "superseded", "superseded_by: [ADR-0002]\n");
    let world = with(world, "ADR-0002", "accepted", "supersedes: [ADR-0009, ADR-0001]\n");
    let world = with(world, "LRN-0001", "active", "supersedes: [LRN-0009]\n");
    let old = world.run(["memory", "supersede", "ADR-0001", "--by", "LRN-0001", "--json"]).json();
    assert_eq!((&old["id"], list(&old, "superseded_by")), (&json!("ADR-0001"), vec!["LRN-0001".to_owned()]));
    assert_eq!(list(&show(&world, "ADR-0002"), "supersedes"), ["ADR-0009"]);
    assert_eq!(list(&show(&world, "LRN-0001"), "supersedes"), ["LRN-0009", "ADR-0001"]);
    let again = [path("ADR-0001"), path("ADR-0002"), path("LRN-0001")].map(|path| world.read(&path));
    world
        .run(["memory", "supersede", "ADR-0001", "--by", "LRN-0001"])
        .success("ADR-0001 superseded by LRN-0001\n");
    assert_eq!([path("ADR-0001"), path("ADR-0002"), path("LRN-0001")].map(|path| world.read(&path)), again);
}

#[test]
fn nothing_supersedes_itself_in_a_circle() {
    let world = with(world(), "ADR-0001", "accepted", "");
    let world = with(world, "ADR-0002", "superseded", "superseded_by: [ADR-0003]\n");
    let world = with(world, "ADR-0003", "superseded", "superseded_by: [ADR-0001]\n");
    let world = with(world, "ADR-0004", "broken", "");
    let before = world.read(&path("ADR-0001"));
    let by = |by: &str| call(["memory", "supersede", "ADR-0001", "--json", "--by", by]);
    world.run(by("ADR-0002")).fails(3, "MEMORY_SUPERSESSION_CYCLE");
    world.run(by("ADR-0001")).fails(1, "MEMORY_SUPERSESSION_SELF");
    world.run(by("ADR-0404")).fails(1, "MEMORY_NOT_FOUND");
    world.run(["memory", "supersede", "ADR-0001"]).fails(1, "CLI_ARGUMENT_REQUIRED");
    world.run(by("ADR-0002").words(&["--expected-revision", "sha256:old"])).fails(3, "MEMORY_WRITE_CONFLICT");
    // The replacement is checked before the first write.
    world.run(by("ADR-0004")).fails(1, "MEMORY_STATUS_INVALID");
    assert_eq!(world.read(&path("ADR-0001")), before);
}

#[test]
fn a_record_that_cannot_be_rewritten_leaves_the_other_alone() {
    // A header that holds a key twice is read and never rewritten: the second write is refused before the first.
    let world = with(world(), "ADR-0001", "accepted", "");
    let world = with(world, "ADR-0002", "accepted", "supersedes: [A-1]\nsupersedes: [A-2]\n");
    let before = [path("ADR-0001"), path("ADR-0002")].map(|path| world.read(&path));
    world
        .run(["memory", "supersede", "ADR-0001", "--by", "ADR-0002"])
        .fails(1, "RECORD_FRONTMATTER_DUPLICATE_KEY");
    assert_eq!([path("ADR-0001"), path("ADR-0002")].map(|path| world.read(&path)), before);
}

#[test]
fn verify_exits_with_what_it_finds() {
    let world = with(world(), "ADR-0001", "accepted", "");
    world.run(["memory", "verify"]).success("Workfile memory: 1 records: 0 errors, 0 warnings\n");
    let world = with(world, "LRN-0001", "graduated", "related: [X-0001]\n");
    let warned = "Workfile memory: 2 records: 0 errors, 2 warnings\n\
        WARNING learning-graduation-target-missing LRN-0001: it is graduated, and `graduated_to` does not say to what; `workfile memory graduate` names it\n\
        WARNING memory-missing-reference LRN-0001: `related` names X-0001, which is no record; `workfile memory patch` sets it\n";
    world.run(["memory", "verify"]).success(warned);
    let world = with(world, "ADR-0001", "odd", "");
    let ended = world.run(["memory", "verify", "--json"]).ended;
    assert_eq!((ended.code, text(&ended.stderr)), (Some(1), ""));
    let report: Json = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(report["counts"], json!({"error": 1, "warning": 2, "info": 0}));
}

#[test]
fn processes_that_add_at_once_get_ids_of_their_own() {
    let world = world();
    let titles: Vec<String> = (0..6).map(|number| format!("Number {number}")).collect();
    let calls = titles.iter().map(|title| call(["memory", "add", "decision", "--title", title])).collect();
    let runs = world.run_together(calls);
    let ids: BTreeSet<&str> =
        runs.iter().map(|run| text(&run.ended.stdout).split(' ').next().unwrap()).collect();
    assert_eq!(ids.len(), 6, "{ids:?}");
    let files = std::fs::read_dir(world.root.join(".project/memory/decisions")).unwrap().count();
    assert_eq!(files, 6);
}

#[test]
fn a_supersede_and_patches_of_both_records_at_once_lose_nothing() {
    let world = with(with(world(), "ADR-0001", "accepted", ""), "ADR-0002", "accepted", "");
    let world = with(world, "ADR-0003", "accepted", "");
    let calls = vec![
        call(["memory", "supersede", "ADR-0001", "--by", "ADR-0002"]),
        call(["memory", "supersede", "ADR-0003", "--by", "ADR-0002"]),
        call(["memory", "supersede", "ADR-0002", "--by", "ADR-0003"]),
        patch("ADR-0001", &json!({"tags": ["one"]})),
        patch("ADR-0002", &json!({"tags": ["two"]})),
    ];
    let codes: Vec<Option<i32>> = world.run_together(calls).iter().map(|run| run.ended.code).collect();
    let [one, two, three] = ["ADR-0001", "ADR-0002", "ADR-0003"].map(|id| show(&world, id));
    assert_eq!((list(&one, "tags"), list(&two, "tags")), (vec!["one".into()], vec!["two".into()]));
    assert_eq!(list(&one, "superseded_by"), ["ADR-0002"]);
    assert!(list(&two, "supersedes").contains(&"ADR-0001".to_owned()), "{two}");
    // Of the two that would make a circle one comes first, and the other is refused.
    assert_eq!((codes[0], codes[3], codes[4]), (Some(0), Some(0), Some(0)));
    assert_eq!(BTreeSet::from([codes[1], codes[2]]), BTreeSet::from([Some(0), Some(3)]));
    let pair = [&two, &three].map(|record| record["status"] == "superseded");
    assert_eq!(pair, [codes[2] == Some(0), codes[1] == Some(0)]);
}
