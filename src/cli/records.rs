//! Lists and single records of one kind, as the families of documents and memory print them.

use super::{Args, Column, Context, Output, Table};
use crate::doctor::{self, Everything};
use crate::failure::Failure;
use crate::query::list::Filter;
use crate::query::search::{self, Request};
use crate::query::{Entry, Index, Kind, Shower, View};
use crate::workspace::Workspace;
use crate::workspace::files::Unreadable;
use serde_json::{Value as Json, json};

/// A list of one kind.
pub(super) struct Listed<'a, const N: usize> {
    /// The kind.
    pub(super) kind: Kind,
    /// Which of them.
    pub(super) filter: Filter,
    /// How many without `--limit`.
    pub(super) usual: usize,
    /// The columns of a row.
    pub(super) columns: [Column; N],
    /// The row of a record.
    pub(super) row: fn(Entry<'_>) -> [String; N],
    /// What to say when there is no record of this kind at all.
    pub(super) none: &'a str,
}

/// Prints a list in the order of a search: what fits `--query` best, without one what changed last.
pub(super) fn list<const N: usize>(
    context: &Context,
    args: &Args,
    workspace: &Workspace,
    listed: Listed<'_, N>,
) -> Result<Output, Failure> {
    let request = Request {
        query: args.get("query").unwrap_or_default().to_owned(),
        kinds: vec![listed.kind],
        filter: listed.filter,
        offset: 0,
        limit: args.at_least_one("limit")?.unwrap_or(listed.usual),
    };
    if context.json {
        let index = Index::load(workspace)?;
        let shower = Shower::new(workspace, &index)?;
        let hits = search::search(&index, &request)?;
        let records = shower.show(&hits.places(), View::Full);
        let mut answer = json!({"records": [], "total": hits.total});
        // The macro would copy them.
        answer["records"] = records.into();
        return Ok(Output::json(answer));
    }
    let index = Index::of(workspace, &[listed.kind])?;
    let hits = search::search(&index, &request)?;
    let rows = hits.page.iter().map(|hit| (listed.row)(index.entry(hit.place)));
    let output = Output::rows(Json::Null, Table::new(listed.columns, rows), "");
    let unreadable = match listed.kind {
        Kind::Doc => &index.docs.unreadable,
        _ => &index.memory.unreadable,
    };
    let output = unreadable.iter().fold(output, unread);
    let output =
        hits.warnings.iter().fold(output, |output, warning| output.note(format!("workfile: {warning}")));
    Ok(match hits.total {
        0 if index.is_empty() => output.note(format!("workfile: {}", listed.none)),
        0 => output.note("workfile: no record matches"),
        _ => output,
    })
}

/// Says that a file is no record.
pub(super) fn unread(output: Output, file: &Unreadable) -> Output {
    output.note(format!("workfile: {} cannot be read: {}", file.path, file.reason))
}

/// Prints one record whole: with who names whom and what the doctor finds wrong with it.
pub(super) fn show(
    workspace: &Workspace,
    id: &str,
    kinds: &[Kind],
    missing: impl FnOnce(&Index) -> Failure,
) -> Result<Output, Failure> {
    let all = Everything::load(workspace)?;
    let is_wanted = |place: &usize| {
        let entry = all.entry(*place);
        kinds.contains(&entry.kind()) && entry.id() == id
    };
    let Some(place) = (0..all.len()).find(is_wanted) else { return Err(missing(&all)) };
    Ok(Output::json(doctor::record(workspace, &all, place)?.into()))
}
