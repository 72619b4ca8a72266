//! The commands that look at memory.

use super::super::found::{self, Around, Wanted};
use super::super::{Args, Column, Context, Flag, Offers, Output, Table, invalid_option};
use crate::clock;
use crate::doctor::Everything;
use crate::failure::Failure;
use crate::memory::{KIND, load};
use crate::query::list::Filter;
use crate::query::{Entry, Kind};
use crate::workspace::{Collection, Workspace, edit, finding};
use serde_json::{Map, Value as Json, json};
use std::fmt::Write as _;

/// How many are listed without `--limit`.
const USUAL: usize = 1000;

pub(super) const LIST: &[Flag] = &[
    Flag::value("query", "TEXT", "only what a search for this finds, the best first"),
    Flag::value("collection", "A,B", "any of these collections").offers(Offers::Words(&[
        "learnings",
        "decisions",
        "incidents",
        "conventions",
        "context",
    ])),
    Flag::value("status", "A,B", "any of these statuses"),
    Flag::value("limit", "N", "at most so many; 1000 without it"),
];

pub(super) fn list(context: &Context, args: &Args) -> Result<Output, Failure> {
    let limit = args.at_least_one("limit")?.unwrap_or(USUAL);
    let workspace = context.workspace()?;
    let types = collections(&workspace, args)?.into_iter().map(|it| it.id.to_owned()).collect();
    let status = args.list("status").unwrap_or_default();
    let listing = load::all(&workspace)?;
    let wanted = Wanted {
        kind: Kind::Memory,
        query: args.get("query").unwrap_or_default(),
        filter: Filter { status, types, ..Filter::nothing() },
        limit,
    };
    let nothing = if listing.records.is_empty() {
        "there is nothing in memory: `workfile memory add learning --title TEXT` adds"
    } else {
        "no record matches"
    };
    let around = Around { unreadable: &listing.unreadable, nothing };
    found::list(context, &workspace, wanted, &around, |entries| {
        let columns = [Column::Id, Column::Word, Column::Status, Column::Text];
        let rows = entries.iter().filter_map(|entry| {
            let Entry::Memory(it) = entry else { return None };
            let [status, title] = [it.status(), it.field("title")].map(Option::unwrap_or_default);
            Some([&it.id, it.collection.id, status, title])
        });
        Table::new(columns, rows)
    })
}

/// The collections of `--collection`, in either spelling.
fn collections(workspace: &Workspace, args: &Args) -> Result<Vec<&'static Collection>, Failure> {
    let enabled = &workspace.config.memory.collections;
    let named = |name: String| {
        let found = enabled.iter().find(|it| it.id == name || it.singular == name);
        found.copied().ok_or_else(|| {
            let known: Vec<&str> = enabled.iter().map(|it| it.id).collect();
            invalid_option("collection", &name, &format!("some of {}", known.join(", ")))
        })
    };
    args.list("collection").unwrap_or_default().into_iter().map(named).collect()
}

pub(super) fn show(context: &Context, args: &Args) -> Result<Output, Failure> {
    let id = args.need(0, "ID")?;
    let workspace = context.workspace()?;
    match found::show(&workspace, Kind::Memory, id)? {
        Some(record) => Ok(Output::json(record.into())),
        None => Err(edit::missing(&KIND, id, &load::all(&workspace)?.unreadable)),
    }
}

pub(super) fn verify(context: &Context, _: &Args) -> Result<Output, Failure> {
    let workspace = context.workspace()?;
    let all = Everything::load(&workspace)?;
    let now = clock::now();
    let findings = all.memory(&workspace, now);
    let listing = all.memory;
    let count =
        |collection: &Collection| listing.records.iter().filter(|it| it.collection == collection).count();
    let collections: Map<String, Json> =
        workspace.config.memory.collections.iter().map(|it| (it.id.to_owned(), count(it).into())).collect();
    let (counts, ok) = (finding::counts(&findings), finding::is_ok(&findings));
    let records = listing.records.len();
    let mut text = format!(
        "Workfile memory: {records} records: {} errors, {} warnings\n",
        counts["error"], counts["warning"]
    );
    for it in &findings {
        let severity = it.severity.name().to_uppercase();
        let _ = writeln!(text, "{severity} {} {}: {}", it.code, it.subject(), it.message);
    }
    let issues: Vec<Map<String, Json>> = findings.iter().map(finding::Finding::to_json).collect();
    let json = json!({
        "generatedAt": now.timestamp(), "records": records, "collections": collections, "counts": counts,
        "ok": ok, "issues": issues,
    });
    Ok(Output::new(json, text).exit(u8::from(!ok)))
}
