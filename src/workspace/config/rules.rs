//! The table of keys: what each may hold and the code for what it may not, in the order problems are reported.

use super::super::schema;
use super::check::{self, Issues};
use crate::failure::Code;
use crate::path::trim;
use serde_json::Value as Json;

/// What `agents.targets` may name.
pub const AGENT_TARGETS: &[&str] = &["agents-md", "claude", "cursor", "copilot"];

/// What `ci.targets` may name.
pub const CI_TARGETS: &[&str] = &["github", "gitlab", "generic"];

/// What `memory.collections` may name.
pub(in crate::workspace) const COLLECTIONS: &[&str] = &{
    let mut ids = [""; schema::COLLECTIONS.len()];
    let mut at = 0;
    while at < ids.len() {
        ids[at] = schema::COLLECTIONS[at].id;
        at += 1;
    }
    ids
};

/// Methods that a policy may accept.
pub const METHODS: &[&str] = &["local", "ci", "manual"];

/// Keys of a card's header that cannot be the name of an axis.
pub(super) const RESERVED: &[&str] = &[
    "archived",
    "area",
    "body",
    "claimed_at",
    "claimed_by",
    "created",
    "depends",
    "due",
    "effort",
    "file",
    "id",
    "milestone",
    "origin",
    "parent",
    "priority",
    "raised",
    "related",
    "revision",
    "scope",
    "source",
    "start",
    "status",
    "tags",
    "title",
    "type",
    "updated",
    "verified",
    "verify",
    "assets",
    "kind",
    "recordType",
    "path",
    "axes",
    "acceptance",
];

/// Keys that hold a path inside the workspace.
pub(in crate::workspace) const CONTAINED: &[&str] = &[
    "storage.root",
    "storage.cache",
    "cards.path",
    "cards.archivePath",
    "cards.assetsPath",
    "docs.managedPath",
    "changelog.fragmentsPath",
    "changelog.releasesPath",
    "memory.path",
    "agents.canonicalInstructions",
    "agents.workflowsPath",
];

/// What a key may hold.
pub(super) enum Rule {
    /// Whatever the function accepts; the text says what that is.
    Is(fn(&Json) -> bool, &'static str),
    /// A whole number, at least the first and at most the second.
    Whole(u32, Option<u32>),
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// An element of the list at another key.
    ElementOf(&'static str),
    /// A list of texts.
    List(Length),
    /// A list of texts, each one of these.
    ListOf(Length, &'static [&'static str]),
    /// A rule of its own; the function reports at the key it is given.
    Own(fn(&mut Issues, &str, &Json)),
}

/// Whether a list may be empty.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Length {
    /// It may.
    Any,
    /// It may not.
    Some,
}

/// One row: key, rule, and the code when the rule does not hold.
///
/// The list rules have codes of their own (`CONFIG_LIST_*`); the code of such a row is that of an element which is not
/// allowed. A key below something that is no object is not looked at: its parent's row has spoken.
pub(super) struct Key(pub(super) &'static str, pub(super) Rule, pub(super) Code);

const SECTION: Rule = Rule::Is(Json::is_object, "an object");
const PREFIX: Rule = Rule::Is(is_prefix, "a capital letter and at most 7 more capital letters or digits");
const TEXT: Rule = Rule::Is(is_text, "a text that is not blank");
const SWITCH: Rule = Rule::Is(Json::is_boolean, "true or false");
const ANY: Length = Length::Any;
const SOME: Length = Length::Some;
const MESSAGE_BYTES: Rule = Rule::Whole(1024, Some(16_777_216));

/// The keys that are checked. What is not here loads whatever it holds.
pub(super) const KEYS: &[Key] = &[
    Key("schemaVersion", Rule::Is(is_schema, "2"), Code::CONFIG_SCHEMA_UNSUPPORTED),
    Key("name", TEXT, Code::CONFIG_NAME_REQUIRED),
    Key("storage", SECTION, Code::CONFIG_STORAGE_REQUIRED),
    Key("cards", SECTION, Code::CONFIG_CARDS_REQUIRED),
    Key("cards.areas", Rule::Own(check::areas), Code::CONFIG_CARDS_AREAS_REQUIRED),
    Key("cards.axes", Rule::Own(check::axes), Code::CONFIG_CARDS_AXES_INVALID),
    Key("cards.verification", SECTION, Code::CONFIG_CARDS_VERIFICATION_INVALID),
    Key("cards.verification.commands", Rule::Own(check::commands), Code::CONFIG_CARDS_VERIFICATION_INVALID),
    Key(
        "cards.verification.timeoutSeconds",
        Rule::Whole(1, Some(43_200)),
        Code::CONFIG_CARDS_VERIFY_TIMEOUT_INVALID,
    ),
    Key(
        "cards.verification.methods",
        Rule::Own(check::methods),
        Code::CONFIG_CARDS_VERIFICATION_METHODS_INVALID,
    ),
    Key("cards.idPrefix", PREFIX, Code::CONFIG_CARD_PREFIX_INVALID),
    Key("cards.maxHierarchyDepth", Rule::Whole(0, Some(10)), Code::CONFIG_HIERARCHY_DEPTH_INVALID),
    Key("cards.claimLeaseHours", Rule::Is(is_positive, "a number above 0"), Code::CONFIG_CLAIM_LEASE_INVALID),
    Key("docs", SECTION, Code::CONFIG_DOCS_REQUIRED),
    Key("docs.sources", Rule::List(SOME), Code::CONFIG_LIST_VALUE_INVALID),
    Key("docs.exclude", Rule::List(ANY), Code::CONFIG_LIST_VALUE_INVALID),
    Key("docs.routeRoots", Rule::List(ANY), Code::CONFIG_LIST_VALUE_INVALID),
    Key("docs.kinds", Rule::List(SOME), Code::CONFIG_LIST_VALUE_INVALID),
    Key("docs.statuses", Rule::List(SOME), Code::CONFIG_LIST_VALUE_INVALID),
    Key("docs.idPrefix", PREFIX, Code::CONFIG_DOC_PREFIX_INVALID),
    Key("docs.layout", Rule::OneOf(&["flat", "kind"]), Code::CONFIG_DOC_LAYOUT_INVALID),
    Key("docs.defaultKind", Rule::ElementOf("docs.kinds"), Code::CONFIG_DOC_DEFAULT_KIND_INVALID),
    Key("docs.defaultStatus", Rule::ElementOf("docs.statuses"), Code::CONFIG_DOC_DEFAULT_STATUS_INVALID),
    Key("docs.reviewIntervalDays", Rule::Whole(0, None), Code::CONFIG_DOC_REVIEW_INTERVAL_INVALID),
    Key("docs.maxFileBytes", Rule::Whole(1024, None), Code::CONFIG_DOC_MAX_FILE_BYTES_INVALID),
    Key("changelog", SECTION, Code::CONFIG_CHANGELOG_REQUIRED),
    Key("changelog.idPrefix", PREFIX, Code::CONFIG_CHANGELOG_PREFIX_INVALID),
    Key("changelog.releasePrefix", PREFIX, Code::CONFIG_RELEASE_PREFIX_INVALID),
    Key("changelog.types", Rule::List(SOME), Code::CONFIG_LIST_VALUE_INVALID),
    Key("changelog.visibilities", Rule::List(SOME), Code::CONFIG_LIST_VALUE_INVALID),
    Key(
        "changelog.defaultType",
        Rule::ElementOf("changelog.types"),
        Code::CONFIG_CHANGELOG_DEFAULT_TYPE_INVALID,
    ),
    Key(
        "changelog.defaultVisibility",
        Rule::ElementOf("changelog.visibilities"),
        Code::CONFIG_CHANGELOG_DEFAULT_VISIBILITY_INVALID,
    ),
    Key(
        "changelog.releaseStrategy",
        Rule::OneOf(&["semver", "calendar", "freeform"]),
        Code::CONFIG_RELEASE_STRATEGY_INVALID,
    ),
    Key("memory", SECTION, Code::CONFIG_MEMORY_REQUIRED),
    Key("memory.collections", Rule::ListOf(SOME, COLLECTIONS), Code::CONFIG_MEMORY_COLLECTION_UNSUPPORTED),
    Key("agents", SECTION, Code::CONFIG_AGENTS_REQUIRED),
    Key("agents.targets", Rule::ListOf(ANY, AGENT_TARGETS), Code::CONFIG_AGENT_TARGET_UNSUPPORTED),
    Key("agents.canonicalInstructions", TEXT, Code::CONFIG_AGENT_PATH_INVALID),
    Key("agents.workflowsPath", TEXT, Code::CONFIG_AGENT_PATH_INVALID),
    Key("ci", SECTION, Code::CONFIG_CI_REQUIRED),
    Key("ci.targets", Rule::ListOf(ANY, CI_TARGETS), Code::CONFIG_CI_TARGET_UNSUPPORTED),
    Key(
        "ci.nodeVersion",
        Rule::Is(is_node_version, "a version like 22 or 22.1"),
        Code::CONFIG_CI_NODE_VERSION_INVALID,
    ),
    Key("mcp", SECTION, Code::CONFIG_MCP_REQUIRED),
    Key("mcp.enabled", SWITCH, Code::CONFIG_MCP_BOOLEAN_INVALID),
    Key("mcp.allowMutations", SWITCH, Code::CONFIG_MCP_BOOLEAN_INVALID),
    Key("mcp.transport", Rule::OneOf(&["stdio"]), Code::CONFIG_MCP_TRANSPORT_INVALID),
    Key("mcp.resourcePageSize", Rule::Whole(1, Some(500)), Code::CONFIG_MCP_LIMIT_INVALID),
    Key("mcp.maxMessageBytes", MESSAGE_BYTES, Code::CONFIG_MCP_LIMIT_INVALID),
    Key("mcp.maxToolResultBytes", MESSAGE_BYTES, Code::CONFIG_MCP_LIMIT_INVALID),
    Key("search", SECTION, Code::CONFIG_SEARCH_REQUIRED),
    Key(
        "search.provider",
        Rule::Is(is_text_or_null, "null or a text that is not blank"),
        Code::CONFIG_SEARCH_PROVIDER_INVALID,
    ),
    Key(
        "search.semanticWeight",
        Rule::Is(is_share, "a number from 0 to 1"),
        Code::CONFIG_SEARCH_WEIGHT_INVALID,
    ),
    Key("search.maxProviderRecords", Rule::Whole(1, Some(5000)), Code::CONFIG_SEARCH_PROVIDER_LIMIT_INVALID),
    Key("ui", Rule::Own(check::ui), Code::CONFIG_UI_PORT_INVALID),
];

fn is_schema(value: &Json) -> bool {
    value.as_f64() == Some(f64::from(super::super::SCHEMA_VERSION))
}

pub(super) fn is_text(value: &Json) -> bool {
    value.as_str().is_some_and(|text| !trim(text).is_empty())
}

fn is_text_or_null(value: &Json) -> bool {
    value.is_null() || is_text(value)
}

fn is_prefix(value: &Json) -> bool {
    let Some(text) = value.as_str() else { return false };
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_uppercase())
        && text.len() <= 8
        && bytes.all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
}

fn is_positive(value: &Json) -> bool {
    value.as_f64().is_some_and(|number| number > 0.0 && number.is_finite())
}

fn is_share(value: &Json) -> bool {
    value.as_f64().is_some_and(|number| (0.0..=1.0).contains(&number))
}

/// `22` and `22.1`; a number counts as the text it prints as.
fn is_node_version(value: &Json) -> bool {
    let text = match value {
        Json::String(text) => text.clone(),
        Json::Number(number) => number.to_string(),
        _ => return false,
    };
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    match text.split_once('.') {
        Some((major, minor)) => digits(major) && digits(minor),
        None => digits(&text),
    }
}
