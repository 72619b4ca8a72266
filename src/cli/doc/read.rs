//! `doc list` and `doc show`.

use super::super::records::{self, Listed};
use super::super::{Args, Column, Context, Flag, Output};
use crate::docs::{KIND, Origin};
use crate::failure::Failure;
use crate::query::list::Filter;
use crate::query::{Entry, Kind};
use crate::workspace::edit;

pub(super) const LIST: &[Flag] = &[
    Flag::switch("managed", "only documents that can be changed here"),
    Flag::value("query", "TEXT", "what fits, the best first, as `workfile search` reads it"),
    Flag::value("limit", "N", "at most so many; 500 without it"),
];

pub(super) fn list(context: &Context, args: &Args) -> Result<Output, Failure> {
    let listed = Listed {
        kind: Kind::Doc,
        filter: Filter { origin: args.has("managed").then_some(Origin::Managed), ..Filter::nothing() },
        usual: 500,
        columns: [Column::Id, Column::Word, Column::Status, Column::Text, Column::Detail],
        row,
        none: "there is no document: `workfile doc create --title TEXT` makes one",
    };
    records::list(context, args, &context.workspace()?, listed)
}

fn row(entry: Entry<'_>) -> [String; 5] {
    let Entry::Doc(document) = entry else { return Default::default() };
    let origin = if document.is_managed() { "managed" } else { "indexed" };
    [&document.id, origin, document.status(), &document.title, &document.path].map(str::to_owned)
}

pub(super) fn show(context: &Context, args: &Args) -> Result<Output, Failure> {
    let id = args.need(0, "ID")?;
    records::show(&context.workspace()?, id, &[Kind::Doc], |all| {
        edit::missing(&KIND, id, &all.docs.unreadable)
    })
}
