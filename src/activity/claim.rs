//! Whose a claim is, which session stands behind it, and how alive that is: derived here and nowhere else.

use super::actor::disc;
use super::session::Session;
use crate::clock::Time;
use serde_json::{Map, Value as Json};
use std::cell::OnceCell;

/// A session that signalled within this time is live, in milliseconds.
const LIVE_MS: i64 = 90_000;
/// A session that has been silent for longer leaves its claims orphaned, in milliseconds.
const ORPHANED_MS: i64 = 1_800_000;
/// The lease where no configuration says another, in hours.
pub const LEASE_HOURS: f64 = 24.0;

/// The part of a card that its claim is judged by.
#[derive(Clone, Copy, Debug)]
pub struct Held<'a> {
    /// The card's id.
    pub id: &'a str,
    /// `claimed_by`.
    pub by: Option<&'a str>,
    /// `claimed_at`.
    pub at: Option<&'a str>,
    /// The discriminator of the holder's session, when the board knows it.
    pub session: Option<&'a str>,
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
    /// Its session has been silent for 30 minutes, and the claim is as old.
    Orphaned,
    /// None of these.
    Held,
}

impl State {
    /// As it is printed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unclaimed => "unclaimed",
            Self::Live => "live",
            Self::Stale => "stale",
            Self::Orphaned => "orphaned",
            Self::Held => "held",
        }
    }
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
    /// Milliseconds since that session's last signal.
    pub silent_ms: Option<i64>,
}

impl Judged {
    /// `{by, at, ageMs, ageHours, sessionId, state}`, or `{state}` for an unclaimed card.
    pub fn to_json(&self, claim: Held<'_>) -> Json {
        let mut map = Map::new();
        if self.state != State::Unclaimed {
            let hours = self.age_ms.map(|age| (age as f64 / 36_000.0).round() / 100.0);
            map.insert("by".to_owned(), claim.by.into());
            map.insert("at".to_owned(), claim.at.into());
            map.insert("ageMs".to_owned(), self.age_ms.into());
            map.insert("ageHours".to_owned(), hours.map_or(Json::Null, short_number));
            map.insert("sessionId".to_owned(), self.session.clone().into());
        }
        map.insert("state".to_owned(), self.state.name().into());
        Json::Object(map)
    }
}

/// A whole number without a fraction, as every JSON writer of the format has it.
fn short_number(number: f64) -> Json {
    if number.fract() == 0.0 { Json::from(number as i64) } else { Json::from(number) }
}

/// Judges a claim. `sessions` are all session files, the latest signal first.
pub fn judge(claim: Held<'_>, sessions: &[Session], lease_hours: f64, now: Time) -> Judged {
    let Some(by) = claim.by else {
        return Judged { state: State::Unclaimed, age_ms: None, session: None, silent_ms: None };
    };
    let wanted = claim.session.map(str::to_owned).or_else(|| session_of(claim, by, sessions));
    let holder = sessions.iter().find(|session| wanted.is_some() && session.disc() == wanted);
    let age_ms = claim.at.and_then(Time::parse).map(|at| now.since(at));
    let silent_ms = holder.and_then(Session::last_signal).map(|at| now.since(at));
    let old = |age: Option<i64>, limit: i64| age.is_some_and(|age| age > limit);
    let state = if silent_ms.is_some_and(|silent| silent <= LIVE_MS) {
        State::Live
    } else if age_ms.is_some_and(|age| age as f64 >= lease_hours * 3_600_000.0) {
        State::Stale
    } else if old(silent_ms, ORPHANED_MS) && old(age_ms, ORPHANED_MS) {
        State::Orphaned
    } else {
        State::Held
    };
    Judged { state, age_ms, session: holder.map(|session| session.id.clone()), silent_ms }
}

/// The discriminator of the session behind a claim that the board does not know one of (`hooks.md` 6.2).
pub fn session_of(claim: Held<'_>, by: &str, sessions: &[Session]) -> Option<String> {
    if let Some(found) = sessions.iter().find(|session| session.card.as_deref() == Some(claim.id)) {
        return found.disc();
    }
    if let Some((_, tail)) = by.rsplit_once('#')
        && !tail.is_empty()
        && tail.bytes().all(|byte| byte.is_ascii_alphanumeric())
    {
        return disc(tail);
    }
    let named = || sessions.iter().filter(|session| session.actor.as_deref() == Some(by));
    if named().count() > 1 {
        let since = claim.at.and_then(Time::parse)?;
        let mut early = named().filter(|session| session.started().is_some_and(|started| started <= since));
        return early.next().filter(|_| early.next().is_none())?.disc();
    }
    named().next()?.disc()
}

/// Who is asking, as a claim sees it.
pub struct Me {
    disc: Option<String>,
    derive: fn(Option<&str>) -> Option<String>,
    session: Option<String>,
    actor: OnceCell<Option<String>>,
}

impl Me {
    /// A session, with the way its actor is found if a claim makes that necessary.
    pub fn new(session: Option<&str>, derive: fn(Option<&str>) -> Option<String>) -> Self {
        let session = session.map(str::to_owned);
        Self { disc: session.as_deref().and_then(disc), derive, session, actor: OnceCell::new() }
    }

    /// The session's discriminator.
    pub fn disc(&self) -> Option<&str> {
        self.disc.as_deref()
    }

    /// The actor.
    pub fn actor(&self) -> Option<&str> {
        self.actor.get_or_init(|| (self.derive)(self.session.as_deref())).as_deref()
    }

    /// Whether a claim is this session's (`hooks.md` 5.1). `continued` are the discriminators that it continues.
    pub fn holds(&self, theirs: Option<&str>, by: &str, continued: &[String]) -> bool {
        match (theirs, self.disc()) {
            (Some(theirs), Some(me)) => theirs == me || continued.iter().any(|earlier| earlier == theirs),
            (None, _) => self.actor() == Some(by),
            (Some(_), None) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(id: &str, actor: &str, card: Option<&str>, started: &str) -> Session {
        Session {
            id: id.into(),
            actor: Some(actor.into()),
            card: card.map(Into::into),
            started_at: Some(started.into()),
            ..Session::default()
        }
    }

    #[test]
    fn the_session_of_a_claim_is_the_first_hit() {
        let early = session("aaaa1111-x", "ann", None, "2026-01-01T00:00:00Z");
        let late = session("bbbb2222-x", "ann", None, "2026-01-01T02:00:00Z");
        let on_card = session("cccc3333-x", "ben", Some("T-1"), "2026-01-01T00:00:00Z");
        let held = Held { id: "T-1", by: Some("ann"), at: Some("2026-01-01T01:00:00Z"), session: None };
        let of = |held: Held<'_>, all: &[Session]| session_of(held, held.by.unwrap(), all);
        assert_eq!(of(held, &[]), None);
        assert_eq!(of(held, std::slice::from_ref(&late)).as_deref(), Some("bbbb2222"));
        assert_eq!(of(held, &[late.clone(), early.clone()]).as_deref(), Some("aaaa1111"));
        assert_eq!(of(Held { at: Some("2026-01-01T03:00:00Z"), ..held }, &[late, early.clone()]), None);
        assert_eq!(of(held, &[early.clone(), on_card]).as_deref(), Some("cccc3333"));
        assert_eq!(of(Held { by: Some("ann@box#DDDD4444"), ..held }, &[early]).as_deref(), Some("dddd4444"));
    }

    #[test]
    fn a_claim_is_mine_by_session_and_by_configured_name_only() {
        let me = |session: Option<&str>, derive| Me::new(session, derive);
        let ann: fn(Option<&str>) -> Option<String> = |_| Some("ann".to_owned());
        let nobody: fn(Option<&str>) -> Option<String> = |_| None;
        let session = me(Some("AAAA-1111-2222"), ann);
        assert!(session.holds(Some("aaaa1111"), "anyone", &[]));
        assert!(session.holds(Some("bbbb"), "anyone", &["bbbb".to_owned()]));
        assert!(!session.holds(Some("bbbb"), "ann", &[]), "one name, two sessions");
        assert!(session.holds(None, "ann", &[]));
        assert!(!me(None, ann).holds(Some("aaaa1111"), "ann", &[]));
        assert!(me(None, ann).holds(None, "ann", &[]));
        assert!(!me(None, nobody).holds(None, "ann", &[]));
    }

    #[test]
    fn states_follow_silence_and_age() {
        let now = Time::parse("2026-03-04T12:00:00Z").unwrap();
        let state = |claimed: &str, silent_ms: i64| {
            let mut holder = session("s", "ann", None, "2026-03-01T00:00:00Z");
            holder.last_signal_at = Some(now.minus(silent_ms).timestamp());
            let held = Held { id: "T-1", by: Some("ann"), at: Some(claimed), session: None };
            judge(held, &[holder], 24.0, now).state
        };
        assert_eq!(state("2026-03-01T00:00:00Z", LIVE_MS), State::Live);
        assert_eq!(state("2026-03-04T11:00:00Z", LIVE_MS + 1), State::Held);
        assert_eq!(state("2026-03-03T12:00:00Z", LIVE_MS + 1), State::Stale);
        assert_eq!(state("2026-03-04T11:00:00Z", ORPHANED_MS), State::Held);
        assert_eq!(state("2026-03-04T11:00:00Z", ORPHANED_MS + 1), State::Orphaned);
        assert_eq!(state("2026-03-04T11:59:00Z", 9_000_000), State::Held, "a fresh claim is not orphaned");
        assert_eq!(state("2026-03-04T11:00:00Z", -3_600_000), State::Live, "a clock that steps back");
    }
}
