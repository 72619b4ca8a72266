//! Checking a merged configuration: every problem is collected, in the order of the table of keys.

use super::rules::{KEYS, Key, Length, METHODS, RESERVED, Rule, is_text};
use crate::failure::Code;
use serde_json::{Value as Json, json};

/// One problem of a configuration.
#[derive(Clone, Debug)]
pub(in crate::workspace) struct Issue {
    pub(in crate::workspace) code: Code,
    /// The key: `cards.areas`.
    pub(in crate::workspace) path: String,
    pub(in crate::workspace) message: String,
}

impl Issue {
    /// As it stands in the details of a failure.
    pub(in crate::workspace) fn to_json(&self) -> Json {
        json!({
            "severity": "error",
            "code": self.code.name,
            "path": self.path,
            "message": self.message,
        })
    }
}

/// The problems found so far.
#[derive(Default)]
pub(super) struct Issues(Vec<Issue>);

impl Issues {
    fn add(&mut self, code: Code, path: &str, wanted: &str) {
        self.0.push(Issue { code, path: path.to_owned(), message: format!("{path} {wanted}") });
    }
}

/// Every problem of a merged configuration but those of paths.
pub(in crate::workspace) fn issues(merged: &Json) -> Vec<Issue> {
    let mut found = Issues::default();
    for Key(path, rule, code) in KEYS {
        if let Some(value) = at(merged, path) {
            apply(&mut found, merged, path, value, rule, *code);
        }
    }
    found.0
}

/// The value at a dotted key, `null` when it is not there; `None` when its parent is no object.
pub(in crate::workspace) fn at<'a>(merged: &'a Json, path: &str) -> Option<&'a Json> {
    path.split('.')
        .try_fold(merged, |value, key| value.as_object().map(|object| object.get(key).unwrap_or(&Json::Null)))
}

fn apply(found: &mut Issues, merged: &Json, path: &str, value: &Json, rule: &Rule, code: Code) {
    match rule {
        Rule::Is(holds, wanted) => {
            if !holds(value) {
                found.add(code, path, &format!("must be {wanted}"));
            }
        }
        Rule::Whole(least, most) => {
            let is_within = |number: f64| {
                number.fract() == 0.0
                    && number >= f64::from(*least)
                    && most.is_none_or(|most| number <= f64::from(most))
            };
            if !value.as_f64().is_some_and(is_within) {
                let limit = most.map_or("or more".to_owned(), |most| format!("to {most}"));
                found.add(code, path, &format!("must be a whole number, {least} {limit}"));
            }
        }
        Rule::OneOf(allowed) => {
            if !value.as_str().is_some_and(|text| allowed.contains(&text)) {
                found.add(code, path, &format!("must be one of {}", allowed.join(", ")));
            }
        }
        Rule::ElementOf(list) => {
            // A list that is none has been reported already.
            let elements = at(merged, list).and_then(Json::as_array);
            if elements.is_some_and(|elements| !(value.is_string() && elements.contains(value))) {
                found.add(code, path, &format!("must be an element of {list}"));
            }
        }
        Rule::List(length) => {
            list(found, path, value, *length);
        }
        Rule::ListOf(length, allowed) => list_of(found, path, value, *length, allowed, code),
        Rule::Own(check) => check(found, path, value),
    }
}

/// The rules of every list of texts; its elements when it is a list.
fn list<'a>(found: &mut Issues, path: &str, value: &'a Json, length: Length) -> &'a [Json] {
    let Some(elements) = value.as_array() else {
        found.add(Code::CONFIG_LIST_INVALID, path, "must be a list of texts");
        return &[];
    };
    if elements.is_empty() && length == Length::Some {
        found.add(Code::CONFIG_LIST_EMPTY, path, "must not be empty");
    }
    if !elements.iter().all(is_text) {
        found.add(Code::CONFIG_LIST_VALUE_INVALID, path, "holds something that is not a text or is blank");
    }
    if let Some(twice) = repeated(elements) {
        found.add(Code::CONFIG_LIST_VALUE_DUPLICATE, path, &format!("names {twice} twice"));
    }
    elements
}

fn list_of(found: &mut Issues, path: &str, value: &Json, length: Length, allowed: &[&str], code: Code) {
    let elements = list(found, path, value, length);
    let is_foreign = |element: &&Json| is_text(element) && !allowed.iter().any(|known| *element == known);
    if let Some(foreign) = elements.iter().find(is_foreign) {
        found.add(code, path, &format!("names {foreign}; known are {}", allowed.join(", ")));
    }
}

/// The first element that stands in the list a second time.
fn repeated(elements: &[Json]) -> Option<&Json> {
    let mut seen = std::collections::HashSet::new();
    elements.iter().find(|element| (element.is_string() || element.is_array()) && !seen.insert(*element))
}

pub(super) fn areas(found: &mut Issues, path: &str, value: &Json) {
    let Some(elements) = value.as_array().filter(|elements| !elements.is_empty()) else {
        return found.add(Code::CONFIG_CARDS_AREAS_REQUIRED, path, "must be a list with at least one area");
    };
    if !elements.iter().all(is_text) {
        found.add(Code::CONFIG_CARDS_AREA_INVALID, path, "holds something that is not a text or is blank");
    }
    if let Some(twice) = repeated(elements) {
        found.add(Code::CONFIG_CARDS_AREA_DUPLICATE, path, &format!("names {twice} twice"));
    }
}

pub(super) fn axes(found: &mut Issues, path: &str, value: &Json) {
    let Some(axes) = value.as_object() else {
        return found.add(Code::CONFIG_CARDS_AXES_INVALID, path, "must be an object");
    };
    for (name, vocabulary) in axes {
        let path = format!("{path}.{name}");
        let mut bytes = name.bytes();
        let named = bytes.next().is_some_and(|first| first.is_ascii_lowercase())
            && bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        if !named {
            let wanted = "must be named with a small letter, then small letters, digits and `_`";
            found.add(Code::CONFIG_CARDS_AXIS_NAME_INVALID, &path, wanted);
        }
        if RESERVED.contains(&&**name) {
            found.add(Code::CONFIG_CARDS_AXIS_RESERVED, &path, "has the name of a card's own field");
        }
        list(found, &path, vocabulary, Length::Some);
    }
}

pub(super) fn commands(found: &mut Issues, path: &str, value: &Json) {
    let Some(commands) = value.as_array() else {
        return found.add(Code::CONFIG_CARDS_VERIFICATION_INVALID, path, "must be a list of commands");
    };
    let is_word = |word: &Json| {
        word.as_str().is_some_and(|word| !word.is_empty() && !word.contains(|c| c < ' ' || c == '\u{7f}'))
    };
    for (index, command) in commands.iter().enumerate() {
        if !command.as_array().is_some_and(|words| !words.is_empty() && words.iter().all(is_word)) {
            let wanted = "must be a list of one or more words without control characters";
            found.add(Code::CONFIG_CARDS_VERIFY_COMMAND_INVALID, &format!("{path}[{index}]"), wanted);
        }
    }
    if let Some(twice) = repeated(commands) {
        found.add(Code::CONFIG_LIST_VALUE_DUPLICATE, path, &format!("names {twice} twice"));
    }
}

pub(super) fn methods(found: &mut Issues, path: &str, value: &Json) {
    let Some(areas) = value.as_object() else {
        return found.add(Code::CONFIG_CARDS_VERIFICATION_METHODS_INVALID, path, "must be an object");
    };
    for (area, accepted) in areas {
        let path = format!("{path}.{area}");
        list_of(
            found,
            &path,
            accepted,
            Length::Some,
            METHODS,
            Code::CONFIG_CARDS_VERIFICATION_METHOD_INVALID,
        );
    }
}

pub(super) fn ui(found: &mut Issues, path: &str, value: &Json) {
    let port = value.as_object().and_then(|ui| ui.get("port")).and_then(Json::as_f64);
    if !port.is_some_and(|port| port.fract() == 0.0 && (0.0..=65_535.0).contains(&port)) {
        found.add(
            Code::CONFIG_UI_PORT_INVALID,
            &format!("{path}.port"),
            "must be a whole number, 0 to 65535",
        );
    }
}
