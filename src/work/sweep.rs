//! Verify for a branch: every card file that it touched, whatever becomes of one of them.
//!
//! Git says which files those are. When it cannot say, nothing was verified, and the sweep is not in order.

use super::card::Card;
use super::fields::{DONE, is_open};
use super::mutate::{self, Caller, Target};
use super::release::{self, Release};
use super::verified::{self, CI, Proof};
use super::verify::{self, Moment, Report, Request};
use super::{Listing, Waiver, git, load};
use crate::failure::{Code, Failure};
use crate::workspace::Workspace;
use serde_json::{Map, Value as Json, json};
use std::collections::HashSet;

/// Which branch.
#[derive(Clone, Copy, Debug)]
pub struct Sweep<'a> {
    /// What it started from.
    pub base: &'a str,
    /// Whether verified cards are moved to done, and what their blocks then say.
    pub close: Option<Closing<'a>>,
}

/// What the block of a card says that a sweep closes.
#[derive(Clone, Copy, Debug)]
pub struct Closing<'a> {
    /// Where the run can be seen.
    pub run: Option<&'a str>,
    /// The commit that was verified; without it the one that is checked out.
    pub commit: Option<&'a str>,
}

/// What became of a branch's cards.
#[derive(Clone, Debug)]
pub struct Swept {
    /// What the branch started from.
    pub base: String,
    /// The card files that it touched, from the root; the error is why Git could not say.
    pub touched: Result<Vec<String>, String>,
    /// Their cards.
    pub cards: Vec<One>,
}

/// What became of one card.
#[derive(Clone, Debug)]
pub struct One {
    /// The card; `None` for a file that is none.
    pub id: Option<String>,
    /// Its file, from the root.
    pub file: String,
    /// The short of it.
    pub verdict: Verdict,
    /// Whether it has criteria and each is proved by a command.
    pub fully_bound: bool,
    /// What its commands did, when they ran.
    pub report: Option<Report>,
    /// Why they did not.
    pub refused: Option<Failure>,
    /// What its block says, when it was moved to done.
    pub closed: Option<Closed>,
    /// Why it was not, when that was asked for.
    pub held_open: Option<String>,
}

/// A card that was moved to done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closed {
    /// The commit that was recorded.
    pub commit: Option<String>,
    /// The run that was recorded.
    pub run: Option<String>,
}

/// The short of what became of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It declares no command.
    Skipped,
    /// Every command passed and every box is set.
    Verified,
    /// Some command failed, some box could not be set, or nothing was run.
    Failed,
    /// Some command did not come to an end.
    Undecided,
}

impl Verdict {
    /// The word in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Skipped => "skipped",
            Self::Verified => "verified",
            Self::Failed => "failed",
            Self::Undecided => "undecided",
        }
    }
}

impl Swept {
    /// Whether Git answered and no card is failed or undecided.
    pub fn ok(&self) -> bool {
        let fine = |one: &One| matches!(one.verdict, Verdict::Skipped | Verdict::Verified);
        self.touched.is_ok() && self.cards.iter().all(fine)
    }

    /// `{base, resolved, touched, cards, ok}`.
    pub fn to_json(&self) -> Json {
        json!({
            "base": self.base,
            "resolved": self.touched.is_ok(),
            "touched": self.touched.as_deref().unwrap_or_default(),
            "cards": self.cards.iter().map(One::to_json).collect::<Vec<_>>(),
            "ok": self.ok(),
        })
    }
}

impl One {
    fn to_json(&self) -> Json {
        let mut json = Map::new();
        json.insert("id".to_owned(), self.id.clone().into());
        json.insert("file".to_owned(), self.file.clone().into());
        json.insert("outcome".to_owned(), self.verdict.name().into());
        json.insert("fullyBound".to_owned(), self.fully_bound.into());
        if let Some(report) = &self.report {
            json.insert("report".to_owned(), report.to_json());
        }
        if let Some(failure) = &self.refused {
            let refused = json!({"code": failure.code.name, "message": failure.message()});
            json.insert("refused".to_owned(), refused);
        }
        if let Some(Closed { commit, run }) = &self.closed {
            json.insert("closed".to_owned(), json!({"commit": commit, "run": run}));
        }
        if let Some(why) = &self.held_open {
            json.insert("heldOpen".to_owned(), why.as_str().into());
        }
        Json::Object(json)
    }
}

/// Verifies every card whose file a branch touched.
pub fn sweep(
    workspace: &Workspace,
    sweep: Sweep<'_>,
    caller: &Caller,
    show: &mut dyn FnMut(Moment<'_>),
) -> Result<Swept, Failure> {
    mutate::writable(workspace)?;
    let mut swept = Swept { base: sweep.base.to_owned(), touched: Ok(Vec::new()), cards: Vec::new() };
    let changed: HashSet<String> = match git::changed(&workspace.root, sweep.base) {
        Ok(changed) => changed.into_iter().collect(),
        Err(reason) => {
            swept.touched = Err(reason);
            return Ok(swept);
        }
    };
    let listing = load::all(workspace)?;
    let files: Vec<File<'_>> =
        files(workspace, &listing).filter(|file| changed.contains(&file.path)).collect();
    swept.touched = Ok(files.iter().map(|file| file.path.clone()).collect());
    for file in files {
        let mut one = one(workspace, file, caller, show);
        if let Some(closing) = sweep.close {
            close(workspace, &mut one, closing, caller);
        }
        swept.cards.push(one);
    }
    Ok(swept)
}

/// A file among the cards: its card, or why it is none.
struct File<'a> {
    path: String,
    card: Result<&'a Card, &'a str>,
}

fn files<'a>(workspace: &'a Workspace, listing: &'a Listing) -> impl Iterator<Item = File<'a>> {
    let cards = listing.cards.iter().map(|card| File { path: card.repo_path(workspace), card: Ok(card) });
    cards.chain(listing.unreadable.iter().map(|file| {
        let path = workspace.repo_path(&load::folder(workspace, file.place).join(&file.file));
        File { path, card: Err(&file.reason) }
    }))
}

fn one(workspace: &Workspace, file: File<'_>, caller: &Caller, show: &mut dyn FnMut(Moment<'_>)) -> One {
    let File { path: file, card } = file;
    let mut one = One {
        id: None,
        file,
        verdict: Verdict::Failed,
        fully_bound: false,
        report: None,
        refused: None,
        closed: None,
        held_open: None,
    };
    let card = match card {
        Ok(card) => card,
        Err(reason) => {
            let text = format!("{} cannot be read: {reason}", one.file);
            one.refused = Some(Failure::new(Code::CARD_NOT_FOUND, text));
            return one;
        }
    };
    one.id = Some(card.id.clone());
    one.fully_bound = verify::is_fully_bound(card);
    match verify::verify(workspace, Request { id: &card.id, only: None }, caller, show) {
        Ok(report) => {
            let is_decided = report.runs.iter().all(|run| run.outcome.decides());
            one.verdict = match (is_decided, report.ok()) {
                (false, _) => Verdict::Undecided,
                (true, true) => Verdict::Verified,
                (true, false) => Verdict::Failed,
            };
            one.fully_bound = verify::is_fully_bound(&report.card);
            one.report = Some(report);
        }
        Err(failure) if failure.code == Code::CARD_VERIFY_NONE_DECLARED => one.verdict = Verdict::Skipped,
        Err(failure) => one.refused = Some(failure),
    }
    one
}

/// Moves a card to done that is wholly proved by its commands, or says why not; one that is done already is neither.
fn close(workspace: &Workspace, one: &mut One, closing: Closing<'_>, caller: &Caller) {
    let Some(report) = one.report.as_ref().filter(|_| one.verdict == Verdict::Verified) else {
        let why =
            one.refused.as_ref().map_or_else(|| format!("it is {}", one.verdict.name()), Failure::message);
        one.held_open = Some(why);
        return;
    };
    let card = &report.card;
    match card.status() {
        Some(DONE) => return,
        Some(status) if !is_open(status) => {
            one.held_open = Some(format!("it is {status}"));
            return;
        }
        _ => {}
    }
    if !one.fully_bound {
        one.held_open = Some("not every criterion is bound to a verify entry".to_owned());
        return;
    }
    // As it was verified: whatever has changed since then is not proved.
    let revision = card.revision();
    let release = Release {
        target: Target { id: &card.id, revision: Some(&revision) },
        status: Some(DONE),
        waiver: Waiver::NONE,
        proof: Proof { method: Some(CI), run: closing.run, evidence: None, commit: closing.commit },
    };
    match release::release(workspace, release, caller) {
        Ok(card) => {
            let block = card.header.get(verified::KEY);
            let [commit, run] = ["commit", "run"].map(|key| verified::field(block, key).map(str::to_owned));
            one.closed = Some(Closed { commit, run });
        }
        Err(failure) => one.held_open = Some(failure.message()),
    }
}
