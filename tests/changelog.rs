//! `workfile changelog …` end to end: what it prints, who gets in whose way, and what a stranger's files can do.

use crate::compare::tree;
use crate::process::{Call, call, text};
use crate::world::World;
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;

const UNRELEASED: &str = ".project/changelog/unreleased";
const RELEASES: &str = ".project/changelog/releases";

fn world() -> World {
    World::new().clock("2026-03-01T12:00:00.000Z")
}

/// A valid fragment.
fn fragment(id: &str, title: &str) -> String {
    format!(
        "---\nid: {id}\ntitle: {title}\ntype: fixed\narea: general\nvisibility: public\ncreated: 2026-01-01\n\
        updated: 2026-01-02\n---\n"
    )
}

fn with_fragment(world: World, id: &str) -> World {
    world.file(&format!("{UNRELEASED}/{id}-x.md"), fragment(id, id))
}

fn patch(id: &str, changes: &Json) -> Call {
    call(["changelog", "patch", id, "--json-input", "-", "--json"]).stdin(changes.to_string())
}

/// The paths of all files whose name begins with an id.
fn places(world: &World, id: &str) -> Vec<String> {
    let named = |path: &String| path.rsplit('/').next().unwrap().starts_with(id);
    tree(&world.root.join(".project")).into_keys().filter(named).collect()
}

#[test]
fn both_spellings_of_the_commands_are_one() {
    let world = world();
    world.run(["history", "create", "--title", "One"]).success("CHG-0001 CHG-0001-one.md\n");
    world.run(["changelog", "add", "--title", " Two "]).success("CHG-0002 CHG-0002-two.md\n");
    world
        .run(["history", "list"])
        .success("CHG-0001\tunreleased\tchanged\tpublic\tOne\nCHG-0002\tunreleased\tchanged\tpublic\tTwo\n");
    assert!(world.run(["history", "--help"]).text().contains("changelog add"));
}

#[test]
fn flags_override_the_input_and_the_input_is_checked() {
    let world = world();
    let add = |input: &Json, words: &[&str]| {
        world.run(
            call(["changelog", "add", "--json-input", "-", "--json"]).words(words).stdin(input.to_string()),
        )
    };
    let made = add(
        &json!({"title": "In", "tags": "a, b", "type": "added"}),
        &["--title", "Flag", "--cards", "T-1,,T-2 "],
    );
    let made = made.json();
    assert_eq!(
        (&made["title"], &made["type"], &made["tags"]),
        (&json!("Flag"), &json!("added"), &json!(["a, b"]))
    );
    assert_eq!(made["cards"], json!(["T-1", "T-2"]));
    for (input, words, code) in [
        (json!({"titel": "x"}), &[][..], "CHANGE_FIELD_UNKNOWN"),
        (json!({"id": "CHG-0009", "title": "x"}), &[], "CHANGE_FIELD_UNKNOWN"),
        (json!({"title": "  "}), &[], "CHANGE_TITLE_REQUIRED"),
        (json!({"title": 3}), &[], "CHANGE_FIELD_INVALID"),
        (json!({"title": "a\nb"}), &[], "CHANGE_FIELD_INVALID"),
        (json!({"title": "x"}), &["--type", "weird"], "CHANGE_TYPE_INVALID"),
        (json!({"title": "x"}), &["--visibility", "secret"], "CHANGE_VISIBILITY_INVALID"),
        (json!({"title": "x"}), &["--area", "nowhere"], "CHANGE_AREA_INVALID"),
        (json!(["title"]), &[], "CLI_INPUT_INVALID"),
    ] {
        add(&input, words).fails(1, code);
    }
    let allowed =
        add(&json!({"title": "x", "visibility": "secret"}), &[]).fails(1, "CHANGE_VISIBILITY_INVALID");
    assert_eq!(allowed["details"]["allowed"], json!(["public", "internal"]));
    let unknown = add(&json!({"title": "x", "b": 1, "a": 1}), &[]).fails(1, "CHANGE_FIELD_UNKNOWN");
    assert_eq!(unknown["details"]["fields"], json!(["b", "a"]));
    assert_eq!(places(&world, "CHG-").len(), 1, "what is refused leaves nothing behind");
}

#[test]
fn an_id_is_never_given_out_again() {
    let world = with_fragment(world(), "CHG-0041");
    world.run(["changelog", "release", "1.0.0"]).success("REL-0001 released 1.0.0 (1 fragments)\n");
    world.run(["changelog", "add", "--title", "x"]).success("CHG-0042 CHG-0042-x.md\n");
    world.run(["changelog", "release", "1.0.1", "--json"]).json();
    std::fs::remove_dir_all(world.root.join(RELEASES).join("1-0-0")).unwrap();
    world.run(["changelog", "add", "--title", "y"]).success("CHG-0043 CHG-0043-y.md\n");
    assert_eq!(world.run(["changelog", "release", "1.0.2", "--json"]).json()["id"], "REL-0003");
}

#[test]
fn a_change_of_nothing_writes_nothing_and_a_stale_one_is_told() {
    let crlf = fragment("CHG-0001", "Ä").replace('\n', "\r\n") + "\r\nText.\r\n";
    let path = format!("{UNRELEASED}/deep/er/CHG-0001-x.md");
    let world = world().file(&path, &crlf);
    let same = world.run(patch("CHG-0001", &json!({"title": "Ä", "tags": [], "body": "Text."}))).json();
    assert_eq!(world.read(&path), crlf);
    let revision = same["revision"].as_str().unwrap();
    let stale = ["--expected-revision", "sha256:0"];
    let refused =
        world.run(patch("CHG-0001", &json!({"title": "x"})).words(&stale)).fails(3, "CHANGE_WRITE_CONFLICT");
    assert_eq!(refused["details"]["current"]["title"], "Ä");
    assert_eq!(refused["details"]["actualRevision"], revision);
    let changes = json!({"title": " É ", "body": "a\nb", "cards": "T-0001"});
    world.run(patch("CHG-0001", &changes).words(&["--expected-revision", revision])).json();
    assert_eq!(
        world.read(&path),
        fragment("CHG-0001", "É")
            .replace("2026-01-02\n---\n", "2026-03-01\ncards: [T-0001]\n---\n\na\nb\n")
            .replace('\n', "\r\n")
    );
}

#[test]
fn what_cannot_be_patched_says_why() {
    let world = with_fragment(with_fragment(world(), "CHG-0001"), "CHG-0002");
    world.run(["changelog", "release", "1.0.0", "--fragments", "CHG-0001", "--json"]).json();
    let world = world.file(&format!("{UNRELEASED}/again/CHG-0002-y.md"), fragment("CHG-0002", "y"));
    let title = json!({"title": "x"});
    for (id, changes, exit, code) in [
        ("REL-0001", &title, 1, "CHANGE_RECORD_NOT_A_FRAGMENT"),
        ("1.0.0", &title, 1, "CHANGE_RECORD_NOT_A_FRAGMENT"),
        ("CHG-0001", &title, 1, "CHANGE_FRAGMENT_RELEASED"),
        ("CHG-0404", &title, 1, "CHANGE_FRAGMENT_NOT_FOUND"),
        ("release", &title, 1, "CHANGE_FRAGMENT_NOT_FOUND"),
        ("../../x", &title, 1, "CHANGE_FRAGMENT_NOT_FOUND"),
        ("CHG-0002", &title, 3, "CHANGE_ID_AMBIGUOUS"),
    ] {
        world.run(patch(id, changes)).fails(exit, code);
    }
    std::fs::remove_dir_all(world.root.join(UNRELEASED).join("again")).unwrap();
    for (changes, code) in [
        (json!({}), "CHANGE_CHANGES_EMPTY"),
        (json!({"id": "CHG-0009"}), "CHANGE_FIELD_NOT_PATCHABLE"),
        (json!({"created": "2020-01-01"}), "CHANGE_FIELD_NOT_PATCHABLE"),
        (json!({"title": " "}), "CHANGE_TITLE_REQUIRED"),
        (json!({"type": null}), "CHANGE_REQUIRED_FIELDS_MISSING"),
        (json!({"area": "nowhere"}), "CHANGE_AREA_INVALID"),
    ] {
        world.run(patch("CHG-0002", &changes)).fails(1, code);
    }
    world.run(["changelog", "patch", "CHG-0002", "--json"]).fails(1, "CLI_ARGUMENT_REQUIRED");
    assert_eq!(world.read(&format!("{UNRELEASED}/CHG-0002-x.md")), fragment("CHG-0002", "CHG-0002"));
    let world = world.file(&format!("{UNRELEASED}/release.md"), fragment("release", "y"));
    world.run(patch("release", &title)).fails(1, "CHANGE_ID_INVALID");
    let odd = fragment("CHG-0003", "y").replace("created: 2026-01-01", "created: 2099-01-01");
    let world = world.file(&format!("{UNRELEASED}/CHG-0003.md"), odd);
    world.run(patch("CHG-0003", &title)).fails(1, "CHANGE_DATE_RANGE_INVALID");
    let odd = fragment("CHG-0003", "y").replace("created: 2026-01-01", "created: 2026-13-99");
    let world = world.file(&format!("{UNRELEASED}/CHG-0003.md"), odd);
    world.run(patch("CHG-0003", &title)).fails(1, "CHANGE_DATE_INVALID");
}

#[test]
fn only_the_newest_release_is_amended_and_only_in_what_may_change() {
    let world = with_fragment(world(), "CHG-0001");
    world.run(["changelog", "release", "2.0.0", "--date", "2026-02-02", "--tags", "a,b", "--json"]).json();
    let world = with_fragment(world, "CHG-0002");
    world.run(["changelog", "release", "1.9.9", "--date", "2026-01-01", "--json"]).json();
    let amend = |target: &str, words: &[&str], input: &Json| {
        let call = call(["changelog", "release", target, "--amend", "--json", "--json-input", "-"]);
        world.run(call.words(words).stdin(input.to_string()))
    };
    for (target, words, input, exit, code) in [
        ("3.0.0", &["--title", "x"][..], json!({}), 1, "RELEASE_NOT_FOUND"),
        ("2.0.0", &["--title", "x"], json!({}), 1, "RELEASE_NOT_AMENDABLE"),
        ("REL-0001", &[], json!({"version": "x"}), 1, "RELEASE_NOT_AMENDABLE"),
        ("1.9.9", &["--expected-revision", "sha256:0"], json!({"version": "x"}), 3, "RELEASE_WRITE_CONFLICT"),
        ("1.9.9", &["--fragments", "CHG-0001"], json!({}), 1, "RELEASE_FIELD_NOT_AMENDABLE"),
        ("1.9.9", &[], json!({"fragments": null}), 1, "RELEASE_FIELD_NOT_AMENDABLE"),
        ("1.9.9", &["--title", ""], json!({"date": null, "body": ""}), 1, "RELEASE_AMEND_EMPTY"),
        ("1.9.9", &["--date", "2026-02-30"], json!({}), 1, "RELEASE_DATE_INVALID"),
        ("1.9.9", &["--title", " "], json!({}), 1, "RELEASE_MISSING_REQUIRED"),
        ("1.9.9", &[], json!({"title": "a\nb"}), 1, "RELEASE_FIELD_INVALID"),
    ] {
        let refused = amend(target, words, &input).fails(exit, code);
        assert!(refused["details"].get("current").is_none(), "{refused}");
    }
    let path = format!("{RELEASES}/1-9-9/REL-0002-1-9-9.md");
    let head =
        "---\nid: REL-0002\ntitle: Version 1.9.9\nversion: 1.9.9\ndate: 2026-01-01\nfragments: [CHG-0002]\n";
    assert_eq!(world.read(&path), format!("{head}---\n\n\n"));
    world
        .run(call([
            "changelog",
            "release",
            "1.9.9",
            "--amend",
            "--tags",
            "x",
            "--commit",
            "abc",
            "--body",
            "Words.",
        ]))
        .success("REL-0002 amended (1.9.9)\n");
    assert_eq!(world.read(&path), format!("{head}commit: abc\ntags: [x]\n---\n\nWords.\n"));
    amend("REL-0002", &["--title", "Flag"], &json!({"title": "Input", "tags": []})).json();
    let head = head.replace("Version 1.9.9", "Flag");
    assert_eq!(world.read(&path), format!("{head}commit: abc\n---\n\nWords.\n"));
    world
        .run(["changelog", "release", "3.0.0", "--expected-revision", "x", "--json"])
        .fails(1, "CLI_ARGUMENT_CONFLICT");
}

#[test]
fn two_releases_at_once_share_nothing() {
    for round in 0..4 {
        let world = (1..=6).fold(world(), |world, number| with_fragment(world, &format!("CHG-{number:04}")));
        let versions = ["1.0.0", "1.0.1", "1.0.2"];
        let runs = world
            .run_together(versions.map(|version| call(["changelog", "release", version, "--json"])).into());
        let (done, refused): (Vec<_>, Vec<_>) = runs.into_iter().partition(|run| run.ended.code == Some(0));
        assert_eq!(done.len(), 1, "round {round}");
        for run in done {
            assert_eq!(run.json()["fragments"].as_array().unwrap().len(), 6);
        }
        for run in refused {
            run.fails(1, "RELEASE_FRAGMENTS_REQUIRED");
        }
        for number in 1..=6 {
            assert_eq!(places(&world, &format!("CHG-{number:04}-")).len(), 1);
        }
    }
}

#[test]
fn a_release_and_whoever_writes_fragments_leave_each_in_one_place() {
    for round in 0..4 {
        let world = (1..=5).fold(world(), |world, number| with_fragment(world, &format!("CHG-{number:04}")));
        let mut calls = vec![call(["changelog", "release", "1.0.0", "--json"])];
        calls.extend((1..=5).map(|number| patch(&format!("CHG-{number:04}"), &json!({"title": "Patched"}))));
        calls.extend(["a", "b", "c"].map(|title| call(["changelog", "add", "--title", title, "--json"])));
        let runs = world.run_together(calls);
        let released = runs[0].ended.code == Some(0);
        assert!(released, "round {round}: {:?}", runs[0].ended);
        let mut ids = BTreeSet::new();
        for (at, run) in runs.into_iter().enumerate().skip(1) {
            if run.ended.code == Some(0) {
                let record = run.json();
                if at > 5 {
                    assert!(ids.insert(record["id"].to_string()), "round {round}: {record}");
                }
            } else {
                run.fails(1, "CHANGE_FRAGMENT_RELEASED");
            }
        }
        for number in 1..=5 {
            let found = places(&world, &format!("CHG-{number:04}-"));
            assert_eq!(found.len(), 1, "round {round}: {found:?}");
            assert!(found[0].contains("releases/1-0-0/fragments/"), "{found:?}");
        }
        let listed = world.run(["changelog", "list", "--json"]).json();
        assert_eq!(listed["total"], 9, "round {round}");
        assert!(!world.root.join(".project/.cache/release-staging").read_dir().unwrap().any(|_| true));
    }
}

#[test]
fn what_a_dead_release_left_is_listed_and_put_back_by_the_next_change() {
    let staged = ".project/.cache/release-staging/1-0-0-abcd";
    let world = with_fragment(world(), "CHG-0001")
        .file(&format!("{staged}/fragments/CHG-0007-x.md"), fragment("CHG-0007", "Lost"))
        .file(&format!("{staged}/REL-0001-1-0-0.md"), "---\nid: REL-0001\nversion: 1.0.0\n---\n");
    let listed = "CHG-0001\tunreleased\tfixed\tpublic\tCHG-0001\nCHG-0007\tunreleased\tfixed\tpublic\tLost\n";
    world.run(["changelog", "list"]).success(listed);
    world.run(["changelog", "preview"]).success("### Fixed\n\n- CHG-0001\n- Lost\n");
    world.run(patch("CHG-0007", &json!({"title": "Found"}))).json();
    assert_eq!(places(&world, "CHG-0007"), ["changelog/unreleased/CHG-0007-x.md"]);
    world.run(["changelog", "add", "--title", "x"]).success("CHG-0008 CHG-0008-x.md\n");
    world.run(["changelog", "release", "1.0.0"]).success("REL-0001 released 1.0.0 (3 fragments)\n");
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_stops_a_release_before_anything_is_lost() {
    use std::os::unix::fs::PermissionsExt;
    let world =
        with_fragment(with_fragment(world(), "CHG-0001"), "CHG-0002").file(&format!("{RELEASES}/keep"), "");
    let mode = |folder: &str, mode: u32| {
        std::fs::set_permissions(world.root.join(folder), PermissionsExt::from_mode(mode)).unwrap();
    };
    for folder in [UNRELEASED, RELEASES] {
        mode(folder, 0o555);
        // Whoever may write everywhere is not stopped by a mode; for them the folder is one that is not there.
        let free = std::fs::write(world.root.join(folder).join("probe"), "").is_ok();
        if free {
            std::fs::remove_file(world.root.join(folder).join("probe")).unwrap();
            std::fs::rename(world.root.join(RELEASES), world.root.join("aside")).unwrap();
            world.write(RELEASES, "a file where the releases belong");
        }
        world.run(["changelog", "release", "1.0.0", "--json"]).fails(2, "INTERNAL_ERROR");
        mode(folder, 0o755);
        if free {
            std::fs::remove_file(world.root.join(RELEASES)).unwrap();
            std::fs::rename(world.root.join("aside"), world.root.join(RELEASES)).unwrap();
            mode(RELEASES, 0o755);
        }
        for id in ["CHG-0001", "CHG-0002"] {
            assert_eq!(places(&world, id), [format!("changelog/unreleased/{id}-x.md")]);
        }
    }
    world.run(["changelog", "release", "1.0.0"]).success("REL-0001 released 1.0.0 (2 fragments)\n");
}

#[cfg(unix)]
#[test]
fn nothing_is_released_through_a_link() {
    for linked in [UNRELEASED, RELEASES] {
        let world = world().file("elsewhere/CHG-0001-x.md", fragment("CHG-0001", "x"));
        let world = if linked == RELEASES { with_fragment(world, "CHG-0002") } else { world };
        let world = world.link(linked, "elsewhere");
        let before = tree(&world.root.join("elsewhere"));
        let code =
            if linked == RELEASES { "RECORD_PATH_ESCAPES_WORKSPACE" } else { "RELEASE_FRAGMENTS_REQUIRED" };
        world.run(["changelog", "release", "1.0.0", "--json"]).fails(1, code);
        if linked == UNRELEASED {
            world
                .run(["changelog", "add", "--title", "x", "--json"])
                .fails(1, "RECORD_PATH_ESCAPES_WORKSPACE");
        }
        assert_eq!(tree(&world.root.join("elsewhere")), before);
    }
}

#[test]
fn the_changelog_is_written_where_the_configuration_says() {
    let configured = |output: &str| {
        let config = json!({"schemaVersion": 2, "changelog": {"output": output}}).to_string();
        with_fragment(world(), "CHG-0001").file("project.config.json", config)
    };
    let world = configured("docs/CHANGES.md");
    let rendered = "# Changelog\n\n## Unreleased\n\n### Fixed\n\n- CHG-0001\n";
    world.run(["changelog", "render"]).success(&format!("{rendered}\n"));
    assert!(!world.root.join("docs").exists(), "without --write nothing is written");
    let written = world.run(["changelog", "render", "--write", "--json"]).json();
    let path = world.root.join("docs/CHANGES.md").display().to_string();
    assert_eq!(written, json!({"path": path, "content": rendered}));
    assert_eq!(world.read("docs/CHANGES.md"), rendered);
    world.run(["changelog", "render", "--write"]).check(
        0,
        &format!("{rendered}\n"),
        "workfile: wrote docs/CHANGES.md\n",
    );
    assert_eq!(world.run(["changelog", "render", "--json"]).json(), json!(rendered));
    let world = configured("../outside.md");
    world.run(["changelog", "render", "--write", "--json"]).fails(1, "CHANGELOG_OUTPUT_OUTSIDE_WORKSPACE");
    assert!(!world.base().join("outside.md").exists());
}

#[test]
fn a_module_that_is_off_writes_nothing() {
    let config = json!({"schemaVersion": 2, "changelog": {"enabled": false}}).to_string();
    let world = with_fragment(world(), "CHG-0001").file("project.config.json", config);
    let before = tree(&world.root);
    for words in [
        &["changelog", "add", "--title", "x"][..],
        &["changelog", "release", "1.0.0"],
        &["changelog", "release", "1.0.0", "--amend", "--title", "x"],
        &["changelog", "render", "--write"],
    ] {
        let refused = world.run(call([]).words(words).words(&["--json"])).fails(1, "MODULE_DISABLED");
        assert_eq!(refused["details"]["module"], "changelog");
    }
    world.run(patch("CHG-0001", &json!({"title": "x"}))).fails(1, "MODULE_DISABLED");
    world.run(["changelog", "list"]).check(
        0,
        "",
        "workfile: nothing is written down yet: `workfile changelog add --title TEXT` does\n",
    );
    world.run(["changelog", "render"]).success("# Changelog\n\n");
    world
        .run(["changelog", "verify"])
        .success("Workfile changelog: 0 fragments (0 unreleased), 0 releases: 0 errors, 0 warnings\n");
    assert_eq!(tree(&world.root), before);
}

#[test]
fn what_is_asked_of_the_list_and_of_one_record() {
    let world = with_fragment(world(), "CHG-0010")
        .file(
            &format!("{UNRELEASED}/CHG-0002-y.md"),
            fragment("CHG-0002", "A\u{9}b").replace("public", "internal"),
        )
        .file(&format!("{UNRELEASED}/bad.md"), "no header\n");
    world
        .run(["changelog", "release", "1.0.0", "--fragments", "CHG-0010", "--title", "First", "--json"])
        .json();
    let list =
        |words: &[&str]| text(&world.run(call(["changelog", "list"]).words(words)).ended.stdout).to_owned();
    let released = "CHG-0010\treleased\tfixed\tpublic\tCHG-0010\n";
    let waiting = "CHG-0002\tunreleased\tfixed\tinternal\tA b\n";
    let release = "REL-0001\trelease\t1.0.0\t2026-03-01\tFirst\n";
    assert_eq!(list(&[]), format!("{waiting}{released}{release}"));
    assert_eq!(list(&["--unreleased"]), waiting);
    assert_eq!(list(&["--visibility", "public"]), format!("{released}{release}"));
    let shown = world.run(["changelog", "show", "CHG-0010"]).json();
    assert_eq!(shown["releaseIds"], json!(["REL-0001"]));
    assert_eq!(world.run(["changelog", "show", "REL-0001", "--json"]).json()["kind"], "release");
    world.run(["changelog", "show", "CHG-0404", "--json"]).fails(1, "CHANGELOG_RECORD_NOT_FOUND");
    world.run(["changelog", "show"]).fails(1, "CLI_ARGUMENT_REQUIRED");
    world
        .run(["changelog", "preview", "--fragments", "CHG-0010", "--json"])
        .fails(1, "CHANGE_FRAGMENT_NOT_FOUND");
    let preview = world.run(["changelog", "preview", "--visibility", "public", "--json"]).json();
    assert_eq!(
        preview["fragments"].as_array().unwrap().len(),
        1,
        "a visibility narrows what is shown, not what is taken"
    );
    assert_eq!((&preview["groups"], &preview["markdown"]), (&json!([]), &json!("")));
    world.run(["changelog", "preview", "--visibility", "public"]).success("there is nothing to release\n");
    world.run(["changelog", "preview", "--visibility", "x", "--json"]).fails(1, "CHANGE_VISIBILITY_INVALID");
    let refused = world.run(["changelog", "release", "--dry-run", "1.0.1"]).fails(1, "CLI_FLAG_UNSUPPORTED");
    assert!(refused.as_str().unwrap().contains("`workfile changelog preview`"), "{refused}");
}

#[test]
fn a_version_comes_from_the_command_line_or_the_input() {
    let world = with_fragment(world(), "CHG-0001");
    let release = |words: &[&str], input: &Json| {
        world.run(
            call(["changelog", "release", "--json", "--json-input", "-"])
                .words(words)
                .stdin(input.to_string()),
        )
    };
    release(&[], &json!({"title": "x"})).fails(1, "CLI_ARGUMENT_REQUIRED");
    release(&[" "], &json!({})).fails(1, "RELEASE_VERSION_REQUIRED");
    release(&["1.0.0"], &json!({"visibility": "public"})).fails(1, "CHANGE_FIELD_UNKNOWN");
    release(&["1.0.0"], &json!({"fragmentIds": []})).fails(1, "RELEASE_FRAGMENTS_REQUIRED");
    let made = release(&[], &json!({"version": "1.0.0", "fragmentIds": ["CHG-0001"], "title": "In"})).json();
    assert_eq!((&made["version"], &made["title"]), (&json!("1.0.0"), &json!("In")));
}

#[test]
fn a_damaged_changelog_is_told_finding_by_finding() {
    let archive = crate::golden::Archive::parse(include_bytes!("golden/knowledge/07-changelog-doctor.txt"));
    let world = archive.below("input").fold(World::bare(), |world, (path, bytes)| world.file(path, bytes));
    let run = world.run(["changelog", "verify", "--json"]);
    assert_eq!(run.ended.code, Some(1));
    let report: Json = serde_json::from_slice(&run.ended.stdout).unwrap();
    let recorded: Json = serde_json::from_str(archive.text("expected/1.stdout.json")).unwrap();
    let bare = |issues: &Json| -> Vec<Json> {
        let keep = |issue: &Json| json!([issue["severity"], issue["code"], issue["id"], issue["file"]]);
        issues.as_array().unwrap().iter().map(keep).collect()
    };
    assert_eq!(bare(&report["issues"]), bare(&recorded["issues"]));
    assert_eq!(report["counts"], recorded["counts"]);
    let sizes = ["fragments", "unreleased", "releases", "ok"].map(|key| report[key].clone());
    assert_eq!(sizes, [json!(4), json!(2), json!(3), json!(false)]);
    let words = world.run(["changelog", "verify"]);
    assert_eq!(words.ended.code, Some(1));
    let first = "Workfile changelog: 4 fragments (2 unreleased), 3 releases: 19 errors, 3 warnings\n";
    assert!(text(&words.ended.stdout).starts_with(first), "{:?}", words.ended);
}

#[test]
fn a_reference_to_any_record_is_none_to_nothing() {
    let references =
        "cards: [T-0001, T-0404]\ndecisions: [ADR-0001]\nrelated: [CHG-0001, REL-0001, DOC-0001]\n";
    let world = world()
        .card("T-0001", |c| c)
        .file(
            &format!("{UNRELEASED}/CHG-0001.md"),
            fragment("CHG-0001", "x").replace("created:", &format!("{references}created:")),
        )
        .file(".project/memory/decisions/ADR-0001-x.md", "---\nid: ADR-0001\ntitle: x\n---\n")
        .file(".project/docs/DOC-0001-x.md", "---\nid: DOC-0001\ntitle: x\n---\n");
    let report = world.run(["changelog", "verify", "--json"]).json();
    let messages: Vec<&str> =
        report["issues"].as_array().unwrap().iter().map(|it| it["message"].as_str().unwrap()).collect();
    assert_eq!(messages.len(), 2, "{messages:?}");
    assert!(messages[0].contains("T-0404") && messages[1].contains("REL-0001"), "{messages:?}");
}

#[test]
fn d25_a_fragment_is_called_as_its_title_says_until_it_is_released() {
    let elsewhere = "changes/waiting";
    let config = json!({
        "schemaVersion": 2,
        "agents": {"enabled": false},
        "changelog": {"fragmentsPath": elsewhere},
    });
    let world = world().file("project.config.json", config.to_string());
    let add = ["changelog", "add", "--title", "First words", "--json"];
    assert_eq!(world.run(add).json()["file"], "CHG-0001-first-words.md");
    world.run(patch("CHG-0001", &json!({"title": "Other words"}))).json();
    let report = world.run(["doctor", "--json"]).json();
    let issue = &report["issues"][0];
    assert_eq!(
        (&issue["code"], &issue["module"]),
        (&json!("filename-stale"), &json!("changelog")),
        "{report}"
    );
    assert_eq!(issue["details"]["expected"], "CHG-0001-other-words.md");
    let fixed = world.run(["doctor", "--fix", "--json"]).json();
    let renamed =
        json!([{"id": "CHG-0001", "from": "CHG-0001-first-words.md", "to": "CHG-0001-other-words.md"}]);
    assert_eq!((&fixed["fixed"]["renamed"], &fixed["issues"]), (&renamed, &json!([])));
    world.run(["changelog", "release", "1.0.0", "--json"]).json();
    let released = ".project/changelog/releases/1-0-0/fragments/CHG-0001-other-words.md";
    let text = world.read(released).replace("Other words", "Third words");
    world.write(released, text);
    assert_eq!(world.run(["doctor", "--json"]).json()["issues"], json!([]));
}
