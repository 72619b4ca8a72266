use super::*;
use serde_json::json;
use std::fs;
use tempfile::TempDir;

/// A directory with these files.
fn directory(files: &[(&str, &str)]) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = root.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    root
}

fn load(root: &Path) -> Result<Workspace, Failure> {
    Workspace::load(&Start::Exactly(root.to_owned()), Missing::Refuse, Access::Write)
}

fn refused(files: &[(&str, &str)]) -> Failure {
    let root = directory(files);
    load(root.path()).unwrap_err()
}

#[test]
fn any_one_of_three_files_declares_a_workspace() {
    for (name, text) in [
        (MODULE_FILE, "export default {};"),
        (OBJECT_FILE, "\u{feff}{}"),
        (".project/VERSION", "{\"schemaVersion\": 2}"),
    ] {
        let root = directory(&[(name, text)]);
        let workspace = load(root.path()).unwrap();
        assert_eq!(workspace.config_path.is_some(), name != ".project/VERSION", "{name}");
        assert_eq!(workspace.version.is_some(), name == ".project/VERSION", "{name}");
        assert_eq!(workspace.paths.cards, root.path().join(".project/cards"));
        assert_eq!(workspace.paths.archive, root.path().join(".project/cards/archive"));
        assert_eq!(workspace.paths.locks, ".project/.cache/locks");
        assert_eq!(workspace.repo_path(&workspace.paths.assets), ".project/assets");
    }
}

#[test]
fn the_named_root_must_be_one_itself_and_nothing_is_made() {
    let root = directory(&[(MODULE_FILE, "")]);
    fs::create_dir(root.path().join("below")).unwrap();
    let below = root.path().join("below");
    let failure = load(&below).unwrap_err();
    assert_eq!(failure.code, Code::WORKSPACE_NOT_FOUND);
    assert_eq!(failure.details["root"], below.to_str().unwrap());
    let start = Start::Exactly(below.join("..").join("below"));
    let allowed = Workspace::load(&start, Missing::Allow, Access::Write).unwrap();
    assert_eq!(allowed.root, below);
    assert_eq!(fs::read_dir(&below).unwrap().count(), 0);
    for name in [MODULE_FILE, "nowhere"] {
        let start = Start::Exactly(root.path().join(name));
        let failure = Workspace::load(&start, Missing::Allow, Access::Write).unwrap_err();
        assert_eq!(failure.code, Code::WORKSPACE_NOT_FOUND, "{name}");
    }
}

#[test]
fn a_syntax_failure_says_file_line_and_column() {
    let failure = refused(&[(MODULE_FILE, "export default {\n  name: env.NAME,\n};\n")]);
    assert_eq!(failure.code, Code::CONFIG_SYNTAX_UNSUPPORTED);
    assert_eq!(
        Json::Object(failure.details.clone()),
        json!({"path": MODULE_FILE, "line": 2, "column": 9, "found": "env"})
    );
    assert!(failure.text.starts_with("project.config.mjs:2:9: "), "{}", failure.text);
    let failure = refused(&[(OBJECT_FILE, "{\n  \"name\": x\n}")]);
    assert_eq!((failure.code, &failure.details["line"]), (Code::CONFIG_SYNTAX_INVALID, &json!(2)));
    assert_eq!(failure.details["path"], OBJECT_FILE);
}

#[test]
fn the_json_form_is_strict_and_limited() {
    let nested = |levels: usize| format!("{}1{}", "{\"a\":".repeat(levels), "}".repeat(levels));
    for (text, code) in [
        ("[]".to_owned(), Code::CONFIG_SYNTAX_INVALID),
        (String::new(), Code::CONFIG_SYNTAX_INVALID),
        ("{\"a\": 1,}".to_owned(), Code::CONFIG_SYNTAX_INVALID),
        ("{\"a\": 1e999}".to_owned(), Code::CONFIG_SYNTAX_INVALID),
        ("{} // x".to_owned(), Code::CONFIG_SYNTAX_INVALID),
        (nested(65), Code::CONFIG_SYNTAX_UNSUPPORTED),
        (nested(100_000), Code::CONFIG_SYNTAX_INVALID),
        (" ".repeat((1 << 20) + 1), Code::CONFIG_SYNTAX_UNSUPPORTED),
    ] {
        assert_eq!(refused(&[(OBJECT_FILE, &text)]).code, code, "{}", text.get(..20).unwrap_or(&text));
    }
    let root = directory(&[(OBJECT_FILE, &nested(64))]);
    load(root.path()).unwrap();
}

#[test]
fn two_configurations_are_one_too_many() {
    let failure = refused(&[(MODULE_FILE, ""), (OBJECT_FILE, "{}")]);
    assert_eq!(failure.code, Code::CONFIG_AMBIGUOUS);
    assert_eq!(failure.code.exit(), 2);
}

#[test]
fn what_is_no_regular_file_of_text_is_refused() {
    let root = directory(&[]);
    fs::create_dir(root.path().join(MODULE_FILE)).unwrap();
    assert_eq!(load(root.path()).unwrap_err().code, Code::CONFIG_SYNTAX_UNSUPPORTED);
    let root = directory(&[]);
    fs::write(root.path().join(MODULE_FILE), b"export default {\n a: '\xff' }").unwrap();
    let failure = load(root.path()).unwrap_err();
    assert_eq!((failure.code, &failure.details["line"]), (Code::CONFIG_SYNTAX_INVALID, &json!(2)));
    let root = directory(&[]);
    fs::create_dir_all(root.path().join(".project/VERSION")).unwrap();
    assert_eq!(load(root.path()).unwrap_err().code, Code::WORKSPACE_VERSION_UNREADABLE);
}

#[cfg(unix)]
#[test]
fn links_to_regular_files_are_read_and_pipes_are_not_waited_for() {
    let root = directory(&[("elsewhere", "export default { name: 'linked' }")]);
    std::os::unix::fs::symlink("elsewhere", root.path().join(MODULE_FILE)).unwrap();
    assert_eq!(load(root.path()).unwrap().config.name, "linked");
    for (name, code) in [
        (OBJECT_FILE, Code::CONFIG_SYNTAX_UNSUPPORTED),
        (".project/VERSION", Code::WORKSPACE_VERSION_UNREADABLE),
    ] {
        let root = directory(&[(".project/x", "")]);
        let pipe = root.path().join(name);
        assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
        assert_eq!(load(root.path()).unwrap_err().code, code);
    }
}

#[test]
fn the_first_problem_names_the_failure_and_all_are_listed() {
    let failure = refused(&[(MODULE_FILE, "export default { docs: 1, cards: { areas: ['a', 'a'] } }")]);
    assert_eq!(failure.code, Code::CONFIG_CARDS_AREA_DUPLICATE);
    let issues = failure.details["issues"].as_array().unwrap();
    assert_eq!(issues[0]["path"], "cards.areas");
    assert_eq!(issues[1]["code"], "CONFIG_DOCS_REQUIRED");
    assert!(
        failure.text.starts_with(MODULE_FILE)
            && failure.text.ends_with(issues[0]["message"].as_str().unwrap())
    );
}

#[test]
fn no_configured_path_leaves_the_root() {
    for key in config::CONTAINED {
        for value in ["../out", "/etc", "a/../../out", "..", "..\\out", "C:/x", "C:x", "\\x", "a\u{0}b"] {
            let own = key.rsplit('.').fold(json!(value), |value, key| json!({ key: value }));
            let failure = refused(&[(OBJECT_FILE, &own.to_string())]);
            assert_eq!(failure.code, Code::CONFIG_PATH_OUTSIDE_WORKSPACE, "{key} {value}");
            assert_eq!((&failure.details["path"], &failure.details["value"]), (&json!(key), &json!(value)));
        }
    }
    let failure = refused(&[(OBJECT_FILE, "{\"storage\": {\"root\": 5}}")]);
    assert_eq!(failure.code, Code::CONFIG_PATH_OUTSIDE_WORKSPACE);
    let own =
        "{\"cards\": {\"path\": \"./a/./b/../c\", \"assetsPath\": \"..a\"}, \"storage\": {\"cache\": \"\"}}";
    let root = directory(&[(OBJECT_FILE, own)]);
    let paths = load(root.path()).unwrap().paths;
    assert_eq!(paths.cards, root.path().join("a/c"));
    assert_eq!(paths.assets, root.path().join("..a"));
    assert_eq!(paths.locks, "locks");
}

#[test]
fn the_version_file_has_the_configurations_schema() {
    for (text, written) in [
        ("{\"schemaVersion\": 1}", json!(1)),
        ("{\"schemaVersion\": 3}", json!(3)),
        ("{}", json!(null)),
        ("[2]", json!(null)),
        ("{\"schemaVersion\": \"two\"}", json!("two")),
    ] {
        let failure = refused(&[(".project/VERSION", text)]);
        assert_eq!(failure.code, Code::CONFIG_SCHEMA_MISMATCH, "{text}");
        assert_eq!(
            Json::Object(failure.details),
            json!({"configSchemaVersion": 2, "versionSchemaVersion": written})
        );
    }
    for text in ["", "2 2", "{"] {
        assert_eq!(refused(&[(".project/VERSION", text)]).code, Code::WORKSPACE_VERSION_UNREADABLE, "{text}");
    }
    let root = directory(&[
        (MODULE_FILE, "export default { storage: { root: 'w' } }"),
        ("w/VERSION", "{\"schemaVersion\": \"2\", \"more\": true}"),
        (".project/VERSION", "{\"schemaVersion\": 1}"),
    ]);
    assert_eq!(load(root.path()).unwrap().version.unwrap()["more"], true);
}

#[test]
fn a_workspace_opened_for_reading_refuses_to_write() {
    let root = directory(&[(MODULE_FILE, "")]);
    let start = Start::Exactly(root.path().to_owned());
    let workspace = Workspace::load(&start, Missing::Refuse, Access::ReadOnly).unwrap();
    assert_eq!(workspace.writable().unwrap_err().code, Code::WORKSPACE_READ_ONLY);
    assert!(load(root.path()).unwrap().writable().is_ok());
}
