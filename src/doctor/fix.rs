//! What can be put right without asking: duplicated ids, stale file names, trail entries outside the trail. Nothing else is
//! touched, no content is made up, and what cannot be put right is still reported afterwards.

use super::everything::{Everything, Kind, Named};
use super::ids::{Duplicate, duplicates};
use super::{Checks, Report};
use crate::clock;
use crate::failure::{Code, Failure};
use crate::fs;
use crate::record::id::{self, Allocation, Attempt};
use crate::record::{self, Value};
use crate::work::diagnose::{Git, MODULE as CARDS, Paths};
use crate::work::renumber::{self, Renumber};
use crate::work::{Caller, Card, references, repair};
use crate::workspace::{Workspace, edit, files};
use crate::{docs, history, memory};
use serde_json::{Value as Json, json};
use std::fmt::Write as _;
use std::path::Path;

/// How often a new id is tried for.
const TRIES: usize = 64;

/// What was put right, and what was not.
#[derive(Clone, Debug, Default)]
pub struct Fixed {
    moves: Vec<Move>,
    skipped: Vec<Skipped>,
    renamed: Vec<Renamed>,
    not_renamed: Vec<NotRenamed>,
    trails: Vec<(String, usize)>,
}

/// A record that got another id.
#[derive(Clone, Debug)]
struct Move {
    from: String,
    to: String,
    kind: &'static str,
    file: String,
    path: String,
    /// Files that name the old id; whom they mean is for a person to say.
    review: Vec<String>,
}

/// An id that several files still carry.
#[derive(Clone, Debug)]
struct Skipped {
    id: String,
    kind: &'static str,
    paths: Vec<String>,
    reason: &'static str,
    text: String,
}

#[derive(Clone, Debug)]
struct Renamed {
    id: String,
    from: String,
    to: String,
}

#[derive(Clone, Debug)]
struct NotRenamed {
    id: String,
    file: String,
    reason: String,
}

/// Repairs, in this order: duplicated ids, stale names, misplaced trail entries.
pub fn fix(workspace: &Workspace, caller: &Caller) -> Result<Fixed, Failure> {
    workspace.writable()?;
    let mut fixed = Fixed::default();
    let everything = Everything::load(workspace)?;
    for duplicate in duplicates(&everything) {
        fixed.heal(workspace, &duplicate, caller);
    }
    let looked = Checks { paths: Paths::Skip, git: Git::Skip };
    let everything = Everything::load(workspace)?;
    let report = everything.report(workspace, looked);
    fixed.rename(workspace, &everything, &report, caller);
    let everything = Everything::load(workspace)?;
    let report = everything.report(workspace, looked);
    fixed.gather(workspace, &everything, &report, caller);
    Ok(fixed)
}

impl Fixed {
    /// `{moves, skipped, renamed, renameSkipped, trails}`.
    pub fn to_json(&self) -> Json {
        let moved = |it: &Move| {
            json!({
                "from": it.from, "to": it.to, "kind": it.kind, "file": it.file, "path": it.path, "review": it.review,
            })
        };
        let skipped = |it: &Skipped| {
            json!({
                "id": it.id, "kind": it.kind, "paths": it.paths, "reason": it.reason, "reasonText": it.text,
            })
        };
        let renamed = |it: &Renamed| json!({"id": it.id, "from": it.from, "to": it.to});
        let kept = |it: &NotRenamed| json!({"id": it.id, "file": it.file, "reason": it.reason});
        let trail = |(id, entries): &(String, usize)| json!({"id": id, "entries": entries});
        json!({
            "moves": self.moves.iter().map(moved).collect::<Vec<_>>(),
            "skipped": self.skipped.iter().map(skipped).collect::<Vec<_>>(),
            "renamed": self.renamed.iter().map(renamed).collect::<Vec<_>>(),
            "renameSkipped": self.not_renamed.iter().map(kept).collect::<Vec<_>>(),
            "trails": self.trails.iter().map(trail).collect::<Vec<_>>(),
        })
    }

    /// One line for each of them.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for it in &self.moves {
            let _ = writeln!(out, "fixed: {} {} → {} ({})", it.kind, it.from, it.to, it.file);
            for path in &it.review {
                let _ = writeln!(out, "  {path} names {}: which record it means is for you to say", it.from);
            }
        }
        for it in &self.skipped {
            let _ = writeln!(out, "cannot fix: {} — {}", it.id, it.text);
        }
        for it in &self.renamed {
            let _ = writeln!(out, "renamed: {} → {}", it.from, it.to);
        }
        for it in &self.not_renamed {
            let _ = writeln!(out, "not renamed: {} — {}", it.file, it.reason);
        }
        for (id, entries) in &self.trails {
            let what = if *entries == 1 { "entry" } else { "entries" };
            let _ = writeln!(out, "moved: {id} {entries} trail {what} into the trail");
        }
        out
    }

    fn heal(&mut self, workspace: &Workspace, duplicate: &Duplicate<'_>, caller: &Caller) {
        let skip = |reason, text: String| Skipped {
            id: duplicate.id.to_owned(),
            kind: duplicate.kind(),
            paths: duplicate.paths(),
            reason,
            text,
        };
        if let Some(reason) = duplicate.reason() {
            self.skipped.push(skip(reason.name(), reason.text().to_owned()));
            return;
        }
        for record in duplicate.movers() {
            let moved = match record.kind {
                Kind::Card => renumber_card(workspace, record, caller),
                _ => give(workspace, record),
            };
            match moved {
                Ok(moved) => {
                    self.follow(&record.path, &moved.path);
                    self.moves.push(moved);
                }
                // Somebody holds the record, or its file cannot be written: the next run may do better.
                Err(failure) => self.skipped.push(skip("refused", failure.to_string())),
            }
        }
    }

    fn rename(&mut self, workspace: &Workspace, everything: &Everything, report: &Report, caller: &Caller) {
        for finding in report.findings.iter().filter(|finding| finding.code == "filename-stale") {
            let (Some(id), Some(path)) = (&finding.id, &finding.file) else { continue };
            let Some(expected) = finding.details.get("expected").and_then(Json::as_str) else { continue };
            let from = path.rsplit('/').next().unwrap_or(path).to_owned();
            let done = match card_at(workspace, everything, path).filter(|_| finding.module == CARDS) {
                Some(card) => repair::rename_file(workspace, id, card.place, &card.file, caller).map(|_| ()),
                None => rename(workspace, finding.module, id, path, expected),
            };
            match done {
                Ok(()) => {
                    self.follow(path, &beside(path, expected));
                    self.renamed.push(Renamed { id: id.clone(), from, to: expected.to_owned() });
                }
                Err(failure) => {
                    let taken = failure.code == Code::CARD_FILE_EXISTS;
                    let reason = if taken { "name-taken".to_owned() } else { failure.to_string() };
                    self.not_renamed.push(NotRenamed { id: id.clone(), file: from, reason });
                }
            }
        }
    }

    /// A file that somebody is to look at is named as it is called now.
    fn follow(&mut self, from: &str, to: &str) {
        references::follow(self.moves.iter_mut().map(|it| &mut it.review), from, to);
    }

    fn gather(&mut self, workspace: &Workspace, everything: &Everything, report: &Report, caller: &Caller) {
        for finding in report.findings.iter().filter(|finding| finding.code == "misplaced-trail") {
            let card = finding.file.as_ref().and_then(|path| card_at(workspace, everything, path));
            let Some(card) = card else { continue };
            // A card that refuses, because somebody holds it for instance, is still reported.
            if let Ok(entries) = repair::gather_trail(workspace, &card.id, card.place, &card.file, caller) {
                self.trails.push((card.id.clone(), entries));
            }
        }
    }
}

fn card_at<'a>(workspace: &Workspace, everything: &'a Everything, path: &str) -> Option<&'a Card> {
    everything.cards.cards.iter().find(|card| card.repo_path(workspace) == path)
}

fn renumber_card(workspace: &Workspace, record: &Named<'_>, caller: &Caller) -> Result<Move, Failure> {
    let asked = Renumber { target: &record.path, to: None, revision: None };
    let moved = renumber::renumber(workspace, asked, caller)?;
    let path = moved.card.repo_path(workspace);
    Ok(Move {
        from: moved.from,
        to: moved.card.id.clone(),
        kind: Kind::Card.name(),
        file: moved.card.file.clone(),
        path,
        review: moved.review,
    })
}

/// Gives a document, a fragment or a memory record the next id of its sequence.
fn give(workspace: &Workspace, record: &Named<'_>) -> Result<Move, Failure> {
    let config = &workspace.config;
    let (module, prefix, lists) = match record.kind {
        Kind::Memory => {
            let collection = config.memory.collections.iter();
            let mut prefixes = collection.map(|collection| collection.prefix);
            let prefix = prefixes.find(|prefix| id::sequence(record.id, prefix).is_some());
            ("memory", prefix.unwrap_or_default(), memory::LISTS)
        }
        Kind::Unreleased | Kind::Released | Kind::Release => {
            ("changelog", config.changelog.id_prefix.as_str(), history::LISTS)
        }
        Kind::Managed | Kind::Indexed | Kind::Card => ("docs", config.docs.id_prefix.as_str(), docs::LISTS),
    };
    let highest = || {
        Ok(match module {
            "memory" => {
                let listing = memory::load::all(workspace)?;
                let of = config.memory.collections.iter().find(|collection| collection.prefix == prefix);
                of.map_or(0, |collection| listing.highest(collection))
            }
            "changelog" => history::load::all(workspace)?.highest_fragment,
            _ => docs::load::all(workspace)?.highest,
        })
    };
    let locks = format!("{}/ids", workspace.paths.locks);
    let how = Allocation {
        root: &workspace.root,
        locks: &locks,
        prefix,
        tries: TRIES,
        exhausted: Code::RECORD_ID_ALLOCATION_FAILED,
    };
    let _lock = edit::lock(workspace, module, record.id)?;
    let (to, path) = id::allocate(&how, highest, |to| relabel(workspace, record, to, lists))?;
    Ok(Move {
        from: record.id.to_owned(),
        kind: record.kind.name(),
        file: path.rsplit('/').next().unwrap_or(&path).to_owned(),
        review: references::review(workspace, record.id, &path)?,
        to,
        path,
    })
}

/// The record's file under the id `to`: its new path.
fn relabel(
    workspace: &Workspace,
    record: &Named<'_>,
    to: &str,
    lists: &[&str],
) -> Result<Attempt<(String, String)>, Failure> {
    let gone = || {
        let text = format!("{} is not there any more as it was read", record.path);
        Failure::new(Code::INTERNAL_ERROR, text)
    };
    let source = files::again(workspace, &workspace.root, &record.path)?.ok_or_else(gone)?;
    let change = [("id".to_owned(), Some(Value::Text(to.to_owned())))];
    let text = record::patch(&source.text, &change, lists, Some(&clock::now().date()))?;
    let name = record.path.rsplit('/').next().unwrap_or(&record.path);
    let rest = name.strip_prefix(record.id).and_then(|rest| rest.strip_prefix('-')).unwrap_or(name);
    let path = beside(&record.path, &format!("{to}-{rest}"));
    match relocate(workspace, &record.path, &path, text.as_bytes()) {
        Err(failure) if failure.code == Code::CARD_FILE_EXISTS => Ok(Attempt::Collision),
        done => done.map(|()| Attempt::Written((to.to_owned(), path))),
    }
}

/// Gives a file another name in its folder; its bytes stay.
fn rename(
    workspace: &Workspace,
    module: &'static str,
    id: &str,
    path: &str,
    name: &str,
) -> Result<(), Failure> {
    let _lock = edit::lock(workspace, module, id)?;
    let Some(source) = files::again(workspace, &workspace.root, path)? else { return Ok(()) };
    relocate(workspace, path, &beside(path, name), source.text.as_bytes())
}

/// The path of `name` in the folder of `path`.
fn beside(path: &str, name: &str) -> String {
    path.rsplit_once('/').map_or(name.to_owned(), |(folder, _)| format!("{folder}/{name}"))
}

fn relocate(workspace: &Workspace, from: &str, to: &str, bytes: &[u8]) -> Result<(), Failure> {
    let at = |path: &str| workspace.root.join(Path::new(path));
    fs::relocate(&workspace.root, &at(from), &at(to), bytes, &mut |_| ())
}
