use super::rules::KEYS;
use super::*;
use crate::failure::Code;
use proptest::prelude::*;
use serde_json::json;

fn merged(own: Json) -> Json {
    match own {
        Json::Object(own) => merge(own),
        other => panic!("{other}"),
    }
}

/// `code path` of every problem.
fn problems(own: Json) -> Vec<String> {
    issues(&merged(own)).iter().map(|issue| format!("{} {}", issue.code.name, issue.path)).collect()
}

/// An object that holds `value` at a dotted key.
fn holding(path: &str, value: Json) -> Json {
    path.rsplit('.').fold(value, |value, key| json!({ key: value }))
}

#[test]
fn every_key_that_is_checked_has_a_default_and_every_default_is_valid() {
    let defaults = merged(json!({}));
    let keys = KEYS.iter().map(|key| key.0).chain(CONTAINED.iter().copied());
    for key in keys {
        assert!(
            at(&defaults, key).is_some_and(|value| !value.is_null() || key == "search.provider"),
            "{key}"
        );
    }
    assert!(issues(&defaults).is_empty());
    let config = Config::of(&defaults);
    assert_eq!((&*config.name, &*config.cards.id_prefix), ("Unnamed project", "T"));
    assert_eq!(config.cards.max_hierarchy_depth, 2);
    assert!(config.cards.enabled && config.cards.activity_trail);
    // Who judges a claim without a configuration knows the same lease.
    assert!((config.cards.claim_lease_hours - crate::activity::claim::LEASE_HOURS).abs() < f64::EPSILON);
}

#[test]
fn every_rule_is_broken_once() {
    let nul = "a\u{0}b";
    let rows: &[(&str, Json, &str)] = &[
        ("schemaVersion", json!(1), "CONFIG_SCHEMA_UNSUPPORTED"),
        ("schemaVersion", json!("2"), "CONFIG_SCHEMA_UNSUPPORTED"),
        ("name", json!(7), "CONFIG_NAME_REQUIRED"),
        ("storage", json!(null), "CONFIG_STORAGE_REQUIRED"),
        ("cards", json!([]), "CONFIG_CARDS_REQUIRED"),
        ("cards.areas", json!([]), "CONFIG_CARDS_AREAS_REQUIRED"),
        ("cards.areas", json!("core"), "CONFIG_CARDS_AREAS_REQUIRED"),
        ("cards.areas", json!(["core", " \u{feff}"]), "CONFIG_CARDS_AREA_INVALID"),
        ("cards.areas", json!(["core", "core"]), "CONFIG_CARDS_AREA_DUPLICATE"),
        ("cards.axes", json!([]), "CONFIG_CARDS_AXES_INVALID"),
        ("cards.axes.2x", json!(["a"]), "CONFIG_CARDS_AXIS_NAME_INVALID"),
        ("cards.axes.claimed_by", json!(["a"]), "CONFIG_CARDS_AXIS_RESERVED"),
        ("cards.axes.size", json!("a"), "CONFIG_LIST_INVALID"),
        ("cards.axes.size", json!([]), "CONFIG_LIST_EMPTY"),
        ("cards.axes.size", json!([1]), "CONFIG_LIST_VALUE_INVALID"),
        ("cards.axes.size", json!(["a", "a"]), "CONFIG_LIST_VALUE_DUPLICATE"),
        ("cards.verification", json!(null), "CONFIG_CARDS_VERIFICATION_INVALID"),
        ("cards.verification.commands", json!({}), "CONFIG_CARDS_VERIFICATION_INVALID"),
        ("cards.verification.timeoutSeconds", json!(0.5), "CONFIG_CARDS_VERIFY_TIMEOUT_INVALID"),
        ("cards.verification.timeoutSeconds", json!(43_201), "CONFIG_CARDS_VERIFY_TIMEOUT_INVALID"),
        ("cards.verification.methods", json!([]), "CONFIG_CARDS_VERIFICATION_METHODS_INVALID"),
        ("cards.verification.methods.x", json!(["forced"]), "CONFIG_CARDS_VERIFICATION_METHOD_INVALID"),
        ("cards.verification.methods.*", json!([]), "CONFIG_LIST_EMPTY"),
        ("cards.idPrefix", json!("ABCDEFGHI"), "CONFIG_CARD_PREFIX_INVALID"),
        ("cards.maxHierarchyDepth", json!(11), "CONFIG_HIERARCHY_DEPTH_INVALID"),
        ("cards.claimLeaseHours", json!(0), "CONFIG_CLAIM_LEASE_INVALID"),
        ("docs", json!(1), "CONFIG_DOCS_REQUIRED"),
        ("docs.sources", json!([]), "CONFIG_LIST_EMPTY"),
        ("docs.exclude", json!([[]]), "CONFIG_LIST_VALUE_INVALID"),
        ("docs.routeRoots", json!("docs"), "CONFIG_LIST_INVALID"),
        ("docs.statuses", json!(["draft", "draft"]), "CONFIG_LIST_VALUE_DUPLICATE"),
        ("docs.idPrefix", json!("doc"), "CONFIG_DOC_PREFIX_INVALID"),
        ("docs.layout", json!("deep"), "CONFIG_DOC_LAYOUT_INVALID"),
        ("docs.defaultKind", json!("essay"), "CONFIG_DOC_DEFAULT_KIND_INVALID"),
        ("docs.defaultStatus", json!(null), "CONFIG_DOC_DEFAULT_STATUS_INVALID"),
        ("docs.reviewIntervalDays", json!(-1), "CONFIG_DOC_REVIEW_INTERVAL_INVALID"),
        ("docs.maxFileBytes", json!(1023), "CONFIG_DOC_MAX_FILE_BYTES_INVALID"),
        ("changelog", json!(false), "CONFIG_CHANGELOG_REQUIRED"),
        ("changelog.idPrefix", json!(""), "CONFIG_CHANGELOG_PREFIX_INVALID"),
        ("changelog.releasePrefix", json!("R-"), "CONFIG_RELEASE_PREFIX_INVALID"),
        ("changelog.defaultType", json!("other"), "CONFIG_CHANGELOG_DEFAULT_TYPE_INVALID"),
        ("changelog.defaultVisibility", json!(["public"]), "CONFIG_CHANGELOG_DEFAULT_VISIBILITY_INVALID"),
        ("changelog.releaseStrategy", json!("never"), "CONFIG_RELEASE_STRATEGY_INVALID"),
        ("memory", json!(0), "CONFIG_MEMORY_REQUIRED"),
        ("memory.collections", json!(["dreams"]), "CONFIG_MEMORY_COLLECTION_UNSUPPORTED"),
        ("agents", json!(null), "CONFIG_AGENTS_REQUIRED"),
        ("agents.targets", json!(["abacus"]), "CONFIG_AGENT_TARGET_UNSUPPORTED"),
        ("agents.canonicalInstructions", json!(" "), "CONFIG_AGENT_PATH_INVALID"),
        ("agents.workflowsPath", json!(7), "CONFIG_AGENT_PATH_INVALID"),
        ("ci", json!([]), "CONFIG_CI_REQUIRED"),
        ("ci.targets", json!(["jenkins"]), "CONFIG_CI_TARGET_UNSUPPORTED"),
        ("ci.nodeVersion", json!("22.x"), "CONFIG_CI_NODE_VERSION_INVALID"),
        ("mcp", json!("on"), "CONFIG_MCP_REQUIRED"),
        ("mcp.enabled", json!(1), "CONFIG_MCP_BOOLEAN_INVALID"),
        ("mcp.allowMutations", json!(null), "CONFIG_MCP_BOOLEAN_INVALID"),
        ("mcp.transport", json!("http"), "CONFIG_MCP_TRANSPORT_INVALID"),
        ("mcp.resourcePageSize", json!(501), "CONFIG_MCP_LIMIT_INVALID"),
        ("mcp.maxMessageBytes", json!(1023), "CONFIG_MCP_LIMIT_INVALID"),
        ("mcp.maxToolResultBytes", json!(16_777_217), "CONFIG_MCP_LIMIT_INVALID"),
        ("search", json!(null), "CONFIG_SEARCH_REQUIRED"),
        ("search.provider", json!(""), "CONFIG_SEARCH_PROVIDER_INVALID"),
        ("search.semanticWeight", json!(1.01), "CONFIG_SEARCH_WEIGHT_INVALID"),
        ("search.maxProviderRecords", json!(0), "CONFIG_SEARCH_PROVIDER_LIMIT_INVALID"),
        ("ui.port", json!(65_536), "CONFIG_UI_PORT_INVALID"),
    ];
    for (path, value, code) in rows {
        assert_eq!(problems(holding(path, value.clone())), [format!("{code} {path}")], "{value}");
    }
    for (value, code, path) in [
        (json!([["make"], []]), "CONFIG_CARDS_VERIFY_COMMAND_INVALID", "[1]"),
        (json!([[nul]]), "CONFIG_CARDS_VERIFY_COMMAND_INVALID", "[0]"),
        (json!(["make"]), "CONFIG_CARDS_VERIFY_COMMAND_INVALID", "[0]"),
        (json!([["make", "a"], ["make", "a"]]), "CONFIG_LIST_VALUE_DUPLICATE", ""),
    ] {
        let wanted = format!("{code} cards.verification.commands{path}");
        assert_eq!(problems(holding("cards.verification.commands", value)), [wanted]);
    }
    assert_eq!(problems(json!({"ui": null})), ["CONFIG_UI_PORT_INVALID ui.port"]);

    let mut raised: Vec<&str> = rows.iter().map(|row| row.2).collect();
    raised.push("CONFIG_CARDS_VERIFY_COMMAND_INVALID");
    let elsewhere = [
        Code::CONFIG_SCHEMA_MISMATCH,
        Code::CONFIG_PATH_OUTSIDE_WORKSPACE,
        Code::CONFIG_SYNTAX_UNSUPPORTED,
        Code::CONFIG_SYNTAX_INVALID,
        Code::CONFIG_AMBIGUOUS,
    ];
    for code in Code::ALL.iter().filter(|code| code.name.starts_with("CONFIG_") && !elsewhere.contains(code))
    {
        assert!(raised.contains(&code.name), "{} is raised by no row", code.name);
    }
}

#[test]
fn what_the_rules_allow_loads() {
    for (path, value) in [
        ("schemaVersion", json!(2.0)),
        ("name", json!(" ")),
        ("name", json!(null)),
        ("cards.axes", json!({"a_1": ["x"]})),
        ("cards.verification.methods", json!({"*": ["local", "ci", "manual"], "nowhere": ["ci"]})),
        ("cards.claimLeaseHours", json!(0.25)),
        ("cards.tags", json!(7)),
        ("docs.exclude", json!([])),
        ("agents.targets", json!([])),
        ("agents.targets", json!(AGENT_TARGETS)),
        ("ci.nodeVersion", json!(22)),
        ("ci.targets", json!(CI_TARGETS)),
        ("search.provider", json!("x")),
        ("ui.port", json!(0)),
        ("ui.host", json!([])),
        ("language", json!("pt")),
        ("cards.unknown", json!({"deep": [null]})),
        ("changelog.output", json!(null)),
    ] {
        assert_eq!(problems(holding(path, value)), [""; 0], "{path}");
    }
}

#[test]
fn problems_come_in_the_order_of_the_table_and_sections_that_are_none_are_not_entered() {
    let found = problems(json!({
        "ui": 1,
        "docs": { "kinds": [], "idPrefix": "x" },
        "cards": { "maxHierarchyDepth": 11, "axes": { "recordType": [], "size": ["s"] }, "areas": ["", ""] },
        "schemaVersion": 3,
        "mcp": "x",
    }));
    assert_eq!(
        found,
        [
            "CONFIG_SCHEMA_UNSUPPORTED schemaVersion",
            "CONFIG_CARDS_AREA_INVALID cards.areas",
            "CONFIG_CARDS_AREA_DUPLICATE cards.areas",
            "CONFIG_CARDS_AXIS_NAME_INVALID cards.axes.recordType",
            "CONFIG_CARDS_AXIS_RESERVED cards.axes.recordType",
            "CONFIG_LIST_EMPTY cards.axes.recordType",
            "CONFIG_HIERARCHY_DEPTH_INVALID cards.maxHierarchyDepth",
            "CONFIG_LIST_EMPTY docs.kinds",
            "CONFIG_DOC_PREFIX_INVALID docs.idPrefix",
            "CONFIG_DOC_DEFAULT_KIND_INVALID docs.defaultKind",
            "CONFIG_MCP_REQUIRED mcp",
            "CONFIG_UI_PORT_INVALID ui.port",
        ]
    );
}

#[test]
fn objects_merge_at_every_depth_and_lists_replace() {
    let merged = merged(json!({
        "name": "Demo",
        "cards": { "areas": ["a"], "verification": { "timeoutSeconds": 5 }, "enabled": "", "activityTrail": 0 },
    }));
    let config = Config::of(&merged);
    assert_eq!(merged["cards"]["verification"], json!({"commands": [], "timeoutSeconds": 5, "methods": {}}));
    assert_eq!(config.cards.areas, ["a"]);
    // A switch is read as a truth value; the trail is off only when it says `false`.
    assert!(!config.cards.enabled && config.cards.activity_trail);
    assert_eq!(merged["storage"]["cache"], ".project/.cache");
}

proptest! {
    #[test]
    fn whatever_stands_at_a_key_gets_an_answer(
        key in prop::sample::select(KEYS.iter().map(|key| key.0).collect::<Vec<_>>()),
        value in prop_oneof![
            Just(json!(null)), Just(json!(f64::MAX)), Just(json!(u64::MAX)), Just(json!(i64::MIN)), Just(json!(-0.0)), Just(json!("")),
            Just(json!([null])), Just(json!({"": []})), Just(json!([[[]]])), any::<f64>().prop_map(|n| json!(n)), ".*".prop_map(Json::from),
        ],
    ) {
        let merged = merged(holding(key, value));
        if issues(&merged).is_empty() {
            let config = Config::of(&merged);
            prop_assert!(config.cards.claim_lease_hours > 0.0 && !config.cards.areas.is_empty());
        }
    }
}
