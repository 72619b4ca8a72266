//! What a fragment must be, as a whole: the first rule that is broken is the answer.

use crate::failure::{Code, Failure};
use crate::workspace::Config;
use crate::workspace::edit::Candidate;

/// The keys that every fragment has.
pub(super) const REQUIRED: [&str; 7] = ["id", "title", "type", "area", "visibility", "created", "updated"];

/// Judges a fragment. What it refers to is not looked at: the doctor reports that.
pub(super) fn fragment(candidate: Candidate<'_>, config: &Config) -> Result<(), Failure> {
    let settings = &config.changelog;
    if candidate.text("title").is_none() {
        let failure =
            Failure::new(Code::CHANGE_TITLE_REQUIRED, format!("{} needs a title", candidate.called));
        return Err(failure.remedy("workfile changelog add --title TEXT"));
    }
    candidate.required(&REQUIRED, Code::CHANGE_REQUIRED_FIELDS_MISSING)?;
    candidate.id(&settings.id_prefix, Code::CHANGE_ID_INVALID)?;
    candidate.one_of("type", &settings.types, Code::CHANGE_TYPE_INVALID)?;
    candidate.one_of("visibility", &settings.visibilities, Code::CHANGE_VISIBILITY_INVALID)?;
    candidate.one_of("area", &config.cards.areas, Code::CHANGE_AREA_INVALID)?;
    candidate.dates(&["created", "updated"], Code::CHANGE_DATE_INVALID)?;
    candidate.range(Code::CHANGE_DATE_RANGE_INVALID)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::LISTS;
    use crate::history::testing::workspace;
    use crate::record::RecordFile;
    use serde_json::Value as Json;

    const GOOD: &str = "id: CHG-0001\ntitle: T\ntype: fixed\narea: general\nvisibility: public\ncreated: 2026-01-01\n\
                        updated: 2026-01-02\n";

    fn judged(extra: &str) -> Result<(), Failure> {
        let (_root, workspace) = workspace(&[]);
        let file = RecordFile::parse(format!("---\n{GOOD}{extra}\n---\n"), LISTS).unwrap();
        fragment(Candidate { called: "it", header: &file.header }, &workspace.config)
    }

    #[test]
    fn each_rule_has_its_code_and_the_first_one_counts() {
        let code = |extra: &str| judged(extra).map_or_else(|failure| failure.code.name, |()| "fine");
        for (extra, wanted) in [
            ("", "fine"),
            ("cards: [T-0404]", "fine"),
            ("title: ' '\ntype: weird", "CHANGE_TITLE_REQUIRED"),
            ("title:\n  a: b", "CHANGE_TITLE_REQUIRED"),
            ("area:\ntype: weird", "CHANGE_REQUIRED_FIELDS_MISSING"),
            ("type: weird\nvisibility: secret", "CHANGE_TYPE_INVALID"),
            ("type:\n  - fixed", "CHANGE_TYPE_INVALID"),
            ("visibility: secret\narea: x", "CHANGE_VISIBILITY_INVALID"),
            ("area: nowhere\ncreated: 2026-1-1", "CHANGE_AREA_INVALID"),
            ("created: 2026-13-99", "CHANGE_DATE_INVALID"),
            ("updated: 2025-12-31", "CHANGE_DATE_RANGE_INVALID"),
        ] {
            assert_eq!(code(extra), wanted, "{extra}");
        }
        for id in ["CHG-1", "T-0001", "chg-0001", "../x"] {
            assert_eq!(code(&format!("id: {id}\ntype: weird")), "CHANGE_ID_INVALID", "{id}");
        }
    }

    #[test]
    fn a_value_outside_its_vocabulary_is_named_with_what_is_allowed() {
        let refused = judged("visibility: secret").unwrap_err();
        let details =
            serde_json::json!({"field": "visibility", "value": "secret", "allowed": ["public", "internal"]});
        assert_eq!(Json::Object(refused.details), details);
    }
}
