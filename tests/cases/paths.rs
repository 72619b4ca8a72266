//! Whose path it is.

use crate::payload::{post, post_edit, pre, pre_edit, pre_write, start};
use crate::process::call;
use crate::world::{ACTIVITY, World, session_id};
use serde_json::{Value as Json, json};
use workfile::path::{Flavour, inside_as, normalise_as};

#[test]
fn b1_a_scope_ends_at_a_separator() {
    for scope in ["src/foo", "src/foo/", "./src/foo"] {
        let world = World::new().card("T-0001", |c| c.doing().claimed_by("ben").scope(scope));
        for path in ["src/foo", "src/foo/a"] {
            world.hook(pre_edit(path)).asks("T-0001", "ben");
        }
        for path in ["src/foobar/a", "src/foo.rs", "src"] {
            world.hook(pre_edit(path)).silent();
        }
    }
}

#[test]
fn b1_an_absolute_scope_covers_nothing() {
    let world = World::new();
    let scope = world.root.join("src/foo").display().to_string();
    let world = world.card("T-0001", |c| c.doing().claimed_by("ben").scope(&scope));
    world.hook(pre_edit("src/foo/a")).silent();
}

#[cfg(unix)]
#[test]
fn b2_two_spellings_of_the_root_are_one() {
    let world = World::new().card("T-0001", |c| c.status("next")).file("src/a", "x\n");
    let link = world.base().join("link");
    std::os::unix::fs::symlink(&world.root, &link).unwrap();
    let through = link.join("src/a").display().to_string();
    let claim = call(["card", "claim", "T-0001", "--scope", "src", "--json"]).by("ben");
    world.run(claim.cwd(link.display().to_string())).json();
    world.hook(pre_edit(&through)).asks("T-0001", "ben");
    let linked = |payload: crate::payload::Payload| {
        let link = link.display().to_string();
        payload.with("cwd", link.clone()).env_var("CLAUDE_PROJECT_DIR", &link)
    };
    world.hook(linked(pre_edit("src/a"))).asks("T-0001", "ben");
    world.hook(linked(pre_edit(&through))).asks("T-0001", "ben");
    world.hook(linked(pre_write(&link.join("src/new/b").display().to_string()))).asks("T-0001", "ben");
}

#[cfg(unix)]
#[test]
fn b3_a_link_is_what_it_leads_to() {
    let world = World::new()
        .card("T-0001", |c| c.doing().claimed_by("ben").scope("theirs"))
        .file("theirs/f.rs", "x\n")
        .link("mine/l", "theirs/f.rs");
    let ask = world.hook(pre_edit("mine/l")).asks("T-0001", "ben");
    assert!(ask.reason.contains("its scope \"theirs\" covers theirs/f.rs."), "{ask:?}");
    assert!(ask.context.starts_with("Workfile: theirs/f.rs is inside"), "{ask:?}");
}

#[test]
fn b4_a_file_may_not_exist_yet() {
    let world = World::new().card("T-0001", |c| c.doing().claimed_by("ben").scope("theirs"));
    world.hook(pre_write("theirs/new/deep/x.rs")).asks("T-0001", "ben");
    world.hook(pre_write("mine/new/deep/x.rs")).silent();
}

#[test]
fn b5_dots_are_resolved_against_the_current_folder() {
    let world =
        World::new().card("T-0001", |c| c.doing().claimed_by("ben").scope("theirs")).file("mine/a.rs", "x\n");
    world.hook(pre_edit("mine/../theirs/f.rs")).asks("T-0001", "ben");
    let relative = |path: &str| pre("Edit", json!({"file_path": path, "old_string": "a", "new_string": "b"}));
    world.hook(relative("theirs/f.rs")).asks("T-0001", "ben");
    world.hook(relative("theirs/f.rs").cwd("mine")).silent();
    world.hook(relative("../theirs/f.rs").cwd("mine")).asks("T-0001", "ben");
}

#[test]
fn b6_drive_letters_are_one_path_in_every_spelling() {
    for spelling in [r"D:\w\src\a", "d:/w/src/a", "/d/w/src/a", r"\\?\D:\w\src\a", r"D:\w\mine\..\src\a"] {
        let path = normalise_as(spelling, "C:/", Flavour::Windows);
        assert_eq!(inside_as("D:/w", &path, Flavour::Windows), Some("src/a"), "{spelling}");
    }
    assert_eq!(inside_as("D:/w", "D:/W/src/a", Flavour::Windows), Some("src/a"));
    assert_eq!(inside_as("/d/w", "/D/w/src/a", Flavour::Posix), None);
    let mounted = normalise_as("/mnt/d/w/src/a", "D:/", Flavour::Windows);
    assert_eq!(inside_as("D:/w", &mounted, Flavour::Windows), None);
}

/// A checkout below the checkout, with its own copy of the cards.
fn with_worktree() -> World {
    World::new()
        .card("T-0001", |c| c.doing().claimed_by("ben").scope("src"))
        .file(".claude/worktrees/x/.git", "gitdir: elsewhere\n")
        .file(".claude/worktrees/x/.project/VERSION", "{\"schemaVersion\": 2}\n")
        .file(".claude/worktrees/x/src/a.rs", "x\n")
        .file(".claude/worktrees/x/lib/a.rs", "x\n")
        .file(
            ".claude/worktrees/x/.project/cards/T-0007-card.md",
            "---\nid: T-0007\ntitle: There\nstatus: doing\ntype: task\npriority: medium\narea: general\n\
            claimed_by: \"ben@local#ben00000\"\nclaimed_at: \"2026-01-02T03:04:05.678Z\"\nscope: [lib]\n\
            created: 2026-01-02\nupdated: 2026-01-02\n---\n",
        )
}

#[test]
fn b7_a_worktree_is_judged_by_its_own_cards() {
    let world = with_worktree();
    for folder in ["", ".claude/worktrees/x"] {
        world.hook(pre_edit(".claude/worktrees/x/src/a.rs").cwd(folder)).silent();
        world.hook(pre_edit(".claude/worktrees/x/lib/a.rs").cwd(folder)).asks("T-0007", "ben");
        world.hook(pre_edit("src/a.rs").cwd(folder)).asks("T-0001", "ben");
    }
    world.hook(post_edit(".claude/worktrees/x/lib/a.rs").cwd(".claude/worktrees/x")).silent();
    assert_eq!(world.ledger(), Vec::<Json>::new());
    let ledger = world.read(&format!(".claude/worktrees/x/{ACTIVITY}/events.jsonl"));
    assert!(ledger.contains("\"path\":\"lib/a.rs\""), "{ledger}");
}

#[test]
fn b7_a_folder_that_happens_to_hold_a_workspace_is_not_the_sessions_root() {
    let world = World::new()
        .card("T-0001", |c| c.doing().claimed_by("ben").scope("fixtures"))
        .file("fixtures/one/.project/VERSION", "{\"schemaVersion\": 2}\n");
    world.hook(pre_edit("fixtures/one/a.rs").cwd("fixtures/one")).asks("T-0001", "ben");
}

#[test]
fn b8_a_claim_taken_in_mid_session_is_seen_in_any_order() {
    let claim = || call(["card", "claim", "T-0001", "--scope", "src/", "--json"]).by("ben");
    let world = || World::new().card("T-0001", |c| c.status("next"));

    let early = world();
    early.hook(start("startup")).tells(&["No cards are claimed"]);
    early.hook(pre_edit("src/a")).silent();
    early.run(claim()).json();
    early.hook(pre_edit("src/a")).asks("T-0001", "ben");

    let late = world();
    late.run(claim()).json();
    late.hook(start("startup")).tells(&["T-0001 \"Some work\" held by ben@local#ben00000"]);
    late.hook(pre_edit("src/a")).asks("T-0001", "ben");

    let unannounced = world();
    unannounced.hook(pre_edit("src/a")).silent();
    unannounced.run(claim()).json();
    unannounced.hook(pre_edit("src/a")).asks("T-0001", "ben");
    unannounced.run(call(["card", "release", "T-0001", "--json"]).by("ben")).json();
    unannounced.hook(pre_edit("src/a")).silent();
}

#[test]
fn b9_my_own_claim_is_silent() {
    for more in [&[][..], &["--actor", "ann@local#ann00000"]] {
        let world = World::new().card("T-0001", |c| c.status("next"));
        let claim = call(["card", "claim", "T-0001", "--scope", "src", "--json"]).words(more).by("ann");
        world.run(claim).json();
        world.hook(pre_edit("src/a").by("ann")).silent();
        world.hook(pre_edit("src/a").by("ben")).asks("T-0001", "ann");
    }
}

#[test]
fn b9_a_configured_name_is_mine_in_the_session_that_claimed() {
    let world = World::new().card("T-0001", |c| c.status("next"));
    let claim = call(["card", "claim", "T-0001", "--scope", "src", "--json"]).by("ann");
    world.run(claim.env("WORKFILE_ACTOR", "crew")).json();
    let by = |name| pre_edit("src/a").by(name).env_var("WORKFILE_ACTOR", "crew");
    world.hook(by("ann")).silent();
    let ask = world.hook(by("ben")).asks_something();
    assert!(ask.reason.starts_with("T-0001 is held by crew since "), "{ask:?}");
}

#[test]
fn b9_an_invented_name_asks_its_own_author() {
    let world = World::new().card("T-0001", |c| c.status("next"));
    let claim = call(["card", "claim", "T-0001", "--scope", "src", "--actor", "zed", "--json"]).by("ann");
    let answer = world.run(claim).json();
    let mismatch = &answer["warnings"][0];
    assert_eq!(mismatch["code"], "ACTOR_MISMATCH");
    assert_eq!((&mismatch["claimed"], &mismatch["resolved"]), (&json!("zed"), &json!("ann@local#ann00000")));
    for name in ["ann", "ben"] {
        let ask = world.hook(pre_edit("src/a").by(name)).asks_something();
        assert!(ask.reason.starts_with("T-0001 is held by zed since "), "{ask:?}");
    }
}

#[test]
fn b10_one_name_in_two_sessions_is_two_actors() {
    let world = World::new().card("T-0001", |c| c.status("next")).card("T-0002", |c| c.status("next"));
    let claim = |id, scope, name| {
        let claim = call(["card", "claim", id, "--scope", scope, "--json"]);
        world.run(claim.by(name).env("WORKFILE_ACTOR", "crew")).json()
    };
    claim("T-0001", "src", "ann");
    let second = claim("T-0002", "src/lib", "ben");
    let expected = json!([{
        "code": "CARD_SCOPE_OVERLAP", "cardId": "T-0001", "claimedBy": "crew", "paths": [["src/lib", "src"]],
    }]);
    assert_eq!(second["warnings"], expected);
    let reason = |name: &str| {
        let edit = pre_edit("src/lib/a").by(name).env_var("WORKFILE_ACTOR", "crew");
        world.hook(edit).asks_something().reason
    };
    assert!(reason("ann").starts_with("T-0002 is held by crew since "));
    assert!(reason("ben").starts_with("T-0001 is held by crew since "));
}

#[test]
fn b11_a_subagent_is_its_parent() {
    let world = World::new().card("T-0001", |c| c.doing().claimed_by("ann").scope("src"));
    let child = |payload: crate::payload::Payload| {
        let payload = payload.with("agent_id", "a7").with("agent_type", "general-purpose");
        payload.env_var("CLAUDE_CODE_FORK_SUBAGENT", "1")
    };
    world.hook(child(pre_edit("src/a"))).silent();
    world.hook(child(post_edit("src/a"))).silent();
    let lines = world.ledger();
    assert_eq!(lines.len(), 1);
    assert_eq!((&lines[0]["agentId"], &lines[0]["agentType"]), (&json!("a7"), &json!("general-purpose")));
    assert_eq!(lines[0]["sessionId"], session_id("ann"));
}

#[test]
fn b12_every_tool_is_a_sign_of_life() {
    for (number, (tool, input)) in [
        ("Read", json!({"file_path": "{ROOT}/src/a"})),
        ("Grep", json!({"pattern": "x"})),
        ("Bash", json!({"command": "ls"})),
        ("mcp__x__y", json!({})),
    ]
    .into_iter()
    .enumerate()
    {
        let world = World::new().card("T-0001", |c| c.doing().claimed_by("ann").scope("src")).session(
            "ann",
            600_000,
            &json!({"hostPid": 7}),
        );
        let file = format!("{ACTIVITY}/sessions/{}.json", session_id("ann"));
        let before: Json = serde_json::from_str(&world.read(&file)).unwrap();
        let held = "T-0001 \"Some work\" held by ann@local#ann00000; scope";
        world.hook(start("startup").by("ben")).tells(&[held]);
        world.hook(post(tool, input).by("ann")).silent();
        let after: Json = serde_json::from_str(&world.read(&file)).unwrap();
        assert!(after["lastSignalAt"].as_str() > before["lastSignalAt"].as_str(), "{tool}");
        assert_eq!(after["startedAt"], before["startedAt"], "{tool}");
        let observer = format!("eve{number}");
        let live = "T-0001 \"Some work\" held by ann@local#ann00000 (live); scope";
        world.hook(start("startup").by(&observer)).tells(&[live]);
    }
}

#[test]
fn b13_a_remedy_is_for_the_kind_it_is_given_for() {
    for (path, remedies) in [
        ("docs/guide/DOC-0001-x.md", ["project_doc_patch", "`workfile doc patch`"]),
        ("changelog/unreleased/CHG-0001-x.md", ["project_changelog_patch", "`workfile changelog patch`"]),
        ("memory/learnings/LRN-0001-x.md", ["project_memory_patch", "`workfile memory patch`"]),
        ("cards/T-0009-x.md", ["project_card_patch", "`workfile card patch`"]),
    ] {
        let ask = World::new().hook(pre_edit(&format!(".project/{path}"))).asks_something();
        for remedy in remedies {
            assert!(ask.reason.contains(remedy), "{path}: {ask:?}");
        }
    }
}
