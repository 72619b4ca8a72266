//! `doc list` and `doc show`.

use super::super::{Args, Column, Context, Flag, Output, Table};
use crate::docs::{Document, KIND, load};
use crate::failure::Failure;
use crate::query::recent;
use crate::workspace::edit;
use serde_json::{Map, Value as Json, json};

/// How many are listed without `--limit`.
const USUAL: usize = 500;

pub(super) const LIST: &[Flag] = &[
    Flag::switch("managed", "only documents that can be changed here"),
    Flag::value("limit", "N", "at most so many; 500 without it"),
];

pub(super) fn list(context: &Context, args: &Args) -> Result<Output, Failure> {
    let limit = args.number("limit")?.unwrap_or(USUAL);
    let workspace = context.workspace()?;
    let listing = load::all(&workspace)?;
    let wanted = |document: &&Document| document.is_managed() || !args.has("managed");
    let mut found: Vec<&Document> = listing.documents.iter().filter(wanted).collect();
    recent::sort(&mut found, |it| (&it.id, it.field("updated"), &it.title));
    let total = found.len();
    found.truncate(limit);
    if context.json {
        let records: Vec<Map<String, Json>> = found.into_iter().map(Document::to_json).collect();
        return Ok(Output::json(json!({"records": records, "total": total})));
    }
    let columns = [Column::Id, Column::Word, Column::Status, Column::Text, Column::Detail];
    let rows = found.iter().map(|it| {
        let origin = if it.is_managed() { "managed" } else { "indexed" };
        [&it.id, origin, it.status(), &it.title, &it.path]
    });
    let output = Output::rows(Json::Null, Table::new(columns, rows), "");
    let output = listing.unreadable.iter().fold(output, |output, file| {
        output.note(format!("workfile: {} cannot be read: {}", file.path, file.reason))
    });
    Ok(match total {
        0 => output.note("workfile: there is no document: `workfile doc create --title TEXT` makes one"),
        _ => output,
    })
}

pub(super) fn show(context: &Context, args: &Args) -> Result<Output, Failure> {
    let id = args.need(0, "ID")?;
    let listing = load::all(&context.workspace()?)?;
    let document = listing.find(id).ok_or_else(|| edit::missing(&KIND, id, &listing.unreadable))?;
    Ok(Output::json(document.to_json().into()))
}
