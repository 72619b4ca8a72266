//! What is wrong with the cards as they stand in their files, whoever wrote them.
//!
//! The rules are those of a write and more: a card can arrive by any program, and then nothing has checked it.

mod fields;
mod progress;
mod proof;
mod relations;

use super::card::Card;
use super::load::{Listing, Unreadable, folder};
use super::standing::Claims;
use crate::workspace::{Cards, Finding, Severity, Workspace};
use std::fmt::Display;

/// Whether the file system is asked about paths that cards name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paths {
    /// It is.
    Check,
    /// It is not.
    Skip,
}

/// Whether git is asked about commits that cards name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Git {
    /// It is, when a live done card names one.
    Check,
    /// It is not.
    Skip,
}

/// What the cards are judged against.
pub struct Scene<'a> {
    /// Where they lie.
    pub workspace: &'a Workspace,
    /// All of them.
    pub listing: &'a Listing,
    /// How their claims stand.
    pub claims: &'a Claims,
    /// Whether a record of any kind has this id.
    pub exists: &'a dyn Fn(&str) -> bool,
    /// Whether paths are looked at.
    pub paths: Paths,
    /// Whether git is asked.
    pub git: Git,
}

/// Every finding of the cards, card by card.
pub fn all(scene: &Scene<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> =
        scene.listing.unreadable.iter().map(|file| unreadable(scene.workspace, file)).collect();
    let graph = relations::Graph::of(&scene.listing.cards);
    for card in &scene.listing.cards {
        let mut report = Report { scene, card, findings: &mut findings };
        fields::check(&mut report);
        relations::check(&mut report, &graph);
        progress::check(&mut report);
        proof::check(&mut report);
    }
    proof::commits(scene, &mut findings);
    findings
}

/// The findings of one card.
struct Report<'a> {
    scene: &'a Scene<'a>,
    card: &'a Card,
    findings: &'a mut Vec<Finding>,
}

impl<'a> Report<'a> {
    fn settings(&self) -> &'a Cards {
        &self.scene.workspace.config.cards
    }

    fn add(
        &mut self,
        severity: Severity,
        code: &'static str,
        what: impl Display,
        remedy: impl Display,
    ) -> &mut Finding {
        let finding = Finding::new(severity, MODULE, code, what, remedy);
        self.findings.push(about(self.scene.workspace, self.card, finding));
        let last = self.findings.len() - 1;
        &mut self.findings[last]
    }

    fn error(&mut self, code: &'static str, what: impl Display, remedy: impl Display) -> &mut Finding {
        self.add(Severity::Error, code, what, remedy)
    }

    fn warning(&mut self, code: &'static str, what: impl Display, remedy: impl Display) -> &mut Finding {
        self.add(Severity::Warning, code, what, remedy)
    }
}

fn about(workspace: &Workspace, card: &Card, finding: Finding) -> Finding {
    let mut finding = finding.about(card.id.as_str(), card.repo_path(workspace));
    finding.archived = Some(card.is_archived());
    finding
}

/// The module that cards are reported under.
pub const MODULE: &str = "cards";

/// What puts a field right that a patch can set.
const PATCH: &str = "`workfile card patch` sets it";

fn unreadable(workspace: &Workspace, file: &Unreadable) -> Finding {
    let path = workspace.repo_path(&folder(workspace, file.place).join(&file.file));
    let what = format!("{path} is no card: {}", file.reason);
    let remedy = "correct the file, or move it out of the cards";
    let mut finding = Finding::new(Severity::Error, MODULE, "unreadable-card", what, remedy).in_file(path);
    finding.archived = Some(file.place == super::Place::Archive);
    finding
}
