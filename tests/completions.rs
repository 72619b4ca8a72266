//! Completions: the scripts are run by the shells they are for.
//!
//! bash is asked wherever it is installed; zsh and fish only read their scripts, and complete where they can be asked.

use crate::process::{run_process, text};
use crate::world::World;
use std::path::Path;

/// Whether a shell is installed; says so when it is not.
fn has(world: &World, shell: &str) -> bool {
    let found = world.process(shell).arg("--version").output().is_ok();
    if !found {
        eprintln!("SKIPPED: {shell} is not installed, so its completions are not tested");
    }
    found
}

/// A world whose programs find `workfile`, with a card whose id and one whose title are hostile.
fn world() -> World {
    let folder = Path::new(env!("CARGO_BIN_EXE_workfile")).parent().unwrap().to_str().unwrap();
    World::new()
        .card("T-0001", |card| card.status("next").title("Rework: the rates"))
        .card("T-0002", |card| card.doing().claimed_by("ben").title("a\u{1b}]0;x\u{7}b"))
        .file(".project/cards/T-0003-x.md", "---\nid: $(touch made)\ntitle: x\n---\n")
        .file("notes.md", "")
        .file("my notes.md", "")
        .env("PATH", &format!("{folder}:{}", std::env::var("PATH").unwrap()))
}

/// What bash offers for the last of these words.
fn bash(world: &World, words: &[&str]) -> Vec<String> {
    let script = world.run(["completions", "bash"]).text();
    let ask = "COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _workfile; \
               for one in \"${COMPREPLY[@]}\"; do printf '%s\\n' \"$one\"; done";
    let mut command = world.process("bash");
    command.args(["--norc", "--noprofile", "-uc", &format!("{script}\n{ask}"), "bash"]).args(words);
    let ended = run_process(&mut command, b"");
    assert_eq!((ended.code, text(&ended.stderr)), (Some(0), ""), "{words:?}");
    text(&ended.stdout).lines().map(str::to_owned).collect()
}

#[test]
fn bash_completes_commands_flags_values_and_cards() {
    let world = world();
    if !has(&world, "bash") {
        return;
    }
    for (words, expected) in [
        (&["ca"][..], &["card"][..]),
        (&["card", "tr"], &["transition"]),
        (&["claude", ""], &["install", "uninstall", "check"]),
        (&["help", "ne"], &["next"]),
        (&["help", "card", "cl"], &["claim"]),
        (&["card", "claim", "--sc"], &["--scope"]),
        (&["card", "claim", "--dry"], &[]),
        (&["init", "--dry"], &["--dry-run"]),
        (&["card", "list", "--status", "d"], &["doing", "deferred", "done", "discarded"]),
        (&["card", "list", "--status", "doing,re"], &["doing,review"]),
        (&["card", "list", "--status", "=", "rev"], &["review"]),
        (
            &["card", "list", "--status", "="],
            &["backlog", "next", "doing", "review", "blocked", "deferred", "done", "discarded"],
        ),
        (&["card", "create", "--priority", ""], &["critical", "high", "medium", "low"]),
        (&["card", "create", "--title", ""], &[]),
        (&["card", "create", "--body-file", "not"], &["notes.md"]),
        (&["card", "create", "--body-file", "my"], &["my notes.md"]),
        (&["card", "claim", "T-0001", "--scope", "src,not"], &["src,notes.md"]),
        (&["card", "show", ""], &["T-0001", "T-0002"]),
        (&["card", "show", "T-0001", "--j"], &["--json"]),
        (&["card", "create", "--depends", "T-0001,"], &["T-0001,T-0001", "T-0001,T-0002"]),
        (&["card", "transition", "--scope", "src", "T-0001", "rev"], &["review"]),
        (&["card", "transition", "--scope", "=", "src", "T-0001", "rev"], &["review"]),
        (&["completions", "z"], &["zsh"]),
        (&["frobnicate", ""], &[]),
    ] {
        let words: Vec<&str> = [&["workfile"], words].concat();
        assert_eq!(bash(&world, &words), expected, "{words:?}");
    }
    assert!(!world.root.join("made").exists());
}

#[test]
fn fish_and_zsh_can_use_their_scripts() {
    let world = world();
    for shell in ["fish", "zsh"].into_iter().filter(|shell| has(&world, shell)) {
        world.write("script", world.run(["completions", shell]).text());
        let ended = run_process(world.process(shell).args(["-n", "script"]), b"");
        assert_eq!((ended.code, text(&ended.stderr)), (Some(0), ""), "{shell}");
    }
    if !has(&world, "fish") {
        return;
    }
    world.write("script", world.run(["completions", "fish"]).text());
    for (line, expected) in [
        ("card tr", "transition\tmove a card to another status; to doing is a claim\n"),
        ("card claim --re", "--reason\twhy, with --force; it is written into the card\n"),
        ("card list --status doing,rev", "doing,review\tany of these statuses\n"),
        ("card transition --scope src T-0001 rev", "review\tSTATUS\n"),
        ("card show ", "T-0001\tRework: the rates\nT-0002\ta\\u{1b}]0;x\\u{7}b\n"),
    ] {
        let ask = format!("source script; complete -C 'workfile {line}'");
        let ended = run_process(world.process("fish").args(["--no-config", "-c", &ask]), b"");
        assert_eq!((text(&ended.stdout), text(&ended.stderr)), (expected, ""), "{line}");
    }
    assert!(!world.root.join("made").exists());
}

#[test]
fn ids_are_printed_for_shells_and_nothing_else_is() {
    let world = world();
    world.run(["__complete", "cards"]).success("T-0001\tRework: the rates\nT-0002\ta\\u{1b}]0;x\\u{7}b\n");
    world.run(["__complete", "frobnicate"]).success("");
    World::bare().run(["__complete", "cards"]).success("");
    let broken = World::new().file("project.config.mjs", "import x from 'y'\n");
    broken.run(["__complete", "cards"]).success("");
}

#[test]
fn another_shell_is_refused() {
    let world = World::bare();
    let error = world.run(["completions", "tcsh", "--json"]).fails(1, "CLI_OPTION_INVALID");
    assert_eq!(error["details"]["allowed"], serde_json::json!(["bash", "zsh", "fish"]));
    world.run(["completions"]).fails(1, "CLI_ARGUMENT_REQUIRED");
}
