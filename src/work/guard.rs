//! What stands between a caller and a card: the gates of done, and somebody's claim.
//!
//! Each check refuses, or is waived by force; what was waived needs a reason and is named in the trail.

use super::card::Card;
use super::criteria::Reading;
use super::verified::{FORCED, Proof};
use crate::failure::{Code, Failure};
use crate::path::one_line;
use crate::workspace::Cards;
use serde_json::{Value as Json, json};

/// Whether a caller insists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Force {
    /// Guards are final.
    No,
    /// Guards may be passed, with a reason.
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

/// A card on its way into done, as the gates see it.
pub(super) struct Closing<'a> {
    /// Its criteria.
    pub(super) criteria: &'a Reading,
    /// The area it lands in.
    pub(super) area: &'a str,
    /// What is brought as proof.
    pub(super) proof: &'a Proof<'a>,
    /// Which methods an area accepts.
    pub(super) settings: &'a Cards,
}

/// A refusal, and what passing it by force is called.
struct Gate {
    phrase: String,
    failure: Failure,
}

/// One caller before one card. The checks are asked in the order of the command, the reason last.
pub(super) struct Guard<'a> {
    id: &'a str,
    waiver: Waiver<'a>,
    gate: Option<String>,
    claim: Option<String>,
}

impl<'a> Guard<'a> {
    /// Nothing checked yet.
    pub(super) fn new(id: &'a str, waiver: Waiver<'a>) -> Self {
        Self { id, waiver, gate: None, claim: None }
    }

    /// The criteria, and unless those are waived the area's policy.
    pub(super) fn gates(&mut self, closing: &Closing<'_>) -> Result<(), Failure> {
        let gate = criteria(self.id, closing.criteria).or_else(|| policy(self.id, closing));
        self.gate = self.passed(gate)?;
        Ok(())
    }

    /// The card is unclaimed or the actor holds it. Nobody is not the holder.
    pub(super) fn ownership(&mut self, card: &Card, actor: Option<&str>) -> Result<(), Failure> {
        self.claim = self.passed(claim(card, actor))?;
        Ok(())
    }

    fn passed(&self, gate: Option<Gate>) -> Result<Option<String>, Failure> {
        match gate {
            Some(gate) if self.waiver.force == Force::No => Err(gate.failure),
            gate => Ok(gate.map(|gate| gate.phrase)),
        }
    }

    /// What was waived, with the reason that is due then and only then.
    pub(super) fn settle(self) -> Result<Forced, Failure> {
        let waived = joined(&[self.gate.as_deref(), self.claim.as_deref()]);
        let reason = self.waiver.reason();
        if !waived.is_empty() && reason.is_none() {
            let text = format!("passing {waived} on {} by force needs a reason: --reason TEXT", self.id);
            return Err(Failure::new(Code::CARD_FORCE_REASON_REQUIRED, text));
        }
        Ok(Forced { gate: self.gate, claim: self.claim, reason: reason.unwrap_or_default() })
    }
}

/// What was passed by force, and why; made only by [`Guard::settle`].
#[derive(Clone, Debug)]
pub(super) struct Forced {
    gate: Option<String>,
    claim: Option<String>,
    reason: String,
}

impl Forced {
    /// The gate of done that was waived.
    pub(super) fn gate(&self) -> Option<&str> {
        self.gate.as_deref()
    }

    /// What the trail line of a move ends in when the claim has a line of its own.
    pub(super) fn on_move(&self) -> String {
        self.suffix(&[self.gate()])
    }

    /// What the trail line of a claim ends in when the move has a line of its own.
    pub(super) fn on_claim(&self) -> String {
        self.suffix(&[self.claim.as_deref()])
    }

    /// What the only trail line ends in.
    pub(super) fn on_both(&self) -> String {
        self.suffix(&[self.gate(), self.claim.as_deref()])
    }

    fn suffix(&self, waived: &[Option<&str>]) -> String {
        match joined(waived) {
            waived if waived.is_empty() => waived,
            waived => format!(" (forced past {waived}: {})", self.reason),
        }
    }
}

/// `a`, `a and b`, `a, b and c`.
fn joined(waived: &[Option<&str>]) -> String {
    let phrases: Vec<&str> = waived.iter().flatten().copied().collect();
    match phrases.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Criteria that are open, or boxes that nobody can address.
fn criteria(id: &str, reading: &Reading) -> Option<Gate> {
    let open: Vec<_> = reading.unchecked().collect();
    if !open.is_empty() {
        let phrase = counted(open.len(), "unproven criterion", "unproven criteria");
        let list: Vec<String> = open.iter().map(|item| format!("#{} {}", item.index, item.text)).collect();
        let text = format!("{id} has {phrase}: {}", list.join(", "));
        let unchecked: Vec<Json> =
            open.iter().map(|item| json!({"index": item.index, "text": item.text})).collect();
        let failure = Failure::new(Code::CARD_ACCEPTANCE_UNMET, text).with("id", id);
        return Some(Gate {
            phrase,
            failure: failure.with("unchecked", unchecked).remedy(format!("workfile card ac {id}")),
        });
    }
    let lost: Vec<&str> = reading.unreadable().map(|item| item.text.as_str()).collect();
    if lost.is_empty() {
        return None;
    }
    let phrase = counted(lost.len(), "unreadable checklist item", "unreadable checklist items");
    let text = format!(
        "{id} has {phrase} and no heading `## Acceptance criteria` above to make them count: {}",
        lost.join(", ")
    );
    let unreadable: Vec<Json> = lost.iter().map(|text| json!({"text": text})).collect();
    let failure = Failure::new(Code::CARD_ACCEPTANCE_UNREADABLE, text).with("id", id);
    Some(Gate {
        phrase,
        failure: failure.with("unreadable", unreadable).remedy(format!("workfile card show {id}")),
    })
}

/// A method that the area does not accept.
fn policy(id: &str, closing: &Closing<'_>) -> Option<Gate> {
    let (area, method) = (closing.area, closing.proof.method());
    // Nobody may name it, whatever an area accepts; the proof refuses it in its own words.
    if method == FORCED {
        return None;
    }
    let accepted = accepted_methods(area, closing.settings)?;
    if accepted.iter().any(|known| known == method) {
        return None;
    }
    let text = format!(
        "{area} does not accept {id} as verified by the method {method}; accepted: {}",
        accepted.join(", ")
    );
    let failure = Failure::new(Code::CARD_VERIFICATION_METHOD_REFUSED, text).with("id", id);
    let failure = failure.with("area", area).with("method", method).with("accepted", accepted);
    Some(Gate { phrase: format!("{area}'s verification policy"), failure })
}

/// The methods that an area accepts; `None` when it accepts every one.
pub fn accepted_methods<'a>(area: &str, settings: &'a Cards) -> Option<&'a [String]> {
    let of = |wanted: &str| settings.methods.iter().find(|(area, _)| area == wanted);
    of(area).or_else(|| of("*")).map(|(_, methods)| methods.as_slice())
}

fn claim(card: &Card, actor: Option<&str>) -> Option<Gate> {
    let holder = card.holder().filter(|holder| actor != Some(holder))?;
    let id = &card.id;
    let text = format!("{id} is claimed by {holder}, not by {}", actor.unwrap_or("whoever asks"));
    let failure = Failure::new(Code::CARD_CLAIM_OWNER_MISMATCH, text).with("id", id.clone());
    let failure = failure.with("claimedBy", holder).remedy(format!("workfile card show {id}"));
    Some(Gate { phrase: format!("{holder}'s claim"), failure })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::criteria;
    use crate::work::testing::{card, settings};

    fn force(reason: Option<&str>) -> Waiver<'_> {
        Waiver { force: Force::Yes, reason }
    }

    #[test]
    fn a_claim_is_passed_by_its_holder_and_by_force_with_a_reason() {
        let held = card("T-0001", "claimed_by: ben");
        let suffix = |actor, waiver| {
            let mut guard = Guard::new("T-0001", waiver);
            guard.ownership(&held, actor)?;
            guard.settle().map(|forced| forced.on_both())
        };
        let code = |actor, waiver| suffix(actor, waiver).map_err(|failure: Failure| failure.code);
        assert_eq!(code(Some("ben"), Waiver::NONE).unwrap(), "");
        assert_eq!(code(Some("ann"), Waiver::NONE).unwrap_err(), Code::CARD_CLAIM_OWNER_MISMATCH);
        assert_eq!(code(None, Waiver::NONE).unwrap_err(), Code::CARD_CLAIM_OWNER_MISMATCH);
        assert_eq!(code(Some("ann"), force(Some(" \n"))).unwrap_err(), Code::CARD_FORCE_REASON_REQUIRED);
        let forced = code(Some("ann"), force(Some(" he\n left "))).unwrap();
        assert_eq!(forced, " (forced past ben's claim: he left)");
        assert_eq!(code(Some("ben"), force(None)).unwrap(), "", "nothing was waived");
    }

    fn refusal(body: &str, method: Option<&str>, waiver: Waiver<'_>) -> Result<Forced, Failure> {
        let mut settings = settings();
        settings.methods = vec![
            ("*".to_owned(), vec!["manual".to_owned()]),
            ("core".to_owned(), vec!["ci".to_owned(), "local".to_owned()]),
            ("toString".to_owned(), vec!["ci".to_owned()]),
        ];
        let area = if body.contains("elsewhere") { "toString" } else { "core" };
        let proof = Proof { method, ..Proof::NONE };
        let criteria = criteria::read(body);
        let closing = Closing { criteria: &criteria, area, proof: &proof, settings: &settings };
        let mut guard = Guard::new("T-0001", waiver);
        guard.gates(&closing)?;
        guard.settle()
    }

    #[test]
    fn each_gate_has_its_code_and_its_phrase() {
        let open = "## Acceptance\n- [x] a\n- [ ] b\n- [ ] c";
        let lost = "- [ ] b";
        for (body, method, code, phrase) in [
            (open, None, "CARD_ACCEPTANCE_UNMET", "2 unproven criteria"),
            ("## Acceptance\n- [ ] b", Some("manual"), "CARD_ACCEPTANCE_UNMET", "1 unproven criterion"),
            (lost, None, "CARD_ACCEPTANCE_UNREADABLE", "1 unreadable checklist item"),
            ("- [ ] a\n- [ ] b", None, "CARD_ACCEPTANCE_UNREADABLE", "2 unreadable checklist items"),
            ("", Some("manual"), "CARD_VERIFICATION_METHOD_REFUSED", "core's verification policy"),
            ("elsewhere", None, "CARD_VERIFICATION_METHOD_REFUSED", "toString's verification policy"),
        ] {
            assert_eq!(refusal(body, method, Waiver::NONE).unwrap_err().code.name, code, "{body}");
            assert_eq!(
                refusal(body, method, force(None)).unwrap_err().code,
                Code::CARD_FORCE_REASON_REQUIRED
            );
            let forced = refusal(body, method, force(Some("r"))).unwrap();
            assert_eq!(forced.on_move(), format!(" (forced past {phrase}: r)"));
            assert_eq!(forced.on_claim(), "");
        }
        for body in ["", "## Acceptance\n- [x] a\n\n## More\n- [ ] b", "## Acceptance", "- [x] a"] {
            assert_eq!(refusal(body, None, force(None)).unwrap().gate(), None, "{body}");
        }
    }

    #[test]
    fn phrases_are_joined_as_a_sentence_would() {
        assert_eq!(joined(&[None]), "");
        assert_eq!(joined(&[Some("a"), None]), "a");
        assert_eq!(joined(&[Some("a"), Some("b")]), "a and b");
        assert_eq!(joined(&[Some("a"), Some("b"), Some("c")]), "a, b and c");
    }
}
