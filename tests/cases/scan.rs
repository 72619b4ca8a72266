//! What a shell changed, as the scan after it sees it.

use crate::payload::{failed_bash, post_bash, post_edit};
use crate::world::{Card, World, session_id};
use serde_json::{Value as Json, json};

/// The holder has the folder `src`; ann signalled a minute ago and her command has just ended.
fn anns_command(holder: impl FnOnce(Card) -> Card) -> World {
    World::new()
        .card("T-0001", |c| holder(c.doing().scope("src")))
        .file("src/a.rs", "x\n")
        .file("lib/a.rs", "x\n")
        .session("ann", 60_000, &json!({}))
        .settled()
}

const SIGNALLED: &str = "that session signalled in the window, so the change may be its own";
const SILENT: &str = "that session did not signal in the window, so the change is most likely yours";
const UNKNOWN: &str = "no session here signals as that name, so its silence says nothing";

#[test]
fn c1_a_change_in_a_foreign_scope_is_told_and_kept() {
    let world = anns_command(|c| c.claimed_by("ben")).session("ben", 600_000, &json!({}));
    world.age("src/a.rs", 5_000);
    let context = world
        .hook(post_bash("cargo fmt"))
        .tells(&[&format!("- src/a.rs: T-0001, held by ben@local#ben00000; {SILENT}\n")]);
    let headline = "Workfile: 1 file inside a scope another actor holds changed while your command ran.\n";
    assert!(context.starts_with(headline), "{context}");
    assert!(!context.contains("you changed"), "{context}");
    let lines = world.ledger();
    assert_eq!(lines.len(), 1);
    let line = &lines[0];
    assert_eq!((&line["sessionId"], &line["tool"]), (&session_id("ann").into(), &"Bash".into()));
    assert_eq!(line["path"], "src/a.rs");
    let collision = &line["collision"];
    assert_eq!((&collision["card"], &collision["holder"]), (&json!("T-0001"), &json!("ben@local#ben00000")));
    assert_eq!((&collision["holderKnown"], &collision["holderSignalled"]), (&json!(true), &json!(false)));
    assert!(collision["mtime"].is_i64());
}

#[test]
fn c1_a_command_that_fails_is_looked_at_too() {
    let world = anns_command(|c| c.claimed_by("ben"));
    world.age("src/a.rs", 5_000);
    world.hook(failed_bash("cargo fmt && cargo test")).tells(&["- src/a.rs: T-0001"]);
}

#[test]
fn c1_one_change_is_told_once() {
    let world = anns_command(|c| c.claimed_by("ben")).session("ann", 60_000, &json!({}));
    world.age("src/a.rs", 5_000);
    let slow = |name: &str| post_bash(name).with("duration_ms", 50_000);
    world.hook(slow("make")).tells(&["src/a.rs"]);
    world.hook(slow("make again")).silent();
    assert_eq!(world.ledger().len(), 1);
}

#[test]
fn c2_a_mention_is_not_a_change() {
    let world = anns_command(|c| c.claimed_by("ben"));
    for command in ["cat > /tmp/y <<'E'\nsrc/a.rs\nE", "sed -e 's|src/a.rs|x|' /tmp/y", "rm -rf src/a.rs"] {
        world.hook(post_bash(command)).silent();
    }
    assert_eq!(world.ledger(), Vec::<Json>::new());
}

#[test]
fn c2_what_nobody_holds_may_change() {
    let world = anns_command(|c| c.claimed_by("ben"));
    world.age("lib/a.rs", 5_000);
    world.hook(post_bash("make")).silent();
    let own = anns_command(|c| c.claimed_by("ann"));
    own.age("src/a.rs", 5_000);
    own.hook(post_bash("make")).silent();
}

#[test]
fn c3_a_typed_edit_is_accounted_for() {
    let world = anns_command(|c| c.claimed_by("ben"));
    world.age("src/a.rs", 0);
    world.hook(post_edit("src/a.rs").by("ben")).silent();
    world.hook(post_bash("make")).silent();
    assert_eq!(world.ledger().len(), 1);
}

#[test]
fn c4_silence_is_evidence_only_about_a_holder_that_signals() {
    let told = |world: World, evidence: &str, known: bool, signalled: bool| {
        world.age("src/a.rs", 5_000);
        world.hook(post_bash("make")).tells(&[evidence]);
        let collision = world.ledger()[0]["collision"].clone();
        let got = (&collision["holderKnown"], &collision["holderSignalled"]);
        assert_eq!(got, (&json!(known), &json!(signalled)));
    };
    let bens = || anns_command(|c| c.claimed_by("ben"));
    told(bens().session("ben", 30_000, &json!({})), SIGNALLED, true, true);
    told(bens().session("ben", 600_000, &json!({})), SILENT, true, false);
    told(anns_command(|c| c.claimed_as("agent-other")), UNKNOWN, false, false);
}

#[test]
fn c5_the_walk_has_a_bound_and_says_so() {
    let world = anns_command(|c| c.claimed_by("ben"));
    for number in 0..4_100 {
        world.write(&format!("src/many/f{number:04}"), "");
    }
    let skipped =
        ["src/node_modules/x.js", "src/.git/x", "src/sub/.project/x.ts", "src/sub/node_modules/y.js"];
    for path in skipped {
        world.write(path, "x\n");
    }
    let world = world.settled();
    for path in skipped.into_iter().chain(["src/a.rs", "src/many/f4099"]) {
        world.age(path, 5_000);
    }
    let context = world.hook(post_bash("make")).tells(&[
        "Workfile: 1 file inside",
        "- src/a.rs: T-0001",
        "\nThe scan stopped after 4000 entries; files beyond that were not looked at.",
    ]);
    assert!(!skipped.iter().any(|path| context.contains(path)), "{context}");
    assert_eq!(world.ledger().len(), 1);
}

#[test]
fn c5_three_folders_are_never_entered() {
    let inside =
        ["src/node_modules/x.js", "src/.git/x", "src/sub/.project/x.ts", "src/sub/node_modules/y.js"];
    for scope in ["src", "src/node_modules", "src/node_modules/x.js", "src/.git/*", "**/*"] {
        let world = World::new()
            .card("T-0001", |c| c.doing().claimed_by("ben").scope(scope))
            .session("ann", 60_000, &json!({}))
            .settled();
        for path in inside {
            world.write(path, "x\n");
            world.age(path, 5_000);
        }
        world.hook(post_bash("make")).silent();
    }
}
