//! Reading cards from their folders.
//!
//! Nothing below the root is reached through a link. A file that is no card is named with its reason and does not stop
//! the others.

use super::card::{Card, Place};
use crate::failure::{Code, Failure};
use crate::fs::{self, Dir, Kind};
use crate::record::id::{self, Allocation};
use crate::workspace::files::{self, Source};
use crate::workspace::parallel;
use crate::workspace::{Seal, Workspace};
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

/// How often an id is tried for.
const TRIES: usize = 32;

/// Every card of a workspace.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// Live cards, then archived ones, each by the bytes of their path.
    pub cards: Vec<Card>,
    /// Files that are no cards.
    pub unreadable: Vec<Unreadable>,
    /// What tells later whether the same would be found.
    pub seals: Vec<Seal>,
    highest: u64,
}

/// A file among the cards that is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The path below the card's folder.
    pub file: String,
    /// Which folder.
    pub place: Place,
    /// Why.
    pub reason: String,
}

impl Listing {
    /// The first card with this id.
    pub fn find(&self, id: &str) -> Option<&Card> {
        self.cards.iter().find(|card| card.id == id)
    }

    /// The same, or `CARD_NOT_FOUND`, with the reason when a file of that name is there and cannot be read.
    pub fn get(&self, id: &str) -> Result<&Card, Failure> {
        self.find(id).ok_or_else(|| missing(self, id))
    }
}

/// Reads every card.
pub fn all(workspace: &Workspace) -> Result<Listing, Failure> {
    let mut listing = Listing::default();
    let prefix = &workspace.config.cards.id_prefix;
    for place in [Place::Live, Place::Archive] {
        let other = if place == Place::Live { Place::Archive } else { Place::Live };
        let (here, besides) = (folder(workspace, place), Some(folder(workspace, other)));
        let found = files::records(workspace, here, besides)?;
        listing.seals.push(found.seal_of_records(here, besides));
        listing.highest = listing.highest.max(found.highest(prefix));
        let unreadable = |(file, reason)| Unreadable { file, place, reason };
        listing.unreadable.extend(found.unreadable.into_iter().map(|it| unreadable((it.path, it.reason))));
        let parse = |Source { path, text, .. }: Source| {
            Card::parse(path.clone(), place, text).map_err(|reason| unreadable((path, reason)))
        };
        for parsed in parallel::map(found.sources, parse) {
            match parsed {
                Ok(card) => listing.cards.push(card),
                Err(file) => listing.unreadable.push(file),
            }
        }
    }
    let ids = listing.cards.iter().filter_map(|card| id::sequence(&card.id, prefix));
    listing.highest = ids.fold(listing.highest, u64::max);
    Ok(listing)
}

/// Reads one card's file again; `None` when it is no card any more.
pub(super) fn again(workspace: &Workspace, card: &Card) -> Result<Option<Card>, Failure> {
    let source = files::again(workspace, folder(workspace, card.place), &card.file)?;
    Ok(source.and_then(|source| Card::parse(source.path, card.place, source.text).ok()))
}

/// Refuses a folder of live cards that is only reached through a link: what is written there would not be read back.
pub(super) fn reachable(workspace: &Workspace) -> Result<(), Failure> {
    let cards = folder(workspace, Place::Live);
    fs::make_folder(&workspace.root, cards)?;
    if files::open_folder(workspace, cards)?.is_some() {
        return Ok(());
    }
    let text = format!("{} lies behind a link; cards are only read from a plain folder", cards.display());
    Err(Failure::new(Code::RECORD_PATH_ESCAPES_WORKSPACE, text).with("path", cards.display().to_string()))
}

/// The highest sequence that a file, a card or an asset folder uses.
pub(super) fn highest(workspace: &Workspace, listing: &Listing) -> Result<u64, Failure> {
    let prefix = &workspace.config.cards.id_prefix;
    let folders = Assets::open(workspace)?.names;
    let used = folders.iter().filter_map(|name| id::sequence(&name.to_string_lossy(), prefix));
    Ok(used.fold(listing.highest, u64::max))
}

/// Whether anything uses the sequence of an id: the name of a file, a card, an asset folder.
pub(super) fn is_used(workspace: &Workspace, listing: &Listing, id: &str) -> Result<bool, Failure> {
    let sequence = |text: &str| id::sequence(text, &workspace.config.cards.id_prefix);
    let wanted = sequence(id);
    let name = |file: &str| sequence(file.rsplit('/').next().unwrap_or(file)) == wanted;
    let assets = Assets::open(workspace)?.names;
    Ok(listing.cards.iter().any(|card| sequence(&card.id) == wanted || name(&card.file))
        || listing.unreadable.iter().any(|file| name(&file.file))
        || assets.iter().any(|folder| sequence(&folder.to_string_lossy()) == wanted))
}

/// The folder of reservations of ids.
pub(super) fn id_locks(workspace: &Workspace) -> String {
    format!("{}/ids", workspace.paths.locks)
}

/// How a card gets its id; `locks` is [`id_locks`].
pub(super) fn allocation<'a>(workspace: &'a Workspace, locks: &'a str) -> Allocation<'a> {
    Allocation {
        root: &workspace.root,
        locks,
        prefix: &workspace.config.cards.id_prefix,
        tries: TRIES,
        exhausted: Code::CARD_ID_ALLOCATION_FAILED,
    }
}

/// `CARD_NOT_FOUND`, with the reason when the card's file is there and cannot be read.
pub(super) fn missing(listing: &Listing, id: &str) -> Failure {
    let named = |file: &str| {
        let name = file.rsplit('/').next().unwrap_or(file);
        name.strip_prefix(id).is_some_and(|rest| rest.starts_with(['-', '.']))
    };
    let text = match listing.unreadable.iter().find(|file| named(&file.file)) {
        Some(file) => format!("there is no card {id}; {} cannot be read: {}", file.file, file.reason),
        None => format!("there is no card {id}"),
    };
    Failure::new(Code::CARD_NOT_FOUND, text).remedy("workfile card list")
}

/// The folder of a place.
pub(super) fn folder(workspace: &Workspace, place: Place) -> &Path {
    match place {
        Place::Live => &workspace.paths.cards,
        Place::Archive => &workspace.paths.archive,
    }
}

/// Files that belong to cards.
#[derive(Debug)]
pub struct Assets {
    top: Option<Dir>,
    names: HashSet<OsString>,
}

impl Assets {
    /// Looks which cards have any.
    pub fn open(workspace: &Workspace) -> Result<Self, Failure> {
        let top = files::open_folder(workspace, &workspace.paths.assets)?;
        let mut names = HashSet::new();
        if let Some(top) = &top {
            let found = top.list(|entry| {
                if entry.kind() == Kind::Dir {
                    names.insert(entry.name().to_owned());
                }
                ControlFlow::Continue(())
            });
            found.map_err(|error| Failure::io("list", &workspace.paths.assets, &error))?;
        }
        Ok(Self { top, names })
    }

    /// Gives the files of one card to another, which has none.
    pub(super) fn hand_over(&self, from: &str, to: &str) -> Result<(), Failure> {
        let Some(top) = self.top.as_ref().filter(|_| self.names.contains(OsStr::new(from))) else {
            return Ok(());
        };
        let moved = match top.stat(to) {
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) => top.rename(from, to),
        };
        moved.map_err(|error: io::Error| Failure::io("move the assets of", Path::new(from), &error))
    }

    /// The names of a card's files, sorted.
    pub fn of(&self, id: &str) -> Vec<String> {
        let name = OsStr::new(id);
        // An id that is no name of a folder here never reaches the file system.
        let Some(top) = self.top.as_ref().filter(|_| self.names.contains(name)) else { return Vec::new() };
        let mut files = Vec::new();
        let listed = top.enter(name).and_then(|folder| {
            folder.list(|entry| {
                if entry.kind() == Kind::File {
                    files.extend(entry.name().to_str().map(str::to_owned));
                }
                ControlFlow::Continue(())
            })
        });
        if listed.is_err() {
            files.clear();
        }
        files.sort_unstable();
        files
    }
}
