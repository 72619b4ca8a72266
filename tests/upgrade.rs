//! `upgrade`, `migrate schema` and what they say of the binary.

use crate::world::World;
use serde_json::{Value as Json, json};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A workspace whose PATH has nothing but this program.
fn world() -> World {
    let world = World::new();
    let folder =
        std::path::Path::new(env!("CARGO_BIN_EXE_workfile")).parent().unwrap().to_str().unwrap().to_owned();
    world.env("PATH", &folder)
}

/// A program that carries the stamp of another version.
fn other_build(version: &str) -> Vec<u8> {
    ["workfile-build version=", version, " commit=", "abc end"].concat().into_bytes()
}

#[cfg(unix)]
fn executable(world: &World, path: &str, content: &[u8]) {
    use std::os::unix::fs::PermissionsExt;
    world.write(path, content);
    std::fs::set_permissions(world.root.join(path), PermissionsExt::from_mode(0o755)).unwrap();
}

fn surfaces(report: &Json) -> Vec<(&str, &str)> {
    let surfaces = report["surfaces"].as_array().unwrap().iter();
    surfaces.map(|surface| (surface["id"].as_str().unwrap(), surface["status"].as_str().unwrap())).collect()
}

#[test]
fn what_is_behind_is_synced_and_what_is_current_is_left_alone() {
    let world = world();
    let report = world.run(["upgrade", "--dry-run", "--json"]).json();
    assert_eq!(surfaces(&report), [("agents", "would-sync"), ("claude", "not-installed")]);
    assert_eq!((&report["version"], &report["dryRun"]), (&json!(VERSION), &json!(true)));
    assert_eq!(report["surfaces"][0]["files"][0]["status"], "created");
    assert!(!world.root.join("AGENTS.md").exists());
    world.run(["claude", "install"]).text();
    let report = world.run(["upgrade", "--json"]).json();
    assert_eq!(
        surfaces(&report),
        [("agents", "synced"), ("claude", "synced")],
        "the skill quotes the protocol"
    );
    let settled = crate::compare::tree(&world.root);
    let report = world.run(["upgrade", "--json"]).json();
    assert_eq!(surfaces(&report), [("agents", "current"), ("claude", "current")]);
    assert_eq!((report["surfaces"][0].get("files"), &report["orphans"]), (None, &json!([])));
    assert_eq!(crate::compare::tree(&world.root), settled);
    let expected = format!("upgrade to {VERSION}\n  current       agents\n  current       claude\n");
    world.run(["upgrade"]).success(&expected);
}

#[test]
fn a_stamp_of_another_version_is_behind_although_no_text_changed() {
    let world = world();
    world.run(["claude", "install"]).text();
    world.run(["upgrade"]).text();
    let older = |path: &str, from: &str, to: &str| {
        let text = world.read(path);
        assert!(text.contains(from), "{path}");
        world.write(path, text.replacen(from, to, 1));
    };
    let marker = format!("version={VERSION} ");
    older("AGENTS.md", &marker, "version=0.0.1 ");
    world.run(["agents", "check"]).text();
    assert_eq!(
        surfaces(&world.run(["upgrade", "--json"]).json()),
        [("agents", "synced"), ("claude", "current")]
    );
    older(".claude/commands/next.md", &marker, "version=0.0.1 ");
    assert_eq!(
        surfaces(&world.run(["upgrade", "--json"]).json()),
        [("agents", "current"), ("claude", "synced")]
    );
    let ledger = format!("\"version\": \"{VERSION}\"");
    older(".project/generated/claude-code.json", &ledger, "\"version\": \"0.0.1\"");
    let text = world.run(["upgrade"]).text();
    assert_eq!(
        text,
        format!(
            "upgrade to {VERSION}\n  current       agents\n  synced        claude\n                  updated    .project/generated/claude-code.json\n"
        )
    );
    assert!(world.read("AGENTS.md").contains(&marker));
}

#[test]
fn a_surface_that_is_off_is_left_alone_and_a_refusal_is_a_conflict() {
    let off = world().file("project.config.json", r#"{"agents": {"enabled": false, "targets": ["claude"]}}"#);
    let block = "<!-- workfile:begin kind=adapter-claude version=0.0.9 digest=sha256:0 -->\nx\n<!-- workfile:end -->\n";
    off.write("CLAUDE.md", block);
    let report = off.run(["upgrade", "--json"]).json();
    assert_eq!(surfaces(&report), [("agents", "disabled"), ("claude", "not-installed")]);
    assert_eq!(
        report["orphans"],
        json!([{ "surface": "agents", "target": "claude", "kind": "adapter-claude", "file": "CLAUDE.md", "version": "0.0.9" }])
    );
    assert_eq!(off.read("CLAUDE.md"), block);
    let refused = world().file(".project/agents/workflows/start-work.md", "mine");
    let ended = refused.run(["upgrade", "--json"]).ended;
    let report: Json = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(ended.code, Some(3));
    assert_eq!(report["surfaces"][0]["files"][1]["code"], "GENERATED_FILE_UNMANAGED");
    assert_eq!(refused.read(".project/agents/workflows/start-work.md"), "mine");
}

#[test]
fn blocks_that_no_target_owns_are_reported_and_never_removed() {
    let ci = "# workfile:begin kind=ci-github version=0.4.0 digest=sha256:0\nx: 1\n# workfile:end\n";
    let cursor = "---\nalwaysApply: true\n---\n<!-- workfile:begin kind=adapter-cursor version=0.4.0 digest=sha256:0 -->\nx\n<!-- workfile:end -->\n";
    let world = world()
        .file("project.config.json", r#"{"agents": {"targets": ["cursor"]}}"#)
        .file(".github/workflows/workfile.yml", ci)
        .file(".cursor/rules/workfile.mdc", cursor)
        .file("AGENTS.md", "<!-- workfile:begin kind=other -->\nx\n<!-- workfile:end -->\n");
    let report = world.run(["upgrade", "--json"]).json();
    let kinds: Vec<&Json> =
        report["orphans"].as_array().unwrap().iter().map(|orphan| &orphan["kind"]).collect();
    assert_eq!(kinds, ["ci-github"]);
    let text = world.run(["upgrade"]).text();
    let line = "  orphan        .github/workflows/workfile.yml holds a block ci-github, written by 0.4.0, and ci.targets does not name github\n";
    assert!(text.contains(line), "{text}");
    assert_eq!(world.read(".github/workflows/workfile.yml"), ci);
}

#[cfg(unix)]
#[test]
fn another_binary_is_told_by_its_stamp_without_running_it() {
    let world = world();
    let binary = |world: &World| world.run(["upgrade", "--json"]).json()["binary"].clone();
    let here = binary(&world);
    assert_eq!(
        (&here["running"], &here["mismatched"], &here["local"]),
        (&json!(VERSION), &json!(false), &Json::Null)
    );
    assert_eq!(
        (&here["registered"]["form"], &here["registered"]["version"]),
        (&json!("path"), &json!(VERSION))
    );
    executable(&world, ".project/bin/workfile", &other_build("9.9.9"));
    let vendored = binary(&world);
    assert_eq!((&vendored["local"], &vendored["mismatched"]), (&json!("9.9.9"), &json!(true)));
    assert_eq!(vendored["registered"]["command"], "${CLAUDE_PROJECT_DIR}/.project/bin/workfile");
    let line = format!(
        "  MISMATCH      this binary is v{VERSION}, the workspace runs v9.9.9 (.project/bin/workfile)\n"
    );
    assert!(world.run(["upgrade"]).text().ends_with(&line));
    std::fs::remove_file(world.root.join(".project/bin/workfile")).unwrap();
    executable(&world, "elsewhere/workfile", &other_build("0.1.4"));
    let world = {
        let folder = world.root.join("elsewhere");
        world.env("PATH", folder.to_str().unwrap())
    };
    let line =
        format!("  MISMATCH      this binary is v{VERSION}, the workspace runs v0.1.4 (workfile on PATH)\n");
    assert!(world.run(["upgrade"]).text().ends_with(&line));
    executable(&world, "elsewhere/workfile", b"#!/bin/sh\n");
    let unknown = binary(&world);
    assert_eq!((&unknown["registered"]["version"], &unknown["mismatched"]), (&Json::Null, &json!(false)));
}

#[test]
fn h43_a_migration_loads_what_nothing_else_loads() {
    let world = World::new();
    assert_eq!(
        world.run(["migrate", "schema", "--json"]).json(),
        json!({ "schemaVersion": 2, "changed": false })
    );
    world.run(["migrate", "schema"]).success("already at schema 2\n");
    World::bare()
        .file("project.config.json", "{}")
        .run(["migrate", "schema"])
        .success("already at schema 2\n");
    for (version, says) in [
        ("{\"schemaVersion\": 1}", "says schema 1, from which no migration to schema 2 is known"),
        ("{\"schemaVersion\": 3}", "says schema 3, which is newer than this program: upgrade the program"),
        ("{}", "says no number in schemaVersion"),
    ] {
        world.write(".project/VERSION", version);
        let mismatch = world.run(["card", "list", "--json"]).fails(2, "CONFIG_SCHEMA_MISMATCH");
        let advises = mismatch["message"].as_str().unwrap().contains("try `workfile migrate schema`");
        assert_eq!(advises, version.contains(": 1"), "{mismatch}");
        let error = world.run(["migrate", "schema", "--json"]).fails(2, "CONFIG_SCHEMA_UNSUPPORTED");
        assert!(error["message"].as_str().unwrap().ends_with(says), "{error}");
        assert_eq!(world.read(".project/VERSION"), version);
    }
    let error = world.run(["migrate", "docs", "--json"]).fails(1, "CLI_COMMAND_UNKNOWN");
    assert!(error["message"].as_str().unwrap().contains("`docs`"), "{error}");
}
