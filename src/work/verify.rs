//! Verify: the commands that a card declares are run, and the boxes of the criteria they prove follow.
//!
//! Commands run one after the other outside the card's lock, and the card may change meanwhile. What a command has
//! proved is written against the card as it is then: one locked write an entry, and only to criteria that still carry
//! the digests it was bound to.

mod report;

use super::card::Card;
use super::criteria::{self, Item, Mark};
use super::fields::VERIFY;
use super::interrupt;
use super::load;
use super::mutate::{self, Caller, Target};
use super::plan::{Home, Plan};
use super::process::{self, By, Go, Limits};
use super::verify_block::{self, Entry};
use crate::failure::{Code, Failure};
use crate::workspace::Workspace;
pub use report::{Outcome, Report, Run};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// How many of the last bytes of a stream are kept.
const KEEP: usize = 65_536;
/// How long a command has to end once it is told to.
const GRACE: Duration = Duration::from_secs(5);

/// Which commands of which card.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The card.
    pub id: &'a str,
    /// The entries to run; without them all.
    pub only: Option<&'a [String]>,
}

/// What is happening, for whoever watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment<'a> {
    /// A command runs.
    Running {
        /// The card.
        card: &'a str,
        /// The entry.
        entry: &'a str,
        /// For how long so far.
        so_far: Duration,
    },
    /// It no longer does.
    Over,
}

/// Runs the commands of a card and sets the boxes that they prove.
pub fn verify(
    workspace: &Workspace,
    request: Request<'_>,
    caller: &Caller,
    show: &mut dyn FnMut(Moment<'_>),
) -> Result<Report, Failure> {
    mutate::writable(workspace)?;
    let listing = load::all(workspace)?;
    let before = mutate::locate(&listing, request.id, None)?;
    let entries = selected(declared(before, workspace)?, request)?;

    let timeout = workspace.config.cards.verify_timeout;
    let time = Duration::from_secs(timeout);
    let run = |entry| run(&before.id, entry, &workspace.root, time, show);
    let mut runs: Vec<Run> = entries.into_iter().map(run).collect();
    for run in runs.iter_mut().filter(|run| run.outcome.decides() && !run.entry.criteria.is_empty()) {
        if let Err(failure) = settle(workspace, before, run, caller) {
            run.write_error = Some(failure);
        }
    }

    let after = load::all(workspace).ok().as_ref().and_then(|listing| listing.find(&before.id).cloned());
    let card = after.unwrap_or_else(|| before.clone());
    let (items, entries) = (card.acceptance().items, verify_block::entries(&card.header));
    for run in &mut runs {
        let own = items.iter().filter(|item| owns(&entries, &run.entry, item));
        run.criteria = own.map(|item| item.index).collect();
    }
    Ok(Report { card, runs, timeout })
}

/// The entries of a card, each of them fit to run.
fn declared(card: &Card, workspace: &Workspace) -> Result<Vec<Entry>, Failure> {
    let id = &card.id;
    let Some(stored) = card.header.get(VERIFY).filter(|stored| !stored.is_empty()) else {
        let text = format!("{id} declares no command that verifies it");
        return Err(Failure::new(Code::CARD_VERIFY_NONE_DECLARED, text).with("id", id.clone()));
    };
    let checked = verify_block::check(&stored.to_json(), &workspace.config.cards.verify_commands);
    checked.map_err(|mut failure| {
        failure.text = format!("{id} cannot be verified: {}", failure.text);
        match failure.details.shift_remove("id") {
            Some(entry) => failure.with("id", id.clone()).with("entry", entry),
            None => failure.with("id", id.clone()),
        }
    })?;
    Ok(verify_block::entries(&card.header))
}

fn selected(mut entries: Vec<Entry>, request: Request<'_>) -> Result<Vec<Entry>, Failure> {
    let Some(only) = request.only else { return Ok(entries) };
    let declared: Vec<&str> = entries.iter().map(|entry| entry.id.as_str()).collect();
    let unknown: Vec<&str> = only.iter().map(String::as_str).filter(|id| !declared.contains(id)).collect();
    if !unknown.is_empty() {
        let id = request.id;
        let text = format!("{id} has no verify entry {}; it has {}", unknown.join(", "), declared.join(", "));
        let failure = Failure::new(Code::CARD_VERIFY_ENTRY_UNKNOWN, text).with("id", id);
        return Err(failure.with("unknown", unknown).with("declared", declared));
    }
    entries.retain(|entry| only.contains(&entry.id));
    Ok(entries)
}

/// Runs one command to its end. When this process is told to end meanwhile, the command ends first.
fn run(card: &str, entry: Entry, root: &Path, time: Duration, show: &mut dyn FnMut(Moment<'_>)) -> Run {
    let mut command = Command::new(&entry.run[0]);
    command.args(&entry.run[1..]).current_dir(root);
    let caught = interrupt::catch();
    let mut signal = None;
    let mut watch = |so_far| {
        show(Moment::Running { card, entry: &entry.id, so_far });
        let came = caught.take();
        signal = came.or(signal);
        if came.is_some() { Go::Stop } else { Go::On }
    };
    let ended = process::run(&mut command, Limits { time, grace: GRACE, keep: KEEP }, &mut watch);
    show(Moment::Over);
    if let Some(signal) = signal {
        interrupt::die(signal);
    }
    drop(caught);

    let ended = match ended {
        Ok(ended) => ended,
        Err(error) => {
            let reason = format!("`{}` does not start: {error}", entry.run[0]);
            return Run::errored(entry, reason);
        }
    };
    let late = (ended.by == By::Time).then(|| format!("no end within {} s", time.as_secs()));
    let outcome = match (&late, ended.code) {
        (Some(_), _) => Outcome::TimedOut,
        (None, Some(0)) => Outcome::Passed,
        (None, _) => Outcome::Failed,
    };
    let ((stdout, out_cut), (stderr, err_cut)) = (ended.stdout.text(), ended.stderr.text());
    Run {
        entry,
        outcome,
        code: ended.code,
        signal: ended.signal,
        took: ended.took,
        reason: late,
        stdout,
        stderr,
        truncated: out_cut || err_cut,
        criteria: Vec::new(),
        checked: Vec::new(),
        unchecked: Vec::new(),
        write_error: None,
    }
}

/// Whether a criterion belongs to an entry that ran: to the entry of its name and its command, by a digest that it had.
fn owns(entries: &[Entry], ran: &Entry, item: &Item) -> bool {
    verify_block::owner(entries, item).is_some_and(|owner| {
        owner.id == ran.id && owner.run == ran.run && ran.criteria.contains(&item.digest())
    })
}

/// Sets the boxes that a command decides, on the card as it is now.
fn settle(workspace: &Workspace, before: &Card, run: &mut Run, caller: &Caller) -> Result<(), Failure> {
    let checked = run.outcome == Outcome::Passed;
    let mut changed = Vec::new();
    let plan = |card: &Card, _| {
        let (items, entries) = (card.acceptance().items, verify_block::entries(&card.header));
        let own: Vec<&Item> = items.iter().filter(|item| owns(&entries, &run.entry, item)).collect();
        still_bound(before, &run.entry, &own)?;
        let wrong = own.into_iter().filter(|item| item.checked != checked);
        let (indices, marks): (Vec<usize>, Vec<Mark>) =
            wrong.map(|item| (item.index, Mark { line: item.line, checked })).unzip();
        let mut plan = Plan::new(caller, Home::Stay);
        if !marks.is_empty() {
            plan.body_text = Some(criteria::marked(card.body_text(), &marks));
            plan.trail(trail(run, &indices));
        }
        changed = indices;
        Ok(plan)
    };
    let target = Target { id: &before.id, revision: None };
    mutate::mutate(workspace, target, caller, plan, |_| ())?;
    if checked {
        run.checked = changed;
    } else {
        run.unchecked = changed;
    }
    Ok(())
}

/// Refuses when a criterion that the entry had when it started does not belong to it any more.
fn still_bound(before: &Card, ran: &Entry, own: &[&Item]) -> Result<(), Failure> {
    let entries = verify_block::entries(&before.header);
    let items = before.acceptance().items;
    let lost: Vec<&str> = items
        .iter()
        .filter(|item| owns(&entries, ran, item))
        .filter(|item| !own.iter().any(|now| now.digest() == item.digest()))
        .map(|item| item.text.as_str())
        .collect();
    if lost.is_empty() {
        return Ok(());
    }
    let (id, entry) = (&before.id, &ran.id);
    let text = format!(
        "{id} has changed while the command of the verify entry {entry} ran: `{}` is not bound to it any more",
        lost.join("`, `")
    );
    let failure = Failure::new(Code::CARD_ACCEPTANCE_NOT_BOUND, text).with("id", id.clone());
    let failure = failure.with("entry", entry.clone()).with("criteria", lost);
    Err(failure.remedy(format!("workfile card verify {id} --only {entry}")))
}

/// `verify tight: sh checks.sh tight failed (exit 4), unchecked #2`.
fn trail(run: &Run, indices: &[usize]) -> String {
    let (end, verb) = match (run.outcome, run.code) {
        (Outcome::Passed, _) => ("passed".to_owned(), "checked"),
        (_, Some(code)) => (format!("failed (exit {code})"), "unchecked"),
        (_, None) => ("failed (exit none)".to_owned(), "unchecked"),
    };
    let numbers: Vec<String> = indices.iter().map(|index| format!("#{index}")).collect();
    let Entry { id, run: argv, .. } = &run.entry;
    format!("verify {id}: {} {end}, {verb} {}", argv.join(" "), numbers.join(", "))
}

/// Whether a card has criteria and each of them is proved by a command.
pub(super) fn is_fully_bound(card: &Card) -> bool {
    let (items, entries) = (card.acceptance().items, verify_block::entries(&card.header));
    !items.is_empty() && items.iter().all(|item| verify_block::owner(&entries, item).is_some())
}
