//! The way to done and out of sight: gates, proof, the block, `write`, `archive`, `reopen`.

use crate::compare::{Tree, tree};
use crate::process::{Call, call};
use crate::world::{World, actor};
use serde_json::{Value as Json, json};

const NOW: &str = "2026-03-04T05:06:07.089Z";
const CARD: &str = ".project/cards/T-0001-card.md";
const DONE: &str = "## Acceptance criteria\n\n- [x] it holds";
const OPEN: &str = "## Acceptance criteria\n\n- [ ] it holds\n- [ ] it lasts";
const FORCE: [&str; 3] = ["--force", "--reason", "no\n time"];

fn world() -> World {
    World::new().clock(NOW)
}

/// Areas `core`, which takes every method, and `web`, which takes `ci` alone.
fn with_policy() -> World {
    let cards = json!({"areas": ["general", "web"], "verification": {"methods": {"web": ["ci"]}}});
    let config = json!({"schemaVersion": 2, "cards": cards});
    world().file("project.config.mjs", format!("export default {config};\n"))
}

fn card(words: &[&str]) -> Call {
    call(["card"]).words(words).words(&["--json"]).by("ann")
}

fn patch(changes: &Json) -> Call {
    card(&["patch", "T-0001", "--json-input", "-"]).stdin(changes.to_string())
}

fn records(world: &World) -> Tree {
    let mut files = tree(&world.root);
    files.retain(|path, _| !path.starts_with(".project/.cache"));
    files
}

fn show(world: &World) -> Json {
    world.run(["card", "show", "T-0001"]).json()
}

fn trail(world: &World) -> Vec<String> {
    let body = show(world)["body"].as_str().unwrap().to_owned();
    body.lines().filter_map(|line| line.split_once(" · ")).map(|(_, text)| text.to_owned()).collect()
}

/// The three ways to close a claimed card.
fn ways() -> [Call; 3] {
    let cleared = json!({"status": "done", "claimed_by": null, "claimed_at": null});
    [
        card(&["transition", "T-0001", "done"]),
        card(&["release", "T-0001", "--status", "done"]),
        patch(&cleared),
    ]
}

#[test]
fn gates_are_asked_in_their_order_and_the_reason_last() {
    let world = world().card("T-0001", |c| c.doing().claimed_by("ben").body(OPEN));
    let before = records(&world);
    let [transition, release, patch] = ways();
    world.run(transition).fails(3, "CARD_ACCEPTANCE_UNMET");
    world.run(release).fails(3, "CARD_ACCEPTANCE_UNMET");
    world.run(patch).fails(3, "CARD_CLAIM_OWNER_MISMATCH");
    for way in ways() {
        let error = world.run(way.words(&["--force"])).fails(1, "CARD_FORCE_REASON_REQUIRED");
        let text = error["message"].as_str().unwrap();
        assert!(text.contains("2 unproven criteria and ben@local#ben00000's claim"), "{text}");
    }
    for way in ways() {
        let named = world.run(way.words(&FORCE).words(&["--method", "local"]));
        let error = named.fails(1, "CARD_VERIFICATION_METHOD_CONFLICT");
        assert_eq!(error["details"]["waived"], "2 unproven criteria");
    }
    assert_eq!(records(&world), before);
}

#[test]
fn what_was_forced_is_named_where_it_happened() {
    let gate = "2 unproven criteria";
    let claim = "ben@local#ben00000's claim";
    let apart = [
        format!("doing → done (forced past {gate}: no time)"),
        format!("released (forced past {claim}: no time)"),
    ];
    let together = [format!("doing → done (forced past {gate} and {claim}: no time)")];
    for (way, lines) in ways().into_iter().zip([&together[..], &apart, &apart]) {
        let world = world().card("T-0001", |c| c.doing().claimed_by("ben").body(OPEN));
        let closed = world.run(way.words(&FORCE).words(&["--evidence", "seen it\nrun"])).json();
        assert_eq!(closed["verified"]["method"], "forced");
        assert_eq!(trail(&world), lines);
        let note = "\n- 2026-03-04 05:06Z ann@local#ann00000 — forced verification: seen it run\n";
        assert!(world.read(CARD).contains(note), "{}", world.read(CARD));
    }
}

#[test]
fn a_claim_alone_that_is_waived_makes_no_close_forced() {
    for way in ways() {
        let world = world().card("T-0001", |c| c.doing().claimed_by("ben").body(DONE));
        let proof = ["--method", "ci", "--run", " https://ci.example/1 "];
        let closed = world.run(way.words(&FORCE).words(&proof)).json();
        assert_eq!(closed["verified"]["method"], "ci");
        assert_eq!(closed["verified"]["run"], "https://ci.example/1");
        assert!(closed["verified"].get("commit").is_none(), "there is no repository");
    }
}

#[test]
fn the_policy_is_that_of_the_area_the_card_lands_in() {
    let to = |area: &str, more: &[&str]| {
        let world = with_policy().card("T-0001", |c| c.status("review").line("area_was: x"));
        let run = world.run(patch(&json!({"status": "done", "area": area})).words(more));
        (world, run)
    };
    to("general", &[]).1.json();
    let error = to("web", &[]).1.fails(3, "CARD_VERIFICATION_METHOD_REFUSED");
    assert_eq!(
        error["details"],
        json!({"id": "T-0001", "area": "web", "method": "local", "accepted": ["ci"]})
    );
    to("web", &["--method", "ci"]).1.fails(1, "CARD_VERIFICATION_RUN_REQUIRED");
    to("web", &["--method", "ci", "--run", "u"]).1.json();
    let (world, run) = to("web", &FORCE);
    assert_eq!(run.json()["verified"]["method"], "forced");
    assert_eq!(trail(&world), ["review → done (forced past web's verification policy: no time)"]);
}

#[test]
fn the_digest_follows_the_criteria_and_not_their_boxes() {
    let close = |body: &str| {
        let world = world().card("T-0001", |c| c.status("review").body(body));
        let closed = world.run(card(&["transition", "T-0001", "done"]).words(&FORCE)).json();
        closed["verified"]["digest"].as_str().unwrap().to_owned()
    };
    let open = close("## Acceptance criteria\n\n- [ ] a\n- [ ] b");
    assert_eq!(close("Prose.\n\n## Acceptance criteria\n\n* [x]  b \n- [X] a\n\n## More\n\nx"), open);
    assert_ne!(close("## Acceptance criteria\n\n- [ ] a\n- [ ] c"), open);
}

#[test]
fn a_method_by_hand_needs_somebody() {
    let world = world().card("T-0001", |c| c.status("review"));
    let close =
        call(["card", "transition", "T-0001", "done", "--method", "manual", "--evidence", "x", "--json"]);
    world.run(close.clone()).fails(1, "CARD_VERIFICATION_ACTOR_REQUIRED");
    world.run(close.by("ann")).json();
}

#[test]
fn a_write_keeps_line_ends_and_the_sections_of_the_protocol() {
    let text = "---\r\nid: T-0001\r\ntitle: A\r\nstatus: next\r\ntype: task\r\npriority: low\r\narea: general\r\n\
        updated: 2026-01-02\r\n---\r\n\r\nOld.\r\n\r\n## Activity\r\n\r\n- 2026-01-01 00:00Z ben · claimed\r\n";
    let world = world().file(CARD, text);
    let write = |body: &str| world.run(card(&["write", "T-0001"]).stdin(body)).json();
    let forged =
        write("---\nNew.\n\n## Activity\n\n- 2026-01-01 00:00Z eve · claimed\n\n## Notes\n\n- mine\n");
    assert_eq!(forged["ignored"], json!(["## Activity", "## Notes"]));
    let after = world.read(CARD);
    let body = "\r\n---\r\n\r\n---\r\nNew.\r\n\r\n## Activity\r\n\r\n- 2026-01-01 00:00Z ben · claimed\r\n";
    assert!(after.ends_with(body), "{after:?}");
    assert!(!after.replace("\r\n", "").contains(['\r', '\n']));

    // What a reader sends back as it was changes nothing, nor does white space around it.
    let shown = show(&world)["body"].as_str().unwrap().to_owned();
    for same in [shown.clone(), shown.replace("\r\n", "\n"), format!("\n{shown}\n\n")] {
        let answer = write(&same);
        assert_eq!((answer.get("ignored"), &answer["revision"]), (None, &forged["revision"]));
        assert_eq!(world.read(CARD), after);
    }

    let open = write("See:\n\n```\ncode");
    assert_eq!(open.get("ignored"), None);
    assert_eq!(trail(&world), ["claimed"]);
    world.run(card(&["claim", "T-0001"])).json();
    assert_eq!(trail(&world), ["claimed", "claimed"]);
    assert_eq!(world.read(CARD).matches("## Activity").count(), 1);
    assert_eq!(write("")["body"].as_str().unwrap().matches('\n').count(), 3, "the trail alone");
}

#[test]
fn a_write_is_refused_with_everything_as_it_was() {
    let world = world().card("T-0001", |c| c.line("effort: XL"));
    let before = records(&world);
    let write = |words: &[&str], stdin: &[u8]| world.run(card(words).stdin(stdin));
    write(&["write", "T-0001"], b"New").fails(1, "CARD_ENUM_INVALID");
    write(&["write", "T-0009"], b"New").fails(1, "CARD_NOT_FOUND");
    write(&["write", "T-0001"], b"\xff").fails(1, "CLI_INPUT_INVALID");
    write(&["write", "T-0001", "--body-file", "none.md"], b"").fails(1, "CLI_INPUT_INVALID");
    write(&["write", "T-0001", "--expected-revision", "sha256:0"], b"New").fails(3, "CARD_WRITE_CONFLICT");
    assert_eq!(records(&world), before);
}

#[test]
fn an_archive_keeps_the_folder_and_takes_closed_cards_only() {
    let nested = ".project/cards/sub/T-0001-card.md";
    let world = world().card("T-0001", |c| c.status("discarded"));
    let text = world.read(CARD);
    std::fs::remove_file(world.root.join(CARD)).unwrap();
    let world = world.file(nested, text);
    let archived = world.run(card(&["archive", "T-0001"])).json();
    assert_eq!((&archived["file"], &archived["archived"]), (&json!("sub/T-0001-card.md"), &json!(true)));
    assert!(world.root.join(".project/cards/archive/sub/T-0001-card.md").exists());
    let before = records(&world);
    let again = world.run(card(&["archive", "T-0001"])).json();
    assert_eq!(again["revision"], archived["revision"]);
    assert_eq!(records(&world), before);

    for status in ["done", "discarded"] {
        let reopen = card(&["reopen", "T-0001", "--status", status]);
        world.run(reopen).fails(1, "CARD_REOPEN_STATUS_INVALID");
    }
    world.run(card(&["reopen", "T-0001", "--status", "started"])).fails(1, "CARD_ENUM_INVALID");
    assert_eq!(records(&world), before);
    let reopened = world.run(card(&["reopen", "T-0001", "--status", "doing"])).json();
    assert_eq!((&reopened["claimed_by"], &reopened["archived"]), (&json!(actor("ann")), &json!(false)));
    assert!(world.root.join(nested).exists());
    assert_eq!(trail(&world), ["archived", "claimed"]);
    world.run(card(&["archive", "T-0001"])).fails(1, "CARD_ARCHIVE_STATUS_INVALID");
}

#[test]
fn cards_that_are_switched_off_are_not_filed_either() {
    let config = json!({"schemaVersion": 2, "cards": {"enabled": false}});
    let world = world()
        .file("project.config.mjs", format!("export default {config};\n"))
        .card("T-0001", |c| c.status("done"));
    for way in [
        card(&["archive", "T-0001"]),
        card(&["reopen", "T-0001"]),
        card(&["write", "T-0001"]),
        card(&["reap"]),
        card(&["renumber", "T-0001"]),
        card(&["renumber", "--duplicates"]),
    ] {
        world.run(way).fails(1, "MODULE_DISABLED");
    }
    assert!(!world.root.join(".project/.cache").exists());
}

#[test]
fn people_are_told_what_became_of_a_card() {
    let world =
        world().card("T-0001", |c| c.status("done").body("## Notes\n\n- n")).file("README.md", "T-0001");
    let run = |words: &[&str], stdin: &str| world.run(call(["card"]).words(words).by("ann").stdin(stdin));
    let kept = "workfile: `## Notes` of T-0001 stays as it is stored\n";
    run(&["write", "T-0001"], "## Notes\n\n- mine").check(0, "T-0001 written\n", kept);
    run(&["archive", "T-0001"], "").success("T-0001 archived\n");
    run(&["reopen", "T-0001"], "").success("T-0001 in backlog\n");
    let look = "workfile: look whether T-0001 is still meant in README.md\n";
    run(&["renumber", "T-0001"], "").check(0, "T-0001\tT-0002\t.project/cards/T-0002-card.md\n", look);
    run(&["renumber", "--duplicates"], "").check(0, "", "workfile: no id is carried by several cards\n");
    run(&["reap"], "").check(0, "", "workfile: no claim has outlived its lease or its session\n");
}
