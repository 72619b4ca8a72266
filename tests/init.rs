//! `workfile init`: what it finds, writes and refuses.

use crate::workspace::{failure, json, text, workfile};
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};

/// A folder `demo` that is a Git repository to whoever looks.
fn repository(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
    let keep = tempfile::tempdir().unwrap();
    let root = keep.path().canonicalize().unwrap().join("demo");
    for (name, content) in [(".git/HEAD", "ref: refs/heads/main\n")].iter().chain(files) {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    (keep, root)
}

/// Every path below `dir`, `.git` left out, with the content of files.
fn tree(dir: &Path) -> Vec<(String, Option<Vec<u8>>)> {
    fn add(dir: &Path, before: &str, out: &mut Vec<(String, Option<Vec<u8>>)>) {
        for entry in std::fs::read_dir(dir).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{before}{}", entry.file_name().to_str().unwrap());
            if name == ".git" {
                continue;
            }
            if entry.file_type().unwrap().is_dir() {
                add(&entry.path(), &format!("{name}/"), out);
                out.push((format!("{name}/"), None));
            } else {
                out.push((name, Some(std::fs::read(entry.path()).unwrap())));
            }
        }
    }
    let mut out = Vec::new();
    add(dir, "", &mut out);
    out.sort();
    out
}

#[test]
fn a_fresh_workspace_loads_and_says_how_to_go_on() {
    let (_keep, root) =
        repository(&[("package.json", r#"{"name": "@a/shop"}"#), ("apps/web/x", ""), ("README.md", "")]);
    let output = workfile(&root, &["init", "--yes", "--json"]);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
    let answer = json(&output.stdout);
    assert_eq!(
        answer["values"],
        json!({"name": "shop", "areas": ["web"], "docs": ["README.md", ".project/specs/**/*.md"], "agents": ["agents-md"], "ci": []})
    );
    assert_eq!((&answer["dryRun"], &answer["root"]), (&json!(false), &json!(root.to_str().unwrap())));
    assert!(answer.get("interactive").is_none());
    assert!(answer["next"][2] == "workfile claude install" && answer["next"].as_array().unwrap().len() == 3);
    let schema = json(&workfile(&root, &["schema", "--json"]).stdout);
    assert_eq!(schema["cards"]["areas"], json!(["web"]));
    let version = std::fs::read_to_string(root.join(".project/VERSION")).unwrap();
    assert_eq!(
        version,
        format!(
            "{{\n  \"schemaVersion\": 2,\n  \"createdWith\": \"workfile@{}\",\n  \"createdAt\": \"2026-03-04T05:06:07.089Z\"\n}}\n",
            env!("CARGO_PKG_VERSION")
        )
    );
    assert_eq!(std::fs::read_to_string(root.join(".gitignore")).unwrap(), ".project/.cache/\n");
    assert!(std::fs::read_to_string(root.join("AGENTS.md")).unwrap().contains("kind=adapter-agents-md"));
    assert_eq!(workfile(&root, &["agents", "check"]).status.code(), Some(0));
    // Everything that is there now was in the answer.
    let mut announced: Vec<String> = answer["directories"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| format!("{}/", entry["path"].as_str().unwrap()))
        .chain(
            answer["files"]
                .as_array()
                .unwrap()
                .iter()
                .map(|entry| entry["path"].as_str().unwrap().to_owned()),
        )
        .chain(["README.md", "apps/", "apps/web/", "apps/web/x", "package.json"].map(str::to_owned))
        .collect();
    announced.sort();
    assert_eq!(tree(&root).into_iter().map(|(path, _)| path).collect::<Vec<_>>(), announced);
}

#[test]
fn a_dry_run_prints_the_whole_plan_and_writes_nothing() {
    let (_keep, root) = repository(&[(".gitignore", "target\r\n")]);
    let before = tree(&root);
    let output = workfile(&root, &["init", "--dry-run", "--json"]);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
    let mut dry = json(&output.stdout);
    let output = workfile(&root, &["init", "--dry-run"]);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
    let shown = text(&output.stdout);
    assert!(
        shown.starts_with("would make a workspace in ")
            && shown.contains("\n  created    .project/memory/context/\n"),
        "{shown}"
    );
    assert!(shown.contains("\n  updated    .gitignore\n") && shown.contains("export default {\n"), "{shown}");
    assert_eq!(tree(&root), before);

    let wet = json(&workfile(&root, &["init", "--yes", "--json"]).stdout);
    for file in dry["files"].as_array_mut().unwrap() {
        let content = file.as_object_mut().unwrap().remove("content").unwrap();
        let path = root.join(file["path"].as_str().unwrap());
        assert_eq!(content, std::fs::read_to_string(path).unwrap().as_str());
    }
    for key in ["values", "directories", "files", "detected"] {
        assert_eq!(dry[key], wet[key], "{key}");
    }
    assert_eq!(std::fs::read(root.join(".gitignore")).unwrap(), b"target\r\n.project/.cache/\r\n");
}

#[test]
fn without_a_terminal_the_detected_values_are_used_and_named() {
    let (_keep, root) = repository(&[]);
    let output = workfile(&root, &["init", "--areas", "core, web"]);
    assert_eq!(output.status.code(), Some(0));
    let note = text(&output.stderr);
    assert!(
        note.contains("--yes") && note.contains("--name    demo\n") && !note.contains("--areas"),
        "{note}"
    );
    let answer = text(&output.stdout);
    assert!(
        answer.starts_with("made a workspace in ") && answer.contains("\n  areas      core, web\n"),
        "{answer}"
    );
    assert!(answer.contains("\n  created    19 folders for records\n"), "{answer}");
    assert!(answer.ends_with("\n  workfile claude install\n"), "{answer}");
    let (_keep, root) = repository(&[]);
    let answer = json(&workfile(&root, &["init", "--json"]).stdout);
    assert_eq!(answer["interactive"]["prompted"], false);
    assert_eq!(answer["interactive"]["silenceWith"], "--yes");
    assert!(answer["interactive"]["reason"].is_string());
    let (_keep, root) = repository(&[]);
    let output = workfile(
        &root,
        &["init", "--name", "N", "--areas=a", "--docs=d/*.md", "--agents=", "--ci", "github,generic"],
    );
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
    let schema = json(&workfile(&root, &["schema", "--json"]).stdout);
    assert_eq!(
        (&schema["agents"]["targets"], &schema["ci"]["targets"]),
        (&json!([]), &json!(["github", "generic"]))
    );
}

#[test]
fn values_that_would_not_load_are_refused_before_anything_is_written() {
    let (_keep, root) = repository(&[]);
    for (flag, value, allowed) in [
        ("--name", " \n", Json::Null),
        ("--areas", ",", Json::Null),
        ("--areas", "a,b,a", Json::Null),
        ("--docs", "", Json::Null),
        ("--agents", "agents-md,abacus", json!(["agents-md", "claude", "cursor", "copilot"])),
        ("--ci", "jenkins", json!(["github", "gitlab", "generic"])),
        ("--ci", "github,github", Json::Null),
    ] {
        let error = failure(&workfile(&root, &["init", "--yes", "--json", flag, value]), 1);
        assert_eq!(
            (&error["code"], &error["details"]["option"]),
            (&json!("CLI_OPTION_INVALID"), &json!(flag))
        );
        assert_eq!(error["details"].get("allowed").unwrap_or(&Json::Null), &allowed);
    }
    assert_eq!(tree(&root), []);
}

#[test]
fn instructions_of_somebody_else_gain_a_block_and_workflows_of_somebody_else_are_a_conflict() {
    let start = ".project/agents/workflows/start-work.md";
    let (_keep, root) = repository(&[("CLAUDE.md", "# Ours\n"), (start, "mine\n")]);
    let before = tree(&root);
    for mode in ["--yes", "--dry-run"] {
        let error = failure(&workfile(&root, &["init", mode, "--json"]), 3);
        assert_eq!(
            (&error["code"], &error["details"]),
            (&json!("INIT_FILE_CONFLICT"), &json!({ "files": [start] }))
        );
    }
    assert_eq!(tree(&root), before);
    let dry = json(&workfile(&root, &["init", "--dry-run", "--force", "--json"]).stdout);
    let wet = workfile(&root, &["init", "--yes", "--force", "--json"]);
    assert_eq!(wet.status.code(), Some(0), "{}", text(&wet.stderr));
    let claude = std::fs::read_to_string(root.join("CLAUDE.md")).unwrap();
    assert!(claude.starts_with("# Ours\n\n<!-- workfile:begin kind=adapter-claude"), "{claude}");
    let planned = dry["files"].as_array().unwrap().iter().find(|file| file["path"] == "CLAUDE.md").unwrap();
    assert_eq!((&planned["status"], &planned["content"]), (&json!("updated"), &json!(claude)));
}

#[cfg(unix)]
#[test]
fn two_names_of_one_file_hold_both_blocks() {
    let (_keep, root) = repository(&[("AGENTS.md", "# Ours\n")]);
    std::os::unix::fs::symlink("AGENTS.md", root.join("CLAUDE.md")).unwrap();
    let output = workfile(&root, &["init", "--yes"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let text = std::fs::read_to_string(root.join("AGENTS.md")).unwrap();
    assert!(text.contains("kind=adapter-agents-md") && text.contains("kind=adapter-claude"), "{text}");
    assert!(root.join("CLAUDE.md").is_symlink());
}

#[test]
fn what_is_there_stays_unless_it_is_forced() {
    let (_keep, root) =
        repository(&[("project.config.mjs", "export default { name: 'mine' };\n"), ("sub/x", "")]);
    let before = tree(&root);
    // From a folder of the workspace it is still the same workspace.
    for from in [root.clone(), root.join("sub")] {
        for mode in ["--yes", "--dry-run"] {
            let error = failure(&workfile(&from, &["init", mode, "--json"]), 3);
            assert_eq!(error["code"], "INIT_FILE_CONFLICT");
            assert_eq!(error["details"], json!({"files": ["project.config.mjs"]}));
        }
    }
    assert_eq!(tree(&root), before);
    let output = workfile(&root, &["init", "--yes", "--force", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let files = json(&output.stdout)["files"].clone();
    assert!(files.as_array().unwrap().contains(&json!({"path": "project.config.mjs", "status": "updated"})));
    assert!(std::fs::read_to_string(root.join("project.config.mjs")).unwrap().contains("name: \"demo\""));
}

#[test]
fn the_named_folder_is_used_as_it_is() {
    let (_keep, root) = repository(&[("project.config.mjs", ""), ("inner/x", "")]);
    let output = workfile(&root, &["init", "--root", "inner", "--yes", "--verbose"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(text(&output.stderr), format!("workfile: workspace {}\n", root.join("inner").display()));
    assert!(root.join("inner/project.config.mjs").is_file());
    let error = failure(&workfile(&root, &["init", "--root", "nowhere", "--yes", "--json"]), 2);
    assert_eq!(error["code"], "WORKSPACE_NOT_FOUND");
    assert!(!root.join("nowhere").exists());
}
