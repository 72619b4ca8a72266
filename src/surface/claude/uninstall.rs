//! `claude uninstall`: what an install wrote goes, and every other byte stays.
//!
//! A file that somebody changed is kept and named. Shared files lose our values and what the ledger says was opened for
//! them; then the ledger itself goes, and the folders that an install made.

use super::entry::{Entry, Status};
use super::install::conflict;
use super::ledger::{self, Ledger};
use super::opened::{Left, Opened};
use super::servers::{self, Servers};
use super::settings::{Settings, containers};
use super::texts::TEXTS;
use super::{SETTINGS, folders, retired};
use crate::failure::{Code, Failure};
use crate::surface::managed::{self, Apply, OnDisk, Style};
use serde_json::{Value as Json, json};
use std::path::Path;

/// What an uninstall did, or would do.
#[derive(Clone, Debug)]
pub struct Report {
    /// Whether anything was written.
    pub apply: Apply,
    /// The files that are or were there, in the order they are handled.
    pub files: Vec<Entry>,
}

impl Report {
    /// Whether any file changed, or would.
    pub fn changed(&self) -> bool {
        self.files.iter().any(|file| file.status.is_change())
    }

    /// The files that could not be handled.
    pub fn refused(&self) -> impl Iterator<Item = &Entry> {
        self.files.iter().filter(|file| file.status == Status::Conflict)
    }

    /// `{module, version, dryRun, changed, files: [{path, status, reason?, code?}]}`.
    pub fn to_json(&self) -> Json {
        json!({
            "module": "claude",
            "version": env!("CARGO_PKG_VERSION"),
            "dryRun": self.apply == Apply::DryRun,
            "changed": self.changed(),
            "files": self.files.iter().map(Entry::to_json).collect::<Vec<_>>(),
        })
    }
}

/// Takes the surface out of the repository at `root`.
pub fn uninstall(root: &Path, apply: Apply) -> Report {
    let file = managed::read(root, ledger::PATH);
    let ledger = file.as_ref().map_err(Failure::clone).and_then(|file| {
        Ledger::read(file.bytes.as_deref()).map_err(|reason| {
            let text = format!("it is not the ledger: {reason}");
            Failure::new(Code::GENERATED_FILE_UNMANAGED, text)
        })
    });
    let known = ledger.as_ref().ok();
    let mut files: Vec<Entry> =
        TEXTS.iter().filter_map(|text| remove_text(root, &text.installed_path(), text.kind, apply)).collect();
    // A command of that name that no version wrote is nobody's business here.
    if retired::find(root).is_some() {
        files.extend(remove_text(root, retired::PATH, retired::KIND, apply));
    }
    let server = server(root, known, apply);
    files.extend(server.unwrap_or_else(|failure| Some(Entry::refused(servers::PATH, failure))));
    let settings = settings(root, known, apply);
    files.extend(settings.unwrap_or_else(|failure| Some(Entry::refused(SETTINGS, failure))));
    // As long as a file has our values in it, the ledger says which.
    let is_settled = files.iter().all(|file| file.status != Status::Conflict);
    match (&ledger, &file) {
        (Err(failure), _) => files.push(Entry::refused(ledger::PATH, failure.clone())),
        (Ok(_), Ok(file)) if is_settled => files.extend(remove(ledger::PATH, file, apply)),
        (Ok(_), _) => {}
    }
    if apply == Apply::Write {
        let made: Option<Vec<String>> =
            known.and_then(|ledger| Some(ledger.folders()?.into_iter().map(str::to_owned).collect()));
        let removed =
            files.iter().filter(|file| file.status == Status::Removed).map(|file| file.path.as_str());
        folders::remove(root, made.as_deref(), &removed.collect::<Vec<_>>());
    }
    Report { apply, files }
}

/// Deletes a generated text; `None` when no file is there.
fn remove_text(root: &Path, path: &str, kind: &str, apply: Apply) -> Option<Entry> {
    let file = match managed::read(root, path) {
        Ok(file) => file,
        Err(failure) => return Some(Entry::refused(path, failure)),
    };
    file.bytes.as_ref()?;
    let text = file.text().unwrap_or_default();
    let Some(block) = managed::find(text, kind, Style::Frontmatter) else {
        let entry = Entry::new(path, Status::Unmanaged);
        return Some(Entry { reason: Some("no install wrote it".to_owned()), ..entry });
    };
    if block.is_hand_edited() || !block.is_whole_file(text) {
        return Some(Entry::kept(path, "edited by hand"));
    }
    if root.join(path).is_symlink() {
        return Some(Entry::kept(path, "it is a link"));
    }
    remove(path, &file, apply)
}

fn remove(path: &str, file: &OnDisk, apply: Apply) -> Option<Entry> {
    file.bytes.as_ref()?;
    if apply == Apply::Write
        && let Err(error) = std::fs::remove_file(&file.path)
    {
        return Some(Entry::refused(path, Failure::io("remove", &file.path, &error)));
    }
    Some(Entry::new(path, Status::Removed))
}

fn settings(root: &Path, ledger: Option<&Ledger>, apply: Apply) -> Result<Option<Entry>, Failure> {
    let file = managed::read(root, SETTINGS)?;
    let Some(bytes) = &file.bytes else { return Ok(None) };
    let settings = Settings::read(bytes).map_err(|problem| conflict(SETTINGS, &problem))?;
    let opened = ledger
        .and_then(|ledger| ledger.opened(SETTINGS))
        .unwrap_or_else(|| Opened::before(None, &settings.containers(), &containers()));
    let left = settings.without(&opened);
    leave(root, SETTINGS, &file, left, apply)
}

fn server(root: &Path, ledger: Option<&Ledger>, apply: Apply) -> Result<Option<Entry>, Failure> {
    let file = managed::read(root, servers::PATH)?;
    let Some(bytes) = &file.bytes else { return Ok(None) };
    let servers = Servers::read(bytes).map_err(|problem| conflict(servers::PATH, &problem))?;
    if !servers.is_as_written(ledger.and_then(|ledger| ledger.digest(servers::KEY))) {
        return Ok(Some(Entry::kept(servers::PATH, format!("{} was changed by hand", servers::KEY))));
    }
    let opened = ledger
        .and_then(|ledger| ledger.opened(servers::PATH))
        .unwrap_or_else(|| Opened::before(None, &servers.containers(), &servers::containers()));
    leave(root, servers::PATH, &file, servers.without(&opened), apply)
}

/// Writes what is left of a shared file.
fn leave(root: &Path, path: &str, file: &OnDisk, left: Left, apply: Apply) -> Result<Option<Entry>, Failure> {
    match left {
        Left::All => Ok(Some(Entry::new(path, Status::Unchanged))),
        Left::Nothing if root.join(path).is_symlink() => Ok(Some(Entry::kept(path, "it is a link"))),
        Left::Nothing => Ok(remove(path, file, apply)),
        Left::Text(text) => {
            if apply == Apply::Write {
                managed::write(root, file, &text)?;
            }
            Ok(Some(Entry::new(path, Status::Updated)))
        }
    }
}
