//! The commands that change documents.

use super::super::input::{self, Form, JSON_INPUT};
use super::super::{Args, Context, Flag, Output};
use super::FOLDER;
use crate::docs::{self, Document, Move, Note, SECTION};
use crate::failure::Failure;
use crate::workspace::edit::Target;

pub(super) const CREATE: &[Flag] = &[
    Flag::value("title", "TEXT", "what it is called, at most 120 characters"),
    Flag::value("kind", "KIND", "one of docs.kinds; the configured default without it"),
    Flag::value("status", "STATUS", "one of docs.statuses; the configured default without it"),
    FOLDER,
    Flag::value("body", "TEXT", "the Markdown below the header"),
    Flag::value("owners", "A,B", "who keeps it up to date"),
    Flag::value("related", "IDS", "records worth reading"),
    Flag::value("scope", "PATHS", "paths from the root that it is about").offers(super::Offers::Paths),
    Flag::value("tags", "A,B", "tags"),
    JSON_INPUT,
];

/// The flags that stand for a field of a document.
const FIELDS: &[(&str, &str, Form)] = &[
    ("title", "title", Form::Text),
    ("kind", "kind", Form::Text),
    ("status", "status", Form::Text),
    ("folder", "folder", Form::Text),
    ("body", "body", Form::Text),
    ("owners", "owners", Form::List),
    ("related", "related", Form::List),
    ("scope", "scope", Form::List),
    ("tags", "tags", Form::List),
];

pub(super) fn create(context: &Context, args: &Args) -> Result<Output, Failure> {
    let fields = input::fields(context, args, FIELDS)?;
    let document = docs::create(&context.workspace()?, &fields)?;
    let text = format!("{} {}", document.id, document.file);
    Ok(Output::new(document.to_json().into(), text))
}

pub(super) fn patch(context: &Context, args: &Args) -> Result<Output, Failure> {
    let target = target(args)?;
    let changes = input::changes(context, args, "doc", target.id)?;
    let document = docs::patch(&context.workspace()?, target, &changes)?;
    Ok(answer(&document, "updated"))
}

pub(super) fn relocate(context: &Context, args: &Args) -> Result<Output, Failure> {
    let target = target(args)?;
    let folder = Some(args.flag("folder")?);
    let document = docs::relocate(&context.workspace()?, Move { target, folder })?;
    Ok(answer(&document, &format!("is {}", document.path)))
}

pub(super) fn write(context: &Context, args: &Args) -> Result<Output, Failure> {
    let target = target(args)?;
    let body = input::text(context, args.get("body-file").unwrap_or("-"))?;
    let document = docs::write(&context.workspace()?, target, Some(&body))?;
    Ok(answer(&document, "written"))
}

pub(super) fn note(context: &Context, args: &Args) -> Result<Output, Failure> {
    let identity = context.identity(args)?;
    let note = Note {
        target: target(args)?,
        text: args.get("text").unwrap_or_default(),
        section: args.get("section").unwrap_or(SECTION),
        actor: identity.actor.as_deref(),
    };
    let document = docs::note(&context.workspace()?, note)?;
    Ok(answer(&document, "noted"))
}

fn target(args: &Args) -> Result<Target<'_>, Failure> {
    Ok(Target { id: args.need(0, "ID")?, revision: args.get("expected-revision") })
}

fn answer(document: &Document, done: &str) -> Output {
    Output::new(document.to_json().into(), format!("{} {done}", document.id))
}
