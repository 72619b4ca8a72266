//! What became of a card's commands.

use super::super::card::Card;
use super::super::verify_block::Entry;
use crate::failure::{Code, Failure};
use serde_json::{Value as Json, json};
use std::time::Duration;

/// How a command came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It ended with 0.
    Passed,
    /// It ended in another way of its own.
    Failed,
    /// Its time ran out, and it was ended.
    TimedOut,
    /// It did not start.
    Errored,
}

impl Outcome {
    /// The word in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::TimedOut => "timed-out",
            Self::Errored => "errored",
        }
    }

    /// Whether it says anything about the criteria.
    pub fn decides(self) -> bool {
        matches!(self, Self::Passed | Self::Failed)
    }
}

/// One entry that was run.
#[derive(Clone, Debug)]
pub struct Run {
    /// The entry as it was when it started.
    pub entry: Entry,
    /// How it came out.
    pub outcome: Outcome,
    /// Its exit number, when it had one.
    pub code: Option<i32>,
    /// The name of the signal that killed it.
    pub signal: Option<String>,
    /// How long it ran.
    pub took: Duration,
    /// Why it decides nothing.
    pub reason: Option<String>,
    /// The end of what it printed.
    pub stdout: String,
    /// The end of what it complained about.
    pub stderr: String,
    /// Whether either was longer.
    pub truncated: bool,
    /// The criteria that are bound to it.
    pub criteria: Vec<usize>,
    /// Boxes that it ticked.
    pub checked: Vec<usize>,
    /// Boxes that it emptied.
    pub unchecked: Vec<usize>,
    /// Why its boxes could not be set.
    pub write_error: Option<Failure>,
}

/// What became of a card's commands.
#[derive(Clone, Debug)]
pub struct Report {
    /// The card as it is afterwards.
    pub card: Card,
    /// The entries that were run, in the order of the card.
    pub runs: Vec<Run>,
    /// How many seconds each may have taken.
    pub timeout: u64,
}

impl Report {
    /// Whether every entry passed and every box could be set.
    pub fn ok(&self) -> bool {
        self.runs.iter().all(|run| run.outcome == Outcome::Passed && run.write_error.is_none())
    }

    /// `{id, ok, entries, acceptance, timeoutSeconds}`.
    pub fn to_json(&self) -> Json {
        json!({
            "id": self.card.id,
            "ok": self.ok(),
            "entries": self.runs.iter().map(Run::to_json).collect::<Vec<_>>(),
            "acceptance": self.card.acceptance().to_json(),
            "timeoutSeconds": self.timeout,
        })
    }
}

impl Run {
    /// An entry whose command did not start.
    pub(super) fn errored(entry: Entry, reason: String) -> Self {
        Self {
            entry,
            outcome: Outcome::Errored,
            code: None,
            signal: None,
            took: Duration::ZERO,
            reason: Some(reason),
            stdout: String::new(),
            stderr: String::new(),
            truncated: false,
            criteria: Vec::new(),
            checked: Vec::new(),
            unchecked: Vec::new(),
            write_error: None,
        }
    }

    fn to_json(&self) -> Json {
        let write_error = self.write_error.as_ref().map(|failure| {
            let code = failure.code;
            let code = if code == Code::INTERNAL_ERROR { Code::CARD_ACCEPTANCE_WRITE_FAILED } else { code };
            json!({"code": code.name, "message": failure.message()})
        });
        json!({
            "id": self.entry.id,
            "run": self.entry.run,
            "outcome": self.outcome.name(),
            "code": self.code,
            "signal": self.signal,
            "durationMs": self.took.as_millis() as u64,
            "reason": self.reason,
            "stdout": self.stdout,
            "stderr": self.stderr,
            "truncated": self.truncated,
            "criteria": self.criteria,
            "checked": self.checked,
            "unchecked": self.unchecked,
            "writeError": write_error,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_without_a_name_of_its_own_is_one_of_writing() {
        let entry = Entry { id: "a".to_owned(), run: vec!["make".to_owned()], criteria: Vec::new() };
        let mut run = Run::errored(entry, "it is not there".to_owned());
        assert_eq!(run.to_json()["writeError"], Json::Null);
        for (code, shown) in [
            (Code::INTERNAL_ERROR, "CARD_ACCEPTANCE_WRITE_FAILED"),
            (Code::CARD_ACCEPTANCE_NOT_BOUND, "CARD_ACCEPTANCE_NOT_BOUND"),
        ] {
            run.write_error = Some(Failure::new(code, "no"));
            assert_eq!(run.to_json()["writeError"], json!({"code": shown, "message": "no"}));
        }
    }
}
