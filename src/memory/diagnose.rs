//! What is wrong with memory: with headers, with what they point to, and with where a record is in its life.

use super::fields::{CONFIDENCES, DATES, SEVERITIES, TIMES, file_name, is_count, is_time};
use super::load::Listing;
use super::record::Memory;
use crate::clock;
use crate::record::order::natural;
use crate::workspace::finding::BY_HAND;
use crate::workspace::{Finding, Severity};
use std::collections::{HashMap, HashSet};
use std::fmt::Display;

/// Findings that say where a record is stuck in its life.
pub const LIFECYCLE: [&str; 5] = [
    "context-lifecycle-missing",
    "context-expired-active",
    "context-review-overdue",
    "learning-graduation-target-missing",
    "memory-supersession-target-missing",
];

/// The module that the findings are reported under.
const MODULE: &str = "memory";

/// What puts a field right that a patch can set.
const PATCH: &str = "`workfile memory patch` sets it";
/// What lies around memory.
#[derive(Clone, Copy)]
pub struct Around<'a> {
    /// Whether a record of any kind has an id.
    pub is_known: &'a dyn Fn(&str) -> bool,
    /// The day of the run.
    pub today: &'a str,
}

/// Everything that is wrong, record by record.
pub fn diagnose(listing: &Listing, around: &Around<'_>) -> Vec<Finding> {
    let unreadable = listing.unreadable.iter().map(|file| {
        let what = format!("{} cannot be read: {}", file.path, file.reason);
        let remedy = "correct the file, or move it out of the collection";
        Finding::new(Severity::Error, MODULE, "unreadable-memory-record", what, remedy)
            .in_file(file.path.as_str())
    });
    let mut findings: Vec<Finding> = unreadable.collect();
    let circles = circles(listing);
    for record in &listing.records {
        findings.extend(Check { record, around }.all(&circles));
    }
    findings
}

/// What is wrong with one record of the listing.
pub fn findings(listing: &Listing, record: &Memory, around: &Around<'_>) -> Vec<Finding> {
    Check { record, around }.all(&circles(listing))
}

/// Records that supersede each other in a circle, by the first of each circle's ids.
fn circles(listing: &Listing) -> HashMap<String, Vec<String>> {
    let next: HashMap<&str, String> = listing
        .records
        .iter()
        .rev()
        .filter_map(|record| Some((record.id.as_str(), record.list("superseded_by").into_iter().next()?)))
        .collect();
    let mut circles = HashMap::new();
    let mut done: HashSet<&str> = HashSet::new();
    for record in &listing.records {
        let mut way: Vec<&str> = Vec::new();
        let mut on_way: HashSet<&str> = HashSet::new();
        let mut at = record.id.as_str();
        while !done.contains(at) && on_way.insert(at) {
            way.push(at);
            let Some((_, following)) = next.get_key_value(at) else { break };
            at = following;
        }
        if let Some(start) = way.iter().position(|id| *id == at).filter(|_| next.contains_key(at)) {
            let mut ids: Vec<String> = way[start..].iter().map(|id| (*id).to_owned()).collect();
            ids.sort_by(|a, b| natural(a, b));
            circles.insert(ids[0].clone(), ids);
        }
        done.extend(way);
    }
    circles
}

struct Check<'a> {
    record: &'a Memory,
    around: &'a Around<'a>,
}

impl Check<'_> {
    fn all(&self, circles: &HashMap<String, Vec<String>>) -> Vec<Finding> {
        let mut found = Vec::new();
        self.header(&mut found);
        self.references(&mut found);
        if let Some(ids) = circles.get(&self.record.id) {
            let what = format!("{} supersede each other in a circle", ids.join(", "));
            let remedy = "`workfile memory patch` sets `superseded_by` of one of them";
            found.push(self.finding(Severity::Error, "memory-supersession-cycle", what, remedy));
        }
        match self.record.collection.id {
            "learnings" => self.learning(&mut found),
            "incidents" => self.incident(&mut found),
            "context" => self.context(&mut found),
            _ => {}
        }
        if let Some(title) = self.record.field("title") {
            let Memory { id, path, .. } = self.record;
            found.extend(Finding::stale_name(MODULE, id, path, &file_name(id, title)));
        }
        found
    }

    fn finding(
        &self,
        severity: Severity,
        code: &'static str,
        what: impl Display,
        remedy: impl Display,
    ) -> Finding {
        let (id, path) = (self.record.id.as_str(), self.record.path.as_str());
        Finding::new(severity, MODULE, code, what, remedy).about(id, path)
    }

    /// A value outside its vocabulary.
    fn outside(&self, code: &'static str, key: &str, allowed: &[&str]) -> Option<Finding> {
        let value = self.record.header.get(key).filter(|_| self.record.has(key))?;
        if value.as_text().is_some_and(|value| allowed.contains(&value)) {
            return None;
        }
        let shown = value.as_text().map_or_else(|| value.to_json().to_string(), str::to_owned);
        let message = format!("`{key}` is {shown}, which is none of {}", allowed.join(", "));
        Some(self.finding(Severity::Error, code, message, PATCH))
    }

    /// The day under a key, when there is one.
    fn day(&self, key: &str) -> Option<&str> {
        self.record.field(key).filter(|day| clock::is_date(day))
    }

    fn is(&self, statuses: &[&str]) -> bool {
        self.record.status().is_some_and(|status| statuses.contains(&status))
    }

    fn header(&self, found: &mut Vec<Finding>) {
        for key in ["title", "status", "created", "updated"] {
            if !self.record.has(key) {
                let what = format!("the header has no {key}");
                let remedy = if key == "created" { BY_HAND } else { PATCH };
                found.push(self.finding(Severity::Error, "memory-missing-required", what, remedy));
            }
        }
        found.extend(self.outside("memory-invalid-status", "status", self.record.collection.statuses));
        for key in DATES {
            if self.record.has(key) && self.day(key).is_none() {
                let what = format!("`{key}` is no day written YYYY-MM-DD");
                let remedy = if matches!(key, "created" | "updated") { BY_HAND } else { PATCH };
                found.push(self.finding(Severity::Error, "memory-invalid-date", what, remedy));
            }
        }
    }

    fn references(&self, found: &mut Vec<Finding>) {
        for key in ["related", "supersedes", "superseded_by", "graduated_to", "corrective_actions"] {
            for id in self.record.list(key).into_iter().filter(|id| !(self.around.is_known)(id)) {
                let message = format!("`{key}` names {id}, which is no record");
                found.push(self.finding(Severity::Warning, "memory-missing-reference", message, PATCH));
            }
        }
        if self.is(&["superseded"]) && self.record.list("superseded_by").is_empty() {
            let message = "it is superseded, and `superseded_by` does not say by what";
            let remedy = "`workfile memory supersede` names it";
            found.push(self.finding(
                Severity::Warning,
                "memory-supersession-target-missing",
                message,
                remedy,
            ));
        }
    }

    fn learning(&self, found: &mut Vec<Finding>) {
        found.extend(self.outside("learning-invalid-confidence", "confidence", CONFIDENCES));
        if self.record.has("occurrences") && !self.record.field("occurrences").is_some_and(is_count) {
            let message = "`occurrences` is no whole number from 1 on";
            found.push(self.finding(Severity::Error, "learning-invalid-occurrences", message, PATCH));
        }
        if self.is(&["graduated"]) && self.record.list("graduated_to").is_empty() {
            let message = "it is graduated, and `graduated_to` does not say to what";
            let remedy = "`workfile memory graduate` names it";
            found.push(self.finding(
                Severity::Warning,
                "learning-graduation-target-missing",
                message,
                remedy,
            ));
        }
    }

    fn incident(&self, found: &mut Vec<Finding>) {
        found.extend(self.outside("incident-invalid-severity", "severity", SEVERITIES));
        for key in TIMES {
            if self.record.has(key) && !self.record.field(key).is_some_and(is_time) {
                let message = format!("`{key}` is neither a day YYYY-MM-DD nor an RFC 3339 time");
                found.push(self.finding(Severity::Error, "incident-invalid-timestamp", message, PATCH));
            }
        }
        if !self.is(&["resolved", "closed"]) {
            return;
        }
        if !self.record.has("resolved_at") {
            let message = "it is over, and `resolved_at` does not say since when";
            found.push(self.finding(Severity::Warning, "incident-resolution-time-missing", message, PATCH));
        }
        if self.record.list("corrective_actions").is_empty() {
            let message = "it is over, and `corrective_actions` does not say what came of it";
            found.push(self.finding(Severity::Info, "incident-corrective-actions-missing", message, PATCH));
        }
    }

    fn context(&self, found: &mut Vec<Finding>) {
        if !self.is(&["active"]) {
            return;
        }
        if !self.record.has("expires") && !self.record.has("review_after") {
            let message = "it is active with neither `expires` nor `review_after`, so that it never ends";
            found.push(self.finding(
                Severity::Warning,
                "context-lifecycle-missing",
                message,
                "`workfile memory patch` sets one of them",
            ));
        }
        for (key, code, says) in [
            ("expires", "context-expired-active", "it expired on"),
            ("review_after", "context-review-overdue", "a review was due after"),
        ] {
            if let Some(day) = self.day(key).filter(|day| *day < self.around.today) {
                let what = format!("{says} {day}, its `{key}`, and it is still active");
                let remedy = format!("`workfile memory patch` sets another `{key}` or `status`");
                found.push(self.finding(Severity::Warning, code, what, remedy));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::RecordFile;
    use crate::workspace::COLLECTIONS;

    fn record(id: &str, lines: &str) -> Memory {
        let collection = COLLECTIONS.iter().find(|it| id.starts_with(it.prefix)).unwrap();
        let names: Vec<&str> =
            lines.lines().filter_map(|line| line.split_once(':')).map(|(key, _)| key).collect();
        let good =
            format!("title: T\nstatus: {}\ncreated: 2026-01-01\nupdated: 2026-01-01", collection.statuses[0]);
        let kept = good.lines().filter(|line| !names.contains(&line.split_once(':').unwrap().0));
        let header: Vec<&str> = kept.chain(lines.lines()).collect();
        let text = format!("---\nid: {id}\n{}\n---\n", header.join("\n"));
        let record = RecordFile::parse(text, crate::memory::LISTS).unwrap();
        let file = format!("{id}-t.md");
        Memory::new(id.to_owned(), collection, file.clone(), file, record)
    }

    fn diagnosed(records: Vec<Memory>) -> Vec<Finding> {
        let mut listing = Listing::default();
        listing.records = records;
        diagnose(&listing, &Around { is_known: &|id| id == "T-0001", today: "2026-06-01" })
    }

    #[test]
    fn each_rule_has_its_code() {
        for (id, lines, wanted) in [
            ("LRN-0001", "related: [T-0001]\nseverity: bad", &[][..]),
            ("ADR-0001", "title:\ncreated:", &["memory-missing-required", "memory-missing-required"]),
            ("ADR-0001", "status: active", &["memory-invalid-status"]),
            ("ADR-0001", "status:\n  - active", &["memory-invalid-status"]),
            ("ADR-0001", "expires: 2026-02-30\nupdated: x", &["memory-invalid-date", "memory-invalid-date"]),
            ("ADR-0001", "related: [T-0404]\nsupersedes: [A-1]", &["memory-missing-reference"; 2]),
            ("ADR-0001", "status: superseded\nsupersedes: [T-0001]", &["memory-supersession-target-missing"]),
            ("LRN-0001", "confidence: sure", &["learning-invalid-confidence"]),
            ("LRN-0001", "occurrences: 0", &["learning-invalid-occurrences"]),
            ("LRN-0001", "status: graduated", &["learning-graduation-target-missing"]),
            ("INC-0001", "severity: awful", &["incident-invalid-severity"]),
            ("INC-0001", "started_at: yesterday", &["incident-invalid-timestamp"]),
            (
                "INC-0001",
                "status: closed",
                &["incident-resolution-time-missing", "incident-corrective-actions-missing"],
            ),
            ("INC-0001", "status: resolved\nresolved_at: 2026-01-01\ncorrective_actions: T-0001", &[]),
            ("CTX-0001", "tags: [a]", &["context-lifecycle-missing"]),
            ("ADR-0001", "title: Other", &["filename-stale"]),
            (
                "CTX-0001",
                "expires: 2026-05-31\nreview_after: 2026-01-01",
                &["context-expired-active", "context-review-overdue"],
            ),
            ("CTX-0001", "expires: 2026-06-01", &[]),
            ("CTX-0001", "expires: 2026-05-31\nstatus: expired", &[]),
        ] {
            let found = diagnosed(vec![record(id, lines)]);
            let codes: Vec<&str> = found.iter().map(|finding| finding.code).collect();
            assert_eq!(codes, wanted, "{id} {lines}");
        }
    }

    #[test]
    fn a_circle_is_told_once_at_its_first_record() {
        let by = |id: &str, by: &str| record(id, &format!("status: superseded\nsuperseded_by: [{by}]"));
        let found = diagnosed(vec![
            by("ADR-0001", "ADR-0003"),
            by("ADR-0002", "ADR-0003"),
            by("ADR-0003", "ADR-0002"),
            by("ADR-0004", "ADR-0004"),
            by("ADR-0005", "ADR-0001"),
        ]);
        let circles: Vec<_> =
            found.iter().filter(|finding| finding.code == "memory-supersession-cycle").collect();
        let told: Vec<_> = circles
            .iter()
            .map(|it| (it.id.as_deref().unwrap(), it.message.split(';').next().unwrap()))
            .collect();
        assert_eq!(
            told,
            [
                ("ADR-0002", "ADR-0002, ADR-0003 supersede each other in a circle"),
                ("ADR-0004", "ADR-0004 supersede each other in a circle"),
            ]
        );
    }
}
