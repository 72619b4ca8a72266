//! Release: the claim goes, and the card with it to another status.

use super::card::Card;
use super::fields::DOING;
use super::guard::{self, Waiver};
use super::input::Assignment;
use super::mutate::{Caller, Home, Plan, Target, mutate};
use super::patch::arrow;
use crate::failure::{Code, Failure};
use crate::workspace::Workspace;

/// A release.
#[derive(Clone, Copy, Debug)]
pub struct Release<'a> {
    /// Which card.
    pub target: Target<'a>,
    /// Where it goes; without one a card in doing goes to next and any other stays.
    pub status: Option<&'a str>,
    /// What is brought against somebody's claim.
    pub waiver: Waiver<'a>,
}

/// Drops a claim.
pub fn release(workspace: &Workspace, release: Release<'_>, caller: &Caller) -> Result<Card, Failure> {
    if release.status == Some(DOING) {
        let id = release.target.id;
        let text = format!("a released card cannot be in {DOING}");
        let failure = Failure::new(Code::CARD_RELEASE_STATUS_INVALID, text);
        return Err(failure.remedy(format!("workfile card claim {id}")));
    }
    let plan = |card: &Card, _| plan(card, release.status, release.waiver, caller);
    mutate(workspace, release.target, caller, plan, |_| ()).map(|(card, ())| card)
}

fn plan(card: &Card, status: Option<&str>, waiver: Waiver<'_>, caller: &Caller) -> Result<Plan, Failure> {
    let from = card.status();
    let usual = if from == Some(DOING) { Some("next") } else { None };
    let moved = status.or(usual).filter(|to| from != Some(to));
    if let Some(to) = moved {
        guard::close(&card.id, from, to)?;
    }
    let forced = guard::ownership(card, caller.actor(), &waiver)?;

    let mut plan = Plan::new(caller, Home::LiveWhenOpen);
    plan.signed = plan.signed.or_else(|| card.holder().map(str::to_owned));
    let usually = moved.is_none_or(|to| usual == Some(to));
    if let Some(to) = moved {
        plan.changes.push(Assignment::text("status", to));
        plan.leave(from, to);
        if !usually {
            plan.trail.push(arrow(card, to));
        }
    }
    plan.changes.extend(["claimed_by", "claimed_at"].map(Assignment::clear));
    if card.holder().is_some() || (usually && moved.is_some()) {
        let suffix = forced.map(|forced| forced.suffix()).unwrap_or_default();
        plan.trail.push(format!("released{suffix}"));
    }
    Ok(plan)
}
