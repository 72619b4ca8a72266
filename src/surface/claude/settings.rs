//! `.claude/settings.json`: this program's handlers put into a file that belongs to the repository.
//!
//! Handlers are owned, not events: a group of another tool stays in its place and order, byte for byte, as does every
//! key that is not `hooks`. A file that is right by value is not touched, whatever its layout.

mod handlers;
mod without;

use super::hooks::{HOOKS, Hook, is_ours, wiring};
use super::jsonedit::{Fate, Layout, Splice, apply};
use super::jsontext::{Member, Node, Problem, parse, problem};
pub(super) use handlers::{Handler, Start};
use serde_json::json;
pub(super) use without::containers;

/// A settings file, read.
pub(super) struct Settings<'t> {
    text: &'t str,
    root: Node,
}

/// What a group is to us.
enum Group {
    /// Nothing of ours is in it.
    Foreign,
    /// Every handler is ours.
    Ours,
    /// Some are; the flags say which.
    Mixed(Vec<bool>),
}

impl Group {
    fn of(group: &Node) -> Self {
        let handlers = handlers(group);
        let ours: Vec<bool> = handlers.iter().map(is_ours).collect();
        match ours.iter().filter(|ours| **ours).count() {
            0 => Self::Foreign,
            count if count == ours.len() => Self::Ours,
            _ => Self::Mixed(ours),
        }
    }
}

fn handlers(group: &Node) -> &[Node] {
    group.get("hooks").and_then(Node::elements).unwrap_or_default()
}

fn generated(event: &str) -> Option<&'static Hook> {
    HOOKS.iter().find(|hook| hook.event == event)
}

impl<'t> Settings<'t> {
    /// Reads a file. A problem is a conflict: nothing in the file may change.
    pub(super) fn read(bytes: &'t [u8]) -> Result<Self, Problem> {
        let (text, root) = parse(bytes)?;
        let wrong = |node: &Node, what: &str| Err(problem(text, node.span.start, what));
        let Some(members) = root.members() else { return wrong(&root, "the file is not an object") };
        let mut hooks = members.iter().filter(|member| member.key == "hooks");
        let Some(first) = hooks.next() else { return Ok(Self { text, root }) };
        if let Some(second) = hooks.next() {
            return Err(problem(text, second.start, "`hooks` stands there twice"));
        }
        let Some(events) = first.value.members() else {
            return wrong(&first.value, "`hooks` is not an object");
        };
        if let Some(twice) = first.value.duplicate() {
            return Err(problem(text, twice.start, format!("`{}` stands there twice", twice.key)));
        }
        for event in events {
            if generated(&event.key).is_some() && event.value.elements().is_none() {
                return wrong(&event.value, &format!("`hooks.{}` is not a list", event.key));
            }
        }
        Ok(Self { text, root })
    }

    fn hooks(&self) -> Option<&Node> {
        self.root.get("hooks")
    }

    fn events(&self) -> &[Member] {
        self.hooks().and_then(Node::members).unwrap_or_default()
    }

    /// Whether `disableAllHooks` is set.
    pub(super) fn disables_hooks(&self) -> bool {
        self.root.get("disableAllHooks").is_some_and(Node::is_true)
    }

    /// Whether a plugin is switched on here.
    pub(super) fn enables_plugin(&self, plugin: &str) -> bool {
        self.root.get("enabledPlugins").and_then(|plugins| plugins.get(plugin)).is_some_and(Node::is_true)
    }

    /// Whether any handler is ours.
    pub(super) fn has_hooks(&self) -> bool {
        let groups = self.events().iter().flat_map(|event| event.value.elements().unwrap_or_default());
        groups.flat_map(handlers).any(is_ours)
    }

    /// The keys whose value is not what an install would write, in the order of [`HOOKS`], leftovers last.
    pub(super) fn drift(&self, command: &str) -> Vec<String> {
        let event = |hook: &Hook| self.events().iter().find(|event| event.key == hook.event);
        let is_settled =
            |hook: &Hook| event(hook).is_some_and(|event| is_settled(&event.value, hook, command));
        let drifted = HOOKS.iter().filter(|hook| !is_settled(hook)).map(Hook::key);
        let leftover = self.events().iter().filter(|event| {
            let groups = event.value.elements().unwrap_or_default();
            generated(&event.key).is_none()
                && groups.iter().any(|group| !matches!(Group::of(group), Group::Foreign))
        });
        drifted.chain(leftover.map(|event| format!("hooks.{} (no longer generated)", event.key))).collect()
    }

    /// The file with our handlers in place; `None` when they are there already.
    pub(super) fn merged(&self, command: &str) -> Option<String> {
        if self.drift(command).is_empty() {
            return None;
        }
        let layout = Layout::of(self.text);
        let mut splices = Vec::new();
        match self.hooks() {
            None => {
                let children: Vec<_> = self
                    .root
                    .members()
                    .unwrap_or_default()
                    .iter()
                    .map(|member| (member.span(), Fate::Keep))
                    .collect();
                let added = layout.render_member("hooks", &wiring(command), 1);
                splices.extend(layout.edit(&self.root.span, &children, &[added], 0));
            }
            Some(hooks) => {
                let mut children = Vec::new();
                for event in self.events() {
                    let (fate, inner) = edit_event(&layout, event, command);
                    splices.extend(inner);
                    children.push((event.span(), fate));
                }
                let missing =
                    HOOKS.iter().filter(|hook| !self.events().iter().any(|event| event.key == hook.event));
                let added: Vec<String> = missing
                    .map(|hook| layout.render_member(hook.event, &json!([hook.group(command)]), 2))
                    .collect();
                splices.extend(layout.edit(&hooks.span, &children, &added, 1));
            }
        }
        let mut text = apply(self.text, splices);
        if !text.ends_with('\n') {
            text.push_str(layout.newline());
        }
        Some(text)
    }
}

/// A file of its own, for a repository that has none.
pub(super) fn fresh(command: &str) -> String {
    Layout::of("").render(&json!({ "hooks": wiring(command) }), 0) + "\n"
}

/// Whether an event holds our handlers once, in a group of their own, as they would be written.
fn is_settled(groups: &Node, hook: &Hook, command: &str) -> bool {
    let mut found = false;
    for group in groups.elements().unwrap_or_default() {
        match Group::of(group) {
            Group::Foreign => {}
            Group::Ours if !found && group.equals(&hook.group(command)) => found = true,
            Group::Ours | Group::Mixed(_) => return false,
        }
    }
    found
}

/// Takes our handlers out of an event and puts our group in, when the event has one: at the place of the first group
/// that goes, else at the end.
fn edit_event(layout: &Layout, event: &Member, command: &str) -> (Fate, Vec<Splice>) {
    let groups = event.value.elements().unwrap_or_default();
    let mut ours = generated(&event.key).map(|hook| hook.group(command));
    let mut splices = Vec::new();
    let mut children = Vec::new();
    for group in groups {
        let fate = match Group::of(group) {
            Group::Foreign => Fate::Keep,
            Group::Mixed(flags) => {
                splices.extend(without_handlers(layout, group, &flags));
                Fate::Keep
            }
            Group::Ours => match ours.take() {
                Some(wanted) if group.equals(&wanted) => Fate::Keep,
                Some(wanted) => Fate::Replace(layout.render(&wanted, 3)),
                None => Fate::Drop,
            },
        };
        children.push((group.span.clone(), fate));
    }
    let is_emptied = !children.is_empty() && children.iter().all(|(_, fate)| matches!(fate, Fate::Drop));
    if is_emptied && ours.is_none() {
        return (Fate::Drop, Vec::new());
    }
    let added: Vec<String> = ours.iter().map(|group| layout.render(group, 3)).collect();
    splices.extend(layout.edit(&event.value.span, &children, &added, 2));
    (Fate::Keep, splices)
}

fn without_handlers(layout: &Layout, group: &Node, ours: &[bool]) -> Vec<Splice> {
    let Some(list) = group.get("hooks") else { return Vec::new() };
    let fates = ours.iter().map(|ours| if *ours { Fate::Drop } else { Fate::Keep });
    let children: Vec<_> = handlers(group).iter().map(|handler| handler.span.clone()).zip(fates).collect();
    layout.edit(&list.span, &children, &[], 4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value as Json;

    const OURS: &str = r#"{"matcher":"Edit|Write|NotebookEdit","hooks":[{"type":"command","command":"workfile","args":["hook","pre-tool-use"],"timeout":5}]}"#;

    fn merged(text: &str) -> Option<String> {
        Settings::read(text.as_bytes()).unwrap().merged("workfile")
    }

    fn drift(text: &str) -> Vec<String> {
        Settings::read(text.as_bytes()).unwrap().drift("workfile")
    }

    fn value(text: &str) -> Json {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_fresh_file_is_settled_whatever_its_layout() {
        let text = fresh("workfile");
        assert_eq!(merged(&text), None);
        assert_eq!(merged(&value(&text).to_string()), None);
        assert!(text.starts_with(
            "{\n  \"hooks\": {\n    \"SessionStart\": [\n      {\n        \"matcher\": \"*\",\n"
        ));
        assert!(text.ends_with("}\n"));
        let other = Settings::read(text.as_bytes()).unwrap().merged("elsewhere/workfile").unwrap();
        assert_eq!(text.replace("\"command\": \"workfile\"", "\"command\": \"elsewhere/workfile\""), other);
    }

    #[test]
    fn a_file_without_hooks_gains_them_and_keeps_its_bytes() {
        let text = "{\n\t\"n\": [1e3, 1.0, 123456789012345678901234567890],\n\t\"s\": \"\\u00e9\\/\"\n}";
        let done = merged(text).unwrap();
        assert!(done.starts_with(text.strip_suffix("\n}").unwrap()));
        assert!(done.contains(",\n\t\"hooks\": {\n\t\t\"SessionStart\": [\n\t\t\t{\n"));
        assert!(done.ends_with("\n\t}\n}\n"));
        assert_eq!(merged(&done), None);
        for empty in ["{}", "\u{feff}{ }\n", "{\"hooks\":{}}", "{\"hooks\":{\"PreToolUse\":[]}}"] {
            let done = merged(empty).unwrap();
            assert_eq!(merged(&done), None, "{done}");
            assert_eq!(done.starts_with('\u{feff}'), empty.starts_with('\u{feff}'));
        }
    }

    #[test]
    fn groups_of_others_stay_where_they_are_byte_for_byte() {
        let theirs = [
            "{ \"hooks\" : [ {\"type\":\"command\",\"command\":\"a\",\"timeout\":1e1} ] }",
            "{\"x\":1.0}",
            "7",
        ];
        let text = format!(
            "{{\r\n    \"hooks\": {{\r\n        \"PreToolUse\": [ {}, {OURS}, {} ],\r\n        \"Stop\": [ {} ]\r\n    }},\r\n    \"z\": 1e3\r\n}}\r\n",
            theirs[0], theirs[1], theirs[2]
        );
        let settled = merged(&text).unwrap();
        assert!(settled.contains(&format!("\"PreToolUse\": [ {}, {OURS}, {} ],", theirs[0], theirs[1])));
        assert!(settled.contains(&format!(
            "\"Stop\": [ {} ],\r\n        \"SessionStart\": [\r\n            {{\r\n",
            theirs[2]
        )));
        assert!(settled.ends_with("\r\n    },\r\n    \"z\": 1e3\r\n}\r\n"));
        assert!(!settled.replace("\r\n", "").contains('\n'));
        assert_eq!(merged(&settled), None);
        let edited = settled.replace(OURS, &OURS.replace("\"timeout\":5", "\"timeout\":50"));
        assert_eq!(drift(&edited), ["hooks.PreToolUse"]);
        let again = merged(&edited).unwrap();
        let places = [theirs[0], "\"pre-tool-use\"", theirs[1]].map(|part| again.find(part).unwrap());
        assert!(places.is_sorted());
        assert_eq!(value(&again), value(&settled));
    }

    #[test]
    fn our_handlers_leave_groups_and_events_that_are_not_theirs() {
        let text = r#"{"hooks":{
            "PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"workfile hook x"},{"type":"command","command":"mine"}]}],
            "PostToolUse":[{"hooks":[{"type":"command","command":"workfile-hooks post-tool-use"}]},{"hooks":[]}],
            "UserPromptSubmit":[{"hooks":[{"type":"command","command":"workfile-hooks prompt"}]}],
            "Stop":[],
            "Odd":{"hooks":[{"type":"command","command":"workfile hook x"}]}
        }}"#;
        assert_eq!(
            drift(text),
            [
                "hooks.SessionStart",
                "hooks.PreToolUse",
                "hooks.PostToolUse",
                "hooks.PostToolUseFailure",
                "hooks.UserPromptSubmit (no longer generated)"
            ]
        );
        let done = merged(text).unwrap();
        assert_eq!(merged(&done), None);
        let hooks = &value(&done)["hooks"];
        let keys: Vec<&String> = hooks.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["PreToolUse", "PostToolUse", "Stop", "Odd", "SessionStart", "PostToolUseFailure"]);
        assert_eq!(
            hooks["PreToolUse"][0],
            json!({"matcher":"Bash","hooks":[{"type":"command","command":"mine"}]})
        );
        assert_eq!(hooks["PreToolUse"][1], value(OURS));
        assert_eq!(hooks["PostToolUse"][0], HOOKS[2].group("workfile"));
        assert_eq!(hooks["PostToolUse"][1], json!({"hooks":[]}));
        assert_eq!((&hooks["Stop"], &hooks["Odd"]), (&json!([]), &value(text)["hooks"]["Odd"]));
    }

    #[test]
    fn handlers_that_stand_there_twice_are_reduced_to_one() {
        let text = fresh("workfile");
        let twice = text.replace("\"PreToolUse\": [", &format!("\"PreToolUse\": [\n      {OURS},"));
        assert_eq!(drift(&twice), ["hooks.PreToolUse"]);
        let done = merged(&twice).unwrap();
        assert_eq!(value(&done), value(&text));
        assert_eq!(merged(&done), None);
    }

    #[test]
    fn what_cannot_be_merged_is_named_by_line_and_column() {
        for (text, reason) in [
            ("[]", "line 1, column 1: the file is not an object"),
            ("", "line 1, column 1: expected a value"),
            ("{\"hooks\": 1}", "line 1, column 11: `hooks` is not an object"),
            ("{\"hooks\": null}", "line 1, column 11: `hooks` is not an object"),
            ("{\n\"hooks\": {\"PreToolUse\": {}}}", "line 2, column 25: `hooks.PreToolUse` is not a list"),
            ("{\"hooks\": {}, \"ho\\u006fks\": {}}", "line 1, column 15: `hooks` stands there twice"),
            ("{\"hooks\": {\"Stop\": [], \"Stop\": []}}", "line 1, column 24: `Stop` stands there twice"),
            ("{\"hooks\": {},}", "line 1, column 14: expected a key"),
            ("{} // note", "line 1, column 4: expected the end of the file"),
        ] {
            let Err(problem) = Settings::read(text.as_bytes()) else { panic!("{text}") };
            assert!(problem.to_string().starts_with(reason), "{text}: {problem}");
        }
        // Elsewhere a key may stand twice: nothing there is touched.
        let twice = "{\"env\": {\"A\": 1, \"A\": 2}, \"hooks\": {}}";
        assert!(merged(twice).unwrap().starts_with("{\"env\": {\"A\": 1, \"A\": 2}, \"hooks\": {\n"));
    }

    #[test]
    fn switches_are_read() {
        let read = |text: &'static str| Settings::read(text.as_bytes()).unwrap();
        assert!(read(r#"{"disableAllHooks":true}"#).disables_hooks());
        assert!(!read(r#"{"disableAllHooks":"true"}"#).disables_hooks());
        assert!(read(r#"{"enabledPlugins":{"workfile@illodev":true}}"#).enables_plugin("workfile@illodev"));
        assert!(!read(r#"{"enabledPlugins":{"workfile@illodev":false}}"#).enables_plugin("workfile@illodev"));
        assert!(!read(r#"{"enabledPlugins":["workfile@illodev"]}"#).enables_plugin("workfile@illodev"));
        assert!(!read(r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"a"}]}]}}"#).has_hooks());
    }

    /// Settings with handlers of ours and of others anywhere.
    fn settings() -> impl Strategy<Value = Json> {
        let handler = prop_oneof![
            Just(json!({"type":"command","command":"workfile","args":["hook","pre-tool-use"],"timeout":5})),
            Just(json!({"type":"command","command":"workfile hook x"})),
            Just(json!({"type":"command","command":"theirs"})),
            Just(json!(1.5)),
        ];
        let group = prop_oneof![
            4 => ("[*A-C]", proptest::collection::vec(handler, 0..4)).prop_map(|(matcher, hooks)| json!({"matcher": matcher, "hooks": hooks})),
            2 => Just(value(OURS)),
            1 => Just(json!("odd")),
        ];
        let event = prop_oneof![
            Just("PreToolUse".to_owned()),
            Just("SessionStart".to_owned()),
            Just("PostToolUse".to_owned()),
            "[A-C]{1,2}",
        ];
        let events = proptest::collection::vec((event, proptest::collection::vec(group, 0..4)), 0..6);
        (events, any::<bool>()).prop_map(|(events, more)| {
            let hooks: serde_json::Map<String, Json> =
                events.into_iter().map(|(event, groups)| (event, groups.into())).collect();
            if more { json!({"a": 1, "hooks": hooks, "b": [2]}) } else { json!({ "hooks": hooks }) }
        })
    }

    /// The same settings without anything of ours, empty groups and events that this leaves gone with it.
    fn foreign(settings: &Json) -> Json {
        let ours = |handler: &Json| {
            let command = handler.get("command").and_then(Json::as_str);
            command.is_some_and(|command| command.starts_with("workfile"))
        };
        let mut settings = settings.clone();
        if let Some(events) = settings.get_mut("hooks").and_then(Json::as_object_mut) {
            events.retain(|_, groups| {
                let groups = groups.as_array_mut().unwrap();
                let before = groups.len();
                groups.retain_mut(|group| {
                    let Some(handlers) = group.get_mut("hooks").and_then(Json::as_array_mut) else {
                        return true;
                    };
                    let before = handlers.len();
                    handlers.retain(|handler| !ours(handler));
                    before == 0 || !handlers.is_empty()
                });
                before == 0 || !groups.is_empty()
            });
        }
        settings
    }

    proptest! {
        #[test]
        fn what_is_not_ours_survives_and_the_result_is_settled(settings in settings(), pretty in any::<bool>()) {
            let text = if pretty { format!("{settings:#}") } else { settings.to_string() };
            let done = merged(&text).unwrap_or_else(|| text.clone());
            prop_assert_eq!(drift(&done), Vec::<String>::new());
            prop_assert_eq!(merged(&done), None);
            let mut expected = foreign(&settings);
            let mut left = foreign(&value(&done));
            // An event that we share and that was empty before holds our group now.
            for side in [&mut expected, &mut left] {
                let events = side["hooks"].as_object_mut().unwrap();
                events.retain(|event, groups| generated(event).is_none() || groups != &json!([]));
            }
            prop_assert_eq!(left, expected);
        }
    }
}
