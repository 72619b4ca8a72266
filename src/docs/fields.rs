//! The table of a document's fields and the rules that a document has to keep.

use super::document::LISTS;
use crate::failure::{Code, Failure};
use crate::path::trim;
use crate::record::{self, utf16_len};
use crate::workspace::Docs;
use crate::workspace::edit::{Candidate, Codes, Kind, Type};

/// Longest title, as JavaScript counts.
const TITLE: usize = 120;
/// Longest part of a file name that comes from the title.
const SLUG: usize = 60;

/// Keys that a managed document has.
pub(super) const REQUIRED: [&str; 6] = ["id", "title", "kind", "status", "created", "updated"];
/// Keys that hold a day.
pub(super) const DATES: [&str; 3] = ["created", "updated", "reviewed"];

/// What a document is to whoever changes one.
pub static KIND: Kind = Kind {
    module: "docs",
    noun: "document",
    show: "workfile doc show",
    list: "workfile doc list",
    lists: LISTS,
    fields: &[
        ("title", Type::Text),
        ("kind", Type::Text),
        ("status", Type::Text),
        ("owners", Type::List),
        ("related", Type::List),
        ("supersedes", Type::List),
        ("scope", Type::List),
        ("tags", Type::List),
        ("source", Type::Text),
        ("reviewed", Type::Text),
        ("review_interval_days", Type::Number),
    ],
    codes: Codes {
        unknown: Code::DOC_FIELD_UNKNOWN,
        invalid: Code::DOC_FIELD_INVALID,
        not_patchable: Code::DOC_FIELD_NOT_PATCHABLE,
        empty: Code::DOC_CHANGES_EMPTY,
        conflict: Code::DOC_WRITE_CONFLICT,
        not_found: Code::DOC_NOT_FOUND,
        ambiguous: Code::DOC_ID_AMBIGUOUS,
    },
};

/// The name of a document's file.
pub fn file_name(id: &str, title: &str) -> String {
    record::file_name(id, title, SLUG, "document")
}

/// Checks a document as it would become; the first fault is the answer.
pub(super) fn check(candidate: Candidate<'_>, settings: &Docs) -> Result<(), Failure> {
    candidate.required(&REQUIRED, Code::DOC_REQUIRED_FIELDS_MISSING)?;
    candidate.id(&settings.id_prefix, Code::DOC_ID_INVALID)?;
    let length = utf16_len(trim(candidate.text("title").unwrap_or_default()));
    if length > TITLE {
        let text = format!("the title of {} has {length} characters; {TITLE} is the most", candidate.called);
        return Err(Failure::new(Code::DOC_TITLE_TOO_LONG, text));
    }
    if let Some(value) = candidate.value("review_interval_days")
        && value.as_text().and_then(days).is_none()
    {
        let text = format!("`review_interval_days` of {} is no whole number of days", candidate.called);
        let failure = Failure::new(Code::DOC_REVIEW_INTERVAL_INVALID, text);
        return Err(failure.with("field", "review_interval_days").with("value", value.to_json()));
    }
    candidate.one_of("kind", &settings.kinds, Code::DOC_KIND_INVALID)?;
    candidate.one_of("status", &settings.statuses, Code::DOC_STATUS_INVALID)?;
    candidate.dates(&DATES, Code::DOC_DATE_INVALID)?;
    candidate.range(Code::DOC_DATE_RANGE_INVALID)
}

/// A number of days, as a header holds it.
pub(super) fn days(text: &str) -> Option<u64> {
    let text = trim(text);
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::RecordFile;
    use crate::workspace::{Access, Missing, Start, Workspace};
    use serde_json::Value as Json;

    fn code(lines: &str) -> &'static str {
        let folder = tempfile::tempdir().unwrap();
        let start = Start::Exactly(folder.path().to_owned());
        let workspace = Workspace::load(&start, Missing::Allow, Access::Write).unwrap();
        let good =
            "id: DOC-0001\ntitle: T\nkind: guide\nstatus: draft\ncreated: 2026-01-02\nupdated: 2026-01-02";
        let names: Vec<&str> =
            lines.lines().filter_map(|line| line.split_once(':')).map(|(key, _)| key).collect();
        let kept = good.lines().filter(|line| !names.contains(&line.split_once(':').unwrap().0));
        let text = format!("---\n{}\n{lines}\n---\n", kept.collect::<Vec<_>>().join("\n"));
        let record = RecordFile::parse(text, LISTS).unwrap();
        let candidate = Candidate { called: "DOC-0001", header: &record.header };
        check(candidate, &workspace.config.docs).map_or_else(|failure| failure.code.name, |()| "fine")
    }

    #[test]
    fn each_rule_has_its_code_and_the_first_fault_is_the_answer() {
        let title = |length| format!("title: {}", "é".repeat(length));
        for (lines, wanted) in [
            ("tags: [a]", "fine"),
            ("title: ' '", "DOC_REQUIRED_FIELDS_MISSING"),
            ("status:\nid: x", "DOC_REQUIRED_FIELDS_MISSING"),
            ("id: DOC-001", "DOC_ID_INVALID"),
            ("id: T-0001", "DOC_ID_INVALID"),
            (&title(120), "fine"),
            (&title(121), "DOC_TITLE_TOO_LONG"),
            ("review_interval_days: 1.5", "DOC_REVIEW_INTERVAL_INVALID"),
            ("review_interval_days: -1\nkind: x", "DOC_REVIEW_INTERVAL_INVALID"),
            ("review_interval_days: 0", "fine"),
            ("kind: report\nstatus: x", "DOC_KIND_INVALID"),
            ("kind:\n  - guide", "DOC_KIND_INVALID"),
            ("status: finished\ncreated: x", "DOC_STATUS_INVALID"),
            ("reviewed: 2026-02-30", "DOC_DATE_INVALID"),
            ("created: 2026-13-01", "DOC_DATE_INVALID"),
            ("created: 2026-01-03", "DOC_DATE_RANGE_INVALID"),
        ] {
            assert_eq!(code(lines), wanted, "{lines}");
        }
    }

    #[test]
    fn a_file_is_named_as_recorded() {
        let cases: Vec<Json> =
            serde_json::from_str(include_str!("../../tests/golden/vectors/knowledge-slugs.json")).unwrap();
        assert!(!cases.is_empty());
        for case in cases {
            let title = case["title"].as_str().unwrap();
            assert_eq!(file_name("DOC-0001", title), case["doc"].as_str().unwrap(), "{title}");
        }
    }
}
