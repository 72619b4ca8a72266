//! The table of defaults: what a workspace without a configuration file has.

use serde_json::{Map, Value as Json, json};

/// The name of a project that has none.
pub(super) const NAME: &str = "Unnamed project";

/// Every key that has a default, in the order of the format's description.
pub(super) fn all() -> Map<String, Json> {
    let table = json!({
        "schemaVersion": super::super::SCHEMA_VERSION,
        "name": NAME,
        "storage": { "root": ".project", "cache": ".project/.cache" },
        "cards": {
            "enabled": true,
            "path": ".project/cards",
            "archivePath": ".project/cards/archive",
            "assetsPath": ".project/assets",
            "areas": ["general"],
            "axes": {},
            "verification": { "commands": [], "timeoutSeconds": 600, "methods": {} },
            "idPrefix": "T",
            "maxHierarchyDepth": 2,
            "claimLeaseHours": 24,
            "activityTrail": true,
            "tags": [],
        },
        "docs": {
            "enabled": true,
            "managedPath": ".project/docs",
            "sources": ["README.md", "docs/**/*.md", ".project/specs/**/*.md"],
            "exclude": ["**/node_modules/**", "**/vendor/**", ".git/**", ".project/.cache/**"],
            "routeRoots": [],
            "kinds": ["architecture", "product", "runbook", "guide", "reference", "research", "spec", "handoff"],
            "statuses": ["draft", "current", "stale", "superseded", "archived"],
            "idPrefix": "DOC",
            "layout": "kind",
            "defaultKind": "reference",
            "defaultStatus": "draft",
            "reviewIntervalDays": 180,
            "maxFileBytes": 2_097_152,
        },
        "changelog": {
            "enabled": true,
            "idPrefix": "CHG",
            "releasePrefix": "REL",
            "types": ["added", "changed", "fixed", "deprecated", "removed", "security", "internal"],
            "visibilities": ["public", "internal"],
            "defaultType": "changed",
            "defaultVisibility": "public",
            "releaseStrategy": "semver",
            "fragmentsPath": ".project/changelog/unreleased",
            "releasesPath": ".project/changelog/releases",
            "output": "CHANGELOG.md",
        },
        "memory": {
            "enabled": true,
            "path": ".project/memory",
            "collections": super::rules::COLLECTIONS,
        },
        "agents": {
            "enabled": true,
            "targets": ["agents-md"],
            "canonicalInstructions": ".project/agents/protocol.md",
            "workflowsPath": ".project/agents/workflows",
        },
        "ci": { "enabled": true, "targets": [], "nodeVersion": "22" },
        "mcp": {
            "enabled": true,
            "allowMutations": true,
            "transport": "stdio",
            "resourcePageSize": 100,
            "maxMessageBytes": 1_048_576,
            "maxToolResultBytes": 524_288,
        },
        "search": { "provider": null, "semanticWeight": 0.35, "maxProviderRecords": 500 },
        "ui": { "port": 4747, "host": "127.0.0.1", "open": true },
    });
    match table {
        Json::Object(table) => table,
        _ => Map::new(),
    }
}
