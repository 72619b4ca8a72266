//! The one shape of every change to a card.
//!
//! Lock, list, locate, read again, compare the revision, plan, validate, write, tell the board. A command brings a plan
//! and nothing else; whatever it refuses, it refuses before the first byte is written.

use super::card::{self, Card, Place};
use super::fields::{DONE, LISTS, is_open};
use super::input::{Assignment, verify_of};
use super::load::{self, Listing};
use super::validate::{self, Candidate};
use crate::activity::actor::{Identity, Source};
use crate::activity::board::{Change as BoardChange, Claim, Upkeep};
use crate::clock::{self, Time};
use crate::failure::{Code, Failure};
use crate::fs::{self, Lock, Purpose};
use crate::path::trim;
use crate::record::{self, Header, Style};
use crate::workspace::Workspace;

/// The heading of the trail.
pub(super) const ACTIVITY: &str = "## Activity";
/// The heading of the notes.
pub(super) const NOTES: &str = "## Notes";

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

/// Which card, and as the caller saw it when.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The id.
    pub id: &'a str,
    /// The revision it must still have; empty counts as none.
    pub revision: Option<&'a str>,
}

/// What a command wants done to the card it was shown.
pub(super) struct Plan {
    /// Changes of the header, in order.
    pub(super) changes: Vec<Assignment>,
    /// The body text that replaces the card's, as it is to stand in the file; lines and trail are added to it.
    pub(super) body_text: Option<String>,
    /// Lines under headings, written before the trail.
    pub(super) lines: Vec<(String, String)>,
    /// Texts of trail lines.
    pub(super) trail: Vec<String>,
    /// Whom the trail lines name.
    pub(super) signed: Option<String>,
    /// What becomes of an archived card.
    pub(super) home: Home,
}

/// What becomes of an archived card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Home {
    /// It stays where it is.
    Stay,
    /// It goes back to the live cards when the change leaves it open.
    LiveWhenOpen,
}

impl Plan {
    /// Nothing yet, signed by the caller.
    pub(super) fn new(caller: &Caller, home: Home) -> Self {
        let signed = caller.actor().map(str::to_owned);
        Self { changes: Vec::new(), body_text: None, lines: Vec::new(), trail: Vec::new(), signed, home }
    }

    /// Drops the `verified` block when the card leaves done.
    pub(super) fn leave(&mut self, from: Option<&str>, to: &str) {
        if from == Some(DONE) && to != DONE {
            self.changes.push(Assignment::clear("verified"));
        }
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
    writable(workspace)?;
    let _lock = lock(workspace, target.id)?;
    let listing = load::all(workspace)?;
    let found = locate(&listing, target.id)?;
    let before = load::again(workspace, found)?.filter(|card| card.id == target.id);
    let before = before.ok_or_else(|| load::missing(&listing, target.id))?;
    if let Some(expected) = target.revision.filter(|revision| !revision.is_empty()) {
        unchanged(&before, expected)?;
    }
    let now = clock::now();
    let mut plan = plan(&before, now)?;

    let header = overlaid(&before.header, &plan.changes);
    let moves = leaves_archive(&before, &header, plan.home);
    if moves && plan.trail.is_empty() {
        plan.trail.push("unarchived".to_owned());
    }
    let body = written(&before, &plan, workspace, now);
    let named: Vec<String> = plan.changes.iter().map(|change| change.key.clone()).collect();
    let candidate = Candidate {
        id: &before.id,
        called: &before.id,
        header: &header,
        body: body.as_ref().map_or(before.body(), NewBody::text),
        verify: verify_of(&plan.changes),
        named: &named,
    };
    validate::card(&candidate, &listing.cards, &workspace.config.cards)?;

    let changes: Vec<record::Change> = plan.changes.into_iter().map(Assignment::settle).collect();
    let changes: Vec<_> = changes.into_iter().filter(|change| matters(&before.header, change)).collect();
    if changes.is_empty() && body.is_none() && !moves {
        let seen = look(&before);
        return Ok((before, seen));
    }
    let mut text = record::patch(before.text(), &changes, &LISTS, Some(&now.date()))?;
    match body {
        Some(NewBody::Exact(body)) => text = record::with_body_text(&text, &body)?,
        Some(NewBody::Sections(body)) => text = record::with_body(&text, &body)?,
        None => {}
    }
    let place = if moves { Place::Live } else { before.place };
    let after = parsed(Card::parse(before.file.clone(), place, text))?;
    let from = load::folder(workspace, before.place).join(&before.file);
    let to = load::folder(workspace, place).join(&after.file);

    let mut board = Upkeep::begin(&workspace.root);
    let mut watch = |step| board.saw(step);
    if moves {
        fs::relocate(&workspace.root, &from, &to, after.text().as_bytes(), &mut watch)?;
    } else {
        fs::replace_watched(&workspace.root, &to, after.text().as_bytes(), &mut watch)?;
    }
    let seen = board.finish(board_change(Some(&before), &after, caller), || look(&after));
    Ok((after, seen))
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
    let Some(holder) = after.holder() else {
        let held = before.is_some_and(|before| before.holder().is_some());
        return if held { BoardChange::Unclaimed(after.id.clone()) } else { BoardChange::Unseen };
    };
    let shown = ["claimed_by", "claimed_at", "status", "title", "scope"];
    if before.is_some_and(|before| shown.iter().all(|key| before.header.get(key) == after.header.get(key))) {
        return BoardChange::Unseen;
    }
    let text = |key: &str| after.field(key).map(str::to_owned);
    BoardChange::Claimed(Claim {
        id: after.id.clone(),
        title: text("title"),
        status: text("status"),
        claimed_by: holder.to_owned(),
        claimed_at: text("claimed_at"),
        session: caller.session_of(holder),
        scope: after.scope(),
    })
}

/// A header with the assignments made; verify entries as they were sent are left to their own check.
pub(super) fn overlaid(header: &Header, changes: &[Assignment]) -> Header {
    use super::input::New;
    let mut header = header.clone();
    for change in changes {
        match &change.new {
            New::Clear | New::Verify(_) => card::with(&mut header, &change.key, None),
            New::Set(value) => card::with(&mut header, &change.key, Some(value.clone())),
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

/// The card with this id: one, and only one.
fn locate<'a>(listing: &'a Listing, id: &str) -> Result<&'a Card, Failure> {
    let mut found = listing.cards.iter().filter(|card| card.id == id);
    let first = found.next().ok_or_else(|| load::missing(listing, id))?;
    let others: Vec<&str> = found.map(|card| card.file.as_str()).collect();
    if others.is_empty() {
        return Ok(first);
    }
    let files: Vec<&str> = std::iter::once(first.file.as_str()).chain(others).collect();
    let text = format!("{id} is the id of several files: {}; give all but one another id", files.join(", "));
    Err(Failure::new(Code::CARD_ID_AMBIGUOUS, text).with("files", files))
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

fn lock(workspace: &Workspace, id: &str) -> Result<Lock, Failure> {
    let folder = format!("{}/cards", workspace.paths.locks);
    Lock::take(&workspace.root, &folder, &lock_name(id), Purpose::Record { module: "cards", id })
}

/// The lock's file name: the id where it can be one. Two ids that share a name wait for each other, no more.
fn lock_name(id: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' };
    let name: String = id.chars().map(plain).take(100).collect();
    format!("{name}.lock")
}

/// Whether an archived card goes back to the live ones.
fn leaves_archive(before: &Card, after: &Header, home: Home) -> bool {
    let open = after.text("status").is_none_or(is_open);
    home == Home::LiveWhenOpen && before.is_archived() && open
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
    let trail = plan.trail.iter().filter(|_| trailed);
    let trail = trail.map(|text| {
        let line = record::trail_line(&now.stamp(), plan.signed.as_deref(), text);
        (ACTIVITY.to_owned(), line)
    });
    let own = plan.body_text.as_deref().filter(|text| *text != before.body_text());
    let lines = plan.lines.iter().cloned().chain(trail);
    let body = lines.fold(None, |body: Option<String>, (heading, line)| {
        let body = body.as_deref().or(own).unwrap_or(before.body_text());
        Some(record::append_under_heading(body, &heading, &line))
    });
    body.map(NewBody::Sections).or_else(|| own.map(|text| NewBody::Exact(text.to_owned())))
}

/// Whether a change would do anything. What cannot be rewritten safely is not looked into but left to be refused.
fn matters(header: &Header, (key, value): &record::Change) -> bool {
    let mut entries = header.entries.iter().filter(|entry| entry.key == *key);
    let (first, second) = (entries.next(), entries.next());
    if second.is_some() || first.is_some_and(|entry| entry.style == Style::Opaque) {
        return true;
    }
    let value = value.as_ref().filter(|value| !value.is_empty());
    first.and_then(|entry| entry.value.as_ref()) != value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Value;
    use crate::work::testing::card;

    fn identity(actor: Option<&str>, source: Source, session: Option<&str>) -> Identity {
        Identity { actor: actor.map(str::to_owned), source, session: session.map(str::to_owned) }
    }

    fn caller(acting: Option<&str>, source: Source) -> Caller {
        let own = identity(Some("ann@lab#aaaa1111"), Source::UserHostSession, Some("AAAA-1111"));
        Caller { acting: identity(acting, source, Some("AAAA-1111")), own }
    }

    #[test]
    fn a_lock_name_stays_in_its_folder() {
        assert_eq!(lock_name("T-0001"), "T-0001.lock");
        assert_eq!(lock_name("../../x y"), ".._.._x_y.lock");
        assert!(lock_name(&"é".repeat(500)).len() < 120);
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

    #[test]
    fn a_change_to_the_same_value_is_none() {
        let card = card("T-0001", "title: A\ntags: a, b\ndeep:\n  a:\n    b: c\nx: 1\nx: 1");
        let change = |key: &str, value: Option<Value>| matters(&card.header, &(key.to_owned(), value));
        let list = |items: &[&str]| Some(Value::List(items.iter().map(|item| (*item).to_owned()).collect()));
        assert!(!change("title", Some(Value::Text("A".to_owned()))));
        assert!(change("title", Some(Value::Text("B".to_owned()))));
        assert!(!change("tags", list(&["a", "b"])));
        assert!(!change("effort", None));
        assert!(!change("effort", list(&[])));
        assert!(change("tags", None));
        assert!(change("deep", None) && change("x", Some(Value::Text("1".to_owned()))));
    }
}
