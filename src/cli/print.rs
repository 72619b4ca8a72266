//! The one place that prints: JSON for programs, clean text for terminals.

use super::table::Table;
use super::terminal::{Style, Terminal};
use crate::failure::{Code, Failure};
use crate::path::{is_control, is_invisible};
use serde_json::Value as Json;
use std::fmt::Write as _;
use std::io::{self, Write as _};

/// What a command answers.
#[derive(Clone, Debug)]
pub struct Output {
    /// What `--json` prints.
    pub json: Json,
    /// Rows that are printed without it, as columns on a terminal.
    pub table: Option<Table>,
    /// What is printed without it, below the rows.
    pub text: String,
    /// Notes for people, on stderr, without `--json` only; the JSON says the same in its own way.
    pub notes: Vec<String>,
    /// The exit number: not 0 for a check that found something.
    pub exit: u8,
}

impl Output {
    /// One answer in both forms.
    pub fn new(json: Json, text: impl Into<String>) -> Self {
        Self { json, table: None, text: text.into(), notes: Vec::new(), exit: 0 }
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

    /// Rows, and what stands below them.
    pub fn rows(json: Json, table: Table, below: impl Into<String>) -> Self {
        Self { table: Some(table), ..Self::new(json, below) }
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
    let mut text = if json {
        pretty(&output.json)
    } else {
        for note in &output.notes {
            aside(note);
        }
        for_people(output, Terminal::stdout())
    };
    let mut stdout = std::io::stdout().lock();
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

/// Rows and text; a terminal gets columns, and nothing that could move its cursor.
fn for_people(output: &Output, terminal: Option<Terminal>) -> String {
    match (terminal, &output.table) {
        (Some(terminal), Some(table)) => table.fitted(terminal) + &sanitise(&output.text),
        (Some(_), None) => sanitise(&output.text),
        (None, Some(table)) => table.tabbed() + &output.text,
        (None, None) => output.text.clone(),
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
    let text = if json { pretty(&failure.to_json()) } else { explained(failure, Terminal::stderr()) };
    let _ = writeln!(std::io::stderr(), "{text}");
    failure.code.exit()
}

/// A failure for people: on a terminal every remedy has a line of its own, ready to be copied.
fn explained(failure: &Failure, terminal: Option<Terminal>) -> String {
    let mut out = String::new();
    match terminal {
        None => out.push_str(&sanitise(&failure.to_string())),
        Some(terminal) => {
            terminal.paint(&mut out, failure.code.name, Style::Red);
            let _ = write!(out, ": {}", sanitise(&failure.text));
            for (at, command) in failure.remedy.iter().enumerate() {
                out.push_str(if at == 0 { "\n  try  " } else { "\n  or   " });
                terminal.paint(&mut out, &sanitise(command), Style::Bold);
            }
        }
    }
    if let Some(Json::Array(allowed)) = failure.details.get("allowed")
        && !allowed.is_empty()
    {
        let words: Vec<&str> = allowed.iter().filter_map(Json::as_str).collect();
        let _ = write!(out, "\naccepted: {}", sanitise(&words.join(", ")));
    }
    out
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Column;

    #[test]
    fn a_terminal_never_sees_an_escape_sequence() {
        assert_eq!(sanitise("a\u{1b}]0;x\u{7}b\r"), "a\\u{1b}]0;x\\u{7}b\\u{d}");
        assert_eq!(sanitise("\u{202e}x\tй漢\n"), "\\u{202e}x\tй漢\n");
    }

    #[test]
    fn a_failure_is_one_line_in_a_pipe_and_a_line_a_remedy_on_a_terminal() {
        let failure = Failure::new(Code::CARD_NOT_FOUND, "no\u{1b} card")
            .remedy("workfile next")
            .remedy("workfile card list");
        let failure = failure.with("allowed", vec!["a", "b"]);
        let pipe =
            "CARD_NOT_FOUND: no\\u{1b} card; try `workfile next` or `workfile card list`\naccepted: a, b";
        assert_eq!(explained(&failure, None), pipe);
        let seen =
            "CARD_NOT_FOUND: no\\u{1b} card\n  try  workfile next\n  or   workfile card list\naccepted: a, b";
        assert_eq!(explained(&failure, Some(Terminal::plain(80))), seen);
        let painted = explained(&failure, Some(Terminal::painted(80)));
        assert!(
            painted.starts_with("\x1b[31mCARD_NOT_FOUND\x1b[0m: ")
                && painted.contains("\x1b[1mworkfile next\x1b[0m\n")
        );
    }

    #[test]
    fn what_stands_below_the_rows_is_clean_on_a_terminal_only() {
        let table = Table::new([Column::Id, Column::Text], [["T-1", "a"]]);
        let output = Output::rows(Json::Null, table, "… 1\u{7} more\n");
        assert_eq!(for_people(&output, None), "T-1\ta\n… 1\u{7} more\n");
        assert_eq!(for_people(&output, Some(Terminal::plain(80))), "T-1  a\n… 1\\u{7} more\n");
    }
}
