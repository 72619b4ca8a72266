//! Whose a claim is and how alive its holder.
use super::session::Session;
use crate::clock::Time;
use serde_json::Value as Json;

/// The part of a card that its claim is judged by.
#[derive(Clone, Copy, Debug)]
pub struct Held<'a> {
    /// The card's id.
    pub id: &'a str,
    /// `claimed_by`.
    pub by: Option<&'a str>,
    /// `claimed_at`.
    pub at: Option<&'a str>,
}

/// How alive a claim is (`records.md` 8.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Nobody holds the card.
    Unclaimed,
    /// Its session signalled in the last 90 s.
    Live,
    /// Older than the lease.
    Stale,
    /// Its session has been silent for 30 minutes.
    Orphaned,
    /// None of these.
    Held,
}

/// A judged claim.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The state.
    pub state: State,
    /// Milliseconds since `claimed_at`; `None` when that cannot be read.
    pub age_ms: Option<i64>,
    /// The session id of the holder.
    pub session: Option<String>,
}

impl Judged {
    /// `{by, at, ageMs, ageHours, sessionId, state}`, or `{state}` for an unclaimed card.
    pub fn to_json(&self, _claim: Held<'_>) -> Json {
        todo!()
    }
}

/// Judges a claim.
pub fn judge(_claim: Held<'_>, _sessions: &[Session], _lease_hours: f64, _now: Time) -> Judged {
    todo!()
}
