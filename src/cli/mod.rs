//! The command line: arguments in, one domain call, one answer out.
//!
//! Every command is a row of a family's table ([`Command`]); the same row parses its flags, prints its help and runs
//! it. Usage is checked first (command, flags, `--dry-run`), then the workspace loads, then the command acts.

mod agents;
mod args;
mod bundle;
mod card;
mod changelog;
mod claude;
mod completions;
mod demo;
mod doc;
mod doctor;
mod help;
mod init;
mod input;
mod memory;
mod near;
mod next;
mod print;
mod progress;
mod records;
mod schema;
mod search;
mod table;
mod terminal;
mod upgrade;

use crate::activity::actor::{self, Asked, Identity, ProcessEnv};
use crate::failure::{Code, Failure};
use crate::workspace::{Access, Missing, Start, Workspace};
pub use args::{Args, FREE_TEXT, Flag, Offers, Takes, invalid_option, split_list};
pub use print::{Output, sanitise};
use std::ffi::OsString;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
pub use table::{Column, Table};

/// One command.
#[derive(Clone, Copy)]
pub struct Command {
    /// Its words: `["card", "claim"]`.
    pub words: &'static [&'static str],
    /// What stands behind them in the help: `ID`.
    pub operands: &'static str,
    /// How many operands there may be.
    pub most_operands: usize,
    /// One line of help.
    pub about: &'static str,
    /// Its own flags.
    pub flags: &'static [Flag],
    /// One to three command lines and what each does; a listed command has them, and a test parses them.
    pub examples: &'static [(&'static str, &'static str)],
    /// Whether `--dry-run` is implemented.
    pub dry_run: DryRun,
    /// Whether the help lists it.
    pub listed: Listed,
    /// What it does.
    pub run: fn(&Context, &Args) -> Result<Output, Failure>,
}

impl Command {
    /// The same with examples.
    const fn examples(self, examples: &'static [(&'static str, &'static str)]) -> Self {
        Self { examples, ..self }
    }
}

/// A listed command without a dry run.
const fn command(
    words: &'static [&'static str],
    operands: &'static str,
    most_operands: usize,
    about: &'static str,
    flags: &'static [Flag],
    run: fn(&Context, &Args) -> Result<Output, Failure>,
) -> Command {
    let (dry_run, listed) = (DryRun::No, Listed::Yes);
    Command { words, operands, most_operands, about, flags, examples: &[], dry_run, listed, run }
}

/// Whether a command implements `--dry-run`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DryRun {
    /// It does.
    Yes,
    /// `CLI_FLAG_UNSUPPORTED`.
    No,
}

/// Whether the help lists a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listed {
    /// It does.
    Yes,
    /// For this project's own use.
    No,
}

/// Every command, family by family.
pub fn commands() -> impl Iterator<Item = &'static Command> {
    [
        card::COMMANDS,
        next::COMMANDS,
        doc::COMMANDS,
        changelog::COMMANDS,
        memory::COMMANDS,
        search::COMMANDS,
        agents::COMMANDS,
        bundle::COMMANDS,
        init::COMMANDS,
        claude::COMMANDS,
        doctor::COMMANDS,
        upgrade::COMMANDS,
        demo::COMMANDS,
        schema::COMMANDS,
        completions::COMMANDS,
    ]
    .into_iter()
    .flatten()
}

/// What a command runs in.
pub struct Context {
    /// The current directory.
    pub cwd: PathBuf,
    start: Start,
    missing: Missing,
    verbose: bool,
    /// Whether stdout will be JSON.
    pub json: bool,
}

impl Context {
    fn new(args: &Args) -> Result<Self, Failure> {
        let cwd = std::env::current_dir().map_err(|error| {
            Failure::new(Code::INTERNAL_ERROR, format!("the current directory cannot be read: {error}"))
        })?;
        let start = match args.get("root") {
            Some(root) => Start::Exactly(cwd.join(root)),
            None => Start::From(cwd.clone()),
        };
        let missing = if args.has("allow-new") { Missing::Allow } else { Missing::Refuse };
        Ok(Self { cwd, start, missing, verbose: args.has("verbose"), json: args.has("json") })
    }

    /// The workspace that `--root` or the current directory names.
    pub fn workspace(&self) -> Result<Workspace, Failure> {
        let workspace = Workspace::load(&self.start, self.missing, Access::Write)?;
        self.announce(&workspace.root);
        Ok(workspace)
    }

    /// The same whatever schema its `VERSION` names.
    pub fn workspace_to_migrate(&self) -> Result<Workspace, Failure> {
        let workspace = Workspace::load_to_migrate(&self.start, self.missing, Access::Write)?;
        self.announce(&workspace.root);
        Ok(workspace)
    }

    /// Says where the workspace is, under `--verbose`.
    fn announce(&self, root: &Path) {
        if self.verbose {
            print::aside(&format!("workfile: workspace {}", root.display()));
        }
    }

    /// The directory `--root` names, else the current one, whether or not it is a workspace.
    pub fn directory(&self) -> PathBuf {
        match &self.start {
            Start::Exactly(root) => root.clone(),
            Start::From(cwd) => cwd.clone(),
        }
    }

    /// Who is asking, with an explicit or configured name checked.
    pub fn identity(&self, args: &Args) -> Result<Identity, Failure> {
        actor::identify(Asked { explicit: args.get("actor"), ..Asked::NOTHING }, &ProcessEnv)
    }
}

/// Runs the command line that begins with `first`; the answer is the exit number.
pub fn run(first: Option<OsString>, rest: impl Iterator<Item = OsString>) -> u8 {
    let words: Vec<OsString> = first.into_iter().chain(rest).collect();
    let json = words.iter().any(|word| word == "--json");
    match execute(&words) {
        // Its memory goes with the process, at once.
        Ok(output) => print::output(&ManuallyDrop::new(output), json),
        Err(failure) => print::failure(&failure, json),
    }
}

fn execute(words: &[OsString]) -> Result<Output, Failure> {
    let (command, used) = match find(words)? {
        Found::Command(command, used) => (command, used),
        Found::Help(help) => return Ok(Output::text(help)),
    };
    let name = command.words.join(" ");
    let args = Args::parse(&words[used..], command.flags, command.most_operands, &name)?;
    if args.has("help") {
        return Ok(Output::text(help::command(command)));
    }
    if args.has("dry-run") && command.dry_run == DryRun::No {
        let text = format!("`workfile {name}` has no dry run");
        let mut failure = Failure::new(Code::CLI_FLAG_UNSUPPORTED, text).with("flag", "--dry-run");
        failure.remedy.extend(looks(command.words[0]));
        return Err(failure);
    }
    (command.run)(&Context::new(&args)?, &args)
}

/// The command that shows what those of a family are about to change.
fn looks(family: &str) -> Option<String> {
    let command = match family {
        "card" => "card list",
        "changelog" => "changelog preview",
        "doc" => "doc list",
        "memory" => "memory list",
        _ => return None,
    };
    Some(format!("workfile {command}"))
}

enum Found {
    Command(&'static Command, usize),
    Help(String),
}

/// Other words for the same commands.
const ALIASES: &[(&[&str], &[&str])] = &[
    (&["docs"], &["doc"]),
    (&["history"], &["changelog"]),
    (&["changelog", "create"], &["changelog", "add"]),
    (&["memory", "create"], &["memory", "add"]),
];

/// The command whose words stand first: the longest match wins.
fn find(words: &[OsString]) -> Result<Found, Failure> {
    let mut texts: Vec<&str> = words.iter().map_while(|word| word.to_str()).take(3).collect();
    for (alias, meant) in ALIASES {
        if texts.starts_with(alias) {
            texts[..alias.len()].copy_from_slice(meant);
        }
    }
    match texts.first() {
        Some(&"help") if words.len() > 1 => return help_on(&words[1..]),
        None | Some(&("--help" | "-h" | "help")) => return Ok(Found::Help(help::program())),
        Some(&("--version" | "-V")) => return find(&[OsString::from("version")]),
        // Their help alone comes here: `main` sends the rest to rooms of their own.
        Some(&"hook") => return Ok(Found::Help(help::hook())),
        Some(&"mcp") => return Ok(Found::Help(help::mcp())),
        Some(_) => {}
    }
    let matching = |command: &&Command| {
        texts.len() >= command.words.len() && command.words.iter().zip(&texts).all(|(want, got)| want == got)
    };
    if let Some(command) = commands().filter(matching).max_by_key(|command| command.words.len()) {
        return Ok(Found::Command(command, command.words.len()));
    }
    let word = texts[0];
    if !commands().any(|command| command.words[0] == word) {
        return Err(unknown_command(word, texts.get(1).copied()));
    }
    match texts.get(1) {
        Some(&("--help" | "-h" | "help")) => Ok(Found::Help(help::family(word))),
        Some(second) if !second.starts_with('-') => {
            let text = format!("`workfile {word}` has no command `{second}`");
            let failure = Failure::new(Code::CLI_COMMAND_UNKNOWN, text);
            let family = listed().filter(|command| command.words[0] == word);
            let meant = near::nearest(second, family.filter_map(|command| command.words.get(1).copied()));
            Err(failure.remedy(match meant {
                Some(meant) => format!("workfile {word} {meant}"),
                None => format!("workfile {word} --help"),
            }))
        }
        _ => {
            let text = format!("`workfile {word}` needs a command");
            Err(Failure::new(Code::CLI_COMMAND_REQUIRED, text).remedy(format!("workfile {word} --help")))
        }
    }
}

/// The commands that the help lists.
fn listed() -> impl Iterator<Item = &'static Command> {
    commands().filter(|command| command.listed == Listed::Yes)
}

/// `help card claim` is `card claim --help`.
fn help_on(words: &[OsString]) -> Result<Found, Failure> {
    let asked: Vec<OsString> = words.iter().cloned().chain([OsString::from("--help")]).collect();
    Ok(match find(&asked)? {
        Found::Command(command, _) => Found::Help(help::command(command)),
        help @ Found::Help(_) => help,
    })
}

/// No command begins with `word`; the remedy is what was probably meant.
fn unknown_command(word: &str, second: Option<&str>) -> Failure {
    if word.starts_with('-') {
        let text = format!("a command comes first and its flags behind it, so `{word}` is none");
        return Failure::new(Code::CLI_COMMAND_REQUIRED, text).remedy("workfile help");
    }
    let failure = Failure::new(Code::CLI_COMMAND_UNKNOWN, format!("there is no command `{word}`"));
    // `list` for `card list`.
    if let Some(command) = listed().find(|command| command.words.get(1) == Some(&word)) {
        return failure.remedy(format!("workfile {}", command.words.join(" ")));
    }
    let Some(first) = near::nearest(word, listed().map(|command| command.words[0])) else {
        return failure.remedy("workfile help");
    };
    let whole = listed().find(|command| {
        command.words[0] == first && command.words.get(1).is_none_or(|word| second == Some(word))
    });
    failure.remedy(match whole {
        Some(command) => format!("workfile {}", command.words.join(" ")),
        None => format!("workfile {first} --help"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A command line as a shell reads it, as far as its first redirection.
    fn words(line: &str) -> Vec<OsString> {
        let mut words = Vec::new();
        for (at, part) in line.split('"').enumerate() {
            if at % 2 == 1 {
                words.push(part.into());
            } else {
                words.extend(part.split_whitespace().map(OsString::from));
            }
        }
        let end = words.iter().position(|word| word == ">" || word == "|").unwrap_or(words.len());
        words.truncate(end);
        words
    }

    #[test]
    fn every_example_is_a_call_of_its_command() {
        for command in commands() {
            let name = command.words.join(" ");
            let many = if command.listed == Listed::Yes { 1..=3 } else { 0..=3 };
            assert!(many.contains(&command.examples.len()), "`{name}` needs one to three examples");
            for (line, about) in command.examples {
                assert!(!about.is_empty() && !about.ends_with('.'), "{line}");
                let words = words(line);
                assert_eq!(words[0], "workfile", "{line}");
                let Ok(Found::Command(found, used)) = find(&words[1..]) else { panic!("{line}") };
                assert_eq!(found.words, command.words, "{line}");
                let args = Args::parse(&words[1 + used..], command.flags, command.most_operands, &name);
                let args = args.unwrap_or_else(|failure| panic!("{line}: {failure}"));
                let is_needed = |operand: &&str| !operand.is_empty() && !operand.contains(['[', '…']);
                let needed = command.operands.split(' ').filter(is_needed).count();
                assert!(needed == 0 || args.word(needed - 1).is_some(), "{line}");
                for flag in command.flags {
                    let (Offers::Word(offered) | Offers::Words(offered)) = flag.offers else { continue };
                    let given = args.list(flag.name).unwrap_or_default();
                    assert!(given.iter().all(|word| offered.contains(&&**word)), "{line}");
                }
                assert!(!args.has("dry-run") || command.dry_run == DryRun::Yes, "{line}");
            }
        }
    }
}
