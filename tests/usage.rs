//! What somebody sees who does not know the program: help where it is looked for, errors that say how to go on.

use crate::process::{call, text};
use crate::world::World;

#[test]
fn a_mistyped_command_is_answered_with_the_one_that_was_meant() {
    let world = World::bare();
    for (typed, code, remedy) in [
        (&["list"][..], "CLI_COMMAND_UNKNOWN", "`workfile card list`"),
        (&["whoami"], "CLI_COMMAND_UNKNOWN", "`workfile agents whoami`"),
        (&["crad", "list"], "CLI_COMMAND_UNKNOWN", "`workfile card list`"),
        (&["crad", "x"], "CLI_COMMAND_UNKNOWN", "`workfile card --help`"),
        (&["nxt"], "CLI_COMMAND_UNKNOWN", "`workfile next`"),
        (&["card", "lst"], "CLI_COMMAND_UNKNOWN", "`workfile card list`"),
        (&["card", "frobnicate"], "CLI_COMMAND_UNKNOWN", "`workfile card --help`"),
        (&["frobnicate"], "CLI_COMMAND_UNKNOWN", "`workfile help`"),
        (&["--root", ".", "card", "list"], "CLI_COMMAND_REQUIRED", "flags behind it"),
        (&["card", "list", "--stauts", "doing"], "CLI_ARGUMENT_UNKNOWN", "(perhaps --status)"),
        (&["card", "list", "--frobnicate"], "CLI_ARGUMENT_UNKNOWN", "no flag --frobnicate; try"),
        (&["card", "claim"], "CLI_ARGUMENT_REQUIRED", "`workfile card claim --help`"),
        (&["card", "create", "--title"], "CLI_ARGUMENT_REQUIRED", "`workfile card create --help`"),
    ] {
        let error = world.run(call([]).words(typed)).fails(1, code);
        assert!(error.as_str().unwrap().contains(remedy), "{typed:?}: {error}");
    }
}

#[test]
fn help_is_the_same_wherever_it_is_asked_for() {
    let world = World::bare();
    for (asked, usual) in [
        (&["help", "card", "claim"][..], &["card", "claim", "--help"][..]),
        (&["help", "card"], &["card", "--help"]),
        (&["help", "claude"], &["claude", "--help"]),
        (&["help", "hook"], &["hook", "--help"]),
        (&["help"], &[]),
    ] {
        let [asked, usual] = [asked, usual].map(|words| world.run(call([]).words(words)).text());
        assert_eq!(asked, usual);
        assert!(asked.contains("Usage: workfile "), "{asked}");
    }
    let family = world.run(["claude", "--help"]).text();
    assert!(family.contains("  claude install ") && family.contains("  claude check "), "{family}");
    let events = world.run(["hook", "-h"]).text();
    assert!(["session-start", "pre-tool-use", "post-tool-use"].iter().all(|event| events.contains(event)));
    world.run(["help", "crad"]).fails(1, "CLI_COMMAND_UNKNOWN");
}

#[test]
fn an_empty_list_says_whether_there_is_any_card() {
    let world = World::new();
    let none = "there is no card yet: `workfile card create --title TEXT` makes one\n";
    world.run(["card", "list"]).check(0, "", &format!("workfile: {none}"));
    world.run(["next"]).success(none);
    let world = world.card("T-0001", |card| card.status("review"));
    world.run(["card", "list", "--status", "doing"]).check(0, "", "workfile: no card matches\n");
    assert!(world.run(["next"]).text().starts_with("nothing is ready"));
}

#[test]
fn a_claim_says_what_it_does_not_guard() {
    let world = World::new().card("T-0001", |card| card.status("next")).file("src/api/a.ts", "");
    let root = text(world.root.as_os_str().as_encoded_bytes()).to_owned();
    let claim = |scope: &str| call(["card", "claim", "T-0001", "--scope", scope]).env("USER", "ann");
    let rule = format!("entries are paths without `..`, written from {root}");
    let nothing = |entry: &str| format!("workfile: the scope entry {entry} covers nothing; {rule}\n");
    for (scope, folder, notes) in [
        ("src/api", "", String::new()),
        ("new/file.ts,src/*.ts,.", "src", String::new()),
        ("/etc,src,../x", "", nothing("/etc") + &nothing("../x")),
        (
            "api",
            "src",
            format!("workfile: there is no api in the workspace, only in the current directory; {rule}\n"),
        ),
        (
            "",
            "",
            "workfile: T-0001 has no scope, so no edit is asked about; `workfile card claim T-0001 --scope PATHS` gives it one\n"
                .to_owned(),
        ),
    ] {
        world.run(claim(scope).cwd(folder)).check(0, "T-0001 claimed by ann@local\n", &notes);
    }
}

#[test]
fn a_refused_value_says_where_the_accepted_ones_come_from() {
    let world = World::new();
    let error =
        world.run(["card", "create", "--title", "x", "--area", "apiary"]).fails(1, "CARD_ENUM_INVALID");
    let error = error.as_str().unwrap();
    assert!(
        error.contains("`area` of the new card") && error.contains("`cards.areas`\naccepted: "),
        "{error}"
    );
    let error = world.run(["card", "create", "--title", "x", "--due", "soon"]).fails(1, "CARD_DATE_INVALID");
    assert!(error.as_str().unwrap().contains("of the new card"), "{error}");
}

#[test]
fn a_patch_of_nothing_shows_how_one_is_written() {
    let world = World::new().card("T-0001", |card| card.status("next"));
    let error = world.run(["card", "patch", "T-0001"]).fails(1, "CLI_ARGUMENT_REQUIRED");
    let error = error.as_str().unwrap();
    let (_, shown) = error.split_once("try `echo '").unwrap();
    let (json, command) = shown.split_once("' | workfile ").unwrap();
    let words: Vec<&str> = command.trim_end().trim_end_matches('`').split(' ').collect();
    world.run(call([]).words(&words).stdin(json)).success("T-0001 updated\n");
}
