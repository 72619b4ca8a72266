//! `claude check --live`: whether the registered commands answer, by firing them.
//!
//! Each is started as the host would start it, for a session in a throwaway workspace where somebody else holds a card, so
//! that there is something to tell and to ask. Silence where something was due is a finding, and silence that was due is
//! believed only beside an answer. The repository's own activity is read, for when its hooks really fired, and never
//! written.

mod fire;
mod stage;

use super::check::Switches;
use super::settings::{Handler, Settings, Start};
use super::{LOCAL_SETTINGS, PLUGIN_ID, SETTINGS};
use crate::activity::session;
use crate::clock::Time;
use crate::failure::Failure;
use crate::fs::{Dir, Kind};
use crate::surface::managed;
use fire::{Ended, fire};
use serde_json::{Value as Json, json};
use stage::{CARD, FREE, HELD, Stage};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

/// What a probe must answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    /// Context that names the card.
    Context,
    /// A question that names the card.
    Ask,
    /// Nothing.
    Silence,
    /// Nothing, and a sign of life.
    Heartbeat,
}

impl Due {
    const fn name(self) -> &'static str {
        match self {
            Self::Context => "context",
            Self::Ask => "ask",
            Self::Silence => "silence",
            Self::Heartbeat => "heartbeat",
        }
    }
}

/// One thing that happens in a session.
struct Probe {
    event: &'static str,
    /// The tool, or the source of a start: what a matcher is compared with.
    name: &'static str,
    what: &'static str,
    due: Due,
}

const CALL: &str = "toolu_live";

const PROBES: [Probe; 6] = [
    Probe { event: "SessionStart", name: "startup", what: "a session starts", due: Due::Context },
    Probe {
        event: "PreToolUse",
        name: "Edit",
        what: "an edit inside the scope of somebody else",
        due: Due::Ask,
    },
    Probe { event: "PreToolUse", name: "Edit", what: "an edit outside every scope", due: Due::Silence },
    Probe { event: "PostToolUse", name: "Edit", what: "an edit is done", due: Due::Heartbeat },
    Probe {
        event: "PostToolUse",
        name: "Bash",
        what: "a command changed a file of somebody else",
        due: Due::Context,
    },
    Probe {
        event: "PostToolUseFailure",
        name: "Bash",
        what: "the same by a command that failed",
        due: Due::Context,
    },
];

impl Probe {
    fn payload(&self, stage: &Stage) -> Json {
        let path = if self.due == Due::Ask { HELD } else { FREE };
        let bash = json!({ "command": "make", "description": "Build" });
        let more = match (self.event, self.name) {
            ("SessionStart", source) => json!({ "source": source }),
            ("PreToolUse", tool) => json!({ "tool_input": stage.edit(path), "tool_name": tool }),
            ("PostToolUseFailure", tool) => {
                json!({ "tool_name": tool, "tool_input": bash, "error": "Exit code 1", "is_interrupt": false, "duration_ms": 40 })
            }
            (_, tool @ "Bash") => {
                let response = json!({ "stdout": "", "stderr": "", "interrupted": false, "isImage": false });
                json!({ "tool_name": tool, "tool_input": bash, "tool_response": response, "duration_ms": 40 })
            }
            (_, tool) => {
                json!({ "tool_name": tool, "tool_input": stage.edit(path), "tool_response": {}, "duration_ms": 4 })
            }
        };
        let mut payload = stage.payload(self.event, &more);
        if self.event != "SessionStart" {
            payload["tool_use_id"] = CALL.into();
            payload["permission_mode"] = "default".into();
        }
        payload
    }

    /// What is wrong with an answer.
    fn judge(&self, code: Option<i32>, stdout: &str, stage: &Stage) -> Verdict {
        let silent = crate::path::trim(stdout).is_empty();
        match self.due {
            _ if code != Some(0) => {
                let code = code.map_or_else(|| "by a signal".to_owned(), |code| format!("with exit {code}"));
                Verdict::Failed(format!("it ended {code}"))
            }
            Due::Silence if silent => Verdict::Ok,
            Due::Heartbeat if silent && stage.has_heartbeat(CALL) => Verdict::Ok,
            Due::Heartbeat if silent => Verdict::Silent("it left no sign of life".to_owned()),
            Due::Silence | Due::Heartbeat => {
                Verdict::Wrong("it said something where nothing was due".to_owned())
            }
            Due::Context | Due::Ask if silent => Verdict::Silent("it said nothing".to_owned()),
            Due::Context | Due::Ask => self.judge_answer(stdout),
        }
    }

    fn judge_answer(&self, stdout: &str) -> Verdict {
        let Ok(answer) = serde_json::from_str::<Json>(stdout) else {
            return Verdict::Wrong("its answer is not JSON".to_owned());
        };
        let said = &answer["hookSpecificOutput"];
        let names_card = |key: &str| said[key].as_str().is_some_and(|text| text.contains(CARD));
        if said["hookEventName"] != self.event {
            return Verdict::Wrong(format!("its answer is not one to {}", self.event));
        }
        let is_right = match self.due {
            Due::Ask => said["permissionDecision"] == "ask" && names_card("permissionDecisionReason"),
            _ => names_card("additionalContext"),
        };
        if is_right {
            Verdict::Ok
        } else {
            Verdict::Wrong("its answer does not name the card that is held".to_owned())
        }
    }
}

/// What came of a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// What had to.
    Ok,
    /// Nothing, where something was due.
    Silent(String),
    /// Something else.
    Wrong(String),
    /// An exit number, or no start.
    Failed(String),
    /// No end in its time.
    TimedOut,
    /// The host would start nothing.
    NotRegistered(String),
}

impl Verdict {
    /// As reports print it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Silent(_) => "silent",
            Self::Wrong(_) => "wrong",
            Self::Failed(_) => "failed",
            Self::TimedOut => "timed-out",
            Self::NotRegistered(_) => "not-registered",
        }
    }

    /// Why it is not right.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Ok => None,
            Self::TimedOut => Some("it did not end in its time"),
            Self::Silent(reason)
            | Self::Wrong(reason)
            | Self::Failed(reason)
            | Self::NotRegistered(reason) => Some(reason),
        }
    }
}

/// One command that was fired, or that is missing.
#[derive(Clone, Debug)]
pub struct Fired {
    /// The event.
    pub event: &'static str,
    /// The tool, or the source of a start.
    pub name: &'static str,
    /// What happened.
    pub what: &'static str,
    due: Due,
    /// What came of it.
    pub verdict: Verdict,
    /// The settings file it is registered in.
    pub file: Option<&'static str>,
    /// The command, and whether a shell ran it.
    pub command: Option<(String, &'static str)>,
    /// How long it took from start to end.
    pub took: Option<Duration>,
}

impl Fired {
    /// The time in milliseconds, to a hundredth.
    pub fn ms(&self) -> Option<f64> {
        self.took.map(|took| (took.as_secs_f64() * 100_000.0).round() / 100.0)
    }

    fn to_json(&self) -> Json {
        json!({
            "event": self.event,
            "name": self.name,
            "what": self.what,
            "due": self.due.name(),
            "status": self.verdict.name(),
            "reason": self.verdict.reason(),
            "file": self.file,
            "command": self.command.as_ref().map(|(command, _)| command),
            "form": self.command.as_ref().map(|(_, form)| form),
            "ms": self.ms(),
        })
    }
}

/// When the hooks of this repository last fired by themselves, as timestamps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LastSeen {
    /// A session's start.
    pub session_start: Option<String>,
    /// A tool call's end.
    pub post_tool_use: Option<String>,
}

/// What a live check found.
#[derive(Clone, Debug)]
pub struct Report {
    /// The probes, in the order of a session.
    pub fired: Vec<Fired>,
    /// When it really happened.
    pub last_seen: LastSeen,
}

impl Report {
    /// Whether every probe came out as it had to.
    pub fn ok(&self) -> bool {
        self.fired.iter().all(|fired| fired.verdict == Verdict::Ok)
    }

    /// `{ok, fired: [{event, name, what, due, status, reason, file, command, form, ms}], lastSeen: {sessionStart, postToolUse}}`.
    pub fn to_json(&self) -> Json {
        json!({
            "ok": self.ok(),
            "fired": self.fired.iter().map(Fired::to_json).collect::<Vec<_>>(),
            "lastSeen": {
                "sessionStart": self.last_seen.session_start,
                "postToolUse": self.last_seen.post_tool_use,
            },
        })
    }
}

/// Fires what is registered in the repository at `root`. The commands that its settings name are run.
pub fn fire_registered(root: &Path) -> Result<Report, Failure> {
    let files = [SETTINGS, LOCAL_SETTINGS].map(|path| {
        let bytes = managed::read(root, path).ok().and_then(|file| file.bytes).unwrap_or_default();
        (path, Switches::of(root, path), bytes)
    });
    let disabled = files.iter().find(|(_, switches, _)| switches.disabled).map(|(path, ..)| *path);
    let plugin = files.iter().any(|(_, switches, _)| switches.plugin);
    let mut fired = Vec::new();
    for probe in &PROBES {
        let none = |reason: String| Fired {
            event: probe.event,
            name: probe.name,
            what: probe.what,
            due: probe.due,
            verdict: Verdict::NotRegistered(reason),
            file: None,
            command: None,
            took: None,
        };
        if let Some(path) = disabled {
            fired.push(none(format!("`disableAllHooks` is true in {path}")));
            continue;
        }
        let before = fired.len();
        for (path, _, bytes) in &files {
            let Ok(settings) = Settings::read(bytes) else { continue };
            for handler in
                settings.registered(probe.event).iter().filter(|handler| handler.is_for(probe.name))
            {
                let (verdict, took) = one(probe, handler, root)?;
                let form = if handler.start == Start::Shell { "shell" } else { "exec" };
                let command = Some((handler.command.clone(), form));
                fired.push(Fired { verdict, took, command, file: Some(path), ..none(String::new()) });
            }
        }
        if fired.len() == before {
            fired.push(none(if plugin {
                format!("only the plugin {PLUGIN_ID} has it, and the client's copy of that is not looked at")
            } else {
                "no command of ours is registered for it".to_owned()
            }));
        }
    }
    Ok(Report { fired, last_seen: last_seen(root) })
}

/// Each probe has a workspace of its own: none answers for what another did.
fn one(probe: &Probe, handler: &Handler, root: &Path) -> Result<(Verdict, Option<Duration>), Failure> {
    let stage = Stage::set(root)?;
    let payload = probe.payload(&stage).to_string();
    Ok(match fire(handler, root, &stage, &payload) {
        Ended::Done { code, stdout, took } => (probe.judge(code, &stdout, &stage), Some(took)),
        Ended::TimedOut => (Verdict::TimedOut, None),
        Ended::NotStarted(error) => (Verdict::Failed(format!("it cannot be started: {error}")), None),
    })
}

/// A start leaves a file of its own, a tool call its id in the session's file.
fn last_seen(root: &Path) -> LastSeen {
    let sessions = root.to_str().and_then(|root| Dir::open(root).ok()?.below(session::FOLDER_PATH).ok());
    let Some(sessions) = sessions else { return LastSeen::default() };
    let (mut started, mut called) = (None, None);
    let mut seen = 0;
    let _ = sessions.list(|entry| {
        seen += 1;
        let name = entry.name().to_str().unwrap_or_default();
        let end = name.rsplit('.').next().filter(|_| entry.kind() == Kind::File);
        if end == Some("start") {
            let ms = entry.stat().ok().map(|stat| stat.mtime_ns / 1_000_000);
            started = started.max(ms);
        } else if end == Some("json") {
            let bytes = sessions.read(name, 1 << 16).unwrap_or_default();
            let own = session::Own::parse(&bytes).filter(session::Own::has_called);
            called = called.max(own.and_then(|own| own.last_signal()).map(Time::ms));
        }
        if seen < session::MOST * 2 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    let timestamp = |ms: i64| Time::from_ms(ms).timestamp();
    LastSeen { session_start: started.map(timestamp), post_tool_use: called.map(timestamp) }
}
