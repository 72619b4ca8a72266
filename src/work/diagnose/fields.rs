//! The header of a card, field by field, and the name of its file.

use super::super::card::COMPUTED;
use super::super::create::SLUG;
use super::super::fields::is_open;
use super::super::validate::is_timestamp;
use super::{MODULE, PATCH, Report};
use crate::clock::is_date;
use crate::path::trim;
use crate::record::{self, Value, id, utf16_len};
use crate::workspace::{EFFORTS, Finding, PRIORITIES, STATUSES, TYPES};

/// Keys that every card has.
const REQUIRED: [&str; 8] = ["id", "title", "status", "type", "priority", "area", "created", "updated"];

/// From this day on cards say who raised them.
const RAISED_SINCE: &str = "2026-08-08";

/// What gives a claim its time.
const RECLAIM: &str = "`workfile card claim` by its holder writes the time";

/// Longest title.
const TITLE: usize = 80;

pub(super) fn check(report: &mut Report<'_>) {
    required(report);
    name(report);
    keys(report);
    vocabularies(report);
    dates(report);
    let card = report.card;
    let length = utf16_len(trim(card.field("title").unwrap_or_default()));
    if length > TITLE {
        let what = format!("`title` has {length} characters, and {TITLE} is the most");
        report.warning("long-title", what, "`workfile card patch` shortens it");
    }
    let young = card.field("created").is_some_and(|created| created >= RAISED_SINCE);
    if young && !card.is_archived() && !card.has("raised") {
        let text = "`raised` is missing: `reported` when a person asked for the work, `derived` when an agent inferred it";
        report.warning("raised-missing", text, PATCH);
    }
}

fn required(report: &mut Report<'_>) {
    let missing: Vec<&str> = REQUIRED.into_iter().filter(|key| !report.card.has(key)).collect();
    if !missing.is_empty() {
        let what = format!("{} missing from the header", missing.join(", "));
        let remedy =
            if missing.contains(&"created") { "write it into the file, in the header" } else { PATCH };
        report.error("missing-required", what, remedy);
    }
}

fn name(report: &mut Report<'_>) {
    let card = report.card;
    let prefix = &report.settings().id_prefix;
    if !id::is_valid(&card.id, prefix) {
        let what = format!("the id {} is not {prefix}- and at least four digits", card.id);
        report.error("invalid-id", what, "`workfile card renumber` with the path of the file gives another");
    }
    let file = card.file.rsplit('/').next().unwrap_or(&card.file);
    let start = format!("{}-", card.id);
    let expected = record::file_name(&card.id, card.field("title").unwrap_or_default(), SLUG, "card");
    if !file.starts_with(&start) {
        let what = format!("the file {file} does not begin with {start}");
        report.error("filename-mismatch", what, format!("rename it to {expected}"));
        return;
    }
    let path = card.repo_path(report.scene.workspace);
    report.findings.extend(Finding::stale_name(MODULE, &card.id, &path, &expected));
}

fn keys(report: &mut Report<'_>) {
    let header = &report.card.header;
    for key in header.duplicates() {
        let text = format!(
            "`{key}` stands in the header more than once: the last one counts, and no patch touches it"
        );
        report.error("duplicate-key", text, "take all but one out of the file");
    }
    let reserved = header.entries.iter().filter(|entry| COMPUTED.contains(&&*entry.key));
    let reserved: Vec<&str> = reserved.map(|entry| &*entry.key).collect();
    for key in reserved {
        let text = format!("`{key}` is computed: what the header says under this name counts for nothing");
        report.warning("reserved-key", text, "rename it in the file, or take it out");
    }
}

fn vocabularies(report: &mut Report<'_>) {
    let (card, settings) = (report.card, report.settings());
    let areas: Vec<&str> = settings.areas.iter().map(String::as_str).collect();
    for (field, allowed) in [
        ("status", STATUSES),
        ("type", TYPES),
        ("priority", PRIORITIES),
        ("area", &areas),
        ("effort", EFFORTS),
    ] {
        if let Some(shown) = outside(card.header.get(field), allowed) {
            let what = format!("`{field}` is {shown}, which is none of {}", allowed.join(", "));
            report.error("invalid-enum", what, PATCH);
        }
    }
    let closed = card.is_archived() || card.status().is_some_and(|status| !is_open(status));
    for (axis, values) in &settings.axes {
        let allowed: Vec<&str> = values.iter().map(String::as_str).collect();
        let value = card.header.get(axis);
        if let Some(shown) = outside(value, &allowed) {
            let what = format!("the axis `{axis}` is {shown}, which is none of {}", allowed.join(", "));
            let json = value.map_or(serde_json::Value::Null, Value::to_json);
            report
                .error("invalid-axis", what, axis_remedy(axis))
                .put("axis", axis.as_str())
                .put("value", json)
                .put("allowed", allowed);
        } else if !closed && !card.has(axis) {
            let what = format!("the axis `{axis}` has no value out of {}", allowed.join(", "));
            report
                .warning("missing-axis", what, axis_remedy(axis))
                .put("axis", axis.as_str())
                .put("allowed", allowed);
        }
    }
}

fn axis_remedy(axis: &str) -> String {
    format!("`workfile card patch --axis {axis}=VALUE` sets it")
}

/// A value that is there and not among the allowed ones, as it is shown.
fn outside(value: Option<&Value>, allowed: &[&str]) -> Option<String> {
    match value? {
        Value::Text(text) if trim(text).is_empty() => None,
        Value::Text(text) => (!allowed.contains(&text.as_str())).then(|| format!("`{text}`")),
        other => Some(other.to_json().to_string()),
    }
}

fn dates(report: &mut Report<'_>) {
    let card = report.card;
    for key in ["created", "updated", "start", "due"] {
        if card.has(key) && !card.header.text(key).is_some_and(is_date) {
            let remedy = if matches!(key, "start" | "due") { PATCH } else { "write the day into the file" };
            report.error("invalid-date", format!("`{key}` is no day written YYYY-MM-DD"), remedy);
        }
    }
    if let (Some(start), Some(due)) = (card.field("start"), card.field("due"))
        && is_date(start)
        && is_date(due)
        && start > due
    {
        let what = format!("`start` is {start}, which is after {due}, its `due`");
        report.error("invalid-date-range", what, "`workfile card patch` sets one of them");
    }
    if !card.has("claimed_at") {
        return;
    }
    match card.header.text("claimed_at") {
        Some(at) if is_date(at) => {
            let what = "`claimed_at` is a day, which counts from midnight UTC";
            report.warning("legacy-claim-date", what, RECLAIM);
        }
        Some(at) if is_timestamp(at) => {}
        _ => {
            let what = "`claimed_at` is no UTC time written YYYY-MM-DDTHH:MM:SSZ";
            report.error("invalid-timestamp", what, RECLAIM);
        }
    }
}
