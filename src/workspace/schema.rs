//! The effective vocabularies: what is fixed, what the project declared, and the defaults.

use super::config::{at, is_true};
use serde_json::{Value as Json, json};

/// States of a card.
pub const STATUSES: &[&str] =
    &["backlog", "next", "doing", "review", "blocked", "deferred", "done", "discarded"];

/// Types of a card.
pub const TYPES: &[&str] = &["epic", "idea", "feature", "bug", "task", "audit", "docs", "chore"];

/// Priorities of a card, the most pressing first.
pub const PRIORITIES: &[&str] = &["critical", "high", "medium", "low"];

/// Efforts of a card.
pub const EFFORTS: &[&str] = &["S", "M", "L"];

/// What is fixed about a memory collection.
#[derive(Debug, PartialEq, Eq)]
pub struct Collection {
    /// Its name, which is that of its folder: `learnings`.
    pub id: &'static str,
    /// What one record of it is called: `learning`.
    pub singular: &'static str,
    /// The id prefix.
    pub prefix: &'static str,
    /// States; the first is the default.
    pub statuses: &'static [&'static str],
}

/// Every memory collection there is.
pub const COLLECTIONS: [Collection; 5] = [
    Collection {
        id: "learnings",
        singular: "learning",
        prefix: "LRN",
        statuses: &["active", "graduated", "superseded", "discarded"],
    },
    Collection {
        id: "decisions",
        singular: "decision",
        prefix: "ADR",
        statuses: &["proposed", "accepted", "rejected", "superseded"],
    },
    Collection {
        id: "incidents",
        singular: "incident",
        prefix: "INC",
        statuses: &["open", "mitigated", "resolved", "closed"],
    },
    Collection {
        id: "conventions",
        singular: "convention",
        prefix: "CONV",
        statuses: &["draft", "active", "deprecated", "superseded"],
    },
    Collection {
        id: "context",
        singular: "context",
        prefix: "CTX",
        statuses: &["active", "expired", "resolved"],
    },
];

/// The schema of a checked configuration.
pub(super) fn of(merged: &Json) -> Json {
    let value = |path: &str| at(merged, path).cloned().unwrap_or(Json::Null);
    let on = |module: &str| is_true(&merged[module]["enabled"]);
    let enabled = merged["memory"]["collections"].as_array().into_iter().flatten();
    let collections: Vec<Json> = enabled
        .filter_map(|id| COLLECTIONS.iter().find(|collection| id == collection.id))
        .map(|collection| {
            json!({
                "id": collection.id,
                "singular": collection.singular,
                "idPrefix": collection.prefix,
                "statuses": collection.statuses,
            })
        })
        .collect();
    json!({
        "schemaVersion": value("schemaVersion"),
        "modules": {
            "cards": on("cards"),
            "docs": on("docs"),
            "changelog": on("changelog"),
            "memory": on("memory"),
            "agents": on("agents"),
            "ci": on("ci"),
            "mcp": on("mcp"),
        },
        "cards": {
            "statuses": STATUSES,
            "types": TYPES,
            "priorities": PRIORITIES,
            "efforts": EFFORTS,
            "areas": value("cards.areas"),
            "axes": value("cards.axes"),
            "verification": {
                "commands": value("cards.verification.commands"),
                "timeoutSeconds": value("cards.verification.timeoutSeconds"),
                "methods": value("cards.verification.methods"),
            },
        },
        "docs": {
            "kinds": value("docs.kinds"),
            "statuses": value("docs.statuses"),
            "layout": value("docs.layout"),
            "managedPath": value("docs.managedPath"),
            "defaults": { "kind": value("docs.defaultKind"), "status": value("docs.defaultStatus") },
        },
        "memory": { "collections": collections },
        "agents": {
            "targets": value("agents.targets"),
            "canonicalInstructions": value("agents.canonicalInstructions"),
            "workflowsPath": value("agents.workflowsPath"),
        },
        "ci": { "targets": value("ci.targets"), "nodeVersion": value("ci.nodeVersion") },
        "mcp": {
            "transport": value("mcp.transport"),
            "allowMutations": value("mcp.allowMutations"),
            "resourcePageSize": value("mcp.resourcePageSize"),
        },
        "search": {
            "provider": value("search.provider"),
            "semanticWeight": value("search.semanticWeight"),
            "maxProviderRecords": value("search.maxProviderRecords"),
        },
        "changelog": {
            "releaseStrategy": value("changelog.releaseStrategy"),
            "types": value("changelog.types"),
            "visibilities": value("changelog.visibilities"),
            "defaults": {
                "type": value("changelog.defaultType"),
                "visibility": value("changelog.defaultVisibility"),
            },
        },
    })
}
