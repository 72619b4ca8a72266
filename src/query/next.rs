//! What can be started now, the best first, each with the reason.

use super::row;
use crate::record::order::natural;
use crate::work::fields::{DOING, PRIORITIES, is_open};
use crate::work::load::Assets;
use crate::work::{Card, Listing};
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
    /// The card.
    pub card: &'a Card,
    /// Why it can be, and why it stands where it stands.
    pub reason: String,
}

/// Every card that `caller` can start, in order. Without `areas` all count.
pub fn candidates<'a>(listing: &'a Listing, caller: Option<&str>, areas: &[String]) -> Vec<Candidate<'a>> {
    let mut closed: HashMap<&str, bool> = HashMap::new();
    for card in &listing.cards {
        closed.entry(&card.id).or_insert(card.status().is_some_and(|status| !is_open(status)));
    }
    let ready = |card: &&Card| {
        matches!(card.status(), Some("next" | "backlog" | DOING))
            && card.field("type") != Some("epic")
            && !card.is_archived()
            && (areas.is_empty()
                || card.field("area").is_some_and(|area| areas.iter().any(|one| one == area)))
            && card.holder().is_none_or(|holder| Some(holder) == caller)
            && card.header.list("depends").iter().all(|id| closed.get(id.as_str()) == Some(&true))
    };
    let mut cards: Vec<&Card> = listing.cards.iter().filter(ready).collect();
    cards.sort_by(|a, b| {
        let key = |card: &Card| (card.holder().is_none(), card.status() != Some(DOING), rank(card));
        let (earlier, later) = (a.field("updated"), b.field("updated"));
        key(a).cmp(&key(b)).then_with(|| earlier.cmp(&later)).then_with(|| natural(&a.id, &b.id))
    });
    cards.into_iter().map(|card| Candidate { card, reason: reason(card) }).collect()
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

impl Candidate<'_> {
    /// The whole card as a record among others, with the reason.
    pub fn to_json(&self, workspace: &Workspace, assets: &Assets) -> Json {
        self.reasoned(row::with_assets(self.card, workspace, assets))
    }

    /// A row of a listing, with the reason.
    pub fn to_row(&self, workspace: &Workspace) -> Json {
        self.reasoned(row::list(self.card, workspace))
    }

    fn reasoned(&self, mut map: Map<String, Json>) -> Json {
        map.insert("reason".to_owned(), self.reason.clone().into());
        Json::Object(map)
    }
}
