//! The hooks: which events are wired, and which handlers of a settings file are this program's.

use super::jsontext::Node;
use serde_json::{Map, Value as Json, json};

/// One event and what runs for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hook {
    /// The event, as settings name it.
    pub(super) event: &'static str,
    /// Which tools or sources. Letters and `|` only, so that the host compares names exactly.
    pub(super) matcher: &'static str,
    /// What `workfile hook` is asked for.
    pub(super) run: &'static str,
    /// Whether the host waits.
    pub(super) wait: Wait,
    /// Seconds; the default would let one stuck hook stop a session for ten minutes.
    pub(super) timeout: u8,
}

/// Whether the host waits for a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    Sync,
    Async,
}

/// Everything that is wired. A shell command that fails fires `PostToolUseFailure` and never `PostToolUse`.
pub(super) const HOOKS: [Hook; 4] = [
    Hook { event: "SessionStart", matcher: "*", run: "session-start", wait: Wait::Sync, timeout: 10 },
    Hook {
        event: "PreToolUse",
        matcher: "Edit|Write|NotebookEdit",
        run: "pre-tool-use",
        wait: Wait::Sync,
        timeout: 5,
    },
    Hook { event: "PostToolUse", matcher: "*", run: "post-tool-use", wait: Wait::Async, timeout: 30 },
    Hook {
        event: "PostToolUseFailure",
        matcher: "Bash|PowerShell",
        run: "post-tool-use",
        wait: Wait::Async,
        timeout: 30,
    },
];

impl Hook {
    /// The group that stands in the event's list. `args` make the host start the program without a shell.
    pub(super) fn group(&self, command: &str) -> Json {
        let mut handler = Map::new();
        handler.insert("type".to_owned(), "command".into());
        handler.insert("command".to_owned(), command.into());
        handler.insert("args".to_owned(), json!(["hook", self.run]));
        if self.wait == Wait::Async {
            handler.insert("async".to_owned(), true.into());
        }
        handler.insert("timeout".to_owned(), self.timeout.into());
        json!({ "matcher": self.matcher, "hooks": [handler] })
    }

    /// `hooks.<event>`, as the ledger and a report name it.
    pub(super) fn key(&self) -> String {
        format!("hooks.{}", self.event)
    }
}

/// The whole `hooks` object.
pub(super) fn wiring(command: &str) -> Json {
    HOOKS
        .iter()
        .map(|hook| (hook.event.to_owned(), json!([hook.group(command)])))
        .collect::<Map<_, _>>()
        .into()
}

/// Whether a handler was put there by this program, in this form or an earlier one.
pub(super) fn is_ours(handler: &Node) -> bool {
    let text = |key| handler.get(key).and_then(Node::text);
    let (Some("command"), Some(command)) = (text("type"), text("command")) else { return false };
    let Some(args) = handler.get("args") else {
        let words = words(command);
        let is_hook =
            matches!(words.as_slice(), [program, hook, ..] if is_program(program) && hook == "hook");
        return is_hook || is_earlier(words.iter().map(String::as_str));
    };
    let args = args.elements().unwrap_or_default().iter().map(|arg| arg.text().unwrap_or_default());
    (is_program(command) && args.clone().next() == Some("hook"))
        || is_earlier(std::iter::once(command).chain(args))
}

/// The last part of a path in either spelling.
fn name_of(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

fn is_program(path: &str) -> bool {
    matches!(name_of(path), "workfile" | "workfile.exe")
}

/// The scripts that an earlier implementation ran, directly or through an interpreter.
fn is_earlier<'a>(mut words: impl Iterator<Item = &'a str>) -> bool {
    let Some(first) = words.next() else { return false };
    if name_of(first) == "workfile-hooks" || is_earlier_script(first) {
        return true;
    }
    let is_interpreter = matches!(name_of(first), "node" | "node.exe");
    is_interpreter && words.find(|word| !word.starts_with('-')).is_some_and(is_earlier_script)
}

fn is_earlier_script(path: &str) -> bool {
    let path = path.replace('\\', "/");
    ["runtime/claude/hooks.mjs", "runtime/hooks.mjs"].iter().any(|script| {
        path.strip_suffix(script).is_some_and(|before| before.is_empty() || before.ends_with('/'))
    })
}

/// A command line's words as a shell splits them, quotes taken off; enough to tell which program it starts.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            None if c == '"' || c == '\'' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::super::jsontext::parse;
    use super::*;

    fn ours(handler: &str) -> bool {
        is_ours(&parse(handler.as_bytes()).unwrap().1)
    }

    #[test]
    fn handlers_of_every_form_are_recognised() {
        for handler in [
            r#"{"type":"command","command":"workfile","args":["hook","session-start"]}"#,
            r#"{"type":"command","command":"${CLAUDE_PROJECT_DIR}/.project/bin/workfile","args":["hook"]}"#,
            r#"{"type":"command","command":"C:\\tools\\workfile.exe","args":["hook","x"],"timeout":1e3}"#,
            r#"{"type":"command","command":"workfile hook pre-tool-use"}"#,
            r#"{"type":"command","command":"\"$CLAUDE_PROJECT_DIR/my tools/workfile\" hook x"}"#,
            r#"{"type":"command","command":"workfile-hooks pre-tool-use"}"#,
            r#"{"type":"command","command":"node node_modules/@illodev/workfile/dist/src/runtime/claude/hooks.mjs x"}"#,
            r#"{"type":"command","command":"node --no-warnings \"${CLAUDE_PLUGIN_ROOT}/runtime/hooks.mjs\" x"}"#,
            r#"{"type":"command","command":"node","args":["a/runtime/claude/hooks.mjs","x"]}"#,
        ] {
            assert!(ours(handler), "{handler}");
        }
    }

    #[test]
    fn handlers_of_others_are_not() {
        for handler in [
            r#"{"type":"command","command":"workfile","args":["card","list"]}"#,
            r#"{"type":"command","command":"workfile","args":[]}"#,
            r#"{"type":"command","command":"workfile","args":"hook"}"#,
            r#"{"type":"command","command":"workfile card list"}"#,
            r#"{"type":"command","command":"myworkfile hook"}"#,
            r#"{"type":"command","command":"echo workfile hook"}"#,
            r#"{"type":"prompt","command":"workfile","args":["hook"]}"#,
            r#"{"command":"workfile","args":["hook"]}"#,
            r#"{"type":"command","command":"node other/myruntime/hooks.mjs"}"#,
            r#"{"type":"command","command":"lint --config a/runtime/hooks.mjs"}"#,
            r#"{"type":"command","command":""}"#,
            r#"{"type":"command","command":["workfile","hook"]}"#,
            r#""workfile hook""#,
            "[]",
        ] {
            assert!(!ours(handler), "{handler}");
        }
    }

    #[test]
    fn every_timeout_is_short_and_every_matcher_is_made_of_names() {
        for hook in HOOKS {
            assert!((1..=30).contains(&hook.timeout));
            let plain = |c: char| c.is_ascii_alphabetic() || c == '|';
            assert!(hook.matcher == "*" || hook.matcher.chars().all(plain), "{}", hook.matcher);
            assert_eq!(hook.group("workfile")["hooks"][0].get("async").is_some(), hook.wait == Wait::Async);
        }
    }
}
