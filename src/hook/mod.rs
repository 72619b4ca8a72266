//! The hooks: what runs around every tool call of a Claude Code session.
//!
//! A payload comes in on stdin, at most one JSON object goes out on stdout, the exit number is always 0. Whatever goes
//! wrong is one line on stderr and no opinion: a guard that breaks sessions gets switched off.

mod payload;
mod post_tool_use;
mod pre_tool_use;
mod protocol;
mod scan;
mod session_start;
mod text;

use crate::activity::actor::{self, Asked, ProcessEnv};
use crate::activity::claim::Me;
use crate::activity::root::{Roots, session_roots};
use crate::clock::{self, Time};
use crate::fs::Dir;
use payload::Payload;
use serde::Serialize;
use std::ffi::OsStr;
use std::io::{self, IsTerminal, Write};
#[cfg(unix)]
use std::os::fd::BorrowedFd;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// One registered hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    SessionStart,
    PreToolUse,
    PostToolUse,
}

impl Event {
    fn from_argument(word: &str) -> Option<Self> {
        match word {
            "session-start" => Some(Self::SessionStart),
            "pre-tool-use" => Some(Self::PreToolUse),
            "post-tool-use" => Some(Self::PostToolUse),
            _ => None,
        }
    }

    fn from_payload(name: &str) -> Option<Self> {
        match name {
            "SessionStart" => Some(Self::SessionStart),
            "PreToolUse" => Some(Self::PreToolUse),
            "PostToolUse" | "PostToolUseFailure" => Some(Self::PostToolUse),
            _ => None,
        }
    }

    const fn argument(self) -> &'static str {
        match self {
            Self::SessionStart => "session-start",
            Self::PreToolUse => "pre-tool-use",
            Self::PostToolUse => "post-tool-use",
        }
    }

    /// How long it may take once its payload is there.
    const fn limit(self) -> Duration {
        match self {
            Self::PreToolUse => Duration::from_millis(250),
            Self::SessionStart => Duration::from_secs(2),
            Self::PostToolUse => Duration::from_secs(5),
        }
    }
}

/// What a hook says. There is no "allow": that would lift other people's rules.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Answer {
    /// Nothing, which leaves the host's own flow alone.
    Silent,
    /// Let a person decide.
    Ask {
        /// For the person, and for the agent where nobody can be asked: it stands alone.
        reason: String,
        /// For the agent.
        context: String,
    },
    /// Something to know.
    Tell {
        /// The event as the host calls it.
        event: &'static str,
        /// For the agent.
        context: String,
    },
}

/// What one event runs with.
struct Call {
    payload: Payload,
    /// What the payload was read through; used again.
    window: Vec<u8>,
    roots: Roots,
    /// The session's root, held open.
    root: Rc<Dir>,
    session: Option<String>,
    now: Time,
    until: Instant,
    /// The first thing that went wrong while the event went on.
    trouble: Option<io::Error>,
}

impl Call {
    /// Keeps what went wrong and goes on.
    fn note<T>(&mut self, result: io::Result<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.trouble.get_or_insert(error);
                None
            }
        }
    }

    fn me(&self) -> Me {
        Me::new(self.session.as_deref(), derive_actor)
    }
}

/// The actor of a session: the command line's own rule.
fn derive_actor(session: Option<&str>) -> Option<String> {
    actor::resolve(Asked { session, ..Asked::NOTHING }, &ProcessEnv).actor
}

/// Runs one event. Always exit 0: another number would block edits or litter the transcript.
pub fn run(event: Option<&OsStr>) -> u8 {
    if is_off() {
        return 0;
    }
    let known = event.and_then(OsStr::to_str).and_then(Event::from_argument);
    let Some(event) = known else {
        let word = event.unwrap_or_default().to_string_lossy();
        complain(&word, "there is no such event: session-start, pre-tool-use or post-tool-use");
        return 0;
    };
    guarded(event, |window| {
        let mut stdin = Stdin::default();
        let payload = Payload::read(&mut stdin, window);
        if stdin.terminal {
            complain(event.argument(), "a hook reads its payload from stdin; Claude Code runs it");
        }
        payload
    });
    0
}

/// Hosts that do not know `args` run the bare name with a payload on stdin. `None` when that is not what happened; stdin
/// is used up then, and nothing else wants it.
pub fn run_bare() -> Option<u8> {
    std::env::var_os("CLAUDE_PROJECT_DIR")?;
    if io::stdin().is_terminal() {
        return None;
    }
    let payload = Payload::read(&mut Stdin::default(), &mut Vec::with_capacity(payload::WINDOW));
    let event = Event::from_payload(payload.hook_event_name.as_deref()?)?;
    if !is_off() {
        guarded(event, |_| payload);
    }
    Some(0)
}

fn is_off() -> bool {
    std::env::var_os("WORKFILE_HOOKS").is_some_and(|value| value == "off" || value == "0" || value == "false")
}

/// One line on stderr.
fn complain(event: &str, reason: &str) {
    let _ = writeln!(io::stderr(), "workfile hook {}: {}", text::clean(event, 40), text::clean(reason, 300));
}

/// Reads, decides, answers; a panic in between is one line on stderr.
fn guarded(event: Event, read: impl FnOnce(&mut Vec<u8>) -> Payload) {
    // The default report is several lines.
    set_hook(Box::new(|_| ()));
    let work = || {
        let mut window = Vec::with_capacity(payload::WINDOW);
        let payload = read(&mut window);
        handle(event, payload, window)
    };
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok((answer, trouble)) => {
            if let Some(error) = trouble {
                complain(event.argument(), &error.to_string());
            }
            print(&answer);
        }
        Err(_) => complain(event.argument(), "an internal error"),
    }
}

fn handle(event: Event, payload: Payload, window: Vec<u8>) -> (Answer, Option<io::Error>) {
    let project = std::env::var("CLAUDE_PROJECT_DIR").ok().filter(|dir| !dir.is_empty());
    let Some(roots) = session_roots(project.as_deref(), payload.cwd.as_deref()) else {
        return (Answer::Silent, None);
    };
    let root = match Dir::open(&roots.session) {
        Ok(root) => Rc::new(root),
        Err(error) => return (Answer::Silent, Some(error)),
    };
    let session = actor::session(payload.session_id.as_deref(), &ProcessEnv);
    let until = Instant::now() + event.limit();
    let mut call =
        Call { payload, window, roots, root, session, now: clock::hook_now(), until, trouble: None };
    let answer = match event {
        Event::SessionStart => session_start::answer(&mut call),
        Event::PreToolUse => pre_tool_use::answer(&mut call),
        Event::PostToolUse => post_tool_use::answer(&mut call),
    };
    let trouble = call.trouble.take();
    // The process ends soon; giving back what the call holds would be work for nothing.
    std::mem::forget(call);
    match answer {
        Ok(answer) => (answer, trouble),
        Err(error) => (Answer::Silent, Some(error)),
    }
}

/// The one place that writes stdout: one object, one write. A host that has gone away is no failure.
fn print(answer: &Answer) {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Output<'a> {
        hook_specific_output: Specific<'a>,
    }
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Specific<'a> {
        hook_event_name: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        permission_decision: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        permission_decision_reason: Option<&'a str>,
        additional_context: &'a str,
    }
    let specific = match answer {
        Answer::Silent => return,
        Answer::Ask { reason, context } => Specific {
            hook_event_name: "PreToolUse",
            permission_decision: Some("ask"),
            permission_decision_reason: Some(reason),
            additional_context: context,
        },
        Answer::Tell { event, context } => Specific {
            hook_event_name: event,
            permission_decision: None,
            permission_decision_reason: None,
            additional_context: context,
        },
    };
    let Ok(mut bytes) = serde_json::to_vec(&Output { hook_specific_output: specific }) else { return };
    bytes.push(b'\n');
    let _ = write_out(&bytes);
}

/// Writes all of it without the standard library's buffer, whose making costs a hook more than the write does.
#[cfg(unix)]
fn write_out(mut bytes: &[u8]) -> io::Result<()> {
    use rustix::io::Errno;
    while !bytes.is_empty() {
        match rustix::io::write(rustix::stdio::stdout(), bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(not(unix))]
fn write_out(bytes: &[u8]) -> io::Result<()> {
    io::stdout().write_all(bytes)
}

/// Stdin without a buffer, given up when nothing comes for five seconds: some hosts never close it.
#[derive(Default)]
struct Stdin {
    /// Bytes that are known to be there.
    ready: u64,
    /// Whether the last read filled its window, so that more is likely to follow.
    large: bool,
    /// Whether somebody sits at a keyboard instead.
    terminal: bool,
}

#[cfg(unix)]
impl Stdin {
    /// Whether there is something to read, after waiting for it.
    fn wait(&mut self, stdin: BorrowedFd<'static>) -> io::Result<bool> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        use rustix::io::Errno;
        let mut patience = Timespec { tv_sec: 0, tv_nsec: 0 };
        loop {
            match poll(&mut [PollFd::from_borrowed_fd(stdin, PollFlags::IN)], Some(&patience)) {
                // Almost always the payload is there already, and nobody need ask what stdin is.
                Ok(0) if patience.tv_sec == 0 => {
                    self.terminal = stdin.is_terminal();
                    patience.tv_sec = 5;
                    if self.terminal {
                        return Ok(false);
                    }
                }
                Ok(0) => return Ok(false),
                Ok(_) => return Ok(true),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl payload::Source for &mut Stdin {
    #[allow(
        clippy::inline_always,
        reason = "a call to another page of the program costs a hook more than the call does"
    )]
    #[inline(always)]
    #[cfg(unix)]
    fn fill(&mut self, into: &mut Vec<u8>) -> io::Result<usize> {
        use rustix::io::Errno;
        let stdin = rustix::stdio::stdin();
        loop {
            if self.ready == 0 && self.large {
                self.ready = rustix::io::ioctl_fionread(stdin).unwrap_or(0);
            }
            if self.ready == 0 && !self.wait(stdin)? {
                return Ok(0);
            }
            match rustix::io::read(stdin, rustix::buffer::spare_capacity(into)) {
                Err(Errno::INTR | Errno::AGAIN) => self.ready = 0,
                Err(error) => return Err(error.into()),
                Ok(read) => {
                    self.ready = self.ready.saturating_sub(read as u64);
                    self.large = into.len() == into.capacity();
                    return Ok(read);
                }
            }
        }
    }

    #[cfg(not(unix))]
    fn fill(&mut self, into: &mut Vec<u8>) -> io::Result<usize> {
        use std::io::Read;
        let room = into.capacity() - into.len();
        io::stdin().lock().take(room as u64).read_to_end(into)
    }
}
