//! A workspace that the earlier implementation made lives on: nothing has to be migrated, and no record changes a byte.

use crate::client::Client;
use crate::compare::{Entry, Tree, tree};
use crate::golden::Archive;
use crate::payload::{post_edit, pre_edit, start};
use crate::process::call;
use crate::world::{ACTIVITY, World};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

const HOLDER: &str = "solo@box#aaaaaaaa";
const SESSION: &str = ".project/.cache/activity/sessions/aaaaaaaa-0000-4000-8000-000000000000.json";
const CARD: &str = ".project/cards/T-0001-rework-the-rates.md";

/// The workspace at the moment when it was left.
fn world() -> World {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/earlier.txt");
    let archive = Archive::parse(&std::fs::read(path).unwrap());
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_workfile")).parent().unwrap();
    let world = World::bare().clock("2026-01-15T12:00:00Z").env("PATH", program.to_str().unwrap());
    archive.files.iter().fold(world, |world, (name, bytes)| world.file(name, bytes)).settled()
}

/// The records, their configuration and what is no business of this program.
fn kept(world: &World) -> Tree {
    let mut files = tree(&world.root);
    let ours = [".claude/", ".project/.cache", ".project/agents", ".project/generated"];
    files.retain(|path, entry| {
        let is_ours = ours.iter().any(|folder| path.starts_with(folder));
        let is_generated = ["AGENTS.md", "CLAUDE.md", ".mcp.json"].contains(&path.as_str());
        path == ".claude/commands/deploy.md"
            || !matches!(entry, Entry::Directory) && !is_ours && !is_generated
    });
    files
}

#[test]
fn the_doctor_finds_no_error_and_only_what_is_behind() {
    let world = world();
    let before = tree(&world.root.join(".project/cards"));
    let report = world.run(["doctor", "--json"]).json();
    let mut codes: BTreeMap<&str, usize> = BTreeMap::new();
    for issue in report["issues"].as_array().unwrap() {
        assert_eq!(issue["severity"], "warning", "{issue}");
        *codes.entry(issue["code"].as_str().unwrap()).or_default() += 1;
    }
    let expected = [
        ("agent-instructions-stale", 7),
        ("claude-surface-stale", 8),
        ("config-key-unknown", 1),
        ("missing-axis", 5),
    ];
    assert_eq!(codes.into_iter().collect::<Vec<_>>(), expected);
    assert_eq!(tree(&world.root.join(".project/cards")), before);
}

#[test]
fn every_record_is_found_and_read() {
    let world = world();
    let ids = [
        "T-0001", "T-0008", "DOC-0001", "CHG-0001", "CHG-0002", "REL-0001", "LRN-0001", "ADR-0002",
        "INC-0001",
    ];
    for id in ids {
        let found = world.run(["search", "--json", id]).json();
        let ids = found["records"].as_array().unwrap().iter().map(|record| &record["id"]);
        assert!(ids.clone().any(|found| found == id), "{id} is not among {:?}", ids.collect::<Vec<_>>());
    }
    let cards = world.run(["card", "list"]).text();
    let ids: Vec<&str> = cards.lines().filter_map(|line| line.split('\t').next()).collect();
    let expected = ["T-0001", "T-0002", "T-0003", "T-0004", "T-0005", "T-0006", "T-0007", "T-0008"];
    assert_eq!(ids, expected);
    let card = world.run(["card", "show", "T-0001", "--json"]).json();
    assert_eq!((&card["squad"], &card["tags"]), (&json!("north"), &json!(["billing", "rates: new"])));
    assert_eq!(card["scope"], json!(["apps/api", "docs/*.md"]));
}

#[test]
fn an_upgrade_brings_the_generated_files_over_and_nothing_else() {
    let world = world();
    let (before, everything) = (kept(&world), tree(&world.root));
    let planned = world.run(["upgrade", "--dry-run", "--json"]).json();
    assert_eq!(tree(&world.root), everything, "a dry run writes nothing");
    let done = world.run(["upgrade", "--json"]).json();
    for (report, status) in [(&planned, "would-sync"), (&done, "synced")] {
        let surfaces = report["surfaces"].as_array().unwrap();
        let surfaces: Vec<_> = surfaces.iter().map(|surface| (&surface["id"], &surface["status"])).collect();
        assert_eq!(surfaces, [(&json!("agents"), &json!(status)), (&json!("claude"), &json!(status))]);
        let orphans = report["orphans"].as_array().unwrap();
        assert_eq!(orphans.len(), 1);
        assert_eq!(orphans[0]["file"], ".cursor/rules/workfile.mdc");
    }
    assert_eq!(kept(&world), before, "records, configuration and what belongs to others keep every byte");
    let settings: Json = serde_json::from_str(&world.read(".claude/settings.json")).unwrap();
    let text = settings.to_string();
    assert!(!text.contains("hooks.mjs") && text.contains("no-force-push.sh") && text.contains("prettier"));
    assert!(
        world.read(".claude/settings.json").starts_with("{\n    \"permissions\""),
        "its indentation stays"
    );
    assert_eq!(settings["hooks"]["PreToolUse"][0]["matcher"], "Bash", "a neighbour keeps its place");
    let servers: Json = serde_json::from_str(&world.read(".mcp.json")).unwrap();
    assert_eq!(servers["mcpServers"]["workfile"], json!({"command": "workfile", "args": ["mcp"]}));
    assert_eq!(servers["mcpServers"]["sentry"]["type"], "http");
    assert!(!world.root.join(".claude/commands/context.md").exists(), "the old context command is retired");
    let (agents, protocol) = (world.read("AGENTS.md"), world.read(".project/agents/protocol.md"));
    assert!(
        agents.starts_with("# Harbour\n\nRun `npm test`.\n\n") && agents.ends_with("\nTabs, not spaces.\n")
    );
    assert!(protocol.ends_with("\nWe speak Portuguese in notes.\n"));
    let settled = tree(&world.root);
    let again = world.run(["upgrade", "--json"]).json();
    assert!(
        again["surfaces"].as_array().unwrap().iter().all(|surface| surface["status"] == "current"),
        "{again}"
    );
    assert_eq!(tree(&world.root), settled, "a second one has nothing to do");
    let issues = world.run(["doctor", "--json"]).json()["issues"].clone();
    let left = issues.as_array().unwrap().iter().filter(|issue| issue["code"] != "missing-axis");
    assert_eq!(left.map(|issue| &issue["code"]).collect::<Vec<_>>(), ["config-key-unknown"]);
}

#[test]
fn hooks_know_its_claims_its_session_and_its_ledger() {
    let world = world();
    let before = kept(&world);
    let told =
        world.hook(start("startup").by("ben")).tells(&["T-0001", "Rework the rates", HOLDER, "(live)"]);
    assert!(told.contains("apps/api, docs/*.md"), "{told}");
    for (path, entry) in [("apps/api/rates.ts", "apps/api"), ("docs/billing.md", "docs/*.md")] {
        let ask = world.hook(pre_edit(path).by("ben")).asks_something();
        assert!(ask.reason.starts_with(&format!("T-0001 is held by {HOLDER} since ")), "{ask:?}");
        assert!(ask.reason.contains(&format!("its scope \"{entry}\" covers {path}")), "{ask:?}");
    }
    world.hook(pre_edit("apps/web/page.ts").by("ben")).silent();
    let ask = world.hook(pre_edit(CARD).by("ben")).asks_something();
    assert!(ask.reason.contains(CARD), "{ask:?}");
    // Whoever held it goes on holding it.
    let holder = |payload: crate::payload::Payload| {
        payload.by("aaaaaaaa").env_var("USER", "solo").env_var("HOSTNAME", "box")
    };
    world.hook(holder(pre_edit("apps/api/rates.ts"))).silent();
    world.hook(holder(post_edit("apps/api/rates.ts"))).silent();
    let ledger = world.ledger();
    assert_eq!((ledger.len(), &ledger[2]["path"]), (3, &json!("apps/api/rates.ts")));
    assert_eq!(ledger[0]["at"], "2026-01-15T11:40:00.000Z", "earlier lines stay");
    let session: Json = serde_json::from_str(&world.read(SESSION)).unwrap();
    assert_eq!(
        (&session["lastSignalAt"], &session["cardId"]),
        (&json!("2026-01-15T12:00:00.000Z"), &json!("T-0001"))
    );
    let board: Json = serde_json::from_str(&world.read(&format!("{ACTIVITY}/board.json"))).unwrap();
    assert_eq!(board["claims"][0]["session"], "aaaaaaaa");
    assert_eq!(kept(&world), before, "hooks touch no record");
}

#[test]
fn a_card_that_is_written_here_is_read_by_the_same_rules() {
    let world = world();
    let before = world.read(CARD);
    let mut client = Client::start(&world, &[]);
    let list = client.tool("project_card_list", &json!({"status": ["doing"]}));
    assert_eq!(list["records"][0]["id"], "T-0001", "{list}");
    let card = client.tool("project_get_record", &json!({"id": "T-0002"}));
    let revision = &card["record"]["revision"];
    let changes = json!({"priority": "high", "tags": ["a: b", "c"]});
    let arguments = json!({"id": "T-0002", "changes": changes, "expectedRevision": revision});
    let patched = client.tool("project_card_patch", &arguments);
    assert_eq!(patched["record"]["priority"], "high", "{patched}");
    client.ends_well();
    let written = world.read(".project/cards/T-0002-show-the-rates-web.md");
    let expected = "---\nid: T-0002\ntitle: \"Show the rates: web\"\nstatus: next\ntype: task\npriority: high\narea: web\n\
        depends: [T-0001]\ndue: 2026-02-01\nx-estimate: 3\ncreated: 2026-01-10\nupdated: 2026-01-15\n\
        tags: [\"a: b\", c]\n---\n\n\n";
    assert_eq!(written, expected, "what is not named keeps its bytes");
    world.run(call(["card", "note", "T-0001", "--text", "boats are moored by noon"]).by("ben")).text();
    let after = world.read(CARD);
    let added = "- 2026-01-15 12:00Z ben@local#ben00000 — boats are moored by noon\n";
    assert_eq!(after, before.clone() + added);
    // A reader of YAML takes both headers for what we do.
    let values = scalars(header(&written));
    let ours = ["T-0002", "Show the rates: web", "next", "task", "high", "web", "T-0001", "2026-02-01", "3"];
    for value in ours.into_iter().chain(["2026-01-10", "2026-01-15", "a: b", "c"]) {
        assert!(values.iter().any(|found| found == value), "{value} is not among {values:?}");
    }
    assert_eq!(values.len(), 12 + 13, "twelve keys and thirteen values: {values:?}");
    assert_eq!(scalars(header(&after)), scalars(header(&before)));
}

/// What stands between the fences.
fn header(text: &str) -> &str {
    text.strip_prefix("---\n").unwrap().split("\n---\n").next().unwrap()
}

/// Every key and value that an independent reader of YAML finds, in order.
fn scalars(header: &str) -> Vec<String> {
    let scalar = |event| match event {
        saphyr_parser::Event::Scalar(text, ..) => Some(text.into_owned()),
        _ => None,
    };
    let events = saphyr_parser::Parser::new_from_str(header);
    events.map(|event| event.expect("the header is YAML").0).filter_map(scalar).collect()
}
