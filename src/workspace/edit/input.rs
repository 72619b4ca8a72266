//! What a caller sends for a new record or a change: keys checked against the table, values against their types.

use super::{Kind, Type};
use crate::failure::{Code, Failure};
use crate::path::{is_control, trim};
use crate::record::{Change, Value};
use serde_json::{Map, Value as Json};

/// The input of a new record.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// Its fields in the order of the table, without empty ones.
    pub fields: Vec<(String, Value)>,
    /// Its Markdown, trimmed.
    pub body: String,
}

impl Draft {
    /// The text of a field.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.fields.iter().find(|(name, _)| name == key).and_then(|(_, value)| value.as_text())
    }

    /// Gives a field a text if it has none; where it stands in the header, the table says.
    pub fn default(&mut self, kind: &Kind, key: &str, value: &str) {
        if !value.is_empty() && !self.fields.iter().any(|(name, _)| name == key) {
            self.fields.push((key.to_owned(), Value::Text(value.to_owned())));
            self.sort(kind);
        }
    }

    fn sort(&mut self, kind: &Kind) {
        let rank = |key: &str| kind.fields.iter().position(|(name, _)| *name == key);
        self.fields.sort_by_key(|(key, _)| rank(key));
    }
}

/// What becomes of a record.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Changes of the header in order; `None` takes a key out.
    pub header: Vec<Change>,
    /// The Markdown that replaces the record's.
    pub body: Option<String>,
}

impl Changes {
    /// A key with a text.
    #[must_use]
    pub fn text(mut self, key: &str, value: &str) -> Self {
        self.header.push((key.to_owned(), Some(Value::Text(value.to_owned()))));
        self
    }

    /// A key with a list; an empty one takes the key out.
    #[must_use]
    pub fn list(mut self, key: &str, items: Vec<String>) -> Self {
        self.header.push((key.to_owned(), Some(Value::List(items)).filter(|list| !list.is_empty())));
        self
    }
}

/// Reads the input of a new record. The title is trimmed, a blank value is none.
pub fn draft(kind: &Kind, input: &Map<String, Json>) -> Result<Draft, Failure> {
    let unknown = strangers(kind, input);
    if !unknown.is_empty() {
        let text = format!("a {} has no field {} that a caller can set", kind.noun, unknown.join(", "));
        return Err(Failure::new(kind.codes.unknown, text).with("fields", unknown));
    }
    let mut draft = Draft { fields: Vec::new(), body: body(kind, input)?.unwrap_or_default() };
    for (key, value) in assignments(kind, input)? {
        draft.fields.extend(value.map(|value| (key, value)));
    }
    draft.sort(kind);
    Ok(draft)
}

/// Reads the input of a change, in its order. Null, a blank text and an empty list take a key out; a null body is empty.
pub fn changes(kind: &Kind, input: &Map<String, Json>) -> Result<Changes, Failure> {
    if input.is_empty() {
        return Err(Failure::new(kind.codes.empty, "the changes name no field"));
    }
    let unknown = strangers(kind, input);
    if !unknown.is_empty() {
        let text = format!("a patch cannot change {} of a {}", unknown.join(", "), kind.noun);
        return Err(Failure::new(kind.codes.not_patchable, text).with("fields", unknown));
    }
    Ok(Changes { header: assignments(kind, input)?, body: body(kind, input)? })
}

fn strangers(kind: &Kind, input: &Map<String, Json>) -> Vec<String> {
    input.keys().filter(|key| *key != "body" && kind.field(key).is_none()).cloned().collect()
}

fn body(kind: &Kind, input: &Map<String, Json>) -> Result<Option<String>, Failure> {
    match input.get("body") {
        None => Ok(None),
        Some(Json::Null) => Ok(Some(String::new())),
        Some(Json::String(body)) => Ok(Some(trim(body).to_owned())),
        Some(_) => Err(wrong_type(kind.codes.invalid, "body", "a text")),
    }
}

fn assignments(kind: &Kind, input: &Map<String, Json>) -> Result<Vec<Change>, Failure> {
    let fields = input.iter().filter_map(|(key, value)| Some((key, value, kind.field(key)?)));
    fields
        .map(|(key, value, field)| Ok((key.clone(), value_of(kind.codes.invalid, key, value, field)?)))
        .collect()
}

fn value_of(invalid: Code, key: &str, value: &Json, field: Type) -> Result<Option<Value>, Failure> {
    let one = |text: &str| {
        plain(invalid, key, text)?;
        let text = if key == "title" { trim(text) } else { text };
        Ok(Some(text).filter(|text| !trim(text).is_empty()).map(str::to_owned))
    };
    match (field, value) {
        (_, Json::Null) => Ok(None),
        (Type::Text | Type::Number, Json::String(text)) => Ok(one(text)?.map(Value::Text)),
        (Type::Number, Json::Number(number)) => Ok(Some(Value::Text(number.to_string()))),
        (Type::List, Json::Array(items)) => list(invalid, key, items),
        (Type::List, scalar) => list(invalid, key, std::slice::from_ref(scalar)),
        (Type::Text, _) => Err(wrong_type(invalid, key, "a text")),
        (Type::Number, _) => Err(wrong_type(invalid, key, "a number")),
    }
}

/// Items trimmed, without the empty ones; a number or a truth value is the text it shows.
fn list(invalid: Code, key: &str, items: &[Json]) -> Result<Option<Value>, Failure> {
    let mut texts = Vec::new();
    for item in items {
        let text = match item {
            Json::String(text) => trim(text).to_owned(),
            Json::Number(number) => number.to_string(),
            Json::Bool(truth) => truth.to_string(),
            Json::Null | Json::Array(_) | Json::Object(_) => {
                return Err(wrong_type(invalid, key, "a list of texts"));
            }
        };
        plain(invalid, key, &text)?;
        texts.extend(Some(text).filter(|text| !text.is_empty()));
    }
    Ok(Some(Value::List(texts)).filter(|list| !list.is_empty()))
}

/// Refuses control characters: a header line must stay one line, and a terminal must not obey it.
fn plain(invalid: Code, key: &str, text: &str) -> Result<(), Failure> {
    if !text.contains(is_control) {
        return Ok(());
    }
    let problem = format!("`{key}` holds a line break or another control character");
    Err(Failure::new(invalid, problem).with("field", key).with("reason", "control-character"))
}

fn wrong_type(invalid: Code, key: &str, wanted: &str) -> Failure {
    let text = format!("`{key}` is not {wanted}");
    Failure::new(invalid, text).with("field", key).with("reason", "type")
}
