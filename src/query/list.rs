//! Which cards match: filters that combine by "and", values of one filter by "or".

use crate::clock::{Time, is_date};
use crate::failure::{Code, Failure};
use crate::path::trim;
use crate::work::Card;
use crate::work::fields::{self, PRIORITIES, STATUSES, TYPES};
use crate::work::refusal::{not_allowed, unknown_axes};
use crate::workspace::Cards;

/// What is asked for; an empty list asks for nothing.
#[derive(Clone, Debug)]
pub struct Filter {
    /// Any of these statuses.
    pub status: Vec<String>,
    /// Any of these types.
    pub kind: Vec<String>,
    /// Any of these priorities.
    pub priority: Vec<String>,
    /// Any of these areas.
    pub area: Vec<String>,
    /// Any of these tags.
    pub tags: Vec<String>,
    /// For each axis any of these values.
    pub axes: Vec<(String, Vec<String>)>,
    /// Directly below this card.
    pub parent: Option<String>,
    /// Who holds it.
    pub claim: Holding,
    /// Changed on this day or later ([`boundary`]).
    pub updated_since: Option<String>,
}

/// What is asked about the claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holding {
    /// Nothing.
    Any,
    /// Nobody holds the card.
    Nobody,
    /// This actor does.
    Actor(String),
}

impl Filter {
    /// Refuses a value outside a vocabulary of the protocol, which could match nothing, and an axis that is not declared.
    pub fn check(&self, settings: &Cards) -> Result<(), Failure> {
        for (field, values, allowed) in [
            ("status", &self.status, STATUSES),
            ("type", &self.kind, TYPES),
            ("priority", &self.priority, PRIORITIES),
        ] {
            if let Some(value) = values.iter().find(|value| !allowed.contains(&value.as_str())) {
                return Err(not_allowed(Code::CARD_ENUM_INVALID, field, value.clone().into(), allowed));
            }
        }
        let names = self.axes.iter().map(|(name, _)| name.as_str());
        let unknown: Vec<&str> = names.filter(|name| fields::vocabulary(name, settings).is_none()).collect();
        if unknown.is_empty() { Ok(()) } else { Err(unknown_axes(&unknown, settings)) }
    }

    /// Whether a card matches.
    pub fn matches(&self, card: &Card) -> bool {
        let any = |values: &[String], key: &str| {
            values.is_empty() || card.field(key).is_some_and(|value| values.iter().any(|one| one == value))
        };
        let tagged = || card.header.list("tags").iter().any(|tag| self.tags.contains(tag));
        any(&self.status, "status")
            && any(&self.kind, "type")
            && any(&self.priority, "priority")
            && any(&self.area, "area")
            && (self.tags.is_empty() || tagged())
            && self.axes.iter().all(|(axis, values)| any(values, axis))
            && self.parent.as_deref().is_none_or(|parent| card.field("parent") == Some(parent))
            && match &self.claim {
                Holding::Any => true,
                Holding::Nobody => card.holder().is_none(),
                Holding::Actor(actor) => card.holder() == Some(actor),
            }
            && self
                .updated_since
                .as_deref()
                .is_none_or(|day| card.field("updated").is_some_and(|at| at >= day))
    }
}

/// The day that a boundary names: a date as it is, or the day that an RFC 3339 time is written with; `None` for anything
/// else.
pub fn boundary(text: &str) -> Option<String> {
    let text = trim(text);
    let day = text.get(..10)?;
    let is_time = text.len() > 10 && Time::parse(text).is_some();
    (is_date(day) && (text.len() == 10 || is_time)).then(|| day.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_boundary_is_a_real_day_or_the_day_of_a_full_time() {
        for (text, day) in [
            ("2026-07-01", Some("2026-07-01")),
            (" 2026-07-01 ", Some("2026-07-01")),
            ("2026-07-01T10:00:00Z", Some("2026-07-01")),
            ("2026-07-01T23:00:00.123-08:00", Some("2026-07-01")),
            ("2026-7-1", None),
            ("2026-02-30", None),
            ("2026-07-01T10:00Z", None),
            ("2026-07-01 10:00:00Z", None),
            ("2026-07-01t10:00:00z", None),
            ("20260701", None),
            ("yesterday", None),
            ("", None),
        ] {
            assert_eq!(boundary(text).as_deref(), day, "{text:?}");
        }
    }
}
