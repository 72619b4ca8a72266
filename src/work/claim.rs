//! Claims: one actor works on a card, and everybody can see what it will change.

use super::card::Card;
use super::fields::DOING;
use super::guard::{Force, Waiver};
use super::input::{self, Assignment};
use super::load;
use super::mutate::{Caller, Target, mutate};
use super::plan::{Home, Line, NOTES, Plan};
use super::verified::Proof;
use crate::activity::board::Known;
use crate::activity::claim::{Held, State, judge};
use crate::activity::session;
use crate::clock::Time;
use crate::failure::{Code, Failure};
use crate::scope;
use crate::workspace::Workspace;
use serde_json::{Value as Json, json};

/// What to do when nothing says who is asking.
pub const NOBODY: &str = "set USER, which a container often lacks, so that whoever asks has a name";

/// A claim that is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    /// Which card.
    pub target: Target<'a>,
    /// What the work will change; without it the card keeps its scope.
    pub scope: Option<&'a [String]>,
    /// What is brought against somebody else's claim.
    pub waiver: Waiver<'a>,
    /// Refused: a claim closes nothing.
    pub proof: Proof<'a>,
}

/// A card that is claimed now.
#[derive(Clone, Debug)]
pub struct Claimed {
    /// The card.
    pub card: Card,
    /// Other work under way that its scope touches.
    pub overlaps: Vec<Overlap>,
}

/// Another claimed card with a common scope. It refuses nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// The other card.
    pub card: String,
    /// Who holds it.
    pub holder: String,
    /// Pairs of this card's entry and the other's.
    pub paths: Vec<(String, String)>,
}

impl Overlap {
    /// `{code, cardId, claimedBy, paths}`.
    pub fn to_json(&self) -> Json {
        json!({
            "code": "CARD_SCOPE_OVERLAP",
            "cardId": self.card,
            "claimedBy": self.holder,
            "paths": self.paths,
        })
    }
}

/// Claims a card.
pub fn claim(workspace: &Workspace, claim: Claim<'_>, caller: &Caller) -> Result<Claimed, Failure> {
    let Some(actor) = caller.actor() else {
        let text = format!("{} cannot be claimed by nobody: {}", claim.target.id, NOBODY);
        return Err(Failure::new(Code::CARD_CLAIM_ACTOR_REQUIRED, text));
    };
    claim.proof.unused(claim.target.id)?;
    let scope =
        claim.scope.map(|scope| input::list("scope", scope.iter().map(String::as_str))).transpose()?;
    let plan = |card: &Card, now| plan(workspace, card, actor, scope, claim.waiver, caller, now);
    let look = |card: &Card| overlaps(workspace, card);
    let (card, overlaps) = mutate(workspace, claim.target, caller, plan, look)?;
    Ok(Claimed { card, overlaps })
}

fn plan(
    workspace: &Workspace,
    card: &Card,
    actor: &str,
    scope: Option<Vec<String>>,
    waiver: Waiver<'_>,
    caller: &Caller,
    now: Time,
) -> Result<Plan, Failure> {
    let mut plan = Plan::new(caller, Home::LiveWhenOpen);
    if let Some(holder) = card.holder().filter(|holder| *holder != actor) {
        let reason = take_over(workspace, card, holder, &waiver, now)?;
        let line = format!("- {} — {actor} replaced {holder}'s claim: {reason}", now.date());
        plan.lines.push(Line::Under(NOTES.to_owned(), line));
    }
    if card.holder() != Some(actor) || card.status() != Some(DOING) {
        plan.trail("claimed");
    }
    plan.changes = vec![
        Assignment::text("status", DOING),
        Assignment::text("claimed_by", actor),
        Assignment::text("claimed_at", now.timestamp()),
    ];
    plan.changes.extend(scope.map(|scope| Assignment::list("scope", scope)));
    plan.leave(card.status(), DOING);
    Ok(plan)
}

/// The reason for taking a claim over, once it may be: by force, or because its lease has run out.
fn take_over(
    workspace: &Workspace,
    card: &Card,
    holder: &str,
    waiver: &Waiver<'_>,
    now: Time,
) -> Result<String, Failure> {
    let id = &card.id;
    let at = card.field("claimed_at");
    let held = Held { id, by: Some(holder), at, session: None };
    let session = Known::of(&workspace.root).session(held);
    let held = Held { session: session.as_deref(), ..held };
    let lease = workspace.config.cards.claim_lease_hours;
    // Without sessions only the lease decides: a live holder whose lease has run out can still be asked for the card.
    let run_out = judge(held, &[], lease, now).state == State::Stale;
    if waiver.force == Force::No && !run_out {
        let state = match judge(held, &session::all(&workspace.root), lease, now).state {
            State::Live => ", signalling right now",
            State::Orphaned => ", silent for more than 30 minutes",
            _ => "",
        };
        let since = at.map(|at| format!(" since {at}")).unwrap_or_default();
        let text = format!("{id} is claimed by {holder}{since}{state}");
        let failure =
            Failure::new(Code::CARD_ALREADY_CLAIMED, text).with("claimedBy", holder).with("claimedAt", at);
        return Err(failure
            .remedy("workfile next")
            .remedy(format!("workfile card claim {id} --force --reason TEXT")));
    }
    waiver.reason().ok_or_else(|| {
        let text = format!("taking {id} over from {holder} needs a --reason");
        let failure = Failure::new(Code::CARD_CLAIM_BREAK_REASON_REQUIRED, text);
        let force = if run_out { "" } else { "--force " };
        failure.remedy(format!("workfile card claim {id} {force}--reason TEXT"))
    })
}

/// Other work under way that touches the card's scope, as it is on disk now. Cards that cannot be listed any more warn
/// of nothing: the claim stands.
fn overlaps(workspace: &Workspace, card: &Card) -> Vec<Overlap> {
    let mine = card.scope();
    if mine.is_empty() {
        return Vec::new();
    }
    let cards = load::all(workspace).map(|listing| listing.cards).unwrap_or_default();
    let others = cards.iter().filter(|other| other.id != card.id && !other.is_archived());
    others.filter_map(|other| overlap(&mine, other)).collect()
}

fn overlap(mine: &[String], other: &Card) -> Option<Overlap> {
    let holder = other.holder().filter(|_| other.status() == Some(DOING))?;
    let paths = scope::overlaps(mine, &other.scope());
    (!paths.is_empty()).then(|| Overlap { card: other.id.clone(), holder: holder.to_owned(), paths })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::testing::card;

    #[test]
    fn only_work_under_way_overlaps() {
        let mine = ["src/water/pump.rs".to_owned(), "docs/".to_owned()];
        let held = card("T-0002", "status: doing\nclaimed_by: bo@yard\nscope: [src/water, lib]");
        let overlap = overlap(&mine, &held).unwrap();
        assert_eq!(
            overlap.to_json(),
            json!({"code": "CARD_SCOPE_OVERLAP", "cardId": "T-0002", "claimedBy": "bo@yard",
                "paths": [["src/water/pump.rs", "src/water"]]})
        );
        for header in [
            "status: doing\nscope: src",
            "status: review\nclaimed_by: a\nscope: src",
            "status: doing\nclaimed_by: a",
        ] {
            assert_eq!(super::overlap(&mine, &card("T-0003", header)), None, "{header}");
        }
    }
}
