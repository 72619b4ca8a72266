//! The commands that change the changelog or write what it reads like.

use super::super::input::{self, Form, JSON_INPUT};
use super::super::{Args, Context, Flag, Offers, Output};
use super::{FRAGMENTS, REVISION};
use crate::failure::{Code, Failure};
use crate::history::amend::amend;
use crate::history::cut::{self, Cut};
use crate::history::{add, output, patch};
use crate::workspace::edit::Target;
use serde_json::{Value as Json, json};

const TITLE: Flag = Flag::value("title", "TEXT", "what changes, in one line");
const TAGS: Flag = Flag::value("tags", "A,B", "tags");
const BODY: Flag = Flag::value("body", "TEXT", "the Markdown below the header");

pub(super) const ADD: &[Flag] = &[
    TITLE,
    Flag::value("type", "TYPE", "what sort of change; the configured default without it"),
    Flag::value("area", "AREA", "the first declared area without it"),
    Flag::value("visibility", "WORD", "whom it is for; the configured default without it"),
    BODY,
    Flag::value("cards", "IDS", "the cards behind it").offers(Offers::Cards),
    Flag::value("issues", "A,B", "issues of another tracker"),
    Flag::value("decisions", "IDS", "decisions behind it"),
    Flag::value("related", "IDS", "records worth reading"),
    TAGS,
    JSON_INPUT,
];

pub(super) const RELEASE: &[Flag] = &[
    Flag::value("title", "TEXT", "`Version VERSION` without it"),
    Flag::value("date", "DATE", "the day of the release; today without it"),
    Flag::value("commit", "COMMIT", "the commit it is made from"),
    BODY,
    FRAGMENTS,
    TAGS,
    JSON_INPUT,
    Flag::switch("amend", "change title, date, commit, text or tags of the newest release instead"),
    REVISION,
];

/// The flags that stand for a field of a fragment.
const FRAGMENT_FIELDS: &[(&str, &str, Form)] = &[
    ("title", "title", Form::Text),
    ("type", "type", Form::Text),
    ("area", "area", Form::Text),
    ("visibility", "visibility", Form::Text),
    ("body", "body", Form::Text),
    ("cards", "cards", Form::List),
    ("issues", "issues", Form::List),
    ("decisions", "decisions", Form::List),
    ("related", "related", Form::List),
    ("tags", "tags", Form::List),
];

/// The flags that stand for a field of a release.
const RELEASE_FIELDS: &[(&str, &str, Form)] = &[
    ("title", "title", Form::Text),
    ("date", "date", Form::Text),
    ("commit", "commit", Form::Text),
    ("body", "body", Form::Text),
    ("tags", "tags", Form::List),
    ("fragments", "fragmentIds", Form::List),
];

pub(super) fn add(context: &Context, args: &Args) -> Result<Output, Failure> {
    let fields = input::fields(context, args, FRAGMENT_FIELDS)?;
    let fragment = add::add(&context.workspace()?, &fields)?;
    let text = format!("{} {}", fragment.id, fragment.file());
    Ok(Output::new(fragment.to_json().into(), text))
}

pub(super) fn patch(context: &Context, args: &Args) -> Result<Output, Failure> {
    let target = Target { id: args.need(0, "ID")?, revision: args.get("expected-revision") };
    let changes = input::changes(context, args, "changelog", target.id)?;
    let fragment = patch::patch(&context.workspace()?, target, &changes)?;
    let text = format!("{} updated", fragment.id);
    Ok(Output::new(fragment.to_json().into(), text))
}

pub(super) fn release(context: &Context, args: &Args) -> Result<Output, Failure> {
    let revision = args.get("expected-revision");
    if args.has("amend") {
        let target = Target { id: args.need(0, "VERSION")?, revision };
        let changes = input::fields(context, args, RELEASE_FIELDS)?;
        let release = amend(&context.workspace()?, target, &changes)?;
        let version = release.field("version").unwrap_or_default();
        return Ok(Output::new(release.to_json().into(), format!("{} amended ({version})", release.id)));
    }
    if revision.is_some() {
        let text = "--expected-revision goes with --amend: what is not there yet has no revision";
        return Err(Failure::new(Code::CLI_ARGUMENT_CONFLICT, text).with("flag", "--expected-revision"));
    }
    let mut fields = input::fields(context, args, RELEASE_FIELDS)?;
    let given = fields.shift_remove("version");
    let version = match (args.word(0), given.as_ref().and_then(Json::as_str)) {
        (Some(_), _) | (None, None) => args.need(0, "VERSION")?,
        (None, Some(version)) => version,
    };
    let released = cut::cut(&context.workspace()?, &Cut::of(version, &fields)?)?;
    let (release, count) = (released.release, released.consumed.len());
    let version = release.field("version").unwrap_or_default();
    let text = format!("{} released {version} ({count} fragments)", release.id);
    Ok(Output::new(release.to_json().into(), text))
}

pub(super) fn render(context: &Context, args: &Args) -> Result<Output, Failure> {
    let visibility = args.get("visibility");
    let workspace = context.workspace()?;
    // Beyond its own newline the text ends the answer with one more, as scripts know it.
    if !args.has("write") {
        let markdown = output::rendered(&workspace, visibility)?;
        let text = format!("{markdown}\n");
        return Ok(Output::new(markdown.into(), text));
    }
    let written = output::write(&workspace, visibility)?;
    let path = written.path.display().to_string();
    let note = format!("workfile: wrote {}", workspace.repo_path(&written.path));
    let text = format!("{}\n", written.content);
    Ok(Output::new(json!({"path": path, "content": written.content}), text).note(note))
}
