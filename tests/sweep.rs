//! `card verify --changed`: the cards of a branch.

use crate::git::{commit, git, repository};
use crate::process::{Call, call, text};
use crate::world::World;
use serde_json::{Value as Json, json};
use workfile::work::criteria::digest;

const CARDS: &str = "sub/.project/cards";

/// A repository whose workspace lies in the folder `sub`, on the branch `work`.
fn world() -> World {
    let verification = json!({"commands": [["sh", "check.sh"]], "timeoutSeconds": 1});
    let config = json!({"schemaVersion": 2, "cards": {"verification": verification}});
    let world = World::bare()
        .env("WORKFILE_CLOCK", "2026-03-04T05:06:07.089Z")
        .env("USER", "ci")
        .file("sub/project.config.json", config.to_string())
        .file("sub/check.sh", "case $1 in late) sleep 600 ;; *) exit $1 ;; esac\n");
    let world = repository(put(world, "T-0001", "sh, check.sh, 1", "status: review"));
    git(&world, "", &["switch", "-q", "-c", "work"]);
    world
}

/// A card with one criterion that `run` proves; nothing proves it when that is empty.
fn put(world: World, id: &str, run: &str, status: &str) -> World {
    let bound = json!([digest("it holds")]);
    let entry = if run.is_empty() {
        String::new()
    } else {
        format!("verify:\n  - id: a\n    run: [{run}]\n    criteria: {bound}\n")
    };
    let card = format!(
        "---\nid: {id}\ntitle: Some work\n{status}\ntype: task\npriority: low\narea: general\ncreated: 2026-01-02\n\
        updated: 2026-01-02\n{entry}---\n\n## Acceptance\n\n- [ ] it holds\n"
    );
    world.file(&format!("{CARDS}/{id}-card.md"), card)
}

fn sweep(words: &[&str]) -> Call {
    call(["card", "verify", "--changed", "--base", "main", "--json"]).words(words).cwd("sub")
}

/// What a sweep that is not in order prints.
#[track_caller]
fn out_of_order(world: &World, words: &[&str]) -> Json {
    let ended = world.run(sweep(words)).ended;
    assert_eq!((ended.code, text(&ended.stderr)), (Some(1), ""), "{}", text(&ended.stdout));
    serde_json::from_slice(&ended.stdout).unwrap()
}

#[test]
fn every_card_of_the_branch_is_verified_and_no_other() {
    let world = put(world(), "T-0002", "sh, check.sh, 0", "status: review");
    let world = put(world, "T-0003", "", "status: review");
    let world = world.file("top.md", "x").file("sub/docs/a.md", "x");
    commit(&world);
    let swept = world.run(sweep(&[])).json();
    let file = |id: &str| format!(".project/cards/{id}-card.md");
    assert_eq!(
        (&swept["base"], &swept["resolved"], &swept["ok"]),
        (&json!("main"), &json!(true), &json!(true))
    );
    assert_eq!(swept["touched"], json!([file("T-0002"), file("T-0003")]));
    let cards = swept["cards"].as_array().unwrap();
    assert_eq!(cards.len(), 2);
    let of = |at: usize, key: &str| cards[at][key].clone();
    assert_eq!(
        (of(0, "id"), of(0, "file"), of(0, "outcome")),
        (json!("T-0002"), json!(file("T-0002")), json!("verified"))
    );
    assert_eq!((of(0, "fullyBound"), of(1, "fullyBound")), (json!(true), json!(false)));
    assert_eq!((of(1, "outcome"), of(1, "report")), (json!("skipped"), Json::Null));
    assert_eq!(of(0, "report")["entries"][0]["checked"], json!([1]));
    assert!(world.read(&format!("{CARDS}/T-0002-card.md")).contains("- [x] it holds"));
    assert!(world.read(&format!("{CARDS}/T-0001-card.md")).contains("- [ ] it holds"));
}

#[test]
fn h31_no_refusal_ends_the_sweep() {
    let world = put(world(), "T-0002", "sh, -c, touch ran", "status: review");
    let world = put(world, "T-0003", "sh, check.sh, late", "status: review");
    let world = put(world, "T-0004", "sh, check.sh, 0", "status: chair");
    let world = put(world, "T-0005", "sh, check.sh, 7", "status: review");
    let world = put(world, "T-0006", "sh, check.sh, 0", "status: review")
        .file(&format!("{CARDS}/T-0000-x.md"), "no card");
    commit(&world);
    let swept = out_of_order(&world, &[]);
    assert_eq!((&swept["resolved"], &swept["ok"]), (&json!(true), &json!(false)));
    let cards = swept["cards"].as_array().unwrap();
    let outcome = |id: Json| cards.iter().find(|card| card["id"] == id).unwrap()["outcome"].clone();
    for (id, wanted) in [
        (json!("T-0002"), "failed"),
        (json!("T-0003"), "undecided"),
        (json!("T-0004"), "failed"),
        (json!("T-0005"), "failed"),
        (json!("T-0006"), "verified"),
        (Json::Null, "failed"),
    ] {
        assert_eq!(outcome(id.clone()), wanted, "{id}");
    }
    assert_eq!(cards[0]["refused"]["code"], "CARD_VERIFY_COMMAND_NOT_ALLOWED");
    assert!(!world.root.join("sub/ran").exists());

    let ended = world.run(call(["card", "verify", "--changed", "--base", "main"]).cwd("sub")).ended;
    let rows = text(&ended.stdout);
    assert!(rows.contains("T-0005\tfailed\ta failed\t.project/cards/T-0005-card.md\n"), "{rows}");
    assert!(
        rows.contains("?\tfailed\tCARD_NOT_FOUND: .project/cards/T-0000-x.md cannot be read: "),
        "{rows}"
    );
    assert!(text(&ended.stderr).starts_with("workfile: CARD_ENUM_INVALID: "), "{ended:?}");
}

#[test]
fn a_branch_without_cards_is_in_order_and_one_that_git_cannot_see_is_not() {
    let world = world();
    let nothing = json!({"base": "main", "resolved": true, "touched": [], "cards": [], "ok": true});
    assert_eq!(world.run(sweep(&[])).json(), nothing);
    let people = call(["card", "verify", "--changed", "--base"]).cwd("sub");
    world.run(people.clone().words(&["main"])).check(0, "", "workfile: no card file differs from main\n");

    let unknown =
        |base: &str| json!({"base": base, "resolved": false, "touched": [], "cards": [], "ok": false});
    for base in ["nowhere", "main~1", "--output=x"] {
        let ended = world
            .run(call(["card", "verify", "--changed", "--json", &format!("--base={base}")]).cwd("sub"))
            .ended;
        assert_eq!((ended.code, text(&ended.stderr)), (Some(1), ""));
        assert_eq!(serde_json::from_slice::<Json>(&ended.stdout).unwrap(), unknown(base));
    }
    let ended = world.run(people.words(&["nowhere"])).ended;
    assert_eq!((ended.code, text(&ended.stdout)), (Some(1), ""));
    assert!(
        text(&ended.stderr).starts_with("workfile: nothing was verified: git cannot answer: "),
        "{ended:?}"
    );

    std::fs::remove_dir_all(world.root.join(".git")).unwrap();
    assert_eq!(out_of_order(&world, &[]), unknown("main"));
}

/// The card of a report, by its id.
fn of(swept: &Json, id: &str) -> Json {
    swept["cards"].as_array().unwrap().iter().find(|card| card["id"] == id).unwrap().clone()
}

#[test]
fn what_is_wholly_proved_is_closed_and_the_rest_says_why_it_stays_open() {
    let passes = "sh, check.sh, 0";
    let world = put(world(), "T-0002", passes, "status: review");
    let world = put(world, "T-0003", "", "status: review");
    let world = put(world, "T-0004", "sh, check.sh, 7", "status: review");
    let world =
        put(world, "T-0005", passes, "status: doing\nclaimed_by: ben\nclaimed_at: \"2026-03-04T05:00:00Z\"");
    let world = put(world, "T-0006", passes, "status: discarded");
    let world = put(world, "T-0007", passes, "status: done");
    let world = put(world, "T-0008", passes, "status: review");
    let free = world.read(&format!("{CARDS}/T-0008-card.md")) + "- [x] by hand\n";
    let world = world.file(&format!("{CARDS}/T-0008-card.md"), free);
    commit(&world);
    let head = git(&world, "", &["rev-parse", "HEAD"]);
    let swept = out_of_order(&world, &["--close", "--run", " https://ci.example/7 "]);
    assert_eq!(of(&swept, "T-0002")["closed"], json!({"commit": head, "run": "https://ci.example/7"}));
    assert_eq!(of(&swept, "T-0002").get("heldOpen"), None);
    for (id, why) in [
        ("T-0003", "it is skipped"),
        ("T-0004", "it is failed"),
        ("T-0005", "T-0005 is claimed by ben, not by ci@local"),
        ("T-0006", "it is discarded"),
        ("T-0008", "not every criterion is bound to a verify entry"),
    ] {
        let one = of(&swept, id);
        assert!(one["heldOpen"].as_str().unwrap().starts_with(why), "{one}");
        assert_eq!(one.get("closed"), None);
    }
    let done = of(&swept, "T-0007");
    assert_eq!((done.get("closed"), done.get("heldOpen")), (None, None), "it is where it should be");

    let show = |id: &str| world.run(call(["card", "show", id]).cwd("sub")).json();
    let card = show("T-0002");
    assert_eq!((&card["status"], &card["verified"]["method"]), (&json!("done"), &json!("ci")));
    assert_eq!(
        (&card["verified"]["commit"], &card["verified"]["run"]),
        (&json!(head), &json!("https://ci.example/7"))
    );
    for (id, status) in [
        ("T-0003", "review"),
        ("T-0004", "review"),
        ("T-0005", "doing"),
        ("T-0006", "discarded"),
        ("T-0008", "review"),
    ] {
        assert_eq!(show(id)["status"], status);
    }
}

#[test]
fn a_close_needs_a_run_and_takes_the_commit_it_is_told() {
    let world = put(world(), "T-0002", "sh, check.sh, 0", "status: review");
    commit(&world);
    let held = world.run(sweep(&["--close"])).json();
    assert!(of(&held, "T-0002")["heldOpen"].as_str().unwrap().contains("needs the run"), "{held}");
    let told = ["--close", "--run", "https://ci.example/7", "--commit"];
    for (words, code) in [
        (&[&told[..], &["HEAD"]].concat()[..], "CLI_OPTION_INVALID"),
        (&["--run", "x"], "CLI_ARGUMENT_INVALID"),
        (&["--commit", "1234567"], "CLI_ARGUMENT_INVALID"),
    ] {
        world.run(sweep(words)).fails(1, code);
    }
    let one = call(["card", "verify", "T-0002", "--close"]).cwd("sub");
    world.run(one).fails(1, "CLI_ARGUMENT_INVALID");
    let commit = "0123456789abcdef0123456789abcdef01234567";
    let swept = world.run(sweep(&[&told[..], &[commit]].concat())).json();
    assert_eq!(of(&swept, "T-0002")["closed"]["commit"], commit);
    assert!(world.read(&format!("{CARDS}/T-0002-card.md")).contains(commit));
}
