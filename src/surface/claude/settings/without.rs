//! Our handlers taken out of a settings file, and what an install opened for them.

use super::super::jsonedit::{Fate, Layout, Splice};
use super::super::jsontext::Member;
use super::super::opened::{Container, Left, Opened, WHOLE};
use super::{Group, HOOKS, Settings, generated, without_handlers};

/// The object of events.
const HOOKS_KEY: &str = "hooks";

/// The containers that an install needs, outermost first.
pub(in super::super) fn containers() -> Vec<String> {
    std::iter::once(HOOKS_KEY.to_owned()).chain(HOOKS.iter().map(super::super::hooks::Hook::key)).collect()
}

/// Whether an event holds groups of ours and no other.
fn is_ours_alone(event: &Member) -> bool {
    let groups = event.value.elements().unwrap_or_default();
    !groups.is_empty() && groups.iter().all(|group| matches!(Group::of(group), Group::Ours))
}

impl Settings<'_> {
    /// The containers that are there.
    pub(in super::super) fn containers(&self) -> Vec<Container<'_>> {
        let inner = |span: &std::ops::Range<usize>| &self.text[span.start + 1..span.end - 1];
        let hooks_are_ours = !self.events().is_empty() && self.events().iter().all(is_ours_alone);
        let is_alone = self.root.members().is_some_and(|members| members.len() == 1);
        let mut found = vec![Container {
            key: WHOLE.to_owned(),
            inner: inner(&self.root.span),
            holds_ours_alone: is_alone && hooks_are_ours,
        }];
        let Some(hooks) = self.hooks() else { return found };
        found.push(Container {
            key: HOOKS_KEY.to_owned(),
            inner: inner(&hooks.span),
            holds_ours_alone: hooks_are_ours,
        });
        for event in self.events() {
            if let Some(hook) = generated(&event.key) {
                let holds_ours_alone = is_ours_alone(event);
                found.push(Container { key: hook.key(), inner: inner(&event.value.span), holds_ours_alone });
            }
        }
        found
    }

    /// What is left without our handlers. A container that this empties goes when an install opened it, else it stays as
    /// it was; of an event that is no longer generated nobody can tell, so it goes.
    pub(in super::super) fn without(&self, opened: &Opened) -> Left {
        let layout = Layout::of(self.text);
        let mut splices = Vec::new();
        let mut events = Vec::new();
        for event in self.events() {
            let (fate, inner) = close_event(&layout, event, opened);
            splices.extend(inner);
            events.push((event.span(), fate));
        }
        let stays = |(_, fate): &(_, Fate)| !matches!(fate, Fate::Drop);
        let closes_hooks = self.hooks().is_some() && opened.has(HOOKS_KEY) && !events.iter().any(stays);
        let fate =
            |member: &Member| if closes_hooks && member.key == HOOKS_KEY { Fate::Drop } else { Fate::Keep };
        let members = self.root.members().unwrap_or_default();
        let members: Vec<_> = members.iter().map(|member| (member.span(), fate(member))).collect();
        if opened.has(WHOLE) && !members.iter().any(stays) {
            return Left::Nothing;
        }
        if closes_hooks {
            splices = opened.take_out(WHOLE, &layout, &self.root.span, &members);
        } else if let Some(hooks) = self.hooks() {
            splices.extend(opened.take_out(HOOKS_KEY, &layout, &hooks.span, &events));
        }
        if splices.is_empty() { Left::All } else { Left::Text(opened.close(self.text, splices)) }
    }
}

fn close_event(layout: &Layout, event: &Member, opened: &Opened) -> (Fate, Vec<Splice>) {
    let Some(groups) = event.value.elements() else { return (Fate::Keep, Vec::new()) };
    let mut splices = Vec::new();
    let mut children = Vec::new();
    for group in groups {
        let fate = match Group::of(group) {
            Group::Foreign => Fate::Keep,
            Group::Ours => Fate::Drop,
            Group::Mixed(flags) => {
                splices.extend(without_handlers(layout, group, &flags));
                Fate::Keep
            }
        };
        children.push((group.span.clone(), fate));
    }
    let key = format!("{HOOKS_KEY}.{}", event.key);
    let is_left_empty = children.iter().all(|(_, fate)| matches!(fate, Fate::Drop));
    let goes = if generated(&event.key).is_some() { opened.has(&key) } else { !children.is_empty() };
    if is_left_empty && goes {
        return (Fate::Drop, Vec::new());
    }
    splices.extend(opened.take_out(&key, layout, &event.value.span, &children));
    (Fate::Keep, splices)
}
