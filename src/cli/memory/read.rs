//! The commands that look at memory.

use super::super::{Args, Column, Context, Flag, Offers, Output, Table, invalid_option};
use crate::clock;
use crate::doctor::Everything;
use crate::failure::Failure;
use crate::memory::{KIND, Memory, load};
use crate::query::recent;
use crate::workspace::{Collection, Workspace, edit, finding};
use serde_json::{Map, Value as Json, json};
use std::fmt::Write as _;

/// How many are listed without `--limit`.
const USUAL: usize = 1000;

pub(super) const LIST: &[Flag] = &[
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
    let limit = args.number("limit")?.unwrap_or(USUAL);
    let statuses = args.list("status").unwrap_or_default();
    let workspace = context.workspace()?;
    let collections = collections(&workspace, args)?;
    let listing = load::all(&workspace)?;
    let any = |statuses: &[String], status: Option<&str>| {
        statuses.is_empty() || status.is_some_and(|status| statuses.iter().any(|wanted| wanted == status))
    };
    let wanted = |record: &&Memory| {
        (collections.is_empty() || collections.contains(&record.collection))
            && any(&statuses, record.status())
    };
    let mut found: Vec<&Memory> = listing.records.iter().filter(wanted).collect();
    recent::sort(&mut found, |it| (&it.id, it.field("updated"), it.field("title").unwrap_or_default()));
    let total = found.len();
    found.truncate(limit);
    if context.json {
        let records: Vec<Map<String, Json>> = found.into_iter().map(Memory::to_json).collect();
        return Ok(Output::json(json!({"records": records, "total": total})));
    }
    let columns = [Column::Id, Column::Word, Column::Status, Column::Text];
    let rows = found.iter().map(|it| {
        let [status, title] = [it.status(), it.field("title")].map(Option::unwrap_or_default);
        [&it.id, it.collection.id, status, title]
    });
    let output = Output::rows(Json::Null, Table::new(columns, rows), "");
    let output = listing.unreadable.iter().fold(output, |output, file| {
        output.note(format!("workfile: {} cannot be read: {}", file.path, file.reason))
    });
    Ok(match total {
        0 if listing.records.is_empty() => output
            .note("workfile: there is nothing in memory: `workfile memory add learning --title TEXT` adds"),
        0 => output.note("workfile: no record matches"),
        _ => output,
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
    let listing = load::all(&context.workspace()?)?;
    let record = listing.find(id).ok_or_else(|| edit::missing(&KIND, id, &listing.unreadable))?;
    Ok(Output::json(record.to_json().into()))
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
