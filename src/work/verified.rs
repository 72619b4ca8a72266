//! The `verified` block: how, when and over which criteria a card was closed.
//!
//! It is written by a close and by nothing else. Its digest says whether the criteria are still those that were verified.

use super::criteria::{self, Item as Criterion};
use super::fields::{DONE, LISTS};
use super::git;
use super::input;
use super::mutate::Caller;
use super::verify_block::{self, Entry};
use crate::clock::Time;
use crate::failure::{Code, Failure};
use crate::path::{one_line, trim};
use crate::record::{self, Item, Value};
use crate::workspace::{METHODS, Workspace};
use serde_json::json;

/// The header key.
pub const KEY: &str = "verified";
/// The method of a close that passed a gate by force: derived, never named.
pub const FORCED: &str = "forced";
/// The method of a close that names none.
const LOCAL: &str = "local";
/// The method of a close by a run of continuous integration.
pub const CI: &str = "ci";
const MANUAL: &str = "manual";
/// The keys of a block, in their order.
const KEYS: [&str; 5] = ["at", "method", "commit", "run", "digest"];

/// What a caller brings to show that a card is done. A blank run or evidence is none.
#[derive(Clone, Copy, Debug)]
pub struct Proof<'a> {
    /// How it was verified: `local`, `ci` or `manual`; without one `local`.
    pub method: Option<&'a str>,
    /// Where the run can be seen.
    pub run: Option<&'a str>,
    /// What somebody saw.
    pub evidence: Option<&'a str>,
    /// The commit that was verified; without it the one that is checked out.
    pub commit: Option<&'a str>,
}

impl Proof<'_> {
    /// Nothing.
    pub const NONE: Proof<'static> = Proof { method: None, run: None, evidence: None, commit: None };

    /// The commit that the block will name when the card goes to `status`: asked for before any lock is taken.
    pub(super) fn commit(&self, workspace: &Workspace, status: Option<&str>) -> Option<String> {
        let given = self.commit.map(str::to_owned);
        status.filter(|status| *status == DONE).and_then(|_| given.or_else(|| git::head(&workspace.root)))
    }

    /// The method that the area's policy judges.
    pub(super) fn method(&self) -> &str {
        self.method.unwrap_or(LOCAL)
    }

    fn run(&self) -> Option<&str> {
        self.run.map(trim).filter(|run| !run.is_empty())
    }

    fn evidence(&self) -> Option<String> {
        self.evidence.map(one_line).filter(|evidence| !evidence.is_empty())
    }

    /// Refuses proof for a write that closes nothing.
    pub(super) fn unused(&self, id: &str) -> Result<(), Failure> {
        let given = [
            ("method", self.method.is_some()),
            ("run", self.run().is_some()),
            ("evidence", self.evidence().is_some()),
        ];
        let supplied: Vec<&str> = given.iter().filter(|(_, given)| *given).map(|(name, _)| *name).collect();
        if supplied.is_empty() {
            return Ok(());
        }
        let text = format!("{} says how {id} was verified, and this does not close it", supplied.join(", "));
        let failure = Failure::new(Code::CARD_VERIFICATION_NOT_APPLICABLE, text).with("id", id);
        Err(failure.with("supplied", supplied))
    }

    /// The close that the proof makes; `gate` is what was passed by force.
    pub(super) fn close(
        &self,
        id: &str,
        gate: Option<&str>,
        caller: &Caller,
        commit: Option<String>,
    ) -> Result<Close, Failure> {
        let refused = |code, text: String| Failure::new(code, text).with("id", id);
        if let Some(method) = self.method {
            let conflict =
                |text: String| refused(Code::CARD_VERIFICATION_METHOD_CONFLICT, text).with("method", method);
            if method == FORCED {
                return Err(conflict(format!(
                    "{FORCED} follows from --force; no method of {id} is named so"
                )));
            }
            if let Some(gate) = gate {
                let text = format!("{id} is not verified by {method} when it is forced past {gate}");
                return Err(conflict(text).with("waived", gate));
            }
            if !METHODS.contains(&method) {
                let text =
                    format!("`{method}` is no way to verify {id}; it is one of {}", METHODS.join(", "));
                let failure = refused(Code::CARD_VERIFICATION_METHOD_INVALID, text);
                return Err(failure.with("value", method).with("allowed", METHODS));
            }
        }
        let method = if gate.is_some() { FORCED } else { self.method() };
        if method == CI && self.run().is_none() {
            let text = format!("verifying {id} by {CI} needs the run: --run URL");
            return Err(refused(Code::CARD_VERIFICATION_RUN_REQUIRED, text));
        }
        if method == MANUAL && self.evidence().is_none() {
            let text = format!("verifying {id} by hand needs what was seen: --evidence TEXT");
            return Err(refused(Code::CARD_VERIFICATION_EVIDENCE_REQUIRED, text));
        }
        if method == MANUAL && caller.actor().is_none() {
            let text = format!("nobody has verified {id} by hand: {}", super::claim::NOBODY);
            return Err(refused(Code::CARD_VERIFICATION_ACTOR_REQUIRED, text));
        }
        let run = self.run().map(|run| input::plain("run", run).map(|()| run.to_owned())).transpose()?;
        Ok(Close { method: method.to_owned(), run, evidence: self.evidence(), commit })
    }
}

/// A close that was found in order.
#[derive(Clone, Debug)]
pub(super) struct Close {
    method: String,
    run: Option<String>,
    evidence: Option<String>,
    commit: Option<String>,
}

impl Close {
    /// The evidence as a line of the notes.
    pub(super) fn note(&self, caller: &Caller, now: Time) -> Option<String> {
        let author = caller.actor().map(|actor| format!(" {actor}")).unwrap_or_default();
        let evidence = self.evidence.as_ref()?;
        Some(format!("- {}{author} — {} verification: {evidence}", now.stamp(), self.method))
    }

    /// The text of a card with the block in it, over the criteria and verify entries that the text holds.
    pub(super) fn sealed(&self, text: &str, now: Time) -> Result<String, Failure> {
        let document = record::read(text, &LISTS)
            .map_err(|problem| Failure::new(Code::RECORD_FRONTMATTER_MISSING, problem.reason()))?;
        let digest = digest(&criteria::read(document.body()).items, &verify_block::entries(&document.header));
        let values = [
            Some(now.timestamp()),
            Some(self.method.clone()),
            self.commit.clone(),
            self.run.clone(),
            Some(digest),
        ];
        let fields = KEYS.iter().zip(values);
        let fields = fields.filter_map(|(key, value)| Some(((*key).to_owned(), Item::Text(value?))));
        let block = Value::Mapping(fields.collect());
        record::patch(text, &[(KEY.to_owned(), Some(block))], &LISTS, None)
    }
}

/// What a block is bound to: the texts of the criteria and the verify entries, whatever their order and their boxes.
pub fn digest(criteria: &[Criterion], entries: &[Entry]) -> String {
    record::digest(canonical(criteria, entries))
}

/// What is digested. The order of the keys is that of the text.
fn canonical(criteria: &[Criterion], entries: &[Entry]) -> String {
    let mut texts: Vec<String> = criteria.iter().map(|item| one_line(&item.text)).collect();
    texts.sort_unstable();
    let mut entries: Vec<&Entry> = entries.iter().collect();
    entries.sort_by(|a, b| a.id.cmp(&b.id));
    let entry = |entry: &&Entry| {
        let mut criteria = entry.criteria.clone();
        criteria.sort_unstable();
        json!({"id": entry.id, "run": entry.run, "criteria": criteria})
    };
    let verify: Vec<_> = entries.iter().map(entry).collect();
    json!({"v": 1, "criteria": texts, "verify": verify}).to_string()
}

/// The text of one key of a block.
pub fn field<'a>(verified: Option<&'a Value>, key: &str) -> Option<&'a str> {
    let Some(Value::Mapping(fields)) = verified else { return None };
    fields.iter().find(|(name, _)| name == key).and_then(|(_, item)| match item {
        Item::Text(text) => Some(text.as_str()),
        Item::List(_) => None,
    })
}

/// What is wrong with a block that a card holds; nothing without one.
pub fn problems(verified: Option<&Value>) -> Vec<String> {
    let fields = match verified {
        None => return Vec::new(),
        Some(Value::Text(text)) if trim(text).is_empty() => return Vec::new(),
        Some(Value::Mapping(fields)) => fields,
        Some(_) => return vec!["it is not a mapping".to_owned()],
    };
    let text = |key: &str| field(verified, key);
    let stands = |key: &str| fields.iter().any(|(name, _)| name == key);
    let mut problems = Vec::new();
    let strangers: Vec<&str> =
        fields.iter().map(|(name, _)| name.as_str()).filter(|name| !KEYS.contains(name)).collect();
    if !strangers.is_empty() {
        problems.push(format!("it has keys that no block has: {}", strangers.join(", ")));
    }
    if !text("at").is_some_and(is_utc) {
        problems.push("`at` is not a UTC timestamp".to_owned());
    }
    let method = text("method");
    if !method.is_some_and(|method| method == FORCED || METHODS.contains(&method)) {
        problems.push(format!("`method` is not one of {}, {FORCED}", METHODS.join(", ")));
    }
    if !text("digest").is_some_and(record::is_digest) {
        problems.push("`digest` is not a sha256 digest".to_owned());
    }
    if stands("commit") && !text("commit").is_some_and(is_commit) {
        problems.push("`commit` is not the id of a commit".to_owned());
    }
    if method == Some(CI) && text("run").is_none_or(|run| trim(run).is_empty()) {
        problems.push(format!("the method is {CI} and there is no `run`"));
    }
    problems
}

fn is_utc(text: &str) -> bool {
    text.ends_with('Z') && Time::parse(text).is_some()
}

/// Whether a text can be the id of a commit: 7 to 64 hex digits, for repositories may use SHA-256.
pub fn is_commit(text: &str) -> bool {
    let hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    (7..=64).contains(&text.len()) && text.bytes().all(hex)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activity::actor::{Identity, Source};
    use crate::work::fields::VERIFY;
    use serde_json::Value as Json;

    fn vectors(text: &str) -> Vec<Json> {
        serde_json::from_str(text).unwrap()
    }

    fn caller(actor: Option<&str>) -> Caller {
        let identity = Identity { actor: actor.map(str::to_owned), source: Source::Argument, session: None };
        Caller { acting: identity.clone(), own: identity }
    }

    #[test]
    fn digests_are_as_recorded() {
        let texts = vectors(include_str!("../../tests/golden/vectors/verified-digest-canonical.json"));
        let text_of = |digest: &Json| texts.iter().find(|case| case["digest"] == *digest);
        for case in vectors(include_str!("../../tests/golden/vectors/verified-digest.json")) {
            let verify = Value::from_json(VERIFY, &case["verify"]).unwrap();
            let header: Vec<_> = verify.map(|verify| (VERIFY.to_owned(), verify)).into_iter().collect();
            let file = record::render(&header, case["body"].as_str().unwrap()).unwrap();
            let document = record::read(&file, &LISTS).unwrap();
            let criteria = criteria::read(document.body()).items;
            let entries = verify_block::entries(&document.header);
            assert_eq!(digest(&criteria, &entries), case["digest"], "{case}");
            if let Some(wanted) = text_of(&case["digest"]) {
                assert_eq!(canonical(&criteria, &entries), wanted["text"]);
            }
        }
    }

    #[test]
    fn problems_are_as_recorded() {
        for case in vectors(include_str!("../../tests/golden/vectors/verified-problems.json")) {
            let block = Value::from_json(KEY, &case["verified"]).unwrap();
            let found = problems(block.as_ref());
            assert_eq!(Json::from(found.len()), case["problems"], "{case}: {found:?}");
        }
    }

    #[test]
    fn h48_a_commit_of_a_sha_256_repository_is_one() {
        for (length, fine) in [(6, false), (7, true), (40, true), (64, true), (65, false)] {
            assert_eq!(is_commit(&"a".repeat(length)), fine, "{length}");
        }
        assert!(!is_commit("ABCDEF12") && !is_commit("abcdefg1"));
    }

    #[test]
    fn each_fault_of_a_proof_has_its_code() {
        let proof = |method, run, evidence| Proof { method, run, evidence, commit: None };
        let ann = caller(Some("ann"));
        let code = |proof: Proof<'_>, gate, by: &Caller| {
            proof.close("T-0001", gate, by, None).map_or_else(|failure| failure.code.name, |_| "fine")
        };
        for (given, gate, wanted) in [
            (Proof::NONE, None, "fine"),
            (Proof::NONE, Some("x"), "fine"),
            (proof(Some("forced"), None, None), None, "CARD_VERIFICATION_METHOD_CONFLICT"),
            (proof(Some("forced"), None, None), Some("x"), "CARD_VERIFICATION_METHOD_CONFLICT"),
            (proof(Some("ci"), Some("u"), None), Some("x"), "CARD_VERIFICATION_METHOD_CONFLICT"),
            (proof(Some("magic"), None, None), None, "CARD_VERIFICATION_METHOD_INVALID"),
            (proof(Some(""), None, None), None, "CARD_VERIFICATION_METHOD_INVALID"),
            (proof(Some("ci"), Some(" "), None), None, "CARD_VERIFICATION_RUN_REQUIRED"),
            (proof(Some("ci"), Some("a\nb"), None), None, "CARD_FIELD_INVALID"),
            (proof(Some("manual"), None, Some("\n")), None, "CARD_VERIFICATION_EVIDENCE_REQUIRED"),
            (proof(Some("manual"), None, Some("seen")), None, "fine"),
        ] {
            assert_eq!(code(given, gate, &ann), wanted, "{given:?}");
        }
        let by_hand = proof(Some("manual"), None, Some("seen"));
        assert_eq!(code(by_hand, None, &caller(None)), "CARD_VERIFICATION_ACTOR_REQUIRED");
        let unused = by_hand.unused("T-0001").unwrap_err();
        assert_eq!(unused.details["supplied"], json!(["method", "evidence"]));
        assert!(proof(None, Some(" "), Some("")).unused("T-0001").is_ok());
    }

    #[test]
    fn a_seal_says_what_it_was_given() {
        let now = Time::parse("2026-03-04T05:06:07.089Z").unwrap();
        let (run, commit) = (Some("https://x".to_owned()), Some("abc1234".to_owned()));
        let close = Close { method: CI.to_owned(), run, evidence: None, commit };
        let text = close.sealed("---\nid: T-0001\n---\n\nBody.\n", now).unwrap();
        let document = record::read(&text, &LISTS).unwrap();
        assert_eq!(problems(document.header.get(KEY)), Vec::<String>::new());
        assert!(text.contains("\n  commit: abc1234\n  run: \"https://x\"\n  digest: \"sha256:"), "{text}");
        assert_eq!(close.note(&caller(None), now), None);
        let seen = Close { evidence: Some("seen".to_owned()), ..close };
        assert_eq!(seen.note(&caller(None), now).unwrap(), "- 2026-03-04 05:06Z — ci verification: seen");
    }
}
