//! How the claims on cards stand at one moment: asked by whoever reaps them and by whoever reports them.

use super::card::Card;
use crate::activity::board::Known;
use crate::activity::claim::{Held, Judged, judge};
use crate::activity::session::{self, Session};
use crate::clock::Time;
use crate::workspace::Workspace;
use serde_json::Value as Json;

/// What claims are judged by.
pub struct Claims {
    sessions: Vec<Session>,
    known: Known,
    lease: f64,
    now: Time,
}

impl Claims {
    /// The sessions and the board of a workspace.
    pub fn of(workspace: &Workspace, now: Time) -> Self {
        let root = &workspace.root;
        let lease = workspace.config.cards.claim_lease_hours;
        Self { sessions: session::all(root), known: Known::of(root), lease, now }
    }

    /// The claim on a card, judged, and as it is printed; `None` for a card that nobody holds.
    pub fn judge(&self, card: &Card) -> Option<(Judged, Json)> {
        let held =
            Held { id: &card.id, by: Some(card.holder()?), at: card.field("claimed_at"), session: None };
        let session = self.known.session(held);
        let held = Held { session: session.as_deref(), ..held };
        let judged = judge(held, &self.sessions, self.lease, self.now);
        let claim = judged.to_json(held);
        Some((judged, claim))
    }
}
