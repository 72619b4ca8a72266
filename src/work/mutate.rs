//! The one shape of every change to a card.
//!
//! Lock, list, locate, read again, compare the revision, plan, validate, write, tell the board. A command brings a plan
//! and nothing else; whatever it refuses, it refuses before the first byte is written.

use super::card::{Card, Place};
use super::fields::LISTS;
use super::input::{Assignment, verify_of};
use super::load::{self, Listing};
use super::plan::{ACTIVITY, Home, Line, Plan};
use super::validate::{self, Candidate};
use crate::activity::actor::{Identity, Source};
use crate::activity::board::{Change as BoardChange, Claim, Upkeep};
use crate::clock::{self, Time};
use crate::failure::{Code, Failure};
use crate::fs;
use crate::path::trim;
use crate::record::{self, Header};
use crate::workspace::Workspace;
pub use crate::workspace::edit::Target;
use crate::workspace::edit::{lock, matters};

/// Who changes something.
#[derive(Clone, Debug)]
pub struct Caller {
    /// On whose behalf.
    pub acting: Identity,
    /// Who the process is without being told.
    pub own: Identity,
}

impl Caller {
    /// The actor that the change is attributed to.
    pub fn actor(&self) -> Option<&str> {
        self.acting.actor.as_deref()
    }

    /// The named actor and the process's own, when somebody else was named: the hooks know a session by its own name.
    pub fn mismatch(&self) -> Option<(&str, &str)> {
        let (claimed, own) = (self.acting.actor.as_deref()?, self.own.actor.as_deref()?);
        (self.acting.source == Source::Argument && claimed != own).then_some((claimed, own))
    }

    /// The session of a claim, when the process made it under its own name.
    fn session_of(&self, holder: &str) -> Option<String> {
        if self.own.actor.as_deref() == Some(holder) { self.own.disc() } else { None }
    }
}

/// Changes one card: `plan` sees it as it is under the lock. `look` runs when the card is on disk, while the board is
/// locked, so that of two claims made at once one sees the other.
pub(super) fn mutate<T>(
    workspace: &Workspace,
    target: Target<'_>,
    caller: &Caller,
    plan: impl FnOnce(&Card, Time) -> Result<Plan, Failure>,
    look: impl FnOnce(&Card) -> T,
) -> Result<(Card, T), Failure> {
    mutate_file(workspace, target, None, caller, plan, look)
}

/// [`mutate`] of the card in one `file` of those that may have its id.
pub(super) fn mutate_file<T>(
    workspace: &Workspace,
    target: Target<'_>,
    file: Option<(Place, &str)>,
    caller: &Caller,
    plan: impl FnOnce(&Card, Time) -> Result<Plan, Failure>,
    look: impl FnOnce(&Card) -> T,
) -> Result<(Card, T), Failure> {
    writable(workspace)?;
    let _lock = lock(workspace, "cards", target.id)?;
    let listing = load::all(workspace)?;
    let found = locate(&listing, target.id, file)?;
    let before = load::again(workspace, found)?.filter(|card| card.id == target.id);
    let before = before.ok_or_else(|| load::missing(&listing, target.id))?;
    if let Some(expected) = target.revision.filter(|revision| !revision.is_empty()) {
        unchanged(&before, expected)?;
    }
    let now = clock::now();
    let plan = plan(&before, now)?;
    let Some(after) = candidate(&before, plan, &listing, workspace, now)? else {
        let seen = look(&before);
        return Ok((before, seen));
    };

    let from = load::folder(workspace, before.place).join(&before.file);
    let to = load::folder(workspace, after.place).join(&after.file);
    let mut board = Upkeep::begin(&workspace.root);
    let mut watch = |step| board.saw(step);
    if from == to {
        fs::replace_watched(&workspace.root, &to, after.text().as_bytes(), &mut watch)?;
    } else {
        fs::relocate(&workspace.root, &from, &to, after.text().as_bytes(), &mut watch)?;
    }
    let seen = board.finish(board_change(Some(&before), &after, caller), || look(&after));
    Ok((after, seen))
}

/// The card as the plan makes it, found in order; `None` when the plan comes to nothing.
fn candidate(
    before: &Card,
    mut plan: Plan,
    listing: &Listing,
    workspace: &Workspace,
    now: Time,
) -> Result<Option<Card>, Failure> {
    let renamed = plan.renamed.as_ref().map(|renamed| {
        let text = renamed.in_text(before.text());
        parsed(Card::parse(before.file.clone(), before.place, text))
    });
    let renamed = renamed.transpose()?;
    let base = renamed.as_ref().unwrap_or(before);
    let header = overlaid(&base.header, &plan.changes);
    let (place, file) = plan.placed(before, &header);
    let moves = place != before.place || file != before.file;
    if moves && plan.lines.is_empty() {
        plan.trail("unarchived");
    }
    let body = written(base, &plan, workspace, now);
    // Another id makes no card better or worse, and must heal one that the configuration has outgrown.
    if plan.renamed.is_none() && !matches!(plan.home, Home::File(_)) {
        let named: Vec<String> = plan.changes.iter().map(|change| change.key.clone()).collect();
        let candidate = Candidate {
            id: &before.id,
            called: &before.id,
            header: &header,
            body: body.as_ref().map_or(base.body(), NewBody::text),
            verify: verify_of(&plan.changes),
            named: &named,
        };
        validate::card(&candidate, &listing.cards, &workspace.config.cards)?;
    }

    let changes: Vec<record::Change> = plan.changes.into_iter().map(Assignment::settle).collect();
    let changes: Vec<_> = changes.into_iter().filter(|change| matters(&base.header, change)).collect();
    let own = !changes.is_empty() || body.is_some() || moves;
    if !own && base.text() == before.text() {
        return Ok(None);
    }
    // Whoever only follows the new name of another card is not newer for it.
    let today = own.then(|| now.date());
    let mut text = record::patch(base.text(), &changes, &LISTS, today.as_deref())?;
    match body {
        Some(NewBody::Exact(body)) => text = record::with_body_text(&text, &body)?,
        Some(NewBody::Sections(body)) => text = record::with_body(&text, &body)?,
        None => {}
    }
    if let Some(close) = &plan.close {
        text = close.sealed(&text, now)?;
    }
    parsed(Card::parse(file, place, text)).map(Some)
}

/// Refuses on a workspace that nobody may write to, and when cards are switched off.
pub(super) fn writable(workspace: &Workspace) -> Result<(), Failure> {
    workspace.writable()?;
    if workspace.config.cards.enabled {
        return Ok(());
    }
    let text = "cards are switched off: cards.enabled is false in the configuration";
    Err(Failure::new(Code::MODULE_DISABLED, text).with("module", "cards"))
}

/// What the board learns from a card that was written.
pub(super) fn board_change(before: Option<&Card>, after: &Card, caller: &Caller) -> BoardChange {
    let from = before.map(|before| &before.id).filter(|from| **from != after.id);
    let Some(holder) = after.holder() else {
        let held = before.is_some_and(|before| before.holder().is_some());
        return if held { BoardChange::Unclaimed(after.id.clone()) } else { BoardChange::Unseen };
    };
    let shown = ["claimed_by", "claimed_at", "status", "title", "scope"];
    if from.is_none()
        && before
            .is_some_and(|before| shown.iter().all(|key| before.header.get(key) == after.header.get(key)))
    {
        return BoardChange::Unseen;
    }
    let text = |key: &str| after.field(key).map(str::to_owned);
    let claim = Claim {
        id: after.id.clone(),
        title: text("title"),
        status: text("status"),
        claimed_by: holder.to_owned(),
        claimed_at: text("claimed_at"),
        session: caller.session_of(holder),
        scope: after.scope(),
    };
    match from {
        Some(from) => BoardChange::Renumbered(from.clone(), Claim { session: None, ..claim }),
        None => BoardChange::Claimed(claim),
    }
}

/// A header with the assignments made; verify entries as they were sent are left to their own check.
pub(super) fn overlaid(header: &Header, changes: &[Assignment]) -> Header {
    use super::input::New;
    let mut header = header.clone();
    for change in changes {
        match &change.new {
            New::Clear | New::Verify(_) => header.set(&change.key, None),
            New::Set(value) => header.set(&change.key, Some(value.clone())),
        }
    }
    header
}

/// The text that this program just made, read back.
pub(super) fn parsed(card: Result<Card, String>) -> Result<Card, Failure> {
    card.map_err(|reason| {
        Failure::new(Code::INTERNAL_ERROR, format!("the card would not be readable: {reason}"))
    })
}

/// The card with this id: in `file`, or one and only one.
pub(super) fn locate<'a>(
    listing: &'a Listing,
    id: &str,
    file: Option<(Place, &str)>,
) -> Result<&'a Card, Failure> {
    let wanted = |card: &&Card| card.id == id && file.is_none_or(|file| file == (card.place, &*card.file));
    let found: Vec<&Card> = listing.cards.iter().filter(wanted).collect();
    match found.as_slice() {
        [] => Err(load::missing(listing, id)),
        [card] => Ok(card),
        several => Err(ambiguous(id, several)),
    }
}

/// `CARD_ID_AMBIGUOUS`, details `{files}`.
pub(super) fn ambiguous(name: &str, cards: &[&Card]) -> Failure {
    let files: Vec<&str> = cards.iter().map(|card| card.file.as_str()).collect();
    let text = format!("{name} means several files: {}", files.join(", "));
    let failure = Failure::new(Code::CARD_ID_AMBIGUOUS, text).with("files", files);
    failure.remedy("workfile card renumber --duplicates")
}

fn unchanged(card: &Card, expected: &str) -> Result<(), Failure> {
    let actual = card.revision();
    if actual == expected {
        return Ok(());
    }
    let text = format!("{} has changed since revision {expected}", card.id);
    let failure = Failure::new(Code::CARD_WRITE_CONFLICT, text).with("id", card.id.clone());
    let failure = failure.with("expectedRevision", expected).with("actualRevision", actual);
    Err(failure.with("current", card.to_json()).remedy(format!("workfile card show {}", card.id)))
}

/// A body that is to be written.
enum NewBody {
    /// Byte for byte.
    Exact(String),
    /// As sections, put together anew.
    Sections(String),
}

impl NewBody {
    /// The body, trimmed.
    fn text(&self) -> &str {
        let (Self::Exact(text) | Self::Sections(text)) = self;
        trim(text)
    }
}

/// The body with the plan's own text and lines; `None` when it stays as it is.
fn written(before: &Card, plan: &Plan, workspace: &Workspace, now: Time) -> Option<NewBody> {
    let trailed = workspace.config.cards.activity_trail;
    let lines = plan.lines.iter().filter_map(|line| match line {
        Line::Under(heading, line) => Some((heading.as_str(), line.clone())),
        Line::Trail(text) if trailed => {
            Some((ACTIVITY, record::trail_line(&now.stamp(), plan.signed.as_deref(), text)))
        }
        Line::Trail(_) => None,
    });
    let own = plan.body_text.as_deref().filter(|text| *text != before.body_text());
    let body = lines.fold(None, |body: Option<String>, (heading, line)| {
        let body = body.as_deref().or(own).unwrap_or(before.body_text());
        Some(record::append_under_heading(body, heading, &line))
    });
    body.map(NewBody::Sections).or_else(|| own.map(|text| NewBody::Exact(text.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::testing::card;

    fn identity(actor: Option<&str>, source: Source, session: Option<&str>) -> Identity {
        Identity { actor: actor.map(str::to_owned), source, session: session.map(str::to_owned) }
    }

    fn caller(acting: Option<&str>, source: Source) -> Caller {
        let own = identity(Some("ann@lab#aaaa1111"), Source::UserHostSession, Some("AAAA-1111"));
        Caller { acting: identity(acting, source, Some("AAAA-1111")), own }
    }

    #[test]
    fn only_a_named_actor_can_be_somebody_else() {
        assert_eq!(caller(Some("bo"), Source::Argument).mismatch(), Some(("bo", "ann@lab#aaaa1111")));
        assert_eq!(caller(Some("ann@lab#aaaa1111"), Source::Argument).mismatch(), None);
        assert_eq!(caller(Some("bo"), Source::Environment).mismatch(), None);
    }

    #[test]
    fn the_board_learns_of_what_it_shows_and_of_nothing_else() {
        let by = caller(Some("ann@lab#aaaa1111"), Source::UserHostSession);
        let free = card("T-0001", "title: A\nstatus: next");
        let held = card("T-0001", "title: A\nstatus: doing\nclaimed_by: ann@lab#aaaa1111\nscope: [a]");
        let other = card("T-0001", "title: A\nstatus: doing\nclaimed_by: bo\nscope: [a]");
        let tagged = card("T-0001", "title: A\nstatus: doing\nclaimed_by: bo\nscope: [a]\ntags: [x]");
        let BoardChange::Claimed(claim) = board_change(Some(&free), &held, &by) else {
            panic!("not a claim")
        };
        assert_eq!(claim.session.as_deref(), Some("aaaa1111"));
        assert_eq!(claim.scope, ["a"]);
        let BoardChange::Claimed(claim) = board_change(None, &other, &by) else { panic!("not a claim") };
        assert_eq!(claim.session, None, "somebody else's session is looked up");
        assert!(matches!(board_change(Some(&other), &tagged, &by), BoardChange::Unseen));
        assert!(
            matches!(board_change(Some(&held), &free, &by), BoardChange::Unclaimed(id) if id == "T-0001")
        );
        assert!(matches!(board_change(Some(&free), &free, &by), BoardChange::Unseen));
    }
}
