//! The commands that look at the changelog.

use super::super::{Args, Column, Context, Output, Table};
use crate::clock;
use crate::doctor::Everything;
use crate::failure::{Code, Failure};
use crate::history::load::{self, Listing};
use crate::history::preview::{self, Preview};
use crate::history::{Fragment, Release};
use crate::record::order::natural;
use crate::workspace::finding;
use serde_json::{Map, Value as Json, json};
use std::fmt::Write as _;

/// A row of the list, and the record with every key.
struct Row {
    id: String,
    cells: [String; 5],
    record: Map<String, Json>,
}

pub(super) fn list(context: &Context, args: &Args) -> Result<Output, Failure> {
    let workspace = context.workspace()?;
    let listing = load::all(&workspace)?;
    let rows = rows(&listing, args);
    if context.json {
        let total = rows.len();
        let records: Vec<Map<String, Json>> = rows.into_iter().map(|row| row.record).collect();
        return Ok(Output::json(json!({"records": records, "total": total})));
    }
    let columns = [Column::Id, Column::Word, Column::Word, Column::Word, Column::Text];
    let is_empty = rows.is_empty();
    let output = Output::rows(Json::Null, Table::new(columns, rows.into_iter().map(|row| row.cells)), "");
    let output = listing.unreadable.iter().fold(output, |output, file| {
        output.note(format!("workfile: {} cannot be read: {}", file.path, file.reason))
    });
    Ok(match is_empty {
        true if listing.fragments.is_empty() && listing.releases.is_empty() => {
            output.note("workfile: nothing is written down yet: `workfile changelog add --title TEXT` does")
        }
        true => output.note("workfile: no fragment matches"),
        false => output,
    })
}

/// What matches, by id. A visibility keeps the releases, `--unreleased` does not.
fn rows(listing: &Listing, args: &Args) -> Vec<Row> {
    let visibility = args.get("visibility");
    let waiting = args.has("unreleased");
    let text = |value: Option<&str>| value.unwrap_or_default().to_owned();
    let fragments = listing.fragments.iter().filter(|it| {
        !(waiting && it.is_released())
            && visibility.is_none_or(|wanted| it.field("visibility") == Some(wanted))
    });
    let fragments = fragments.map(|it| {
        let stage = if it.is_released() { "released" } else { "unreleased" };
        let [kind, shown, title] = ["type", "visibility", "title"].map(|key| text(it.field(key)));
        Row {
            id: it.id.clone(),
            cells: [it.id.clone(), stage.to_owned(), kind, shown, title],
            record: it.to_json(),
        }
    });
    let releases = listing.releases.iter().filter(|_| !waiting).map(|it| {
        let [version, date, title] = ["version", "date", "title"].map(|key| text(it.field(key)));
        let cells = [it.id.clone(), "release".to_owned(), version, date, title];
        Row { id: it.id.clone(), cells, record: it.to_json() }
    });
    let mut rows: Vec<Row> = fragments.chain(releases).collect();
    rows.sort_by(|a, b| natural(&a.id, &b.id));
    rows
}

pub(super) fn show(context: &Context, args: &Args) -> Result<Output, Failure> {
    let id = args.need(0, "ID")?;
    let workspace = context.workspace()?;
    let listing = load::all(&workspace)?;
    let fragment = listing.fragments.iter().find(|it| it.id == id).map(Fragment::to_json);
    let release = || listing.releases.iter().find(|it| it.id == id).map(Release::to_json);
    let record = fragment.or_else(release).ok_or_else(|| {
        let text = format!("there is no fragment and no release {id}");
        let failure = Failure::new(Code::CHANGELOG_RECORD_NOT_FOUND, text).with("id", id);
        failure.remedy("workfile changelog list")
    })?;
    Ok(Output::json(record.into()))
}

pub(super) fn preview(context: &Context, args: &Args) -> Result<Output, Failure> {
    let ids = args.list("fragments");
    let asked = Preview { ids: ids.as_deref(), visibility: args.get("visibility") };
    let shown = preview::preview(&context.workspace()?, asked)?;
    let text =
        if shown.markdown.is_empty() { "there is nothing to release".to_owned() } else { shown.markdown };
    Ok(Output::new(shown.json.into(), text))
}

pub(super) fn verify(context: &Context, _: &Args) -> Result<Output, Failure> {
    let workspace = context.workspace()?;
    let all = Everything::load(&workspace)?;
    let now = clock::now();
    let findings = all.changelog(&workspace, now);
    let listing = all.history;
    let unreleased = listing.fragments.iter().filter(|it| !it.is_released()).count();
    let (fragments, releases) = (listing.fragments.len(), listing.releases.len());
    let (counts, ok) = (finding::counts(&findings), finding::is_ok(&findings));
    let mut text = format!(
        "Workfile changelog: {fragments} fragments ({unreleased} unreleased), {releases} releases: {} errors, {} warnings\n",
        counts["error"], counts["warning"]
    );
    for it in &findings {
        let severity = it.severity.name().to_uppercase();
        let _ = writeln!(text, "{severity} {} {}: {}", it.code, it.subject(), it.message);
    }
    let issues: Vec<Map<String, Json>> = findings.iter().map(finding::Finding::to_json).collect();
    let json = json!({
        "generatedAt": now.timestamp(), "fragments": fragments, "unreleased": unreleased, "releases": releases,
        "counts": counts, "ok": ok, "issues": issues,
    });
    Ok(Output::new(json, text).exit(u8::from(!ok)))
}
