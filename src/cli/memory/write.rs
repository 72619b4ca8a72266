//! The commands that change memory.

use super::super::input::{self, Form, JSON_INPUT};
use super::super::{Args, Context, Flag, Offers, Output};
use crate::doctor::Everything;
use crate::failure::Failure;
use crate::memory::{self, CONFIDENCES, Graduate, Memory, SEVERITIES, Supersede};
use crate::workspace::edit::Target;

pub(super) const ADD: &[Flag] = &[
    Flag::value("title", "TEXT", "what it is about, in one line"),
    Flag::value("status", "STATUS", "the first of its collection without it"),
    Flag::value("category", "WORD", "a category of the project's own"),
    Flag::value("confidence", "WORD", "how sure a learning is").offers(Offers::Word(CONFIDENCES)),
    Flag::value("occurrences", "N", "how often a learning was seen"),
    Flag::value("severity", "WORD", "how bad an incident is").offers(Offers::Word(SEVERITIES)),
    Flag::value("started-at", "TIME", "when an incident began: a day or an RFC 3339 time"),
    Flag::value("resolved-at", "TIME", "when it was over"),
    Flag::value("expires", "DATE", "until when it holds"),
    Flag::value("review-after", "DATE", "when it should be looked at again"),
    Flag::value("deciders", "A,B", "who decided"),
    Flag::value("related", "IDS", "records worth reading"),
    Flag::value("supersedes", "IDS", "records it replaces; `memory supersede` tells both sides"),
    Flag::value("scope", "PATHS", "paths from the root that it is about").offers(Offers::Paths),
    Flag::value("actions", "IDS", "what was done about an incident"),
    Flag::value("tags", "A,B", "tags"),
    Flag::value("body", "TEXT", "the Markdown below the header"),
    JSON_INPUT,
];

/// The flags that stand for a field of a record.
const FIELDS: &[(&str, &str, Form)] = &[
    ("title", "title", Form::Text),
    ("status", "status", Form::Text),
    ("category", "category", Form::Text),
    ("confidence", "confidence", Form::Text),
    ("occurrences", "occurrences", Form::Text),
    ("severity", "severity", Form::Text),
    ("started-at", "started_at", Form::Text),
    ("resolved-at", "resolved_at", Form::Text),
    ("expires", "expires", Form::Text),
    ("review-after", "review_after", Form::Text),
    ("deciders", "deciders", Form::List),
    ("related", "related", Form::List),
    ("supersedes", "supersedes", Form::List),
    ("scope", "scope", Form::List),
    ("actions", "corrective_actions", Form::List),
    ("tags", "tags", Form::List),
    ("body", "body", Form::Text),
];

pub(super) fn add(context: &Context, args: &Args) -> Result<Output, Failure> {
    let collection = args.need(0, "COLLECTION")?;
    let fields = input::fields(context, args, FIELDS)?;
    let record = memory::add(&context.workspace()?, collection, &fields)?;
    let text = format!("{} {}", record.id, record.file);
    Ok(Output::new(record.to_json().into(), text))
}

pub(super) fn patch(context: &Context, args: &Args) -> Result<Output, Failure> {
    let target = target(args)?;
    let changes = input::changes(context, args, "memory", target.id)?;
    let record = memory::patch(&context.workspace()?, target, &changes)?;
    Ok(answer(&record, "updated"))
}

pub(super) fn graduate(context: &Context, args: &Args) -> Result<Output, Failure> {
    let to = args.list("to").unwrap_or_default();
    let graduate = Graduate { target: target(args)?, to: &to };
    let workspace = context.workspace()?;
    let all = Everything::load(&workspace)?;
    let known = all.ids();
    let record = memory::graduate(&workspace, graduate, &|id| known.contains(id))?;
    Ok(answer(&record, &format!("graduated to {}", record.list("graduated_to").join(", "))))
}

pub(super) fn supersede(context: &Context, args: &Args) -> Result<Output, Failure> {
    let supersede = Supersede { target: target(args)?, by: args.flag("by")? };
    let record = memory::supersede(&context.workspace()?, supersede)?.record;
    Ok(answer(&record, &format!("superseded by {}", supersede.by)))
}

fn target(args: &Args) -> Result<Target<'_>, Failure> {
    Ok(Target { id: args.need(0, "ID")?, revision: args.get("expected-revision") })
}

fn answer(record: &Memory, done: &str) -> Output {
    Output::new(record.to_json().into(), format!("{} {done}", record.id))
}
