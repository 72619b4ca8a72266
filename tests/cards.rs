//! The commands on cards, end to end.

use crate::compare::{Tree, tree};
use crate::process::{Call, Run, call, text};
use crate::world::{World, actor};
use serde_json::{Value as Json, json};

const NOW: &str = "2026-03-04T05:06:07.089Z";
const CARD: &str = ".project/cards/T-0001-card.md";

/// A workspace at a fixed time.
fn world() -> World {
    World::new().clock(NOW)
}

/// A workspace whose configuration has these card settings.
fn configured(cards: &Json) -> World {
    let config = json!({"schemaVersion": 2, "cards": cards});
    world().file("project.config.mjs", format!("export default {config};\n"))
}

/// `card …` with `--json`.
fn card(words: &[&str]) -> Call {
    call(["card"]).words(words).words(&["--json"])
}

/// `card patch` of T-0001.
fn patch(changes: &Json) -> Call {
    card(&["patch", "T-0001", "--json-input", "-"]).stdin(changes.to_string())
}

/// The files of a world without the cache.
fn records(world: &World) -> Tree {
    let mut files = tree(&world.root);
    files.retain(|path, _| !path.starts_with(".project/.cache"));
    files
}

/// The trail lines of T-0001, without time and actor.
fn trail(world: &World) -> Vec<String> {
    let text = world.read(CARD);
    let lines = text.lines().filter_map(|line| line.strip_prefix("- 2026-03-04 05:06Z "));
    lines.filter_map(|line| line.split_once(" · ")).map(|(_, text)| text.to_owned()).collect()
}

fn archived(world: &World, header: &str) -> String {
    let path = ".project/cards/archive/old/T-0001-card.md";
    let fields = "title: Old work\ntype: task\npriority: medium\narea: general\ncreated: 2026-01-02\nupdated: 2026-01-02";
    world.write(path, format!("---\nid: T-0001\n{fields}\n{header}\n---\n\nBody.\n"));
    path.to_owned()
}

#[test]
fn e1_cards_made_at_once_have_ids_of_their_own() {
    let mut world = world();
    for number in 1..=40 {
        world = world.card(&format!("T-{number:04}"), |c| c.status("next"));
    }
    let create = |number: usize| card(&["create", "--title", &format!("Distinct {number}")]).by("ann");
    let made: Vec<Json> =
        world.run_together((0..12).map(create).collect()).into_iter().map(Run::json).collect();
    let mut ids: Vec<&str> = made.iter().map(|card| card["id"].as_str().unwrap()).collect();
    // A writer that is overtaken takes a later id: gaps are no fault, an id twice is one.
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 12, "{made:?}");
    assert!(ids.iter().all(|id| *id > "T-0040"), "{ids:?}");
    let list = world.run(["card", "list", "--json"]).json();
    assert_eq!(list["total"], 52);
    assert_eq!(std::fs::read_dir(world.root.join(".project/.cache/locks/ids")).unwrap().count(), 0);
}

#[test]
fn h33_an_id_is_never_given_twice() {
    let world = world()
        .file(".project/cards/archive/T-0004-old.md", "---\nid: T-0004\ntitle: Old\n---\n")
        .file(".project/cards/odd-name.md", "---\nid: T-0006\ntitle: Odd\n---\n")
        .file(".project/assets/T-0008/plan.txt", "x");
    let made = world.run(card(&["create", "--title", "  Höhe: \"quoted\"  "]).by("ann")).json();
    assert_eq!((&made["id"], &made["title"]), (&json!("T-0009"), &json!("Höhe: \"quoted\"")));
    assert_eq!(made["file"], "T-0009-hohe-quoted.md");
    let shown = world.run(["card", "show", "T-0009"]).json();
    assert_eq!((&shown["assets"], &shown["revision"]), (&json!([]), &made["revision"]));
}

#[test]
fn a_done_card_can_be_noted_and_moved_and_loses_its_block_with_the_status() {
    let block = "verified:\n  at: \"2026-01-02T03:04:05.678Z\"\n  method: local\n  digest: \"sha256:00\"";
    for way in [
        card(&["transition", "T-0001", "review"]),
        card(&["release", "T-0001", "--status", "backlog"]),
        card(&["claim", "T-0001"]),
        patch(&json!({"status": "next"})),
    ] {
        let world = world().card("T-0001", |c| c.status("done").line(block));
        world.run(card(&["note", "T-0001", "--text", "still there"]).by("ann")).json();
        let same = world.run(card(&["transition", "T-0001", "done"]).by("ann")).json();
        assert_eq!(same["verified"]["method"], "local");
        world.run(way.by("ann")).json();
        let moved = world.run(["card", "show", "T-0001"]).json();
        assert_eq!(moved.get("verified"), None, "{moved}");
        assert_ne!(moved["status"], "done");
    }
}

#[test]
fn what_is_refused_leaves_every_byte() {
    let config =
        json!({"areas": ["general"], "axes": {"context": ["a"]}, "verification": {"commands": [["make"]]}});
    let world = configured(&config)
        .card("T-0001", |c| {
            c.doing().claimed_by("ben").line("deep:\n  a:\n    b: c").line("effort: S\neffort: M")
        })
        .card("T-0002", |c| c.line("milestone:\n  a:\n    b: c"));
    let before = records(&world);
    let on_second =
        |changes: Json| card(&["patch", "T-0002", "--json-input", "-"]).stdin(changes.to_string());
    for (way, exit, code) in [
        (card(&["claim", "T-0001"]), 3, "CARD_ALREADY_CLAIMED"),
        (card(&["claim", "T-0001", "--force", "--reason", " "]), 1, "CARD_CLAIM_BREAK_REASON_REQUIRED"),
        (card(&["claim", "T-0002", "--scope", "a\u{7}b"]), 1, "CARD_FIELD_INVALID"),
        (card(&["claim", "T-0002", "--actor", "a · b"]), 1, "CARD_ACTOR_INVALID"),
        (card(&["claim", "T-0009"]), 1, "CARD_NOT_FOUND"),
        (card(&["release", "T-0001"]), 3, "CARD_CLAIM_OWNER_MISMATCH"),
        (card(&["release", "T-0001", "--force"]), 1, "CARD_FORCE_REASON_REQUIRED"),
        (card(&["release", "T-0001", "--status", "doing"]), 1, "CARD_RELEASE_STATUS_INVALID"),
        (card(&["transition", "T-0001", "next"]), 3, "CARD_CLAIM_OWNER_MISMATCH"),
        (card(&["transition", "T-0002", "started"]), 1, "CARD_ENUM_INVALID"),
        (card(&["transition", "T-0002"]), 1, "CLI_ARGUMENT_REQUIRED"),
        (card(&["note", "T-0002", "--text", " "]), 1, "CARD_NOTE_REQUIRED"),
        (card(&["note", "T-0002", "--text", "x", "--section", "activity"]), 1, "CARD_NOTE_SECTION_INVALID"),
        (
            card(&["note", "T-0002", "--text", "x", "--expected-revision", "sha256:0"]),
            3,
            "CARD_WRITE_CONFLICT",
        ),
        (patch(&json!({"effort": "L"})), 1, "RECORD_FRONTMATTER_DUPLICATE_KEY"),
        (on_second(json!({"milestone": null})), 1, "RECORD_FRONTMATTER_OPAQUE"),
        (on_second(json!({"verify": [{"id": "a", "run": ["sh"]}]})), 1, "CARD_VERIFY_COMMAND_NOT_ALLOWED"),
        (on_second(json!({"axes": {"context": "b"}})), 1, "CARD_AXIS_VALUE_INVALID"),
        (on_second(json!({"depends": ["T-0001", "T-0009"]})), 1, "CARD_DEPENDENCY_NOT_FOUND"),
        (card(&["create", "--title", "x", "--axis", "colour=red"]), 1, "CARD_AXIS_UNKNOWN"),
    ] {
        let error = world.run(way.by("ann")).fails(exit, code);
        assert!(!error["message"].as_str().unwrap().is_empty(), "{error}");
        assert_eq!(records(&world), before, "{code}");
    }
}

#[test]
fn h10_what_changes_nothing_writes_nothing() {
    let world = world().card("T-0001", |c| c.status("review").scope("src"));
    let revision = world.run(["card", "show", "T-0001"]).json()["revision"].clone();
    let before = world.read(CARD);
    for way in [
        patch(&json!({"title": "Some work", "scope": ["src"], "effort": null, "tags": []})),
        card(&["transition", "T-0001", "review"]),
        card(&["transition", "T-0001", "review", "--force"]),
        card(&["release", "T-0001"]),
    ] {
        let answer = world.run(way.by("ann")).json();
        assert_eq!((&answer["revision"], &world.read(CARD)), (&revision, &before));
    }
}

#[test]
fn claiming_again_renews_the_claim_without_a_trail_line() {
    let world = world().card("T-0001", |c| c.doing().claimed_by("ann").scope("src"));
    let answer = world.run(card(&["claim", "T-0001"]).by("ann")).json();
    assert_eq!((&answer["record"]["claimed_at"], &answer["record"]["scope"]), (&json!(NOW), &json!(["src"])));
    assert_eq!(trail(&world), Vec::<String>::new());
    let answer = world.run(card(&["claim", "T-0001", "--scope="]).by("ann")).json();
    assert_eq!(answer["record"].get("scope"), None, "an empty scope is none");
}

#[test]
fn a_forced_move_says_what_it_was_forced_past() {
    let forced = " (forced past ben@local#ben00000's claim: he left)";
    let force = ["--force", "--reason", "he\n left"];
    let unclaim = json!({"status": "review", "claimed_by": null, "claimed_at": null});
    for (way, lines) in [
        (card(&["release", "T-0001"]), vec![format!("released{forced}")]),
        (
            card(&["release", "T-0001", "--status", "review"]),
            vec!["doing → review".to_owned(), format!("released{forced}")],
        ),
        (card(&["transition", "T-0001", "blocked"]), vec![format!("doing → blocked{forced}")]),
        (patch(&unclaim), vec!["doing → review".to_owned(), format!("released{forced}")]),
        (patch(&json!({"claimed_by": "ann"})), vec![format!("claimed{forced}")]),
        (card(&["claim", "T-0001"]), vec!["claimed".to_owned()]),
        (card(&["transition", "T-0001", "doing"]), vec!["claimed".to_owned()]),
    ] {
        let world = world().card("T-0001", |c| c.doing().claimed_by("ben"));
        world.run(way.words(&force).by("ann")).json();
        assert_eq!(trail(&world), lines);
        let taken = world
            .read(CARD)
            .contains("- 2026-03-04 — ann@local#ann00000 replaced ben@local#ben00000's claim: he left");
        assert_eq!(taken, lines == ["claimed"], "only a claim notes whom it replaced");
    }
}

#[test]
fn a_trail_that_is_switched_off_is_not_written_and_notes_are() {
    let world = configured(&json!({"activityTrail": false})).card("T-0001", |c| c.doing().claimed_by("ben"));
    world.run(card(&["claim", "T-0001", "--force", "--reason", "he left"]).by("ann")).json();
    world.run(card(&["note", "T-0001", "--text", "seen"]).by("ann")).json();
    world.run(card(&["transition", "T-0001", "review"]).by("ann")).json();
    let text = world.read(CARD);
    assert!(!text.contains("## Activity"), "{text}");
    assert!(text.contains("claim: he left\n- 2026-03-04 05:06Z ann@local#ann00000 — seen\n"), "{text}");
}

#[test]
fn h16_an_archived_card_that_is_opened_goes_back_to_the_others() {
    for (header, way, lines) in [
        ("status: discarded", card(&["claim", "T-0001"]), vec!["claimed"]),
        ("status: discarded", card(&["transition", "T-0001", "doing"]), vec!["claimed"]),
        ("status: discarded", card(&["transition", "T-0001", "next"]), vec!["discarded → next"]),
        (
            "status: discarded",
            card(&["release", "T-0001", "--status", "backlog"]),
            vec!["discarded → backlog"],
        ),
        ("status: done", patch(&json!({"status": "review"})), vec!["done → review"]),
        ("status: next", card(&["transition", "T-0001", "next"]), vec!["unarchived"]),
        ("status: next", patch(&json!({"effort": "S"})), vec!["unarchived"]),
    ] {
        let world = world();
        let old = archived(&world, header);
        world.run(way.by("ann")).json();
        let shown = world.run(["card", "show", "T-0001"]).json();
        assert_eq!((&shown["archived"], &shown["file"]), (&json!(false), &json!("old/T-0001-card.md")));
        assert!(!world.root.join(&old).exists());
        let body = shown["body"].as_str().unwrap();
        let written: Vec<_> =
            body.lines().filter_map(|line| line.split_once(" · ")).map(|(_, text)| text).collect();
        assert_eq!(written, lines, "{header}");
    }
}

#[test]
fn an_archived_card_that_stays_closed_stays_where_it_is() {
    let world = world();
    let old = archived(&world, "status: discarded");
    world.run(card(&["note", "T-0001", "--text", "why"]).by("ann")).json();
    world.run(patch(&json!({"effort": "S"})).by("ann")).json();
    let shown = world.run(["card", "show", "T-0001"]).json();
    assert_eq!(shown["archived"], true);
    let list = world.run(["card", "list", "--json"]).json();
    assert_eq!(list["records"][0]["archived"], true);

    world.write(".project/cards/old/T-0001-card.md", "not a card\n");
    let before = world.read(&old);
    let error = world.run(card(&["claim", "T-0001"]).by("ann")).fails(3, "CARD_FILE_EXISTS");
    assert!(error["message"].as_str().unwrap().contains("old/T-0001-card.md"), "{error}");
    assert_eq!(
        (world.read(&old), world.read(".project/cards/old/T-0001-card.md")),
        (before, "not a card\n".to_owned())
    );
}

#[test]
fn h22_nobody_claims_nothing_and_passes_for_nobody() {
    let world = world().card("T-0001", |c| c.doing().claimed_by("ben")).card("T-0002", |c| c.status("next"));
    world.run(card(&["release", "T-0001"])).fails(3, "CARD_CLAIM_OWNER_MISMATCH");
    world.run(card(&["claim", "T-0002"])).fails(1, "CARD_CLAIM_ACTOR_REQUIRED");
    world.run(card(&["transition", "T-0002", "doing"])).fails(1, "CARD_CLAIM_ACTOR_REQUIRED");
    world.run(card(&["note", "T-0001", "--text", "seen"])).json();
    assert!(world.read(CARD).contains("- 2026-03-04 05:06Z — seen\n"));
    world.run(card(&["release", "T-0001", "--force", "--reason", "gone"])).json();
    let line = "ben@local#ben00000 · released (forced past ben@local#ben00000's claim: gone)";
    assert!(world.read(CARD).contains(line), "{}", world.read(CARD));
    world.run(patch(&json!({"status": "next"}))).json();
    world.run(card(&["transition", "T-0001", "review"])).json();
    assert!(world.read(CARD).contains("- 2026-03-04 05:06Z unknown · next → review\n"));
}

#[test]
fn h45_a_claim_under_another_name_says_so_in_the_json() {
    let world = world().card("T-0001", |c| c.status("next").scope("src"));
    let world = world.card("T-0002", |c| c.doing().claimed_by("ben").scope("src/a"));
    let claim = || call(["card", "claim", "T-0001", "--actor", "robot"]).by("ann");
    let answer = world.run(claim().words(&["--json"])).json();
    let overlap = json!({"code": "CARD_SCOPE_OVERLAP", "cardId": "T-0002", "claimedBy": actor("ben"), "paths": [["src", "src/a"]]});
    let mismatch = json!({"code": "ACTOR_MISMATCH", "claimed": "robot", "resolved": actor("ann")});
    assert_eq!(answer["warnings"], json!([overlap, mismatch]));
    let run = world.run(claim());
    let stderr = text(&run.ended.stderr).to_owned();
    assert!(
        stderr.contains("the scope of T-0001 overlaps T-0002, claimed by ben@local#ben00000: src and src/a"),
        "{stderr}"
    );
    assert!(stderr.contains("claimed as robot, while this process is ann@local#ann00000"), "{stderr}");
    run.check(0, "T-0001 claimed by robot\n", &stderr);
}

#[cfg(unix)]
#[test]
fn h44_links_among_the_cards_are_neither_read_nor_written() {
    let outside = tempfile::tempdir().unwrap();
    let target = outside.path().join("T-0002-x.md");
    let text = "---\nid: T-0002\ntitle: Outside\nstatus: next\n---\n";
    std::fs::write(&target, text).unwrap();
    let linked = world()
        .card("T-0001", |c| c.status("next"))
        .link(".project/cards/T-0002-x.md", &target)
        .link(".project/cards/sub", outside.path());
    assert_eq!(linked.run(["card", "list", "--json"]).json()["total"], 1);
    linked.run(card(&["note", "T-0002", "--text", "x"]).by("ann")).fails(1, "CARD_NOT_FOUND");
    assert_eq!(std::fs::read_to_string(&target).unwrap(), text);
    assert_eq!(
        linked.run(card(&["create", "--title", "x"]).by("ann")).json()["id"],
        "T-0003",
        "its name is taken"
    );

    for folder in [outside.path().to_owned(), "elsewhere".into()] {
        let world = world().file("elsewhere/T-0002-x.md", text).link(".project/cards", &folder);
        assert_eq!(world.run(["card", "list", "--json"]).json()["total"], 0);
        let create = card(&["create", "--title", "x"]).by("ann");
        world.run(create).fails(1, "RECORD_PATH_ESCAPES_WORKSPACE");
        assert_eq!(std::fs::read_dir(world.root.join(&folder)).unwrap().count(), 1);
    }
}

#[test]
fn of_several_cards_with_one_id_one_is_shown_and_none_is_changed() {
    let world = world()
        .file(".project/cards/T-0001-b.md", "---\nid: T-0001\ntitle: B\n---\n")
        .file(".project/cards/T-0001-a.md", "---\nid: T-0001\ntitle: A\n---\n");
    assert_eq!(world.run(["card", "show", "T-0001"]).json()["title"], "A");
    for way in
        [card(&["claim", "T-0001"]), card(&["note", "T-0001", "--text", "x"]), patch(&json!({"title": "C"}))]
    {
        let error = world.run(way.by("ann")).fails(3, "CARD_ID_AMBIGUOUS");
        assert_eq!(error["details"], json!({"files": ["T-0001-a.md", "T-0001-b.md"]}));
    }
}

#[test]
fn cards_that_are_switched_off_can_be_read() {
    let world = configured(&json!({"enabled": false})).card("T-0001", |c| c.status("next"));
    assert_eq!(world.run(["card", "list", "--json"]).json()["total"], 1);
    for way in [
        card(&["create", "--title", "x"]),
        card(&["claim", "T-0001"]),
        card(&["note", "T-0001", "--text", "x"]),
    ] {
        let error = world.run(way.by("ann")).fails(1, "MODULE_DISABLED");
        assert_eq!(error["details"], json!({"module": "cards"}));
    }
    assert!(!world.root.join(".project/.cache").exists());
}

#[test]
fn h36_input_that_cannot_be_used_is_named() {
    let world = world().card("T-0001", |c| c.status("next")).file("latin.json", b"{\"title\": \"\xe9\"}");
    for (path, stdin) in [("none.json", ""), ("-", "{"), ("-", "[]"), ("latin.json", ""), (".project", "")] {
        let create = card(&["create", "--title", "x", "--json-input", path]).by("ann").stdin(stdin);
        let error = world.run(create).fails(1, "CLI_INPUT_INVALID");
        assert_eq!(error["details"]["path"], path);
        assert!(!error["details"]["reason"].as_str().unwrap().is_empty());
    }
    for (words, code) in [
        (&["patch", "T-0001"][..], "CLI_ARGUMENT_REQUIRED"),
        (&["patch", "--axis", "a=b"], "CLI_ARGUMENT_REQUIRED"),
        (&["patch", "T-0001", "--axis", "a"], "CLI_ARGUMENT_INVALID"),
        (&["patch", "T-0001", "--axis", "=a"], "CLI_ARGUMENT_INVALID"),
        (&["patch", "T-0001", "--axis", "a=b", "--axis", "a=c"], "CLI_ARGUMENT_CONFLICT"),
        (&["create", "--title", "x", "--dry-run"], "CLI_FLAG_UNSUPPORTED"),
        (&["create"], "CARD_TITLE_REQUIRED"),
    ] {
        world.run(card(words).by("ann")).fails(1, code);
    }
    world.run(patch(&json!({})).by("ann")).fails(1, "CLI_ARGUMENT_REQUIRED");
    world.run(patch(&json!([])).by("ann")).fails(1, "CARD_CHANGES_INVALID");
    let marked = card(&["create", "--json-input", "-"]).by("ann").stdin("\u{feff}{\"title\": \"x\"}");
    assert_eq!(world.run(marked).json()["title"], "x");
}

#[test]
fn flags_win_over_input_and_a_body_comes_from_a_file() {
    let axes = json!({"axes": {"context": ["a", "b"], "team": ["x"]}});
    let world = configured(&axes).file("body.md", "\n\n## Acceptance criteria\r\n\r\n- [ ] it holds\r\n");
    let input = json!({"title": "From input", "priority": "low", "axes": {"context": "a", "team": "x"}, "tags": "p, q"});
    let create = card(&["create", "--json-input", "-", "--title", "From a flag", "--axis", "context=b"]);
    let made = world.run(create.words(&["--body-file", "body.md"]).by("ann").stdin(input.to_string())).json();
    assert_eq!((&made["title"], &made["priority"]), (&json!("From a flag"), &json!("low")));
    assert_eq!(
        (&made["context"], &made["team"], &made["tags"]),
        (&json!("b"), &json!("x"), &json!(["p", "q"]))
    );
    assert_eq!(made["body"], "## Acceptance criteria\n\n- [ ] it holds");
    let shown = world.run(["card", "show", "T-0001"]).json();
    assert_eq!(
        shown["acceptance"]["items"],
        json!([{"index": 1, "text": "it holds", "checked": false, "line": 2}])
    );
    let created = world.run(call(["card", "create", "--title", "Plain"]).by("ann")).text();
    assert_eq!(created, "T-0002 .project/cards/T-0002-plain.md\n");
}

#[test]
fn h41_a_filter_that_can_match_nothing_is_refused() {
    let world = configured(&json!({"axes": {"context": ["a"]}}))
        .card("T-0001", |c| c.doing().claimed_by("ben").line("tags: [x, y]\ncontext: a"))
        .card("T-0002", |c| c.line("parent: T-0001\ntags: z"));
    let list = |words: &[&str]| world.run(card(&["list"]).words(words));
    for (words, code, details) in [
        (
            &["--status", "next,started"][..],
            "CARD_ENUM_INVALID",
            json!({"field": "status", "value": "started"}),
        ),
        (&["--type", "story"], "CARD_ENUM_INVALID", json!({"field": "type", "value": "story"})),
        (&["--priority", "urgent"], "CARD_ENUM_INVALID", json!({"field": "priority", "value": "urgent"})),
        (
            &["--axis", "colour=red"],
            "CARD_AXIS_UNKNOWN",
            json!({"axes": ["colour"], "declared": ["context"]}),
        ),
        (&["--limit", "-1"], "CLI_OPTION_INVALID", json!({"option": "--limit", "value": "-1"})),
        (&["--unclaimed", "--claimed-by", "x"], "CLI_ARGUMENT_CONFLICT", json!({"flag": "--unclaimed"})),
    ] {
        let mut error = list(words).fails(1, code);
        error["details"].as_object_mut().unwrap().remove("allowed");
        assert_eq!(error["details"], details);
    }
    for (words, ids) in [
        (&["--unclaimed"][..], vec!["T-0002"]),
        (&["--claimed-by", "ben@local#ben00000"], vec!["T-0001"]),
        (&["--parent", "T-0001"], vec!["T-0002"]),
        (&["--tag", "y,z"], vec!["T-0001", "T-0002"]),
        (&["--axis", "context=a,b", "--status", "doing"], vec!["T-0001"]),
        (&["--area", "elsewhere"], vec![]),
        (&["--limit", "0"], vec![]),
        (&["--offset", "9"], vec![]),
    ] {
        let answer = list(words).json();
        let found: Vec<_> = answer["records"].as_array().unwrap().iter().map(|card| &card["id"]).collect();
        assert_eq!(found, ids, "{words:?}");
    }
}

#[test]
fn files_that_are_no_cards_are_named_beside_the_list() {
    let world =
        world().card("T-0001", |c| c.status("next")).file(".project/cards/T-0002-x.md", "no header\n");
    let note = "workfile: T-0002-x.md cannot be read: frontmatter not found\n";
    world.run(["card", "list"]).check(0, "T-0001\tnext\tmedium\tSome work\n", note);
    let error = world.run(["card", "show", "T-0002"]).fails(1, "CARD_NOT_FOUND");
    assert!(error.as_str().unwrap().contains("T-0002-x.md cannot be read: frontmatter not found"), "{error}");
}

#[test]
fn h1_a_header_steers_no_write() {
    let world = world().file("x", "untouched\n").file(
        ".project/cards/sub/odd.md",
        "---\nid: ../../x\nfile: ../../../x\narchived: true\nrevision: none\nassets: [a]\ntitle: Odd\nstatus: next\n\
        type: task\npriority: low\narea: general\n---\n",
    );
    let noted = world.run(card(&["note", "../../x", "--text", "seen"]).by("ann")).json();
    assert_eq!((&noted["file"], &noted["archived"]), (&json!("sub/odd.md"), &json!(false)));
    assert!(noted["revision"].as_str().unwrap().starts_with("sha256:"));
    assert_eq!(noted.get("assets"), None);
    assert!(world.read(".project/cards/sub/odd.md").contains("\nfile: ../../../x\n"));
    world.run(card(&["claim", "../../etc/passwd"]).by("ann")).fails(1, "CARD_NOT_FOUND");
    assert_eq!(world.read("x"), "untouched\n");
    let beside: Vec<_> = tree(&world.base()).into_keys().filter(|path| path.contains(".lock")).collect();
    assert_eq!(beside, Vec::<String>::new());
}

#[test]
fn a_scope_for_another_status_than_doing_is_not_taken_silently() {
    let world = world().card("T-0001", |c| c.status("next").scope("src"));
    let move_to =
        |status: &str| world.run(call(["card", "transition", "T-0001", status, "--scope", "lib"]).by("ann"));
    let note = "workfile: --scope is for a move to doing; the scope of T-0001 stays\n";
    move_to("review").check(0, "T-0001 in review\n", note);
    assert!(world.read(CARD).contains("scope: [src]"));
    move_to("doing").success("T-0001 claimed by ann@local#ann00000\n");
    assert!(world.read(CARD).contains("scope: [lib]"));
}

#[test]
fn next_says_what_can_be_started_and_why() {
    let world = world()
        .card("T-0001", |c| c.status("done"))
        .card("T-0002", |c| c.status("next").line("depends: [T-0001]"))
        .card("T-0003", |c| c.line("depends: [T-0009]"))
        .card("T-0010", |c| c.line("context: a"))
        .card("T-0004", |c| c.doing().claimed_by("ben"))
        .card("T-0005", |c| c.doing().claimed_by("ann"));
    let rows = "T-0005\tdoing\tmedium\tSome work\t(already claimed by you; in progress; priority medium)\n\
        T-0002\tnext\tmedium\tSome work\t(queued next; dependencies met; priority medium)\n\
        T-0010\tbacklog\tmedium\tSome work\t(priority medium)\n";
    world.run(call(["next"]).by("ann")).success(rows);
    let limited = format!("{}\n… 2 more ready\n", rows.lines().next().unwrap());
    world.run(call(["next", "--limit", "0"]).by("ann")).success(&limited);
    let all = world.run(call(["next", "--limit", "999", "--actor", "ann@local#ann00000", "--json"])).json();
    assert_eq!((&all["total"], &all["truncated"]), (&json!(3), &json!(false)));
    let first = &all["records"][0];
    assert_eq!(
        (&first["kind"], &first["recordType"], &first["path"]),
        (&json!("card"), &json!("task"), &json!(".project/cards/T-0005-card.md"))
    );
    assert_eq!(first["body"], "Body of the card.");
    world.run(["next", "--limit", "x", "--json"]).fails(1, "CLI_OPTION_INVALID");
    let nothing = world.run(["next", "--area", "none"]).text();
    assert_eq!(nothing.lines().count(), 1, "{nothing}");
}

#[test]
fn whoami_says_who_a_change_is_attributed_to() {
    let world = world();
    let session = crate::world::session_id("ann");
    world
        .run(call(["agents", "whoami"]).by("ann"))
        .success(&format!("ann@local#ann00000\tuser@host+session\nsession\t{session}\n"));
    let nobody = "workfile: nobody can be named: set USER, which a container often lacks, so that whoever asks has a name\n";
    world.run(["agents", "whoami"]).check(0, "(unresolved)\tunresolved\n", nobody);
    assert_eq!(world.run(["agents", "whoami", "--json"]).json(), json!({"source": "unresolved"}));
    world
        .run(call(["agents", "whoami", "--json"]).env("WORKFILE_ACTOR", "a — b"))
        .fails(1, "CARD_ACTOR_INVALID");
}
