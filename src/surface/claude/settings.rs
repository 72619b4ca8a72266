//! `.claude/settings.json`: this program's handlers put into a file that belongs to the repository.
//!
//! Handlers are owned, not events: a group of another tool stays in its place and order, byte for byte, as does every
//! key that is not `hooks`. A file that is right by value is not touched, whatever its layout.

use super::hooks::{HOOKS, Hook, is_ours, wiring};
use super::jsontext::{Fate, Layout, Member, Node, Problem, Splice, apply, parse, problem};
use serde_json::json;

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
