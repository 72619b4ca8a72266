//! The arguments of a call: declared as data, listed as a JSON schema, and held to it before anything happens.

use crate::failure::{Code, Failure};
use crate::path::trim;
use serde_json::{Map, Value as Json, json};

/// One property of a tool's input.
#[derive(Clone, Copy, Debug)]
pub(super) struct Property {
    /// Its name.
    pub(super) name: &'static str,
    /// What it is for, in a model's words.
    pub(super) about: &'static str,
    kind: Kind,
    need: Need,
    /// Who refuses a value outside `allowed`, and any other value that is text.
    judge: Judge,
}

/// What a property holds.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Text {
        allowed: &'static [&'static str],
        least: usize,
        most: Option<usize>,
        pattern: Option<&'static str>,
    },
    Texts {
        allowed: &'static [&'static str],
        least: usize,
    },
    Integer {
        least: i64,
        most: Option<i64>,
    },
    Flag,
    /// Names and texts.
    Names,
    /// Whatever the domain makes of it.
    Fields,
}

/// Whether a property may be left out, and what it is then.
#[derive(Clone, Copy, Debug)]
enum Need {
    Required,
    Optional,
    Text(&'static str),
    Integer(i64),
    Flag(bool),
}

/// Who says what a text may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Judge {
    /// This module: a filter that could match nothing is refused here.
    Schema,
    /// The domain: what a record may hold has codes of its own.
    Domain,
}

impl Property {
    const fn new(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { name, about, kind, need: Need::Optional, judge: Judge::Domain }
    }

    /// A text.
    pub(super) const fn text(name: &'static str, about: &'static str) -> Self {
        Self::new(name, Kind::Text { allowed: &[], least: 0, most: None, pattern: None }, about)
    }

    /// One of a closed vocabulary, which the domain judges.
    pub(super) const fn one_of(
        name: &'static str,
        allowed: &'static [&'static str],
        about: &'static str,
    ) -> Self {
        Self::new(name, Kind::Text { allowed, least: 0, most: None, pattern: None }, about)
    }

    /// A list of texts.
    pub(super) const fn texts(name: &'static str, about: &'static str) -> Self {
        Self::new(name, Kind::Texts { allowed: &[], least: 0 }, about)
    }

    /// Any of a closed vocabulary.
    pub(super) const fn any_of(
        name: &'static str,
        allowed: &'static [&'static str],
        about: &'static str,
    ) -> Self {
        Self::new(name, Kind::Texts { allowed, least: 0 }, about)
    }

    /// A whole number in a range.
    pub(super) const fn integer(
        name: &'static str,
        least: i64,
        most: Option<i64>,
        about: &'static str,
    ) -> Self {
        Self { judge: Judge::Schema, ..Self::new(name, Kind::Integer { least, most }, about) }
    }

    /// Yes or no.
    pub(super) const fn flag(name: &'static str, about: &'static str) -> Self {
        Self::new(name, Kind::Flag, about)
    }

    /// An object of texts.
    pub(super) const fn names(name: &'static str, about: &'static str) -> Self {
        Self::new(name, Kind::Names, about)
    }

    /// An object that the domain reads.
    pub(super) const fn fields(name: &'static str, about: &'static str) -> Self {
        Self { need: Need::Required, ..Self::new(name, Kind::Fields, about) }
    }

    /// It must be there.
    pub(super) const fn required(self) -> Self {
        Self { need: Need::Required, ..self }
    }

    /// It must hold something.
    pub(super) const fn filled(self) -> Self {
        let kind = match self.kind {
            Kind::Text { allowed, most, pattern, .. } => Kind::Text { allowed, least: 1, most, pattern },
            Kind::Texts { allowed, .. } => Kind::Texts { allowed, least: 1 },
            other => other,
        };
        Self { kind, ..self }
    }

    /// It has at most so many characters.
    pub(super) const fn at_most(self, most: usize) -> Self {
        let kind = match self.kind {
            Kind::Text { allowed, least, pattern, .. } => {
                Kind::Text { allowed, least, most: Some(most), pattern }
            }
            other => other,
        };
        Self { kind, ..self }
    }

    /// It is a day; blank is no day, and not absent.
    pub(super) const fn day(self) -> Self {
        let pattern = Some("^\\d{4}-\\d{2}-\\d{2}");
        Self { kind: Kind::Text { allowed: &[], least: 0, most: None, pattern }, ..self }
    }

    /// Its vocabulary is held to here and not by the domain.
    pub(super) const fn judged(self) -> Self {
        Self { judge: Judge::Schema, ..self }
    }

    /// Its range is the domain's to judge.
    pub(super) const fn deferred(self) -> Self {
        Self { judge: Judge::Domain, ..self }
    }

    /// The text it has when it is left out.
    pub(super) const fn or(self, text: &'static str) -> Self {
        Self { need: Need::Text(text), ..self }
    }

    /// The number it has when it is left out.
    pub(super) const fn or_number(self, number: i64) -> Self {
        Self { need: Need::Integer(number), ..self }
    }

    /// What it is when it is left out.
    pub(super) const fn or_flag(self, flag: bool) -> Self {
        Self { need: Need::Flag(flag), ..self }
    }

    /// The property as a JSON schema.
    fn schema(&self) -> Json {
        let mut schema = match self.kind {
            Kind::Text { allowed, least, most, pattern } => {
                let mut schema = text_schema(allowed);
                let mut put = |name: &str, value: Option<Json>| {
                    if let (Some(value), Some(schema)) = (value, schema.as_object_mut()) {
                        schema.insert(name.to_owned(), value);
                    }
                };
                put("minLength", (least > 0).then(|| least.into()));
                put("maxLength", most.map(Json::from));
                put("pattern", pattern.map(Json::from));
                schema
            }
            Kind::Texts { allowed, least } => {
                let mut schema = json!({"type": "array", "items": text_schema(allowed)});
                if least > 0 {
                    schema["minItems"] = least.into();
                }
                schema
            }
            Kind::Integer { least, most } => {
                let mut schema = json!({"type": "integer", "minimum": least});
                if let Some(most) = most {
                    schema["maximum"] = most.into();
                }
                schema
            }
            Kind::Flag => json!({"type": "boolean"}),
            Kind::Names => json!({"type": "object", "additionalProperties": {"type": "string"}}),
            Kind::Fields => json!({"type": "object", "additionalProperties": true}),
        };
        schema["description"] = self.about.into();
        if let Some(default) = self.default() {
            schema["default"] = default;
        }
        schema
    }

    fn default(&self) -> Option<Json> {
        match self.need {
            Need::Required | Need::Optional => None,
            Need::Text(text) => Some(text.into()),
            Need::Integer(number) => Some(number.into()),
            Need::Flag(flag) => Some(flag.into()),
        }
    }

    /// Whether a blank text counts as one that is left out.
    fn drops_blank(&self) -> bool {
        let is_day = matches!(self.kind, Kind::Text { pattern: Some(_), .. });
        !matches!(self.need, Need::Required) && !is_day
    }
}

fn text_schema(allowed: &[&str]) -> Json {
    if allowed.is_empty() { json!({"type": "string"}) } else { json!({"type": "string", "enum": allowed}) }
}

/// The input of a tool as a JSON schema, closed.
pub(super) fn schema(properties: &[Property]) -> Json {
    let described: Map<String, Json> =
        properties.iter().map(|property| (property.name.to_owned(), property.schema())).collect();
    let required: Vec<&str> = properties
        .iter()
        .filter(|property| matches!(property.need, Need::Required))
        .map(|property| property.name)
        .collect();
    let mut schema = json!({"type": "object", "additionalProperties": false, "properties": described});
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    schema
}

/// Arguments that have been held to their declaration: defaults filled in, texts trimmed, null left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Arguments(Map<String, Json>);

impl Arguments {
    /// Checks what was sent, in the order of the contract: unknown, missing, wrong type or range.
    pub(super) fn check(properties: &[Property], sent: &Map<String, Json>) -> Result<Self, Failure> {
        let known = |name: &str| properties.iter().any(|property| property.name == name);
        if let Some(name) = sent.keys().find(|name| !known(name)) {
            let names: Vec<&str> = properties.iter().map(|property| property.name).collect();
            let has = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            let text = format!("there is no argument `{name}`; this tool takes {has}");
            let failure = Failure::new(Code::MCP_ARGUMENT_INVALID, text).with("argument", name.clone());
            return Err(failure.with("reason", "unknown"));
        }
        let value = |property: &Property| sent.get(property.name).filter(|value| !value.is_null());
        for property in properties {
            let is_required = matches!(property.need, Need::Required);
            let filled = matches!(property.kind, Kind::Text { least: 1.., .. });
            let is_blank = value(property).and_then(Json::as_str).is_some_and(|text| trim(text).is_empty());
            if is_required && value(property).is_none() || is_required && filled && is_blank {
                return Err(missing(property.name, "is required"));
            }
        }
        let mut arguments = Map::new();
        for property in properties {
            let checked = value(property).map(|value| property.read(value)).transpose()?.flatten();
            if let Some(value) = checked.or_else(|| property.default()) {
                arguments.insert(property.name.to_owned(), value);
            }
        }
        Ok(Self(arguments))
    }

    /// A text.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Json::as_str)
    }

    /// A text that is required or has a default.
    pub(super) fn needed(&self, name: &str) -> &str {
        self.text(name).unwrap_or_default()
    }

    /// A list.
    pub(super) fn texts(&self, name: &str) -> Option<Vec<String>> {
        let items = self.0.get(name)?.as_array()?;
        Some(items.iter().filter_map(Json::as_str).map(str::to_owned).collect())
    }

    /// A number that has a default.
    pub(super) fn number(&self, name: &str) -> usize {
        self.0.get(name).and_then(Json::as_u64).unwrap_or_default() as usize
    }

    /// Whether a flag is set.
    pub(super) fn flag(&self, name: &str) -> bool {
        self.0.get(name) == Some(&Json::Bool(true))
    }

    /// What a flag says, when it says anything.
    pub(super) fn choice(&self, name: &str) -> Option<bool> {
        self.0.get(name).and_then(Json::as_bool)
    }

    /// The fields of an object.
    pub(super) fn fields(&self, name: &str) -> Map<String, Json> {
        self.0.get(name).and_then(Json::as_object).cloned().unwrap_or_default()
    }

    /// A value as it was sent.
    pub(super) fn value(&self, name: &str) -> Json {
        self.0.get(name).cloned().unwrap_or_default()
    }

    /// Everything.
    pub(super) fn all(&self) -> &Map<String, Json> {
        &self.0
    }
}

fn missing(name: &str, problem: &str) -> Failure {
    Failure::new(Code::MCP_ARGUMENT_REQUIRED, format!("`{name}` {problem}")).with("argument", name)
}

impl Property {
    /// The value as the domain gets it; `None` for one that counts as absent.
    fn read(&self, value: &Json) -> Result<Option<Json>, Failure> {
        match (self.kind, value) {
            (Kind::Text { allowed, least, .. }, Json::String(text)) => {
                if trim(text).is_empty() && self.drops_blank() {
                    return Ok(None);
                }
                self.one_of_allowed(text, allowed)?;
                Ok(Some(if least > 0 { trim(text) } else { text }.into()))
            }
            (Kind::Texts { allowed, .. }, Json::Array(items)) => {
                let mut read: Vec<Json> = Vec::new();
                for item in items {
                    let Json::String(text) = item else { return Err(self.wrong_type()) };
                    if trim(text).is_empty() {
                        return Err(missing(self.name, "holds a blank text"));
                    }
                    self.one_of_allowed(trim(text), allowed)?;
                    let item = trim(text).into();
                    if !read.contains(&item) {
                        read.push(item);
                    }
                }
                Ok(Some(read.into()))
            }
            (Kind::Integer { least, most }, Json::Number(number)) => {
                // 3.0 is a whole number too.
                let whole = number.as_f64().filter(|number| number.fract() == 0.0);
                let Some(whole) = whole else { return Err(self.wrong_type()) };
                let most = most.unwrap_or(i64::MAX);
                if self.judge == Judge::Schema && (whole < least as f64 || whole > most as f64) {
                    let range = if most == i64::MAX {
                        format!("{least} or more")
                    } else {
                        format!("{least} to {most}")
                    };
                    let text = format!("`{}` is {value}, but must be {range}", self.name);
                    let failure = Failure::new(Code::MCP_ARGUMENT_INVALID, text);
                    return Err(failure.with("argument", self.name).with("value", value.clone()));
                }
                Ok(Some((whole as i64).into()))
            }
            (Kind::Flag, Json::Bool(_)) | (Kind::Fields, Json::Object(_)) => Ok(Some(value.clone())),
            (Kind::Names, Json::Object(names)) if names.values().all(Json::is_string) => {
                Ok(Some(value.clone()))
            }
            _ => Err(self.wrong_type()),
        }
    }

    fn one_of_allowed(&self, text: &str, allowed: &[&str]) -> Result<(), Failure> {
        if self.judge == Judge::Domain || allowed.is_empty() || allowed.contains(&text) {
            return Ok(());
        }
        let problem = format!("`{}` cannot be `{text}`; allowed: {}", self.name, allowed.join(", "));
        let failure = Failure::new(Code::MCP_ARGUMENT_INVALID, problem).with("argument", self.name);
        Err(failure.with("value", text).with("allowed", allowed))
    }

    fn wrong_type(&self) -> Failure {
        let (expected, what) = match self.kind {
            Kind::Text { .. } => ("string", "a string"),
            Kind::Texts { .. } => ("array", "a list of strings"),
            Kind::Integer { .. } => ("integer", "a whole number"),
            Kind::Flag => ("boolean", "true or false"),
            Kind::Names => ("object", "an object of names and strings"),
            Kind::Fields => ("object", "an object"),
        };
        let failure = Failure::new(Code::MCP_ARGUMENT_INVALID, format!("`{}` must be {what}", self.name));
        failure.with("argument", self.name).with("reason", "type").with("expected", expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: &[Property] = &[
        Property::text("id", "An id.").required().filled(),
        Property::text("body", "A body.").required(),
        Property::text("actor", "A name.").filled(),
        Property::one_of("status", &["open", "shut"], "A status."),
        Property::any_of("kinds", &["card", "doc"], "Kinds.").judged(),
        Property::texts("tags", "Tags."),
        Property::text("since", "A day.").day(),
        Property::integer("limit", 1, Some(20), "How many.").or_number(5),
        Property::integer("days", 0, None, "Days."),
        Property::integer("seen", 1, None, "How often.").deferred(),
        Property::flag("paths", "Paths.").or_flag(true),
        Property::names("axes", "Axes."),
        Property::text("section", "A section.").or("Notes"),
    ];

    fn check(sent: &Json) -> Result<Json, String> {
        let mut all = json!({"id": "T-1", "body": ""});
        all.as_object_mut().unwrap().extend(sent.as_object().unwrap().clone());
        match Arguments::check(ALL, all.as_object().unwrap()) {
            Ok(Arguments(read)) => Ok(Json::Object(read)),
            Err(failure) => Err(format!("{} {}", failure.code.name, Json::Object(failure.details))),
        }
    }

    #[test]
    fn defaults_are_filled_in_and_null_counts_as_absent() {
        let usual = json!({"id": "T-1", "body": "", "limit": 5, "paths": true, "section": "Notes"});
        assert_eq!(check(&json!({})).unwrap(), usual);
        let blank = json!({"actor": " ", "status": "", "limit": null, "section": "\n", "tags": null});
        assert_eq!(check(&blank).unwrap(), usual);
        let sent =
            json!({"id": " T-2 ", "tags": ["a", " a ", "b"], "limit": 3.0, "status": "ajar", "since": ""});
        let read = check(&sent).unwrap();
        assert_eq!(read["id"], "T-2");
        assert_eq!(read["tags"], json!(["a", "b"]));
        assert_eq!(read["limit"], json!(3));
        assert_eq!(check(&json!({"seen": 0})).unwrap()["seen"], json!(0), "for the domain to refuse");
        assert_eq!(
            (&read["status"], &read["since"]),
            (&json!("ajar"), &json!("")),
            "for the domain to refuse"
        );
    }

    #[test]
    fn refusals_come_in_order() {
        for (sent, expected) in [
            (
                json!({"force": true, "id": null}),
                r#"MCP_ARGUMENT_INVALID {"argument":"force","reason":"unknown"}"#,
            ),
            (json!({"id": null, "limit": "x"}), r#"MCP_ARGUMENT_REQUIRED {"argument":"id"}"#),
            (json!({"id": " \u{feff}"}), r#"MCP_ARGUMENT_REQUIRED {"argument":"id"}"#),
            (json!({"body": null}), r#"MCP_ARGUMENT_REQUIRED {"argument":"body"}"#),
            (
                json!({"id": 3}),
                r#"MCP_ARGUMENT_INVALID {"argument":"id","reason":"type","expected":"string"}"#,
            ),
            (
                json!({"limit": "3"}),
                r#"MCP_ARGUMENT_INVALID {"argument":"limit","reason":"type","expected":"integer"}"#,
            ),
            (
                json!({"limit": 1.5}),
                r#"MCP_ARGUMENT_INVALID {"argument":"limit","reason":"type","expected":"integer"}"#,
            ),
            (json!({"limit": 21}), r#"MCP_ARGUMENT_INVALID {"argument":"limit","value":21}"#),
            (json!({"days": -1}), r#"MCP_ARGUMENT_INVALID {"argument":"days","value":-1}"#),
            (
                json!({"paths": "no"}),
                r#"MCP_ARGUMENT_INVALID {"argument":"paths","reason":"type","expected":"boolean"}"#,
            ),
            (
                json!({"tags": "a,b"}),
                r#"MCP_ARGUMENT_INVALID {"argument":"tags","reason":"type","expected":"array"}"#,
            ),
            (
                json!({"tags": [3]}),
                r#"MCP_ARGUMENT_INVALID {"argument":"tags","reason":"type","expected":"array"}"#,
            ),
            (json!({"tags": ["a", " "]}), r#"MCP_ARGUMENT_REQUIRED {"argument":"tags"}"#),
            (
                json!({"axes": {"a": 3}}),
                r#"MCP_ARGUMENT_INVALID {"argument":"axes","reason":"type","expected":"object"}"#,
            ),
            (
                json!({"kinds": ["cards"]}),
                r#"MCP_ARGUMENT_INVALID {"argument":"kinds","value":"cards","allowed":["card","doc"]}"#,
            ),
        ] {
            assert_eq!(check(&sent).unwrap_err(), expected, "{sent}");
        }
    }

    #[test]
    fn the_schema_says_what_is_checked() {
        let schema = schema(ALL);
        assert_eq!(schema["required"], json!(["id", "body"]));
        assert_eq!(schema["additionalProperties"], json!(false));
        let properties = &schema["properties"];
        assert_eq!(properties["id"], json!({"type": "string", "minLength": 1, "description": "An id."}));
        assert_eq!(
            properties["limit"],
            json!({"type": "integer", "minimum": 1, "maximum": 20, "description": "How many.", "default": 5})
        );
        assert_eq!(properties["kinds"]["items"], json!({"type": "string", "enum": ["card", "doc"]}));
        assert_eq!(properties["since"]["pattern"], "^\\d{4}-\\d{2}-\\d{2}");
    }

    fn value() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::from),
            any::<i64>().prop_map(Json::from),
            any::<f64>().prop_map(Json::from),
            (-2i64..30).prop_map(Json::from),
            "[ a-c]{0,3}".prop_map(Json::from),
        ];
        leaf.prop_recursive(2, 8, 3, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..3).prop_map(Json::from),
                proptest::collection::hash_map("[a-c]{1,2}", inner, 0..3)
                    .prop_map(|map| Json::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn whatever_is_let_through_has_the_declared_types(
            sent in proptest::collection::hash_map(
                prop::sample::select(ALL.iter().map(|property| property.name).collect::<Vec<_>>()), value(), 0..6),
        ) {
            let sent: Map<String, Json> = sent.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
            if let Ok(Arguments(read)) = Arguments::check(ALL, &sent) {
                for property in ALL {
                    let Some(value) = read.get(property.name) else {
                        prop_assert!(!matches!(property.need, Need::Required));
                        continue;
                    };
                    let holds = match property.schema()["type"].as_str() {
                        Some("string") => value.is_string(),
                        Some("array") => value.as_array().is_some_and(|items| items.iter().all(Json::is_string)),
                        Some("integer") => value.is_i64(),
                        Some("boolean") => value.is_boolean(),
                        _ => value.is_object(),
                    };
                    prop_assert!(holds, "{}: {}", property.name, value);
                }
            }
        }
    }
}
