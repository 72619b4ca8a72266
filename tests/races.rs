//! Two processes at one card: after each round there is one truth on disk, and nothing of the race is left beside it.

use crate::compare::{Entry, Tree, temporary, tree};
use crate::process::{Call, Run, call, text};
use crate::world::{ACTIVITY, World};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use std::path::Path;

const ROUNDS: usize = 50;
const LOCKS: &str = ".project/.cache/locks";

/// A world with one card a round.
fn world(build: impl Fn(crate::world::Card) -> crate::world::Card) -> World {
    (1..=ROUNDS).fold(World::new(), |world, round| world.card(&id(round), &build))
}

fn id(round: usize) -> String {
    format!("T-{round:04}")
}

fn card(words: &[&str]) -> Call {
    call(["card"]).words(words).words(&["--json"])
}

/// What a process answered: its JSON, or the code it failed with.
fn answer(run: &Run) -> Result<Json, String> {
    match run.ended.code {
        Some(0) => Ok(serde_json::from_slice(&run.ended.stdout).unwrap()),
        Some(1 | 3) => {
            let error: Json = serde_json::from_str(text(&run.ended.stderr)).unwrap();
            Err(error["error"]["code"].as_str().unwrap().to_owned())
        }
        _ => panic!("{}: {:?}", run.what, run.ended),
    }
}

/// Runs both at once.
fn both(world: &World, one: Call, other: Call) -> [Result<Json, String>; 2] {
    let runs = world.run_together(vec![one, other]);
    [answer(&runs[0]), answer(&runs[1])]
}

/// The files below a folder with this extension.
fn named<'a>(files: &'a Tree, folder: &str, extension: &str) -> Vec<&'a str> {
    let below = files.keys().filter(|path| path.starts_with(folder));
    let is_one = |path: &&String| Path::new(path).extension().is_some_and(|end| end == extension);
    below.filter(is_one).map(String::as_str).collect()
}

/// Every card is readable and alone with its id, the board says what the cards say, no lock and no half file is left.
pub(crate) fn one_truth(world: &World) -> Vec<Json> {
    let list = world.run(["card", "list", "--json", "--with-body"]);
    let list: Json = serde_json::from_slice(&list.ended.stdout).unwrap();
    let cards = list["records"].as_array().unwrap().clone();
    let ids: BTreeSet<&str> = cards.iter().map(|card| card["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), cards.len(), "{ids:?}");
    let files = tree(&world.root);
    assert_eq!(temporary(&files), Vec::<&str>::new());
    assert_eq!(named(&files, ".project/cards/", "md").len(), cards.len(), "a file is no card");
    let left =
        files.iter().filter(|(path, entry)| path.starts_with(LOCKS) && matches!(entry, Entry::File(_)));
    assert_eq!(left.map(|(path, _)| path).collect::<Vec<_>>(), Vec::<&String>::new());
    if world.root.join(ACTIVITY).join("board.json").exists() {
        let board: Json = serde_json::from_str(&world.read(&format!("{ACTIVITY}/board.json"))).unwrap();
        let held = |id: &str, by: &str, list: &[Json]| -> Vec<(String, String)> {
            let text = |json: &Json, key: &str| json[key].as_str().unwrap_or_default().to_owned();
            let mut held: Vec<_> = list.iter().map(|it| (text(it, id), text(it, by))).collect();
            held.retain(|(_, by)| !by.is_empty());
            held.sort();
            held
        };
        let stated = held("id", "claimed_by", &cards);
        assert_eq!(held("id", "claimedBy", board["claims"].as_array().unwrap()), stated);
    }
    cards
}

fn of<'a>(cards: &'a [Json], id: &str) -> &'a Json {
    cards.iter().find(|card| card["id"] == id).unwrap()
}

fn trail_has(card: &Json, text: &str) -> usize {
    card["body"].as_str().unwrap().matches(&format!(" · {text}")).count()
}

#[test]
fn d2_h49_of_two_overlapping_claims_one_names_the_other() {
    for _ in 0..ROUNDS {
        let world = World::new().card("T-0001", |c| c.status("next")).card("T-0002", |c| c.status("next"));
        let claim = |id: &str, scope: &str, who: &str| card(&["claim", id, "--scope", scope]).by(who);
        let answers = both(&world, claim("T-0001", "src", "ann"), claim("T-0002", "src/lib", "ben"));
        let warned = answers.iter().flatten().filter(|it| it["warnings"][0]["code"] == "CARD_SCOPE_OVERLAP");
        assert!(warned.count() > 0, "{answers:?}");
        let cards = one_truth(&world);
        assert!(cards.iter().all(|card| card["status"] == "doing"));
    }
}

#[test]
fn d9_of_two_patches_against_one_revision_one_lands() {
    let world = world(|c| c.status("next"));
    for round in 1..=ROUNDS {
        let id = id(round);
        let revision = world.run(["card", "show", &id]).json()["revision"].as_str().unwrap().to_owned();
        let patch = |changes: Json| {
            let words = ["patch", &id, "--json-input", "-", "--expected-revision", &revision];
            card(&words).by("ann").stdin(changes.to_string())
        };
        let answers =
            both(&world, patch(json!({"priority": "high"})), patch(json!({"milestone": "m", "effort": "S"})));
        assert!(answers.contains(&Err("CARD_WRITE_CONFLICT".to_owned())), "{answers:?}");
        let cards = one_truth(&world);
        let card = of(&cards, &id);
        let first = answers[0].is_ok();
        let wanted = if first { (json!("high"), Json::Null) } else { (json!("medium"), json!("m")) };
        assert_eq!((card["priority"].clone(), card["milestone"].clone()), wanted);
        let winner = answers.iter().flatten().next().unwrap();
        assert_eq!(card["revision"], winner["revision"]);
    }
}

#[test]
fn d10_an_archive_and_a_transition_leave_the_card_in_one_place() {
    let world = world(|c| c.status("done"));
    for round in 1..=ROUNDS {
        let id = id(round);
        let answers =
            both(&world, card(&["archive", &id]).by("ann"), card(&["transition", &id, "review"]).by("ben"));
        let cards = one_truth(&world);
        let card = of(&cards, &id);
        // Whoever comes second finds either an open card, which is not archived, or one to take out of the archive.
        assert!(answers[1].is_ok(), "{answers:?}");
        assert_eq!((&card["status"], &card["archived"]), (&json!("review"), &json!(false)));
        match &answers[0] {
            Ok(_) => assert_eq!(trail_has(card, "archived"), 1),
            Err(code) => {
                assert_eq!((code.as_str(), trail_has(card, "archived")), ("CARD_ARCHIVE_STATUS_INVALID", 0));
            }
        }
    }
}

#[test]
fn cards_with_different_titles_have_different_ids() {
    let world = World::new();
    for round in 0..ROUNDS {
        let create = |who: &str| card(&["create", "--title", &format!("Round {round} of {who}")]).by(who);
        let [one, other] = both(&world, create("ann"), create("ben"));
        let (one, other) = (one.unwrap(), other.unwrap());
        assert_ne!(one["id"], other["id"]);
        let cards = one_truth(&world);
        assert_eq!(cards.len(), 2 * round + 2);
        for made in [one, other] {
            assert_eq!(of(&cards, made["id"].as_str().unwrap())["title"], made["title"]);
        }
    }
}

#[test]
fn a_patch_finds_the_renumbered_card_or_none() {
    let world = world(|c| c.doing().claimed_by("ben").scope("src"));
    world.hook(crate::payload::start("startup")).tells(&[]);
    for round in 1..=ROUNDS {
        let (id, to) = (id(round), format!("T-{:04}", 1_000 + round));
        let patch = card(&["patch", &id, "--json-input", "-"]).by("ann").stdin("{\"title\": \"New\"}");
        let answers = both(&world, card(&["renumber", &id, "--to", &to]).by("eve"), patch);
        assert!(answers[0].is_ok(), "{answers:?}");
        let cards = one_truth(&world);
        assert_eq!(cards.len(), ROUNDS);
        let title = match &answers[1] {
            Ok(_) => "New",
            Err(code) => {
                assert_eq!(code, "CARD_NOT_FOUND");
                "Some work"
            }
        };
        assert_eq!(of(&cards, &to)["title"], title);
        assert_eq!(trail_has(of(&cards, &to), &format!("renumbered from {id}")), 1);
    }
}

#[cfg(unix)]
#[test]
fn a_writer_that_is_killed_delays_nobody_and_leaves_no_half_card() {
    use std::io::Write as _;
    use std::process::Stdio;
    use std::time::{Duration, Instant};

    let long = "A long line of body.\n".repeat(20_000);
    let world = World::new().card("T-0001", |c| c.status("next").body(&long));
    let lock = world.root.join(LOCKS).join("cards/T-0001.lock");
    let note = |round: usize| {
        let started = Instant::now();
        world.run(card(&["note", "T-0001", "--text", &format!("round {round}")]).by("ann")).json();
        started.elapsed()
    };
    let usual = (0..5).map(note).min().unwrap();
    let mut delayed = Vec::new();
    for round in 0..ROUNDS {
        let mut command = world.process(env!("CARGO_BIN_EXE_workfile"));
        command.args(["card", "patch", "T-0001", "--json-input", "-"]).env("USER", "ben");
        let quiet = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = quiet.spawn().unwrap();
        let changes = json!({"milestone": format!("m{round}")}).to_string();
        child.stdin.take().unwrap().write_all(changes.as_bytes()).unwrap();
        // Each round waits a little longer once the lock is there, so that the kill meets every step of the write.
        while !lock.exists() && child.try_wait().unwrap().is_none() {}
        let held = Instant::now();
        while held.elapsed() < Duration::from_micros(100 * round as u64) {}
        child.kill().unwrap();
        child.wait().unwrap();
        let is_left = lock.exists();
        let took = note(round);
        if is_left {
            delayed.push(took);
        }
        let shown = world.run(["card", "show", "T-0001"]).json();
        let body = shown["body"].as_str().unwrap();
        assert_eq!(body.matches("A long line of body.").count(), 20_000);
        assert!(body.ends_with(&format!("round {round}")));
    }
    // A dead holder's lock is broken at once: nobody waits for it to get old, not even for one round of waiting.
    assert!(!delayed.is_empty(), "no kill met the lock");
    let fastest = delayed.iter().min().unwrap();
    assert!(*fastest < usual + Duration::from_millis(200), "{fastest:?} instead of {usual:?}");
    let files = tree(&world.root);
    assert_eq!(named(&files, ".project/cards/", "md").len(), 1);
    assert_eq!(named(&files, LOCKS, "lock"), Vec::<&str>::new());
}
