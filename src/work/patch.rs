//! Patch: header fields set by name, everything else untouched.

use super::card::Card;
use super::guard::{Forced, Waiver};
use super::input::{self, Assignment, New};
use super::mutate::{Caller, Target, mutate};
use super::plan::{Home, Plan};
use super::verified::Proof;
use super::way::Way;
use crate::clock::Time;
use crate::failure::Failure;
use crate::record::Value;
use crate::workspace::Workspace;
use serde_json::Value as Json;

/// A patch.
#[derive(Clone, Copy, Debug)]
pub struct Patch<'a> {
    /// Which card.
    pub target: Target<'a>,
    /// An object of field names and values; null, an empty text and an empty list clear a field.
    pub changes: &'a Json,
    /// What is brought against the gates of done and somebody's claim.
    pub waiver: Waiver<'a>,
    /// How the card was verified, when the patch moves it to done.
    pub proof: Proof<'a>,
}

/// Applies a patch.
pub fn patch(workspace: &Workspace, patch: Patch<'_>, caller: &Caller) -> Result<Card, Failure> {
    let changes = input::changes(patch.changes, &workspace.config.cards)?;
    let way = Way::to(workspace, named(&changes, "status"), patch.waiver, patch.proof, caller);
    let plan = |card: &Card, now| plan(card, changes, &way, now);
    mutate(workspace, patch.target, caller, plan, |_| ()).map(|(card, ())| card)
}

fn plan(card: &Card, changes: Vec<Assignment>, way: &Way<'_>, now: Time) -> Result<Plan, Failure> {
    let status = set(card, &changes, "status");
    let moved = status.filter(|to| card.status() != Some(to));
    let mut gates = way.before(card, moved)?;
    let guarded = ["status", "claimed_by", "claimed_at"];
    if changes.iter().any(|change| guarded.contains(&change.key.as_str())) {
        gates.ownership()?;
    }
    gates.done(set(card, &changes, "area"))?;
    let (forced, close) = gates.passed()?;

    let mut plan = Plan::new(way.caller, Home::LiveWhenOpen);
    for line in trail(card, moved, set(card, &changes, "claimed_by"), &forced) {
        plan.trail(line);
    }
    let leaves = moved.map(str::to_owned);
    plan.changes = changes;
    if let Some(to) = leaves {
        plan.leave(card.status(), &to);
    }
    plan.close(close, way.caller, now);
    Ok(plan)
}

/// The text that the changes give a key.
fn named<'a>(changes: &'a [Assignment], key: &str) -> Option<&'a str> {
    match changes.iter().find(|change| change.key == key).map(|change| &change.new) {
        Some(New::Set(Value::Text(text))) => Some(text),
        _ => None,
    }
}

/// What a key will hold: its new text, or the one it has.
fn set<'a>(card: &'a Card, changes: &'a [Assignment], key: &str) -> Option<&'a str> {
    let is_named = changes.iter().any(|change| change.key == key);
    if is_named { named(changes, key) } else { card.field(key) }
}

/// A line for the move and one for the claim; what was passed by force is named on its own line, or on the only one.
fn trail(card: &Card, moved: Option<&str>, holder: Option<&str>, forced: &Forced) -> Vec<String> {
    let moved = moved.map(|to| arrow(card, to));
    let changed = if holder.is_some() { "claimed" } else { "released" };
    match (moved, holder != card.holder()) {
        (Some(moved), true) => {
            vec![format!("{moved}{}", forced.on_move()), format!("{changed}{}", forced.on_claim())]
        }
        (Some(moved), false) => vec![format!("{moved}{}", forced.on_both())],
        (None, true) => vec![format!("{changed}{}", forced.on_both())],
        (None, false) => Vec::new(),
    }
}

/// The text of a move's trail line.
pub(super) fn arrow(card: &Card, to: &str) -> String {
    format!("{} → {to}", card.status().unwrap_or("none"))
}
