//! What a header key can hold: a text, a list, a flat mapping, a list of flat mappings. Nothing deeper.

use crate::failure::{Code, Failure};
use serde_json::{Map, Value as Json};

/// A header value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// One text.
    Text(String),
    /// A list of texts.
    List(Vec<String>),
    /// A flat mapping, in file order.
    Mapping(Vec<(String, Item)>),
    /// A list of flat mappings.
    Records(Vec<Vec<(String, Item)>>),
}

/// A value inside a mapping: one level, no deeper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// One text.
    Text(String),
    /// A list of texts.
    List(Vec<String>),
}

impl Value {
    /// The text of a [`Value::Text`].
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Whether writing this value removes its key: an empty text, list or mapping. Empty items of a list are not
    /// written, so a list of nothing else is empty.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) => text.is_empty(),
            Self::List(items) => items.iter().all(String::is_empty),
            Self::Mapping(fields) => fields.is_empty(),
            Self::Records(records) => records.is_empty(),
        }
    }

    /// The value as JSON: text, array, object, array of objects.
    pub fn to_json(&self) -> Json {
        match self {
            Self::Text(text) => text.as_str().into(),
            Self::List(items) => items.as_slice().into(),
            Self::Mapping(fields) => object(fields),
            Self::Records(records) => records.iter().map(|fields| object(fields)).collect(),
        }
    }

    /// The value that JSON input gives the key `key`; `None` for `null`.
    ///
    /// Numbers and truth values are the text they show; `null` in a list or a mapping is left out.
    /// `RECORD_FRONTMATTER_UNREPRESENTABLE` for anything deeper than a header holds.
    pub fn from_json(key: &str, json: &Json) -> Result<Option<Self>, Failure> {
        let too_deep = || unrepresentable(key);
        if let Some(text) = scalar(json) {
            return Ok(Some(Self::Text(text)));
        }
        match json {
            Json::Array(elements) if elements.iter().any(Json::is_object) => {
                let records =
                    elements.iter().map(|element| fields(element.as_object()?)).collect::<Option<_>>();
                records.map(|records| Some(Self::Records(records))).ok_or_else(too_deep)
            }
            Json::Array(elements) => {
                texts(elements).map(|items| Some(Self::List(items))).ok_or_else(too_deep)
            }
            Json::Object(map) => fields(map).map(|fields| Some(Self::Mapping(fields))).ok_or_else(too_deep),
            _ => Ok(None),
        }
    }

    /// The value as it is written: without the empty items of its lists.
    pub(super) fn without_empty_items(&self) -> Self {
        let full = |items: &[String]| items.iter().filter(|item| !item.is_empty()).cloned().collect();
        let fields = |fields: &[(String, Item)]| {
            let field = |(name, item): &(String, Item)| match item {
                Item::Text(text) => (name.clone(), Item::Text(text.clone())),
                Item::List(items) => (name.clone(), Item::List(full(items))),
            };
            fields.iter().map(field).collect::<Vec<_>>()
        };
        match self {
            Self::Text(text) => Self::Text(text.clone()),
            Self::List(items) => Self::List(full(items)),
            Self::Mapping(mapping) => Self::Mapping(fields(mapping)),
            Self::Records(records) => Self::Records(records.iter().map(|record| fields(record)).collect()),
        }
    }
}

/// The refusal of a value that no lines of a header would read back as.
pub(super) fn unrepresentable(key: &str) -> Failure {
    let text = format!(
        "{key:?} cannot be written: a header holds texts, lists, mappings of these and lists of such mappings"
    );
    Failure::new(Code::RECORD_FRONTMATTER_UNREPRESENTABLE, text).with("key", key)
}

fn object(fields: &[(String, Item)]) -> Json {
    let field = |(name, item): &(String, Item)| {
        let json = match item {
            Item::Text(text) => Json::from(text.as_str()),
            Item::List(items) => items.as_slice().into(),
        };
        (name.clone(), json)
    };
    Json::Object(fields.iter().map(field).collect())
}

fn scalar(json: &Json) -> Option<String> {
    match json {
        Json::String(text) => Some(text.clone()),
        Json::Number(number) => Some(number.to_string()),
        Json::Bool(truth) => Some(truth.to_string()),
        _ => None,
    }
}

fn texts(elements: &[Json]) -> Option<Vec<String>> {
    elements.iter().filter(|element| !element.is_null()).map(scalar).collect()
}

fn fields(map: &Map<String, Json>) -> Option<Vec<(String, Item)>> {
    let field = |(name, json): (&String, &Json)| {
        let item = match json {
            Json::Array(elements) => texts(elements).map(Item::List),
            json => scalar(json).map(Item::Text),
        };
        item.map(|item| (name.clone(), item))
    };
    map.iter().filter(|(_, json)| !json.is_null()).map(field).collect()
}

/// `text` as JavaScript counts its length.
pub fn utf16_len(text: &str) -> usize {
    text.encode_utf16().count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn json_goes_in_and_comes_out() {
        for json in [
            json!("a"),
            json!(["a", "b"]),
            json!({"a": "1", "b": ["x"]}),
            json!([{"id": "a", "run": ["x"]}, {"id": "b"}]),
        ] {
            assert_eq!(Value::from_json("k", &json).unwrap().unwrap().to_json(), json);
        }
        assert_eq!(Value::from_json("k", &json!(null)).unwrap(), None);
        assert_eq!(Value::from_json("k", &json!(1.5)).unwrap(), Some(Value::Text("1.5".to_owned())));
        assert_eq!(Value::from_json("k", &json!(["a", null])).unwrap().unwrap().to_json(), json!(["a"]));
    }

    #[test]
    fn a_second_level_is_refused() {
        for json in [json!([["a"]]), json!({"a": {"b": 1}}), json!([{"a": [[]]}]), json!([{"a": "1"}, "b"])] {
            let refused = Value::from_json("k", &json).unwrap_err();
            assert_eq!(refused.code, Code::RECORD_FRONTMATTER_UNREPRESENTABLE, "{json}");
            assert_eq!(refused.details["key"], "k");
        }
    }

    #[test]
    fn length_counts_utf16_code_units() {
        assert_eq!(utf16_len("aé😀"), 4);
    }
}
