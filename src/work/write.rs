//! Write: another body, in which the trail and the notes stay what they are.

use super::card::Card;
use super::criteria::{self, Item as Criterion};
use super::mutate::{Caller, Target, mutate};
use super::plan::{ACTIVITY, Home, NOTES, Plan};
use super::verify_block::{self, Entry};
use crate::failure::{Code, Failure};
use crate::path::trim;
use crate::record;
use crate::workspace::Workspace;
use serde_json::Value as Json;
use std::collections::HashMap;

/// A body that is to be written.
#[derive(Clone, Copy, Debug)]
pub struct Write<'a> {
    /// Which card.
    pub target: Target<'a>,
    /// The whole new text below the header.
    pub body: &'a Json,
}

/// A card with its new body.
#[derive(Clone, Debug)]
pub struct Written {
    /// The card.
    pub card: Card,
    /// Headings of sections that were sent and belong to the protocol: the stored text stands.
    pub ignored: Vec<String>,
}

/// Replaces the body of a card.
pub fn write(workspace: &Workspace, write: Write<'_>, caller: &Caller) -> Result<Written, Failure> {
    let Json::String(sent) = write.body else {
        let text = format!("the new body of {} is not a text", write.target.id);
        return Err(Failure::new(Code::CARD_BODY_REQUIRED, text));
    };
    let mut ignored = Vec::new();
    let plan = |card: &Card, _| {
        let (body, headings) = record::keep_sections(card.body_text(), sent, &[ACTIVITY, NOTES]);
        ignored = headings;
        owned(card, &body)?;
        let text = record::with_body(card.text(), &body)?;
        let body_text = &text[card.text().len() - card.body_text().len()..];
        let mut plan = Plan::new(caller, Home::Stay);
        // White space around a body says nothing.
        plan.body_text = (trim(body_text) != card.body()).then(|| body_text.to_owned());
        Ok(plan)
    };
    let (card, ()) = mutate(workspace, write.target, caller, plan, |_| ())?;
    Ok(Written { card, ignored })
}

/// Refuses a body in which a criterion that a verify entry proves has another box than before. One that was not there
/// before comes unticked.
fn owned(card: &Card, body: &str) -> Result<(), Failure> {
    let entries = verify_block::entries(&card.header);
    if entries.is_empty() {
        return Ok(());
    }
    let mut before: HashMap<String, std::vec::IntoIter<bool>> = HashMap::new();
    for (digest, boxes) in boxes(&card.acceptance().items) {
        before.insert(digest, boxes.into_iter());
    }
    for item in criteria::read(trim(body)).items {
        let Some(Entry { id, .. }) = verify_block::owner(&entries, &item) else { continue };
        let was = before.get_mut(&item.digest()).and_then(Iterator::next).unwrap_or(false);
        if item.checked != was {
            let text = format!(
                "the box of `{}` belongs to the verify entry {id} of {}; it stays {}",
                item.text,
                card.id,
                if was { "ticked" } else { "empty" }
            );
            let failure = Failure::new(Code::CARD_ACCEPTANCE_MACHINE_OWNED, text).with("index", item.index);
            return Err(failure.with("entry", id.clone()));
        }
    }
    Ok(())
}

/// The boxes of the criteria with one text, in their order.
fn boxes(items: &[Criterion]) -> HashMap<String, Vec<bool>> {
    let mut boxes: HashMap<String, Vec<bool>> = HashMap::new();
    for item in items {
        boxes.entry(item.digest()).or_default().push(item.checked);
    }
    boxes
}
