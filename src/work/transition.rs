//! Transition: any status may follow any other, within the rules of the claim.

use super::card::Card;
use super::claim::{Claim, Claimed, claim};
use super::fields::DOING;
use super::guard::{self, Waiver};
use super::input::Assignment;
use super::mutate::{Caller, Home, Plan, Target, mutate};
use super::patch::arrow;
use crate::failure::Failure;
use crate::workspace::Workspace;

/// A transition.
#[derive(Clone, Copy, Debug)]
pub struct Transition<'a> {
    /// Which card.
    pub target: Target<'a>,
    /// Where it goes.
    pub status: &'a str,
    /// The scope of the claim that a move to doing is; nothing for any other.
    pub scope: Option<&'a [String]>,
    /// What is brought against somebody's claim.
    pub waiver: Waiver<'a>,
}

/// Moves a card; to doing is a claim.
pub fn transition(
    workspace: &Workspace,
    transition: Transition<'_>,
    caller: &Caller,
) -> Result<Claimed, Failure> {
    let Transition { target, status, scope, waiver } = transition;
    if status == DOING {
        return claim(workspace, Claim { target, scope, waiver }, caller);
    }
    let plan = |card: &Card, _| plan(card, status, waiver, caller);
    let (card, ()) = mutate(workspace, target, caller, plan, |_| ())?;
    Ok(Claimed { card, overlaps: Vec::new() })
}

fn plan(card: &Card, to: &str, waiver: Waiver<'_>, caller: &Caller) -> Result<Plan, Failure> {
    let from = card.status();
    guard::close(&card.id, from, to)?;
    let forced = guard::ownership(card, caller.actor(), &waiver)?;

    let mut plan = Plan::new(caller, Home::LiveWhenOpen);
    if from != Some(to) {
        let suffix = forced.map(|forced| forced.suffix()).unwrap_or_default();
        plan.trail.push(format!("{}{suffix}", arrow(card, to)));
    }
    plan.changes.push(Assignment::text("status", to));
    plan.changes.extend(["claimed_by", "claimed_at"].map(Assignment::clear));
    plan.leave(from, to);
    Ok(plan)
}
