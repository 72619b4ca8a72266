//! The Claude Code surface: install, check and the plugin over whole repositories.

use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use workfile::surface::claude::{
    CheckReport, InstallReport, Reach, Surroundings, check, install, render_plugin,
};
use workfile::surface::managed::{Apply, Foreign};

pub(crate) const SETTINGS: &str = ".claude/settings.json";
pub(crate) const MCP: &str = ".mcp.json";
pub(crate) const LEDGER: &str = ".project/generated/claude-code.json";
pub(crate) const EVENTS: [&str; 4] = ["SessionStart", "PreToolUse", "PostToolUse", "PostToolUseFailure"];

/// A repository of its own.
pub(crate) struct Repo(pub(crate) tempfile::TempDir);

impl Repo {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn with(self, path: &str, text: impl AsRef<[u8]>) -> Self {
        self.write(path, text);
        self
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        std::fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        std::fs::write(self.at(path), text).unwrap();
    }

    pub(crate) fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.at(path)).unwrap()
    }

    pub(crate) fn json(&self, path: &str) -> Json {
        serde_json::from_str(&self.text(path)).unwrap()
    }

    pub(crate) fn install(&self) -> InstallReport {
        install(self.0.path(), Foreign::Refuse, Apply::Write)
    }

    pub(crate) fn check(&self) -> CheckReport {
        let running = std::env::current_exe().unwrap();
        check(self.0.path(), &Surroundings { path: None, running })
    }

    /// Every file with its bytes, and every link.
    pub(crate) fn everything(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        fn walk(folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_symlink() {
                    found.insert(path, b"a link".to_vec());
                } else if path.is_dir() {
                    walk(&path, found);
                } else {
                    found.insert(path.clone(), std::fs::read(path).unwrap());
                }
            }
        }
        let mut found = BTreeMap::new();
        walk(self.0.path(), &mut found);
        found
    }

    /// Runs the program here, with nothing of this machine but what is given.
    pub(crate) fn run(&self, args: &[&str]) -> (Option<i32>, String, String) {
        let root = self.0.path().to_str().unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_workfile"))
            .args(args)
            .args(["--allow-new", "--root", root])
            .env_clear()
            .current_dir(self.0.path())
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    }
}

fn statuses(report: &InstallReport) -> Vec<(&str, &str)> {
    report.files.iter().map(|file| (file.path.as_str(), file.status.name())).collect()
}

fn issue_codes(report: &CheckReport) -> Vec<&str> {
    report.issues.iter().map(|issue| issue.code).collect()
}

fn state(report: &CheckReport, path: &str) -> (String, Option<String>) {
    let file = report.files.iter().find(|file| file.path == path).unwrap();
    (file.status.name().to_owned(), file.reason.clone())
}

fn refused(report: &InstallReport) -> Vec<(&str, &str, &str)> {
    let entry = |path, code: Option<workfile::failure::Code>, status| {
        (path, code.map_or("", |code| code.name), status)
    };
    report.refused().map(|file| entry(file.path.as_str(), file.code, file.status.name())).collect()
}

#[test]
fn a_fresh_install_writes_what_works_and_nothing_else() {
    let repo = Repo::new();
    let dry = install(repo.0.path(), Foreign::Refuse, Apply::DryRun);
    assert!(repo.everything().is_empty());
    let report = repo.install();
    let created = [
        ".claude/commands/next.md",
        ".claude/commands/claim.md",
        ".claude/commands/done.md",
        ".claude/commands/card-context.md",
        ".claude/skills/workfile/SKILL.md",
        MCP,
        SETTINGS,
        LEDGER,
    ];
    assert_eq!(statuses(&report), created.map(|path| (path, "created")));
    assert_eq!(statuses(&dry), statuses(&report));
    assert_eq!(repo.everything().len(), created.len());
    assert_eq!(refused(&report), []);
    let settings = repo.json(SETTINGS);
    assert_eq!(settings["hooks"].as_object().unwrap().keys().collect::<Vec<_>>(), EVENTS);
    assert_eq!(
        settings["hooks"]["PostToolUseFailure"],
        json!([{ "matcher": "Bash|PowerShell", "hooks": [{
            "type": "command", "command": "workfile", "args": ["hook", "post-tool-use"], "async": true, "timeout": 30
        }]}])
    );
    assert!(
        repo.text(".claude/commands/next.md")
            .starts_with("---\n# workfile kind=claude-command-next version=")
    );
    let server = json!({ "command": "workfile", "args": ["mcp"] });
    assert_eq!(repo.json(MCP), json!({ "mcpServers": { "workfile": server } }));
    let ledger = repo.json(LEDGER);
    assert_eq!(ledger["keys"]["mcp"], json!(["mcpServers.workfile"]));
    assert_eq!(ledger["digests"]["mcpServers.workfile"], workfile::record::digest(server.to_string()));
    assert!(repo.check().ok());
}

#[test]
fn a_second_install_changes_no_byte() {
    let repo = Repo::new();
    repo.install();
    let before = repo.everything();
    let report = repo.install();
    assert!(!report.changed());
    assert!(!report.rewires());
    assert_eq!(repo.everything(), before);
}

#[test]
fn hooks_servers_and_keys_of_others_are_still_there_after_an_install() {
    let theirs =
        r#"{ "matcher":"X", "hooks":[ {"type":"command","command":"theirs.sh","timeout":1e1} ], "n":1.0 }"#;
    let events: Vec<String> = EVENTS.iter().map(|event| format!("      \"{event}\": [ {theirs} ]")).collect();
    let settings = format!(
        "{{\n   \"permissions\": {{ \"allow\": [\"Bash(ls)\"] }},\n   \"hooks\": {{\n{}\n   }},\n   \"big\": 123456789012345678901\n}}",
        events.join(",\n")
    );
    let mcp =
        "{\"a\": 1e3, \"mcpServers\":{\"other\":{\"command\":\"x\"},\"workfile\":{\"command\":\"npx\"}}}";
    let repo = Repo::new().with(SETTINGS, &settings).with(MCP, mcp);
    for _ in 0..2 {
        repo.install();
        let text = repo.text(SETTINGS);
        assert_eq!(text.matches(theirs).count(), EVENTS.len());
        assert!(text.starts_with("{\n   \"permissions\": { \"allow\": [\"Bash(ls)\"] },\n   \"hooks\": {\n"));
        assert!(text.ends_with("\n   },\n   \"big\": 123456789012345678901\n}\n"));
        for event in EVENTS {
            assert_eq!(repo.json(SETTINGS)["hooks"][event].as_array().unwrap().len(), 2);
        }
        assert!(
            repo.text(MCP)
                .starts_with("{\"a\": 1e3, \"mcpServers\":{\"other\":{\"command\":\"x\"},\"workfile\": {\n")
        );
        assert_eq!(
            repo.json(MCP)["mcpServers"]["workfile"],
            json!({ "command": "workfile", "args": ["mcp"] })
        );
        assert!(repo.check().ok());
    }
}

/// What an earlier implementation left in a repository.
pub(crate) fn earlier() -> Repo {
    let context = "<!-- workfile:begin kind=claude-command-context version=0.4.0 digest=sha256:4db7ba53833f4d5886cf8ddbc9173df7ab795773d719f5cafdf1e177616d7ee3 -->
---
description: \"Load the protocol context for a card\"
argument-hint: \"[T-0042]\"
allowed-tools: \"Bash(pnpm workfile agents context *)\"
---

!`pnpm workfile agents context --card $1 --limit 20`

The bundle above is the relevant slice of the workspace: the card,
its direct relations, active conventions, open incidents and
unexpired context. Read it before touching anything.
<!-- workfile:end -->
";
    let handler = |event: &str| {
        json!([{ "matcher": "*", "hooks": [{
            "type": "command",
            "command": format!("node node_modules/@illodev/workfile/dist/src/runtime/claude/hooks.mjs {event}")
        }]}])
    };
    let settings = json!({ "hooks": {
        "SessionStart": handler("session-start"),
        "PreToolUse": handler("pre-tool-use"),
        "PostToolUse": handler("post-tool-use"),
        "Stop": [{ "hooks": [{ "type": "command", "command": "workfile-hooks stop" }] }],
        "Notification": [{ "hooks": [{ "type": "command", "command": "notify-send" }] }],
    }});
    let ledger = json!({
        "keys": { "mcp": ["mcpServers.workfile"], "hooks": ["hooks"] },
        "digests": { "mcpServers.workfile": "sha256:00" },
        "version": "0.1.4",
    });
    let claim = "<!-- workfile:begin kind=claude-command-claim version=0.4.0 digest=sha256:00 -->\n---\ndescription: x\n---\n\nold\n<!-- workfile:end -->\n";
    Repo::new()
        .with(".claude/commands/context.md", context)
        .with(".claude/commands/claim.md", claim)
        .with(SETTINGS, format!("{settings:#}\n"))
        .with(".mcp.json", "{\"mcpServers\":{\"workfile\":{\"command\":\"npx\"}}}")
        .with(LEDGER, ledger.to_string())
}

#[test]
fn an_earlier_installation_is_taken_over() {
    let repo = earlier();
    let before = repo.check();
    assert_eq!(
        state(&before, ".claude/commands/context.md"),
        ("stale".to_owned(), Some("retired".to_owned()))
    );
    assert_eq!(state(&before, ".claude/commands/claim.md").1.as_deref(), Some("style"));
    assert_eq!(
        state(&before, SETTINGS).1.as_deref(),
        Some(
            "hooks.SessionStart, hooks.PreToolUse, hooks.PostToolUse, hooks.PostToolUseFailure, \
             hooks.Stop (no longer generated)"
        )
    );
    let report = repo.install();
    assert!(statuses(&report).contains(&(".claude/commands/context.md", "retired")));
    assert!(statuses(&report).contains(&(".claude/commands/claim.md", "updated")));
    assert!(!repo.at(".claude/commands/context.md").exists());
    assert!(repo.text(".claude/commands/claim.md").starts_with("---\n# workfile kind=claude-command-claim "));
    let settings = repo.text(SETTINGS);
    assert!(!settings.contains("hooks.mjs") && !settings.contains("workfile-hooks"), "{settings}");
    let hooks = repo.json(SETTINGS)["hooks"].clone();
    let events: Vec<&String> = hooks.as_object().unwrap().keys().collect();
    assert_eq!(events, ["SessionStart", "PreToolUse", "PostToolUse", "Notification", "PostToolUseFailure"]);
    assert_eq!(hooks["Notification"][0]["hooks"][0]["command"], "notify-send");
    let ledger = repo.json(LEDGER);
    assert_eq!(ledger["keys"]["mcp"], json!(["mcpServers.workfile"]));
    assert_eq!(repo.json(MCP)["mcpServers"]["workfile"]["args"], json!(["mcp"]));
    assert_eq!(ledger["keys"]["hooks"], json!(EVENTS.map(|event| format!("hooks.{event}"))));
    assert_eq!(
        ledger["digests"]["mcpServers.workfile"],
        workfile::record::digest("{\"command\":\"workfile\",\"args\":[\"mcp\"]}")
    );
    assert!(repo.check().ok());
    assert!(!repo.install().changed());
}

#[test]
fn a_context_command_that_somebody_edited_or_owns_stays() {
    let path = ".claude/commands/context.md";
    let generated = earlier().text(path);
    for edited in
        [generated.replace("Read it before", "Read it twice before"), generated.clone() + "\nMine.\n"]
    {
        let repo = Repo::new().with(path, &edited);
        let report = repo.install();
        let entry = report.files.iter().find(|file| file.path == path).unwrap();
        assert_eq!((entry.status.name(), entry.reason.as_deref()), ("kept", Some("edited by hand")));
        assert_eq!(repo.text(path), edited);
        assert!(repo.check().ok());
    }
    let repo = Repo::new().with(path, "# Our own context\n");
    assert!(!statuses(&repo.install()).iter().any(|(file, _)| *file == path));
    assert_eq!(repo.text(path), "# Our own context\n");
}

#[test]
fn settings_that_cannot_be_merged_keep_every_byte() {
    for (settings, place) in [
        (&b"{\n  \"a\": 1,\n}"[..], "line 3, column 1"),
        (b"{\n  // why\n}", "line 2, column 3"),
        (b"", "line 1, column 1"),
        (b"[]", "line 1, column 1"),
        (b"{\"hooks\": []}", "line 1, column 11"),
        (b"{\"hooks\": {\"PreToolUse\": {}}}", "line 1, column 26"),
        (b"{\"hooks\": {}, \"hooks\": {}}", "line 1, column 15"),
        (b"{\"a\": \"caf\xe9\"}", "line 1, column 11"),
    ] {
        let ledger = "{\"keys\":{\"hooks\":[\"hooks\"]},\"version\":\"0.1.4\"}";
        let repo = Repo::new().with(SETTINGS, settings).with(LEDGER, ledger);
        let report = repo.install();
        assert_eq!(refused(&report), [(SETTINGS, "CLAUDE_SETTINGS_CONFLICT", "conflict")]);
        let reason = report.refused().next().unwrap().reason.clone().unwrap();
        assert!(reason.starts_with(&format!("{SETTINGS}, {place}: ")), "{reason}");
        assert_eq!(std::fs::read(repo.at(SETTINGS)).unwrap(), settings);
        let kept = repo.json(LEDGER);
        assert_eq!(kept["keys"], json!({ "hooks": ["hooks"], "mcp": ["mcpServers.workfile"] }));
        assert_eq!(kept["opened"].as_object().unwrap().keys().collect::<Vec<_>>(), [MCP]);
        assert!(repo.at(".claude/commands/next.md").exists());
        assert_eq!(state(&repo.check(), SETTINGS).0, "unmanaged");
        assert!(!repo.check().ok());
    }
}

#[test]
fn files_of_others_are_overwritten_by_force_only() {
    let mine = "# Next\n\nOur own command.\n";
    let repo = Repo::new().with(".claude/commands/next.md", mine).with(LEDGER, "{\"keys\":");
    let report = repo.install();
    assert_eq!(
        refused(&report),
        [
            (".claude/commands/next.md", "GENERATED_FILE_UNMANAGED", "unmanaged"),
            (LEDGER, "GENERATED_FILE_UNMANAGED", "unmanaged")
        ]
    );
    assert_eq!(repo.text(".claude/commands/next.md"), mine);
    assert_eq!(repo.text(LEDGER), "{\"keys\":");
    assert!(repo.at(SETTINGS).exists());
    assert_eq!(issue_codes(&repo.check()), ["claude-surface-unmanaged", "claude-hook-unreachable"]);
    let (_, shown, _) = repo.run(&["claude", "check"]);
    assert!(shown.starts_with("Claude Code surface: 1 of 7 files is not current\n"), "{shown}");
    assert!(shown.contains("\nAn install leaves what is unmanaged as it is"), "{shown}");
    assert!(!shown.contains("brings the files up to date"), "{shown}");
    let forced = install(repo.0.path(), Foreign::Overwrite, Apply::Write);
    assert_eq!(refused(&forced), []);
    assert!(repo.check().ok());
    assert!(!repo.install().changed());
}

#[test]
fn a_hand_edited_block_is_overwritten_and_the_report_says_so() {
    let repo = Repo::new();
    repo.install();
    let path = ".claude/skills/workfile/SKILL.md";
    let text = repo.text(path);
    repo.write(path, text.replace("In flight", "Under way"));
    assert_eq!(state(&repo.check(), path), ("stale".to_owned(), Some("body".to_owned())));
    let report = repo.install();
    let entry = report
        .files
        .iter()
        .position(|file| file.path == path)
        .map(|at| report.to_json()["files"][at].clone())
        .unwrap();
    assert_eq!(entry, json!({ "path": path, "status": "updated", "handEdited": true }));
    assert_eq!(repo.text(path), text);
}

#[test]
fn the_skill_follows_the_protocol() {
    let repo = Repo::new();
    repo.install();
    repo.write(
        ".project/agents/protocol.md",
        "<!-- workfile:begin kind=canonical-agent-protocol version=1 digest=sha256:0 -->\n# Protocol\n<!-- workfile:end -->\n",
    );
    let path = ".claude/skills/workfile/SKILL.md";
    assert_eq!(state(&repo.check(), path).1.as_deref(), Some("body"));
    repo.install();
    assert!(repo.text(path).ends_with("\n---\n\n# Protocol\n"));
    assert!(repo.check().ok());
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link_that_leads_out() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().unwrap();
    for target in [outside.path().to_owned(), PathBuf::from("/nowhere/at/all"), PathBuf::from("..")] {
        let repo = Repo::new();
        symlink(&target, repo.at(".claude")).unwrap();
        let report = repo.install();
        assert_eq!(report.refused().count(), 6, "{:?}", statuses(&report));
        assert!(report.refused().all(|file| file.code.unwrap().name == "RECORD_PATH_ESCAPES_WORKSPACE"));
        let written: Vec<PathBuf> = repo.everything().into_keys().collect();
        assert_eq!(written, [".claude", MCP, LEDGER].map(|path| repo.at(path)));
        assert!(!repo.check().ok());
    }
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
    let repo = Repo::new();
    std::fs::write(outside.path().join("settings.json"), "{}").unwrap();
    std::fs::create_dir(repo.at(".claude")).unwrap();
    symlink(outside.path().join("settings.json"), repo.at(SETTINGS)).unwrap();
    assert_eq!(refused(&repo.install()), [(SETTINGS, "RECORD_PATH_ESCAPES_WORKSPACE", "conflict")]);
    assert_eq!(std::fs::read_to_string(outside.path().join("settings.json")).unwrap(), "{}");
    assert_eq!(repo.json(LEDGER)["keys"], json!({ "mcp": ["mcpServers.workfile"] }));
}

#[test]
fn drift_names_our_values_and_not_those_of_others() {
    let repo = Repo::new();
    repo.install();
    let installed = repo.json(SETTINGS);
    let mut settings = installed.clone();
    settings["hooks"]["PreToolUse"].as_array_mut().unwrap().insert(0, json!({ "hooks": [] }));
    settings["hooks"]["Stop"] = json!([{ "hooks": [{ "type": "command", "command": "theirs" }] }]);
    settings["model"] = json!("x");
    repo.write(SETTINGS, settings.to_string());
    assert!(repo.check().ok());
    settings["hooks"]["PreToolUse"][1]["hooks"][0]["args"] = json!(["hook", "pre-tool"]);
    repo.write(SETTINGS, settings.to_string());
    let report = repo.check();
    assert_eq!(state(&report, SETTINGS), ("stale".to_owned(), Some("hooks.PreToolUse".to_owned())));
    assert!(issue_codes(&report).contains(&"claude-surface-stale"));
    repo.install();
    assert_eq!(repo.json(SETTINGS)["hooks"]["PreToolUse"][1], installed["hooks"]["PreToolUse"][0]);
    std::fs::remove_file(repo.at(SETTINGS)).unwrap();
    assert_eq!(state(&repo.check(), SETTINGS), ("missing".to_owned(), None));
}

#[test]
fn the_hooks_follow_a_vendored_binary_and_back() {
    let repo = Repo::new();
    repo.install();
    let plain = repo.text(SETTINGS);
    let binary = repo.at(".project/bin/workfile");
    repo.write(".project/bin/workfile", "");
    std::fs::remove_file(&binary).unwrap();
    std::fs::copy(std::env::current_exe().unwrap(), &binary).unwrap();
    assert_eq!(state(&repo.check(), SETTINGS).1.unwrap().matches("hooks.").count(), EVENTS.len());
    assert!(repo.install().rewires());
    let command = "${CLAUDE_PROJECT_DIR}/.project/bin/workfile";
    for event in EVENTS {
        assert_eq!(repo.json(SETTINGS)["hooks"][event][0]["hooks"][0]["command"], command);
    }
    let server = &repo.json(MCP)["mcpServers"]["workfile"];
    assert_eq!(server["command"], "${CLAUDE_PROJECT_DIR:-.}/.project/bin/workfile");
    let report = repo.check();
    assert!(report.ok());
    assert_eq!(report.runtime.reach, Reach::Current);
    let runtime = report.to_json()["runtime"].clone();
    assert_eq!((&runtime["form"], &runtime["command"]), (&json!("vendored"), &json!(command)));
    assert_eq!(runtime["version"], env!("CARGO_PKG_VERSION"));
    std::fs::remove_file(&binary).unwrap();
    assert_eq!(state(&repo.check(), MCP), ("stale".to_owned(), Some("mcpServers.workfile".to_owned())));
    repo.install();
    assert_eq!(repo.text(SETTINGS), plain);
    assert_eq!(repo.json(MCP)["mcpServers"]["workfile"]["command"], "workfile");
}

#[test]
fn an_unreachable_binary_is_a_warning_and_no_fault_of_a_file() {
    let repo = Repo::new();
    repo.install();
    let report = repo.check();
    assert!(report.ok());
    assert_eq!(report.runtime.reach, Reach::Unreachable);
    assert_eq!(issue_codes(&report), ["claude-hook-unreachable"]);
    let json = report.to_json();
    assert_eq!(json["module"], "claude");
    assert_eq!(json["counts"], json!({ "current": 7, "stale": 0, "missing": 0, "unmanaged": 0 }));
    assert_eq!(json["runtime"]["status"], "unreachable");
    assert_eq!(json["runtime"]["resolved"], Json::Null);
    let file = json["files"][0].as_object().unwrap();
    assert_eq!(
        file.keys().collect::<Vec<_>>(),
        ["path", "status", "current", "declared", "expected", "version"]
    );
    assert_eq!(json["issues"][0]["severity"], "warning");
}

#[test]
fn a_repository_that_uses_the_plugin_is_not_told_to_install() {
    let repo = Repo::new();
    repo.write(SETTINGS, r#"{"enabledPlugins":{"workfile@illodev":true}}"#);
    let (_, shown, _) = repo.run(&["claude", "check"]);
    assert!(
        shown.contains("The plugin brings all of it along;") && !shown.contains("claude install"),
        "{shown}"
    );
    repo.install();
    std::fs::remove_file(repo.at(".claude/commands/next.md")).unwrap();
    let (_, shown, _) = repo.run(&["claude", "check"]);
    assert!(shown.contains("`workfile claude uninstall` leaves the plugin's"), "{shown}");
    assert!(shown.contains("`workfile claude install` brings"), "{shown}");
}

#[test]
fn switches_in_the_settings_are_reported() {
    let codes = |repo: &Repo| {
        let report = repo.check();
        let codes = issue_codes(&report).into_iter().filter(|code| *code != "claude-hook-unreachable");
        (codes.map(str::to_owned).collect::<Vec<_>>(), report.runtime.form.name())
    };
    let missing = vec!["claude-surface-missing".to_owned(); 7];
    let plugin = r#"{"enabledPlugins":{"workfile@illodev":true}}"#;
    let repo = Repo::new();
    assert_eq!(codes(&repo), (missing, "path"));
    repo.install();
    assert_eq!(codes(&repo), (vec![], "path"));
    repo.write(".claude/settings.local.json", plugin);
    assert_eq!(codes(&repo), (vec!["claude-hook-duplicate".to_owned()], "path"));
    std::fs::remove_file(repo.at(SETTINGS)).unwrap();
    assert_eq!(codes(&repo), (vec!["claude-surface-missing".to_owned()], "plugin"));
    repo.write(".claude/settings.local.json", r#"{"disableAllHooks":true}"#);
    repo.install();
    assert_eq!(codes(&repo), (vec!["claude-hooks-disabled".to_owned()], "path"));
    repo.write(".claude/settings.local.json", "not json");
    assert_eq!(codes(&repo), (vec![], "path"));
}

#[cfg(unix)]
#[test]
fn a_linked_cache_is_reported() {
    let repo = Repo::new();
    repo.install();
    std::fs::create_dir_all(repo.at(".project/.cache/activity")).unwrap();
    assert_eq!(issue_codes(&repo.check()), ["claude-hook-unreachable"]);
    std::os::unix::fs::symlink("/nowhere", repo.at(".project/.cache/activity/sessions")).unwrap();
    assert_eq!(issue_codes(&repo.check()), ["claude-hook-unreachable", "claude-cache-linked"]);
}

#[test]
fn the_commands_print_their_reports_and_exit_by_them() {
    let repo = Repo::new();
    let (code, stdout, _) = repo.run(&["claude", "check"]);
    assert_eq!(code, Some(1));
    assert!(stdout.starts_with(
        "Claude Code surface: 7 of 7 files are not current\n  missing    .claude/commands/next.md\n"
    ));
    for check in [&["claude", "check", "--json"][..], &["claude", "--json"]] {
        let (code, stdout, stderr) = repo.run(check);
        assert_eq!((code, stderr.as_str()), (Some(1), ""));
        assert_eq!(serde_json::from_str::<Json>(&stdout).unwrap()["ok"], false);
    }
    let (code, stdout, stderr) = repo.run(&["claude", "install"]);
    assert_eq!(code, Some(0));
    assert!(stdout.starts_with(
        "Claude Code surface: the hooks run `workfile`\n  created    .claude/commands/next.md\n"
    ));
    assert!(stdout.ends_with("`workfile claude check` says whether they are current and can be started.\n"));
    assert!(stderr.contains("cannot be started from here"), "{stderr}");
    let before = repo.everything();
    let (code, stdout, _) = repo.run(&["claude", "sync", "--json"]);
    assert_eq!(code, Some(0));
    assert_eq!(serde_json::from_str::<Json>(&stdout).unwrap()["changed"], false);
    assert_eq!(repo.everything(), before);
    let (code, stdout, stderr) = repo.run(&["claude"]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(stdout.contains("\n  unreachable workfile\nwarning: "), "{stdout}");
    repo.write(SETTINGS, "{,}");
    for flags in [&["--json"][..], &[]] {
        let (code, stdout, _) = repo.run(&[&["claude", "install"], flags].concat());
        assert_eq!(code, Some(3));
        assert!(stdout.contains("line 1, column 2"), "{stdout}");
    }
    assert_eq!(repo.text(SETTINGS), "{,}");
}

fn tree(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

#[test]
fn the_plugin_in_the_tree_is_what_is_rendered() {
    let files = render_plugin();
    for file in &files {
        let found = std::fs::read_to_string(tree(&file.path)).unwrap_or_default();
        assert_eq!(found, file.text, "{} differs; `workfile dev plugin` writes it", file.path);
    }
    let mut found = 0;
    let mut folders = vec![tree("hooks"), tree(".claude-plugin")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { found += 1 }
        }
    }
    assert_eq!(found, files.len(), "a file in the plugin is not rendered");
}

#[test]
fn the_plugin_agrees_with_an_install() {
    let file = |path: &str| {
        let files = render_plugin();
        files.into_iter().find(|file| file.path == path).unwrap_or_else(|| panic!("{path}")).text
    };
    let json = |path: &str| serde_json::from_str::<Json>(&file(path)).unwrap();
    let marketplace = json(".claude-plugin/marketplace.json");
    let manifest = json("hooks/.claude-plugin/plugin.json");
    assert_eq!(marketplace["name"], "illodev");
    assert_eq!(marketplace["plugins"][0]["source"], "./hooks");
    assert_eq!(marketplace["plugins"][0]["name"], manifest["name"]);
    assert_eq!(marketplace["plugins"][0]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    assert!(tree("hooks").join(manifest["hooks"].as_str().unwrap()).is_file());
    let server = json!({ "command": "${CLAUDE_PLUGIN_ROOT}/bin/workfile", "args": ["mcp", "--root", "${CLAUDE_PROJECT_DIR}"] });
    assert_eq!(json("hooks/.mcp.json"), json!({ "mcpServers": { "workfile": server } }));
    let repo = Repo::new();
    repo.install();
    let installed = repo.text(SETTINGS);
    let wired =
        serde_json::to_string_pretty(&json!({ "hooks": json("hooks/hooks.json")["hooks"] })).unwrap() + "\n";
    assert_eq!(wired.matches("\"command\": \"${CLAUDE_PLUGIN_ROOT}/bin/workfile\"").count(), EVENTS.len());
    assert_eq!(wired.replace("${CLAUDE_PLUGIN_ROOT}/bin/workfile", "workfile"), installed);
    for text in [
        "commands/next.md",
        "commands/claim.md",
        "commands/done.md",
        "commands/card-context.md",
        "skills/workfile/SKILL.md",
    ] {
        let installed = repo.text(&format!(".claude/{text}"));
        let unmarked: Vec<&str> =
            installed.lines().filter(|line| !line.starts_with("# workfile kind=")).collect();
        assert_eq!(unmarked.len() + 1, installed.lines().count());
        assert_eq!(file(&format!("hooks/{text}")), unmarked.join("\n") + "\n");
    }
}
