//! The commands that change cards.

use super::super::input::{self, JSON_INPUT};
use super::super::{Args, Context, Flag, Offers, Output};
use super::{AXIS, answer, caller, proof, target, waiver};
use crate::failure::{Code, Failure};
use crate::scope;
use crate::work::claim::{self, Claim, Claimed, Overlap};
use crate::work::create;
use crate::work::fields::{DOING, EFFORTS, PRIORITIES, RAISED, STATUSES, TYPES, WRITABLE};
use crate::work::note::{self, Note};
use crate::work::patch::{self, Patch};
use crate::work::release::{self, Release};
use crate::work::transition::{self, Transition};
use crate::work::write::{self, Write};
use crate::work::{Caller, Card, Proof};
use crate::workspace::Workspace;
use serde_json::{Map, Value as Json, json};

pub(super) const CREATE: &[Flag] = &[
    Flag::value("title", "TEXT", "what is to be done, at most 80 characters"),
    JSON_INPUT,
    Flag::value("body-file", "FILE", "the Markdown below the header; - reads standard input")
        .offers(Offers::Files),
    Flag::value("status", "STATUS", "backlog without it").offers(Offers::Word(STATUSES)),
    Flag::value("type", "TYPE", "task without it").offers(Offers::Word(TYPES)),
    Flag::value("priority", "PRIORITY", "medium without it").offers(Offers::Word(PRIORITIES)),
    Flag::value("area", "AREA", "the first declared area without it"),
    AXIS,
    Flag::value("parent", "ID", "the card this one is part of").offers(Offers::Card),
    Flag::value("depends", "IDS", "cards that close first").offers(Offers::Cards),
    Flag::value("milestone", "TEXT", "a milestone"),
    Flag::value("source", "PATH", "the file the work comes from").offers(Offers::Files),
    Flag::value("tags", "A,B", "tags"),
    Flag::value("effort", "S|M|L", "how much work it is").offers(Offers::Word(EFFORTS)),
    Flag::value("scope", "PATHS", "paths from the root that the work will change").offers(Offers::Paths),
    Flag::value("related", "IDS", "records worth reading").offers(Offers::Cards),
    Flag::value("origin", "IDS", "records it was found while working on").offers(Offers::Cards),
    Flag::value("raised", "reported|derived", "whether a person asked or an agent inferred it")
        .offers(Offers::Word(&RAISED)),
    Flag::value("start", "DATE", "when work starts"),
    Flag::value("due", "DATE", "when it must be done"),
];

pub(super) fn create(context: &Context, args: &Args) -> Result<Output, Failure> {
    let caller = caller(context, args)?;
    let axes = input::axes(args)?;
    let mut fields = input::object(context, args)?;
    // A flag that is called like a field sets it.
    for (name, _) in WRITABLE {
        if let Some(value) = args.get(name) {
            fields.insert(name.to_owned(), value.into());
        }
    }
    input::with_axes(&mut fields, axes);
    if let Some(path) = args.get("body-file") {
        fields.insert("body".to_owned(), input::text(context, path)?.into());
    }
    let workspace = context.workspace()?;
    let card = create::create(&workspace, &fields, &caller)?;
    let text = format!("{} {}", card.id, card.repo_path(&workspace));
    Ok(Output::new(card.to_json(), text))
}

pub(super) fn patch(context: &Context, args: &Args) -> Result<Output, Failure> {
    let target = target(args)?;
    let caller = caller(context, args)?;
    let axes = input::axes(args)?;
    let mut changes = input::json(context, args)?.unwrap_or_else(|| Map::new().into());
    if let Json::Object(changes) = &mut changes {
        input::with_axes(changes, axes);
        if changes.is_empty() {
            let text = format!("nothing to change on {}: give --json-input or --axis", target.id);
            let example = r#"echo '{"priority": "high", "due": null}' | workfile card patch"#;
            let failure = Failure::new(Code::CLI_ARGUMENT_REQUIRED, text);
            return Err(failure.remedy(format!("{example} {} --json-input -", target.id)));
        }
    }
    let patch = Patch { target, changes: &changes, waiver: waiver(args), proof: proof(args) };
    let card = patch::patch(&context.workspace()?, patch, &caller)?;
    Ok(answer(&card, "updated"))
}

/// `card write`: the body comes from a file, else from standard input.
pub(super) fn body(context: &Context, args: &Args) -> Result<Output, Failure> {
    let target = target(args)?;
    let caller = caller(context, args)?;
    let body: Json = input::text(context, args.get("body-file").unwrap_or("-"))?.into();
    let written = write::write(&context.workspace()?, Write { target, body: &body }, &caller)?;
    let mut output = answer(&written.card, "written");
    if let (Json::Object(json), false) = (&mut output.json, written.ignored.is_empty()) {
        json.insert("ignored".to_owned(), json!(written.ignored));
    }
    let kept = |output: Output, heading: &String| {
        output.note(format!("workfile: `{heading}` of {} stays as it is stored", target.id))
    };
    Ok(written.ignored.iter().fold(output, kept))
}

pub(super) fn note(context: &Context, args: &Args) -> Result<Output, Failure> {
    let section = args.get("section").unwrap_or(note::SECTION);
    let note = Note { target: target(args)?, text: args.get("text").unwrap_or_default(), section };
    let caller = caller(context, args)?;
    let card = note::note(&context.workspace()?, note, &caller)?;
    Ok(answer(&card, "noted"))
}

pub(super) fn claim(context: &Context, args: &Args) -> Result<Output, Failure> {
    let scope = args.list("scope");
    let (waiver, proof) = (waiver(args), Proof::NONE);
    let claim = Claim { target: target(args)?, scope: scope.as_deref(), waiver, proof };
    let caller = caller(context, args)?;
    let workspace = context.workspace()?;
    let claimed = claim::claim(&workspace, claim, &caller)?;
    let mut warnings: Vec<Json> = claimed.overlaps.iter().map(Overlap::to_json).collect();
    if let Some((claimed, resolved)) = caller.mismatch() {
        warnings.push(json!({"code": "ACTOR_MISMATCH", "claimed": claimed, "resolved": resolved}));
    }
    let mut output = told(&claimed, &caller, context, &workspace);
    output.json = json!({"record": claimed.card.to_json(), "warnings": warnings});
    Ok(output)
}

pub(super) fn release(context: &Context, args: &Args) -> Result<Output, Failure> {
    let (waiver, proof) = (waiver(args), proof(args));
    let release = Release { target: target(args)?, status: args.get("status"), waiver, proof };
    let caller = caller(context, args)?;
    let card = release::release(&context.workspace()?, release, &caller)?;
    let status = card.status().unwrap_or_default();
    Ok(answer(&card, &format!("released, in {status}")))
}

pub(super) fn transition(context: &Context, args: &Args) -> Result<Output, Failure> {
    let target = target(args)?;
    let status = args.need(1, "STATUS")?;
    let scope = args.list("scope");
    let caller = caller(context, args)?;
    let (waiver, proof) = (waiver(args), proof(args));
    let transition = Transition { target, status, scope: scope.as_deref(), waiver, proof };
    let workspace = context.workspace()?;
    let moved = transition::transition(&workspace, transition, &caller)?;
    if status == DOING {
        return Ok(told(&moved, &caller, context, &workspace));
    }
    let output = answer(&moved.card, &format!("in {status}"));
    Ok(if scope.is_some() {
        output
            .note(format!("workfile: --scope is for a move to {DOING}; the scope of {} stays", moved.card.id))
    } else {
        output
    })
}

/// What a claim says to people.
fn told(claimed: &Claimed, caller: &Caller, context: &Context, workspace: &Workspace) -> Output {
    let card = &claimed.card;
    let mut output = answer(card, &format!("claimed by {}", card.holder().unwrap_or_default()));
    for overlap in &claimed.overlaps {
        let pairs: Vec<String> =
            overlap.paths.iter().map(|(mine, theirs)| format!("{mine} and {theirs}")).collect();
        output = output.note(format!(
            "workfile: the scope of {} overlaps {}, claimed by {}: {}",
            card.id,
            overlap.card,
            overlap.holder,
            pairs.join(", ")
        ));
    }
    output = idle(card, context, workspace).into_iter().fold(output, Output::note);
    match caller.mismatch() {
        Some((claimed, own)) => output.note(format!(
            "workfile: claimed as {claimed}, while this process is {own}; the hooks will take edits of {own} for somebody else's"
        )),
        None => output,
    }
}

/// What of a claimed card's scope guards nothing: all of it when there is none, else each entry that cannot be meant so.
fn idle(card: &Card, context: &Context, workspace: &Workspace) -> Vec<String> {
    let (id, entries, root) = (&card.id, card.scope(), &workspace.root);
    if entries.is_empty() {
        return vec![format!(
            "workfile: {id} has no scope, so no edit is asked about; `workfile card claim {id} --scope PATHS` gives it one"
        )];
    }
    let fault = |entry: &String| {
        let Some(start) = scope::start(entry) else {
            return Some(format!("the scope entry {entry} covers nothing"));
        };
        let is_here = !root.join(&start.literal).exists() && context.cwd.join(&start.literal).exists();
        is_here.then(|| format!("there is no {entry} in the workspace, only in the current directory"))
    };
    let note =
        |fault| format!("workfile: {fault}; entries are paths without `..`, written from {}", root.display());
    entries.iter().filter_map(fault).map(note).collect()
}
