//! Before an edit: is it inside somebody else's scope, or a record?

use super::text::{ID, NAME, PATH, TIME, clean, name, quoted};
use super::{Answer, Call, protocol};
use crate::activity::board::{self, Claim, Effort, Guard, Me, Told};
use crate::activity::claim::{LEASE_HOURS, State, judge};
use crate::activity::root::{Place, locate};
use crate::activity::session;
use crate::clock::Time;
use crate::fs::Dir;
use crate::scope;
use std::io;
use std::rc::Rc;

/// With more cards than this the rebuild of a stale board is left to the next hook that nobody waits for.
const MOST_CARDS: usize = 5000;

pub(super) fn answer(call: &mut Call) -> io::Result<Answer> {
    if call.payload.reads() {
        return Ok(Answer::Silent);
    }
    let Some(path) = call.payload.path() else { return Ok(Answer::Silent) };
    let places = locate(path, call.payload.cwd.as_deref(), &call.roots, &call.root);
    for place in &places {
        if let Some(kind) = protocol::kind(&place.path) {
            let text = protocol::text(kind, &place.path);
            return Ok(Answer::Ask { context: format!("Workfile: {text}"), reason: text });
        }
    }
    let me = call.me();
    for place in &places {
        if let Some(ask) = judge_place(call, place, &me)? {
            return Ok(ask);
        }
    }
    Ok(Answer::Silent)
}

/// Asks when a foreign claim covers the place.
fn judge_place(call: &mut Call, place: &Place, me: &Me) -> io::Result<Option<Answer>> {
    let root = if place.root == call.roots.session {
        Rc::clone(&call.root)
    } else {
        Rc::new(Dir::open(&place.root)?)
    };
    if matches!(board::ask_index(&root, &place.path, me, &mut call.window), Guard::Clear) {
        return Ok(None);
    }
    let effort = Effort { until: call.until, most_cards: Some(MOST_CARDS) };
    let Told { board, trouble } = board::current(&root, effort, call.now)?;
    call.note(trouble.map_or(Ok(()), Err));
    let mut covering = board.foreign(me).filter_map(|claim| {
        let entry = claim.scope.iter().find(|entry| scope::covers(entry, &place.path))?;
        Some((claim, entry))
    });
    let Some((claim, entry)) = covering.next() else { return Ok(None) };
    let others = covering.count();
    Ok(Some(ask(claim, entry, others, &place.path, silence(&root, claim, call.now))))
}

fn ask(claim: &Claim, entry: &str, others: usize, path: &str, silence: Option<String>) -> Answer {
    let id = clean(&claim.id, ID);
    let holder = name(&claim.claimed_by);
    let path = clean(path, PATH);
    let since = claim.claimed_at.as_deref().map(|at| clean(at, TIME)).filter(|at| !at.is_empty());
    let since = since.map(|at| format!(" since {at}")).unwrap_or_default();
    let silence = silence.unwrap_or_default();
    let entry = quoted(entry, NAME);
    let also = match others {
        0 => String::new(),
        1 => " 1 other claim covers it too.".to_owned(),
        more => format!(" {more} other claims cover it too."),
    };
    let reason = format!(
        "{id} is held by {holder}{since}{silence}; its scope \"{entry}\" covers {path}.{also} Approving lets this edit through."
    );
    let context = format!(
        "Workfile: {path} is inside the scope of {id}, held by {holder}. The user is asked before this edit runs."
    );
    Answer::Ask { reason, context }
}

/// How long the holder of an orphaned claim has been silent. Session files are looked at for an ask that is due, never
/// before.
fn silence(root: &Dir, claim: &Claim, now: Time) -> Option<String> {
    let sessions = session::of(root);
    let judged = judge(claim.held(), &sessions, LEASE_HOURS, now);
    let minutes = judged.silent_ms.filter(|_| judged.state == State::Orphaned)? / 60_000;
    Some(if minutes >= 120 {
        format!(", silent for {} h", minutes / 60)
    } else {
        format!(", silent for {minutes} min")
    })
}
