//! Archive and reopen: closed cards are put away, and come back open.

use super::card::Card;
use super::fields::is_open;
use super::guard::Waiver;
use super::mutate::{Caller, Target, mutate};
use super::plan::{Home, Plan};
use super::transition::{Transition, transition};
use super::verified::Proof;
use crate::failure::{Code, Failure};
use crate::workspace::Workspace;

/// Where a card is reopened to without another status.
pub const REOPENED: &str = "backlog";

/// Puts a closed card into the archive, under the path it has among the others. One that is there stays as it is.
pub fn archive(workspace: &Workspace, target: Target<'_>, caller: &Caller) -> Result<Card, Failure> {
    let plan = |card: &Card, _| {
        if card.is_open() {
            let status = card.status().unwrap_or("no status");
            let text = format!("{} is in {status}; only cards in done or discarded are archived", card.id);
            let failure = Failure::new(Code::CARD_ARCHIVE_STATUS_INVALID, text);
            return Err(failure.remedy(format!("workfile card transition {} done", card.id)));
        }
        let mut plan = Plan::new(caller, Home::Archive);
        if !card.is_archived() {
            plan.trail("archived");
        }
        Ok(plan)
    };
    mutate(workspace, target, caller, plan, |_| ()).map(|(card, ())| card)
}

/// Opens a card again: a transition to an open status, whatever the card is in.
pub fn reopen(
    workspace: &Workspace,
    target: Target<'_>,
    status: &str,
    caller: &Caller,
) -> Result<Card, Failure> {
    if !is_open(status) {
        let text = format!("{} cannot be reopened into {status}", target.id);
        let failure = Failure::new(Code::CARD_REOPEN_STATUS_INVALID, text);
        return Err(failure.remedy(format!("workfile card reopen {}", target.id)));
    }
    let (waiver, proof) = (Waiver::NONE, Proof::NONE);
    let asked = Transition { target, status, scope: None, waiver, proof };
    transition(workspace, asked, caller).map(|moved| moved.card)
}
