//! The one place that prints: JSON for programs, clean text for terminals.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_never_sees_an_escape_sequence() {
        assert_eq!(sanitise("a\u{1b}]0;x\u{7}b\r"), "a\\u{1b}]0;x\\u{7}b\\u{d}");
        assert_eq!(sanitise("\u{202e}x\tй漢\n"), "\\u{202e}x\tй漢\n");
    }
}
