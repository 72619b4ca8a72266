//! The hooks as they are registered: taken from the settings that an install writes, run as a host runs them.

use crate::golden::cases;
use crate::golden_hooks::HookCase;
use crate::world::World;
use serde_json::Value as Json;
use std::process::Command;

/// At least one case for each event that is registered.
const CASES: &[&str] = &[
    "001-own-scope",
    "002-other-session-scope",
    "032-notebook-path",
    "036-record-card",
    "074-start-claims",
    "085-post-read-heartbeat",
    "086-post-edit-ledger",
    "096-bash-holder-signalling",
    "115-failure-event",
];

#[test]
fn registered_hooks_answer_as_recorded() {
    let world = World::new();
    world.run(["claude", "install", "--json"]).json();
    let settings: Json = serde_json::from_str(&world.read(".claude/settings.json")).unwrap();
    let mut events = std::collections::BTreeSet::new();
    for (name, archive) in cases("hooks").iter().filter(|(name, _)| CASES.contains(&name.as_str())) {
        let payload: Json = serde_json::from_str(archive.text("stdin.json")).unwrap();
        let event = payload["hook_event_name"].as_str().unwrap();
        let groups = settings["hooks"][event].as_array().unwrap();
        let tool = payload["tool_name"].as_str().unwrap_or_default();
        let fires = |group: &&Json| {
            let matcher = group["matcher"].as_str().unwrap();
            matcher == "*" || matcher.split('|').any(|wanted| wanted == tool)
        };
        let handlers: Vec<_> =
            groups.iter().filter(fires).flat_map(|group| group["hooks"].as_array().unwrap()).collect();
        assert_eq!(handlers.len(), 1, "{name}: {event} of {tool}");
        let program = Command::new(handlers[0]["command"].as_str().unwrap());
        let args: Vec<String> = serde_json::from_value(handlers[0]["args"].clone()).unwrap();
        let case: Json = serde_json::from_str(archive.text("case.json")).unwrap();
        assert_eq!(HookCase::new(archive, case).run(program, &args), Vec::<String>::new(), "{name}");
        events.insert(event.to_owned());
    }
    let registered: std::collections::BTreeSet<_> =
        settings["hooks"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(events, registered);
}
