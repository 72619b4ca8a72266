//! Patch: header fields set by name, everything else untouched.

use super::card::Card;
use super::guard::{self, Forced, Waiver};
use super::input::{self, Assignment, New};
use super::mutate::{Caller, Home, Plan, Target, mutate};
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
    /// What is brought against somebody's claim.
    pub waiver: Waiver<'a>,
}

/// Applies a patch.
pub fn patch(workspace: &Workspace, patch: Patch<'_>, caller: &Caller) -> Result<Card, Failure> {
    let changes = input::changes(patch.changes, &workspace.config.cards)?;
    let plan = |card: &Card, _| plan(card, changes, patch.waiver, caller);
    mutate(workspace, patch.target, caller, plan, |_| ()).map(|(card, ())| card)
}

fn plan(card: &Card, changes: Vec<Assignment>, waiver: Waiver<'_>, caller: &Caller) -> Result<Plan, Failure> {
    let status = set(card, &changes, "status");
    let holder = set(card, &changes, "claimed_by");
    let guarded = ["status", "claimed_by", "claimed_at"];
    let forced = if changes.iter().any(|change| guarded.contains(&change.key.as_str())) {
        guard::ownership(card, caller.actor(), &waiver)?
    } else {
        None
    };
    guard::close(&card.id, card.status(), status.unwrap_or_default())?;

    let mut plan = Plan::new(caller, Home::LiveWhenOpen);
    let moved = status.filter(|to| card.status() != Some(to));
    plan.trail = trail(card, moved, holder, forced.as_ref());
    let leaves = moved.map(str::to_owned);
    plan.changes = changes;
    if let Some(to) = leaves {
        plan.leave(card.status(), &to);
    }
    Ok(plan)
}

/// What a key will hold: its new text, or the one it has.
fn set<'a>(card: &'a Card, changes: &'a [Assignment], key: &str) -> Option<&'a str> {
    match changes.iter().find(|change| change.key == key).map(|change| &change.new) {
        Some(New::Set(Value::Text(text))) => Some(text),
        Some(_) => None,
        None => card.field(key),
    }
}

/// A line for the move and one for the claim; a claim that was passed by force is named on the last of them.
fn trail(card: &Card, moved: Option<&str>, holder: Option<&str>, forced: Option<&Forced>) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(moved.map(|to| arrow(card, to)));
    if holder != card.holder() {
        lines.push(if holder.is_some() { "claimed" } else { "released" }.to_owned());
    }
    if let (Some(last), Some(forced)) = (lines.last_mut(), forced) {
        last.push_str(&forced.suffix());
    }
    lines
}

/// The text of a move's trail line.
pub(super) fn arrow(card: &Card, to: &str) -> String {
    format!("{} → {to}", card.status().unwrap_or("none"))
}
