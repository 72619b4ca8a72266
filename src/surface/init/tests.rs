use super::*;
use crate::workspace::{Access, Missing, Start, Workspace};
use proptest::prelude::*;
use tempfile::TempDir;

/// A directory `demo` with these files; a name that ends in `/` is a folder.
fn repository(files: &[(&str, &str)]) -> (TempDir, PathBuf) {
    let keep = tempfile::tempdir().unwrap();
    let root = keep.path().join("demo");
    std::fs::create_dir(&root).unwrap();
    for (name, text) in files {
        let path = root.join(name);
        if name.ends_with('/') {
            std::fs::create_dir_all(path).unwrap();
        } else {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
    }
    (keep, root)
}

fn planned(root: &Path) -> Plan {
    plan(root, Wishes::default(), Existing::Keep).unwrap()
}

fn load(root: &Path) -> Workspace {
    Workspace::load(&Start::Exactly(root.to_owned()), Missing::Refuse, Access::Write).unwrap()
}

fn detected(files: &[(&str, &str)]) -> Values {
    let (_keep, root) = repository(files);
    planned(&root).values
}

#[test]
fn the_name_comes_from_a_manifest_and_else_from_the_folder() {
    for (files, wanted) in [
        (&[][..], "demo"),
        (&[("package.json", r#"{"name": "@scope/pkg"}"#), ("Cargo.toml", "[package]\nname = \"c\"")], "pkg"),
        (
            &[
                ("package.json", "{"),
                ("Cargo.toml", "[dependencies]\nname = \"d\"\n[package] # x\nname='c'\n"),
            ],
            "c",
        ),
        (&[("Cargo.toml", "[workspace]\nmembers = []\n[workspace.package]\nname = \"no\"")], "demo"),
        (&[("Cargo.toml", "[package]\nname.workspace = true")], "demo"),
        (&[("pyproject.toml", "[build-system]\n[project]\nversion = \"1\"\nname = \"py\"")], "py"),
        (&[("pyproject.toml", "[tool.poetry]\nname = \"poet\"")], "poet"),
        (&[("go.mod", "// m\nmodule example.org/x/gadget/v2 // c\n\ngo 1.22")], "gadget"),
        (&[("package.json", r#"{"name": " "}"#)], "demo"),
        (&[("package.json/", "")], "demo"),
    ] {
        assert_eq!(detected(files).name, wanted, "{files:?}");
    }
    let long = format!("{{\"name\": \"{}\"}}", "x".repeat(101));
    assert_eq!(detected(&[("package.json", &long)]).name, "demo");
}

#[test]
fn areas_are_the_parts_that_the_repository_does_not_ignore() {
    assert_eq!(detected(&[("lib/", ""), ("docs/", "")]).areas, ["general"]);
    let values = detected(&[
        (".gitignore", "packages/generated/\n/web\n"),
        ("packages/Core/", ""),
        ("packages/generated/", ""),
        ("packages/node_modules/", ""),
        ("packages/.hidden/", ""),
        ("packages/with space/", ""),
        ("packages/README.md", ""),
        ("crates/core/", ""),
        ("crates/cli/src/", ""),
        ("apps/site/", ""),
        ("web/", ""),
        ("api/", ""),
        ("vendor/", ""),
    ]);
    assert_eq!(values.areas, ["site", "core", "cli", "api"]);
    let many: Vec<String> = (10..99).map(|n| format!("packages/p{n}/")).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|name| (&**name, "")).collect();
    assert_eq!(detected(&many).areas.len(), 40);
}

#[test]
fn documents_are_looked_for_where_they_usually_are() {
    assert_eq!(detected(&[]).docs, ["README.md", "docs/**/*.md", ".project/specs/**/*.md"]);
    let values = detected(&[("README.md", ""), ("docs/index.html", ""), ("doc/a/b/c.md", "")]);
    assert_eq!(values.docs, ["README.md", "doc/**/*.md", ".project/specs/**/*.md"]);
    let values = detected(&[
        (".gitignore", "docs"),
        ("docs/a.md", ""),
        ("wiki/node_modules/a.md", ""),
        ("README.md", ""),
    ]);
    assert_eq!(values.docs, ["README.md", ".project/specs/**/*.md"]);
}

#[test]
fn agents_and_integration_follow_from_their_files() {
    let values = detected(&[]);
    assert_eq!((values.agents, values.ci), (vec!["agents-md".to_owned()], vec![]));
    let values = detected(&[
        (".claude/settings.json", ""),
        (".cursorrules", ""),
        (".github/copilot-instructions.md", ""),
        (".gitlab-ci.yml", ""),
        ("Jenkinsfile", ""),
    ]);
    assert_eq!(values.agents, ["claude", "cursor", "copilot"]);
    assert_eq!(values.ci, ["gitlab", "generic"]);
    let values = detected(&[("AGENTS.md", ""), ("CLAUDE.md", ""), (".github/workflows/x.yml", "")]);
    assert_eq!(
        (values.agents, values.ci),
        (vec!["agents-md".to_owned(), "claude".to_owned()], vec!["github".to_owned()])
    );
}

#[test]
fn a_plan_names_every_folder_and_file_and_writes_none() {
    let (_keep, root) = repository(&[(".project/cards/", ""), (".gitignore", "target")]);
    let plan = planned(&root);
    assert!(!root.join(MODULE_FILE).exists() && !root.join(".project/docs").exists());
    let folders: Vec<String> =
        plan.folders.iter().map(|(path, status)| format!("{} {path}", status.word())).collect();
    assert_eq!(
        folders,
        [
            "unchanged .project",
            "created .project/.cache",
            "created .project/agents",
            "created .project/agents/workflows",
            "created .project/assets",
            "unchanged .project/cards",
            "created .project/cards/archive",
            "created .project/changelog",
            "created .project/changelog/releases",
            "created .project/changelog/unreleased",
            "created .project/docs",
            "created .project/memory",
            "created .project/memory/context",
            "created .project/memory/conventions",
            "created .project/memory/decisions",
            "created .project/memory/incidents",
            "created .project/memory/learnings",
            "created .project/migrations",
            "created .project/specs",
        ]
    );
    let files: Vec<String> =
        plan.files.iter().map(|file| format!("{} {}", file.status.word(), file.path)).collect();
    assert_eq!(files, ["updated .gitignore", "created project.config.mjs", "created .project/VERSION"]);

    plan.apply().unwrap();
    for (folder, _) in &plan.folders {
        assert!(root.join(folder).is_dir(), "{folder}");
    }
    let instructions: Vec<&str> = plan.instructions.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(instructions[0], ".project/agents/protocol.md");
    assert_eq!((instructions.len(), instructions.last()), (6, Some(&"AGENTS.md")));
    for file in plan.all_files() {
        assert_eq!(std::fs::read(root.join(&file.path)).unwrap(), file.bytes, "{}", file.path);
    }
    let version = load(&root).version.unwrap();
    assert_eq!(version["createdWith"], format!("workfile@{}", env!("CARGO_PKG_VERSION")));
    assert!(clock::Time::parse(version["createdAt"].as_str().unwrap()).is_some());
    assert_eq!(version.as_object().unwrap().len(), 3);
}

#[test]
fn nothing_is_overwritten_unless_it_is_forced() {
    let config = "export default { name: 'mine' };";
    let version = "{\"schemaVersion\": 1, \"kept\": true}";
    let (_keep, root) =
        repository(&[(MODULE_FILE, config), (VERSION, version), (".gitignore", ".project/.cache")]);
    let failure = plan(&root, Wishes::default(), Existing::Keep).unwrap_err();
    assert_eq!((failure.code, failure.code.exit()), (Code::INIT_FILE_CONFLICT, 3));
    assert_eq!(failure.details["files"], json!([MODULE_FILE, VERSION]));
    let forced = plan(&root, Wishes::default(), Existing::Overwrite).unwrap();
    let statuses: Vec<&str> = forced.files.iter().map(|file| file.status.word()).collect();
    assert_eq!(statuses, ["unchanged", "updated", "updated"]);
    forced.apply().unwrap();
    let workspace = load(&root);
    assert_eq!(workspace.config.name, "demo");
    assert_eq!(workspace.version.unwrap()["kept"], true);
    assert_eq!(std::fs::read_to_string(root.join(".gitignore")).unwrap(), ".project/.cache");
}

#[test]
fn forcing_leaves_one_configuration() {
    let (_keep, root) = repository(&[(OBJECT_FILE, "{}")]);
    assert_eq!(
        plan(&root, Wishes::default(), Existing::Keep).unwrap_err().details["files"],
        json!([OBJECT_FILE])
    );
    plan(&root, Wishes::default(), Existing::Overwrite).unwrap().apply().unwrap();
    assert!(!root.join(MODULE_FILE).exists());
    assert_eq!(load(&root).config.name, "demo");
    std::fs::write(root.join(MODULE_FILE), "").unwrap();
    let failure = plan(&root, Wishes::default(), Existing::Overwrite).unwrap_err();
    assert_eq!(failure.code, Code::CONFIG_AMBIGUOUS);
}

#[test]
fn a_file_made_meanwhile_stays() {
    let (_keep, root) = repository(&[]);
    let plan = planned(&root);
    std::fs::write(root.join(MODULE_FILE), "theirs").unwrap();
    assert_eq!(plan.apply().unwrap_err().code, Code::INIT_FILE_CONFLICT);
    assert_eq!(std::fs::read_to_string(root.join(MODULE_FILE)).unwrap(), "theirs");
}

#[test]
fn what_stands_in_a_folders_place_is_named() {
    for (files, named) in [
        (&[(".project", "")][..], ".project"),
        (&[(".project/docs", "")], ".project/docs"),
        (&[(".project/VERSION/x", "")], ".project/VERSION"),
        (&[(".gitignore/x", "")], ".gitignore"),
    ] {
        let (_keep, root) = repository(files);
        let failure = plan(&root, Wishes::default(), Existing::Overwrite).unwrap_err();
        assert_eq!((failure.code, &failure.details["files"]), (Code::INIT_FILE_CONFLICT, &json!([named])));
    }
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link_that_leads_out() {
    use std::os::unix::fs::symlink;
    for link in [".project", ".project/memory", ".project/.cache"] {
        let (keep, root) = repository(&[]);
        let out = keep.path().join("out");
        std::fs::create_dir(&out).unwrap();
        std::fs::create_dir_all(root.join(link).parent().unwrap()).unwrap();
        symlink(&out, root.join(link)).unwrap();
        let failure = plan(&root, Wishes::default(), Existing::Overwrite).unwrap_err();
        assert_eq!(failure.code, Code::RECORD_PATH_ESCAPES_WORKSPACE, "{link}");
        assert_eq!(std::fs::read_dir(&out).unwrap().count(), 0);
    }
    let (_keep, root) = repository(&[("elsewhere/", "")]);
    symlink("elsewhere", root.join(".project")).unwrap();
    planned(&root).apply().unwrap();
    assert!(root.join("elsewhere/cards/archive").is_dir());
    let (keep, root) = repository(&[]);
    symlink(keep.path().join("shared"), root.join(GITIGNORE)).unwrap();
    let failure = plan(&root, Wishes::default(), Existing::Keep).unwrap_err();
    assert_eq!(failure.details["files"], json!([GITIGNORE]));
}

#[test]
fn the_cache_is_ignored_by_one_line_at_most() {
    let cache = ".project/.cache";
    for covered in [
        "target\n.project/.cache/\n",
        "/.project/.cache",
        ".cache/",
        ".project/\r\n",
        ".project/.cache/*",
        ".project/.cache/**",
        "**/.cache",
        "!.project/.cache\n.project/.cache",
        "*",
    ] {
        assert_eq!(render::gitignore(covered.as_bytes(), cache), None, "{covered:?}");
    }
    for (old, new) in [
        ("", ".project/.cache/\n"),
        ("target\n", "target\n.project/.cache/\n"),
        ("target", "target\n.project/.cache/\n"),
        ("a\r\nb", "a\r\nb\r\n.project/.cache/\r\n"),
        ("# .project/.cache/\n", "# .project/.cache/\n.project/.cache/\n"),
        (".project/.cache/*.json\n", ".project/.cache/*.json\n.project/.cache/\n"),
        (".project/.cache\n!.project/.cache\n", ".project/.cache\n!.project/.cache\n.project/.cache/\n"),
        ("[\n", "[\n.project/.cache/\n"),
    ] {
        let got = render::gitignore(old.as_bytes(), cache).unwrap();
        assert_eq!(String::from_utf8(got).unwrap(), new, "{old:?}");
    }
    assert_eq!(render::gitignore(b"\xff\n", cache).unwrap(), b"\xff\n.project/.cache/\n");
}

#[test]
fn the_module_is_pretty_and_has_the_keys_of_the_format_only() {
    let values = Values {
        name: "It's \"mine\"".into(),
        areas: (0..30).map(|n| format!("area-{n}")).collect(),
        docs: vec!["README.md".into()],
        agents: vec![],
        ci: vec!["github".into()],
    };
    let module = render::module(&values);
    let head = "// Read as data, never executed: values, constants and arithmetic over numbers.\n\
                export default {\n  schemaVersion: 2,\n  name: \"It's \\\"mine\\\"\",\n  cards: {\n";
    assert!(module.starts_with(head), "{module}");
    assert!(module.contains("    areas: [\n      \"area-0\",\n      \"area-1\",\n"), "{module}");
    assert!(module.contains("\n  agents: {\n    targets: [],\n  },\n"), "{module}");
    assert!(module.lines().all(|line| line.len() <= 100), "{module}");
    let object: Json = serde_json::from_str(&render::object(&values)).unwrap();
    let mut keys: Vec<String> = Vec::new();
    for (key, value) in object.as_object().unwrap() {
        match value.as_object() {
            Some(section) => keys.extend(section.keys().map(|below| format!("{key}.{below}"))),
            None => keys.push(key.clone()),
        }
    }
    assert_eq!(
        keys,
        [
            "schemaVersion",
            "name",
            "cards.areas",
            "docs.sources",
            "agents.targets",
            "ci.targets",
            "mcp.allowMutations"
        ]
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn both_forms_are_read_back_as_they_were_meant(
        name in "\\S.{0,20}",
        areas in prop::collection::hash_set("\\S.{0,12}", 1..5),
        docs in prop::collection::hash_set("\\S.{0,12}", 1..5),
    ) {
        let trimmed = |set: std::collections::HashSet<String>| {
            set.into_iter().filter(|item| !crate::path::trim(item).is_empty()).chain(["x".to_owned()]).collect::<BTreeSet<_>>()
        };
        let values = Values {
            name: format!("n{name}"),
            areas: trimmed(areas).into_iter().collect(),
            docs: trimmed(docs).into_iter().collect(),
            agents: vec!["claude".into()],
            ci: vec![],
        };
        let mut raw = Vec::new();
        for (file, text) in [(MODULE_FILE, render::module(&values)), (OBJECT_FILE, render::object(&values))] {
            let (_keep, root) = repository(&[(file, &text)]);
            let workspace = load(&root);
            prop_assert_eq!(&workspace.config.name, &values.name);
            prop_assert_eq!(&workspace.config.cards.areas, &values.areas);
            prop_assert_eq!(texts(&workspace.raw["docs"]["sources"]), values.docs.clone());
            raw.push(workspace.raw);
        }
        prop_assert_eq!(&raw[0], &raw[1]);
    }
}
