//! The whole card as it would become, checked in one order; the first fault is the answer.

use super::card::Card;
use super::criteria;
use super::fields::{self, DOING, EFFORTS, PRIORITIES, RAISED, STATUSES, TYPES};
use super::hierarchy::{self, Others, Touched};
use super::refusal::not_allowed;
use super::verify_block;
use crate::clock;
use crate::failure::{Code, Failure};
use crate::path::trim;
use crate::record::{Header, Value, utf16_len};
use crate::workspace::Cards;
use serde_json::Value as Json;

/// Longest title, as JavaScript counts.
const TITLE: usize = 80;

/// A card before it is written.
pub(super) struct Candidate<'a> {
    /// Its id.
    pub(super) id: &'a str,
    /// What messages call it: its id, unless it has none yet.
    pub(super) called: &'a str,
    /// Its header with the changes made.
    pub(super) header: &'a Header,
    /// Its body with the changes made.
    pub(super) body: &'a str,
    /// Verify entries that the write brings; without them the stored ones count.
    pub(super) verify: Option<&'a Json>,
    /// Keys that the write names.
    pub(super) named: &'a [String],
}

impl Candidate<'_> {
    fn text(&self, key: &str) -> Option<&str> {
        self.header.text(key).filter(|value| !trim(value).is_empty())
    }

    /// A value of any shape that is not blank.
    fn value(&self, key: &str) -> Option<&Value> {
        self.header.get(key).filter(|value| !value.as_text().is_some_and(|text| trim(text).is_empty()))
    }

    fn touched(&self, key: &str) -> Touched {
        if self.named.iter().any(|name| name == key) { Touched::Yes } else { Touched::No }
    }
}

/// Checks a candidate against the configuration and the other cards.
pub(super) fn card(candidate: &Candidate<'_>, cards: &[Card], settings: &Cards) -> Result<(), Failure> {
    title_and_required(candidate)?;
    vocabularies(candidate, settings)?;
    dates(candidate)?;
    relations(candidate, cards, settings)?;
    if let Some(raised) = candidate.text("raised")
        && !RAISED.contains(&raised)
    {
        let text = format!("`raised` of {} is {raised}; it is reported or derived", candidate.called);
        return Err(Failure::new(Code::CARD_RAISED_INVALID, text));
    }
    claim(candidate)?;
    verify(candidate, settings)
}

fn title_and_required(candidate: &Candidate<'_>) -> Result<(), Failure> {
    for field in ["title", "status", "type", "priority", "area"] {
        // A value of another shape stands there; what is wrong with it is said below.
        let stands = field != "title" && candidate.value(field).is_some();
        if candidate.text(field).is_none() && !stands {
            let text = format!("`{field}` of {} cannot be empty", candidate.called);
            return Err(Failure::new(Code::CARD_REQUIRED_FIELD, text).with("field", field));
        }
    }
    let length = utf16_len(trim(candidate.text("title").unwrap_or_default()));
    if length > TITLE {
        let text = format!("the title of {} has {length} characters; {TITLE} is the most", candidate.called);
        return Err(Failure::new(Code::CARD_TITLE_TOO_LONG, text));
    }
    Ok(())
}

fn vocabularies(candidate: &Candidate<'_>, settings: &Cards) -> Result<(), Failure> {
    let areas: Vec<&str> = settings.areas.iter().map(String::as_str).collect();
    for (field, allowed) in [
        ("status", STATUSES),
        ("type", TYPES),
        ("priority", PRIORITIES),
        ("area", &areas),
        ("effort", EFFORTS),
    ] {
        one_of(candidate, Code::CARD_ENUM_INVALID, field, allowed).map_err(|mut failure| {
            if field == "area" {
                failure.text += ": the project configuration lists the areas under `cards.areas`";
            }
            failure
        })?;
    }
    for (axis, values) in &settings.axes {
        let allowed: Vec<&str> = values.iter().map(String::as_str).collect();
        one_of(candidate, Code::CARD_AXIS_VALUE_INVALID, axis, &allowed)?;
    }
    Ok(())
}

fn one_of(candidate: &Candidate<'_>, code: Code, field: &str, allowed: &[&str]) -> Result<(), Failure> {
    let Some(value) = candidate.value(field) else { return Ok(()) };
    match value.as_text() {
        Some(text) if allowed.contains(&text) => Ok(()),
        _ => {
            let what = format!("`{field}` of {}", candidate.called);
            Err(not_allowed(code, &what, field, value.to_json(), allowed))
        }
    }
}

fn dates(candidate: &Candidate<'_>) -> Result<(), Failure> {
    for field in ["start", "due"] {
        let Some(value) = candidate.value(field) else { continue };
        if !value.as_text().is_some_and(clock::is_date) {
            let text = format!("`{field}` of {} is no day written YYYY-MM-DD", candidate.called);
            let failure = Failure::new(Code::CARD_DATE_INVALID, text);
            return Err(failure.with("field", field).with("value", value.to_json()));
        }
    }
    if let (Some(start), Some(due)) = (candidate.text("start"), candidate.text("due"))
        && start > due
    {
        let text = format!("{} would start on {start}, after it is due on {due}", candidate.called);
        return Err(Failure::new(Code::CARD_DATE_RANGE_INVALID, text));
    }
    if let Some(at) = candidate.value("claimed_at")
        && !at.as_text().is_some_and(is_timestamp)
    {
        let text = format!("`claimed_at` of {} is no UTC time written YYYY-MM-DDTHH:MM:SSZ", candidate.id);
        return Err(Failure::new(Code::CARD_CLAIM_TIMESTAMP_INVALID, text));
    }
    Ok(())
}

fn relations(candidate: &Candidate<'_>, cards: &[Card], settings: &Cards) -> Result<(), Failure> {
    let id = candidate.id;
    let above = candidate.text("parent");
    let before = candidate.header.list("depends");
    if above.is_some() || !before.is_empty() {
        let others = Others::of(cards);
        if let Some(above) = above {
            let touched = candidate.touched("parent");
            hierarchy::parent(id, above, &others, settings.max_hierarchy_depth, touched)?;
        }
        hierarchy::depends(id, &before, &others, candidate.touched("depends"))?;
    }
    if candidate.header.list("origin").iter().any(|origin| origin == id) {
        let text = format!("{id} cannot be its own origin");
        return Err(Failure::new(Code::CARD_SELF_ORIGIN, text).with("id", id).with("field", "origin"));
    }
    Ok(())
}

fn claim(candidate: &Candidate<'_>) -> Result<(), Failure> {
    let id = candidate.id;
    let (by, at) = (candidate.text("claimed_by"), candidate.text("claimed_at"));
    if by.is_some() != at.is_some() {
        let text = format!("{id} would have only one of `claimed_by` and `claimed_at`");
        return Err(Failure::new(Code::CARD_CLAIM_PARTIAL, text).remedy(format!("workfile card claim {id}")));
    }
    let doing = candidate.text("status") == Some(DOING);
    if doing && by.is_none() {
        let text = format!("{id} would be in {DOING} without a claim");
        return Err(Failure::new(Code::CARD_CLAIM_REQUIRED, text).remedy(format!("workfile card claim {id}")));
    }
    if let (Some(by), false) = (by, doing) {
        let text = format!("{id} would be claimed by {by} without being in {DOING}");
        let failure = Failure::new(Code::CARD_CLAIM_STATUS_INVALID, text);
        return Err(failure.remedy(format!("workfile card release {id}")));
    }
    Ok(())
}

fn verify(candidate: &Candidate<'_>, settings: &Cards) -> Result<(), Failure> {
    if let Some(entries) = candidate.verify {
        verify_block::check(entries, &settings.verify_commands)?;
        return verify_block::check_bindings(entries, &criteria::read(candidate.body).items);
    }
    match candidate.value(fields::VERIFY) {
        Some(stored) => verify_block::check(&stored.to_json(), &settings.verify_commands),
        None => Ok(()),
    }
}

/// `YYYY-MM-DDTHH:MM:SS`, perhaps a fraction, `Z`.
pub(super) fn is_timestamp(text: &str) -> bool {
    let Some(text) = text.strip_suffix('Z') else { return false };
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let shape = b"dddd-dd-ddTdd:dd:dd";
    digits(fraction)
        && whole.len() == shape.len()
        && whole.bytes().zip(shape).all(|(byte, &wanted)| match wanted {
            b'd' => byte.is_ascii_digit(),
            _ => byte == wanted,
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::testing::{card as made, settings};

    const GOOD: &str = "title: T\nstatus: next\ntype: task\npriority: low\narea: core\n";

    fn check(extra: &str) -> Result<(), Failure> {
        let card = made("T-0001", &format!("{GOOD}{extra}"));
        let candidate = Candidate {
            id: &card.id,
            called: &card.id,
            header: &card.header,
            body: card.body(),
            verify: None,
            named: &[],
        };
        super::card(&candidate, &[], &settings())
    }

    fn code(extra: &str) -> &'static str {
        check(extra).map_or_else(|failure| failure.code.name, |()| "fine")
    }

    #[test]
    fn each_rule_has_its_code() {
        let long = format!("title: {}", "é".repeat(81));
        for (extra, wanted) in [
            ("", "fine"),
            ("title: ' '", "CARD_REQUIRED_FIELD"),
            (&long, "CARD_TITLE_TOO_LONG"),
            ("status: started", "CARD_ENUM_INVALID"),
            ("type:\n  - task", "CARD_ENUM_INVALID"),
            ("effort: XL", "CARD_ENUM_INVALID"),
            ("effort: ''", "fine"),
            ("area: web", "CARD_ENUM_INVALID"),
            ("context: boats", "CARD_AXIS_VALUE_INVALID"),
            ("due: 2026-02-30", "CARD_DATE_INVALID"),
            ("start: 2026-02-02\ndue: 2026-02-01", "CARD_DATE_RANGE_INVALID"),
            ("claimed_at: 2026-02-02", "CARD_CLAIM_TIMESTAMP_INVALID"),
            ("parent: T-0001", "CARD_SELF_PARENT"),
            ("depends: T-0002", "CARD_DEPENDENCY_NOT_FOUND"),
            ("origin: [ADR-0001, T-0001]", "CARD_SELF_ORIGIN"),
            ("raised: guessed", "CARD_RAISED_INVALID"),
            ("claimed_by: a", "CARD_CLAIM_PARTIAL"),
            ("status: doing", "CARD_CLAIM_REQUIRED"),
            ("claimed_by: a\nclaimed_at: 2026-02-02T01:02:03Z", "CARD_CLAIM_STATUS_INVALID"),
            ("status: doing\nclaimed_by: a\nclaimed_at: 2026-02-02T01:02:03.5Z", "fine"),
            ("verify: x", "CARD_VERIFY_INVALID"),
            ("verify:\n  - id: a\n    run: [sh]", "CARD_VERIFY_COMMAND_NOT_ALLOWED"),
        ] {
            assert_eq!(code(extra), wanted, "{extra}");
        }
    }

    #[test]
    fn the_first_fault_is_the_answer() {
        assert_eq!(code("raised: guessed\neffort: XL\nstatus: doing"), "CARD_ENUM_INVALID");
        let failure = check("effort: XL").unwrap_err();
        let details = Json::Object(failure.details);
        assert_eq!(
            details,
            serde_json::json!({"field": "effort", "value": "XL", "allowed": ["S", "M", "L"]})
        );
    }
}
