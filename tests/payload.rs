//! Hook payloads shaped as Claude Code 2.1.332 sends them, and what may come back.

use crate::process::{Ended, text};
use crate::world::session_id;
use serde_json::{Value as Json, json};
use std::borrow::Borrow;
use std::path::Path;

/// What one event sends to its hook.
#[derive(Clone)]
pub(crate) struct Payload {
    event: &'static str,
    fields: Json,
    by: Option<String>,
    env: Vec<(String, String)>,
    raw: Option<Vec<u8>>,
}

/// Before an `Edit`. A relative path counts from the workspace's root, as the host's do.
pub(crate) fn pre_edit(path: &str) -> Payload {
    let input =
        json!({"file_path": placed(path), "old_string": "one", "new_string": "two", "replace_all": false});
    pre("Edit", input)
}

/// Before a `Write`.
pub(crate) fn pre_write(path: &str) -> Payload {
    pre("Write", json!({"file_path": placed(path), "content": "hello\n"}))
}

/// Before a `NotebookEdit`.
pub(crate) fn pre_notebook(path: &str) -> Payload {
    pre("NotebookEdit", json!({"notebook_path": placed(path), "cell_id": "c1", "new_source": "2+2"}))
}

/// Before any tool.
pub(crate) fn pre(tool: &str, input: impl Borrow<Json>) -> Payload {
    Payload::tool("pre-tool-use", "PreToolUse", tool, input.borrow())
}

/// After an `Edit` that went through.
pub(crate) fn post_edit(path: &str) -> Payload {
    let input =
        json!({"file_path": placed(path), "old_string": "one", "new_string": "two", "replace_all": false});
    let response = json!({
        "filePath": placed(path), "oldString": "one", "newString": "two", "originalFile": "one\n",
        "structuredPatch": [{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-one", "+two"]}],
        "userModified": false, "replaceAll": false,
    });
    post("Edit", input).with("tool_response", response)
}

/// After a `Bash` that exited 0.
pub(crate) fn post_bash(command: &str) -> Payload {
    let response = json!({
        "stdout": "", "stderr": "", "interrupted": false, "isImage": false, "noOutputExpected": false,
    });
    post("Bash", json!({"command": command, "description": "Run it"})).with("tool_response", response)
}

/// After a `Bash` that exited with another status.
pub(crate) fn failed_bash(command: &str) -> Payload {
    let input = json!({"command": command, "description": "Run it"});
    let payload = Payload::tool("post-tool-use", "PostToolUseFailure", "Bash", &input);
    payload.with("error", "Exit code 3\npartial").with("is_interrupt", false)
}

/// After any tool.
pub(crate) fn post(tool: &str, input: impl Borrow<Json>) -> Payload {
    Payload::tool("post-tool-use", "PostToolUse", tool, input.borrow())
}

/// The start of a session.
pub(crate) fn start(source: &str) -> Payload {
    let fields = json!({"cwd": "{ROOT}", "hook_event_name": "SessionStart", "source": source});
    Payload { event: "session-start", fields, by: Some("ann".to_owned()), env: Vec::new(), raw: None }
}

fn placed(path: &str) -> String {
    if path.starts_with('/') { path.to_owned() } else { format!("{{ROOT}}/{path}") }
}

impl Payload {
    fn tool(event: &'static str, name: &str, tool: &str, input: &Json) -> Self {
        let fields = json!({
            "cwd": "{ROOT}", "prompt_id": "c0a8f0d2-7d55-4a3e-9d2c-0b6f6f6d1c11", "permission_mode": "default",
            "effort": {"level": "medium"}, "hook_event_name": name, "tool_name": tool, "tool_input": input,
        });
        Self { event, fields, by: Some("ann".to_owned()), env: Vec::new(), raw: None }
    }

    /// In this person's session; without it, ann's.
    pub(crate) fn by(self, name: &str) -> Self {
        Self { by: Some(name.to_owned()), ..self }
    }

    /// Without any session id.
    pub(crate) fn without_session(self) -> Self {
        Self { by: None, ..self }
    }

    /// With one more field, or another value for one.
    pub(crate) fn with(mut self, key: &str, value: impl Into<Json>) -> Self {
        self.fields[key] = value.into();
        self
    }

    /// In this folder of the workspace.
    pub(crate) fn cwd(self, folder: &str) -> Self {
        self.with("cwd", placed(folder))
    }

    /// With one more variable, or another value for one.
    pub(crate) fn env_var(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// These bytes instead of the payload.
    pub(crate) fn sent_as(self, raw: &[u8]) -> Self {
        Self { raw: Some(raw.to_vec()), ..self }
    }

    pub(crate) fn event(&self) -> &'static str {
        self.event
    }

    /// The folder the host runs the hook in: the session's current one.
    pub(crate) fn folder(&self) -> &str {
        self.fields["cwd"].as_str().map_or("", |cwd| cwd.strip_prefix("{ROOT}/").unwrap_or_default())
    }

    pub(crate) fn bytes(&self, root: &Path) -> Vec<u8> {
        if let Some(raw) = &self.raw {
            return raw.clone();
        }
        let mut fields = self.fields.clone();
        if let Some(name) = &self.by {
            fields["session_id"] = session_id(name).into();
        }
        let root = json!(root).to_string();
        format!("{fields}\n").replace("{ROOT}", root.trim_matches('"')).into_bytes()
    }

    /// What the host adds to a hook's environment.
    pub(crate) fn env(&self, root: &Path) -> Vec<(String, String)> {
        let root = root.to_str().unwrap();
        let session = self.by.as_deref().map(session_id);
        let user = self.by.as_ref().map(|name| ("USER", name.clone()));
        [("CLAUDE_PROJECT_DIR", root.to_owned()), ("CLAUDECODE", "1".to_owned())]
            .into_iter()
            .chain([("CLAUDE_CODE_CHILD_SESSION", "1".to_owned())])
            .chain(session.map(|id| ("CLAUDE_CODE_SESSION_ID", id)))
            .chain(user)
            .map(|(name, value)| (name.to_owned(), value))
            .chain(self.env.iter().map(|(name, value)| (name.clone(), value.replace("{ROOT}", root))))
            .collect()
    }
}

/// A hook that has run; say what it must have answered.
#[must_use]
pub(crate) struct Answered {
    pub(crate) ended: Ended,
    event: String,
}

/// An `ask`.
#[derive(Debug)]
pub(crate) struct Ask {
    /// What the user reads.
    pub(crate) reason: String,
    /// What the model reads.
    pub(crate) context: String,
}

impl Answered {
    pub(crate) fn new(ended: Ended, payload: &Payload) -> Self {
        let event = payload.fields["hook_event_name"].as_str().unwrap_or_default().to_owned();
        Self { ended, event }
    }

    /// Exit 0 and not a byte.
    #[track_caller]
    pub(crate) fn silent(self) {
        let got = (self.ended.code, text(&self.ended.stdout), text(&self.ended.stderr));
        assert_eq!(got, (Some(0), "", ""));
    }

    /// Exit 0, nothing on stdout and at most one line on stderr: an error that stays inside.
    #[track_caller]
    pub(crate) fn fails_open(self) {
        let stderr = text(&self.ended.stderr);
        assert_eq!((self.ended.code, text(&self.ended.stdout)), (Some(0), ""));
        assert!(
            stderr.is_empty() || stderr.ends_with('\n') && stderr.matches('\n').count() == 1,
            "{stderr:?}"
        );
    }

    /// The one object of the answer: exit 0, one line, this event, no decision but `ask`, nothing on stderr.
    #[track_caller]
    pub(crate) fn answer(&self) -> Json {
        let (stdout, stderr) = (text(&self.ended.stdout), text(&self.ended.stderr));
        assert_eq!((self.ended.code, stderr), (Some(0), ""), "stdout: {stdout}");
        assert!(stdout.ends_with('\n') && stdout.matches('\n').count() == 1, "one line is due: {stdout:?}");
        let mut answer: Json = serde_json::from_str(stdout).unwrap();
        assert_eq!(answer.as_object().unwrap().keys().collect::<Vec<_>>(), ["hookSpecificOutput"]);
        let inner = answer["hookSpecificOutput"].take();
        assert_eq!(inner["hookEventName"], self.event.as_str());
        assert!(inner.get("permissionDecision").is_none_or(|decision| decision == "ask"), "{inner}");
        inner
    }

    /// An `ask` with a reason and a context, whatever it is about.
    #[track_caller]
    pub(crate) fn asks_something(self) -> Ask {
        let answer = self.answer();
        let keys = ["hookEventName", "permissionDecision", "permissionDecisionReason", "additionalContext"];
        assert_eq!(answer.as_object().unwrap().keys().collect::<Vec<_>>(), keys);
        let field = |key: &str| answer[key].as_str().unwrap().to_owned();
        Ask { reason: field("permissionDecisionReason"), context: field("additionalContext") }
    }

    /// An `ask` about the scope of this card, held by this person.
    #[track_caller]
    pub(crate) fn asks(self, card: &str, holder: &str) -> Ask {
        let ask = self.asks_something();
        let holder = crate::world::actor(holder);
        assert!(ask.reason.starts_with(&format!("{card} is held by {holder} since ")), "{ask:?}");
        assert!(ask.context.contains(&format!("inside the scope of {card}, held by {holder}.")), "{ask:?}");
        ask
    }

    /// Context for the model that holds each of these texts, and no decision.
    #[track_caller]
    pub(crate) fn tells(self, texts: &[&str]) -> String {
        let answer = self.answer();
        assert_eq!(
            answer.as_object().unwrap().keys().collect::<Vec<_>>(),
            ["hookEventName", "additionalContext"]
        );
        let context = answer["additionalContext"].as_str().unwrap().to_owned();
        for text in texts {
            assert!(context.contains(text), "{text:?} is not in {context:?}");
        }
        context
    }
}

mod tests {
    use super::*;

    fn answered(stdout: &str, stderr: &str) -> Answered {
        let ended = Ended { code: Some(0), stdout: stdout.into(), stderr: stderr.into() };
        Answered::new(ended, &pre_edit("a"))
    }

    const ALLOW: &str =
        "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"allow\"}}\n";
    const TELL: &str =
        "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"additionalContext\":\"x\"}}\n";

    #[test]
    fn a_payload_is_the_hosts() {
        let bytes = pre_edit("src/a").by("ben").cwd("src").bytes(Path::new("/w"));
        let payload: Json = serde_json::from_slice(&bytes).unwrap();
        assert_eq!((&payload["session_id"], &payload["cwd"]), (&json!(session_id("ben")), &json!("/w/src")));
        assert_eq!(payload["tool_input"]["file_path"], "/w/src/a");
        assert_eq!(bytes.last(), Some(&b'\n'));
    }

    #[test]
    #[should_panic(expected = "assertion")]
    fn silence_is_not_a_byte() {
        answered("\n", "").silent();
    }

    #[test]
    #[should_panic(expected = "assertion")]
    fn an_answer_says_nothing_beside() {
        answered(TELL, "noise\n").tells(&["x"]);
    }

    #[test]
    #[should_panic(expected = "allow")]
    fn an_answer_is_never_allow() {
        drop(answered(ALLOW, "").answer());
    }

    #[test]
    #[should_panic(expected = "one line is due")]
    fn an_answer_is_one_line() {
        answered(&TELL.repeat(2), "").tells(&["x"]);
    }
}
