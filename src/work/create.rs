//! Create: a new card under an id that no other writer can also get.

use super::card::{Card, Place};
use super::criteria;
use super::fields::DONE;
use super::guard::{Closing, Guard, Waiver};
use super::input::{self, Assignment, Draft, verify_of};
use super::load::{self, Listing};
use super::mutate::{self, Caller, board_change, overlaid, parsed};
use super::validate::{self, Candidate};
use super::verified::{Close, Proof};
use crate::activity::board::Upkeep;
use crate::clock;
use crate::failure::{Code, Failure};
use crate::fs::{self, Created};
use crate::path::trim;
use crate::record::id::{self, Attempt};
use crate::record::{self, Header, Value};
use crate::workspace::Workspace;
use serde_json::{Map, Value as Json};

/// Longest part of a file name that comes from the title.
pub(super) const SLUG: usize = 50;

/// Makes a card of the fields in `input`: those of the table, `axes`, `body`.
pub fn create(workspace: &Workspace, input: &Map<String, Json>, caller: &Caller) -> Result<Card, Failure> {
    mutate::writable(workspace)?;
    let settings = &workspace.config.cards;
    let mut draft = input::draft(input, settings)?;
    title(&mut draft)?;
    defaults(&mut draft, workspace);
    let commit = Proof::NONE.commit(workspace, text(&draft, "status"));
    let listing = load::all(workspace)?;
    let highest = load::highest(workspace, &listing)?;
    let prefix = &settings.id_prefix;
    // Refused before an id is taken; judged again under the id that the card really gets.
    let expected = id::format(prefix, highest.saturating_add(1));
    check(workspace, &draft, &listing, &expected)?;
    let close = close(workspace, &draft, &expected, caller, commit)?;

    let locks = load::id_locks(workspace);
    let how = load::allocation(workspace, &locks);
    let mut first = Some(highest);
    let rescan = || match first.take() {
        Some(highest) => Ok(highest),
        None => load::highest(workspace, &load::all(workspace)?),
    };
    id::allocate(&how, rescan, |id| {
        check(workspace, &draft, &listing, id)?;
        write(workspace, &draft, close.as_ref(), id, caller)
    })
}

/// The title, trimmed; a card without one is refused.
fn title(draft: &mut Draft) -> Result<(), Failure> {
    let title = trim(text(draft, "title").unwrap_or_default()).to_owned();
    if title.is_empty() {
        let failure = Failure::new(Code::CARD_TITLE_REQUIRED, "a new card needs a title");
        return Err(failure.remedy("workfile card create --title TEXT"));
    }
    draft.fields.retain(|field| field.key != "title");
    draft.fields.insert(0, Assignment::text("title", title));
    Ok(())
}

/// What a new card has without being told, in the order of the header.
fn defaults(draft: &mut Draft, workspace: &Workspace) {
    let settings = &workspace.config.cards;
    let area = settings.areas.first().map(String::as_str).unwrap_or_default();
    for (key, value) in [("status", "backlog"), ("type", "task"), ("priority", "medium"), ("area", area)] {
        if !draft.fields.iter().any(|field| field.key == key) {
            draft.fields.push(Assignment::text(key, value));
        }
    }
    draft.fields.sort_by_key(|field| super::fields::rank(&field.key, settings));
}

fn text<'a>(draft: &'a Draft, key: &str) -> Option<&'a str> {
    let field = draft.fields.iter().find(|field| field.key == key)?;
    match &field.new {
        input::New::Set(Value::Text(text)) => Some(text),
        _ => None,
    }
}

fn check(workspace: &Workspace, draft: &Draft, listing: &Listing, id: &str) -> Result<(), Failure> {
    let named: Vec<String> = draft.fields.iter().map(|field| field.key.clone()).collect();
    let candidate = Candidate {
        id,
        called: "the new card",
        header: &overlaid(&Header::default(), &draft.fields),
        body: &draft.body,
        verify: verify_of(&draft.fields),
        named: &named,
    };
    validate::card(&candidate, &listing.cards, &workspace.config.cards)
}

/// The close that a card made as done is: its gates are final.
fn close(
    workspace: &Workspace,
    draft: &Draft,
    id: &str,
    caller: &Caller,
    commit: Option<String>,
) -> Result<Option<Close>, Failure> {
    if text(draft, "status") != Some(DONE) {
        return Ok(None);
    }
    let mut guard = Guard::new(id, Waiver::NONE);
    guard.gates(&Closing {
        criteria: &criteria::read(&draft.body),
        area: text(draft, "area").unwrap_or_default(),
        proof: &Proof::NONE,
        settings: &workspace.config.cards,
    })?;
    Proof::NONE.close(id, guard.settle()?.gate(), caller, commit).map(Some)
}

fn write(
    workspace: &Workspace,
    draft: &Draft,
    close: Option<&Close>,
    id: &str,
    caller: &Caller,
) -> Result<Attempt<Card>, Failure> {
    let now = clock::now();
    let today = now.date();
    let mut header = vec![("id".to_owned(), Value::Text(id.to_owned()))];
    let fields = draft.fields.iter().cloned().map(Assignment::settle);
    header.extend(fields.filter_map(|(key, value)| Some((key, value?))));
    header.extend(["created", "updated"].map(|key| (key.to_owned(), Value::Text(today.clone()))));
    let file = record::file_name(id, text(draft, "title").unwrap_or_default(), SLUG, "card");
    let mut text = record::render(&header, &draft.body)?;
    if let Some(close) = close {
        text = close.sealed(&text, now)?;
    }
    let card = parsed(Card::parse(file, Place::Live, text))?;

    let path = load::folder(workspace, Place::Live).join(&card.file);
    load::reachable(workspace)?;
    let mut board = Upkeep::begin(&workspace.root);
    let written =
        fs::create_watched(&workspace.root, &path, card.text().as_bytes(), &mut |step| board.saw(step));
    match written? {
        Created::Taken => Ok(Attempt::Collision),
        Created::Fresh => Ok(Attempt::Written(board.finish(board_change(None, &card, caller), || card))),
    }
}
