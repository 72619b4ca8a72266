//! Transition: any status may follow any other, within the rules of the claim.

use super::card::Card;
use super::claim::{Claim, Claimed, claim};
use super::fields::DOING;
use super::guard::Waiver;
use super::input::Assignment;
use super::mutate::{Caller, Target, mutate};
use super::patch::arrow;
use super::plan::{Home, Plan};
use super::verified::Proof;
use super::way::Way;
use crate::clock::Time;
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
    /// What is brought against the gates of done and somebody's claim.
    pub waiver: Waiver<'a>,
    /// How the card was verified, for a move to done.
    pub proof: Proof<'a>,
}

/// Moves a card; to doing is a claim.
pub fn transition(
    workspace: &Workspace,
    transition: Transition<'_>,
    caller: &Caller,
) -> Result<Claimed, Failure> {
    let Transition { target, status, scope, waiver, proof } = transition;
    if status == DOING {
        return claim(workspace, Claim { target, scope, waiver, proof }, caller);
    }
    let way = Way::to(workspace, Some(status), waiver, proof, caller);
    let plan = |card: &Card, now| plan(card, status, &way, now);
    let (card, ()) = mutate(workspace, target, caller, plan, |_| ())?;
    Ok(Claimed { card, overlaps: Vec::new() })
}

fn plan(card: &Card, to: &str, way: &Way<'_>, now: Time) -> Result<Plan, Failure> {
    let from = card.status();
    let mut gates = way.before(card, Some(to))?;
    gates.done(card.field("area"))?;
    gates.ownership()?;
    let (forced, close) = gates.passed()?;

    let mut plan = Plan::new(way.caller, Home::LiveWhenOpen);
    if from != Some(to) {
        plan.trail(format!("{}{}", arrow(card, to), forced.on_both()));
    }
    plan.changes.push(Assignment::text("status", to));
    plan.changes.extend(["claimed_by", "claimed_at"].map(Assignment::clear));
    plan.leave(from, to);
    plan.close(close, way.caller, now);
    Ok(plan)
}
