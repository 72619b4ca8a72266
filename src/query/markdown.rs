//! A bundle as a page to read.

use super::entry::Entry;
use crate::path::one_line;
use serde_json::{Map, Value as Json};
use std::fmt::Write as _;

/// What is on the page.
pub(super) struct Page<'a> {
    /// The card that it is about.
    pub(super) focus: Option<&'a str>,
    /// Where the card comes from, and which cards came out of it.
    pub(super) origin: &'a [String],
    pub(super) spawned: &'a [&'a str],
    /// The records.
    pub(super) records: &'a [Map<String, Json>],
    /// How many there may be.
    pub(super) limit: usize,
    /// What holds as well and is only named.
    pub(super) digest: &'a [Entry<'a>],
    /// How many records have nothing to do with the card, and how many the limit cut besides.
    pub(super) irrelevant: usize,
    pub(super) cut: usize,
}

/// The page.
pub(super) fn of(page: &Page<'_>) -> String {
    let mut parts = vec![match page.focus {
        Some(focus) => format!("# Agent context — {focus}"),
        None => "# Agent context".to_owned(),
    }];
    parts.push(match page.focus {
        Some(_) => "The card, what it hangs together with, and what is in force where it works.".to_owned(),
        None => "What is being worked on, and what is in force.".to_owned(),
    });
    if !page.origin.is_empty() {
        parts.push(format!("**Came out of**: {}", one_line(&page.origin.join(", "))));
    }
    if !page.spawned.is_empty() {
        parts.push(format!("**Spawned**: {}", page.spawned.join(", ")));
    }
    for record in page.records {
        section(record, &mut parts);
    }
    if !page.digest.is_empty() {
        parts.push("---".to_owned());
        let limit = page.limit;
        parts.push(format!(
            "**Also in force**, beyond {limit} records; `workfile search ID --json` shows one of them:"
        ));
        let line = |entry: &Entry<'_>| format!("- {}", named("**", entry.id(), entry.title()));
        parts.push(page.digest.iter().map(line).collect::<Vec<_>>().join("\n"));
    }
    if page.irrelevant + page.cut > 0 {
        parts.push("---".to_owned());
        parts.push(format!(
            "**Left out**: {} that share no word with the card, {} beyond the limit; a higher `--limit` or `workfile search` \
             has them",
            page.irrelevant, page.cut
        ));
    }
    parts.join("\n\n")
}

fn section(record: &Map<String, Json>, parts: &mut Vec<String>) {
    let text = |key: &str| record.get(key).and_then(Json::as_str);
    parts.push(format!("## {}", named("", text("id").unwrap_or_default(), text("title"))));
    let facts = ["kind", "collection", "status", "area"].into_iter().filter_map(text).map(one_line);
    let mut lines = format!("_{}_", facts.collect::<Vec<_>>().join(" · "));
    let scope = match record.get("scope") {
        Some(Json::Array(items)) => items.iter().filter_map(Json::as_str).collect::<Vec<_>>().join(", "),
        Some(Json::String(one)) => one.clone(),
        _ => String::new(),
    };
    if !scope.is_empty() {
        let _ = write!(lines, "\n_scope: {}_", one_line(&scope));
    }
    parts.push(lines);
    parts.extend(text("body").filter(|body| !body.is_empty()).map(str::to_owned));
}

/// An id, and the title behind it, if there is one.
fn named(mark: &str, id: &str, title: Option<&str>) -> String {
    let id = one_line(id);
    match title.map(one_line).filter(|title| !title.is_empty()) {
        Some(title) => format!("{mark}{id}{mark} — {title}"),
        None => format!("{mark}{id}{mark}"),
    }
}
