//! Renumber: another id for a card, and what names it follows where that is safe.
//!
//! Two branches can mint the same id; this heals it. A reference is rewritten only when the old id was one card's alone:
//! otherwise nobody can tell which one was meant, and the files that name it are listed for a person to look at.

use super::card::{Card, Place};
use super::input::Assignment;
use super::load::{self, Assets, Listing};
use super::mutate::{self, Caller, Target, mutate_file};
use super::plan::{Home, Plan};
use super::references::{self, Kind, Text};
use super::renamed::Renamed;
use crate::failure::{Code, Failure};
use crate::fs::{self, Lock, Purpose};
use crate::path::trim;
use crate::record::id::{self, Attempt};
use crate::workspace::Workspace;
use crate::workspace::edit::lock;
use crate::workspace::files;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// A card that is to get another id.
#[derive(Clone, Copy, Debug)]
pub struct Renumber<'a> {
    /// Its path from the root, the name of its file, or its id.
    pub target: &'a str,
    /// The new id; without one the next that is free.
    pub to: Option<&'a str>,
    /// The revision it must still have; empty counts as none.
    pub revision: Option<&'a str>,
}

/// A card under its new id.
#[derive(Clone, Debug)]
pub struct Renumbered {
    /// The card.
    pub card: Card,
    /// The id it had.
    pub from: String,
    /// Paths of records that named it and name it anew.
    pub rewritten: Vec<String>,
    /// Paths that have the old id and were left alone.
    pub review: Vec<String>,
}

impl Renumbered {
    /// `{id, from, kind, file, path, repoPath, rewritten, review}`.
    pub fn to_json(&self, workspace: &Workspace) -> Json {
        let path = load::folder(workspace, self.card.place).join(&self.card.file);
        json!({
            "id": self.card.id,
            "from": self.from,
            "kind": "card",
            "file": self.card.file,
            "path": path.display().to_string(),
            "repoPath": self.card.repo_path(workspace),
            "rewritten": self.rewritten,
            "review": self.review,
        })
    }
}

/// What became of the ids that several records carry.
#[derive(Clone, Debug)]
pub struct Healed {
    /// Cards that moved, each id's oldest first.
    pub moves: Vec<Renumbered>,
    /// Ids that are carried several times as before.
    pub skipped: Vec<Skipped>,
}

/// An id that was not healed.
#[derive(Clone, Debug)]
pub struct Skipped {
    /// The id.
    pub id: String,
    /// What carries it.
    pub kind: String,
    /// Where.
    pub paths: Vec<String>,
    /// Why, for programs.
    pub reason: &'static str,
    /// Why, for people.
    pub text: String,
}

impl Healed {
    /// `{moves: [{from, to, kind, file, path, review}], skipped: [{id, kind, paths, reason, reasonText}]}`.
    pub fn to_json(&self, workspace: &Workspace) -> Json {
        let moved = |it: &Renumbered| {
            let path = it.card.repo_path(workspace);
            json!({"from": it.from, "to": it.card.id, "kind": "card", "file": it.card.file, "path": path, "review": it.review})
        };
        let skipped = |it: &Skipped| json!({"id": it.id, "kind": it.kind, "paths": it.paths, "reason": it.reason, "reasonText": it.text});
        json!({
            "moves": self.moves.iter().map(moved).collect::<Vec<_>>(),
            "skipped": self.skipped.iter().map(skipped).collect::<Vec<_>>(),
        })
    }
}

/// Gives a card another id.
pub fn renumber(
    workspace: &Workspace,
    renumber: Renumber<'_>,
    caller: &Caller,
) -> Result<Renumbered, Failure> {
    mutate::writable(workspace)?;
    let listing = load::all(workspace)?;
    let card = find(workspace, &listing, renumber.target)?;
    let carried = if listing.cards.iter().filter(|other| other.id == card.id).count() == 1 {
        Carried::Once
    } else {
        Carried::Several
    };
    give(workspace, card, renumber.to, renumber.revision, carried, caller)
}

/// Heals every id that several cards carry: the oldest keeps it, the others move.
pub fn duplicates(workspace: &Workspace, caller: &Caller) -> Result<Healed, Failure> {
    mutate::writable(workspace)?;
    let listing = load::all(workspace)?;
    let texts = references::texts(workspace, &listing)?;
    let mut carriers: BTreeMap<&str, Vec<&Text>> = BTreeMap::new();
    for text in &texts {
        if let Some(id) = &text.id {
            carriers.entry(id).or_default().push(text);
        }
    }
    let mut healed = Healed { moves: Vec::new(), skipped: Vec::new() };
    for (id, texts) in carriers.into_iter().filter(|(_, texts)| texts.len() > 1) {
        let mut kinds: Vec<&str> = texts.iter().map(|text| text.kind.name()).collect();
        kinds.dedup();
        kinds.sort_unstable();
        kinds.dedup();
        let skip = |reason, text: String| Skipped {
            id: id.to_owned(),
            kind: kinds.join(", "),
            paths: texts.iter().map(|text| text.path.clone()).collect(),
            reason,
            text,
        };
        if kinds != ["card"] {
            let skipped = if kinds.contains(&"card") {
                skip("mixed-kinds", format!("{id} is the id of records of several kinds"))
            } else {
                skip("out-of-scope", format!("{id} is not the id of a card"))
            };
            healed.skipped.push(skipped);
            continue;
        }
        let mut cards: Vec<&Card> = listing.cards.iter().filter(|card| card.id == id).collect();
        cards.sort_by_key(|card| (card.field("created").unwrap_or_default(), card.repo_path(workspace)));
        for card in cards.into_iter().skip(1) {
            match give(workspace, card, None, None, Carried::Several, caller) {
                Ok(moved) => {
                    let lists = healed.moves.iter_mut().map(|it| &mut it.review);
                    references::follow(lists, &card.repo_path(workspace), &moved.card.repo_path(workspace));
                    healed.moves.push(moved);
                }
                Err(failure) => healed.skipped.push(skip("refused", failure.to_string())),
            }
        }
    }
    Ok(healed)
}

/// Whether an id is one card's alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Carried {
    Once,
    Several,
}

/// The card that a path, the name of a file or an id means.
fn find<'a>(workspace: &Workspace, listing: &'a Listing, target: &str) -> Result<&'a Card, Failure> {
    let target = trim(target);
    if target.is_empty() {
        return Err(Failure::new(Code::CARD_TARGET_REQUIRED, "no card is named that could be renumbered"));
    }
    let path = target.strip_prefix("./").unwrap_or(target);
    if let Some(card) = listing.cards.iter().find(|card| card.repo_path(workspace) == path) {
        return Ok(card);
    }
    let is_file = target.as_bytes().ends_with(b".md");
    let name = |card: &Card| card.file.rsplit('/').next() == Some(target);
    let is_meant = |card: &&Card| if is_file { name(card) } else { card.id == target };
    let found: Vec<&Card> = listing.cards.iter().filter(is_meant).collect();
    match found.as_slice() {
        [] => Err(load::missing(listing, target)),
        [card] => Ok(card),
        several => Err(mutate::ambiguous(target, several)),
    }
}

/// Gives `card` the id `to`, or the next free one, and lets follow what names it.
fn give(
    workspace: &Workspace,
    card: &Card,
    to: Option<&str>,
    revision: Option<&str>,
    carried: Carried,
    caller: &Caller,
) -> Result<Renumbered, Failure> {
    let mut review = Vec::new();
    let mut under = |id: &str| relabel(workspace, card, id, revision, carried, caller, &mut review);
    let locks = load::id_locks(workspace);
    let card_now = if let Some(to) = to {
        let _reserved = reserve(workspace, &locks, to)?;
        under(to)?
    } else {
        let highest = || load::highest(workspace, &load::all(workspace)?);
        id::allocate(&load::allocation(workspace, &locks), highest, |id| under(id).map(Attempt::Written))?
    };
    let renamed = Renamed { from: card.id.clone(), to: card_now.id.clone() };
    let mut rewritten = Vec::new();
    let own = card_now.repo_path(workspace);
    let project = format!("{}/", workspace.repo_path(&workspace.paths.project));
    for text in references::all(workspace)? {
        if text.path == own || text.id.as_ref() == Some(&renamed.from) || !text.mentions(&renamed.from) {
            continue;
        }
        let is_ours = carried == Carried::Once && is_word(workspace, &renamed.from);
        let follows = is_ours && (project == "/" || text.path.starts_with(&project));
        // What cannot be rewritten now is for a person to look at, like what must not be.
        if follows && follow(workspace, &text, &renamed, caller).is_ok() {
            rewritten.push(text.path);
        } else {
            review.push(text.path);
        }
    }
    Ok(Renumbered { card: card_now, from: renamed.from, rewritten, review })
}

/// The card's own file under its new id, its assets with it; `review` is told of assets that stay behind.
fn relabel(
    workspace: &Workspace,
    card: &Card,
    to: &str,
    revision: Option<&str>,
    carried: Carried,
    caller: &Caller,
    review: &mut Vec<String>,
) -> Result<Card, Failure> {
    let target = Target { id: &card.id, revision };
    let plan = |card: &Card, _| {
        let mut plan = Plan::new(caller, Home::File(renamed_file(card, to)));
        plan.changes.push(Assignment::text("id", to));
        plan.trail(format!("renumbered from {}", card.id));
        if carried == Carried::Once && is_word(workspace, &card.id) {
            plan.renamed = Some(Renamed { from: card.id.clone(), to: to.to_owned() });
        }
        Ok(plan)
    };
    // Files of an id that several carry are nobody's in particular: they stay with the one that keeps it.
    let look = |_: &Card| match carried {
        Carried::Once => Assets::open(workspace).and_then(|assets| assets.hand_over(&card.id, to)),
        Carried::Several => Ok(()),
    };
    let (card_now, assets) =
        mutate_file(workspace, target, Some((card.place, &card.file)), caller, plan, look)?;
    if assets.is_err() {
        review.push(workspace.repo_path(&workspace.paths.assets.join(&card.id)));
    }
    Ok(card_now)
}

/// Whether an id looks like one: only then its mentions in a text are references.
fn is_word(workspace: &Workspace, id: &str) -> bool {
    let digits = id.strip_prefix(&*workspace.config.cards.id_prefix).and_then(|rest| rest.strip_prefix('-'));
    digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// `<to>-` and the old name, without the old id where that stands in front.
fn renamed_file(card: &Card, to: &str) -> String {
    let (folder, name) =
        card.file.rsplit_once('/').map_or(("", &*card.file), |(folder, name)| (folder, name));
    let rest = name.strip_prefix(&*card.id).and_then(|rest| rest.strip_prefix('-')).unwrap_or(name);
    let folder = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    format!("{folder}{to}-{rest}")
}

/// Keeps an id that was asked for: it is one, and nobody has it.
fn reserve(workspace: &Workspace, locks: &str, to: &str) -> Result<Lock, Failure> {
    let prefix = &workspace.config.cards.id_prefix;
    if !id::is_valid(to, prefix) {
        let text = format!("`{to}` is no id of a card; it is {prefix}- and at least four digits");
        return Err(Failure::new(Code::CARD_ID_INVALID, text).with("id", to));
    }
    let taken = || {
        let text = format!("{to} is taken; without --to a free id is found");
        Failure::new(Code::CARD_ID_TAKEN, text).with("id", to)
    };
    let purpose = Purpose::Reservation { id: to };
    let lock = Lock::try_take(&workspace.root, locks, &format!("{to}.lock"), purpose)?.ok_or_else(taken)?;
    if load::is_used(workspace, &load::all(workspace)?, to)? { Err(taken()) } else { Ok(lock) }
}

/// Writes the new id into a record that names the old one; nothing else of it changes.
fn follow(workspace: &Workspace, text: &Text, renamed: &Renamed, caller: &Caller) -> Result<(), Failure> {
    match &text.kind {
        Kind::Card(place, file) => {
            let id = text.id.as_deref().unwrap_or_default();
            let plan = |_: &Card, _| {
                let mut plan = Plan::new(caller, Home::Stay);
                plan.renamed = Some(renamed.clone());
                Ok(plan)
            };
            let target = Target { id, revision: None };
            let file: Option<(Place, &str)> = Some((*place, file));
            mutate_file(workspace, target, file, caller, plan, |_| ()).map(|_| ())
        }
        Kind::Other(_, module) => {
            let id = text.id.as_deref().unwrap_or(&text.path);
            let _lock = lock(workspace, module, id)?;
            let Some(found) = files::again(workspace, &workspace.root, &text.path)? else { return Ok(()) };
            let path = workspace.root.join(&text.path);
            fs::replace(&workspace.root, &path, renamed.in_text(&found.text).as_bytes())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::testing::card;

    #[test]
    fn a_file_is_named_after_the_new_id() {
        for (file, wanted) in [
            ("T-0001-crane.md", "T-0042-crane.md"),
            ("sub/T-0001-crane.md", "sub/T-0042-crane.md"),
            ("T-00010-crane.md", "T-0042-T-00010-crane.md"),
            ("odd.md", "T-0042-odd.md"),
            ("T-0001.md", "T-0042-T-0001.md"),
        ] {
            let mut card = card("T-0001", "title: x");
            card.file = file.to_owned();
            assert_eq!(renamed_file(&card, "T-0042"), wanted);
        }
    }
}
