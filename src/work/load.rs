//! Reading cards from their folders.
//!
//! Nothing below the root is reached through a link. A file that is no card is named with its reason and does not stop
//! the others.

use super::card::{Card, Place};
use crate::failure::{Code, Failure};
use crate::fs::{self, Dir, Entry, Kind};
use crate::record::{NotARecord, id};
use crate::workspace::Workspace;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

/// No card is larger; what is, is named as unreadable.
const CAP: u64 = 16 * 1024 * 1024;

/// Every card of a workspace.
#[derive(Clone, Debug)]
pub struct Listing {
    /// Live cards, then archived ones, each by the bytes of their path.
    pub cards: Vec<Card>,
    /// Files that are no cards.
    pub unreadable: Vec<Unreadable>,
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
    let root = open_root(workspace)?;
    let mut listing = Listing { cards: Vec::new(), unreadable: Vec::new(), highest: 0 };
    let prefix = &workspace.config.cards.id_prefix;
    for place in [Place::Live, Place::Archive] {
        let folder = folder(workspace, place);
        let Some(top) = open_folder(&root, workspace, folder)? else { continue };
        let other = if place == Place::Live { Place::Archive } else { Place::Live };
        let skipped = below(folder, self::folder(workspace, other));
        let walk = Walk::over(&top, skipped.as_deref(), prefix);
        listing.highest = listing.highest.max(walk.highest);
        listing.unreadable.extend(walk.unreadable.into_iter().map(|(file, reason)| Unreadable {
            file,
            place,
            reason,
        }));
        for file in walk.files {
            match read(&top, &file).and_then(|text| Card::parse(file.clone(), place, text)) {
                Ok(card) => listing.cards.push(card),
                Err(reason) => listing.unreadable.push(Unreadable { file, place, reason }),
            }
        }
    }
    let ids = listing.cards.iter().filter_map(|card| id::sequence(&card.id, prefix));
    listing.highest = ids.fold(listing.highest, u64::max);
    Ok(listing)
}

/// Reads one card's file again; `None` when it is no card any more.
pub(super) fn again(workspace: &Workspace, card: &Card) -> Result<Option<Card>, Failure> {
    let root = open_root(workspace)?;
    let Some(top) = open_folder(&root, workspace, folder(workspace, card.place))? else { return Ok(None) };
    let text = read(&top, &card.file);
    Ok(text.and_then(|text| Card::parse(card.file.clone(), card.place, text)).ok())
}

/// Refuses a folder of live cards that is only reached through a link: what is written there would not be read back.
pub(super) fn reachable(workspace: &Workspace) -> Result<(), Failure> {
    let cards = folder(workspace, Place::Live);
    fs::make_folder(&workspace.root, cards)?;
    if open_folder(&open_root(workspace)?, workspace, cards)?.is_some() {
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
        let root = open_root(workspace)?;
        let top = open_folder(&root, workspace, &workspace.paths.assets)?;
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

fn open_root(workspace: &Workspace) -> Result<Dir, Failure> {
    let root = &workspace.root;
    let text = root.to_str().ok_or(io::ErrorKind::InvalidFilename.into());
    text.and_then(Dir::open).map_err(|error: io::Error| Failure::io("open", root, &error))
}

/// A folder of the layout; `None` when it is missing or only reached through a link.
fn open_folder(root: &Dir, workspace: &Workspace, folder: &Path) -> Result<Option<Dir>, Failure> {
    let relative = workspace.repo_path(folder);
    let opened = if relative.is_empty() { root.enter(OsStr::new(".")) } else { root.below(&relative) };
    match opened {
        Ok(dir) => Ok(Some(dir)),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Err(Failure::io("open", folder, &error))
        }
        Err(_) => Ok(None),
    }
}

/// The path from `folder` to another one inside it.
fn below(folder: &Path, inner: &Path) -> Option<String> {
    let rest = inner.strip_prefix(folder).ok()?;
    let names: Vec<&str> = rest.iter().filter_map(OsStr::to_str).collect();
    (!names.is_empty()).then(|| names.join("/"))
}

fn read(top: &Dir, file: &str) -> Result<String, String> {
    let bytes = top.read(file, CAP).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|_| NotARecord::NotUtf8.reason().to_owned())
}

/// What lies below a folder.
struct Walk {
    /// Paths of Markdown files, by their bytes.
    files: Vec<String>,
    /// What cannot be read, with the reason.
    unreadable: Vec<(String, String)>,
    /// The highest sequence in a name.
    highest: u64,
}

impl Walk {
    /// Walks `top` with one folder open at a time, without `skipped` and without folders that begin with a dot.
    fn over(top: &Dir, skipped: Option<&str>, prefix: &str) -> Self {
        let mut walk = Self { files: Vec::new(), unreadable: Vec::new(), highest: 0 };
        let mut waiting = vec![String::new()];
        while let Some(folder) = waiting.pop() {
            let path =
                |name: &str| if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
<<<<<<< HEAD
            let each = |entry: &Entry<'_>| {
                let (name, kind) = (entry.name(), entry.kind());
=======
            let each = |name: &OsStr, kind: Kind| {
>>>>>>> benches
                let text = name.to_string_lossy();
                walk.highest = walk.highest.max(id::sequence(&text, prefix).unwrap_or(0));
                let is_markdown = name.as_encoded_bytes().ends_with(b".md");
                match (kind, name.to_str()) {
                    (Kind::Dir, Some(name)) if !name.starts_with('.') => {
                        let path = path(name);
                        if skipped != Some(&*path) {
                            waiting.push(path);
                        }
                    }
                    (Kind::File, Some(name)) if is_markdown => walk.files.push(path(name)),
                    (Kind::File, None) if is_markdown => {
                        walk.unreadable.push((path(&text), "the file's name is not valid UTF-8".to_owned()));
                    }
                    _ => {}
                }
                ControlFlow::Continue(())
            };
            let listed = if folder.is_empty() {
                top.list(each)
            } else {
                top.below(&folder).and_then(|dir| dir.list(each))
            };
            if let Err(error) = listed {
                walk.unreadable.push((folder, error.to_string()));
            }
        }
        walk.files.sort_unstable();
        walk
    }
}
