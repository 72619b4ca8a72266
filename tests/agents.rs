//! `agents sync` and `agents check`: instructions for agents in files that may be somebody else's.

use crate::world::World;
use serde_json::{Value as Json, json};

const PROTOCOL: &str = ".project/agents/protocol.md";
const START: &str = ".project/agents/workflows/start-work.md";
const BOTH: &[&str] = &["agents", "sync", "--targets", "agents-md,claude"];

/// Every file of both targets, in the order in which they are handled.
const FILES: [&str; 7] = [
    PROTOCOL,
    START,
    ".project/agents/workflows/finish-work.md",
    ".project/agents/workflows/discovered-work.md",
    ".project/agents/workflows/record-knowledge.md",
    "AGENTS.md",
    "CLAUDE.md",
];

fn lines(status: &str, files: &[&str]) -> String {
    files.iter().flat_map(|path| [status, "\t", path, "\n"]).collect()
}

/// A sync of both targets.
fn both(more: &[&str]) -> crate::process::Call {
    crate::process::call([]).words(BOTH).words(more)
}

/// A run that may have notes on stderr.
fn noted(world: &World, args: &[&str]) -> (Option<i32>, String, String) {
    let ended = world.run(crate::process::call([]).words(args)).ended;
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (ended.code, text(ended.stdout), text(ended.stderr))
}

#[test]
fn a_sync_writes_every_file_once_and_a_check_agrees() {
    let world = World::new();
    let missing: String = FILES[..6].iter().flat_map(|path| ["missing\t", path, "\t\n"]).collect();
    let (code, stdout, stderr) = noted(&world, &["agents", "check"]);
    assert_eq!((code, stdout, stderr.as_str()), (Some(1), missing, ""));
    world.run(both(&["--dry-run"])).success(&lines("created", &FILES));
    assert!(!world.root.join(PROTOCOL).exists() && !world.root.join("AGENTS.md").exists());
    world.run(both(&[])).success(&lines("created", &FILES));
    let report = world.run(both(&["--json"])).json();
    assert_eq!((&report["changed"], &report["targets"]), (&json!(false), &json!(["agents-md", "claude"])));
    assert_eq!(report["files"][6]["status"], "unchanged");
    let digest = report["files"][0]["digest"].as_str().unwrap();
    assert!(world.read(PROTOCOL).contains(&format!(
        "kind=canonical-agent-protocol version={} digest={digest} -->",
        env!("CARGO_PKG_VERSION")
    )));
    for command in ["check", "status"] {
        let report = world.run(["agents", command, "--targets", "agents-md,claude", "--json"]).json();
        assert_eq!(report["counts"], json!({ "current": 7, "stale": 0, "missing": 0, "unmanaged": 0 }));
        assert_eq!((&report["ok"], &report["issues"]), (&json!(true), &json!([])));
        assert_eq!(report["version"], env!("CARGO_PKG_VERSION"));
    }
}

#[test]
fn a_sync_says_that_the_skill_quotes_what_it_has_written() {
    let world = World::new();
    let (_, _, before) = noted(&world, BOTH);
    noted(&world, &["claude", "install"]);
    world.write("project.config.json", r#"{"schemaVersion": 2, "cards": {"areas": ["harbour"]}}"#);
    let (code, _, after) = noted(&world, BOTH);
    let expected = "workfile: .claude/skills/workfile/SKILL.md quotes the protocol; \
                    `workfile claude install` brings it up to date\n";
    assert_eq!((before.as_str(), code, after.as_str()), ("", Some(0), expected));
    noted(&world, &["claude", "install"]);
    assert_eq!(noted(&world, BOTH).2, "");
}

#[test]
fn files_of_others_keep_every_byte_and_gain_a_block() {
    for (before, gap) in
        [("# Ours\n\nRules.\n", "\n"), ("# Ours", "\n\n"), ("a\r\nb\r\n", "\r\n"), ("a\n\n", ""), (" \n", "")]
    {
        let world = World::new().file("AGENTS.md", before).file("CLAUDE.md", before).file(PROTOCOL, before);
        world.run(both(&[])).text();
        for path in ["AGENTS.md", "CLAUDE.md", PROTOCOL] {
            let text = world.read(path);
            let added = if before.trim().is_empty() {
                text.as_str()
            } else {
                text.strip_prefix(&format!("{before}{gap}")).unwrap()
            };
            assert!(
                added.starts_with("<!-- workfile:begin kind=")
                    && added.trim_end().ends_with("<!-- workfile:end -->"),
                "{text}"
            );
            assert_eq!(text.contains("\r\n"), before.contains("\r\n"));
        }
        let settled = crate::compare::tree(&world.root);
        world.run(both(&[])).success(&lines("unchanged", &FILES));
        assert_eq!(crate::compare::tree(&world.root), settled);
    }
}

#[test]
fn a_workflow_of_somebody_else_is_overwritten_by_force_only() {
    let world = World::new().file(START, "# How we start\n").file("AGENTS.md", b"caf\xe9\n");
    let (code, stdout, stderr) = noted(&world, BOTH);
    assert_eq!(code, Some(3));
    assert!(
        stdout.contains(&format!("unmanaged\t{START}\n")) && stdout.contains("unmanaged\tAGENTS.md\n"),
        "{stdout}"
    );
    assert!(stdout.contains("created\tCLAUDE.md\n"), "the others go on: {stdout}");
    assert_eq!(stderr.matches("--force overwrites it").count(), 2, "{stderr}");
    assert_eq!(world.read(START), "# How we start\n");
    let ended = world.run(["agents", "check", "--json"]).ended;
    let report: Json = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!((ended.code, &report["counts"]["unmanaged"]), (Some(1), &json!(2)));
    assert_eq!(report["issues"][0]["code"], "agent-instructions-unmanaged");
    assert_eq!(report["issues"][0]["severity"], "warning");
    world.run(both(&["--force"])).text();
    assert!(!world.read(START).contains("How we start"));
    world.run(["agents", "check"]).text();
}

#[test]
fn an_edit_inside_a_block_is_overwritten_aloud_and_one_beside_it_stays() {
    let world = World::new();
    world.run(both(&[])).text();
    let edited = world.read("CLAUDE.md").replace("changed by", "altered by");
    world.write("CLAUDE.md", format!("above\n\n{edited}\nbelow\n"));
    let (code, stdout, _) = noted(&world, &["agents", "check", "--targets", "claude"]);
    assert_eq!(code, Some(1));
    assert!(stdout.contains("stale\tCLAUDE.md\tbody\n"), "{stdout}");
    let (code, stdout, stderr) = noted(&world, BOTH);
    assert_eq!(code, Some(0));
    assert!(stdout.ends_with("updated\tCLAUDE.md\n"), "{stdout}");
    assert_eq!(stderr, "workfile: CLAUDE.md: a change made by hand inside the block is gone\n");
    let text = world.read("CLAUDE.md");
    assert!(
        text.starts_with("above\n\n<!-- workfile:begin")
            && text.ends_with("<!-- workfile:end -->\n\nbelow\n"),
        "{text}"
    );
    assert!(!text.contains("altered by"));
}

#[cfg(unix)]
#[test]
fn links_are_followed_inside_the_repository_only() {
    let world = World::new().file("AGENTS.md", "# Ours\n").link("CLAUDE.md", "AGENTS.md");
    world.run(both(&[])).text();
    assert!(world.root.join("CLAUDE.md").is_symlink());
    let text = world.read("AGENTS.md");
    assert!(text.contains("kind=adapter-agents-md") && text.contains("kind=adapter-claude"), "{text}");
    world.run(both(&[])).success(&lines("unchanged", &FILES));
    let out = World::bare().file("mine.md", "mine\n");
    let world = World::new().link("CLAUDE.md", out.root.join("mine.md")).link(".project/agents", &out.root);
    let (code, stdout, stderr) = noted(&world, BOTH);
    assert_eq!(code, Some(1), "{stderr}");
    assert_eq!(stdout.matches("conflict\t").count(), 6, "{stdout}");
    assert!(stdout.contains("created\tAGENTS.md\n"), "{stdout}");
    assert_eq!(out.read("mine.md"), "mine\n");
    assert_eq!(std::fs::read_dir(&out.root).unwrap().count(), 1);
}

#[test]
fn a_target_that_is_not_written_is_refused_by_name() {
    let world = World::new();
    for target in ["cursor", "nobody", ""] {
        let targets = format!("--targets=agents-md,{target}");
        for command in ["sync", "check"] {
            let run = world.run(["agents", command, &targets, "--json"]);
            if target.is_empty() {
                assert!(run.ended.code.is_some_and(|code| code < 2));
                continue;
            }
            let error = run.fails(1, "AGENT_TARGET_UNSUPPORTED");
            assert_eq!(error["details"]["target"], target);
            assert_eq!(error["details"]["allowed"], json!(["agents-md", "claude"]));
        }
    }
    let off = World::new().file("project.config.json", r#"{"agents": {"enabled": false}}"#);
    off.run(["agents", "sync", "--json"]).fails(1, "MODULE_DISABLED");
}

#[test]
fn the_protocol_says_what_the_configuration_says_and_nothing_else() {
    let hostile = "b\n<!-- workfile:end -->\n# `x`";
    let config =
        json!({ "cards": { "areas": ["api", hostile], "maxHierarchyDepth": 3, "claimLeaseHours": 1.5 } });
    let world = World::new().file("project.config.json", config.to_string());
    world.run(["agents", "sync"]).text();
    let text = world.read(PROTOCOL);
    for part in [
        "(schema 2)",
        "- Areas: `api`, `b <!-- workfile:end --> # 'x'`.",
        "may have 3 cards",
        "stale 1.5 hours",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("--actor"));
    world.run(["agents", "check"]).text();
    world.run(["agents", "sync"]).success(&lines("unchanged", &FILES[..6]));
}
