//! What can be started now, the best first, each with the reason.

use super::entry::{Entry, Kind};
use super::index::Index;
use super::view::{Shower, View};
use crate::failure::Failure;
use crate::work::Card;
use crate::work::fields::{DOING, PRIORITIES, is_open};
use crate::workspace::Workspace;
use serde_json::{Map, Value as Json};
use std::collections::HashMap;

/// Most cards in one answer.
pub const MOST: usize = 20;
/// Cards in an answer without a limit.
pub const USUAL: usize = 5;

/// A card that can be started.
#[derive(Clone, Debug)]
pub struct Candidate<'a> {
    /// Its place in the index.
    pub place: usize,
    /// The card.
    pub card: &'a Card,
    /// Why it can be, and why it stands where it stands.
    pub reason: String,
}

/// The records that decide what can be started: the cards, and those of other kinds only where a card waits for something
/// that is no card.
pub fn index(workspace: &Workspace) -> Result<Index, Failure> {
    let index = Index::of(workspace, &[Kind::Card])?;
    let waits = |card: &Card| {
        is_startable(card) && card.header.list("depends").iter().any(|id| index.find(id).is_none())
    };
    if index.cards.cards.iter().any(waits) { index.complete(workspace) } else { Ok(index) }
}

/// Every card that `caller` can start, in order. Without `areas` all count.
pub fn candidates<'a>(index: &'a Index, caller: Option<&str>, areas: &[String]) -> Vec<Candidate<'a>> {
    let all = &index.cards.cards;
    let mut closed: HashMap<&str, bool> = HashMap::with_capacity(all.len());
    for card in all {
        closed.entry(&card.id).or_insert(card.status().is_some_and(|status| !is_open(status)));
    }
    let is_closed = |id: &str| {
        let status = || index.entry(index.find(id)?).status();
        closed.get(id).copied().unwrap_or_else(|| status().is_some_and(|status| !is_open(status)))
    };
    let ready = |card: &Card| {
        is_startable(card)
            && (areas.is_empty()
                || card.field("area").is_some_and(|area| areas.iter().any(|one| one == area)))
            && card.holder().is_none_or(|holder| Some(holder) == caller)
            && card.header.list("depends").iter().all(|id| is_closed(id))
    };
    let card = |(place, entry): (usize, Entry<'a>)| match entry {
        Entry::Card(card, _) => Some((place, card)),
        _ => None,
    };
    let mut cards: Vec<(usize, &Card)> = index.entries().enumerate().filter_map(card).collect();
    cards.retain(|(_, card)| ready(card));
    cards.sort_by(|(a_place, a), (b_place, b)| {
        let key = |card: &Card| (card.holder().is_none(), card.status() != Some(DOING), rank(card));
        let (earlier, later) = (a.field("updated"), b.field("updated"));
        key(a).cmp(&key(b)).then_with(|| earlier.cmp(&later)).then(a_place.cmp(b_place))
    });
    cards.into_iter().map(|(place, card)| Candidate { place, card, reason: reason(card) }).collect()
}

/// Whether it is work of its own that somebody may begin or go on with.
fn is_startable(card: &Card) -> bool {
    matches!(card.status(), Some("next" | "backlog" | DOING))
        && card.field("type") != Some("epic")
        && !card.is_archived()
}

/// The place of a card's priority; an unknown one comes last.
fn rank(card: &Card) -> usize {
    let place = PRIORITIES.iter().position(|one| card.field("priority") == Some(one));
    place.unwrap_or(PRIORITIES.len())
}

fn reason(card: &Card) -> String {
    let mut parts = Vec::new();
    // Candidates are unclaimed or the caller's own.
    if card.holder().is_some() {
        parts.push("already claimed by you".to_owned());
    }
    match card.status() {
        Some(DOING) => parts.push("in progress".to_owned()),
        Some("next") => parts.push("queued next".to_owned()),
        _ => {}
    }
    if !card.header.list("depends").is_empty() {
        parts.push("dependencies met".to_owned());
    }
    parts.extend(card.field("priority").map(|priority| format!("priority {priority}")));
    parts.join("; ")
}

/// The records of candidates, each with its reason.
pub fn show(shower: &Shower<'_>, candidates: &[Candidate<'_>], view: View) -> Vec<Map<String, Json>> {
    let places: Vec<usize> = candidates.iter().map(|candidate| candidate.place).collect();
    let records = shower.show(&places, view).into_iter().zip(candidates);
    let with_reason = |(mut record, candidate): (Map<String, Json>, &Candidate<'_>)| {
        record.insert("reason".to_owned(), candidate.reason.clone().into());
        record
    };
    records.map(with_reason).collect()
}
