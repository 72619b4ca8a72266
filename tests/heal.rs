//! Ids that two branches have minted at once: a merge brings both files, the doctor names them and gives one a new id.

use crate::git::{commit, git, repository};
use crate::process::{Call, call};
use crate::world::World;
use serde_json::{Value as Json, json};

/// A record as one branch makes it: its kind, the id that both branches give, the id that the later one gets, the words that
/// make it.
type Made = (&'static str, &'static str, &'static str, &'static [&'static str]);

const KINDS: [Made; 4] = [
    ("memory", "ADR-0001", "ADR-0002", &["memory", "add", "decisions"]),
    ("change", "CHG-0001", "CHG-0002", &["changelog", "add"]),
    ("doc", "DOC-0001", "DOC-0002", &["doc", "create"]),
    ("card", "T-0001", "T-0002", &["card", "create"]),
];

const OURS: &str = "2026-01-02T03:04:05.000Z";
const THEIRS: &str = "2026-01-05T03:04:05.000Z";

fn world() -> World {
    World::new()
        .clock("2026-03-04T05:06:07.089Z")
        .file("project.config.json", json!({"schemaVersion": 2, "agents": {"enabled": false}}).to_string())
        .file(".gitignore", ".project/.cache/\n")
}

/// A command that is run at some time.
fn at(time: &str, words: &[&str]) -> Call {
    call([]).words(words).words(&["--json"]).by("ann").env("WORKFILE_CLOCK", time)
}

/// One record of each kind, and a learning that names all of them.
fn branch(world: &World, title: &str, time: &str, learning: &str) {
    for (kind, id, _, words) in KINDS {
        let input = json!({"title": title, "body": format!("What {title} says; see [[{learning}]].")});
        let made = world.run(at(time, words).words(&["--json-input", "-"]).stdin(input.to_string())).json();
        assert_eq!(made["id"], id, "{kind}: {made}");
    }
    let related: Vec<&str> = KINDS.iter().map(|(_, id, ..)| *id).collect();
    let text = format!(
        "---\nid: {learning}\ntitle: {title}\nstatus: active\nrelated: [{}]\ncreated: 2026-01-02\nupdated: 2026-01-02\n---\n",
        related.join(", ")
    );
    world.write(&format!(".project/memory/learnings/{learning}-{title}.md"), text);
    commit(world);
}

/// A repository after the merge of two branches that both made one record of each kind at these times.
fn merged(ours: &str, theirs: &str) -> World {
    let world = repository(world());
    git(&world, "", &["switch", "-q", "-c", "theirs"]);
    branch(&world, "theirs", theirs, "LRN-0002");
    git(&world, "", &["switch", "-q", "main"]);
    branch(&world, "ours", ours, "LRN-0001");
    git(&world, "", &["merge", "-q", "-m", "merge", "theirs"]);
    world
}

fn doctor(world: &World, words: &[&str]) -> (Option<i32>, Json) {
    let call: Call = call(["doctor", "--json"]).words(words).by("ann");
    let ended = world.run(call).ended;
    let report = serde_json::from_slice(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
    (ended.code, report)
}

/// The findings of duplicated ids: id, kind, and whether a program can heal it.
fn duplicates(report: &Json) -> Vec<(Json, Json, Json)> {
    let issues = report["issues"].as_array().unwrap().iter();
    let found = issues.filter(|issue| issue["code"] == "duplicate-record-id");
    let of = |issue: &Json| {
        (issue["id"].clone(), issue["details"]["kind"].clone(), issue["details"]["healable"].clone())
    };
    found.map(of).collect()
}

/// What every record of the world says of itself, by id: its title.
fn titles(world: &World) -> Vec<(String, String)> {
    let found = world.run(["search", "--json", "--query", ""]).json();
    let text = |record: &Json, key: &str| record[key].as_str().unwrap().to_owned();
    let mut titles: Vec<_> =
        found["records"].as_array().unwrap().iter().map(|it| (text(it, "id"), text(it, "title"))).collect();
    titles.sort();
    titles
}

#[test]
fn ids_that_two_branches_minted_are_named_for_every_kind() {
    let world = merged(OURS, THEIRS);
    let (exit, report) = doctor(&world, &[]);
    let wanted: Vec<_> = KINDS.iter().map(|(kind, id, ..)| (json!(id), json!(kind), json!(true))).collect();
    assert_eq!((exit, duplicates(&report)), (Some(1), wanted), "{report}");
    for issue in report["issues"].as_array().unwrap().iter().filter(|it| it["code"] == "duplicate-record-id")
    {
        let paths = issue["details"]["paths"].as_array().unwrap();
        assert_eq!((paths.len(), &paths[0]), (2, &issue["file"]), "{issue}");
        assert!(issue["message"].as_str().unwrap().contains("`workfile doctor --fix`"), "{issue}");
    }
}

#[test]
fn the_older_record_keeps_its_id_and_the_others_get_the_next_one() {
    for (ours, theirs, kept) in [(OURS, THEIRS, "ours"), (THEIRS, OURS, "theirs")] {
        let other = if kept == "ours" { "theirs" } else { "ours" };
        let world = merged(ours, theirs);
        let before = world.read(&format!(".project/memory/decisions/ADR-0001-{kept}.md"));
        let (exit, report) = doctor(&world, &["--fix"]);
        assert_eq!(
            (exit, &report["counts"]["error"], &report["fixed"]["skipped"]),
            (Some(0), &json!(0), &json!([]))
        );
        let moves = report["fixed"]["moves"].as_array().unwrap();
        let seen: Vec<_> = moves.iter().map(|it| (&it["kind"], &it["from"], &it["to"])).collect();
        let wanted: Vec<_> =
            KINDS.iter().map(|(kind, from, to, _)| (json!(kind), json!(from), json!(to))).collect();
        let wanted: Vec<_> = wanted.iter().map(|(kind, from, to)| (kind, from, to)).collect();
        assert_eq!(seen, wanted, "{moves:?}");

        let mut wanted =
            vec![("LRN-0001".to_owned(), "ours".to_owned()), ("LRN-0002".to_owned(), "theirs".to_owned())];
        for (_, from, to, _) in KINDS {
            wanted.extend([(from.to_owned(), kept.to_owned()), (to.to_owned(), other.to_owned())]);
        }
        wanted.sort();
        assert_eq!(titles(&world), wanted);
        for it in moves {
            let (path, to) = (it["path"].as_str().unwrap(), it["to"].as_str().unwrap());
            let text = world.read(path);
            assert!(
                text.starts_with(&format!("---\nid: {to}\n")) && text.contains("\nupdated: 2026-03-04\n"),
                "{text}"
            );
            assert!(path.ends_with(&format!("/{to}-{other}.md")), "{path}");
        }
        let survivor = world.read(&format!(".project/memory/decisions/ADR-0001-{kept}.md"));
        assert_eq!(survivor, before, "the one that keeps its id is not touched");
    }
}

#[test]
fn who_names_an_id_that_moved_is_for_a_person_to_look_at_and_is_left_as_it_is() {
    let world = merged(OURS, THEIRS);
    let learnings = [1, 2].map(|number| {
        let title = if number == 1 { "ours" } else { "theirs" };
        format!(".project/memory/learnings/LRN-000{number}-{title}.md")
    });
    let before = learnings.clone().map(|path| world.read(&path));
    let (_, report) = doctor(&world, &["--fix"]);
    for it in report["fixed"]["moves"].as_array().unwrap() {
        assert_eq!(it["review"], json!(learnings), "{it}");
    }
    assert_eq!(learnings.map(|path| world.read(&path)), before);
    for (_, id, to, _) in KINDS {
        for learning in ["LRN-0001", "LRN-0002"] {
            let edges = world.run(["memory", "show", learning]).json()["outgoing"].clone();
            let edges = edges.as_array().unwrap().clone();
            let edge = edges.iter().find(|edge| edge["id"] == id).unwrap();
            assert_eq!((&edge["exists"], &edge["title"]), (&json!(true), &json!("ours")), "{edge}");
            assert!(!edges.iter().any(|edge| edge["id"] == to), "{edges:?}");
        }
    }
}

#[test]
fn a_file_to_look_at_is_named_as_it_is_called_when_all_is_healed() {
    // The later card names the decision; both get a new id, the decision first. Another names it under a stale name.
    let world = merged(OURS, THEIRS);
    let card = ".project/cards/T-0001-theirs.md";
    world.write(card, format!("{}\nRests on ADR-0001.\n", world.read(card)));
    std::fs::rename(
        world.root.join(".project/memory/learnings/LRN-0001-ours.md"),
        world.root.join(".project/memory/learnings/LRN-0001-stale.md"),
    )
    .unwrap();
    let (_, report) = doctor(&world, &["--fix"]);
    let learnings =
        [".project/memory/learnings/LRN-0001-ours.md", ".project/memory/learnings/LRN-0002-theirs.md"];
    let wanted = [".project/cards/T-0002-theirs.md", learnings[0], learnings[1]];
    assert_eq!(report["fixed"]["moves"][0]["review"], json!(wanted));
}

#[test]
fn cards_that_are_healed_alone_are_named_as_they_are_called_too() {
    let world = merged(OURS, THEIRS);
    for branch in ["ours", "theirs"] {
        let text = world.read(&format!(".project/cards/T-0001-{branch}.md")).replace("T-0001", "T-0005");
        world.write(&format!(".project/cards/T-0005-{branch}.md"), format!("{text}\nRests on T-0001.\n"));
    }
    let healed = world.run(call(["card", "renumber", "--duplicates", "--json"]).by("ann")).json();
    let review = healed["moves"][0]["review"].as_array().unwrap();
    assert!(review.contains(&json!(".project/cards/T-0007-theirs.md")), "{healed}");
    for path in review {
        assert!(world.root.join(path.as_str().unwrap()).is_file(), "{path}");
    }
}

#[test]
fn records_of_one_day_are_told_apart_by_their_path() {
    let world = merged(OURS, OURS);
    let (exit, _) = doctor(&world, &["--fix"]);
    assert_eq!(exit, Some(0));
    for (_, id, to, _) in KINDS {
        let titles = titles(&world);
        assert!(titles.contains(&(id.to_owned(), "ours".to_owned())), "{titles:?}");
        assert!(titles.contains(&(to.to_owned(), "theirs".to_owned())), "{titles:?}");
    }
}

#[test]
fn what_is_healed_stays_healed() {
    let world = merged(OURS, THEIRS);
    assert_eq!(doctor(&world, &["--fix"]).0, Some(0));
    commit(&world);
    let (exit, report) = doctor(&world, &["--fix"]);
    let nothing = json!({"moves": [], "skipped": [], "renamed": [], "renameSkipped": [], "trails": []});
    assert_eq!((exit, &report["fixed"], &report["counts"]["error"]), (Some(0), &nothing, &json!(0)));
    assert_eq!(git(&world, "", &["status", "--porcelain"]), "");
    // The next record of each kind goes on behind both.
    for (_, _, to, words) in KINDS {
        let made = world.run(at(THEIRS, words).words(&["--title", "next"])).json();
        assert_eq!(made["id"], to.replace("0002", "0003"));
    }
}
