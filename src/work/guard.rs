//! What stands between a caller and a card: somebody's claim, and closing.

use super::card::Card;
use super::fields::{DONE, REVIEW};
use crate::failure::{Code, Failure};
use crate::path::one_line;

/// Whether a caller insists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Force {
    /// Guards are final.
    No,
    /// Somebody's claim may be passed, with a reason.
    Yes,
}

/// What a caller brings against a guard.
#[derive(Clone, Copy, Debug)]
pub struct Waiver<'a> {
    /// Whether the caller insists.
    pub force: Force,
    /// Why.
    pub reason: Option<&'a str>,
}

impl Waiver<'_> {
    /// Nothing: every guard is final.
    pub const NONE: Waiver<'static> = Waiver { force: Force::No, reason: None };

    /// The reason on one line; `None` when there is none.
    pub(super) fn reason(&self) -> Option<String> {
        self.reason.map(one_line).filter(|reason| !reason.is_empty())
    }
}

/// What was passed by force, and why; made only by [`ownership`].
#[derive(Clone, Debug)]
pub(super) struct Forced {
    holder: String,
    reason: String,
}

impl Forced {
    /// What a trail line ends in.
    pub(super) fn suffix(&self) -> String {
        format!(" (forced past {}'s claim: {})", self.holder, self.reason)
    }
}

/// The card is unclaimed or the actor holds it; else `CARD_CLAIM_OWNER_MISMATCH`, or the claim is waived by force.
/// Nobody is not the holder.
pub(super) fn ownership(
    card: &Card,
    actor: Option<&str>,
    waiver: &Waiver<'_>,
) -> Result<Option<Forced>, Failure> {
    let Some(holder) = card.holder().filter(|holder| actor != Some(holder)) else { return Ok(None) };
    let id = &card.id;
    if waiver.force == Force::No {
        let text = format!("{id} is claimed by {holder}, not by {}", actor.unwrap_or("whoever asks"));
        let failure = Failure::new(Code::CARD_CLAIM_OWNER_MISMATCH, text).with("id", id.clone());
        return Err(failure.with("claimedBy", holder).remedy(format!("workfile card show {id}")));
    }
    let Some(reason) = waiver.reason() else {
        let text = format!("passing {holder}'s claim on {id} by force needs a --reason");
        return Err(Failure::new(Code::CARD_FORCE_REASON_REQUIRED, text));
    };
    Ok(Some(Forced { holder: holder.to_owned(), reason }))
}

/// Refuses a move into done: what proves a card done cannot be judged yet.
pub(super) fn close(id: &str, from: Option<&str>, to: &str) -> Result<(), Failure> {
    if to != DONE || from == Some(DONE) {
        return Ok(());
    }
    let text = format!("this version cannot close cards yet, so {id} is not moved to {DONE}");
    let failure = Failure::new(Code::CARD_CLOSE_UNSUPPORTED, text);
    Err(match from {
        Some(from) if from != REVIEW => failure.remedy(format!("workfile card transition {id} {REVIEW}")),
        _ => failure,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::testing::card;

    #[test]
    fn a_claim_is_passed_by_its_holder_and_by_force_with_a_reason() {
        let held = card("T-0001", "claimed_by: ben");
        let code =
            |actor, waiver: Waiver<'_>| ownership(&held, actor, &waiver).map_err(|failure| failure.code);
        assert!(code(Some("ben"), Waiver::NONE).unwrap().is_none());
        assert_eq!(code(Some("ann"), Waiver::NONE).unwrap_err(), Code::CARD_CLAIM_OWNER_MISMATCH);
        assert_eq!(code(None, Waiver::NONE).unwrap_err(), Code::CARD_CLAIM_OWNER_MISMATCH);
        let force = |reason| Waiver { force: Force::Yes, reason };
        assert_eq!(code(Some("ann"), force(Some(" \n"))).unwrap_err(), Code::CARD_FORCE_REASON_REQUIRED);
        let forced = code(Some("ann"), force(Some(" he\n left "))).unwrap().unwrap();
        assert_eq!(forced.suffix(), " (forced past ben's claim: he left)");
        assert!(code(Some("ben"), force(None)).unwrap().is_none(), "nothing was waived");
        assert!(ownership(&card("T-0002", "title: x"), None, &Waiver::NONE).unwrap().is_none());
    }

    #[test]
    fn only_the_way_into_done_is_closed() {
        assert_eq!(close("T-0001", Some("review"), "done").unwrap_err().code, Code::CARD_CLOSE_UNSUPPORTED);
        assert_eq!(close("T-0001", None, "done").unwrap_err().code, Code::CARD_CLOSE_UNSUPPORTED);
        assert!(close("T-0001", Some("done"), "done").is_ok());
        assert!(close("T-0001", Some("done"), "review").is_ok());
    }
}
