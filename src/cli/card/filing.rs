//! The commands that put cards elsewhere: into the archive and back, out of a dead hand, under another id.

use super::super::{Args, Column, Context, Output, Table, invalid_option};
use super::{answer, caller, target};
use crate::failure::{Code, Failure};
use crate::work::archive;
use crate::work::reap::{self, Lapsed};
use crate::work::renumber::{self, Healed, Renumber, Renumbered};
use crate::workspace::Workspace;
use serde_json::{Value as Json, json};

pub(super) fn archive(context: &Context, args: &Args) -> Result<Output, Failure> {
    let (target, caller) = (target(args)?, caller(context, args)?);
    let card = archive::archive(&context.workspace()?, target, &caller)?;
    Ok(answer(&card, "archived"))
}

pub(super) fn reopen(context: &Context, args: &Args) -> Result<Output, Failure> {
    let (target, caller) = (target(args)?, caller(context, args)?);
    let status = args.get("status").unwrap_or(archive::REOPENED);
    let card = archive::reopen(&context.workspace()?, target, status, &caller)?;
    Ok(answer(&card, &format!("in {status}")))
}

pub(super) fn reap(context: &Context, args: &Args) -> Result<Output, Failure> {
    let older_than = args.get("older-than").map(|text| {
        let hours = text.parse::<f64>().ok().filter(|hours| hours.is_finite() && *hours >= 0.0);
        hours.ok_or_else(|| invalid_option("older-than", text, "a number of hours"))
    });
    let older_than = older_than.transpose()?;
    let caller = caller(context, args)?;
    let workspace = context.workspace()?;
    if args.has("dry-run") {
        return Ok(dry(&reap::lapsed(&workspace, older_than)?));
    }
    let reaped = reap::reap(&workspace, older_than, &caller)?;
    let mut json = json!({"released": reaped.released, "count": reaped.released.len()});
    let rows = Table::new([Column::Id, Column::Word], reaped.released.iter().map(|id| [id, "released"]));
    let failed = |(id, failure): &(String, Failure)| json!({"id": id, "error": failure.to_json()["error"]});
    if !reaped.failed.is_empty() {
        json["failed"] = reaped.failed.iter().map(failed).collect::<Vec<_>>().into();
    }
    let output = Output::rows(json, rows, "");
    let output = match (reaped.released.is_empty(), reaped.failed.first()) {
        (true, None) => output.note(NONE),
        (_, Some((_, failure))) => output.exit(failure.code.exit()),
        (false, None) => output,
    };
    let note = |output: Output, (id, failure): &(String, Failure)| {
        output.note(format!("workfile: {id} is not released: {failure}"))
    };
    Ok(reaped.failed.iter().fold(output, note))
}

const NONE: &str = "workfile: no claim has outlived its lease or its session";

fn dry(lapsed: &[Lapsed]) -> Output {
    let row = |lapsed: &Lapsed| {
        let text = |key: &str| lapsed.claim[key].as_str().unwrap_or_default().to_owned();
        [lapsed.id.clone(), text("state"), format!("{}h", lapsed.claim["ageHours"]), text("by")]
    };
    let columns = [Column::Id, Column::Word, Column::Word, Column::Text];
    let records: Vec<Json> = lapsed.iter().map(Lapsed::to_json).collect();
    let rows = Table::new(columns, lapsed.iter().map(row));
    let output = Output::rows(json!({"records": records}), rows, "");
    if lapsed.is_empty() { output.note(NONE) } else { output }
}

pub(super) fn renumber(context: &Context, args: &Args) -> Result<Output, Failure> {
    if args.has("duplicates") {
        return duplicates(context, args);
    }
    let (to, revision) = (args.get("to"), args.get("expected-revision"));
    let renumber = Renumber { target: args.need(0, "ID")?, to, revision };
    let caller = caller(context, args)?;
    let workspace = context.workspace()?;
    let moved = renumber::renumber(&workspace, renumber, &caller)?;
    let output = Output::rows(moved.to_json(&workspace), rows([&moved], &workspace), "");
    let output = match moved.rewritten.as_slice() {
        [] => output,
        paths => output.note(format!("workfile: {} now name {}", paths.join(", "), moved.card.id)),
    };
    Ok(look(output, &moved))
}

fn duplicates(context: &Context, args: &Args) -> Result<Output, Failure> {
    let together = [args.word(0).map(|_| "an ID"), args.get("to").map(|_| "--to")];
    let together = together.into_iter().flatten().next();
    let together = together.or(args.get("expected-revision").map(|_| "--expected-revision"));
    if let Some(other) = together {
        let text = format!("--duplicates finds the cards itself; {other} goes with one card");
        return Err(Failure::new(Code::CLI_ARGUMENT_CONFLICT, text).with("flag", "--duplicates"));
    }
    let caller = caller(context, args)?;
    let workspace = context.workspace()?;
    let healed = renumber::duplicates(&workspace, &caller)?;
    let Healed { moves, skipped } = &healed;
    let output = Output::rows(healed.to_json(&workspace), rows(moves, &workspace), "");
    let mut output = moves.iter().fold(output, look);
    for it in skipped {
        output = output.note(format!("workfile: {} in {}: {}", it.id, it.paths.join(", "), it.text));
    }
    let nothing = moves.is_empty() && skipped.is_empty();
    Ok(if nothing { output.note("workfile: no id is carried by several cards") } else { output })
}

/// The old id, the new one, and where the card is now.
fn rows<'a>(moves: impl IntoIterator<Item = &'a Renumbered>, workspace: &Workspace) -> Table {
    let row =
        |moved: &Renumbered| [moved.from.clone(), moved.card.id.clone(), moved.card.repo_path(workspace)];
    Table::new([Column::Id, Column::Id, Column::Detail], moves.into_iter().map(row))
}

/// Says where the old id is still named.
fn look(output: Output, moved: &Renumbered) -> Output {
    match moved.review.as_slice() {
        [] => output,
        paths => output.note(format!(
            "workfile: look whether {} is still meant in {}",
            moved.from,
            paths.join(", ")
        )),
    }
}
