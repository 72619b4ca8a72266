//! A release in the middle of everything that can come in between: refusals, other writers, and the end of the process.

use super::*;
use crate::history::testing::{fragment, workspace};
use serde_json::json;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

const UNRELEASED: &str = ".project/changelog/unreleased";
const RELEASE: &str = ".project/changelog/releases/1-0-0";

/// Three fragments, two of them from a folder below.
fn prepared() -> (tempfile::TempDir, Workspace) {
    workspace(&[
        (&format!("{UNRELEASED}/CHG-0001-a.md"), &fragment("CHG-0001", "One")),
        (&format!("{UNRELEASED}/deep/er/CHG-0002-b.md"), &fragment("CHG-0002", "Two")),
        (&format!("{UNRELEASED}/deep/er/CHG-0010-c.md"), &fragment("CHG-0010", "Zehn")),
    ])
}

fn asked(version: &str) -> Cut<'_> {
    Cut::of(version, json!({"date": "2026-03-01"}).as_object().unwrap()).unwrap()
}

/// Every Markdown file below the project's folder, by path.
fn files(workspace: &Workspace) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![workspace.root.join(".project")];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|end| end == "md") {
                found.insert(workspace.repo_path(&path), std::fs::read_to_string(path).unwrap());
            }
        }
    }
    found
}

/// The fragments of a tree by file name, with their text.
fn fragments(files: &BTreeMap<String, String>) -> Vec<(&str, &str)> {
    let mut all: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.rsplit('/').next().unwrap(), text.as_str())).collect();
    all.retain(|(name, _)| name.starts_with("CHG-"));
    all.sort_unstable();
    all
}

/// Nothing is lost and nothing is twice; and once somebody has taken the lock, either all or nothing is released.
fn whole(workspace: &Workspace, before: &BTreeMap<String, String>, when: &str) {
    let now = files(workspace);
    assert_eq!(fragments(&now), fragments(before), "{when}: in one place each");
    let listing = load::all(workspace).unwrap();
    let ids: Vec<&str> = listing.fragments.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(ids, ["CHG-0001", "CHG-0002", "CHG-0010"], "{when}: all are listed");
    assert!(listing.unreadable.is_empty(), "{when}: {:?}", listing.unreadable);
}

fn settled(workspace: &Workspace, before: &BTreeMap<String, String>, when: &str) {
    drop(staging::lock(workspace).unwrap());
    let now = files(workspace);
    let staging = std::fs::read_dir(staging::folder(workspace)).map_or(0, Iterator::count);
    assert_eq!(staging, 0, "{when}: nothing is left in between");
    if workspace.root.join(RELEASE).exists() {
        let released: Vec<&str> = now.keys().map(String::as_str).collect();
        let wanted = [
            "REL-0001-1-0-0.md",
            "fragments/CHG-0001-a.md",
            "fragments/CHG-0002-b.md",
            "fragments/CHG-0010-c.md",
        ];
        assert_eq!(released, wanted.map(|file| format!("{RELEASE}/{file}")), "{when}");
        assert_eq!(fragments(&now), fragments(before), "{when}");
    } else {
        assert_eq!(&now, before, "{when}: as before");
    }
}

/// What comes after an interruption gets on as if nothing had been.
fn goes_on(workspace: &Workspace, when: &str) {
    let done = workspace.root.join(RELEASE).exists();
    let again = cut(workspace, &asked("1.0.0"));
    if done {
        assert_eq!(again.unwrap_err().code, Code::RELEASE_VERSION_DUPLICATE, "{when}");
    } else {
        assert_eq!(again.unwrap().consumed.len(), 3, "{when}");
    }
}

#[test]
fn a_release_takes_every_fragment_as_it_is() {
    let (_root, workspace) = prepared();
    let before = files(&workspace);
    let input = json!({
        "title": " First ", "date": " 2026-03-01", "commit": "abc1234", "body": "\nIntro.\n", "tags": ["x", " "],
    });
    let asked = Cut::of("v1.0.0", input.as_object().unwrap()).unwrap();
    let released = cut(&workspace, &asked).unwrap();
    let folder = ".project/changelog/releases/v1-0-0";
    assert_eq!(
        files(&workspace)[&format!("{folder}/REL-0001-v1-0-0.md")],
        "---\nid: REL-0001\ntitle: First\nversion: v1.0.0\ndate: 2026-03-01\nfragments: [CHG-0001, CHG-0002, CHG-0010]\n\
        commit: abc1234\ntags: [x]\n---\n\nIntro.\n"
    );
    assert_eq!(fragments(&files(&workspace)), fragments(&before));
    let paths: Vec<&str> = released.consumed.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(paths[1], format!("{folder}/fragments/CHG-0002-b.md"));
    assert!(released.consumed.iter().all(Fragment::is_released));
    let listed = load::all(&workspace).unwrap();
    assert_eq!(listed.releases[0].to_json(), released.release.to_json());
    assert_eq!(std::fs::read_dir(staging::folder(&workspace)).unwrap().count(), 0);
}

#[test]
fn what_is_asked_for_is_read_by_the_table() {
    let of = |input: Json| Cut::of("1.0.0", input.as_object().unwrap());
    assert_eq!(of(json!({})).unwrap().ids, None);
    assert_eq!(of(json!({"fragmentIds": null})).unwrap().ids, None);
    assert_eq!(of(json!({"fragmentIds": []})).unwrap().ids, Some(Vec::new()), "none is not all");
    assert_eq!(of(json!({"fragmentIds": "CHG-0001"})).unwrap().ids.unwrap(), ["CHG-0001"]);
    for (input, code) in [
        (json!({"visibility": "public"}), Code::CHANGE_FIELD_UNKNOWN),
        (json!({"version": "2.0.0"}), Code::CHANGE_FIELD_UNKNOWN),
        (json!({"title": "a\nb"}), Code::RELEASE_FIELD_INVALID),
        (json!({"tags": {"a": 1}}), Code::RELEASE_FIELD_INVALID),
    ] {
        assert_eq!(of(input.clone()).unwrap_err().code, code, "{input}");
    }
}

#[test]
fn only_the_named_fragments_are_taken_each_once_and_in_order() {
    let (_root, workspace) = prepared();
    let ids = ["CHG-0010", " CHG-0001 ", "CHG-0010"].map(str::to_owned);
    let released = cut(&workspace, &Cut { ids: Some(ids.into()), ..asked("1.0.0") }).unwrap();
    assert_eq!(released.release.fragments(), ["CHG-0001", "CHG-0010"]);
    let left = load::all(&workspace).unwrap();
    let left: Vec<&str> =
        left.fragments.iter().filter(|it| !it.is_released()).map(|it| it.path.as_str()).collect();
    assert_eq!(left, [format!("{UNRELEASED}/deep/er/CHG-0002-b.md")]);
}

#[test]
fn what_is_refused_leaves_everything() {
    let (_root, workspace) = prepared();
    std::fs::create_dir_all(workspace.root.join(RELEASE)).unwrap();
    let before = files(&workspace);
    let stranger = ["CHG-0001", "CHG-0404", "REL-0001"].map(str::to_owned);
    for (asked, code) in [
        (asked(" "), Code::RELEASE_VERSION_REQUIRED),
        (Cut { date: Some("tomorrow".to_owned()), ..asked("1.0") }, Code::RELEASE_VERSION_INVALID),
        (Cut { date: Some("2026-02-30".to_owned()), ..asked("2.0.0") }, Code::RELEASE_DATE_INVALID),
        (Cut { ids: Some(Vec::new()), ..asked("2.0.0") }, Code::RELEASE_FRAGMENTS_REQUIRED),
        (Cut { ids: Some(stranger.clone().into()), ..asked("2.0.0") }, Code::CHANGE_FRAGMENT_NOT_FOUND),
        (asked("1.0.0"), Code::RELEASE_DIRECTORY_EXISTS),
    ] {
        let refused = cut(&workspace, &asked).unwrap_err();
        assert_eq!(refused.code, code, "{asked:?}");
        assert_eq!(files(&workspace), before);
    }
    let refused = cut(&workspace, &Cut { ids: Some(stranger.clone().into()), ..asked("2.0.0") }).unwrap_err();
    assert_eq!(refused.details["ids"], json!(["CHG-0404", "REL-0001"]));
}

#[test]
fn nothing_is_written_where_only_reading_is_allowed() {
    use crate::history::{add::add, amend::amend, output, patch::patch};
    use crate::workspace::edit::Target;
    let (_root, mut workspace) = prepared();
    workspace.access = crate::workspace::Access::ReadOnly;
    let (before, changes) = (files(&workspace), json!({"title": "x"}));
    let changes = changes.as_object().unwrap();
    let target = |id| Target { id, revision: None };
    let refused = [
        cut(&workspace, &asked("1.0.0")).err(),
        add(&workspace, changes).err(),
        patch(&workspace, target("CHG-0001"), changes).err(),
        amend(&workspace, target("1.0.0"), changes).err(),
        output::write(&workspace, None).err(),
    ];
    for failure in refused {
        assert_eq!(failure.unwrap().code, Code::WORKSPACE_READ_ONLY);
    }
    assert_eq!(files(&workspace), before);
    assert!(!workspace.paths.cache.exists(), "no lock is taken");
}

#[test]
fn two_versions_can_want_one_folder() {
    let (_root, mut workspace) = prepared();
    workspace.config.changelog.strategy = crate::workspace::ReleaseStrategy::Freeform;
    let one = ["CHG-0001".to_owned()];
    cut(&workspace, &Cut { ids: Some(one.into()), ..asked("1.0.0") }).unwrap();
    assert_eq!(cut(&workspace, &asked(" 1.0.0")).unwrap_err().code, Code::RELEASE_VERSION_DUPLICATE);
    let refused = cut(&workspace, &asked("1-0-0")).unwrap_err();
    assert_eq!((refused.code, &refused.details["path"]), (Code::RELEASE_DIRECTORY_EXISTS, &RELEASE.into()));
    let released = cut(&workspace, &asked("…")).unwrap();
    assert_eq!(released.release.path, ".project/changelog/releases/release/REL-0002-release.md");
}

#[test]
fn a_fragment_that_is_not_fit_stops_the_release() {
    for (path, text, id, code) in [
        (
            "CHG-0011-d.md",
            fragment("CHG-0011", "x").replace("type: fixed", "type: weird"),
            "CHG-0011",
            "CHANGE_TYPE_INVALID",
        ),
        ("x.md", fragment("../../x", "x"), "../../x", "CHANGE_ID_INVALID"),
        ("copy/CHG-0002-z.md", fragment("CHG-0002", "Again"), "CHG-0002", "CHANGE_ID_DUPLICATE"),
        ("copy/CHG-0001-a.md", fragment("CHG-0012", "Same name"), "CHG-0012", "CHANGE_FILE_EXISTS"),
        ("../releases/x/fragments/CHG-0001.md", fragment("CHG-0001", "x"), "CHG-0001", "CHANGE_ID_DUPLICATE"),
    ] {
        let (_root, workspace) = prepared();
        let path = workspace.root.join(UNRELEASED).join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        let before = files(&workspace);
        let refused = cut(&workspace, &asked("1.0.0")).unwrap_err();
        assert_eq!(refused.code, Code::RELEASE_FRAGMENT_INVALID, "{id}");
        assert_eq!(serde_json::Value::Object(refused.details), json!({"id": id, "code": code}));
        assert_eq!(files(&workspace), before, "{id}");
    }
}

#[test]
fn what_gets_in_the_way_of_a_release_undoes_it() {
    type Act = fn(&Path);
    let acts: [(Act, Code); 4] = [
        (|root| std::fs::create_dir_all(root.join(RELEASE)).unwrap(), Code::RELEASE_DIRECTORY_EXISTS),
        (|root| std::fs::write(root.join(RELEASE), "in the way").unwrap(), Code::RELEASE_DIRECTORY_EXISTS),
        (
            |root| std::fs::remove_file(root.join(UNRELEASED).join("deep/er/CHG-0010-c.md")).unwrap(),
            Code::CHANGE_FRAGMENT_NOT_FOUND,
        ),
        (
            |root| {
                let path = root.join(UNRELEASED).join("deep/er/CHG-0010-c.md");
                std::fs::write(path, fragment("CHG-0010", "Zehn").replace("type: fixed", "type: x")).unwrap();
            },
            Code::RELEASE_FRAGMENT_INVALID,
        ),
    ];
    for (act, code) in acts {
        let (_root, workspace) = prepared();
        let (mut step, mut expected) = (0, BTreeMap::new());
        let root = workspace.root.clone();
        let refused = cut_watched(&workspace, &asked("1.0.0"), &mut || {
            if step == 0 {
                act(&root);
                expected = files(&workspace);
            }
            step += 1;
        });
        assert_eq!(refused.unwrap_err().code, code);
        assert_eq!(files(&workspace), expected, "{code:?}");
        assert_eq!(std::fs::read_dir(staging::folder(&workspace)).unwrap().count(), 0);
    }
}

#[test]
fn a_fragment_is_taken_as_somebody_has_left_it_meanwhile() {
    let (_root, workspace) = prepared();
    let mut done = false;
    cut_watched(&workspace, &asked("1.0.0"), &mut || {
        if !std::mem::replace(&mut done, true) {
            std::fs::write(
                workspace.root.join(UNRELEASED).join("CHG-0001-a.md"),
                fragment("CHG-0001", "Other"),
            )
            .unwrap();
        }
    })
    .unwrap();
    assert!(files(&workspace)[&format!("{RELEASE}/fragments/CHG-0001-a.md")].contains("title: Other"));
}

#[test]
fn crlf_fragments_keep_their_bytes() {
    let text = fragment("CHG-0001", "Éins").replace('\n', "\r\n");
    let (_root, workspace) = workspace(&[(&format!("{UNRELEASED}/CHG-0001-a.md"), &text)]);
    cut(&workspace, &asked("1.0.0")).unwrap();
    assert_eq!(files(&workspace)[&format!("{RELEASE}/fragments/CHG-0001-a.md")], text);
}

/// Runs `act` until its step `at`; whether it got that far.
fn interrupted(at: usize, act: impl FnOnce(&mut dyn FnMut())) -> bool {
    let mut step = 0;
    let mut watch = || {
        assert!(step != at, "interrupted");
        step += 1;
    };
    catch_unwind(AssertUnwindSafe(|| act(&mut watch))).is_err()
}

#[test]
fn a_release_interrupted_at_any_step_is_whole() {
    let mut steps = 0;
    let (_root, workspace) = prepared();
    cut_watched(&workspace, &asked("1.0.0"), &mut || steps += 1).unwrap();
    assert!(steps > 8, "fewer steps than there are");
    for at in 0..steps {
        let (_root, workspace) = prepared();
        let before = files(&workspace);
        let when = format!("release until step {at}");
        assert!(interrupted(at, |watch| drop(cut_watched(&workspace, &asked("1.0.0"), watch))));
        whole(&workspace, &before, &when);
        settled(&workspace, &before, &when);
        goes_on(&workspace, &when);
    }
    // Everything has moved in, and nothing is in its place: this is the most that there can be to put back.
    for at in 0.. {
        let (_root, workspace) = prepared();
        let before = files(&workspace);
        let when = format!("put back until step {at}");
        assert!(interrupted(steps - 3, |watch| drop(cut_watched(&workspace, &asked("1.0.0"), watch))));
        let stopped = interrupted(at, |watch| staging::heal(&workspace, watch).unwrap());
        whole(&workspace, &before, &when);
        settled(&workspace, &before, &when);
        assert_eq!(files(&workspace), before, "{when}");
        if !stopped {
            assert!(at > 6, "{when}: fewer steps than there are");
            return;
        }
    }
}

#[test]
fn an_undo_that_is_interrupted_is_finished_by_the_next() {
    for at in 0.. {
        let (_root, workspace) = prepared();
        let before = files(&workspace);
        let when = format!("undo until step {at}");
        let mut begun = false;
        let stopped = interrupted(at, |watch| {
            let target = workspace.root.join(RELEASE);
            let _ = cut_watched(&workspace, &asked("1.0.0"), &mut || {
                if !std::mem::replace(&mut begun, true) {
                    std::fs::create_dir_all(&target).unwrap();
                }
                watch();
            });
        });
        whole(&workspace, &before, &when);
        let _ = std::fs::remove_dir(workspace.root.join(RELEASE));
        settled(&workspace, &before, &when);
        if !stopped {
            assert!(at > 14, "{when}: fewer steps than there are");
            return;
        }
    }
}

/// Where the process that is killed works, and after how many steps it is.
#[cfg(unix)]
const KILLED: &str = "WORKFILE_TEST_KILLED_RELEASE";

/// What the process that is killed does.
#[cfg(unix)]
fn be_killed(asked_for: &str) {
    let (steps, root) = asked_for.split_once(' ').unwrap();
    let mut left: usize = steps.parse().unwrap();
    let start = crate::workspace::Start::Exactly(root.into());
    let (missing, access) = (crate::workspace::Missing::Allow, crate::workspace::Access::Write);
    let workspace = Workspace::load(&start, missing, access).unwrap();
    let mut watch = || {
        if left == 0 {
            let this = rustix::process::getpid();
            rustix::process::kill_process(this, rustix::process::Signal::KILL).unwrap();
        }
        left -= 1;
    };
    cut_watched(&workspace, &asked("1.0.0"), &mut watch).unwrap();
}

#[cfg(unix)]
#[test]
fn a_release_killed_at_any_step_is_whole() {
    use std::os::unix::process::ExitStatusExt;
    if let Ok(asked_for) = std::env::var(KILLED) {
        return be_killed(&asked_for);
    }
    for steps in 0.. {
        let (_root, workspace) = prepared();
        let before = files(&workspace);
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "history::cut::tests::a_release_killed_at_any_step_is_whole"]);
        child.env(KILLED, format!("{steps} {}", workspace.root.display()));
        let ended = child.output().unwrap();
        let when = format!("killed after {steps} steps");
        if ended.status.signal() != Some(9) {
            assert!(ended.status.success() && steps > 8, "{when}: {ended:?}");
            assert!(workspace.root.join(RELEASE).exists(), "{when}");
            return;
        }
        whole(&workspace, &before, &when);
        settled(&workspace, &before, &when);
        goes_on(&workspace, &when);
    }
}

/// What a process that was cut off has left: `path` is below the staging folder.
fn planted(entries: &[(&str, &str)]) -> (tempfile::TempDir, Workspace) {
    let entries: Vec<(String, &str)> = entries
        .iter()
        .map(|(path, text)| (format!(".project/.cache/release-staging/{path}"), *text))
        .collect();
    workspace(&entries.iter().map(|(path, text)| (path.as_str(), *text)).collect::<Vec<_>>())
}

#[test]
fn a_note_that_leads_elsewhere_is_not_followed() {
    let text = fragment("CHG-0001", "One");
    for folder in ["../../cards", "/etc", "a/../../b", ".hidden", "a//b", "", "a\\b", "a\u{0}b", "c:/x"] {
        let note = json!({"CHG-0001-a.md": folder}).to_string();
        let (_root, workspace) = planted(&[("x-1/fragments/CHG-0001-a.md", &text), ("x-1.json", &note)]);
        drop(staging::lock(&workspace).unwrap());
        assert_eq!(
            files(&workspace).into_keys().collect::<Vec<_>>(),
            [format!("{UNRELEASED}/CHG-0001-a.md")],
            "{folder}"
        );
    }
    for note in ["", "[]", "{\"CHG-0001-a.md\": 3}", "{"] {
        let (_root, workspace) = planted(&[("x-1/fragments/CHG-0001-a.md", &text), ("x-1.json", note)]);
        drop(staging::lock(&workspace).unwrap());
        assert!(workspace.root.join(UNRELEASED).join("CHG-0001-a.md").exists(), "{note}");
        assert_eq!(std::fs::read_dir(staging::folder(&workspace)).unwrap().count(), 0);
    }
}

#[test]
fn what_comes_back_overwrites_nothing() {
    let ours = fragment("CHG-0001", "Ours");
    for (theirs, wanted) in [
        (ours.clone(), vec!["CHG-0001-a.md"]),
        (fragment("CHG-0001", "Theirs"), vec!["CHG-0001-a-2.md", "CHG-0001-a.md"]),
    ] {
        let (_root, workspace) =
            planted(&[("x-1/fragments/CHG-0001-a.md", &ours), ("x-1/REL-0001-x.md", "half")]);
        let path = workspace.root.join(UNRELEASED).join("CHG-0001-a.md");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &theirs).unwrap();
        drop(staging::lock(&workspace).unwrap());
        let now = files(&workspace);
        assert_eq!(
            now.keys().cloned().collect::<Vec<_>>(),
            wanted.iter().map(|it| format!("{UNRELEASED}/{it}")).collect::<Vec<_>>()
        );
        assert_eq!(now[&format!("{UNRELEASED}/CHG-0001-a.md")], theirs);
        assert!(now.values().any(|text| *text == ours));
    }
}

#[cfg(unix)]
#[test]
fn nothing_is_moved_or_removed_behind_a_link() {
    let text = fragment("CHG-0001", "One");
    let (_root, workspace) = workspace(&[("src/fragments/CHG-0009-x.md", &text), ("src/main.rs", "code")]);
    let at = |path: &str| workspace.root.join(path);
    std::fs::create_dir_all(at(".project/.cache")).unwrap();
    std::os::unix::fs::symlink(at("."), at(".project/.cache/release-staging")).unwrap();
    drop(staging::lock(&workspace).unwrap());
    std::fs::create_dir_all(at(UNRELEASED)).unwrap();
    std::fs::write(at(UNRELEASED).join("CHG-0001-a.md"), &text).unwrap();
    assert_eq!(cut(&workspace, &asked("1.0.0")).unwrap_err().code, Code::RECORD_PATH_ESCAPES_WORKSPACE);

    std::fs::remove_file(at(".project/.cache/release-staging")).unwrap();
    std::fs::create_dir_all(at(".project/.cache/release-staging/y-1")).unwrap();
    std::os::unix::fs::symlink(at("src"), at(".project/.cache/release-staging/x-1")).unwrap();
    std::os::unix::fs::symlink(at("src/fragments"), at(".project/.cache/release-staging/y-1/fragments"))
        .unwrap();
    drop(staging::lock(&workspace).unwrap());
    assert!(at("src/fragments/CHG-0009-x.md").exists() && at("src/main.rs").exists());
    assert!(at(UNRELEASED).join("CHG-0001-a.md").exists());
}
