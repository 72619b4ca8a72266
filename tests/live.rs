//! `claude check --live`: registered commands are fired, and what they do not answer does not look like an answer.

use crate::world::World;
use serde_json::{Value as Json, json};
use std::path::Path;

const SETTINGS: &str = ".claude/settings.json";

/// A workspace with everything installed, whose PATH has this program.
fn installed() -> World {
    let folder = Path::new(env!("CARGO_BIN_EXE_workfile")).parent().unwrap().to_str().unwrap().to_owned();
    let world = World::new();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap());
    let world = world.env("PATH", &path);
    world.run(["claude", "install"]).text();
    world
}

/// The exit number and what was fired.
fn live(world: &World) -> (Option<i32>, Json) {
    let before = crate::compare::tree(&world.root);
    let temporary = tempfile::tempdir().unwrap();
    let call = crate::process::call(["claude", "check", "--live", "--json"]);
    let ended = world.run(call.env("TMPDIR", temporary.path().to_str().unwrap())).ended;
    assert_eq!(
        std::fs::read_dir(temporary.path()).unwrap().count(),
        0,
        "nothing is left of the throwaway workspaces"
    );
    assert_eq!(crate::process::text(&ended.stderr), "");
    assert_eq!(crate::compare::tree(&world.root), before, "the repository is not touched");
    (ended.code, serde_json::from_slice::<Json>(&ended.stdout).unwrap()["live"].clone())
}

fn statuses(live: &Json) -> Vec<String> {
    let word = |fired: &Json, key: &str| fired[key].as_str().unwrap_or("-").to_owned();
    let one =
        |fired: &Json| format!("{} {} {}", word(fired, "event"), word(fired, "name"), word(fired, "status"));
    live["fired"].as_array().unwrap().iter().map(one).collect()
}

const ALL_OK: [&str; 6] = [
    "SessionStart startup ok",
    "PreToolUse Edit ok",
    "PreToolUse Edit ok",
    "PostToolUse Edit ok",
    "PostToolUse Bash ok",
    "PostToolUseFailure Bash ok",
];

#[test]
fn every_hook_that_an_install_registers_answers_as_it_must() {
    let world = installed();
    let (code, live) = live(&world);
    assert_eq!((code, statuses(&live)), (Some(0), ALL_OK.map(str::to_owned).to_vec()));
    assert_eq!(live["ok"], true);
    for fired in live["fired"].as_array().unwrap() {
        assert_eq!(
            (&fired["form"], &fired["command"], &fired["file"]),
            (&json!("exec"), &json!("workfile"), &json!(SETTINGS))
        );
        assert!(fired["ms"].as_f64().unwrap() > 0.0 && fired["reason"].is_null());
    }
    assert_eq!(live["lastSeen"], json!({ "sessionStart": null, "postToolUse": null }));
    let text = world.run(["claude", "check", "--live"]).text();
    assert_eq!(text.matches("\n  ok             ").count(), 6, "{text}");
    assert!(text.contains("\n  SessionStart   never, as far as is known here\n"), "{text}");
}

#[test]
fn the_shell_form_is_run_by_a_shell() {
    let world = installed();
    let text = world.read(SETTINGS);
    let mut settings: Json = serde_json::from_str(&text).unwrap();
    for (event, run) in
        [("SessionStart", "session-start"), ("PreToolUse", "pre-tool-use"), ("PostToolUse", "post-tool-use")]
    {
        let line = format!("workfile hook {run}");
        settings["hooks"][event][0]["hooks"][0] = json!({ "type": "command", "command": line });
    }
    world.write(SETTINGS, settings.to_string());
    let (code, live) = live(&world);
    assert_eq!(code, Some(1), "the file is not what an install writes");
    assert_eq!(statuses(&live), ALL_OK);
    assert_eq!(live["fired"][1]["form"], "shell");
    assert_eq!(live["fired"][5]["form"], "exec");
}

/// A vendored program that is this script.
fn scripted(script: &str) -> World {
    use std::os::unix::fs::PermissionsExt;
    let world = installed();
    world.write(".project/bin/workfile", script);
    let file = world.root.join(".project/bin/workfile");
    std::fs::set_permissions(file, PermissionsExt::from_mode(0o755)).unwrap();
    world.run(["claude", "install"]).ended.code.filter(|code| *code == 0).unwrap();
    world
}

#[test]
fn silence_where_an_answer_is_due_is_a_finding() {
    let world = scripted("#!/bin/sh\ncat > /dev/null\n");
    let (code, live) = live(&world);
    assert_eq!(code, Some(1));
    let silent = ["silent", "silent", "ok", "silent", "silent", "silent"];
    let got: Vec<&str> =
        live["fired"].as_array().unwrap().iter().map(|fired| fired["status"].as_str().unwrap()).collect();
    assert_eq!(got, silent, "only silence that is due passes");
    assert_eq!(live["fired"][3]["reason"], "it left no sign of life");
    let text = String::from_utf8(world.run(["claude", "check", "--live"]).ended.stdout).unwrap();
    assert_eq!(text.matches("\n  SILENT ").count(), 5, "{text}");
}

#[test]
fn wrong_answers_exits_and_endless_runs_have_their_own_words() {
    let status = |script: &str, timeout: Option<f64>| {
        let world = scripted(script);
        if let Some(seconds) = timeout {
            let mut settings: Json = serde_json::from_str(&world.read(SETTINGS)).unwrap();
            settings["hooks"]["SessionStart"][0]["hooks"][0]["timeout"] = json!(seconds);
            world.write(SETTINGS, settings.to_string());
        }
        let (code, live) = live(&world);
        assert_eq!(code, Some(1));
        (live["fired"][0]["status"].clone(), live["fired"][0]["reason"].as_str().unwrap().to_owned())
    };
    assert_eq!(
        status("#!/bin/sh\necho hello\n", None),
        (json!("wrong"), "its answer is not JSON".to_owned())
    );
    let other =
        r#"{"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "No cards."}}"#;
    let reason = "its answer does not name the card that is held".to_owned();
    assert_eq!(status(&format!("#!/bin/sh\necho '{other}'\n"), None), (json!("wrong"), reason));
    assert_eq!(status("#!/bin/sh\nexit 2\n", None), (json!("failed"), "it ended with exit 2".to_owned()));
    let (word, reason) = status("#!/nowhere/at/all\n", None);
    assert!(word == "failed" && reason.starts_with("it cannot be started: "), "{reason}");
    let endless = "#!/bin/sh\nif [ \"$2\" = session-start ]; then exec sleep 600; fi\n";
    assert_eq!(status(endless, Some(0.05)).0, "timed-out");
}

#[test]
fn what_a_client_would_not_start_is_not_registered() {
    let world = installed();
    let mut settings: Json = serde_json::from_str(&world.read(SETTINGS)).unwrap();
    settings["hooks"]["PreToolUse"][0]["matcher"] = json!("Write");
    settings["hooks"].as_object_mut().unwrap().shift_remove("SessionStart");
    world.write(SETTINGS, settings.to_string());
    let (code, found) = live(&world);
    assert_eq!(code, Some(1));
    let expected = ["not-registered", "not-registered", "not-registered", "ok", "ok", "ok"];
    let got: Vec<&str> =
        found["fired"].as_array().unwrap().iter().map(|fired| fired["status"].as_str().unwrap()).collect();
    assert_eq!(got, expected);
    world.write(".claude/settings.local.json", r#"{"disableAllHooks": true}"#);
    let (_, found) = live(&world);
    let reason = "`disableAllHooks` is true in .claude/settings.local.json";
    assert!(found["fired"].as_array().unwrap().iter().all(|fired| fired["reason"] == reason), "{found}");
    let off = installed().env("WORKFILE_HOOKS", "off");
    let (code, found) = live(&off);
    assert_eq!((code, &found["fired"][0]["status"]), (Some(1), &json!("silent")), "switched off is not fine");
}

#[test]
fn what_sessions_really_did_is_told_from_their_files() {
    let world = installed();
    let quiet = json!({ "recentToolUseIds": [] });
    let world = world.session("ann", 60_000, &quiet);
    assert_eq!(live(&world).1["lastSeen"], json!({ "sessionStart": null, "postToolUse": null }));
    let called = json!({ "recentToolUseIds": ["t1"], "lastSignalAt": "2026-03-04T05:06:07.089Z" });
    let world =
        world.session("ben", 60_000, &called).file(".project/.cache/activity/sessions/ben.start", "startup");
    let seen = live(&world).1["lastSeen"].clone();
    assert_eq!(seen["postToolUse"], "2026-03-04T05:06:07.089Z");
    assert!(workfile::clock::Time::parse(seen["sessionStart"].as_str().unwrap()).is_some());
}
