//! After a tool call: a sign of life, a line in the ledger, and what a shell command changed in other scopes.

use super::scan::{Finding, MOST, Scanned, scan};
use super::session_start::host;
use super::text::{ID, PATH, clean, name};
use super::{Answer, Call, payload, protocol};
use crate::activity::board::{self, Claim, Effort, Told};
use crate::activity::claim::Me;
use crate::activity::ledger::{self, Collision, Event, Line};
use crate::activity::root::locate;
use crate::activity::session::{self, Own, Session, Signal};
use crate::clock::Time;
use crate::fs::Dir;
use std::fmt::Write as _;
use std::io;
use std::mem::ManuallyDrop;
use std::rc::Rc;
use std::time::Duration;

/// The longest command whose duration is believed, in milliseconds.
const LONGEST_MS: f64 = 86_400_000.0;
/// A command began a little before its duration says, in milliseconds.
const MARGIN_MS: i64 = 50;
/// A typed edit explains a file time this much later than itself, in milliseconds.
const EXCUSED_MS: i64 = 2000;
/// A change younger than this may be a typed edit whose line is still to come, in milliseconds.
const YOUNG_MS: i64 = 500;
/// How long such a line is waited for.
const SETTLE: Duration = Duration::from_millis(250);
/// Findings that get a line in the ledger.
const LINES: usize = 100;
/// Findings that are named in the answer.
const NAMED: usize = 20;

pub(super) fn answer(call: &mut Call) -> io::Result<Answer> {
    let Some(id) = call.session.clone() else { return Ok(Answer::Silent) };
    let root = Rc::clone(&call.root);
    // The process ends soon; giving the handle back would be a call for nothing.
    let sessions = ManuallyDrop::new(session::folder(&root)?);
    let file = session::read_file(&sessions, &id);
    let previous = file.as_deref().and_then(Own::parse);
    let call_id = call.payload.tool_use_id.clone();
    if let (Some(previous), Some(call_id)) = (&previous, &call_id)
        && previous.has_seen(call_id)
    {
        return Ok(Answer::Silent);
    }
    let before = previous.as_ref().and_then(Own::last_signal);
    let edited = edited(call);
    let me = call.me();
    let signal = Signal {
        id: &id,
        actor: me.actor(),
        now: call.now,
        host: host(),
        touched: edited.as_ref().map(|place| place.path.as_str()),
        tool_use: call_id.as_deref(),
    };
    let written = session::signal(&sessions, previous.as_ref(), signal);
    call.note(written);
    if let Some(place) = edited {
        let home = if place.root == call.roots.session { root } else { Rc::new(Dir::open(&place.root)?) };
        let at = call.now.timestamp();
        let line = event(call, &id, &at, &place.path, None);
        let appended = ledger::append(&home, &[line]);
        call.note(appended);
        if protocol::kind(&place.path) == Some(protocol::Kind::Card) {
            let effort = Effort { until: call.until, most_cards: None };
            let Told { trouble, .. } = board::renewed(&home, effort, call.now, |_| ())?;
            call.note(trouble.map_or(Ok(()), Err));
        }
        return Ok(Answer::Silent);
    }
    match before {
        Some(before) if call.payload.is_shell() => look(call, &root, &sessions, before, &me),
        _ => Ok(Answer::Silent),
    }
}

/// The file that a typed tool edited, when it lies in a workspace.
fn edited(call: &Call) -> Option<crate::activity::root::Place> {
    if call.payload.reads() || call.payload.is_shell() {
        return None;
    }
    locate(call.payload.path()?, call.payload.cwd.as_deref(), &call.roots, &call.root).into_iter().next()
}

fn event<'a>(
    call: &'a Call,
    id: &'a str,
    at: &'a str,
    path: &'a str,
    collision: Option<Collision<'a>>,
) -> Event<'a> {
    Event {
        at,
        session_id: id,
        tool: call.payload.tool_name.as_deref().unwrap_or_default(),
        path,
        tool_use_id: call.payload.tool_use_id.as_deref(),
        agent_id: call.payload.agent_id.as_deref(),
        agent_type: call.payload.agent_type.as_deref(),
        collision,
    }
}

/// Looks for changes inside foreign scopes since the session's signal before this one.
fn look(call: &mut Call, root: &Dir, sessions: &Dir, before: Time, me: &Me) -> io::Result<Answer> {
    let window = match call.payload.duration_ms {
        Some(took) if (0.0..=LONGEST_MS).contains(&took) => {
            before.min(call.now.minus(took as i64 + MARGIN_MS))
        }
        _ => before,
    };
    let effort = Effort { until: call.until, most_cards: None };
    let Told { board, trouble } = board::current(root, effort, call.now)?;
    call.note(trouble.map_or(Ok(()), Err));
    let claims: Vec<&Claim> = board.foreign(me).filter(|claim| !claim.scope.is_empty()).collect();
    if claims.is_empty() {
        return Ok(Answer::Silent);
    }
    let Scanned { mut findings, stopped } = scan(root, &claims, window, call.until)?;
    if findings.is_empty() {
        return Ok(Answer::Silent);
    }
    let since = window.minus(EXCUSED_MS);
    let mut lines = ledger::tail(root, since);
    unexplained(&mut findings, &lines, call.session.as_deref());
    let now = Time::system();
    if findings.iter().any(|finding| now.ms() - finding.mtime < YOUNG_MS) {
        std::thread::sleep(SETTLE);
        lines = ledger::tail(root, since);
        unexplained(&mut findings, &lines, call.session.as_deref());
    }
    if findings.is_empty() {
        return Ok(Answer::Silent);
    }
    let holders: Vec<Holder> = {
        let known = session::read_all(sessions);
        claims.iter().map(|claim| Holder::of(claim, &known, &lines, window)).collect()
    };
    let at = call.now.timestamp();
    let id = call.session.clone().unwrap_or_default();
    let events: Vec<Event<'_>> = findings
        .iter()
        .take(LINES)
        .map(|finding| {
            let (claim, holder) = (claims[finding.claim], holders[finding.claim]);
            let collision = Collision {
                card: &claim.id,
                holder: &claim.claimed_by,
                holder_known: holder != Holder::Unknown,
                holder_signalled: holder == Holder::Signalled,
                mtime: finding.mtime,
            };
            event(call, &id, &at, &finding.path, Some(collision))
        })
        .collect();
    let appended = ledger::append(root, &events);
    let event = match call.payload.hook_event_name.as_deref() {
        Some("PostToolUseFailure") => "PostToolUseFailure",
        _ => "PostToolUse",
    };
    call.note(appended);
    Ok(Answer::Tell { event, context: report(&findings, &claims, &holders, window, stopped) })
}

/// Drops what a typed edit explains and what this session was told already.
fn unexplained(findings: &mut Vec<Finding>, lines: &[Line], session: Option<&str>) {
    findings.retain(|finding| {
        !lines.iter().filter(|line| line.path == finding.path).any(|line| match &line.collision {
            Some(told) => Some(line.session_id.as_str()) == session && told.mtime == Some(finding.mtime),
            None => {
                !payload::reads(&line.tool)
                    && !payload::is_shell(&line.tool)
                    && line.at().is_some_and(|at| finding.mtime <= at.ms() + EXCUSED_MS)
            }
        })
    });
}

/// What is known of a claim's holder in the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holder {
    /// No session here signals as it.
    Unknown,
    /// A session does, and was silent.
    Silent,
    /// A session does, and signalled.
    Signalled,
}

impl Holder {
    fn of(claim: &Claim, sessions: &[Session], lines: &[Line], window: Time) -> Self {
        let is_holder = |session: &&Session| {
            (claim.session.is_some() && session.disc() == claim.session)
                || session.actor.as_deref() == Some(&claim.claimed_by)
        };
        let mut found = sessions.iter().filter(is_holder).peekable();
        if found.peek().is_none() {
            return Self::Unknown;
        }
        let signalled = found.any(|session| {
            session.last_signal().is_some_and(|at| at > window)
                || lines
                    .iter()
                    .any(|line| line.session_id == session.id && line.at().is_some_and(|at| at > window))
        });
        if signalled { Self::Signalled } else { Self::Silent }
    }

    const fn evidence(self) -> &'static str {
        match self {
            Self::Signalled => "that session signalled in the window, so the change may be its own",
            Self::Silent => "that session did not signal in the window, so the change is most likely yours",
            Self::Unknown => "no session here signals as that name, so its silence says nothing",
        }
    }
}

fn report(
    findings: &[Finding],
    claims: &[&Claim],
    holders: &[Holder],
    window: Time,
    stopped: bool,
) -> String {
    let count = findings.len();
    let files = if count == 1 { "file" } else { "files" };
    let mut out = format!(
        "Workfile: {count} {files} inside a scope another actor holds changed while your command ran."
    );
    for finding in findings.iter().take(NAMED) {
        let claim = claims[finding.claim];
        let _ = write!(
            out,
            "\n- {}: {}, held by {}; {}",
            clean(&finding.path, PATH),
            clean(&claim.id, ID),
            name(&claim.claimed_by),
            holders[finding.claim].evidence()
        );
    }
    if count > NAMED {
        let _ = write!(out, "\n- and {} more in .project/.cache/activity/events.jsonl", count - NAMED);
    }
    let _ = write!(
        out,
        "\nThe window opened at {}. A neighbour writing to its own scope in that time is listed too.",
        window.timestamp()
    );
    if stopped {
        let _ = write!(out, "\nThe scan stopped after {MOST} entries; files beyond that were not looked at.");
    }
    out
}
