//! What is wrong with a record, as the doctor and a reader of the record are told it.

use crate::record::order;
use serde_json::{Map, Value as Json, json};
use std::cmp::Ordering;
use std::fmt::Display;

/// The remedy where no command writes.
pub const BY_HAND: &str = "correct it in the file";

/// How grave a finding is, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Something reads wrong or contradicts itself.
    Error,
    /// Something will mislead.
    Warning,
    /// Something could be better.
    Info,
}

impl Severity {
    /// `error`, `warning`, `info`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }

    /// The severity of that name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Error, Self::Warning, Self::Info].into_iter().find(|severity| severity.name() == name)
    }
}

/// One finding. Its message is the same on every run while the cause stands: ages, counts of days and numbers of processes
/// belong in the details.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// How grave it is.
    pub severity: Severity,
    /// The rule, kebab-case.
    pub code: &'static str,
    /// The module it is reported under.
    pub module: &'static str,
    /// The record's id, when there is one.
    pub id: Option<String>,
    /// The path from the root, when there is one.
    pub file: Option<String>,
    /// For a card, whether it lies in the archive.
    pub archived: Option<bool>,
    /// What is wrong and, after a semicolon, what puts it right: for people, lower case, no full stop.
    pub message: String,
    /// Facts for programs; empty when there are none.
    pub details: Map<String, Json>,
}

impl Finding {
    /// A finding about nothing in particular. `what` names the field and its value, `remedy` a command or an edit: nobody is
    /// left alone with a finding.
    pub fn new(
        severity: Severity,
        module: &'static str,
        code: &'static str,
        what: impl Display,
        remedy: impl Display,
    ) -> Self {
        Self {
            severity,
            code,
            module,
            id: None,
            file: None,
            archived: None,
            message: format!("{what}; {remedy}"),
            details: Map::new(),
        }
    }

    /// The same about a record.
    #[must_use]
    pub fn about(mut self, id: impl Into<String>, file: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self.file = Some(file.into());
        self
    }

    /// The same about a file that is no record.
    #[must_use]
    pub fn in_file(mut self, file: impl Into<String>) -> Self {
        self.file = Some(file.into());
        self
    }

    /// The same with one fact more.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Json>) -> Self {
        self.put(key, value);
        self
    }

    /// Adds one fact.
    pub fn put(&mut self, key: &str, value: impl Into<Json>) -> &mut Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }

    /// A file whose name begins with the record's id and is not what its title gives now; `path` is its path from the root.
    pub fn stale_name(module: &'static str, id: &str, path: &str, expected: &str) -> Option<Self> {
        let current = path.rsplit('/').next().unwrap_or(path);
        if current == expected || !current.strip_prefix(id).is_some_and(|rest| rest.starts_with('-')) {
            return None;
        }
        let what = format!("the title of {id} gives the file the name {expected}");
        let remedy = "`workfile doctor --fix` renames it";
        let finding = Self::new(Severity::Warning, module, "filename-stale", what, remedy).about(id, path);
        Some(finding.with("current", current).with("expected", expected))
    }

    /// `{severity, code, id?, file?, archived?, message, details?}`: what a module's own report lists.
    pub fn to_json(&self) -> Map<String, Json> {
        let mut json = Map::new();
        json.insert("severity".to_owned(), self.severity.name().into());
        json.insert("code".to_owned(), self.code.into());
        if let Some(id) = &self.id {
            json.insert("id".to_owned(), id.as_str().into());
        }
        if let Some(file) = &self.file {
            json.insert("file".to_owned(), file.as_str().into());
        }
        if let Some(archived) = self.archived {
            json.insert("archived".to_owned(), archived.into());
        }
        json.insert("message".to_owned(), self.message.as_str().into());
        if !self.details.is_empty() {
            json.insert("details".to_owned(), self.details.clone().into());
        }
        json
    }
}

impl Finding {
    /// `SEVERITY code subject: message`, as reports list it.
    pub fn line(&self) -> String {
        format!("{} {} {}: {}", self.severity.name().to_uppercase(), self.code, self.subject(), self.message)
    }

    /// What it is about: the id, else the file.
    pub fn subject(&self) -> &str {
        self.id.as_deref().or(self.file.as_deref()).unwrap_or_default()
    }
}

/// The order of a report: the gravest first, then by subject, then by code; what is equal stays as it was produced.
pub fn order(left: &Finding, right: &Finding) -> Ordering {
    let subjects = || order::text(left.subject(), right.subject());
    left.severity.cmp(&right.severity).then_with(subjects).then_with(|| order::text(left.code, right.code))
}

/// `{error, warning, info}`: how many there are of each.
pub fn counts<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Json {
    let mut counts = [0_usize; 3];
    for finding in findings {
        counts[finding.severity as usize] += 1;
    }
    let [error, warning, info] = counts;
    json!({"error": error, "warning": warning, "info": info})
}

/// Whether there is no error among them.
pub fn is_ok<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> bool {
    findings.into_iter().all(|finding| finding.severity != Severity::Error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_in_one_order() {
        let of = |severity, code, id| Finding::new(severity, "docs", code, "m", "r").about(id, "f");
        let mut findings = vec![
            of(Severity::Info, "a", "A-1"),
            of(Severity::Warning, "b", "B-1"),
            of(Severity::Warning, "c", "a-2"),
            of(Severity::Warning, "b", "a-2"),
            Finding::new(Severity::Warning, "docs", "z", "m", "r").in_file("README.md"),
            of(Severity::Error, "z", "Z-1"),
        ];
        findings.sort_by(order);
        let found: Vec<_> = findings.iter().map(|it| (it.severity.name(), it.code, it.subject())).collect();
        assert_eq!(
            found,
            [
                ("error", "z", "Z-1"),
                ("warning", "b", "a-2"),
                ("warning", "c", "a-2"),
                ("warning", "b", "B-1"),
                ("warning", "z", "README.md"),
                ("info", "a", "A-1"),
            ]
        );
        assert_eq!(counts(&findings), json!({"error": 1, "warning": 4, "info": 1}));
        assert!(!is_ok(&findings) && is_ok(&findings[1..]));
    }

    #[test]
    fn absent_parts_are_left_out() {
        let finding = Finding::new(Severity::Warning, "docs", "doc-x", "text", "remedy");
        assert_eq!(finding.message, "text; remedy");
        assert_eq!(finding.to_json().keys().collect::<Vec<_>>(), ["severity", "code", "message"]);
        let finding = finding.about("DOC-0001", "a.md").with("n", 1);
        assert_eq!(
            finding.to_json().keys().collect::<Vec<_>>(),
            ["severity", "code", "id", "file", "message", "details"]
        );
        assert_eq!(Severity::named("info"), Some(Severity::Info));
        assert!(Severity::named("bogus").is_none() && Severity::Error < Severity::Info);
    }
}
