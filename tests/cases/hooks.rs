//! What hooks read and print.

use crate::payload::{failed_bash, post_bash, pre, pre_edit, pre_notebook, pre_write, start};
use crate::process::text;
use crate::world::World;
use serde_json::{Value as Json, json};

fn bens_src() -> World {
    World::new().card("T-0001", |c| c.doing().claimed_by("ben").scope("src"))
}

#[test]
fn a1_no_opinion_means_no_bytes() {
    World::new().file("README.md", "# x\n").hook(pre_edit("README.md")).silent();
}

#[test]
fn a2_a_record_inside_a_foreign_scope_is_one_answer_about_the_record() {
    let world = World::new().card("T-0001", |c| c.doing().claimed_by("ben").scope(".project/"));
    let ask = world.hook(pre_edit(".project/cards/T-0001-card.md")).asks_something();
    assert!(ask.reason.starts_with(".project/cards/T-0001-card.md is a card record."), "{ask:?}");
    assert!(!ask.reason.contains("is held by"), "{ask:?}");
}

#[test]
fn a3_a_damaged_payload_changes_nothing() {
    let large = vec![b'a'; 3 << 20];
    let broken: &[&[u8]] = &[
        b"",
        b"{",
        b"[]",
        b"null",
        b"{\"nonsense\":true}",
        &large,
        b"{\"session_id\":\"\xff\xfe\",\"tool_name\":\"Edit\",\"tool_input\":{\"file_path\":\"src/a.rs\"}}",
        b"{\"tool_name\":\"Edit\",\"tool_input\":null}",
        b"{\"tool_name\":\"Edit\",\"tool_input\":{\"file_path\":[\"src/a.rs\"]}}",
        b"{\"tool_name\":\"Edit\",\"tool_input\":{\"file_path\":\"src/a\\u0000.rs\"}}",
        b"\xef\xbb\xbf{\"tool_name\":7}",
    ];
    for raw in broken {
        let world = bens_src();
        world.hook(pre_edit("src/a.rs").without_session().sent_as(raw)).fails_open();
        world.hook(post_bash("make").without_session().sent_as(raw)).fails_open();
        assert_eq!(world.ledger(), Vec::<Json>::new());
    }
    let deep = [b"{\"tool_input\":".as_slice(), &b"[".repeat(100_000)].concat();
    bens_src().hook(pre_edit("src/a.rs").sent_as(&deep)).fails_open();
}

#[test]
fn a3_a_session_starts_without_a_payload() {
    for raw in [&b""[..], b"{", b"[]"] {
        let answered = bens_src().hook(start("startup").sent_as(raw));
        assert_eq!(answered.ended.code, Some(0));
        let answer: Json = serde_json::from_slice(&answered.ended.stdout).unwrap();
        let context = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
        assert!(context.starts_with("Workfile: 1 card is claimed in this repository."), "{context}");
    }
}

#[test]
fn a3_what_is_not_looked_at_may_be_anything() {
    let world = bens_src();
    let path = world.root.join("src/a.rs");
    let input = format!("\"file_path\":{}", json!(path));
    for (before, behind) in [
        ("\"content\":\"", "\""),
        ("\"unknown\":{\"deep\":[1,2,{\"x\":\"", "\"}]}"),
        ("\"file_path\":7,\"content\":\"", "\""),
    ] {
        let head = format!("{{\"session_id\":\"other\",\"tool_name\":\"Write\",\"tool_input\":{{{before}");
        let raw =
            [head.as_bytes(), b"\xff caf\xc3", behind.as_bytes(), b",", input.as_bytes(), b"}}"].concat();
        world.hook(pre_edit("src/a.rs").sent_as(&raw)).asks("T-0001", "ben");
    }
}

#[test]
fn a4_no_recorded_answer_is_anything_but_an_ask() {
    let mut asks = 0;
    for (name, archive) in crate::golden::cases("hooks") {
        if !archive.files.contains_key("expected/stdout.json") {
            continue;
        }
        let answer: Json = serde_json::from_str(archive.text("expected/stdout.json")).unwrap();
        let decision = &answer["hookSpecificOutput"]["permissionDecision"];
        assert!(decision.is_null() || decision == "ask", "{name}: {decision}");
        asks += usize::from(decision == "ask");
    }
    assert!(asks > 40);
}

#[test]
fn a5_an_ask_is_an_ask_in_every_mode_and_says_why() {
    let world = bens_src();
    for mode in ["default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions", "another"] {
        let ask = world.hook(pre_edit("src/a.rs").with("permission_mode", mode)).asks("T-0001", "ben");
        let context = "Workfile: src/a.rs is inside the scope of T-0001, held by ben@local#ben00000. \
            The user is asked before this edit runs.";
        assert_eq!(ask.context, context, "{mode}");
    }
    assert_eq!(world.ledger(), Vec::<Json>::new());
}

#[test]
fn a6_a_notebook_names_its_path_differently() {
    let world = World::new().card("T-0001", |c| c.doing().claimed_by("ben").scope("nb"));
    world.hook(pre_notebook("nb/x.ipynb")).asks("T-0001", "ben");
    world.hook(pre_notebook("src/x.ipynb")).silent();
    let both = json!({"file_path": "{ROOT}/src/x.ipynb", "notebook_path": "{ROOT}/nb/x.ipynb"});
    world.hook(pre("NotebookEdit", both.clone())).asks("T-0001", "ben");
    world.hook(pre("Edit", both)).silent();
}

#[test]
fn a7_context_names_the_event_it_answers() {
    for payload in [post_bash("make"), failed_bash("make")] {
        let world = bens_src().session("ann", 60_000, &json!({})).file("src/a.rs", "x\n");
        // `answer`, inside `tells`, compares the event.
        world.hook(payload).tells(&["- src/a.rs: T-0001, held by ben@local#ben00000;"]);
    }
}

#[test]
fn a8_every_start_gives_the_board() {
    let board = |source| {
        let world = bens_src();
        world.hook(start(source)).tells(&["- T-0001 \"Some work\" held by ben@local#ben00000; scope: src"])
    };
    let usual = board("startup");
    for source in ["resume", "clear", "compact", "fork", "some-day"] {
        assert_eq!(board(source), usual, "{source}");
    }
}

#[test]
fn a8_a_hook_that_is_registered_twice_gives_the_board_once() {
    let world = bens_src();
    world.hook(start("startup")).tells(&["T-0001"]);
    world.hook(start("startup")).silent();
    world.hook(start("startup").by("ben")).tells(&["T-0001"]);
}

#[test]
fn a9_four_hundred_claims_fit_the_window() {
    let scope: Vec<_> = (0..20).map(|number| format!("packages/part-{number}/source")).collect();
    let mut world = World::new();
    for number in 1..=400 {
        let title = format!("A piece of work with a title of ordinary length, number {number}");
        let card = |c: crate::world::Card| c.doing().claimed_by("ben").scope(&scope.join(", ")).title(&title);
        world = world.card(&format!("T-{number:04}"), card);
    }
    let context =
        world.hook(start("startup")).tells(&["Workfile: 400 cards are claimed in this repository."]);
    assert!(context.chars().count() < 6000, "{} characters", context.chars().count());
    let shown = context.lines().filter(|line| line.starts_with("- T-")).count();
    assert!((1..=25).contains(&shown), "{context}");
    let rest = format!("\n- and {} more: `workfile card list --status doing`\n", 400 - shown);
    assert!(context.contains(&rest), "{context}");
    assert!(context.contains("packages/part-9/source, +10 more\n"), "{context}");
    assert!(!context.contains("part-10"), "{context}");
}

#[test]
fn a10_only_a_tool_that_names_a_file_is_judged() {
    let world = bens_src();
    world.hook(pre("TodoWrite", json!({"todos": [{"content": "src/a.rs"}]}))).silent();
    world.hook(pre("mcp__files__write_file", json!({"path": "{ROOT}/src/a.rs"}))).silent();
    world.hook(pre("Bash", json!({"command": "rm src/a.rs"}))).silent();
    world.hook(pre("Read", json!({"file_path": "{ROOT}/src/a.rs"}))).silent();
    let edits = json!({"file_path": "{ROOT}/src/a.rs", "edits": [{"old_string": "a", "new_string": "b"}]});
    world.hook(pre("MultiEdit", edits)).asks("T-0001", "ben");
    world.hook(pre_write("src/a.rs")).asks("T-0001", "ben");
}

/// The handlers that an install registers: event, matcher, handler.
fn installed() -> Vec<(String, String, Json)> {
    let world = World::new();
    world.run(["claude", "install", "--json"]).json();
    let settings: Json = serde_json::from_str(&world.read(".claude/settings.json")).unwrap();
    let mut found = Vec::new();
    for (event, groups) in settings["hooks"].as_object().unwrap() {
        for group in groups.as_array().unwrap() {
            for handler in group["hooks"].as_array().unwrap() {
                found.push((event.clone(), group["matcher"].as_str().unwrap().to_owned(), handler.clone()));
            }
        }
    }
    found
}

#[test]
fn a10_matchers_are_whole_names() {
    let matchers: Vec<_> =
        installed().into_iter().map(|(event, matcher, _)| format!("{event} {matcher}")).collect();
    let expected = [
        "SessionStart *",
        "PreToolUse Edit|Write|NotebookEdit",
        "PostToolUse *",
        "PostToolUseFailure Bash|PowerShell",
    ];
    assert_eq!(matchers, expected);
}

#[test]
fn a11_timeouts_are_seconds() {
    for (event, _, handler) in installed() {
        let seconds = match event.as_str() {
            "SessionStart" => 10,
            "PreToolUse" => 5,
            _ => 30,
        };
        assert_eq!(handler["timeout"], seconds, "{event}");
        assert_eq!(handler.get("async").is_some(), event.starts_with("PostToolUse"), "{event}");
    }
}

#[test]
fn a12_a_registered_command_needs_no_shell() {
    for (event, _, handler) in installed() {
        assert_eq!(handler["command"], "workfile", "{event}");
        let args: Vec<_> =
            handler["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap()).collect();
        assert_eq!(args[0], "hook", "{event}");
        for arg in args {
            assert!(arg.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{event}: {arg}");
        }
    }
}

#[test]
fn a12_a_folder_with_spaces_and_brackets_is_a_folder() {
    let world = World::bare()
        .file("My Repo (x)/.project/VERSION", "{\"schemaVersion\": 2}\n")
        .file("My Repo (x)/.git", "gitdir: elsewhere\n")
        .file("My Repo (x)/src/a b.rs", "x\n");
    let claim =
        crate::process::call(["card", "create", "--title", "x", "--json"]).by("ben").cwd("My Repo (x)");
    world.run(claim).json();
    let claim = crate::process::call(["card", "claim", "T-0001", "--scope", "src", "--json"]).by("ben");
    world.run(claim.cwd("My Repo (x)")).json();
    let edit = pre_edit("My Repo (x)/src/a b.rs").cwd("My Repo (x)");
    world.hook(edit.env_var("CLAUDE_PROJECT_DIR", "{ROOT}/My Repo (x)")).asks("T-0001", "ben");
}

#[test]
fn a13_without_a_workspace_nothing_is_said_and_nothing_is_made() {
    let world = World::bare().file("plain/a.txt", "x\n");
    let before = crate::compare::tree(&world.base());
    world.hook(pre_edit("plain/a.txt")).silent();
    world.hook(post_bash("make")).silent();
    world.hook(start("startup")).silent();
    assert_eq!(crate::compare::tree(&world.base()), before);
}

#[test]
fn a_hook_switched_off_says_nothing() {
    let world = bens_src();
    for value in ["off", "0", "false"] {
        world.hook(pre_edit("src/a.rs").env_var("WORKFILE_HOOKS", value)).silent();
    }
    world.hook(pre_edit("src/a.rs").env_var("WORKFILE_HOOKS", "on")).asks("T-0001", "ben");
}

#[test]
fn an_unknown_event_is_one_line_and_no_error() {
    let world = bens_src();
    let run = world.run(["hook", "pre-tool-usee"]);
    assert_eq!((run.ended.code, text(&run.ended.stdout)), (Some(0), ""));
    assert_eq!(text(&run.ended.stderr).matches('\n').count(), 1, "{:?}", run.ended);
}

#[test]
fn a_host_that_drops_the_arguments_is_answered_by_the_event_name() {
    let world = bens_src();
    let (_, stdin) = world.hook_process(&pre_edit("src/a.rs"));
    let root = world.root.to_str().unwrap();
    let bare = crate::process::call([]).by("ann").stdin(stdin).env("CLAUDE_PROJECT_DIR", root);
    let run = world.run(bare);
    let answer: Json = serde_json::from_str(text(&run.ended.stdout)).unwrap();
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "ask", "{:?}", run.ended);
    let nothing = world.run(crate::process::call([]).by("ann").stdin("{}").env("CLAUDE_PROJECT_DIR", root));
    let help = world.run(["help"]);
    assert_eq!(text(&nothing.ended.stdout), text(&help.ended.stdout));
    assert_eq!((nothing.ended.code, help.ended.code), (Some(0), Some(0)));
}
