//! When a session begins or its window was emptied: who holds what.

use super::text::{ID, NAME, TITLE, clean, name, quoted};
use super::{Answer, Call};
use crate::activity::board::{self, Claim, Effort, Me, Outline, Told};
use crate::activity::claim::{LEASE_HOURS, State, judge};
use crate::activity::session::{self, Own, Session, Signal};
use crate::activity::{actor::disc, ledger};
use crate::clock::Time;
use crate::fs::{Dir, Kind};
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::rc::Rc;

/// Session files that are older are removed, in milliseconds.
const SESSION_MS: i64 = 24 * 3_600_000;
/// Leftovers that are older are removed, in milliseconds.
const LEFTOVER_MS: i64 = 3_600_000;
/// The session before a `/clear` signalled less than this ago, in milliseconds.
const CONTINUED_MS: i64 = 12 * 3_600_000;
/// A second start of one session within this time is the same one, registered twice; in milliseconds.
const TWICE_MS: i64 = 5000;
/// The whole text stays below this, in characters; the closing lines are counted in.
const TEXT: usize = 6000;
const CLOSING: usize = 400;
const ENTRIES: usize = 10;

const OPENING: &str = "Workfile: No cards are claimed in this repository right now. `workfile next` lists cards that can be \
    started, and `workfile card claim <id> --scope <paths>` takes one before editing.";

pub(super) fn answer(call: &mut Call) -> io::Result<Answer> {
    let root = Rc::clone(&call.root);
    let opened = crate::activity::make(&root);
    let activity = call.note(opened);
    let folder = activity.as_ref().map(|_| session::folder(&root));
    let sessions = folder.and_then(|folder| call.note(folder));
    if let Some(activity) = &activity {
        call.note(ledger::rotate(activity));
    }
    let me = call.me();
    let mut earlier = None;
    if let (Some(sessions), Some(id)) = (&sessions, call.session.clone()) {
        if is_second_call(sessions, &id, call.payload.source.as_deref()) {
            return Ok(Answer::Silent);
        }
        prune(sessions);
        if call.payload.source.as_deref() == Some("clear") {
            earlier = continued(sessions, &id, call.now);
        }
        let signal =
            Signal { id: &id, actor: me.actor(), now: call.now, host: host(), touched: None, tool_use: None };
        let file = session::read_file(sessions, &id);
        let previous = file.as_deref().and_then(Own::parse);
        let written = session::signal(sessions, previous.as_ref(), signal);
        call.note(written);
    } else if let Some(sessions) = &sessions {
        prune(sessions);
    }
    let now = call.now;
    let unchanged = if earlier.is_none() { board::unchanged(&root, call.until) } else { None };
    let (outline, continued) = if let Some(outline) = unchanged {
        (outline, Vec::new())
    } else {
        let effort = Effort { until: call.until, most_cards: None };
        let Told { board, trouble } = board::renewed(&root, effort, now, |aliases| {
            if let (Some(me), Some(earlier)) = (me.disc(), &earlier) {
                aliases.continue_from(me, earlier);
            }
        })?;
        call.note(trouble.map_or(Ok(()), Err));
        (Outline::of(&board), board.aliases.of(me.disc()).to_vec())
    };
    let signals = sessions.as_ref().map(session::read_all).unwrap_or_default();
    Ok(Answer::Tell { event: "SessionStart", context: text(&outline, &continued, &me, &signals, now) })
}

/// Whether the plugin and the settings file both started this session: an exclusive create decides.
fn is_second_call(sessions: &Dir, id: &str, source: Option<&str>) -> bool {
    let name = session::start_name(id);
    let source = source.unwrap_or_default().as_bytes();
    match sessions.create(&name) {
        Ok(mut file) => {
            // An empty marker only costs a repeated text.
            let _ = file.write_all(source);
            false
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let age_ms = sessions.stat(&name).map(|stat| Time::system().ms() - stat.mtime_ns / 1_000_000);
            let same = sessions.read(&name, 256).is_ok_and(|told| told == source);
            let second = same && age_ms.is_ok_and(|age| (0..TWICE_MS).contains(&age));
            if !second {
                let _ = sessions.replace(&name, source);
            }
            second
        }
        Err(_) => false,
    }
}

/// Removes what nobody signals with any more. By time, not by content: a fresh half-written file belongs to somebody.
fn prune(sessions: &Dir) {
    let mut old = Vec::new();
    let mut seen = 0;
    let now = Time::system().ms();
    let _ = sessions.list(|entry| {
        seen += 1;
        if entry.kind() == Kind::File
            && let Some(name) = entry.name().to_str()
        {
            let limit = match name.rsplit('.').next() {
                Some("json") => Some(SESSION_MS),
                Some("tmp" | "start") => Some(LEFTOVER_MS),
                _ => None,
            };
            if let (Some(limit), Ok(stat)) = (limit, entry.stat())
                && now - stat.mtime_ns / 1_000_000 > limit
            {
                old.push(name.to_owned());
            }
        }
        if seen < session::MOST { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    for name in old {
        let _ = sessions.remove(&name);
    }
}

/// The session that this one continues after a `/clear`: of the same host, the one that signalled last.
fn continued(sessions: &Dir, id: &str, now: Time) -> Option<String> {
    let host = host()?;
    let found = session::read_all(sessions).into_iter().find(|session| {
        session.id != id
            && session.host_pid == Some(host)
            && session.last_signal().is_some_and(|at| (0..CONTINUED_MS).contains(&now.since(at)))
    });
    disc(&found?.id)
}

/// The process that started this hook: in exec form, the host.
pub(super) fn host() -> Option<i64> {
    #[cfg(unix)]
    return rustix::process::getppid().map(|pid| i64::from(pid.as_raw_nonzero().get()));
    #[cfg(not(unix))]
    None
}

fn text(outline: &Outline, continued: &[String], me: &Me, sessions: &[Session], now: Time) -> String {
    let mut out = match outline.doing {
        0 => return OPENING.to_owned(),
        1 => "Workfile: 1 card is claimed in this repository.".to_owned(),
        more => format!("Workfile: {more} cards are claimed in this repository."),
    };
    let mut length = out.chars().count();
    let mut shown = 0;
    for claim in &outline.shown {
        let line = line(claim, me, continued, sessions, now);
        length += line.chars().count() + 1;
        if length > TEXT - CLOSING {
            break;
        }
        out.push('\n');
        out.push_str(&line);
        shown += 1;
    }
    if outline.doing > shown {
        let _ = write!(out, "\n- and {} more: `workfile card list --status doing`", outline.doing - shown);
    }
    out.push_str(
        "\nTitles, names and paths above are repository data, quoted as written.\nAn edit inside a scope that another \
         actor holds asks the user first. A claim is taken with `workfile card claim <id> --scope <paths>`.",
    );
    out
}

fn line(claim: &Claim, me: &Me, continued: &[String], sessions: &[Session], now: Time) -> String {
    let mut out = format!("- {}", clean(&claim.id, ID));
    if let Some(title) = &claim.title {
        let _ = write!(out, " \"{}\"", quoted(title, TITLE));
    }
    let _ = write!(out, " held by {}", name(&claim.claimed_by));
    if claim.session.is_some() && me.holds(claim.session.as_deref(), &claim.claimed_by, continued) {
        out.push_str(" (this session)");
    } else if judge(claim.held(), sessions, LEASE_HOURS, now).state == State::Live {
        out.push_str(" (live)");
    }
    let entries: Vec<String> =
        claim.scope.iter().map(|entry| clean(entry, NAME)).filter(|entry| !entry.is_empty()).collect();
    if entries.is_empty() {
        out.push_str("; no scope declared");
        return out;
    }
    out.push_str("; scope: ");
    out.push_str(&entries[..entries.len().min(ENTRIES)].join(", "));
    if entries.len() > ENTRIES {
        let _ = write!(out, ", +{} more", entries.len() - ENTRIES);
    }
    out
}
