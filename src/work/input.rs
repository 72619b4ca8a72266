//! What a caller sends for a new card or a patch: keys checked against the table, values against their kinds.

use super::fields::{self, Kind, VERIFY};
use super::refusal::unknown_axes;
use super::verify_block;
use crate::activity::actor;
use crate::failure::{Code, Failure};
use crate::path::trim;
use crate::record::{Change, Value};
use crate::workspace::Cards;
use serde_json::{Map, Value as Json};

/// One key that a caller sets.
#[derive(Clone, Debug)]
pub(super) struct Assignment {
    /// The header key.
    pub(super) key: String,
    /// What becomes of it.
    pub(super) new: New,
}

/// What becomes of a key.
#[derive(Clone, Debug)]
pub(super) enum New {
    /// It goes.
    Clear,
    /// It gets a value.
    Set(Value),
    /// The verify entries as they were sent; they are checked as the last thing of the card.
    Verify(Json),
}

impl Assignment {
    /// A key with a text.
    pub(super) fn text(key: &str, value: impl Into<String>) -> Self {
        Self { key: key.to_owned(), new: New::Set(Value::Text(value.into())) }
    }

    /// A key that goes.
    pub(super) fn clear(key: &str) -> Self {
        Self { key: key.to_owned(), new: New::Clear }
    }

    /// A key with a list; an empty one clears it.
    pub(super) fn list(key: &str, items: Vec<String>) -> Self {
        let new = if items.is_empty() { New::Clear } else { New::Set(Value::List(items)) };
        Self { key: key.to_owned(), new }
    }

    /// The change of the header, once verify entries have been checked.
    pub(super) fn settle(self) -> Change {
        let value = match self.new {
            New::Clear => None,
            New::Set(value) => Some(value),
            New::Verify(entries) => Some(verify_block::to_value(&entries)),
        };
        (self.key, value)
    }
}

/// The input of a new card: its fields in the order of the header, and its body.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) fields: Vec<Assignment>,
    pub(super) body: String,
}

/// Reads the input of a new card; empty values are left out.
pub(super) fn draft(input: &Map<String, Json>, settings: &Cards) -> Result<Draft, Failure> {
    let unknown = strangers(input, settings, &["axes", "body"]);
    if !unknown.is_empty() {
        let text = format!("a card has no field {} that a caller can set", unknown.join(", "));
        return Err(Failure::new(Code::CARD_FIELD_UNKNOWN, text).with("fields", unknown));
    }
    let body = match input.get("body") {
        None | Some(Json::Null) => String::new(),
        Some(Json::String(body)) => trim(body).to_owned(),
        Some(_) => return Err(wrong_type("body", "a text")),
    };
    let mut fields = assignments(input, settings)?;
    fields.retain(|field| !matches!(field.new, New::Clear));
    fields.sort_by_key(|field| fields::rank(&field.key, settings));
    Ok(Draft { fields, body })
}

/// Reads the changes of a patch, in their order.
pub(super) fn changes(input: &Json, settings: &Cards) -> Result<Vec<Assignment>, Failure> {
    let Json::Object(input) = input else {
        return Err(Failure::new(Code::CARD_CHANGES_INVALID, "the changes are not a JSON object"));
    };
    if input.is_empty() {
        return Err(Failure::new(Code::CARD_CHANGES_EMPTY, "the changes name no field"));
    }
    let unknown = strangers(input, settings, &["axes"]);
    if !unknown.is_empty() {
        let text = format!("a patch cannot change {}", unknown.join(", "));
        return Err(Failure::new(Code::CARD_FIELD_NOT_PATCHABLE, text).with("fields", unknown));
    }
    assignments(input, settings)
}

/// Keys that are no fields.
fn strangers(input: &Map<String, Json>, settings: &Cards, besides: &[&str]) -> Vec<String> {
    let known = |key: &str| besides.contains(&key) || fields::kind(key, settings).is_some();
    input.keys().filter(|key| !known(key)).cloned().collect()
}

/// Every field that the input names, `axes` lifted to flat keys; a key named twice counts where it comes last.
fn assignments(input: &Map<String, Json>, settings: &Cards) -> Result<Vec<Assignment>, Failure> {
    let mut list: Vec<Assignment> = Vec::new();
    let mut put = |key: &str, value: &Json, kind: Kind| {
        list.retain(|earlier| earlier.key != key);
        let new = value_of(key, value, kind)?;
        list.push(Assignment { key: key.to_owned(), new });
        Ok::<(), Failure>(())
    };
    for (key, value) in input {
        match (key.as_str(), fields::kind(key, settings)) {
            ("axes", None) => {
                for (axis, value) in axes(value, settings)? {
                    put(axis, value, Kind::Text)?;
                }
            }
            (_, Some(kind)) => put(key, value, kind)?,
            // `body`, which the caller of this function reads itself.
            (_, None) => {}
        }
    }
    Ok(list)
}

fn axes<'a>(value: &'a Json, settings: &Cards) -> Result<&'a Map<String, Json>, Failure> {
    let Json::Object(axes) = value else {
        return Err(Failure::new(Code::CARD_AXES_INVALID, "`axes` is not a JSON object of names and values"));
    };
    let unknown: Vec<&str> =
        axes.keys().map(String::as_str).filter(|axis| fields::vocabulary(axis, settings).is_none()).collect();
    if unknown.is_empty() { Ok(axes) } else { Err(unknown_axes(&unknown, settings)) }
}

fn value_of(key: &str, value: &Json, kind: Kind) -> Result<New, Failure> {
    match (kind, value) {
        (_, Json::Null) => Ok(New::Clear),
        (Kind::Verify, Json::Array(entries)) if entries.is_empty() => Ok(New::Clear),
        (Kind::Verify, Json::String(text)) if text.is_empty() => Ok(New::Clear),
        (Kind::Verify, entries) => Ok(New::Verify(entries.clone())),
        (Kind::Text, Json::String(text)) => {
            plain(key, text)?;
            if key == "claimed_by" {
                actor::check(text)?;
            }
            Ok(if text.is_empty() { New::Clear } else { New::Set(Value::Text(text.clone())) })
        }
        (Kind::List, Json::String(text)) => Ok(Assignment::list(key, list(key, text.split(','))?).new),
        (Kind::List, Json::Array(items)) => {
            let texts: Option<Vec<&str>> = items.iter().map(Json::as_str).collect();
            let texts = texts.ok_or_else(|| wrong_type(key, "a list of texts"))?;
            Ok(Assignment::list(key, list(key, texts.into_iter())?).new)
        }
        (Kind::Text, _) => Err(wrong_type(key, "a text")),
        (Kind::List, _) => Err(wrong_type(key, "a list of texts")),
    }
}

/// Items trimmed, without the empty ones, each without control characters.
pub(super) fn list<'a>(key: &str, items: impl Iterator<Item = &'a str>) -> Result<Vec<String>, Failure> {
    let items = items.map(trim).filter(|item| !item.is_empty());
    items.map(|item| plain(key, item).map(|()| item.to_owned())).collect()
}

/// Refuses control characters: a header line must stay one line, and a terminal must not obey it.
pub(super) fn plain(key: &str, text: &str) -> Result<(), Failure> {
    if !text.contains(char::is_control) {
        return Ok(());
    }
    let problem = format!("`{key}` holds a control character");
    Err(Failure::new(Code::CARD_FIELD_INVALID, problem)
        .with("field", key)
        .with("reason", "control-character"))
}

fn wrong_type(key: &str, wanted: &str) -> Failure {
    let text = format!("`{key}` is not {wanted}");
    Failure::new(Code::CARD_FIELD_INVALID, text).with("field", key).with("reason", "type")
}

/// The verify entries among the assignments.
pub(super) fn verify_of(fields: &[Assignment]) -> Option<&Json> {
    fields.iter().find_map(|field| match &field.new {
        New::Verify(entries) if field.key == VERIFY => Some(entries),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::testing::settings;
    use serde_json::json;

    fn keys(fields: &[Assignment]) -> Vec<&str> {
        fields.iter().map(|field| field.key.as_str()).collect()
    }

    fn refused(input: &Json) -> (Code, Json) {
        let failure = changes(input, &settings()).unwrap_err();
        (failure.code, Json::Object(failure.details))
    }

    #[test]
    fn a_draft_is_in_the_order_of_the_header_without_empty_values() {
        let input = json!({
            "scope": "src/a, ,src/b", "axes": {"context": "billing"}, "title": " T ", "effort": "", "tags": [], "due": null,
            "body": "\n\n text \n"
        });
        let draft = draft(input.as_object().unwrap(), &settings()).unwrap();
        assert_eq!(keys(&draft.fields), ["title", "context", "scope"]);
        assert_eq!(draft.body, "text");
        let New::Set(Value::List(scope)) = &draft.fields[2].new else { panic!("{:?}", draft.fields[2]) };
        assert_eq!(scope, &["src/a", "src/b"]);
    }

    #[test]
    fn patch_input_is_an_object_of_known_fields() {
        assert_eq!(refused(&json!([])).0, Code::CARD_CHANGES_INVALID);
        assert_eq!(refused(&json!({})).0, Code::CARD_CHANGES_EMPTY);
        let (code, details) = refused(&json!({"verified": {}, "title": "x", "body": "b", "id": "T-9"}));
        assert_eq!(
            (code, &details["fields"]),
            (Code::CARD_FIELD_NOT_PATCHABLE, &json!(["verified", "body", "id"]))
        );
    }

    #[test]
    fn h12_a_typo_in_a_new_card_is_named() {
        let failure = draft(json!({"titel": "x"}).as_object().unwrap(), &settings()).unwrap_err();
        assert_eq!(failure.code, Code::CARD_FIELD_UNKNOWN);
        assert_eq!(failure.details["fields"], json!(["titel"]));
    }

    #[test]
    fn axes_are_lifted_and_must_be_declared() {
        let fields = changes(&json!({"axes": {"context": null}}), &settings()).unwrap();
        assert!(matches!(fields[0], Assignment { ref key, new: New::Clear } if key == "context"));
        assert_eq!(refused(&json!({"axes": ["context"]})).0, Code::CARD_AXES_INVALID);
        let (code, details) = refused(&json!({"axes": {"colour": "red"}}));
        assert_eq!(code, Code::CARD_AXIS_UNKNOWN);
        assert_eq!(details, json!({"axes": ["colour"], "declared": ["context"]}));
    }

    #[test]
    fn values_have_the_type_of_their_field() {
        for (input, field) in [
            (json!({"title": 3}), "title"),
            (json!({"title": ["a"]}), "title"),
            (json!({"status": true}), "status"),
            (json!({"tags": [1]}), "tags"),
            (json!({"tags": {"a": "b"}}), "tags"),
            (json!({"axes": {"context": ["billing"]}}), "context"),
        ] {
            let (code, details) = refused(&input);
            assert_eq!(code, Code::CARD_FIELD_INVALID);
            assert_eq!(details, json!({"field": field, "reason": "type"}));
        }
    }

    #[test]
    fn control_characters_are_refused_everywhere_but_in_the_body() {
        for text in ["a\nb", "a\u{1b}]0;x\u{7}", "a\rb", "a\u{85}b"] {
            for input in
                [json!({"title": text}), json!({"scope": [text]}), json!({"axes": {"context": text}})]
            {
                let (code, details) = refused(&input);
                assert_eq!(
                    (code, &details["reason"]),
                    (Code::CARD_FIELD_INVALID, &json!("control-character"))
                );
            }
        }
        let ok = json!({"title": "\u{202e}x", "body": "a\nb\u{1b}"});
        assert!(draft(ok.as_object().unwrap(), &settings()).is_ok());
    }

    #[test]
    fn a_holder_is_a_plain_name() {
        assert_eq!(refused(&json!({"claimed_by": "a · b"})).0, Code::CARD_ACTOR_INVALID);
    }
}
