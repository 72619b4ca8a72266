//! Which records match: filters that combine by "and", values of one filter by "or".

use super::entry::{Entry, Kind};
use super::index::Index;
use super::view::{Shower, View};
use crate::clock::{Time, is_date};
use crate::docs::Origin;
use crate::failure::{Code, Failure};
use crate::path::trim;
use crate::work::fields::{self, PRIORITIES, STATUSES, TYPES};
use crate::work::refusal::{not_allowed, unknown_axes};
use crate::workspace::{Cards, Config};
use serde_json::{Map, Value as Json};

/// What is asked for; an empty list asks for nothing.
#[derive(Clone, Debug)]
pub struct Filter {
    /// Any of these statuses.
    pub status: Vec<String>,
    /// Any of these types: of a card or a fragment its type, of a document its kind, of memory its collection.
    pub types: Vec<String>,
    /// Any of these priorities.
    pub priority: Vec<String>,
    /// Any of these areas.
    pub area: Vec<String>,
    /// Any of these tags.
    pub tags: Vec<String>,
    /// For each axis any of these values.
    pub axes: Vec<(String, Vec<String>)>,
    /// Fragments of any of these visibilities.
    pub visibility: Vec<String>,
    /// Documents from here.
    pub origin: Option<Origin>,
    /// Fragments that have been released, or have not.
    pub released: Option<bool>,
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
    /// Asks for nothing: every record matches.
    pub const fn nothing() -> Self {
        Self {
            status: Vec::new(),
            types: Vec::new(),
            priority: Vec::new(),
            area: Vec::new(),
            tags: Vec::new(),
            axes: Vec::new(),
            visibility: Vec::new(),
            origin: None,
            released: None,
            parent: None,
            claim: Holding::Any,
            updated_since: None,
        }
    }

    /// For a list of one kind: refuses a value outside a vocabulary of the protocol, which could match nothing, and an axis
    /// that is not declared.
    pub fn check(&self, kind: Kind, config: &Config) -> Result<(), Failure> {
        match kind {
            Kind::Card => self.check_cards(&config.cards),
            Kind::Memory => {
                let enabled: Vec<&str> =
                    config.memory.collections.iter().map(|collection| collection.id).collect();
                let unknown = self.types.iter().find(|id| !enabled.contains(&id.as_str()));
                unknown.map_or(Ok(()), |id| {
                    let (code, what) =
                        (Code::MEMORY_COLLECTION_DISABLED, "the collection of a memory record");
                    Err(not_allowed(code, what, "collection", id.clone().into(), &enabled))
                })
            }
            Kind::Doc | Kind::Change | Kind::Release => Ok(()),
        }
    }

    fn check_cards(&self, settings: &Cards) -> Result<(), Failure> {
        for (field, values, allowed) in [
            ("status", &self.status, STATUSES),
            ("type", &self.types, TYPES),
            ("priority", &self.priority, PRIORITIES),
        ] {
            if let Some(value) = values.iter().find(|value| !allowed.contains(&value.as_str())) {
                let what = format!("the {field} of a card");
                return Err(not_allowed(
                    Code::CARD_ENUM_INVALID,
                    &what,
                    field,
                    value.clone().into(),
                    allowed,
                ));
            }
        }
        let names = self.axes.iter().map(|(name, _)| name.as_str());
        let unknown: Vec<&str> = names.filter(|name| fields::vocabulary(name, settings).is_none()).collect();
        if unknown.is_empty() { Ok(()) } else { Err(unknown_axes(&unknown, settings)) }
    }

    /// Whether a record matches.
    pub fn matches(&self, entry: Entry<'_>) -> bool {
        let record = entry.record();
        let asks_for_changes = !self.visibility.is_empty() || self.released.is_some();
        any(&self.status, || entry.status())
            && any(&self.types, || entry.record_type())
            && any(&self.priority, || record.field("priority"))
            && any(&self.area, || record.field("area"))
            && any(&self.visibility, || record.field("visibility"))
            && (!asks_for_changes || entry.kind() == Kind::Change)
            && (self.tags.is_empty() || entry.items("tags").any(|tag| self.tags.iter().any(|one| one == tag)))
            && self.axes.iter().all(|(axis, values)| any(values, || record.field(axis)))
            && self.parent.as_deref().is_none_or(|parent| record.field("parent") == Some(parent))
            && match &self.claim {
                Holding::Any => true,
                Holding::Nobody => record.field("claimed_by").is_none(),
                Holding::Actor(actor) => record.field("claimed_by") == Some(actor),
            }
            && match (self.origin, entry) {
                (None, _) => true,
                (Some(origin), Entry::Doc(document)) => document.origin == origin,
                _ => false,
            }
            && match (self.released, entry) {
                (Some(released), Entry::Change(fragment)) => fragment.is_released() == released,
                _ => true,
            }
            && self.updated_since.as_deref().is_none_or(|day| entry.updated().is_some_and(|at| at >= day))
    }
}

/// Whether a value is one of these; any is, when there are none, and nobody looks at it.
fn any<'a>(values: &[String], value: impl FnOnce() -> Option<&'a str>) -> bool {
    values.is_empty() || value().is_some_and(|value| values.iter().any(|one| one == value))
}

/// What a list is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// Records of these kinds.
    pub kinds: Vec<Kind>,
    /// That match.
    pub filter: Filter,
    /// How many to pass over.
    pub offset: usize,
    /// How many to show.
    pub limit: usize,
}

/// The places of the records that are asked for, in the order of ids, all of them.
pub fn places(index: &Index, kinds: &[Kind], filter: &Filter) -> Vec<usize> {
    let is_wanted = |entry: Entry<'_>| kinds.contains(&entry.kind()) && filter.matches(entry);
    (0..index.len()).filter(|place| is_wanted(index.entry(*place))).collect()
}

/// The answer to a request: `{records, total, offset, limit}`, the records in `view`.
pub fn answer(shower: &Shower<'_>, request: &Request, view: View) -> Map<String, Json> {
    let places = places(shower.index, &request.kinds, &request.filter);
    let page: Vec<usize> = places.iter().skip(request.offset).take(request.limit).copied().collect();
    let mut answer = Map::new();
    answer.insert("records".to_owned(), shower.show(&page, view).into_iter().map(Json::Object).collect());
    answer.insert("total".to_owned(), places.len().into());
    answer.insert("offset".to_owned(), request.offset.into());
    answer.insert("limit".to_owned(), request.limit.into());
    answer
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
    fn boundaries_are_read_as_recorded() {
        let cases: Vec<Json> =
            serde_json::from_str(include_str!("../../tests/golden/vectors/dates.json")).unwrap();
        for case in cases {
            let text = case["input"].as_str().unwrap();
            // What the earlier implementation took for a date and is none.
            let is_none = ["2026-02-30", "2026-13-01"].contains(&text);
            let day = if is_none { None } else { case["date"].as_str() };
            assert_eq!(boundary(text).as_deref(), day, "{case}");
        }
    }

    #[test]
    fn a_boundary_is_a_real_day_or_the_day_of_a_full_time() {
        for (text, day) in [
            ("2026-07-01T23:00:00.123-08:00", Some("2026-07-01")),
            ("2026-07-01T24:00:00Z", None),
            ("2026-07-01x", None),
        ] {
            assert_eq!(boundary(text).as_deref(), day, "{text:?}");
        }
    }
}
