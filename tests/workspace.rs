//! The configuration as commands meet it: what loads, what is refused, with which exit number.

use serde_json::{Value as Json, json};
use std::path::Path;
use std::process::{Command, Output};

/// Runs the program in `dir` with an environment of its own.
pub(crate) fn workfile(dir: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_workfile"));
    command.args(args).current_dir(dir).env_clear().env("WORKFILE_CLOCK", "2026-03-04T05:06:07.089Z");
    command.stdin(std::process::Stdio::null()).output().unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

pub(crate) fn json(bytes: &[u8]) -> Json {
    serde_json::from_slice(bytes).unwrap_or_else(|error| panic!("{error}: {}", text(bytes)))
}

/// The failure of a command that must exit with `exit`, leave stdout empty and stderr JSON.
pub(crate) fn failure(output: &Output, exit: i32) -> Json {
    assert_eq!(output.status.code(), Some(exit), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), "");
    json(&output.stderr)["error"].clone()
}

fn repository(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    dir
}

#[test]
fn the_schema_is_printed_as_recorded() {
    let config = include_str!("golden/schema/project.config.mjs");
    let dir = repository(&[("project.config.mjs", config), ("deep/er/x", "")]);
    let wanted: Json = serde_json::from_str(include_str!("golden/schema/expected.json")).unwrap();
    for from in [dir.path().to_owned(), dir.path().join("deep/er")] {
        let output = workfile(&from, &["schema", "--json"]);
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
        assert_eq!(json(&output.stdout), wanted);
        assert!(text(&output.stdout).starts_with("{\n  \"schemaVersion\": 2,\n"));
        assert!(text(&output.stdout).ends_with("}\n"));
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2, "reading makes nothing");
}

#[test]
fn the_version_is_that_of_the_package_and_names_the_commit() {
    let dir = repository(&[]);
    let (version, commit) = (env!("CARGO_PKG_VERSION"), option_env!("WORKFILE_COMMIT").unwrap_or("unknown"));
    for words in [&["version"][..], &["--version"]] {
        let output = workfile(dir.path(), words);
        assert_eq!(text(&output.stdout), format!("workfile {version} (commit {commit})\n"));
    }
    let output = workfile(dir.path(), &["version", "--json"]);
    assert_eq!(json(&output.stdout), json!({"name": "workfile", "version": version, "commit": commit}));
}

#[test]
fn no_workspace_is_a_configuration_error_that_names_the_way_out() {
    let dir = repository(&[("outer/project.config.mjs", ""), ("outer/repo/.git", "")]);
    let here = dir.path().join("outer/repo");
    let error = failure(&workfile(&here, &["schema", "--json"]), 2);
    assert_eq!(error["code"], "WORKSPACE_NOT_FOUND");
    assert_eq!(error["details"]["cwd"], here.canonicalize().unwrap().to_str().unwrap());
    assert!(error["message"].as_str().unwrap().contains("`workfile init`"));
    let error = failure(&workfile(&here, &["schema", "--json", "--root", "."]), 2);
    assert_eq!(error["code"], "WORKSPACE_NOT_FOUND");
    assert!(error["details"]["root"].as_str().unwrap().ends_with("outer/repo"));
    let output = workfile(&here, &["schema", "--root", "..", "--verbose"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(
        text(&output.stderr).starts_with("workfile: workspace ") && text(&output.stderr).ends_with("outer\n")
    );
    assert_eq!(workfile(&here, &["schema", "--allow-new"]).status.code(), Some(0));
    assert_eq!(std::fs::read_dir(&here).unwrap().count(), 1);
}

#[cfg(target_os = "linux")]
#[test]
fn nobody_reading_stderr_is_no_failure() {
    let dir = repository(&[]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_workfile"));
    command.args(["schema", "--allow-new", "--verbose"]).current_dir(dir.path()).env_clear();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = command.stderr(full).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.is_empty()), (Some(0), false));
}

#[test]
fn a_configuration_that_does_not_load_says_all_that_is_wrong() {
    let config = "export default {
        cards: {
            areas: [\"core\", \"core\"],
            axes: { status: [\"a\"], Size: [] },
            verification: { commands: [[]], timeoutSeconds: 0, methods: { core: [\"forced\"] } },
            maxHierarchyDepth: 11
        }
    };";
    let dir = repository(&[("project.config.mjs", config)]);
    let error = failure(&workfile(dir.path(), &["schema", "--json"]), 2);
    assert_eq!(error["code"], "CONFIG_CARDS_AREA_DUPLICATE");
    let issues = error["details"]["issues"].as_array().unwrap();
    let issues: Vec<String> = issues
        .iter()
        .inspect(|issue| {
            assert_eq!((&issue["severity"], issue["message"].is_string()), (&json!("error"), true));
        })
        .map(|issue| format!("{} {}", issue["code"].as_str().unwrap(), issue["path"].as_str().unwrap()))
        .collect();
    assert_eq!(
        issues,
        [
            "CONFIG_CARDS_AREA_DUPLICATE cards.areas",
            "CONFIG_CARDS_AXIS_RESERVED cards.axes.status",
            "CONFIG_CARDS_AXIS_NAME_INVALID cards.axes.Size",
            "CONFIG_LIST_EMPTY cards.axes.Size",
            "CONFIG_CARDS_VERIFY_COMMAND_INVALID cards.verification.commands[0]",
            "CONFIG_CARDS_VERIFY_TIMEOUT_INVALID cards.verification.timeoutSeconds",
            "CONFIG_CARDS_VERIFICATION_METHOD_INVALID cards.verification.methods.core",
            "CONFIG_HIERARCHY_DEPTH_INVALID cards.maxHierarchyDepth",
        ]
    );
    let output = workfile(dir.path(), &["schema"]);
    assert!(
        text(&output.stderr).starts_with("CONFIG_CARDS_AREA_DUPLICATE: project.config.mjs: cards.areas ")
    );
}

#[test]
fn a_configuration_is_never_executed() {
    let config = "import { writeFileSync } from 'node:fs';\nwriteFileSync('pwned', '');\nexport default {};";
    let dir = repository(&[("project.config.mjs", config)]);
    let error = failure(&workfile(dir.path(), &["schema", "--json"]), 2);
    assert_eq!(error["code"], "CONFIG_SYNTAX_UNSUPPORTED");
    assert_eq!(
        error["details"],
        json!({"path": "project.config.mjs", "line": 2, "column": 1, "found": "writeFileSync"})
    );
    assert!(!dir.path().join("pwned").exists());
}

#[test]
fn another_schema_is_refused_with_both_numbers() {
    let dir = repository(&[("project.config.mjs", ""), (".project/VERSION", "{\"schemaVersion\":1}")]);
    let error = failure(&workfile(dir.path(), &["schema", "--json"]), 2);
    assert_eq!(error["code"], "CONFIG_SCHEMA_MISMATCH");
    assert_eq!(error["details"], json!({"configSchemaVersion": 2, "versionSchemaVersion": 1}));
}
