//! Claims and locks.

use crate::payload::{pre_edit, start};
use crate::process::{Run, call, text};
use crate::world::{World, actor};
use serde_json::{Value as Json, json};
use std::process::{Command, Stdio};
use workfile::fs::{Lock, Purpose};

/// How many of the runs ended with this status.
fn ended_with(runs: &[Run], code: i32) -> usize {
    runs.iter().filter(|run| run.ended.code == Some(code)).count()
}

/// The error of a run that failed.
fn error(run: &Run) -> Json {
    serde_json::from_str::<Json>(text(&run.ended.stderr)).unwrap()["error"].take()
}

#[test]
fn d1_of_sixteen_at_once_one_wins() {
    let mut world = World::new();
    for round in 1..=50 {
        world = world.card(&format!("T-{round:04}"), |c| c.status("next"));
    }
    for round in 1..=50 {
        let id = format!("T-{round:04}");
        let name = |number| format!("agent-{number}");
        let claim = |number| call(["card", "claim", &id, "--actor", &name(number), "--json"]);
        let runs = world.run_together((0..16).map(claim).collect());
        assert_eq!((ended_with(&runs, 0), ended_with(&runs, 3)), (1, 15), "{id}");
        let winner = name(runs.iter().position(|run| run.ended.code == Some(0)).unwrap());
        for run in runs.iter().filter(|run| run.ended.code != Some(0)) {
            let error = error(run);
            assert_eq!(
                (&error["code"], &error["details"]["claimedBy"]),
                (&json!("CARD_ALREADY_CLAIMED"), &json!(winner))
            );
        }
        let card = world.run(["card", "show", &id]).json();
        assert_eq!((&card["claimed_by"], &card["status"]), (&json!(winner), &json!("doing")));
        let trail = card["body"].as_str().unwrap().matches(" · claimed").count();
        assert_eq!(trail, 1, "{card}");
        crate::races::one_truth(&world);
    }
}

#[test]
fn d3_a_patch_is_no_back_door() {
    let world = World::new().card("T-0001", |c| c.doing().claimed_by("ann"));
    let before = world.read(".project/cards/T-0001-card.md");
    for changes in [
        json!({"claimed_by": "ben"}),
        json!({"claimed_by": actor("ben"), "claimed_at": "2026-01-02T03:04:05.678Z"}),
        json!({"status": "next", "claimed_by": null, "claimed_at": null}),
    ] {
        let patch = call(["card", "patch", "T-0001", "--json-input", "-", "--json"]);
        let error =
            world.run(patch.by("ben").stdin(changes.to_string())).fails(3, "CARD_CLAIM_OWNER_MISMATCH");
        assert_eq!(error["details"], json!({"id": "T-0001", "claimedBy": actor("ann")}));
        assert_eq!(world.read(".project/cards/T-0001-card.md"), before);
    }
}

const LOCKS: &str = ".project/.cache/locks/cards";

fn take(root: &std::path::Path) -> Lock {
    Lock::take(root, LOCKS, "T-0001.lock", Purpose::Record { module: "cards", id: "T-0001" }).unwrap()
}

#[test]
fn d4_a_dead_holder_stops_nobody() {
    let world = World::new().card("T-0001", |c| c.status("next").scope("src"));
    // The lock of a process that was killed: whole, fresh, and nobody's.
    let mut child = Command::new("sleep").arg("60").stdin(Stdio::null()).spawn().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let lock = take(&world.root);
    let text = world.read(&format!("{LOCKS}/T-0001.lock"));
    drop(lock);
    let dead = text.replace(&format!("\"pid\":{}", std::process::id()), &format!("\"pid\":{}", child.id()));
    assert_ne!(text, dead);
    world.write(&format!("{LOCKS}/T-0001.lock"), &dead);

    world.hook(start("startup")).tells(&["No cards are claimed"]);
    world.run(call(["card", "claim", "T-0001", "--json"]).by("ben")).json();
    world.hook(pre_edit("src/a.rs")).asks("T-0001", "ben");
    assert!(!world.root.join(LOCKS).join("T-0001.lock").exists());
}

#[test]
fn d5_a_live_holder_is_named_and_only_writers_wait() {
    let world = World::new().card("T-0001", |c| c.doing().claimed_by("ben").scope("src"));
    let lock = take(&world.root);
    world.run(["card", "show", "T-0001"]).json();
    world.run(["card", "list", "--json"]).json();
    world.hook(start("startup")).tells(&["T-0001"]);
    world.hook(pre_edit("src/a.rs")).asks("T-0001", "ben");
    let before = world.read(".project/cards/T-0001-card.md");
    let error = world.run(["card", "note", "T-0001", "--text", "x", "--json"]).fails(3, "WRITE_LOCK_TIMEOUT");
    assert_eq!(error["details"]["owner"]["pid"], std::process::id());
    assert_eq!(error["details"]["owner"]["recordId"], "T-0001");
    assert!(error["details"]["heldForMs"].as_u64().unwrap() >= 5_000, "{error}");
    assert!(error["details"]["lockPath"].as_str().unwrap().ends_with("locks/cards/T-0001.lock"), "{error}");
    assert_eq!(world.read(".project/cards/T-0001-card.md"), before);
    drop(lock);
    world.run(call(["card", "note", "T-0001", "--text", "x", "--json"]).by("ben")).json();
}

#[test]
fn d6_every_surface_names_the_same_holder() {
    let people = ["ann", "ben", "eve"];
    let world = World::new().card("T-0001", |c| c.status("next").scope("src"));
    let mut holder: Option<&str> = None;
    // A fixed walk through who does what; what it does not visit is no less right.
    let mut seed = 7_u32;
    let mut next = |among: usize| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 16) as usize % among
    };
    for step in 0..24 {
        let who = people[next(3)];
        let free = holder.is_none_or(|holder| holder == who);
        let (words, after, code): (&[&str], _, _) = match next(4) {
            0 => (&["claim", "T-0001"], Some(who), "CARD_ALREADY_CLAIMED"),
            1 => (&["release", "T-0001"], None, "CARD_CLAIM_OWNER_MISMATCH"),
            2 => (&["transition", "T-0001", "review"], None, "CARD_CLAIM_OWNER_MISMATCH"),
            _ => (&["transition", "T-0001", "doing"], Some(who), "CARD_ALREADY_CLAIMED"),
        };
        let run = world.run(call(["card"]).words(words).words(&["--json"]).by(who));
        if free {
            run.json();
            holder = after;
        } else {
            run.fails(3, code);
        }
        let shown = world.run(["card", "show", "T-0001"]).json();
        assert_eq!(shown["claimed_by"].as_str(), holder.map(actor).as_deref(), "step {step}");
        let expected = match holder {
            Some(holder) => format!("- T-0001 \"Some work\" held by {}; scope: src", actor(holder)),
            None => "No cards are claimed".to_owned(),
        };
        world.hook(start("startup").by(&format!("zoe{step:02}"))).tells(&[&expected]);
        for who in people {
            let answered = world.hook(pre_edit("src/a.rs").by(who));
            match holder.filter(|holder| *holder != who) {
                Some(holder) => drop(answered.asks("T-0001", holder)),
                None => answered.silent(),
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn d7_reading_writes_nothing() {
    let world =
        World::new().card("T-0001", |c| c.doing().claimed_by("ben").scope("src")).file("src/a.rs", "x\n");
    let world = world.settled();
    let everything = crate::compare::tree(&world.root);
    let protect = |mode: u32| {
        for path in everything.keys() {
            let path = world.root.join(path);
            let mode = if path.is_dir() { mode | 0o111 } else { mode };
            std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
        }
    };
    protect(0o444);
    let list = world.run(["card", "list"]);
    let others = [&["card", "show", "T-0001"][..], &["next", "--json"], &["schema", "--json"]]
        .map(|words| world.run(call([]).words(words)));
    let mut got = crate::compare::tree(&world.root);
    let answered = world.hook(pre_edit("src/a.rs"));
    protect(0o644);
    list.success("T-0001\tdoing\tmedium\tSome work\n");
    for run in others {
        run.json();
    }
    got.retain(|path, _| !path.starts_with(".project/.cache"));
    assert_eq!(got, everything);
    // The folder may refuse the board: the guard works from the cards, and may say so on stderr.
    assert!(
        text(&answered.ended.stdout).contains("T-0001 is held by ben@local#ben00000"),
        "{:?}",
        answered.ended
    );
}

#[test]
fn d8_a_holder_is_live_for_ninety_seconds() {
    let board = |now: &str| {
        let world = World::new()
            .clock("2026-03-04T10:00:00.000Z")
            .card("T-0001", |c| c.doing().claimed_by("ben").scope("src"))
            .session("ben", 0, &json!({}))
            .clock(now);
        world.hook(start("startup")).tells(&["T-0001"]).lines().nth(1).unwrap().to_owned()
    };
    let live = "- T-0001 \"Some work\" held by ben@local#ben00000 (live); scope: src";
    let held = "- T-0001 \"Some work\" held by ben@local#ben00000; scope: src";
    assert_eq!(board("2026-03-04T10:01:29.000Z"), live);
    assert_eq!(board("2026-03-04T10:01:31.000Z"), held);
    assert_eq!(board("2026-03-04T09:00:00.000Z"), live);
}

#[test]
fn d8_a_long_silence_is_told() {
    let reason = |now: &str| {
        let world = World::new()
            .clock("2026-03-04T10:00:00.000Z")
            .card("T-0001", |c| c.doing().claimed_by("ben").scope("src"))
            .session("ben", 0, &json!({}))
            .clock(now);
        world.hook(pre_edit("src/a.rs")).asks("T-0001", "ben").reason
    };
    for (now, silent) in [
        ("2026-03-04T09:00:00.000Z", ""),
        ("2026-03-04T10:29:00.000Z", ""),
        ("2026-03-04T10:31:30.000Z", ", silent for 31 min"),
        ("2026-03-04T11:59:59.000Z", ", silent for 119 min"),
        ("2026-03-04T12:00:00.000Z", ", silent for 2 h"),
        ("2026-03-04T14:59:59.000Z", ", silent for 4 h"),
    ] {
        let expected = format!(
            "T-0001 is held by ben@local#ben00000 since 2026-03-04T09:30:00.000Z{silent}; its scope \"src\" covers \
            src/a.rs. Approving lets this edit through."
        );
        assert_eq!(reason(now), expected, "{now}");
    }
}

#[test]
fn d8_a_lease_ends_once_and_never_early() {
    let claim = |now: &str, more: &[&str]| {
        let world = World::new()
            .clock("2026-03-04T10:30:00.000Z")
            .card("T-0001", |c| c.doing().claimed_by("ben"))
            .clock(now);
        let run = world.run(call(["card", "claim", "T-0001", "--json"]).words(more).by("ann"));
        (world, run)
    };
    for early in ["2026-03-04T09:00:00.000Z", "2026-03-04T10:00:01.000Z", "2026-03-05T09:59:59.999Z"] {
        let error = claim(early, &[]).1.fails(3, "CARD_ALREADY_CLAIMED");
        let details = json!({"claimedBy": actor("ben"), "claimedAt": "2026-03-04T10:00:00.000Z"});
        assert_eq!(error["details"], details, "{early}");
    }
    claim("2026-03-05T10:00:00.000Z", &[]).1.fails(1, "CARD_CLAIM_BREAK_REASON_REQUIRED");
    let (world, run) = claim("2026-03-05T10:00:00.000Z", &["--reason", "ben is\nat sea"]);
    assert_eq!(run.json()["record"]["claimed_by"], actor("ann"));
    let note = "\n- 2026-03-05 — ann@local#ann00000 replaced ben@local#ben00000's claim: ben is at sea\n";
    assert!(world.read(".project/cards/T-0001-card.md").contains(note));
}
