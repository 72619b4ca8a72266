//! `card ac` and `card verify`: the boxes of a card, ticked by hand and by what a command proves.

use super::super::progress::Progress;
use super::super::{Args, Column, Context, Flag, Output, Table, invalid_option, split_list};
use super::{ACTOR, REVISION, caller, target};
use crate::failure::{Code, Failure};
use crate::work::acceptance::{self, Boxes};
use crate::work::card::Card;
use crate::work::sweep::{self, Closing, One, Sweep, Swept};
use crate::work::verify::{self, Report, Request, Run};
use crate::work::{load, verified, verify_block};
use serde_json::json;
use std::fmt::Write as _;

/// How many lines of each stream of a command that did not pass are shown.
const LAST_LINES: usize = 12;

pub(super) const AC: &[Flag] = &[
    Flag::many("check", "N[,N]", "tick these criteria, counted from 1"),
    Flag::many("uncheck", "N[,N]", "empty these"),
    REVISION,
];

pub(super) const VERIFY: &[Flag] = &[
    Flag::value("only", "A,B", "only these entries"),
    Flag::switch("changed", "instead of one card: every card whose file this branch touched"),
    Flag::value("base", "REF", "with --changed: what the branch started from"),
    Flag::switch("close", "with --changed: move to done what is wholly proved, by the method ci"),
    Flag::value("run", "URL", "with --close: where the run can be seen, which a close needs"),
    Flag::value("commit", "SHA", "with --close: the commit that was verified, HEAD without it"),
    ACTOR,
];

pub(super) fn ac(context: &Context, args: &Args) -> Result<Output, Failure> {
    let target = target(args)?;
    let (check, uncheck) = (indices(args, "check")?, indices(args, "uncheck")?);
    if check.is_empty() && uncheck.is_empty() {
        if target.revision.is_some() {
            return Err(misplaced("expected-revision", "--check and --uncheck"));
        }
        let workspace = context.workspace()?;
        let listing = load::all(&workspace)?;
        return Ok(criteria(listing.get(target.id)?));
    }
    let caller = caller(context, args)?;
    let workspace = context.workspace()?;
    let boxes = Boxes { target, check: &check, uncheck: &uncheck };
    let marked = acceptance::mark(&workspace, boxes, &caller)?;
    let (card, reading) = (&marked.card, marked.card.acceptance());
    let open = reading.items.iter().filter(|item| !item.checked).count();
    let text =
        format!("{} {} changed, {open} of {} open", card.id, marked.changed.len(), reading.items.len());
    let json = json!({
        "id": card.id,
        "file": card.file,
        "revision": card.revision(),
        "card": card.to_json(),
        "path": card.repo_path(&workspace),
        "changed": marked.changed,
        "acceptance": reading.to_json(),
    });
    Ok(Output::new(json, text))
}

/// The refusal of a flag without the one that it belongs to.
fn misplaced(flag: &str, belongs: &str) -> Failure {
    let text = format!("--{flag} is for {belongs}");
    Failure::new(Code::CLI_ARGUMENT_INVALID, text).with("flag", format!("--{flag}"))
}

/// Every number that a flag names.
fn indices(args: &Args, flag: &str) -> Result<Vec<usize>, Failure> {
    let mut indices = Vec::new();
    for given in args.all(flag) {
        let invalid = || {
            let text = format!("--{flag} takes the numbers of criteria, from 1, not `{given}`");
            let failure = Failure::new(Code::CLI_ARGUMENT_INVALID, text);
            failure.with("flag", format!("--{flag}")).with("value", given)
        };
        let parts = split_list(given);
        if parts.is_empty() {
            return Err(invalid());
        }
        for part in parts {
            let is_plain = part.bytes().all(|byte| byte.is_ascii_digit());
            let index = part.parse().ok().filter(|index| is_plain && *index > 0);
            indices.push(index.ok_or_else(invalid)?);
        }
    }
    Ok(indices)
}

/// The criteria of a card, and what proves them.
fn criteria(card: &Card) -> Output {
    let (reading, entries) = (card.acceptance(), verify_block::entries(&card.header));
    let rows = reading.items.iter().map(|item| {
        let owner = verify_block::owner(&entries, item).map(|entry| entry.id.clone()).unwrap_or_default();
        let mark = if item.checked { "[x]" } else { "[ ]" };
        [item.index.to_string(), mark.to_owned(), item.text.clone(), owner]
    });
    let table = Table::new([Column::Id, Column::Word, Column::Text, Column::Detail], rows);
    let output = Output::rows(reading.to_json(), table, "");
    if reading.present {
        return output;
    }
    let id = &card.id;
    output.note(format!("workfile: {id} has no criteria: no heading `## Acceptance` opens a list of them"))
}

pub(super) fn verify(context: &Context, args: &Args) -> Result<Output, Failure> {
    if args.has("changed") {
        return changed(context, args);
    }
    if let Some(flag) = ["base", "close", "run", "commit"].into_iter().find(|flag| args.has(flag)) {
        return Err(misplaced(flag, "--changed"));
    }
    let id = args.need(0, "ID")?;
    let only = args.list("only");
    if only.as_ref().is_some_and(Vec::is_empty) {
        let text = "--only names no entry; without it all of them run";
        return Err(Failure::new(Code::CLI_ARGUMENT_INVALID, text).with("flag", "--only"));
    }
    let caller = caller(context, args)?;
    let workspace = context.workspace()?;
    let mut progress = Progress::new(context.json);
    let request = Request { id, only: only.as_deref() };
    let report = verify::verify(&workspace, request, &caller, &mut |moment| progress.show(moment))?;
    Ok(one_card(&report))
}

fn one_card(report: &Report) -> Output {
    let rows = report.runs.iter().map(|run| {
        let took = format!("{:.1} s", run.took.as_secs_f64());
        [run.entry.id.clone(), run.outcome.name().to_owned(), took, boxes(run)]
    });
    let table = Table::new([Column::Id, Column::Status, Column::Word, Column::Text], rows);
    let reading = report.card.acceptance();
    let done = reading.items.iter().filter(|item| item.checked).count();
    let below = format!(
        "{}{}: {done} of {} criteria checked",
        last_words(report),
        report.card.id,
        reading.items.len()
    );
    let output = Output::rows(report.to_json(), table, below).exit(u8::from(!report.ok()));
    write_errors(output, report)
}

/// What a run did to the boxes, or why it did nothing.
fn boxes(run: &Run) -> String {
    let list = |verb: &str, indices: &[usize]| {
        let numbers: Vec<String> = indices.iter().map(|index| format!("#{index}")).collect();
        if numbers.is_empty() { String::new() } else { format!("{verb} {}", numbers.join(", ")) }
    };
    let ended = match (&run.reason, run.code, &run.signal) {
        (Some(reason), ..) => reason.clone(),
        (None, Some(0), _) => String::new(),
        (None, Some(code), _) => format!("exit {code}"),
        (None, None, signal) => signal.clone().unwrap_or_default(),
    };
    let parts = [ended, list("checked", &run.checked), list("unchecked", &run.unchecked)];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(", ")
}

/// The end of what the commands that did not pass have printed.
fn last_words(report: &Report) -> String {
    let mut out = String::new();
    for run in report.runs.iter().filter(|run| run.outcome != verify::Outcome::Passed) {
        for (name, text) in [("stdout", &run.stdout), ("stderr", &run.stderr)] {
            let lines: Vec<&str> = text.lines().collect();
            let last = &lines[lines.len().saturating_sub(LAST_LINES)..];
            if !last.is_empty() {
                let _ = writeln!(out, "{} of {}:", name, run.entry.id);
                let _ = last.iter().try_for_each(|line| writeln!(out, "  {line}"));
            }
        }
    }
    out
}

fn write_errors(output: Output, report: &Report) -> Output {
    let errors = report.runs.iter().filter_map(|run| run.write_error.as_ref());
    errors.fold(output, |output, failure| output.note(format!("workfile: {failure}")))
}

fn changed(context: &Context, args: &Args) -> Result<Output, Failure> {
    for (flag, given) in [("ID", args.word(0).is_some()), ("--only", args.has("only"))] {
        if given {
            let text = format!("--changed takes the cards of the branch, and no {flag}");
            return Err(Failure::new(Code::CLI_ARGUMENT_CONFLICT, text).with("flag", flag));
        }
    }
    let Some(base) = args.get("base").filter(|base| !base.is_empty()) else {
        let text = "--changed needs the --base that the branch started from";
        let failure = Failure::new(Code::CARD_VERIFY_NO_BASE, text);
        return Err(failure.remedy("workfile card verify --changed --base main"));
    };
    let sweep = Sweep { base, close: closing(args)? };
    let caller = caller(context, args)?;
    let workspace = context.workspace()?;
    let mut progress = Progress::new(context.json);
    let swept = sweep::sweep(&workspace, sweep, &caller, &mut |moment| progress.show(moment))?;
    Ok(branch(&swept))
}

/// What `--close` asks for.
fn closing(args: &Args) -> Result<Option<Closing<'_>>, Failure> {
    let (run, commit) = (args.get("run"), args.get("commit"));
    if !args.has("close") {
        let flag = ["run", "commit"].into_iter().find(|flag| args.has(flag));
        return flag.map_or(Ok(None), |flag| Err(misplaced(flag, "--close")));
    }
    match commit.filter(|commit| !verified::is_commit(commit)) {
        Some(commit) => Err(invalid_option("commit", commit, "the id of a commit")),
        None => Ok(Some(Closing { run, commit })),
    }
}

fn branch(swept: &Swept) -> Output {
    let rows = swept.cards.iter().map(|one| {
        let id = one.id.clone().unwrap_or_else(|| "?".to_owned());
        [id, one.verdict.name().to_owned(), why(one), one.file.clone()]
    });
    let table = Table::new([Column::Id, Column::Status, Column::Text, Column::Detail], rows);
    let words: String = swept.cards.iter().filter_map(|one| one.report.as_ref()).map(last_words).collect();
    let output = Output::rows(swept.to_json(), table, words).exit(u8::from(!swept.ok()));
    let output = match &swept.touched {
        Err(reason) => output.note(format!("workfile: nothing was verified: {reason}")),
        Ok(touched) if touched.is_empty() => {
            output.note(format!("workfile: no card file differs from {}", swept.base))
        }
        Ok(_) => output,
    };
    swept.cards.iter().filter_map(|one| one.report.as_ref()).fold(output, write_errors)
}

/// What is to be said of a card beside its verdict.
fn why(one: &One) -> String {
    if let Some(failure) = &one.refused {
        return failure.to_string();
    }
    let runs = one.report.iter().flat_map(|report| &report.runs);
    let open = runs.filter(|run| run.outcome != verify::Outcome::Passed);
    let mut parts: Vec<String> = open.map(|run| format!("{} {}", run.entry.id, run.outcome.name())).collect();
    parts.extend(one.closed.iter().map(|_| "closed".to_owned()));
    parts.extend(one.held_open.iter().map(|why| format!("held open: {why}")));
    parts.join(", ")
}
