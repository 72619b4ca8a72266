//! The doctor: what it finds, what it accepts, what it puts right.

use crate::process::{Call, call};
use crate::world::World;
use serde_json::{Value as Json, json};

const NOW: &str = "2026-03-04T05:06:07.089Z";

/// A workspace at a fixed time whose configuration has this section besides.
fn configured(more: &Json) -> World {
    let mut config = json!({"schemaVersion": 2, "agents": {"enabled": false}});
    config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    World::new().clock(NOW).file("project.config.json", config.to_string())
}

fn world() -> World {
    configured(&json!({}))
}

fn doctor(words: &[&str]) -> Call {
    call(["doctor"]).words(words).words(&["--json"]).by("ann")
}

/// A whole card.
fn card(id: &str, more: &str, body: &str) -> String {
    format!(
        "---\nid: {id}\ntitle: Card\nstatus: next\ntype: task\npriority: medium\narea: general\ncreated: 2026-01-02\n\
         updated: 2026-01-02\n{more}---\n\n{body}\n"
    )
}

fn codes(report: &Json) -> Vec<String> {
    let issues = report["issues"].as_array().unwrap().iter();
    issues.map(|issue| issue["code"].as_str().unwrap().to_owned()).collect()
}

/// What a run prints and how it ends.
fn report(world: &World, words: &[&str], exit: i32) -> Json {
    let output =
        world.process(env!("CARGO_BIN_EXE_workfile")).arg("doctor").args(words).arg("--json").output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(exit), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_clean_workspace_is_ok() {
    let world = world().file(".project/cards/T-0001-card.md", card("T-0001", "", "Text."));
    let report = report(&world, &[], 0);
    assert_eq!(report["ok"], true, "{report}");
    assert_eq!(report["counts"], json!({"error": 0, "warning": 0, "info": 0}));
}

#[test]
fn cards_that_wait_for_each_other_are_named() {
    let world = world()
        .file(".project/cards/T-0001-card.md", card("T-0001", "depends: T-0002\n", ""))
        .file(".project/cards/T-0002-card.md", card("T-0002", "depends: T-0001\n", ""));
    assert_eq!(codes(&report(&world, &[], 0)), ["dependency-cycle", "dependency-cycle"]);
}

#[test]
fn keys_that_count_for_nothing_are_named() {
    let header = "due: 2026-03-05\ndue: 2026-03-06\nfile: ../../x\n";
    let world = world().file(".project/cards/T-0001-card.md", card("T-0001", header, ""));
    assert_eq!(codes(&report(&world, &[], 1)), ["duplicate-key", "reserved-key"]);
}

#[test]
fn h42_a_configuration_that_has_no_effect_is_named() {
    let world = configured(&json!({
        "language": "en",
        "cards": {"path": "work", "methods": 1, "axes": {"team": ["a"]}, "verification": {"methods": {"web": ["ci"]}}},
        "search": {"provider": "vectors"},
    }));
    let report = report(&world, &[], 0);
    let wanted = [
        "config-hooks-elsewhere",
        "config-key-unknown",
        "config-key-unknown",
        "search-provider-unresolved",
        "verification-policy-area-unknown",
    ];
    let mut found = codes(&report);
    found.sort_unstable();
    assert_eq!(found, wanted, "{report}");
    let module = World::new().file(
        "project.config.mjs",
        "export const integrations = [one()];\nexport default { schemaVersion: 2, agents: { enabled: false } };\n",
    );
    assert_eq!(codes(&self::report(&module, &[], 0)), ["config-integrations-unsupported"]);
}

#[test]
fn a_lock_that_nobody_holds_is_named_and_one_that_somebody_holds_is_not() {
    let lock = |pid: u32| {
        format!("{{\"pid\":{pid},\"createdAt\":\"{NOW}\",\"module\":\"cards\",\"recordId\":\"T-0007\"}}\n")
    };
    let world = world()
        .file(".project/.cache/locks/cards/T-0007.lock", lock(999_999_999))
        .file(".project/.cache/locks/cards/T-0008.lock", lock(std::process::id()));
    let report = report(&world, &[], 0);
    assert_eq!(codes(&report), ["stale-write-lock"]);
    let issue = &report["issues"][0];
    assert_eq!((&issue["id"], &issue["details"]["reason"]), (&json!("T-0007"), &json!("owner-gone")));
    assert!(!issue["message"].as_str().unwrap().contains("999999999"), "a message stays the same: {issue}");
}

#[test]
fn a_severity_hides_and_counts_and_never_changes_the_verdict() {
    let world = world()
        .file(".project/cards/T-0001-card.md", card("T-0001", "effort: XL\n", ""))
        .file(".project/cards/T-0002-old.md", card("T-0002", "", ""));
    let shown = report(&world, &["--severity", "error"], 1);
    assert_eq!((codes(&shown).len(), &shown["suppressed"]), (1, &json!(1)));
    let cut = report(&world, &["--max-issues", "1"], 1);
    assert_eq!((codes(&cut).len(), &cut["counts"]["warning"]), (1, &json!(1)));
    let refused = world.run(doctor(&["--severity", "bogus"])).fails(1, "CLI_OPTION_INVALID");
    assert_eq!(refused["details"], json!({"option": "--severity", "value": "bogus"}));
}

#[test]
fn a_baseline_that_is_none_is_refused_by_name() {
    let path = ".project/doctor-baseline.json";
    let world = world();
    world.run(doctor(&["--new"])).fails(1, "DOCTOR_BASELINE_MISSING");
    for text in [
        "",
        "[]",
        "{\"version\": 2}",
        "{\"version\": 1}",
        "{\"version\": 1, \"issues\": [{\"code\": \"x\"}]}",
    ] {
        world.write(path, text);
        world.run(doctor(&["--new"])).fails(1, "DOCTOR_BASELINE_INVALID");
    }
    world.run(doctor(&["--accept-baseline", "--fix"])).fails(1, "CLI_ARGUMENT_CONFLICT");
}

#[test]
fn of_equal_findings_only_the_surplus_is_new() {
    let world = world()
        .file(".project/cards/T-0001-card.md", card("T-0001", "", ""))
        .file(".project/cards/T-0002-card.md", card("T-0002", "depends: [T-0098]\n", ""));
    report(&world, &["--accept-baseline"], 0);
    let first = report(&world, &["--new"], 0);
    assert_eq!((&first["baseline"], &first["ok"]), (&json!({"known": 1, "resolved": 0}), &json!(false)));
    world.write(".project/cards/T-0002-card.md", card("T-0002", "depends: [T-0098, T-0098]\n", ""));
    let second = report(&world, &["--new"], 1);
    assert_eq!(codes(&second), ["missing-dependency"]);
    world.write(".project/cards/T-0002-card.md", card("T-0002", "", ""));
    assert_eq!(report(&world, &["--new"], 0)["baseline"], json!({"known": 0, "resolved": 1}));
}

#[test]
fn a_name_that_is_taken_is_left_alone_and_reported() {
    let world = world()
        .file(".project/cards/T-0001-old.md", card("T-0001", "", ""))
        .file(".project/cards/T-0001-card.md", "no card");
    let fixed = report(&world, &["--fix"], 1);
    assert_eq!(fixed["fixed"]["renamed"], json!([]));
    assert_eq!(
        fixed["fixed"]["renameSkipped"],
        json!([{"id": "T-0001", "file": "T-0001-old.md", "reason": "name-taken"}])
    );
    assert_eq!(world.read(".project/cards/T-0001-card.md"), "no card");
    assert!(codes(&fixed).contains(&"filename-stale".to_owned()));
}

#[test]
fn a_second_fix_finds_nothing_to_do() {
    let stray = "- 2026-01-02 03:04Z ben · claimed\n\n## Activity\n\n- 2026-01-03 03:04Z ben · released";
    let world = world()
        .file(".project/cards/T-0001-a.md", card("T-0001", "", stray))
        .file(".project/cards/sub/T-0001-b.md", card("T-0001", "", ""))
        .file(".project/cards/T-0002-refers.md", card("T-0002", "related: T-0001\n", ""));
    let first = report(&world, &["--fix", "--actor", "ann"], 0);
    let fixed = &first["fixed"];
    assert_eq!(fixed["moves"][0]["to"], "T-0003", "{fixed}");
    assert_eq!(fixed["moves"][0]["review"], json!([".project/cards/T-0002-card.md"]));
    assert_eq!(fixed["trails"], json!([{"id": "T-0001", "entries": 1}]));
    let again = report(&world, &["--fix", "--actor", "ann"], 0);
    let empty = json!({"moves": [], "skipped": [], "renamed": [], "renameSkipped": [], "trails": []});
    assert_eq!(again["fixed"], empty);
}

#[test]
fn paths_that_lead_out_are_not_there() {
    for source in ["../secret.md", "/etc/hosts", "no/such.md", "a\u{0}b"] {
        let world =
            world().file(".project/cards/T-0001-card.md", card("T-0001", &format!("source: {source}\n"), ""));
        std::fs::write(world.base().join("secret.md"), "x").unwrap();
        assert_eq!(codes(&report(&world, &[], 1)), ["missing-source"], "{source:?}");
    }
    let world = world()
        .file(".project/cards/T-0001-card.md", card("T-0001", "source: README.md#part\n", ""))
        .file("README.md", "# Title\n");
    assert_eq!(codes(&report(&world, &[], 0)), Vec::<String>::new());
}

#[test]
fn every_finding_of_the_recorded_cases_is_in_the_table() {
    for (area, name) in [("records", "38-doctor-findings"), ("records", "31-unreadable")] {
        let text =
            std::fs::read_to_string(format!("{}/tests/golden/{area}/{name}.txt", env!("CARGO_MANIFEST_DIR")));
        let text = text.unwrap();
        let found = text.lines().filter_map(|line| line.trim().strip_prefix("\"code\": \""));
        for code in found.filter_map(|rest| rest.split('"').next()).filter(|code| !code.contains('_')) {
            assert!(
                workfile::doctor::RULES.iter().any(|rule| rule.code == code) || code == "duplicate-id",
                "{code}"
            );
        }
    }
}
