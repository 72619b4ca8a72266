//! Our handlers as a host would start them.

use super::super::hooks::is_ours;
use super::super::jsontext::{Kind, Node};
use super::{Settings, handlers};

/// How a host starts a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) enum Start {
    /// The program itself, with these arguments.
    Exec(Vec<String>),
    /// The whole text, by a shell.
    Shell,
}

/// One registered command.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) struct Handler {
    /// Which tools or sources it is for, as written.
    matcher: String,
    /// The program, or what a shell runs.
    pub(in super::super) command: String,
    /// How it is started.
    pub(in super::super) start: Start,
    /// After how many seconds the host ends it; `None` for the host's default.
    pub(in super::super) timeout: Option<f64>,
}

impl Handler {
    fn of(group: &Node, handler: &Node) -> Option<Self> {
        let args = |list: &Node| {
            let words = list.elements().unwrap_or_default().iter();
            Start::Exec(words.map(|word| word.text().unwrap_or_default().to_owned()).collect())
        };
        let seconds = |node: &Node| match &node.kind {
            Kind::Word(word) => word.parse().ok(),
            _ => None,
        };
        Some(Self {
            matcher: group.get("matcher").and_then(Node::text).unwrap_or_default().to_owned(),
            command: handler.get("command")?.text()?.to_owned(),
            start: handler.get("args").map_or(Start::Shell, args),
            timeout: handler.get("timeout").and_then(seconds),
        })
    }

    /// Whether the host starts it for this tool or source: names are compared exactly, `|` and `,` are between them, and
    /// nothing or `*` is for all. A pattern of another kind is none that an install writes, and counts as no match.
    pub(in super::super) fn is_for(&self, name: &str) -> bool {
        let matcher = crate::path::trim(&self.matcher);
        matches!(matcher, "" | "*")
            || matcher.split(['|', ',']).any(|wanted| crate::path::trim(wanted) == name)
    }
}

impl Settings<'_> {
    /// Our handlers of an event, in their order.
    pub(in super::super) fn registered(&self, event: &str) -> Vec<Handler> {
        let found = self.events().iter().filter(|member| member.key == event);
        let groups = found.flat_map(|member| member.value.elements().unwrap_or_default());
        groups
            .flat_map(|group| handlers(group).iter().map(move |handler| (group, handler)))
            .filter(|(_, handler)| is_ours(handler))
            .filter_map(|(group, handler)| Handler::of(group, handler))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handlers_are_read_as_a_host_reads_them() {
        let text = r#"{"hooks": {"PreToolUse": [
            {"matcher": "Edit|Write, Bash", "hooks": [
                {"type": "command", "command": "workfile", "args": ["hook", "pre-tool-use"], "timeout": 5},
                {"type": "command", "command": "theirs"}]},
            {"hooks": [{"type": "command", "command": "workfile hook pre-tool-use"}]}
        ]}}"#;
        let settings = Settings::read(text.as_bytes()).unwrap();
        let [exec, shell] = settings.registered("PreToolUse").try_into().unwrap();
        assert_eq!(exec.start, Start::Exec(vec!["hook".to_owned(), "pre-tool-use".to_owned()]));
        assert_eq!((exec.timeout, exec.command.as_str()), (Some(5.0), "workfile"));
        assert_eq!((&shell.start, shell.timeout), (&Start::Shell, None));
        for (name, matches) in
            [("Edit", true), ("Write", true), ("Bash", true), ("NotebookEdit", false), ("edit", false)]
        {
            assert_eq!(exec.is_for(name), matches, "{name}");
            assert!(shell.is_for(name));
        }
        assert_eq!(settings.registered("PostToolUse"), []);
    }
}
