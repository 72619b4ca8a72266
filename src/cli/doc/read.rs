//! `doc list` and `doc show`.

use super::super::found::{self, Around, Wanted};
use super::super::{Args, Column, Context, Flag, Output, Table};
use crate::docs::{KIND, Origin, load};
use crate::failure::Failure;
use crate::query::list::Filter;
use crate::query::{Entry, Kind};
use crate::workspace::edit;

/// How many are listed without `--limit`.
const USUAL: usize = 500;

pub(super) const LIST: &[Flag] = &[
    Flag::value("query", "TEXT", "only what a search for this finds, the best first"),
    Flag::switch("managed", "only documents that can be changed here"),
    Flag::value("limit", "N", "at most so many; 500 without it"),
];

pub(super) fn list(context: &Context, args: &Args) -> Result<Output, Failure> {
    let limit = args.at_least_one("limit")?.unwrap_or(USUAL);
    let origin = args.has("managed").then_some(Origin::Managed);
    let workspace = context.workspace()?;
    let listing = load::all(&workspace)?;
    let wanted = Wanted {
        kind: Kind::Doc,
        query: args.get("query").unwrap_or_default(),
        filter: Filter { origin, ..Filter::nothing() },
        limit,
    };
    let nothing = if listing.documents.is_empty() {
        "there is no document: `workfile doc create --title TEXT` makes one"
    } else {
        "no document matches"
    };
    let around = Around { unreadable: &listing.unreadable, nothing };
    found::list(context, &workspace, wanted, &around, |entries| {
        let columns = [Column::Id, Column::Word, Column::Status, Column::Text, Column::Detail];
        let rows = entries.iter().filter_map(|entry| {
            let Entry::Doc(it) = entry else { return None };
            let origin = if it.is_managed() { "managed" } else { "indexed" };
            Some([&it.id, origin, it.status(), &it.title, &it.path])
        });
        Table::new(columns, rows)
    })
}

pub(super) fn show(context: &Context, args: &Args) -> Result<Output, Failure> {
    let id = args.need(0, "ID")?;
    let workspace = context.workspace()?;
    match found::show(&workspace, Kind::Doc, id)? {
        Some(record) => Ok(Output::json(record.into())),
        None => Err(edit::missing(&KIND, id, &load::all(&workspace)?.unreadable)),
    }
}
