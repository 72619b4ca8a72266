//! The header of a card, field by field, and the name of its file.

use super::super::card::COMPUTED;
use super::super::create::SLUG;
use super::super::fields::is_open;
use super::super::validate::is_timestamp;
use super::{MODULE, Report};
use crate::clock::is_date;
use crate::path::trim;
use crate::record::{self, Value, id, utf16_len};
use crate::workspace::{EFFORTS, Finding, PRIORITIES, STATUSES, TYPES};

/// Keys that every card has.
const REQUIRED: [&str; 8] = ["id", "title", "status", "type", "priority", "area", "created", "updated"];

/// From this day on cards say who raised them.
const RAISED_SINCE: &str = "2026-08-08";

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
        report.warning("long-title", format!("the title has {length} characters; {TITLE} is the most"));
    }
    let young = card.field("created").is_some_and(|created| created >= RAISED_SINCE);
    if young && !card.is_archived() && !card.has("raised") {
        let text = "`raised` is missing: `reported` when a person asked for the work, `derived` when an agent inferred it";
        report.warning("raised-missing", text);
    }
}

fn required(report: &mut Report<'_>) {
    let missing: Vec<&str> = REQUIRED.into_iter().filter(|key| !report.card.has(key)).collect();
    if !missing.is_empty() {
        report.error("missing-required", format!("{} missing from the header", missing.join(", ")));
    }
}

fn name(report: &mut Report<'_>) {
    let card = report.card;
    let prefix = &report.settings().id_prefix;
    if !id::is_valid(&card.id, prefix) {
        let text = format!("the id {} is not {prefix}- and at least four digits", card.id);
        report.error("invalid-id", text);
    }
    let file = card.file.rsplit('/').next().unwrap_or(&card.file);
    let start = format!("{}-", card.id);
    if !file.starts_with(&start) {
        report.error("filename-mismatch", format!("the file {file} does not begin with {start}"));
        return;
    }
    let expected = record::file_name(&card.id, card.field("title").unwrap_or_default(), SLUG, "card");
    let path = card.repo_path(report.scene.workspace);
    report.findings.extend(Finding::stale_name(MODULE, &card.id, &path, &expected));
}

fn keys(report: &mut Report<'_>) {
    let header = &report.card.header;
    for key in header.duplicates() {
        let text = format!(
            "`{key}` stands in the header more than once; the last one counts, and no patch touches it"
        );
        report.error("duplicate-key", text);
    }
    let reserved = header.entries.iter().filter(|entry| COMPUTED.contains(&&*entry.key));
    let reserved: Vec<&str> = reserved.map(|entry| &*entry.key).collect();
    for key in reserved {
        let text = format!("`{key}` is computed; what the header says under this name counts for nothing");
        report.warning("reserved-key", text);
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
            report
                .error("invalid-enum", format!("`{field}` is {shown}; it is one of {}", allowed.join(", ")));
        }
    }
    let closed = card.is_archived() || card.status().is_some_and(|status| !is_open(status));
    for (axis, values) in &settings.axes {
        let allowed: Vec<&str> = values.iter().map(String::as_str).collect();
        let value = card.header.get(axis);
        if let Some(shown) = outside(value, &allowed) {
            let text = format!("the axis `{axis}` is {shown}; it is one of {}", allowed.join(", "));
            let json = value.map_or(serde_json::Value::Null, Value::to_json);
            report
                .error("invalid-axis", text)
                .put("axis", axis.as_str())
                .put("value", json)
                .put("allowed", allowed);
        } else if !closed && !card.has(axis) {
            let text = format!("the axis `{axis}` has no value; it is one of {}", allowed.join(", "));
            report.warning("missing-axis", text).put("axis", axis.as_str()).put("allowed", allowed);
        }
    }
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
            report.error("invalid-date", format!("`{key}` is no day written YYYY-MM-DD"));
        }
    }
    if let (Some(start), Some(due)) = (card.field("start"), card.field("due"))
        && is_date(start)
        && is_date(due)
        && start > due
    {
        report.error("invalid-date-range", format!("it starts on {start}, after it is due on {due}"));
    }
    if !card.has("claimed_at") {
        return;
    }
    match card.header.text("claimed_at") {
        Some(at) if is_date(at) => {
            report.warning("legacy-claim-date", "`claimed_at` is a day, which counts from midnight UTC");
        }
        Some(at) if is_timestamp(at) => {}
        _ => {
            report.error("invalid-timestamp", "`claimed_at` is no UTC time written YYYY-MM-DDTHH:MM:SSZ");
        }
    }
}
