//! What is wrong with a workspace, and what of it can be put right without asking anybody.
//!
//! Each room of records diagnoses its own ([`crate::work::diagnose`] and its like); this room adds what takes a look at all of
//! them, orders the findings, compares them with what was accepted before, and repairs. [`RULES`] is the table of all rules.

mod baseline;
mod everything;
mod fix;
mod ids;
mod locks;
mod record;
mod rules;
mod settings;
mod surfaces;

pub use baseline::{Accepted, Compared, accept, compare};
pub use everything::Everything;
pub use fix::{Fixed, fix};
pub use record::record;
pub use rules::{RULES, Rule};

use crate::clock;
use crate::query;
use crate::work::diagnose::{Git, Paths};
use crate::workspace::{Finding, Severity, Workspace, finding};
use serde_json::{Map, Value as Json};

/// What is looked at besides the records themselves.
#[derive(Clone, Copy, Debug)]
pub struct Checks {
    /// Whether paths that records name are looked up.
    pub paths: Paths,
    /// Whether git is asked about commits.
    pub git: Git,
}

impl Checks {
    /// Everything.
    pub const ALL: Self = Self { paths: Paths::Check, git: Git::Check };
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Report {
    /// When, as a timestamp.
    pub generated_at: String,
    /// How many cards there are.
    pub cards: usize,
    /// How many records each module has.
    pub modules: Map<String, Json>,
    /// The findings, the gravest first.
    pub findings: Vec<Finding>,
}

impl Everything {
    /// Diagnoses what was read. Nothing is written.
    pub fn report(&self, workspace: &Workspace, checks: Checks) -> Report {
        let now = clock::now();
        let mut findings = self.modules(workspace, checks, now, &query::Kind::ALL);
        findings.extend(surfaces::findings(workspace));
        findings.extend(ids::findings(self));
        findings.extend(settings::findings(workspace));
        findings.extend(locks::findings(workspace, now));
        findings.sort_by(finding::order);
        Report {
            generated_at: now.timestamp(),
            cards: self.cards.cards.len(),
            modules: self.counts(),
            findings,
        }
    }
}

impl Everything {
    /// What is wrong with the records that carry an id: of other records' modules nothing is about them.
    fn about(&self, workspace: &Workspace, checks: Checks, id: &str) -> Vec<Finding> {
        let now = clock::now();
        let carriers = self.entries().filter(|entry| entry.id() == id);
        let kinds: Vec<query::Kind> = carriers.map(query::Entry::kind).collect();
        let mut findings = self.modules(workspace, checks, now, &kinds);
        findings.extend(ids::findings(self));
        findings.extend(locks::findings(workspace, now));
        findings.retain(|finding| finding.id.as_deref() == Some(id));
        findings.sort_by(finding::order);
        findings
    }
}

impl Report {
    /// Whether nothing is an error.
    pub fn ok(&self) -> bool {
        finding::is_ok(&self.findings)
    }

    /// `{generatedAt, cards, modules, counts, ok, issues}` with these of the findings shown; at most `most` are listed.
    pub fn to_json(&self, shown: &[Finding], most: usize) -> Map<String, Json> {
        let mut json = Map::new();
        json.insert("generatedAt".to_owned(), self.generated_at.as_str().into());
        json.insert("cards".to_owned(), self.cards.into());
        json.insert("modules".to_owned(), self.modules.clone().into());
        json.insert("counts".to_owned(), finding::counts(shown));
        json.insert("ok".to_owned(), self.ok().into());
        json.insert("issues".to_owned(), shown.iter().take(most).map(issue).collect());
        json
    }
}

/// A finding with its module.
pub fn issue(finding: &Finding) -> Json {
    let mut json = finding.to_json();
    json.insert("module".to_owned(), finding.module.into());
    Json::Object(json)
}

/// The findings of a severity and graver ones, and how many others there are.
pub fn at_least(findings: Vec<Finding>, severity: Severity) -> (Vec<Finding>, usize) {
    let all = findings.len();
    let kept: Vec<Finding> = findings.into_iter().filter(|finding| finding.severity <= severity).collect();
    let hidden = all - kept.len();
    (kept, hidden)
}
