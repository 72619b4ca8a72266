//! What a configuration says once the defaults are merged in and every key is checked.

mod check;
mod defaults;
mod rules;

pub(super) use check::{Issue, at, issues};
pub(super) use rules::CONTAINED;
pub use rules::{AGENT_TARGETS, CI_TARGETS, METHODS};

use super::Switch;
use super::schema::{COLLECTIONS, Collection};
use serde_json::{Map, Value as Json};

/// The settings that rules depend on. Keys with no effect yet are validated and stay in [`super::Workspace::raw`].
#[derive(Clone, Debug)]
pub struct Config {
    /// The project's name.
    pub name: String,
    /// `cards`.
    pub cards: Cards,
    /// `docs`.
    pub docs: Docs,
    /// `changelog`.
    pub changelog: Changelog,
    /// `memory`.
    pub memory: Memory,
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
    /// The methods by which cards of an area may be verified, `*` for every other area; in file order.
    pub methods: Vec<(String, Vec<String>)>,
    /// How many seconds the command of a verify entry may run.
    pub verify_timeout: u64,
    /// The id prefix, `T`.
    pub id_prefix: String,
    /// How many ancestors a card may have.
    pub max_hierarchy_depth: u32,
    /// Hours after which a claim is stale.
    pub claim_lease_hours: f64,
    /// Whether mutations write trail lines.
    pub activity_trail: bool,
}

/// The `docs` section.
#[derive(Clone, Debug)]
pub struct Docs {
    /// Whether the module is on.
    pub enabled: Switch,
    /// Patterns of indexed documents.
    pub sources: Vec<String>,
    /// Patterns of what is no document.
    pub exclude: Vec<String>,
    /// Folders that links may count from.
    pub route_roots: Vec<String>,
    /// Kinds of managed documents.
    pub kinds: Vec<String>,
    /// States of managed documents.
    pub statuses: Vec<String>,
    /// The id prefix, `DOC`.
    pub id_prefix: String,
    /// Where a new document goes.
    pub layout: DocLayout,
    /// The kind of a new document.
    pub default_kind: String,
    /// The state of a new document.
    pub default_status: String,
    /// Days after which a document is due for review; 0 for never.
    pub review_interval_days: u64,
    /// A larger document is not read.
    pub max_file_bytes: u64,
}

/// Where a new document goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocLayout {
    /// Into a folder named like its kind.
    ByKind,
    /// Into the managed root.
    Flat,
}

/// The `changelog` section.
#[derive(Clone, Debug)]
pub struct Changelog {
    /// Whether the module is on.
    pub enabled: Switch,
    /// The id prefix of fragments, `CHG`.
    pub id_prefix: String,
    /// The id prefix of releases, `REL`.
    pub release_prefix: String,
    /// Types of fragments, in the order of the rendered groups.
    pub types: Vec<String>,
    /// Visibilities of fragments.
    pub visibilities: Vec<String>,
    /// The type of a new fragment.
    pub default_type: String,
    /// The visibility of a new fragment.
    pub default_visibility: String,
    /// What a version may look like.
    pub strategy: ReleaseStrategy,
    /// Where the rendered changelog goes, as configured: not checked before it is written.
    pub output: String,
}

/// What a version may look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReleaseStrategy {
    /// A semantic version, `v` in front allowed.
    Semver,
    /// A date.
    Calendar,
    /// Anything.
    Freeform,
}

/// The `memory` section.
#[derive(Clone, Debug)]
pub struct Memory {
    /// Whether the module is on.
    pub enabled: Switch,
    /// The collections that exist, in configured order.
    pub collections: Vec<&'static Collection>,
}

impl Config {
    /// Takes the settings out of a merged configuration that has no [`issues`].
    pub(super) fn of(merged: &Json) -> Self {
        let [cards, docs, changelog] = ["cards", "docs", "changelog"].map(|key| &merged[key]);
        Self {
            docs: Docs {
                enabled: switch(docs),
                sources: texts(&docs["sources"]),
                exclude: texts(&docs["exclude"]),
                route_roots: texts(&docs["routeRoots"]),
                kinds: texts(&docs["kinds"]),
                statuses: texts(&docs["statuses"]),
                id_prefix: text(&docs["idPrefix"]),
                layout: if docs["layout"] == "kind" { DocLayout::ByKind } else { DocLayout::Flat },
                default_kind: text(&docs["defaultKind"]),
                default_status: text(&docs["defaultStatus"]),
                review_interval_days: number(&docs["reviewIntervalDays"]) as u64,
                max_file_bytes: number(&docs["maxFileBytes"]) as u64,
            },
            changelog: Changelog {
                enabled: switch(changelog),
                id_prefix: text(&changelog["idPrefix"]),
                release_prefix: text(&changelog["releasePrefix"]),
                types: texts(&changelog["types"]),
                visibilities: texts(&changelog["visibilities"]),
                default_type: text(&changelog["defaultType"]),
                default_visibility: text(&changelog["defaultVisibility"]),
                strategy: match changelog["releaseStrategy"].as_str() {
                    Some("calendar") => ReleaseStrategy::Calendar,
                    Some("freeform") => ReleaseStrategy::Freeform,
                    _ => ReleaseStrategy::Semver,
                },
                output: text(&changelog["output"]),
            },
            memory: Memory {
                enabled: switch(&merged["memory"]),
                collections: items(&merged["memory"]["collections"])
                    .filter_map(|id| COLLECTIONS.iter().find(|collection| id == collection.id))
                    .collect(),
            },
            name: text(&merged["name"]),
            cards: Cards {
                enabled: is_true(&cards["enabled"]),
                areas: texts(&cards["areas"]),
                axes: lists(&cards["axes"]),
                verify_commands: items(&cards["verification"]["commands"]).map(texts).collect(),
                methods: lists(&cards["verification"]["methods"]),
                verify_timeout: number(&cards["verification"]["timeoutSeconds"]) as u64,
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

pub(super) fn switch(module: &Json) -> Switch {
    if is_true(&module["enabled"]) { Switch::On } else { Switch::Off }
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
