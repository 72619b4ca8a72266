//! The hardening rules of the cards, end to end: one test a rule, named after its number.
//!
//! Rules that one module keeps by itself have their test there, under the same kind of name.

use crate::compare::{Tree, tree};
use crate::process::{Call, call};
use crate::world::{World, actor, session_id};
use serde_json::{Value as Json, json};

const NOW: &str = "2026-03-04T05:06:07.089Z";
const CARD: &str = ".project/cards/T-0001-card.md";
const DONE: &str = "## Acceptance criteria\n\n- [x] it holds";
const OPEN: &str = "## Acceptance criteria\n\n- [x] it holds\n- [ ] it lasts";

fn world() -> World {
    World::new().clock(NOW)
}

fn configured(cards: &Json) -> World {
    let config = json!({"schemaVersion": 2, "cards": cards});
    world().file("project.config.mjs", format!("export default {config};\n"))
}

/// `card …` with `--json`, as ann.
fn card(words: &[&str]) -> Call {
    call(["card"]).words(words).words(&["--json"]).by("ann")
}

fn patch(id: &str, changes: &Json) -> Call {
    card(&["patch", id, "--json-input", "-"]).stdin(changes.to_string())
}

/// The files of a world without the cache.
fn records(world: &World) -> Tree {
    let mut files = tree(&world.root);
    files.retain(|path, _| !path.starts_with(".project/.cache"));
    files
}

fn show(world: &World, id: &str) -> Json {
    world.run(["card", "show", id]).json()
}

/// The texts of the trail lines of a card.
fn trail(world: &World, id: &str) -> Vec<String> {
    let body = show(world, id)["body"].as_str().unwrap().to_owned();
    body.lines().filter_map(|line| line.split_once(" · ")).map(|(_, text)| text.to_owned()).collect()
}

/// A card with these lines in its header, and these bytes around them.
fn raw(open: &str, lines: &str, close: &str) -> String {
    let fields = "title: Raw\nstatus: next\ntype: task\npriority: low\narea: general\ncreated: 2026-01-02\n";
    format!("{open}id: T-0001\n{fields}{lines}{close}")
}

#[test]
fn h2_what_is_written_reads_back_and_injects_nothing() {
    let world = world().card("T-0001", |c| c.line("tags: [it's, \"a, b\", x]"));
    assert_eq!(show(&world, "T-0001")["tags"], json!(["it's", "a, b", "x"]));
    let tags = json!(["it's", "a\"b", "- dash", "x: y", "[z]"]);
    assert_eq!(world.run(patch("T-0001", &json!({"tags": tags}))).json()["tags"], tags);
    assert_eq!(show(&world, "T-0001")["tags"], tags);
    for text in ["A\nclaimed_by: me", "A\n---\nbody", "tab\there"] {
        world.run(patch("T-0001", &json!({"title": text}))).fails(1, "CARD_FIELD_INVALID");
    }
}

#[test]
fn h3_a_list_at_column_0_is_read_and_replaced_as_a_whole() {
    let world = world().file(CARD, raw("---\n", "tags:\n- a\n- b\nend: 1\n", "---\n"));
    assert_eq!(show(&world, "T-0001")["tags"], json!(["a", "b"]));
    world.run(patch("T-0001", &json!({"tags": ["c"]}))).json();
    assert!(world.read(CARD).contains("\ntags:\n- c\nend: 1\n"), "{}", world.read(CARD));
}

#[test]
fn h4_a_comment_inside_a_block_is_read_over_and_never_lost() {
    let world = world().file(CARD, raw("---\n", "tags:\n  - a\n  # why\n  - b\n", "---\n"));
    assert_eq!(show(&world, "T-0001")["tags"], json!(["a", "b"]));
    world.run(patch("T-0001", &json!({"tags": ["c"]}))).fails(1, "RECORD_FRONTMATTER_OPAQUE");
    world.run(patch("T-0001", &json!({"title": "New"}))).json();
    assert!(world.read(CARD).contains("\n  # why\n"));
}

#[test]
fn h5_a_key_that_is_there_twice_is_not_patched() {
    let world = world().file(CARD, raw("---\n", "effort: S\neffort: M\n", "---\n"));
    let before = world.read(CARD);
    assert_eq!(show(&world, "T-0001")["effort"], "M");
    world.run(patch("T-0001", &json!({"effort": "L"}))).fails(1, "RECORD_FRONTMATTER_DUPLICATE_KEY");
    assert_eq!(world.read(CARD), before);
}

#[test]
fn h6_only_a_whole_line_closes_the_header() {
    let world = world().file(CARD, raw("---\n", "-----\n--- x\nend: 1\n", "---\t \nBody.\n"));
    let shown = show(&world, "T-0001");
    assert_eq!((&shown["end"], &shown["body"]), (&json!("1"), &json!("Body.")));
}

#[test]
fn h7_a_mark_at_the_start_is_skipped_and_kept() {
    let world = world().file(CARD, raw("\u{feff}---\n", "", "---\n"));
    world.run(patch("T-0001", &json!({"title": "New"}))).json();
    assert!(world.read(CARD).starts_with("\u{feff}---\nid: T-0001\ntitle: New\n"));
}

#[test]
fn h8_other_bytes_than_utf_8_are_never_rewritten() {
    let text = [raw("---\n", "", "---\n").as_bytes(), b"\xff\n"].concat();
    let world = world().file(CARD, &text);
    for way in [card(&["note", "T-0001", "--text", "x"]), patch("T-0001", &json!({"title": "New"}))] {
        let error = world.run(way).fails(1, "CARD_NOT_FOUND");
        assert!(error["message"].as_str().unwrap().contains("not valid UTF-8"), "{error}");
    }
    assert_eq!(std::fs::read(world.root.join(CARD)).unwrap(), text);
}

#[test]
fn h9_only_line_feeds_end_a_line() {
    let world = world().file(CARD, raw("---\n", "milestone: a\rb\u{2028}c\n", "---\n"));
    assert_eq!(show(&world, "T-0001")["milestone"], "a\rb\u{2028}c");
    world.run(patch("T-0001", &json!({"title": "New"}))).json();
    assert!(world.read(CARD).contains("milestone: a\rb\u{2028}c\n"));
}

#[test]
fn h11_a_card_made_as_done_is_a_close() {
    let methods = json!({"methods": {"*": ["local"], "web": ["ci"]}});
    let world = configured(&json!({"areas": ["core", "web"], "verification": methods}));
    let create = |more: &[&str], body: &str| {
        let input = json!({"title": "Born done", "status": "done", "body": body});
        card(&["create", "--json-input", "-"]).words(more).stdin(input.to_string())
    };
    let before = records(&world);
    for (more, body, code) in [
        (&[][..], OPEN, "CARD_ACCEPTANCE_UNMET"),
        (&[], "- [ ] lost", "CARD_ACCEPTANCE_UNREADABLE"),
        (&["--area", "web"], DONE, "CARD_VERIFICATION_METHOD_REFUSED"),
    ] {
        let error = world.run(create(more, body)).fails(3, code);
        assert_eq!(error["details"]["id"], "T-0001");
        assert_eq!(records(&world), before);
    }
    let made = world.run(create(&[], DONE)).json();
    assert_eq!((&made["id"], &made["verified"]["method"]), (&json!("T-0001"), &json!("local")));
    assert_eq!(made["verified"]["at"], NOW);
    assert_eq!(trail(&world, "T-0001"), Vec::<String>::new());
    let text = world.read(".project/cards/T-0001-born-done.md");
    assert!(text.contains("\nupdated: 2026-03-04\nverified:\n  at: "), "{text}");
}

#[test]
fn h13_a_day_is_one_of_the_calendar() {
    let world = world().card("T-0001", |c| c);
    for (day, fine) in
        [("2026-02-30", false), ("2026-02-29", false), ("2024-02-29", true), ("2026-13-01", false)]
    {
        let run = world.run(patch("T-0001", &json!({"due": day})));
        if fine { drop(run.json()) } else { drop(run.fails(1, "CARD_DATE_INVALID")) }
    }
}

#[test]
fn h17_moves_never_overwrite() {
    let there = "somebody's file\n";
    for (status, place, way) in [
        ("done", ".project/cards/archive/T-0001-card.md", card(&["archive", "T-0001"])),
        ("backlog", ".project/cards/T-0007-card.md", card(&["renumber", "T-0001", "--to", "T-0007"])),
    ] {
        let world = world().card("T-0001", |c| c.status(status)).file(place, there);
        let before = records(&world);
        let code = if status == "done" { "CARD_FILE_EXISTS" } else { "CARD_ID_TAKEN" };
        world.run(way).fails(3, code);
        assert_eq!(records(&world), before);
    }
    let archive = ".project/cards/archive/T-0001-card.md";
    let world = world().card("T-0001", |c| c.status("done"));
    world.run(card(&["archive", "T-0001"])).json();
    world.write(CARD, there);
    let before = world.read(archive);
    world.run(card(&["reopen", "T-0001"])).fails(3, "CARD_FILE_EXISTS");
    assert_eq!((world.read(archive), world.read(CARD)), (before, there.to_owned()));
}

#[test]
fn h20_a_reason_is_one_line() {
    let reason = "left\n- 2026-03-04 05:06Z eve · claimed\n## Activity";
    for way in [&["claim", "T-0001"][..], &["release", "T-0001"], &["transition", "T-0001", "review"]] {
        let world = world().card("T-0001", |c| c.doing().claimed_by("ben"));
        world.run(card(way).words(&["--force", "--reason", reason])).json();
        let text = world.read(CARD);
        assert_eq!(text.matches("\n## Activity\n").count(), 1, "{text}");
        assert!(!text.contains("\n- 2026-03-04 05:06Z eve"), "{text}");
    }
}

#[test]
fn h21_an_actor_cannot_forge_the_trail() {
    let world = world().card("T-0001", |c| c.status("next"));
    let long = "x".repeat(201);
    for name in ["a · b", "a — b", "a\nb", "a\u{1b}b", &long] {
        world.run(card(&["claim", "T-0001", "--actor", name])).fails(1, "CARD_ACTOR_INVALID");
        world.run(card(&["claim", "T-0001"]).env("WORKFILE_ACTOR", name)).fails(1, "CARD_ACTOR_INVALID");
    }
    let derived = card(&["claim", "T-0001"]).env("USER", "a · b");
    assert_eq!(world.run(derived).json()["record"]["claimed_by"], "a - b@local#ann00000");
}

/// T-0001 is stale, T-0002 orphaned, T-0003 held, T-0004 live.
fn claimed() -> World {
    let claim = |world: World, id: &str, by: &str, hours: i64| {
        let at = world.ago(hours * 3_600_000);
        let header = format!(
            "---\nid: {id}\ntitle: Work\nstatus: doing\ntype: task\npriority: low\narea: general\ncreated: 2026-01-02\n\
            updated: 2026-01-02\nclaimed_by: {}\nclaimed_at: \"{at}\"\n---\n",
            json!(by)
        );
        world.file(&format!(".project/cards/{id}-card.md"), header)
    };
    let world = claim(world(), "T-0001", "gone", 30);
    let world = claim(world, "T-0002", &actor("ben"), 2).session("ben", 2_400_000, &json!({}));
    let world = claim(world, "T-0003", "robot", 2);
    claim(world, "T-0004", &actor("eve"), 30).session("eve", 60_000, &json!({}))
}

#[test]
fn h23_reap_names_who_reaped() {
    let world = claimed();
    let before = records(&world);
    let listed = world.run(card(&["reap", "--dry-run"])).json();
    let ids: Vec<_> = listed["records"].as_array().unwrap().iter().map(|it| &it["id"]).collect();
    assert_eq!(ids, ["T-0001", "T-0002"]);
    assert_eq!(records(&world), before, "a dry run writes nothing");
    world
        .run(call(["card", "reap", "--dry-run"]).by("ann"))
        .success("T-0001\tstale\t30h\tgone\nT-0002\torphaned\t2h\tben@local#ben00000\n");

    let old = world.run(card(&["reap", "--older-than", "2.5"])).json();
    assert_eq!(old, json!({"released": ["T-0001"], "count": 1}));
    assert_eq!(world.run(card(&["reap"])).json(), json!({"released": ["T-0002"], "count": 1}));
    assert_eq!(world.run(card(&["reap"])).json(), json!({"released": [], "count": 0}));
    let line = "ann@local#ann00000 · released (reaped: orphaned, 2h, was ben@local#ben00000)";
    let text = world.read(".project/cards/T-0002-card.md");
    assert!(
        text.contains(line) && text.contains("\nstatus: next\n") && !text.contains("claimed_by"),
        "{text}"
    );
    assert_eq!(show(&world, "T-0004")["status"], "doing");
    for wrong in ["x", "-1", "inf", "NaN", ""] {
        let error = world.run(card(&["reap", "--older-than", wrong])).fails(1, "CLI_OPTION_INVALID");
        assert_eq!(error["details"], json!({"option": "--older-than", "value": wrong}));
    }
}

#[test]
fn h23_one_claim_that_cannot_be_released_does_not_keep_the_others() {
    let world = claimed();
    let text = world.read(".project/cards/T-0001-card.md").replace("priority: low", "priority: urgent");
    world.write(".project/cards/T-0001-card.md", text);
    let run = world.run(card(&["reap"]));
    assert_eq!(run.ended.code, Some(1), "{:?}", run.ended);
    let answer: Json = serde_json::from_slice(&run.ended.stdout).unwrap();
    assert_eq!((&answer["released"], &answer["count"]), (&json!(["T-0002"]), &json!(1)));
    assert_eq!(answer["failed"][0]["id"], "T-0001");
    assert_eq!(answer["failed"][0]["error"]["code"], "CARD_ENUM_INVALID");
}

#[test]
fn h24_a_fresh_claim_is_not_orphaned() {
    let world = world().card("T-0001", |c| c.status("next")).session("ben", 7_200_000, &json!({}));
    let claim = call(["card", "claim", "T-0001", "--actor", &actor("ben"), "--json"]).by("ann");
    world.run(claim).json();
    assert_eq!(world.run(card(&["reap", "--dry-run"])).json()["records"], json!([]));
}

#[test]
fn h24_the_session_that_made_a_claim_keeps_it_under_any_name() {
    let world = world().card("T-0001", |c| c.status("next")).session("ben", 60_000, &json!({}));
    let named = call(["card", "claim", "T-0001", "--json"]).by("ben").env("WORKFILE_ACTOR", "robot");
    world.run(named).json();
    let later = world.clock("2026-03-04T06:00:00.000Z").session("ben", 60_000, &json!({}));
    let later = later.clock("2026-03-05T06:00:00.000Z").session("ben", 60_000, &json!({}));
    let listed = later.run(card(&["reap", "--dry-run"])).json();
    assert_eq!(listed["records"], json!([]), "the lease has run out, and the session signals still");
    let silent = later.session("ben", 3_600_000, &json!({}));
    let listed = silent.run(card(&["reap", "--dry-run"])).json();
    assert_eq!(listed["records"][0]["claim"]["sessionId"], session_id("ben"));
}

fn bound(body: &str, criteria: &[&str]) -> World {
    let world = configured(&json!({"areas": ["general"], "verification": {"commands": [["make"]]}}));
    let world = world.card("T-0001", |c| c.status("review").body(body));
    let digests: Vec<String> = criteria.iter().map(|text| workfile::work::criteria::digest(text)).collect();
    let verify = json!([{"id": "gate", "run": ["make", "check"], "criteria": digests}]);
    world.run(patch("T-0001", &json!({"verify": verify}))).json();
    world
}

fn write(body: &str) -> Call {
    card(&["write", "T-0001"]).stdin(body)
}

#[test]
fn h27_a_body_cannot_tick_what_a_machine_proves() {
    let world = bound("## Acceptance criteria\n\n- [ ] it holds\n- [ ] free", &["it holds"]);
    let before = records(&world);
    for body in [
        "## Acceptance criteria\n\n- [x] it holds",
        "## Acceptance criteria\n\n- [ ] free\n- [X] it   holds\n",
        "## Acceptance criteria\n\n- [ ] it holds\n- [x] it holds",
    ] {
        let error = world.run(write(body)).fails(1, "CARD_ACCEPTANCE_MACHINE_OWNED");
        assert_eq!(error["details"]["entry"], "gate");
        assert_eq!(records(&world), before);
    }
    world.run(write("## Acceptance criteria\n\n- [x] free\n- [ ] it holds")).json();
    // What was left out comes back unticked.
    world.run(write("Nothing.")).json();
    world.run(write("## Acceptance criteria\n\n- [x] it holds")).fails(1, "CARD_ACCEPTANCE_MACHINE_OWNED");
    world.run(write("## Acceptance criteria\n\n- [ ] it holds")).json();

    let ticked = bound("## Acceptance criteria\n\n- [x] it holds", &["it holds"]);
    ticked.run(write("## Acceptance criteria\n\n- [ ] it holds")).fails(1, "CARD_ACCEPTANCE_MACHINE_OWNED");
    ticked.run(write("Intro.\n\n## Acceptance criteria\n\n- [x] it holds")).json();
}

#[test]
fn h28_a_stale_binding_locks_nothing_but_the_entries() {
    let world = bound("## Acceptance criteria\n\n- [ ] it holds", &["it holds"]);
    world.run(write("## Acceptance criteria\n\n- [ ] it holds well")).json();
    world.run(card(&["note", "T-0001", "--text", "x"])).json();
    world.run(card(&["transition", "T-0001", "next"])).json();
    let stored = show(&world, "T-0001")["verify"].clone();
    let again = world.run(patch("T-0001", &json!({"verify": stored})));
    again.fails(1, "CARD_VERIFY_CRITERION_UNKNOWN");
}

#[test]
fn h30_of_equal_criteria_each_is_bound() {
    let world = bound("## Acceptance criteria\n\n- [ ] it holds\n- [ ] it holds", &["it holds"]);
    for body in ["- [x] it holds\n- [ ] it holds", "- [ ] it holds\n- [x] it holds"] {
        let body = format!("## Acceptance criteria\n\n{body}");
        world.run(write(&body)).fails(1, "CARD_ACCEPTANCE_MACHINE_OWNED");
    }
}

#[test]
fn h32_a_new_id_takes_assets_and_claim_along() {
    let world = world()
        .card("T-0001", |c| c.status("next").scope("src"))
        .card("T-0002", |c| c.line("depends: [T-0001]").body("After T-0001, not T-00010."))
        .file(".project/assets/T-0001/plan.txt", "x")
        .file(".project/docs/DOC-0001-x.md", "---\nid: DOC-0001\nrelated: [T-0001]\n---\n\nT-0001\n")
        .file("docs/outside.md", "T-0001\n");
    world.run(call(["card", "claim", "T-0001", "--json"]).by("ben")).json();
    let moved = world.run(card(&["renumber", "T-0001"])).json();
    assert_eq!((&moved["id"], &moved["from"]), (&json!("T-0003"), &json!("T-0001")));
    assert_eq!(moved["rewritten"], json!([".project/cards/T-0002-card.md", ".project/docs/DOC-0001-x.md"]));
    assert_eq!(moved["review"], json!(["docs/outside.md"]));
    assert_eq!(show(&world, "T-0003")["assets"], json!(["plan.txt"]));
    assert!(!world.root.join(".project/assets/T-0001").exists());
    let board: Json = serde_json::from_str(&world.read(".project/.cache/activity/board.json")).unwrap();
    let claims: Vec<_> =
        board["claims"].as_array().unwrap().iter().map(|it| (&it["id"], &it["session"])).collect();
    assert_eq!(claims, [(&json!("T-0003"), &json!("ben00000"))]);
    assert_eq!(trail(&world, "T-0003"), ["claimed", "renumbered from T-0001"]);
    let follower = world.read(".project/cards/T-0002-card.md");
    assert!(follower.contains("depends: [T-0003]") && follower.contains("After T-0003, not T-00010."));
    assert!(follower.contains("updated: 2026-01-02"), "what follows is not newer for it");
    assert_eq!(world.read("docs/outside.md"), "T-0001\n");
    world.hook(crate::payload::pre_edit("src/a.rs")).asks("T-0003", "ben");
}

#[test]
fn h32_what_is_refused_leaves_the_card_where_it_is() {
    let world = world()
        .card("T-0001", |c| c)
        .file(".project/cards/sub/T-0004-card.md", raw("---\n", "", "---\n").replace("T-0001", "T-0004"))
        .file(".project/cards/archive/T-0004-card.md", "---\nid: T-0005\ntitle: Old\n---\n")
        .file(".project/cards/T-0007-x.md", "no card\n")
        .file(".project/assets/T-0009/x", "x");
    let before = records(&world);
    for (words, exit, code) in [
        (&["T-0001", "--to", "T-7"][..], 1, "CARD_ID_INVALID"),
        (&["T-0001", "--to", "DOC-0001"], 1, "CARD_ID_INVALID"),
        (&["T-0001", "--to", "../../x"], 1, "CARD_ID_INVALID"),
        (&["T-0001", "--to", "T-0001"], 3, "CARD_ID_TAKEN"),
        (&["T-0001", "--to", "T-0004"], 3, "CARD_ID_TAKEN"),
        (&["T-0001", "--to", "T-0007"], 3, "CARD_ID_TAKEN"),
        (&["T-0001", "--to", "T-0009"], 3, "CARD_ID_TAKEN"),
        (&["T-0001", "--expected-revision", "sha256:0"], 3, "CARD_WRITE_CONFLICT"),
        (&["T-0004-card.md"], 3, "CARD_ID_AMBIGUOUS"),
        (&["T-0099"], 1, "CARD_NOT_FOUND"),
        (&["T-0099-card.md"], 1, "CARD_NOT_FOUND"),
        (&["../../etc/passwd"], 1, "CARD_NOT_FOUND"),
        (&[" "], 1, "CARD_TARGET_REQUIRED"),
        (&[], 1, "CLI_ARGUMENT_REQUIRED"),
        (&["T-0001", "--duplicates"], 1, "CLI_ARGUMENT_CONFLICT"),
        (&["--duplicates", "--to", "T-0042"], 1, "CLI_ARGUMENT_CONFLICT"),
    ] {
        world.run(card(&["renumber"]).words(words)).fails(exit, code);
        assert_eq!(records(&world), before, "{words:?}");
    }
    let by_path = card(&["renumber", ".project/cards/archive/T-0004-card.md", "--to", "T-0042"]);
    assert_eq!(world.run(by_path).json()["repoPath"], ".project/cards/archive/T-0042-T-0004-card.md");
}

#[test]
fn h32_duplicates_are_healed_whatever_else_is_wrong_with_them() {
    let text = |created: &str, more: &str| {
        format!(
            "---\nid: T-0002\ntitle: Twin\nstatus: doing\npriority: urgent\ncreated: {created}\n{more}---\n\nT-0002\n"
        )
    };
    let world = world()
        .file(".project/cards/T-0002-b.md", text("2026-01-03", ""))
        .file(".project/cards/T-0002-a.md", text("2026-01-02", ""))
        .file(".project/cards/archive/T-0002-c.md", text("2026-01-04", "claimed_by: ben\n"))
        .file(".project/assets/T-0002/x", "x")
        .file(".project/cards/T-0003-d.md", "---\nid: DOC-0001\ntitle: Foreign\n---\n")
        .file(".project/docs/DOC-0001-x.md", "---\nid: DOC-0001\n---\n")
        .file(".project/docs/DOC-0002-x.md", "---\nid: DOC-0002\n---\n")
        .file(".project/docs/DOC-0002-y.md", "---\nid: DOC-0002\n---\n");
    let healed = world.run(card(&["renumber", "--duplicates"])).json();
    let moves: Vec<_> =
        healed["moves"].as_array().unwrap().iter().map(|it| (&it["path"], &it["to"])).collect();
    assert_eq!(
        moves,
        [
            (&json!(".project/cards/T-0004-b.md"), &json!("T-0004")),
            (&json!(".project/cards/archive/T-0005-c.md"), &json!("T-0005")),
        ]
    );
    let skipped: Vec<_> = healed["skipped"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (&it["id"], &it["kind"], &it["reason"]))
        .collect();
    assert_eq!(
        skipped,
        [
            (&json!("DOC-0001"), &json!("card, doc"), &json!("mixed-kinds")),
            (&json!("DOC-0002"), &json!("doc"), &json!("out-of-scope")),
        ]
    );
    assert_eq!(show(&world, "T-0002")["file"], "T-0002-a.md");
    assert_eq!(show(&world, "T-0002")["assets"], json!(["x"]), "nobody knows whose they are");
    assert!(world.read(".project/cards/T-0004-b.md").contains("\nT-0002\n"), "nor which card is meant");
    let again = world.run(card(&["renumber", "--duplicates"])).json();
    assert_eq!(again["moves"], json!([]));
}

#[test]
fn h32_an_id_that_is_no_id_is_replaced_in_its_header_alone() {
    let text = raw("---\n", "", "---\n\nthe body\n").replace("id: T-0001", "id: the");
    let world = world().file(".project/cards/the.md", text).card("T-0001", |c| c.body("the other"));
    let moved = world.run(card(&["renumber", "the"])).json();
    assert_eq!((&moved["id"], &moved["rewritten"]), (&json!("T-0002"), &json!([])));
    assert!(world.read(".project/cards/T-0002-the.md").contains("\nthe body\n"));
    assert!(world.read(CARD).contains("the other"));
}

#[test]
fn h37_a_release_says_where_the_card_went() {
    for (status, body, more, lines) in [
        ("next", DONE, &[][..], vec!["released"]),
        ("review", DONE, &[], vec!["doing → review", "released"]),
        ("done", DONE, &[], vec!["doing → done", "released"]),
        (
            "done",
            OPEN,
            &["--force", "--reason", "r"],
            vec!["doing → done (forced past 1 unproven criterion: r)", "released"],
        ),
    ] {
        let world = world().card("T-0001", |c| c.doing().claimed_by("ann").body(body));
        world.run(card(&["release", "T-0001", "--status", status]).words(more)).json();
        assert_eq!(trail(&world, "T-0001"), lines);
    }
}

#[test]
fn h38_a_card_that_is_done_is_not_judged_again() {
    let methods = json!({"methods": {"*": ["ci"]}});
    let world = configured(&json!({"areas": ["general"], "verification": methods}));
    let world = world.card("T-0001", |c| c.status("done").body(OPEN));
    let before = records(&world);
    for way in [
        card(&["transition", "T-0001", "done"]),
        card(&["release", "T-0001", "--status", "done"]),
        patch("T-0001", &json!({"status": "done"})),
    ] {
        world.run(way.clone()).json();
        let error = world.run(way.words(&["--method", "ci", "--run", "u"]));
        let error = error.fails(1, "CARD_VERIFICATION_NOT_APPLICABLE");
        assert_eq!(error["details"], json!({"id": "T-0001", "supplied": ["method", "run"]}));
        assert_eq!(records(&world), before);
    }
}

#[test]
fn h40_the_details_of_a_block_survive() {
    let world = world().file(CARD, raw("---\n", "milestone: |-2\n    a\n\n    b\nend: >+\n    c\n", "---\n"));
    world.run(patch("T-0001", &json!({"title": "New"}))).json();
    assert!(world.read(CARD).contains("milestone: |-2\n    a\n\n    b\nend: >+\n    c\n"));
    assert_eq!(show(&world, "T-0001")["milestone"], "a\n\nb");
}

#[test]
fn h46_a_move_to_doing_passes_force_and_reason_on() {
    let world = world().card("T-0001", |c| c.doing().claimed_by("ben"));
    world.run(card(&["transition", "T-0001", "doing"])).fails(3, "CARD_ALREADY_CLAIMED");
    world.run(card(&["transition", "T-0001", "doing", "--force", "--reason", "he left"])).json();
    assert!(world.read(CARD).contains("replaced ben@local#ben00000's claim: he left\n"));
    let world = world.card("T-0002", |c| c);
    let error = world.run(card(&["transition", "T-0002", "doing", "--evidence", "seen"]));
    let error = error.fails(1, "CARD_VERIFICATION_NOT_APPLICABLE");
    assert_eq!(error["details"], json!({"id": "T-0002", "supplied": ["evidence"]}));
}

#[test]
fn h47_a_line_counts_from_the_trimmed_body() {
    let body = "\n\n\n## Acceptance criteria\n\n- [x] it holds\n\n## More\n\n- [ ] lost";
    let world = world().card("T-0001", |c| c.body(body));
    let acceptance = show(&world, "T-0001")["acceptance"].clone();
    assert_eq!(acceptance["items"][0]["line"], 2);
    assert_eq!(acceptance["orphans"][0]["line"], 6);
}
