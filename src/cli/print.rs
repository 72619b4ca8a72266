//! The one place that prints: JSON for programs, clean text for terminals.

use super::{Command, args::GLOBAL, listed};
use crate::failure::{Code, Failure};
use crate::path::{is_control, is_invisible};
use serde_json::Value as Json;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write as _};

/// What a command answers.
#[derive(Clone, Debug)]
pub struct Output {
    /// What `--json` prints.
    pub json: Json,
    /// What is printed without it.
    pub text: String,
    /// Notes for people, on stderr, without `--json` only; the JSON says the same in its own way.
    pub notes: Vec<String>,
    /// The exit number: not 0 for a check that found something.
    pub exit: u8,
}

impl Output {
    /// One answer in both forms.
    pub fn new(json: Json, text: impl Into<String>) -> Self {
        Self { json, text: text.into(), notes: Vec::new(), exit: 0 }
    }

    /// JSON in both forms.
    pub fn json(json: Json) -> Self {
        let text = pretty(&json);
        Self::new(json, text)
    }

    /// Text; as JSON it is a string.
    pub fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        Self::new(Json::String(text.clone()), text)
    }

    /// The same with a note for people.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// The same with another exit number.
    #[must_use]
    pub fn exit(mut self, exit: u8) -> Self {
        self.exit = exit;
        self
    }
}

/// JSON as it is printed: two spaces.
pub(super) fn pretty(json: &Json) -> String {
    serde_json::to_string_pretty(json).unwrap_or_default()
}

/// Prints an answer. A reader that has gone away is no failure.
pub(super) fn output(output: &Output, json: bool) -> u8 {
    let mut text = if json { pretty(&output.json) } else { output.text.clone() };
    let mut stdout = std::io::stdout().lock();
    if !json {
        for note in &output.notes {
            aside(note);
        }
        if stdout.is_terminal() {
            text = sanitise(&text);
        }
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        // A disk that is full, for one: half an answer must not pass for a whole one.
        Err(error) if !is_nobody(&error) => {
            let text = format!("the answer could not be printed: {error}");
            failure(&Failure::new(Code::INTERNAL_ERROR, text), json)
        }
        _ => output.exit,
    }
}

/// Whether there is nobody to print to: a reader that has gone away, a stdout that was closed from the start.
fn is_nobody(error: &io::Error) -> bool {
    const CLOSED: i32 = 9;
    error.kind() == io::ErrorKind::BrokenPipe || (cfg!(unix) && error.raw_os_error() == Some(CLOSED))
}

/// A line for people on stderr. What has been done stays done when nobody can read it.
pub(super) fn aside(line: &str) {
    let _ = writeln!(std::io::stderr(), "{}", sanitise(line));
}

/// Prints a failure on stderr.
pub(super) fn failure(failure: &Failure, json: bool) -> u8 {
    let mut text = if json { pretty(&failure.to_json()) } else { sanitise(&failure.to_string()) };
    if !json
        && let Some(Json::Array(allowed)) = failure.details.get("allowed")
        && !allowed.is_empty()
    {
        let words: Vec<&str> = allowed.iter().filter_map(Json::as_str).collect();
        let _ = write!(text, "\naccepted: {}", sanitise(&words.join(", ")));
    }
    let _ = writeln!(std::io::stderr(), "{text}");
    failure.code.exit()
}

/// `text` as a terminal may see it: control characters but line feed and tab, and those that change direction or have no
/// width, are shown as escapes.
pub fn sanitise(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => out.push(c),
            c if is_control(c) || is_invisible(c) => {
                let _ = write!(out, "{}", c.escape_unicode());
            }
            c => out.push(c),
        }
    }
    out
}

/// The help of the whole program.
pub(super) fn help() -> String {
    let mut out = String::from(
        "workfile keeps several agents and people in one Git repository out of each other's way.\n\n\
         Usage: workfile COMMAND [flags]\n\n",
    );
    let _ = writeln!(out, "  {:<38} what Claude Code runs around tool calls", "hook EVENT");
    rows(&mut out, listed());
    out.push_str("\nFlags of every command:\n");
    flags(&mut out, GLOBAL);
    out.push_str("\n`workfile COMMAND --help` says more.");
    out
}

/// The help of `hook`, which no row of a table describes: it has neither flags nor a workspace to load.
pub(super) fn hook_help() -> String {
    "what Claude Code runs around tool calls; `workfile claude install` registers it\n\n\
     Usage: workfile hook EVENT\n\n  \
       session-start   tells a new session who holds what\n  \
       pre-tool-use    asks before an edit inside somebody else's scope\n  \
       post-tool-use   keeps the ledger, and tells what a shell command changed inside somebody else's scope\n\n\
     The payload is JSON on standard input. The answer is JSON on standard output, or nothing.\n\
     The exit number is always 0. WORKFILE_HOOKS=off in the environment switches hooks off."
        .to_owned()
}

/// The help of one family.
pub(super) fn family_help(family: &str) -> String {
    let mut out = format!("Usage: workfile {family} COMMAND [flags]\n\n");
    rows(&mut out, listed().filter(|command| command.words[0] == family));
    out.push_str("\n`workfile COMMAND --help` says more.");
    out
}

/// The help of one command.
pub(super) fn command_help(command: &Command) -> String {
    let mut out = format!("{}\n\nUsage: workfile {}", command.about, command.words.join(" "));
    if !command.operands.is_empty() {
        let _ = write!(out, " {}", command.operands);
    }
    out.push_str(" [flags]\n");
    if let [family] = command.words
        && listed().any(|other| other.words.len() > 1 && other.words[0] == *family)
    {
        out.push_str("\nCommands:\n");
        rows(&mut out, listed().filter(|other| other.words[0] == *family));
    }
    if !command.flags.is_empty() {
        out.push_str("\nFlags:\n");
        flags(&mut out, command.flags);
    }
    out.push_str("\nFlags of every command:\n");
    flags(&mut out, GLOBAL);
    out
}

fn rows<'a>(out: &mut String, rows: impl Iterator<Item = &'a Command>) {
    for command in rows {
        let usage = format!("{} {}", command.words.join(" "), command.operands);
        let _ = writeln!(out, "  {usage:<38} {}", command.about);
    }
}

fn flags(out: &mut String, flags: &[super::Flag]) {
    for flag in flags {
        let usage = format!("--{} {}", flag.name, flag.value);
        let _ = writeln!(out, "  {usage:<26} {}", flag.help);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_never_sees_an_escape_sequence() {
        assert_eq!(sanitise("a\u{1b}]0;x\u{7}b\r"), "a\\u{1b}]0;x\\u{7}b\\u{d}");
        assert_eq!(sanitise("\u{202e}x\tй漢\n"), "\\u{202e}x\tй漢\n");
    }
}
