//! The commands that look at the changelog.

use super::super::records;
use super::super::{Args, Column, Context, Output, Table};
use crate::clock;
use crate::doctor::Everything;
use crate::failure::{Code, Failure};
use crate::history::preview::{self, Preview};
use crate::query::{Entry, Index, Kind, Shower, View};
use crate::workspace::finding;
use serde_json::{Map, Value as Json, json};
use std::fmt::Write as _;

pub(super) fn list(context: &Context, args: &Args) -> Result<Output, Failure> {
    let workspace = context.workspace()?;
    let index = if context.json { Index::load(&workspace) } else { Index::of(&workspace, &KINDS) }?;
    let places: Vec<usize> = (0..index.len()).filter(|place| is_wanted(index.entry(*place), args)).collect();
    if context.json {
        let records = Shower::new(&workspace, &index)?.show(&places, View::Full);
        return Ok(Output::json(json!({"records": records, "total": places.len()})));
    }
    let columns = [Column::Id, Column::Word, Column::Word, Column::Word, Column::Text];
    let rows = places.iter().map(|place| row(index.entry(*place)));
    let output = Output::rows(Json::Null, Table::new(columns, rows), "");
    let output = index.history.unreadable.iter().fold(output, records::unread);
    Ok(match places.is_empty() {
        true if index.is_empty() => {
            output.note("workfile: nothing is written down yet: `workfile changelog add --title TEXT` does")
        }
        true => output.note("workfile: no fragment matches"),
        false => output,
    })
}

/// The kinds of the list.
const KINDS: [Kind; 2] = [Kind::Change, Kind::Release];

/// A visibility keeps the releases, `--unreleased` does not.
fn is_wanted(entry: Entry<'_>, args: &Args) -> bool {
    let visibility = args.get("visibility");
    match entry {
        Entry::Change(fragment) => {
            !(args.has("unreleased") && fragment.is_released())
                && visibility.is_none_or(|wanted| fragment.field("visibility") == Some(wanted))
        }
        Entry::Release(_) => !args.has("unreleased"),
        _ => false,
    }
}

fn row(entry: Entry<'_>) -> [String; 5] {
    let (stage, keys) = match entry {
        Entry::Change(fragment) if fragment.is_released() => ("released", ["type", "visibility", "title"]),
        Entry::Change(_) => ("unreleased", ["type", "visibility", "title"]),
        _ => ("release", ["version", "date", "title"]),
    };
    let [first, second, third] = keys.map(|key| entry.record().field(key).unwrap_or_default());
    [entry.id(), stage, first, second, third].map(str::to_owned)
}

pub(super) fn show(context: &Context, args: &Args) -> Result<Output, Failure> {
    let id = args.need(0, "ID")?;
    records::show(&context.workspace()?, id, &[Kind::Change, Kind::Release], |_| {
        let text = format!("there is no fragment and no release {id}");
        let failure = Failure::new(Code::CHANGELOG_RECORD_NOT_FOUND, text).with("id", id);
        failure.remedy("workfile changelog list")
    })
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
    let findings = all.changelog_findings(&workspace, now);
    let listing = &all.history;
    let unreleased = listing.fragments.iter().filter(|it| !it.is_released()).count();
    let (fragments, releases) = (listing.fragments.len(), listing.releases.len());
    let (counts, ok) = (finding::counts(&findings), finding::is_ok(&findings));
    let mut text = format!(
        "Workfile changelog: {fragments} fragments ({unreleased} unreleased), {releases} releases: {} errors, {} warnings\n",
        counts["error"], counts["warning"]
    );
    for it in &findings {
        let _ = writeln!(text, "{}", it.line());
    }
    let issues: Vec<Map<String, Json>> = findings.iter().map(finding::Finding::to_json).collect();
    let json = json!({
        "generatedAt": now.timestamp(), "fragments": fragments, "unreleased": unreleased, "releases": releases,
        "counts": counts, "ok": ok, "issues": issues,
    });
    Ok(Output::new(json, text).exit(u8::from(!ok)))
}
