//! What a configuration says once the defaults are merged in and every key is checked.

mod check;
mod defaults;
mod rules;

pub(super) use check::{Issue, at, issues};
pub(super) use rules::CONTAINED;
pub use rules::{AGENT_TARGETS, CI_TARGETS};

use serde_json::{Map, Value as Json};

/// The settings that rules depend on. Keys with no effect yet are validated and stay in [`super::Workspace::raw`].
#[derive(Clone, Debug)]
pub struct Config {
    /// The project's name.
    pub name: String,
    /// `cards`.
    pub cards: Cards,
}

/// The `cards` section.
#[derive(Clone, Debug)]
pub struct Cards {
    /// Whether the module is on.
    pub enabled: bool,
    /// Declared areas; the first is the default.
    pub areas: Vec<String>,
    /// Declared axes and their vocabularies, in file order.
    pub axes: Vec<(String, Vec<String>)>,
    /// Command prefixes a verify entry may run.
    pub verify_commands: Vec<Vec<String>>,
    /// The id prefix, `T`.
    pub id_prefix: String,
    /// How many ancestors a card may have.
    pub max_hierarchy_depth: u32,
    /// Hours after which a claim is stale.
    pub claim_lease_hours: f64,
    /// Whether mutations write trail lines.
    pub activity_trail: bool,
}

impl Config {
    /// Takes the settings out of a merged configuration that has no [`issues`].
    pub(super) fn of(merged: &Json) -> Self {
        let cards = &merged["cards"];
        Self {
            name: text(&merged["name"]),
            cards: Cards {
                enabled: is_true(&cards["enabled"]),
                areas: texts(&cards["areas"]),
                axes: lists(&cards["axes"]),
                verify_commands: items(&cards["verification"]["commands"]).map(texts).collect(),
                id_prefix: text(&cards["idPrefix"]),
                max_hierarchy_depth: number(&cards["maxHierarchyDepth"]) as u32,
                claim_lease_hours: number(&cards["claimLeaseHours"]),
                activity_trail: cards["activityTrail"] != Json::Bool(false),
            },
        }
    }
}

/// `own` over the defaults: objects merge key by key at every depth, any other value replaces what it meets.
pub(super) fn merge(own: Map<String, Json>) -> Json {
    let mut merged = defaults::all();
    merge_into(&mut merged, own);
    let name = merged.entry("name").or_insert(Json::Null);
    if name.is_null() || name.as_str().is_some_and(|name| crate::path::trim(name).is_empty()) {
        *name = defaults::NAME.into();
    }
    Json::Object(merged)
}

fn merge_into(base: &mut Map<String, Json>, own: Map<String, Json>) {
    for (key, value) in own {
        match (base.get_mut(&key), value) {
            (Some(Json::Object(below)), Json::Object(value)) => merge_into(below, value),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

/// How the format reads a switch: everything is on but `false`, `null`, 0 and the empty text.
pub(super) fn is_true(value: &Json) -> bool {
    match value {
        Json::Null => false,
        Json::Bool(on) => *on,
        Json::Number(number) => number.as_f64() != Some(0.0),
        Json::String(text) => !text.is_empty(),
        Json::Array(_) | Json::Object(_) => true,
    }
}

fn number(value: &Json) -> f64 {
    value.as_f64().unwrap_or_default()
}

fn text(value: &Json) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn items(value: &Json) -> impl Iterator<Item = &Json> {
    value.as_array().into_iter().flatten()
}

fn texts(value: &Json) -> Vec<String> {
    items(value).map(text).collect()
}

fn lists(value: &Json) -> Vec<(String, Vec<String>)> {
    value.as_object().into_iter().flatten().map(|(key, list)| (key.clone(), texts(list))).collect()
}

#[cfg(test)]
mod tests;
