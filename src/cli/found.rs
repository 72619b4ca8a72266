//! Lists and single records of one kind, in the order and the form of a search.

use super::{Context, Output, Table};
use crate::failure::Failure;
use crate::query::list::Filter;
use crate::query::search::{self, Request};
use crate::query::{Entry, Index, Kind, Shower, View};
use crate::workspace::Workspace;
use crate::workspace::files::Unreadable;
use serde_json::{Map, Value as Json, json};
use std::mem::ManuallyDrop;

/// Which records of a kind are listed.
pub(super) struct Wanted<'a> {
    /// The kind.
    pub(super) kind: Kind,
    /// What was typed behind `--query`; blank for everything.
    pub(super) query: &'a str,
    /// What they have to match besides.
    pub(super) filter: Filter,
    /// How many at most.
    pub(super) limit: usize,
}

/// What a list says beside its rows.
pub(super) struct Around<'a> {
    /// Files of the kind that cannot be read.
    pub(super) unreadable: &'a [Unreadable],
    /// What is said when nothing matches.
    pub(super) nothing: &'a str,
}

/// The list: `{records, total}` in full, or what `table` makes of the records.
pub(super) fn list(
    context: &Context,
    workspace: &Workspace,
    wanted: Wanted<'_>,
    around: &Around<'_>,
    table: impl FnOnce(&[Entry<'_>]) -> Table,
) -> Result<Output, Failure> {
    let Wanted { kind, query, filter, limit } = wanted;
    let request = Request { query: query.to_owned(), kinds: vec![kind], filter, offset: 0, limit };
    if context.json {
        // Its memory goes with the process, at once.
        let index = ManuallyDrop::new(Index::load(workspace)?);
        let mut answer = search::answer(&Shower::new(workspace, &index)?, &request, View::Full)?;
        let mut shown = json!({"records": answer.shift_remove("records"), "total": answer["total"]});
        if let (Some(warnings), Json::Object(shown)) = (answer.shift_remove("warnings"), &mut shown) {
            shown.insert("warnings".to_owned(), warnings);
        }
        return Ok(Output::json(shown));
    }
    let index = ManuallyDrop::new(Index::of(workspace, &[kind])?);
    let hits = search::search(&index, &request)?;
    let entries: Vec<Entry<'_>> = hits.page.iter().map(|hit| index.entry(hit.place)).collect();
    let unreadable = around
        .unreadable
        .iter()
        .map(|file| format!("workfile: {} cannot be read: {}", file.path, file.reason));
    let warnings = hits.warnings.iter().map(|warning| format!("workfile: {warning}"));
    let nothing = (hits.total == 0).then(|| format!("workfile: {}", around.nothing));
    let output = Output::rows(Json::Null, table(&entries), "");
    Ok(unreadable.chain(warnings).chain(nothing).fold(output, Output::note))
}

/// The first record of a kind with this id, in full; `None` when there is none.
pub(super) fn show(
    workspace: &Workspace,
    kind: Kind,
    id: &str,
) -> Result<Option<Map<String, Json>>, Failure> {
    let index = ManuallyDrop::new(Index::load(workspace)?);
    let Some(place) = index.entries().position(|entry| entry.kind() == kind && entry.id() == id) else {
        return Ok(None);
    };
    Ok(Shower::new(workspace, &index)?.show(&[place], View::Full).pop())
}
