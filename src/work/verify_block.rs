//! The `verify` block: which commands prove which criteria.
//!
//! A card can arrive as a file from anywhere, so a command runs only when the configuration declares how it begins.

use super::criteria::Item as Criterion;
use super::fields::VERIFY;
use crate::failure::{Code, Failure};
use crate::record::{Header, Item, Value, is_digest};
use serde_json::{Map, Value as Json, json};
use std::collections::HashSet;

/// One entry of a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name on the card.
    pub id: String,
    /// The command, word by word.
    pub run: Vec<String>,
    /// Digests of the criteria that the command proves.
    pub criteria: Vec<String>,
}

/// The entries of a header as far as they can be read; [`check`] says what is wrong with the others.
pub fn entries(header: &Header) -> Vec<Entry> {
    let Some(Value::Records(records)) = header.get(VERIFY) else { return Vec::new() };
    let entry = |record: &Vec<(String, Item)>| {
        let item = |key: &str| record.iter().find(|(name, _)| name == key).map(|(_, item)| item);
        let list = |key: &str| match item(key) {
            Some(Item::List(texts)) => texts.clone(),
            _ => Vec::new(),
        };
        match item("id") {
            Some(Item::Text(id)) => {
                Some(Entry { id: id.clone(), run: list("run"), criteria: list("criteria") })
            }
            _ => None,
        }
    };
    records.iter().filter_map(entry).collect()
}

/// The entry that a criterion belongs to: the last one that lists its digest. Equal criteria belong together.
pub fn owner<'a>(entries: &'a [Entry], criterion: &Criterion) -> Option<&'a Entry> {
    let digest = criterion.digest();
    entries.iter().rev().find(|entry| entry.criteria.contains(&digest))
}

/// Checks entries, sent or stored: their shape, their ids, their commands against the declared prefixes.
pub fn check(entries: &Json, declared: &[Vec<String>]) -> Result<(), Failure> {
    let mut ids = HashSet::new();
    for entry in objects(entries)? {
        let id = entry.get("id").unwrap_or(&Json::Null);
        keys(entry)?;
        let name = id.as_str().filter(|id| is_id(id));
        let Some(name) = name else {
            let text = format!("a verify entry has the id {id}; wanted are a-z, 0-9 and -, not - first");
            return Err(refused(Code::CARD_VERIFY_ID_INVALID, text, id.clone()));
        };
        if !ids.insert(name) {
            let text = format!("two verify entries have the id {name}");
            return Err(refused(Code::CARD_VERIFY_ID_DUPLICATE, text, name));
        }
        command(entry, name, declared)?;
        digests(entry, name)?;
    }
    Ok(())
}

/// Refuses bindings to criteria that the card does not have.
pub fn check_bindings(entries: &Json, criteria: &[Criterion]) -> Result<(), Failure> {
    let known: HashSet<String> = criteria.iter().map(Criterion::digest).collect();
    let mut unknown = Vec::new();
    for entry in objects(entries)? {
        let digests = entry.get("criteria").and_then(Json::as_array).into_iter().flatten();
        for digest in digests.filter_map(Json::as_str).filter(|digest| !known.contains(*digest)) {
            unknown.push(json!({"entry": entry.get("id"), "digest": digest}));
        }
    }
    if unknown.is_empty() {
        return Ok(());
    }
    let text = format!("{} verify bindings belong to no criterion of the card", unknown.len());
    Err(Failure::new(Code::CARD_VERIFY_CRITERION_UNKNOWN, text).with("bindings", unknown))
}

/// Whether a text can be a word of a command.
pub fn is_word(text: &str) -> bool {
    !text.is_empty() && !text.contains(|c: char| c.is_ascii_control())
}

/// Whether a command begins with a declared prefix, element by element and byte for byte.
pub fn is_allowed(argv: &[&str], declared: &[Vec<String>]) -> bool {
    declared.iter().any(|prefix| {
        prefix.len() <= argv.len() && prefix.iter().zip(argv).all(|(wanted, found)| wanted == found)
    })
}

/// Checked entries as the header holds them.
pub(super) fn to_value(entries: &Json) -> Value {
    let item = |value: &Json| match value {
        Json::String(text) => Some(Item::Text(text.clone())),
        Json::Array(items) if !items.is_empty() => {
            Some(Item::List(items.iter().filter_map(Json::as_str).map(str::to_owned).collect()))
        }
        _ => None,
    };
    let record = |entry: &Json| {
        let fields = entry.as_object().into_iter().flatten();
        fields.filter_map(|(key, value)| Some((key.clone(), item(value)?))).collect()
    };
    Value::Records(entries.as_array().into_iter().flatten().map(record).collect())
}

fn objects(entries: &Json) -> Result<Vec<&Map<String, Json>>, Failure> {
    let objects = entries.as_array().and_then(|list| list.iter().map(Json::as_object).collect());
    objects.ok_or_else(|| {
        Failure::new(
            Code::CARD_VERIFY_INVALID,
            "`verify` is not a list of entries with `id`, `run` and `criteria`",
        )
    })
}

fn keys(entry: &Map<String, Json>) -> Result<(), Failure> {
    let known = ["id", "run", "criteria"];
    let unknown: Vec<&str> = entry.keys().map(String::as_str).filter(|key| !known.contains(key)).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let text = format!("a verify entry has no {}; it has id, run and criteria", unknown.join(", "));
    Err(Failure::new(Code::CARD_VERIFY_KEY_UNKNOWN, text).with("keys", unknown))
}

fn command(entry: &Map<String, Json>, id: &str, declared: &[Vec<String>]) -> Result<(), Failure> {
    let run = entry.get("run").unwrap_or(&Json::Null);
    if run.is_null() || run.as_array().is_some_and(Vec::is_empty) {
        let text = format!("the verify entry {id} has no command in `run`");
        return Err(refused(Code::CARD_VERIFY_RUN_REQUIRED, text, id));
    }
    let argv: Option<Vec<&str>> = run.as_array().and_then(|list| list.iter().map(Json::as_str).collect());
    let Some(argv) = argv.filter(|argv| argv.iter().all(|word| is_word(word))) else {
        let text = format!("`run` of the verify entry {id} is not a list of words; no shell reads it");
        return Err(refused(Code::CARD_VERIFY_RUN_INVALID, text, id).with("run", run.clone()));
    };
    if is_allowed(&argv, declared) {
        return Ok(());
    }
    let text = format!(
        "the verify entry {id} runs `{}`, which begins with no command of cards.verification.commands",
        argv.join(" ")
    );
    let failure = refused(Code::CARD_VERIFY_COMMAND_NOT_ALLOWED, text, id);
    Err(failure.with("run", run.clone()).with("declared", json!(declared)))
}

fn digests(entry: &Map<String, Json>, id: &str) -> Result<(), Failure> {
    let list = match entry.get("criteria") {
        None | Some(Json::Null) => return Ok(()),
        Some(Json::Array(list)) => list,
        Some(_) => {
            let text = format!("`criteria` of the verify entry {id} is not a list of digests");
            return Err(refused(Code::CARD_VERIFY_CRITERIA_INVALID, text, id));
        }
    };
    for digest in list {
        if !digest.as_str().is_some_and(is_digest) {
            let text =
                format!("`criteria` of the verify entry {id} holds {digest}, which is no sha256 digest");
            return Err(refused(Code::CARD_VERIFY_DIGEST_INVALID, text, id).with("digest", digest.clone()));
        }
    }
    Ok(())
}

fn refused(code: Code, text: String, id: impl Into<Json>) -> Failure {
    Failure::new(code, text).with("id", id.into())
}

fn is_id(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    text.bytes().next().is_some_and(plain) && text.bytes().all(|byte| plain(byte) || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::criteria;
    use crate::work::testing::card;

    fn declared() -> Vec<Vec<String>> {
        vec![vec!["make".to_owned(), "check".to_owned()]]
    }

    fn code(entries: &Json) -> &'static str {
        check(entries, &declared()).map_or_else(|failure| failure.code.name, |()| "fine")
    }

    #[test]
    fn each_check_has_its_code() {
        let run = json!(["make", "check", "-q"]);
        for (entries, wanted) in [
            (json!([{"id": "a", "run": run}]), "fine"),
            (json!([{"id": "a", "run": run, "criteria": null}]), "fine"),
            (json!("x"), "CARD_VERIFY_INVALID"),
            (json!(["x"]), "CARD_VERIFY_INVALID"),
            (json!([{"id": "a", "run": run, "shell": "yes"}]), "CARD_VERIFY_KEY_UNKNOWN"),
            (json!([{"run": run}]), "CARD_VERIFY_ID_INVALID"),
            (json!([{"id": "-a", "run": run}]), "CARD_VERIFY_ID_INVALID"),
            (json!([{"id": 1, "run": run}]), "CARD_VERIFY_ID_INVALID"),
            (json!([{"id": "a", "run": run}, {"id": "a", "run": run}]), "CARD_VERIFY_ID_DUPLICATE"),
            (json!([{"id": "a"}]), "CARD_VERIFY_RUN_REQUIRED"),
            (json!([{"id": "a", "run": []}]), "CARD_VERIFY_RUN_REQUIRED"),
            (json!([{"id": "a", "run": "make check"}]), "CARD_VERIFY_RUN_INVALID"),
            (json!([{"id": "a", "run": ["make", "check", ""]}]), "CARD_VERIFY_RUN_INVALID"),
            (json!([{"id": "a", "run": ["make", "check", "a\nb"]}]), "CARD_VERIFY_RUN_INVALID"),
            (json!([{"id": "a", "run": ["sh", "-c", "true"]}]), "CARD_VERIFY_COMMAND_NOT_ALLOWED"),
            (json!([{"id": "a", "run": run, "criteria": "sha256:0"}]), "CARD_VERIFY_CRITERIA_INVALID"),
            (json!([{"id": "a", "run": run, "criteria": ["sha256:0"]}]), "CARD_VERIFY_DIGEST_INVALID"),
        ] {
            assert_eq!(code(&entries), wanted, "{entries}");
        }
        assert_eq!(
            check(&json!([{"id": "a", "run": run}]), &[]).unwrap_err().code,
            Code::CARD_VERIFY_COMMAND_NOT_ALLOWED,
            "nothing declared, nothing may run"
        );
    }

    #[test]
    fn commands_are_matched_as_recorded() {
        let cases: Vec<Json> =
            serde_json::from_str(include_str!("../../tests/golden/vectors/command-allowed.json")).unwrap();
        for case in cases {
            let allowed: Vec<Vec<String>> = serde_json::from_value(case["allowed"].clone()).unwrap();
            let argv: Vec<&str> =
                case["argv"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
            assert_eq!(Json::from(is_allowed(&argv, &allowed)), case["ok"], "{case}");
        }
    }

    #[test]
    fn equal_criteria_belong_to_the_last_entry_that_lists_them() {
        let digest = criteria::digest("it holds");
        let block =
            |id: &str| format!("  - id: {id}\n    run: [make, check]\n    criteria: [\"{digest}\"]\n");
        let other = "  - id: c\n    run: [make]\n";
        let card = card("T-0001", &format!("verify:\n{}{}{other}", block("a"), block("b")));
        let entries = entries(&card.header);
        assert_eq!(entries.iter().map(|entry| &*entry.id).collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!((&*entries[2].run, &*entries[2].criteria), (&["make".to_owned()][..], &[][..]));
        let reading = criteria::read("## Acceptance\n- [ ] it   holds\n- [ ] free\n- [x] it holds");
        let owners = reading.items.iter().map(|item| owner(&entries, item).map(|entry| &*entry.id));
        assert_eq!(owners.collect::<Vec<_>>(), [Some("b"), None, Some("b")]);
    }

    #[test]
    fn what_is_no_list_of_entries_has_none() {
        for header in
            ["x: y", "verify: x", "verify: []", "verify:\n  - id: a", "verify:\n  id: a\n  run: [b]"]
        {
            assert_eq!(entries(&card("T-0001", header).header), [], "{header}");
        }
    }

    #[test]
    fn a_binding_needs_its_criterion() {
        let criteria = criteria::read("## Acceptance\n- [ ] it   holds").items;
        let good = criteria::digest("it holds");
        let entries = json!([{"id": "a", "run": ["make", "check"], "criteria": [good]}]);
        assert!(check_bindings(&entries, &criteria).is_ok());
        let failure = check_bindings(&entries, &[]).unwrap_err();
        assert_eq!(failure.details["bindings"], json!([{"entry": "a", "digest": good}]));
    }

    #[test]
    fn entries_are_written_as_they_were_sent_without_what_is_empty() {
        let value = to_value(&json!([{"id": "a", "run": ["make", "check"], "criteria": []}]));
        let Value::Records(records) = value else { panic!("{value:?}") };
        assert_eq!(records[0].len(), 2);
        assert_eq!(records[0][0], ("id".to_owned(), Item::Text("a".to_owned())));
    }
}
