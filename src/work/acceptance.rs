//! Boxes ticked and emptied by hand; those that a command proves are left to the command.

use super::card::Card;
use super::criteria::{self, Item, Mark};
use super::mutate::{Caller, Target, mutate};
use super::plan::{Home, Plan};
use super::verify_block::{self, Entry};
use crate::failure::{Code, Failure};
use crate::workspace::Workspace;

/// Boxes to set, by the index of their criterion from 1. What is in both lists is emptied.
#[derive(Clone, Copy, Debug)]
pub struct Boxes<'a> {
    /// Which card.
    pub target: Target<'a>,
    /// What is to be ticked.
    pub check: &'a [usize],
    /// What is to be emptied.
    pub uncheck: &'a [usize],
}

/// A card whose boxes are set.
#[derive(Clone, Debug)]
pub struct Marked {
    /// The card.
    pub card: Card,
    /// The boxes that changed, first those that were ticked.
    pub changed: Vec<usize>,
}

/// Sets boxes; nothing else of the body changes.
pub fn mark(workspace: &Workspace, boxes: Boxes<'_>, caller: &Caller) -> Result<Marked, Failure> {
    if boxes.check.is_empty() && boxes.uncheck.is_empty() {
        let id = boxes.target.id;
        let failure = Failure::new(Code::CARD_ACCEPTANCE_EMPTY, format!("no criterion of {id} is named"));
        return Err(failure.remedy(format!("workfile card ac {id}")));
    }
    let mut changed = Vec::new();
    let plan = |card: &Card, _| {
        let marks = marks(card, boxes)?;
        changed = marks.iter().map(|(index, _)| *index).collect();
        let marks: Vec<Mark> = marks.into_iter().map(|(_, mark)| mark).collect();
        let mut plan = Plan::new(caller, Home::Stay);
        plan.body_text = Some(criteria::marked(card.body_text(), &marks));
        Ok(plan)
    };
    let (card, ()) = mutate(workspace, boxes.target, caller, plan, |_| ())?;
    Ok(Marked { card, changed })
}

/// What really changes, with the index of its criterion.
fn marks(card: &Card, boxes: Boxes<'_>) -> Result<Vec<(usize, Mark)>, Failure> {
    let (items, entries) = (card.acceptance().items, verify_block::entries(&card.header));
    for index in boxes.check.iter().chain(boxes.uncheck) {
        let item = index.checked_sub(1).and_then(|at| items.get(at)).ok_or_else(|| {
            let text = format!("{} has no criterion {index}; it has {}", card.id, items.len());
            let failure = Failure::new(Code::CARD_ACCEPTANCE_INDEX_UNKNOWN, text).with("index", *index);
            failure.with("available", items.len()).remedy(format!("workfile card ac {}", card.id))
        })?;
        if let Some(entry) = verify_block::owner(&entries, item) {
            return Err(machine_owned(card, item, entry));
        }
    }
    let mut marks: Vec<(usize, Mark)> = Vec::new();
    let ticked = boxes.check.iter().filter(|index| !boxes.uncheck.contains(index)).map(|index| (index, true));
    for (index, checked) in ticked.chain(boxes.uncheck.iter().map(|index| (index, false))) {
        let item = &items[index - 1];
        if item.checked != checked && !marks.iter().any(|(earlier, _)| earlier == index) {
            marks.push((*index, Mark { line: item.line, checked }));
        }
    }
    Ok(marks)
}

/// The refusal of a hand on a box that a command sets.
fn machine_owned(card: &Card, item: &Item, entry: &Entry) -> Failure {
    let (id, index) = (&card.id, item.index);
    let text = format!("criterion {index} of {id} is proved by the verify entry {}, not by hand", entry.id);
    let failure = Failure::new(Code::CARD_ACCEPTANCE_MACHINE_OWNED, text).with("index", index);
    failure.with("entry", entry.id.clone()).remedy(format!("workfile card verify {id} --only {}", entry.id))
}
