//! The commands that look at memory.

use super::super::records::{self, Listed};
use super::super::{Args, Column, Context, Flag, Offers, Output, invalid_option};
use crate::clock;
use crate::doctor::Everything;
use crate::failure::Failure;
use crate::memory::KIND;
use crate::query::list::Filter;
use crate::query::{Entry, Index, Kind};
use crate::workspace::{Collection, Workspace, edit, finding};
use serde_json::{Map, Value as Json, json};
use std::fmt::Write as _;

pub(super) const LIST: &[Flag] = &[
    Flag::value("collection", "A,B", "any of these collections").offers(Offers::Words(&[
        "learnings",
        "decisions",
        "incidents",
        "conventions",
        "context",
    ])),
    Flag::value("status", "A,B", "any of these statuses"),
    Flag::value("query", "TEXT", "what fits, the best first, as `workfile search` reads it"),
    Flag::value("limit", "N", "at most so many; 1000 without it"),
];

pub(super) fn list(context: &Context, args: &Args) -> Result<Output, Failure> {
    let workspace = context.workspace()?;
    let types =
        collections(&workspace, args)?.into_iter().map(|collection| collection.id.to_owned()).collect();
    let listed = Listed {
        kind: Kind::Memory,
        filter: Filter { types, status: args.list("status").unwrap_or_default(), ..Filter::nothing() },
        usual: 1000,
        columns: [Column::Id, Column::Word, Column::Status, Column::Text],
        row,
        none: "there is nothing in memory: `workfile memory add learning --title TEXT` adds",
    };
    records::list(context, args, &workspace, listed)
}

fn row(entry: Entry<'_>) -> [String; 4] {
    let Entry::Memory(record) = entry else { return Default::default() };
    let [status, title] = [record.status(), record.field("title")].map(Option::unwrap_or_default);
    [&record.id, record.collection.id, status, title].map(str::to_owned)
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
    let missing = |all: &Index| edit::missing(&KIND, id, &all.memory.unreadable);
    records::show(&context.workspace()?, id, &[Kind::Memory], missing)
}

pub(super) fn verify(context: &Context, _: &Args) -> Result<Output, Failure> {
    let workspace = context.workspace()?;
    let all = Everything::load(&workspace)?;
    let now = clock::now();
    let findings = all.memory_findings(now);
    let listing = &all.memory;
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
        let _ = writeln!(text, "{}", it.line());
    }
    let issues: Vec<Map<String, Json>> = findings.iter().map(finding::Finding::to_json).collect();
    let json = json!({
        "generatedAt": now.timestamp(), "records": records, "collections": collections, "counts": counts,
        "ok": ok, "issues": issues,
    });
    Ok(Output::new(json, text).exit(u8::from(!ok)))
}
