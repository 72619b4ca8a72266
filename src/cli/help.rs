//! Help: what a command is for, how it is called and what it looks like in use, from the tables alone.
//!
//! Every line fits [`WIDTH`] columns; a long explanation goes on under its own column.

use super::args::GLOBAL;
use super::{Command, Flag, listed};
use std::fmt::Write as _;

/// No line of help is longer.
const WIDTH: usize = 100;
/// Where the explanation of a command begins, and that of a flag.
const COMMANDS: usize = 32;
const FLAGS: usize = 28;
/// Where the explanation of an example begins.
const EXAMPLES: usize = 6;

/// The help of the whole program.
pub(super) fn program() -> String {
    let mut out = String::from(
        "workfile keeps several agents and people in one Git repository out of each other's way.\n\n\
         Usage: workfile COMMAND [flags]\n\n",
    );
    entry(&mut out, "hook EVENT", COMMANDS, "what Claude Code runs around tool calls");
    entry(
        &mut out,
        "mcp",
        COMMANDS,
        "serve this workspace to an agent over MCP, on standard input and output",
    );
    commands(&mut out, listed());
    out.push_str("\nFlags of every command:\n");
    flags(&mut out, GLOBAL);
    out.push_str("\n`workfile COMMAND --help` says more.");
    out
}

/// The help of `hook`, which no row of a table describes: it has neither flags nor a workspace to load.
pub(super) fn hook() -> String {
    let mut out = String::from(
        "what Claude Code runs around tool calls; `workfile claude install` registers it\n\n\
         Usage: workfile hook EVENT\n\n",
    );
    for (event, about) in [
        ("session-start", "tells a new session who holds what"),
        ("pre-tool-use", "asks before an edit inside somebody else's scope"),
        (
            "post-tool-use",
            "keeps the ledger, and tells what a shell command changed inside somebody else's scope",
        ),
    ] {
        entry(&mut out, event, 18, about);
    }
    out.push_str(
        "\nThe payload is JSON on standard input. The answer is JSON on standard output, or nothing.\n\
         The exit number is always 0. WORKFILE_HOOKS=off in the environment switches hooks off.",
    );
    out
}

/// The help of `mcp`, which is no row of a table either: a server reads its own few flags.
pub(super) fn mcp() -> String {
    let mut out = String::from(
        "serve this workspace to an agent over MCP: one JSON message a line, on standard input and output\n\n\
         Usage: workfile mcp [serve] [flags]\n       workfile mcp inspect | config [--root DIR] [--read-only]\n       \
         workfile-mcp [flags]\n\nCommands:\n",
    );
    for (name, about) in [
        ("serve", "what happens without a word; `stdio` is the same"),
        ("inspect", "prints what the server offers, as JSON"),
        ("config", "prints what a host has to run to start it, as JSON"),
    ] {
        entry(&mut out, name, FLAGS, about);
    }
    out.push_str("\nFlags:\n");
    for (flag, about) in [
        ("--root DIR", "the workspace; without it where CLAUDE_PROJECT_DIR or the current directory is"),
        ("--read-only", "offers only the tools that change nothing"),
        ("--max-result-bytes N", "longest answer, 1024 to 16777216; without it mcp.maxToolResultBytes"),
    ] {
        entry(&mut out, flag, FLAGS, about);
    }
    out
}

/// The help of one family.
pub(super) fn family(family: &str) -> String {
    let mut out = format!("Usage: workfile {family} COMMAND [flags]\n\n");
    commands(&mut out, listed().filter(|command| command.words[0] == family));
    out.push_str("\n`workfile COMMAND --help` says more.");
    out
}

/// The help of one command.
pub(super) fn command(command: &Command) -> String {
    let mut out = format!("{}\n\nUsage: workfile {}", command.about, command.words.join(" "));
    if !command.operands.is_empty() {
        let _ = write!(out, " {}", command.operands);
    }
    out.push_str(" [flags]\n");
    if let [family] = command.words
        && listed().any(|other| other.words.len() > 1 && other.words[0] == *family)
    {
        out.push_str("\nCommands:\n");
        commands(&mut out, listed().filter(|other| other.words[0] == *family));
    }
    if !command.examples.is_empty() {
        out.push_str("\nExamples:\n");
    }
    for (line, about) in command.examples {
        let _ = writeln!(out, "  {line}");
        wrapped(&mut out, 0, EXAMPLES, about);
    }
    if !command.flags.is_empty() {
        out.push_str("\nFlags:\n");
        flags(&mut out, command.flags);
    }
    out.push_str("\nFlags of every command:\n");
    flags(&mut out, GLOBAL);
    out
}

fn commands<'a>(out: &mut String, rows: impl Iterator<Item = &'a Command>) {
    for command in rows {
        let usage = format!("{} {}", command.words.join(" "), command.operands);
        entry(out, usage.trim_end(), COMMANDS, command.about);
    }
}

fn flags(out: &mut String, flags: &[Flag]) {
    for flag in flags {
        entry(out, format!("--{} {}", flag.name, flag.value).trim_end(), FLAGS, flag.help);
    }
}

/// What is explained, and from `column` on the explanation; on a line of its own where there is no room.
fn entry(out: &mut String, what: &str, column: usize, about: &str) {
    let start = out.len();
    let _ = write!(out, "  {what} ");
    let mut used = out[start..].chars().count();
    if used > column {
        out.truncate(out.trim_end().len());
        out.push('\n');
        used = 0;
    }
    wrapped(out, used, column, about);
}

/// Writes `text` from `column` on, on a line of which `used` columns are taken.
fn wrapped(out: &mut String, mut used: usize, column: usize, text: &str) {
    for word in text.split(' ') {
        let length = word.chars().count();
        if used > column && used + 1 + length > WIDTH {
            out.push('\n');
            used = 0;
        }
        if used <= column {
            let _ = write!(out, "{:1$}{word}", "", column - used);
            used = column + length;
        } else {
            let _ = write!(out, " {word}");
            used += 1 + length;
        }
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::commands as every;

    #[test]
    fn every_line_fits() {
        let families = every().map(|command| family(command.words[0]));
        for help in every().map(command).chain(families).chain([program(), hook()]) {
            for line in help.lines() {
                assert!(line.chars().count() <= WIDTH && line == line.trim_end(), "{line:?}");
            }
        }
    }

    #[test]
    fn a_long_explanation_goes_on_under_its_column() {
        let long = "word ".repeat(20) + "end";
        let mut out = String::new();
        entry(&mut out, "--flag", 30, &long);
        entry(&mut out, &"x".repeat(29), 30, "about");
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(lines[0], format!("  --flag{:22}{}", "", "word ".repeat(14).trim_end()));
        assert_eq!(lines[1], format!("{:30}{}end", "", "word ".repeat(6)));
        assert_eq!(lines[2..], [&*format!("  {}", "x".repeat(29)), &*format!("{:30}about", "")]);
        assert_eq!(lines.len(), 4);
    }
}
