//! `claude uninstall`: what an install wrote goes, everything else keeps its bytes.

use crate::claude::{EVENTS, LEDGER, MCP, Repo, SETTINGS, earlier};
use serde_json::{Value as Json, json};
use workfile::surface::claude::{UninstallReport, uninstall};
use workfile::surface::managed::Apply;

fn remove(repo: &Repo) -> UninstallReport {
    uninstall(repo.0.path(), Apply::Write)
}

fn statuses(report: &UninstallReport) -> Vec<(&str, &str)> {
    report.files.iter().map(|file| (file.path.as_str(), file.status.name())).collect()
}

/// Handlers of two other tools on every event that is ours, keys in an odd order, four spaces.
fn two_other_tools() -> String {
    let group = |tool: &str, event: &str| {
        format!(
            "            {{\n                \"hooks\": [\n                    {{ \"timeout\": 1e1, \"command\": \"{tool} {event}\", \
             \"type\": \"command\" }}\n                ],\n                \"matcher\": \"*\"\n            }}"
        )
    };
    let event = |event: &&str| {
        let groups = [group("alpha", event), group("beta", event)].join(",\n");
        format!("        \"{event}\": [\n{groups}\n        ]")
    };
    let mut events: Vec<String> = EVENTS.iter().map(event).collect();
    events.reverse();
    format!(
        "{{\n    \"permissions\": {{ \"allow\": [] }},\n    \"hooks\": {{\n{}\n    }},\n    \"env\": {{ \"A\": \"1\" }}\n}}\n",
        events.join(",\n")
    )
}

/// Settings files as repositories have them.
fn settings() -> Vec<String> {
    let theirs = r#"{"hooks":[{"type":"command","command":"theirs"}]}"#;
    vec![
        "{}".to_owned(),
        "{}\n".to_owned(),
        "{\n}\n".to_owned(),
        "{ }".to_owned(),
        "\u{feff}{\"model\": \"x\"}\r\n".to_owned(),
        "{\"hooks\":{}}\n".to_owned(),
        "{\n\t\"hooks\": {\n\t}\n}".to_owned(),
        "{\"hooks\": {\"PreToolUse\": [], \"Stop\": []}, \"n\": 1.0}\n".to_owned(),
        "{\n  \"hooks\": {\n    \"SessionStart\": [ ]\n  }\n}\n\n".to_owned(),
        format!("{{\"hooks\":{{\"PreToolUse\":[{theirs}]}}}}"),
        format!(
            "{{\r\n   \"hooks\" : {{ \"Stop\":[ {theirs} , 7 ] }},\r\n   \"big\": 123456789012345678901\r\n}}"
        ),
        format!(
            "{{\"a\":1e3,\n\"hooks\":{{\"PostToolUse\":[{theirs},{theirs}],\"Notification\":[{theirs}]}}\n,\"z\":[]}}  "
        ),
        "{\n    \"permissions\": {\n        \"allow\": [\"Bash(ls)\"]\n    }\n}\n".to_owned(),
        two_other_tools(),
    ]
}

#[test]
fn a_settings_file_is_after_an_uninstall_what_it_was_before_two_installs() {
    for settings in settings() {
        let repo = Repo::new().with(SETTINGS, &settings);
        let before = repo.everything();
        assert!(repo.install().changed());
        let installed = repo.everything();
        assert!(!repo.install().changed(), "{settings}");
        assert_eq!(repo.everything(), installed, "{settings}");
        assert!(repo.check().ok());
        let dry = uninstall(repo.0.path(), Apply::DryRun);
        assert_eq!(repo.everything(), installed);
        let report = remove(&repo);
        assert_eq!(statuses(&report), statuses(&dry));
        assert_eq!(repo.text(SETTINGS), settings);
        assert_eq!(repo.everything(), before, "{settings}");
        assert!(!repo.at(".project").exists() && !repo.at(".claude/commands").exists());
        let again = remove(&repo);
        assert!(!again.changed(), "{:?}", statuses(&again));
    }
}

#[test]
fn a_file_of_servers_is_after_an_uninstall_what_it_was_before_two_installs() {
    for servers in [
        "{}",
        "{\n}\n",
        "{\"mcpServers\":{}}\n",
        "{ \"mcpServers\": { } }",
        "{\"inputs\": [1e3]}\r\n",
        "{\r\n\t\"mcpServers\": {\r\n\t\t\"other\": {\"command\":\"x\", \"args\":[ 1.0 ]}\r\n\t},\r\n\t\"z\": 1\r\n}",
        "{\n    \"mcpServers\": {\n        \"a\": {},\n        \"b\": {}\n    }\n}\n",
    ] {
        let repo = Repo::new().with(MCP, servers);
        let before = repo.everything();
        repo.install();
        let installed = repo.everything();
        assert!(!repo.install().changed() && repo.everything() == installed, "{servers}");
        remove(&repo);
        assert_eq!(repo.text(MCP), servers);
        assert_eq!(repo.everything(), before, "{servers}");
    }
}

#[test]
fn a_server_that_somebody_changed_is_kept_and_named() {
    let repo = Repo::new();
    repo.install();
    let changed = repo
        .text(MCP)
        .replace("\"workfile\"\n", "\"elsewhere/workfile\"\n")
        .replace("\"mcp\"", "\"mcp\", \"--read-only\"");
    repo.write(MCP, &changed);
    let report = remove(&repo);
    let entry = report.files.iter().find(|file| file.path == MCP).unwrap();
    assert_eq!(
        (entry.status.name(), entry.reason.as_deref()),
        ("kept", Some("mcpServers.workfile was changed by hand"))
    );
    assert_eq!(repo.text(MCP), changed);
    assert_eq!(repo.everything().len(), 1);
    let repo = Repo::new();
    repo.install();
    repo.write(MCP, "{,}");
    assert_eq!(remove(&repo).refused().map(|file| file.path.as_str()).collect::<Vec<_>>(), [MCP]);
    assert_eq!(
        (repo.text(MCP).as_str(), repo.at(SETTINGS).exists(), repo.at(LEDGER).exists()),
        ("{,}", false, true)
    );
}

#[test]
fn a_repository_without_anything_has_nothing_again() {
    let repo = Repo::new();
    repo.install();
    let report = remove(&repo);
    assert!(report.files.iter().all(|file| file.status.name() == "removed"), "{:?}", statuses(&report));
    assert_eq!(std::fs::read_dir(repo.0.path()).unwrap().count(), 0);
    assert_eq!(statuses(&remove(&repo)), []);
}

#[test]
fn what_came_after_the_install_stays() {
    let repo = Repo::new();
    repo.install();
    let mut settings = repo.json(SETTINGS);
    let theirs = json!({ "hooks": [{ "type": "command", "command": "theirs" }] });
    settings["hooks"]["PreToolUse"].as_array_mut().unwrap().insert(0, theirs.clone());
    settings["hooks"]["PostToolUse"][0]["hooks"].as_array_mut().unwrap().push(theirs["hooks"][0].clone());
    settings["hooks"]["SessionStart"][0]["hooks"][0]["timeout"] = json!(99);
    settings["model"] = json!("x");
    repo.write(SETTINGS, format!("{settings:#}\n"));
    repo.write(".claude/skills/workfile/notes.md", "mine");
    repo.write(".claude/commands/own.md", "mine");
    let report = remove(&repo);
    assert!(statuses(&report).contains(&(SETTINGS, "updated")));
    let mut group = settings["hooks"]["PostToolUse"][0].clone();
    group["hooks"].as_array_mut().unwrap().remove(0);
    assert_eq!(
        repo.json(SETTINGS),
        json!({ "hooks": { "PreToolUse": [theirs], "PostToolUse": [group] }, "model": "x" })
    );
    assert_eq!(repo.everything().len(), 3);
    assert!(repo.at(".claude/skills/workfile/notes.md").exists());
    assert!(!repo.at(".project").exists());
}

#[test]
fn an_edited_file_is_kept_and_named() {
    let repo = Repo::new().with(".claude/commands/context.md", "# Ours\n");
    repo.install();
    let claim = ".claude/commands/claim.md";
    let next = ".claude/commands/next.md";
    let edited = repo.text(claim).replace("Run", "Please run");
    repo.write(claim, &edited);
    repo.write(next, "# Our own\n");
    let report = remove(&repo);
    let entry = |path: &str| {
        let file = report.files.iter().find(|file| file.path == path).unwrap();
        (file.status.name(), file.reason.clone().unwrap_or_default())
    };
    assert_eq!(entry(claim), ("kept", "edited by hand".to_owned()));
    assert_eq!(entry(next), ("unmanaged", "no install wrote it".to_owned()));
    assert_eq!((repo.text(claim), repo.text(next)), (edited, "# Our own\n".to_owned()));
    assert_eq!(repo.text(".claude/commands/context.md"), "# Ours\n");
    assert_eq!(repo.everything().len(), 3);
    let (code, stdout, stderr) = repo.run(&["claude", "uninstall"]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(stdout.contains("\n  kept       .claude/commands/claim.md (edited by hand)\n"), "{stdout}");
}

#[test]
fn settings_that_cannot_be_read_keep_their_bytes_and_the_ledger_stays_with_them() {
    let broken = "{\n    \"hooks\": {},\n}\n";
    let repo = Repo::new();
    repo.install();
    repo.write(SETTINGS, broken);
    let ledger = repo.text(LEDGER);
    for json in [true, false] {
        let args: &[&str] = if json { &["claude", "uninstall", "--json"] } else { &["claude", "uninstall"] };
        let (code, stdout, _) = repo.run(args);
        assert_eq!(code, Some(3));
        assert!(stdout.contains(&format!("{SETTINGS}, line 3, column 1: ")), "{stdout}");
    }
    assert_eq!((repo.text(SETTINGS), repo.text(LEDGER)), (broken.to_owned(), ledger));
    assert_eq!(repo.everything().len(), 2);
    repo.write(SETTINGS, "{}\n");
    remove(&repo);
    assert_eq!(repo.everything().len(), 0, "an install made that file, and nothing is left in it");
}

#[test]
fn an_earlier_installation_goes_as_well() {
    let repo = earlier();
    let report = remove(&repo);
    let removed = [".claude/commands/context.md", LEDGER].map(|path| (path, "removed"));
    for entry in removed {
        assert!(statuses(&report).contains(&entry), "{:?}", statuses(&report));
    }
    // Its marker declares a digest that its text does not have.
    assert!(statuses(&report).contains(&(".claude/commands/claim.md", "kept")));
    let notification = json!([{ "hooks": [{ "type": "command", "command": "notify-send" }] }]);
    assert_eq!(repo.json(SETTINGS), json!({ "hooks": { "Notification": notification } }));
}

#[test]
fn a_ledger_that_lies_takes_nothing_that_is_not_ours() {
    let settings = "{\"hooks\": {\"Stop\": []}, \"a\": {}}";
    let lies = json!({
        "keys": { "hooks": ["hooks"] },
        "opened": { SETTINGS: { "keys": ["", "hooks", "hooks.Stop", "a"], "blanks": { "": "\"x\": 1" } } },
        "folders": ["../out", "src", ".project", ".claude"],
    });
    let repo = Repo::new().with(SETTINGS, settings).with(LEDGER, lies.to_string());
    std::fs::create_dir(repo.at("src")).unwrap();
    remove(&repo);
    assert_eq!(repo.text(SETTINGS), settings);
    assert!(repo.at("src").is_dir() && !repo.at(LEDGER).exists());
    let repo = Repo::new().with(LEDGER, "[]");
    let report = remove(&repo);
    assert_eq!(statuses(&report), [(LEDGER, "unmanaged")]);
    assert_eq!(repo.text(LEDGER), "[]");
}

#[cfg(unix)]
#[test]
fn nothing_is_removed_behind_a_link_that_leads_out() {
    use std::os::unix::fs::symlink;
    let outside = Repo::new();
    outside.install();
    let there = outside.everything();
    let repo = Repo::new();
    symlink(outside.at(".claude"), repo.at(".claude")).unwrap();
    let report = remove(&repo);
    assert!(report.refused().count() > 1);
    assert_eq!(outside.everything(), there);
    let (code, _, _) = repo.run(&["claude", "uninstall"]);
    assert_eq!(code, Some(3));
    // A link to a file of the repository's own is the repository's.
    let repo = Repo::new();
    repo.install();
    let next = repo.at(".claude/commands/next.md");
    std::fs::rename(&next, repo.at("next.md")).unwrap();
    symlink("../../next.md", &next).unwrap();
    let report = remove(&repo);
    let entry = report.files.iter().find(|file| file.path == ".claude/commands/next.md").unwrap();
    assert_eq!((entry.status.name(), entry.reason.as_deref()), ("kept", Some("it is a link")));
    assert!(repo.at("next.md").exists());
}

#[test]
fn the_command_says_what_it_did() {
    let repo = Repo::new();
    let (_, stdout, _) = repo.run(&["claude", "uninstall"]);
    assert_eq!(stdout, "Claude Code surface: nothing is installed here\n");
    repo.install();
    let (code, stdout, stderr) = repo.run(&["claude", "uninstall", "--dry-run", "--json"]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    let dry: Json = serde_json::from_str(&stdout).unwrap();
    assert_eq!(
        (&dry["dryRun"], &dry["changed"], &dry["module"]),
        (&json!(true), &json!(true), &json!("claude"))
    );
    assert!(repo.at(SETTINGS).exists());
    let (code, stdout, _) = repo.run(&["claude", "uninstall"]);
    assert_eq!(code, Some(0));
    assert!(
        stdout.starts_with("Claude Code surface: what an install wrote is gone\n  removed    .claude/"),
        "{stdout}"
    );
}
