//! `workfile completions SHELL`: what a shell needs to complete command lines, from the same tables that parse them.
//!
//! A script knows commands, flags and fixed words by itself. Ids of cards it asks the program for, which answers
//! `__complete` quickly, quietly, and with nothing that a shell could take for more than a word.

mod bash;
mod fish;
mod zsh;

use super::args::GLOBAL;
use super::{Args, Command, Context, DryRun, Flag, Listed, Offers, Output, invalid_option, listed, sanitise};
use crate::failure::Failure;
use crate::path::one_line;
use crate::work::fields::STATUSES;
use crate::work::load;
use std::fmt::Write as _;

const SHELLS: &[&str] = &["bash", "zsh", "fish"];

pub(super) const COMMANDS: &[Command] = &[
    Command {
        words: &["completions"],
        operands: "SHELL",
        most_operands: 1,
        about: "print completions for bash, zsh or fish",
        flags: &[],
        examples: &[
            (
                "workfile completions bash > ~/.local/share/bash-completion/completions/workfile",
                "for every bash that starts from now on",
            ),
            (
                "workfile completions zsh > ~/.zfunc/_workfile",
                "for zsh, with ~/.zfunc in `fpath` before `compinit` runs",
            ),
            ("workfile completions fish > ~/.config/fish/completions/workfile.fish", "for fish"),
        ],
        dry_run: DryRun::No,
        listed: Listed::Yes,
        run: script,
    },
    Command {
        words: &["__complete"],
        operands: "KIND",
        most_operands: 1,
        about: "print the ids that a shell completes with",
        flags: &[],
        examples: &[],
        dry_run: DryRun::No,
        listed: Listed::No,
        run: ids,
    },
];

fn script(_: &Context, args: &Args) -> Result<Output, Failure> {
    Ok(Output::text(match args.need(0, "SHELL")? {
        "bash" => bash::script(),
        "zsh" => zsh::script(),
        "fish" => fish::script(),
        other => return Err(unknown(other)),
    }))
}

fn unknown(shell: &str) -> Failure {
    let failure = invalid_option("shell", shell, "bash, zsh or fish");
    Failure { text: format!("there are completions for {}, not for `{shell}`", SHELLS.join(", ")), ..failure }
        .with("allowed", SHELLS)
}

/// The live cards, one a line: the id, a tab, the title. Whoever presses a key is told nothing of what is wrong.
#[allow(clippy::unnecessary_wraps, reason = "every command of the table can fail")]
fn ids(context: &Context, args: &Args) -> Result<Output, Failure> {
    let listing = || load::all(&context.workspace().ok()?).ok();
    let listing = if args.word(0) == Some("cards") { listing() } else { None };
    let mut text = String::new();
    for card in listing.iter().flat_map(|listing| &listing.cards).filter(|card| !card.is_archived()) {
        if is_plain(&card.id) {
            let title = sanitise(&one_line(card.field("title").unwrap_or_default()));
            let _ = writeln!(text, "{}\t{title}", card.id);
        }
    }
    Ok(Output::text(text))
}

/// Whether every shell takes an id for one word. Ids come from files that strangers write.
fn is_plain(id: &str) -> bool {
    id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
        && !id.starts_with('-')
}

/// The first words, each with what it is for.
fn firsts() -> Vec<(&'static str, String)> {
    let mut firsts: Vec<(&str, String)> = Vec::new();
    for command in listed() {
        match (command.words, firsts.iter_mut().find(|(word, _)| *word == command.words[0])) {
            ([word], None) => firsts.push((word, command.about.to_owned())),
            ([word, second, ..], None) => firsts.push((word, (*second).to_owned())),
            ([_, second, ..], Some((_, about))) => {
                let _ = write!(about, ", {second}");
            }
            (_, Some(_)) | ([], _) => {}
        }
    }
    firsts.push(("help", "what a command is for and how it is called".to_owned()));
    firsts
}

/// The families, each with its second words and what they are for.
fn families() -> Vec<(&'static str, Vec<(&'static str, &'static str)>)> {
    let second = |first| {
        move |command: &Command| {
            let second = command.words.get(1).filter(|_| command.words[0] == first)?;
            Some((*second, command.about))
        }
    };
    let families =
        firsts().into_iter().map(|(first, _)| (first, listed().filter_map(second(first)).collect()));
    families.filter(|(_, seconds): &(_, Vec<_>)| !seconds.is_empty()).collect()
}

/// The flags that do something for a command.
fn flags(command: &Command) -> impl Iterator<Item = &'static Flag> {
    let dry_run = command.dry_run;
    let global = GLOBAL.iter().filter(move |flag| flag.name != "dry-run" || dry_run == DryRun::Yes);
    command.flags.iter().chain(global)
}

/// What each operand of a command is completed with.
fn operands(command: &Command) -> Vec<(&'static str, Offers)> {
    let offers = |name| match (command.words[0], name) {
        ("card", "ID") => Offers::Card,
        ("card", "STATUS") => Offers::Word(STATUSES),
        ("completions", "SHELL") => Offers::Word(SHELLS),
        _ => Offers::Nothing,
    };
    command.operands.split_whitespace().map(|name| (name, offers(name))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_is_more_than_a_word_is_no_id() {
        for (id, plain) in [
            ("T-0001", true),
            ("API_1.x", true),
            ("$(id)", false),
            ("`id`", false),
            ("a b", false),
            ("a;b", false),
            ("a,b", false),
            ("-x", false),
            ("é", false),
            ("a\nb", false),
        ] {
            assert_eq!(is_plain(id), plain, "{id}");
        }
    }

    #[test]
    fn every_script_knows_every_listed_command_and_flag() {
        for script in [bash::script(), zsh::script(), fish::script()] {
            for command in listed() {
                assert!(command.words.iter().all(|word| script.contains(word)), "{:?}", command.words);
                assert!(flags(command).all(|flag| script.contains(flag.name)), "{:?}", command.words);
            }
            assert!(!script.contains("claude sync") && !script.contains("plugin"), "{script}");
            assert!(script.contains("command workfile __complete cards 2>/dev/null"));
        }
    }
}
