//! Reap: claims that have outlived their lease or their session are given back.

use super::card::Card;
use super::fields::DOING;
use super::input::Assignment;
use super::load;
use super::mutate::{Caller, Target, mutate};
use super::plan::{Home, Plan};
use super::standing::Claims;
use crate::activity::claim::{Judged, State};
use crate::clock;
use crate::failure::Failure;
use crate::workspace::Workspace;
use serde_json::{Value as Json, json};

/// A claim that nobody stands behind any more.
#[derive(Clone, Debug)]
pub struct Lapsed {
    /// The card.
    pub id: String,
    /// The claim as it was judged.
    pub claim: Json,
}

impl Lapsed {
    /// `{id, claim}`.
    pub fn to_json(&self) -> Json {
        json!({"id": self.id, "claim": self.claim})
    }
}

/// What became of the lapsed claims.
#[derive(Clone, Debug)]
pub struct Reaped {
    /// Cards that are free now.
    pub released: Vec<String>,
    /// Cards that could not be released, and why.
    pub failed: Vec<(String, Failure)>,
}

/// The lapsed claims, those of at least `older_than` hours when it is given. Nothing is written.
pub fn lapsed(workspace: &Workspace, older_than: Option<f64>) -> Result<Vec<Lapsed>, Failure> {
    let claims = Claims::of(workspace, clock::now());
    let lapsed = |card: &Card| {
        let claim = lapse(&claims, card, older_than)?.1;
        Some(Lapsed { id: card.id.clone(), claim })
    };
    Ok(load::all(workspace)?.cards.iter().filter_map(lapsed).collect())
}

/// Releases the lapsed claims. Each is judged again under its card's lock, and one refusal ends nothing.
pub fn reap(workspace: &Workspace, older_than: Option<f64>, caller: &Caller) -> Result<Reaped, Failure> {
    super::mutate::writable(workspace)?;
    let mut reaped = Reaped { released: Vec::new(), failed: Vec::new() };
    for Lapsed { id, .. } in lapsed(workspace, older_than)? {
        let mut lapses = false;
        let plan = |card: &Card, now| {
            let mut plan = Plan::new(caller, Home::LiveWhenOpen);
            if let Some((judged, claim)) = lapse(&Claims::of(workspace, now), card, older_than) {
                lapses = true;
                let (state, hours, by) = (judged.state.name(), &claim["ageHours"], card.holder());
                plan.trail(format!("released (reaped: {state}, {hours}h, was {})", by.unwrap_or_default()));
                plan.changes = ["claimed_by", "claimed_at"].map(Assignment::clear).into();
                if card.status() == Some(DOING) {
                    plan.changes.push(Assignment::text("status", "next"));
                }
            } else {
                plan.home = Home::Stay;
            }
            Ok(plan)
        };
        match mutate(workspace, Target { id: &id, revision: None }, caller, plan, |_| ()) {
            Ok(_) if lapses => reaped.released.push(id),
            Ok(_) => {}
            Err(failure) => reaped.failed.push((id, failure)),
        }
    }
    Ok(reaped)
}

/// A claim that has lapsed, judged, and as it is printed.
fn lapse(claims: &Claims, card: &Card, older_than: Option<f64>) -> Option<(Judged, Json)> {
    let (judged, claim) = claims.judge(card)?;
    let old = |age_ms: i64| older_than.is_none_or(|hours| age_ms as f64 >= hours * 3_600_000.0);
    let lapses = matches!(judged.state, State::Stale | State::Orphaned) && judged.age_ms.is_some_and(old);
    lapses.then_some((judged, claim))
}
