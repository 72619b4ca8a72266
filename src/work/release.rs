//! Release: the claim goes, and the card with it to another status.

use super::card::Card;
use super::fields::DOING;
use super::guard::Waiver;
use super::input::Assignment;
use super::mutate::{Caller, Target, mutate};
use super::patch::arrow;
use super::plan::{Home, Plan};
use super::verified::Proof;
use super::way::Way;
use crate::clock::Time;
use crate::failure::{Code, Failure};
use crate::workspace::Workspace;

/// A release.
#[derive(Clone, Copy, Debug)]
pub struct Release<'a> {
    /// Which card.
    pub target: Target<'a>,
    /// Where it goes; without one a card in doing goes to next and any other stays.
    pub status: Option<&'a str>,
    /// What is brought against the gates of done and somebody's claim.
    pub waiver: Waiver<'a>,
    /// How the card was verified, when it goes to done.
    pub proof: Proof<'a>,
}

/// Drops a claim.
pub fn release(workspace: &Workspace, release: Release<'_>, caller: &Caller) -> Result<Card, Failure> {
    if release.status == Some(DOING) {
        let id = release.target.id;
        let text = format!("a released card cannot be in {DOING}");
        let failure = Failure::new(Code::CARD_RELEASE_STATUS_INVALID, text);
        return Err(failure.remedy(format!("workfile card claim {id}")));
    }
    let way = Way::to(workspace, release.status, release.waiver, release.proof, caller);
    let plan = |card: &Card, now| plan(card, release.status, &way, now);
    mutate(workspace, release.target, caller, plan, |_| ()).map(|(card, ())| card)
}

fn plan(card: &Card, status: Option<&str>, way: &Way<'_>, now: Time) -> Result<Plan, Failure> {
    let from = card.status();
    let usual = if from == Some(DOING) { Some("next") } else { None };
    let moved = status.or(usual).filter(|to| from != Some(to));
    let mut gates = way.before(card, moved)?;
    gates.done(card.field("area"))?;
    gates.ownership()?;
    let (forced, close) = gates.passed()?;

    let mut plan = Plan::new(way.caller, Home::LiveWhenOpen);
    plan.signed = plan.signed.or_else(|| card.holder().map(str::to_owned));
    let usually = moved.is_none_or(|to| usual == Some(to));
    if let Some(to) = moved {
        plan.changes.push(Assignment::text("status", to));
        plan.leave(from, to);
        if !usually {
            plan.trail(format!("{}{}", arrow(card, to), forced.on_move()));
        }
    }
    plan.changes.extend(["claimed_by", "claimed_at"].map(Assignment::clear));
    if card.holder().is_some() || (usually && moved.is_some()) {
        plan.trail(format!("released{}", forced.on_claim()));
    }
    plan.close(close, way.caller, now);
    Ok(plan)
}
