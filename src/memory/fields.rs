//! The table of a memory record's fields and the rules that a record has to keep, those of its collection among them.

use super::LISTS;
use crate::clock::{self, Time};
use crate::failure::{Code, Failure};
use crate::path::trim;
use crate::record;
use crate::workspace::Collection;
use crate::workspace::edit::{Candidate, Codes, Kind, Type};

/// Longest part of a file name that comes from the title.
const SLUG: usize = 70;

/// Keys that a record has.
const REQUIRED: [&str; 5] = ["id", "title", "status", "created", "updated"];
/// Keys that hold a day.
pub(super) const DATES: [&str; 4] = ["created", "updated", "expires", "review_after"];
/// Keys of an incident that hold a day or a time.
pub(super) const TIMES: [&str; 2] = ["started_at", "resolved_at"];
/// How sure a learning is.
pub const CONFIDENCES: &[&str] = &["low", "medium", "high"];
/// How bad an incident is, the worst first.
pub const SEVERITIES: &[&str] = &["critical", "high", "medium", "low"];

/// What a memory record is to whoever changes one.
pub static KIND: Kind = Kind {
    module: "memory",
    noun: "memory record",
    show: "workfile memory show",
    list: "workfile memory list",
    lists: LISTS,
    fields: &[
        ("title", Type::Text),
        ("status", Type::Text),
        ("category", Type::Text),
        ("confidence", Type::Text),
        ("occurrences", Type::Number),
        ("severity", Type::Text),
        ("started_at", Type::Text),
        ("resolved_at", Type::Text),
        ("expires", Type::Text),
        ("review_after", Type::Text),
        ("deciders", Type::List),
        ("related", Type::List),
        ("supersedes", Type::List),
        ("superseded_by", Type::List),
        ("graduated_to", Type::List),
        ("corrective_actions", Type::List),
        ("scope", Type::List),
        ("owners", Type::List),
        ("tags", Type::List),
    ],
    codes: Codes {
        unknown: Code::MEMORY_FIELD_UNKNOWN,
        invalid: Code::MEMORY_FIELD_INVALID,
        not_patchable: Code::MEMORY_FIELD_NOT_PATCHABLE,
        empty: Code::MEMORY_CHANGES_EMPTY,
        conflict: Code::MEMORY_WRITE_CONFLICT,
        not_found: Code::MEMORY_NOT_FOUND,
        ambiguous: Code::MEMORY_ID_AMBIGUOUS,
    },
};

/// The name of a record's file.
pub fn file_name(id: &str, title: &str) -> String {
    record::file_name(id, title, SLUG, "memory")
}

/// Checks a record as it would become; the first fault is the answer.
pub(super) fn check(candidate: Candidate<'_>, collection: &Collection) -> Result<(), Failure> {
    candidate.required(&REQUIRED, Code::MEMORY_REQUIRED_FIELDS_MISSING)?;
    candidate.id(collection.prefix, Code::MEMORY_ID_INVALID)?;
    candidate.one_of("status", collection.statuses, Code::MEMORY_STATUS_INVALID)?;
    candidate.dates(&DATES, Code::MEMORY_DATE_INVALID)?;
    candidate.range(Code::MEMORY_DATE_RANGE_INVALID)?;
    match collection.id {
        "learnings" => learning(candidate),
        "incidents" => incident(candidate),
        _ => Ok(()),
    }
}

fn learning(candidate: Candidate<'_>) -> Result<(), Failure> {
    candidate.one_of("confidence", CONFIDENCES, Code::LEARNING_CONFIDENCE_INVALID)?;
    match candidate.value("occurrences") {
        Some(value) if !value.as_text().is_some_and(is_count) => {
            let text = format!("`occurrences` of {} is no whole number from 1 on", candidate.called);
            let failure = Failure::new(Code::LEARNING_OCCURRENCES_INVALID, text);
            Err(failure.with("field", "occurrences").with("value", value.to_json()))
        }
        _ => Ok(()),
    }
}

fn incident(candidate: Candidate<'_>) -> Result<(), Failure> {
    candidate.one_of("severity", SEVERITIES, Code::INCIDENT_SEVERITY_INVALID)?;
    for key in TIMES {
        let Some(value) = candidate.value(key) else { continue };
        if !value.as_text().is_some_and(is_time) {
            let text =
                format!("`{key}` of {} is neither a day YYYY-MM-DD nor an RFC 3339 time", candidate.called);
            let failure = Failure::new(Code::INCIDENT_TIMESTAMP_INVALID, text);
            return Err(failure.with("field", key).with("value", value.to_json()));
        }
    }
    match TIMES.map(|key| candidate.text(key)) {
        [Some(started), Some(resolved)] if is_before(resolved, started) => {
            let text = format!(
                "{} would be resolved at {resolved}, before it started at {started}",
                candidate.called
            );
            let failure = Failure::new(Code::INCIDENT_TIMESTAMP_RANGE_INVALID, text);
            Err(failure.with("started_at", started).with("resolved_at", resolved))
        }
        _ => Ok(()),
    }
}

/// A whole number from 1 on, as a header holds it.
pub(super) fn is_count(text: &str) -> bool {
    let text = trim(text);
    text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u64>().is_ok_and(|count| count > 0)
}

/// A day or a time.
pub(super) fn is_time(text: &str) -> bool {
    Time::parse(text).is_some()
}

/// Whether one time is before another. A day is no time of that day, so that with one only days are compared.
fn is_before(one: &str, other: &str) -> bool {
    let (Some(left), Some(right)) = (Time::parse(one), Time::parse(other)) else { return false };
    if clock::is_date(one) || clock::is_date(other) { left.date() < right.date() } else { left < right }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::RecordFile;
    use crate::workspace::COLLECTIONS;
    use serde_json::Value as Json;

    fn code(collection: &str, lines: &str) -> &'static str {
        let collection = COLLECTIONS.iter().find(|it| it.id == collection).unwrap();
        let good = format!(
            "id: {}-0001\ntitle: T\nstatus: {}\ncreated: 2026-01-02\nupdated: 2026-01-02",
            collection.prefix, collection.statuses[0]
        );
        let names: Vec<&str> =
            lines.lines().filter_map(|line| line.split_once(':')).map(|(key, _)| key).collect();
        let kept = good.lines().filter(|line| !names.contains(&line.split_once(':').unwrap().0));
        let text = format!("---\n{}\n{lines}\n---\n", kept.collect::<Vec<_>>().join("\n"));
        let record = RecordFile::parse(text, LISTS).unwrap();
        let candidate = Candidate { called: "it", header: &record.header };
        check(candidate, collection).map_or_else(|failure| failure.code.name, |()| "fine")
    }

    #[test]
    fn each_rule_has_its_code_and_the_first_fault_is_the_answer() {
        for (collection, lines, wanted) in [
            ("decisions", "confidence: huge\nseverity: bad\noccurrences: 0\nstarted_at: x", "fine"),
            ("decisions", "title:\nid: x", "MEMORY_REQUIRED_FIELDS_MISSING"),
            ("decisions", "id: LRN-0001\nstatus: x", "MEMORY_ID_INVALID"),
            ("decisions", "status: active", "MEMORY_STATUS_INVALID"),
            ("context", "expires: soon", "MEMORY_DATE_INVALID"),
            ("context", "review_after: 2026-13-99", "MEMORY_DATE_INVALID"),
            ("context", "created: 2026-02-02", "MEMORY_DATE_RANGE_INVALID"),
            ("learnings", "confidence: huge\noccurrences: 0", "LEARNING_CONFIDENCE_INVALID"),
            ("learnings", "occurrences: 0", "LEARNING_OCCURRENCES_INVALID"),
            ("learnings", "occurrences: 1.5", "LEARNING_OCCURRENCES_INVALID"),
            ("learnings", "occurrences: 1", "fine"),
            ("incidents", "severity: bad\nstarted_at: x", "INCIDENT_SEVERITY_INVALID"),
            ("incidents", "resolved_at: 2026-01-02 10:00", "INCIDENT_TIMESTAMP_INVALID"),
            (
                "incidents",
                "started_at: \"2026-01-02T00:00:00Z\"\nresolved_at: 2026-01-01",
                "INCIDENT_TIMESTAMP_RANGE_INVALID",
            ),
            ("incidents", "started_at: \"2026-01-02T10:00:00Z\"\nresolved_at: 2026-01-02", "fine"),
            (
                "incidents",
                "started_at: \"2026-01-02T10:00:00+02:00\"\nresolved_at: \"2026-01-02T08:30:00Z\"",
                "fine",
            ),
            (
                "incidents",
                "started_at: \"2026-01-02T10:00:00Z\"\nresolved_at: \"2026-01-02T11:30:00+02:00\"",
                "INCIDENT_TIMESTAMP_RANGE_INVALID",
            ),
        ] {
            assert_eq!(code(collection, lines), wanted, "{collection} {lines}");
        }
    }

    #[test]
    fn a_file_is_named_as_recorded() {
        let cases: Vec<Json> =
            serde_json::from_str(include_str!("../../tests/golden/vectors/knowledge-slugs.json")).unwrap();
        assert!(!cases.is_empty());
        for case in cases {
            let title = case["title"].as_str().unwrap();
            assert_eq!(file_name("LRN-0001", title), case["memory"].as_str().unwrap(), "{title}");
        }
    }
}
