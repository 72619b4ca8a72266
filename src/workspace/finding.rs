//! What is wrong with a record, as the doctor and a reader of the record are told it.

use serde_json::{Map, Value as Json};

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
    /// What is wrong, for people: lower case, names the value and the remedy, no full stop.
    pub message: String,
    /// Facts for programs; empty when there are none.
    pub details: Map<String, Json>,
}

impl Finding {
    /// A finding about nothing in particular.
    pub fn new(
        severity: Severity,
        module: &'static str,
        code: &'static str,
        message: impl Into<String>,
    ) -> Self {
        Self {
            severity,
            code,
            module,
            id: None,
            file: None,
            archived: None,
            message: message.into(),
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
        self.details.insert(key.to_owned(), value.into());
        self
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_parts_are_left_out() {
        let finding = Finding::new(Severity::Warning, "docs", "doc-x", "text");
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
