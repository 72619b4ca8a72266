//! `claude install`: every file of the surface, each on its own: one that cannot be written leaves the others to go on.

use super::binary::Form;
use super::entry::{Entry, Status};
use super::jsontext::Problem;
use super::ledger::{self, Ledger};
use super::opened::Opened;
use super::servers::{self, Servers};
use super::settings::{Settings, containers, fresh};
use super::texts::{TEXTS, Text, protocol};
use super::{SETTINGS, folders, retired};
use crate::failure::{Code, Failure};
use crate::surface::managed::{self, Apply, Foreign, Mode, OnDisk, Outcome};
use serde_json::{Value as Json, json};
use std::path::Path;

/// What an install did, or would do.
#[derive(Clone, Debug)]
pub struct Report {
    /// Which binary the hooks name.
    pub form: Form,
    /// Whether anything was written.
    pub apply: Apply,
    /// The files, in the order they are handled.
    pub files: Vec<Entry>,
}

impl Report {
    /// Whether any file changed, or would.
    pub fn changed(&self) -> bool {
        self.files.iter().any(|file| file.status.is_change())
    }

    /// The files that were left as they are although something should be in them.
    pub fn refused(&self) -> impl Iterator<Item = &Entry> {
        self.files.iter().filter(|file| file.status.is_refused())
    }

    /// Whether the hooks of this repository are new or others than before.
    pub fn rewires(&self) -> bool {
        self.files.iter().any(|file| file.path == SETTINGS && file.status.is_change())
    }

    /// `{module, version, dryRun, changed, binary: {form, command}, files: [{path, status, reason?, code?, handEdited?}]}`.
    pub fn to_json(&self) -> Json {
        json!({
            "module": "claude",
            "version": env!("CARGO_PKG_VERSION"),
            "dryRun": self.apply == Apply::DryRun,
            "changed": self.changed(),
            "binary": { "form": self.form.name(), "command": self.form.command() },
            "files": self.files.iter().map(Entry::to_json).collect::<Vec<_>>(),
        })
    }
}

/// Writes the surface into the repository at `root`.
pub fn install(root: &Path, foreign: Foreign, apply: Apply) -> Report {
    let form = Form::of(root);
    let missing = folders::missing(root);
    let mut files = texts(root, foreign, apply);
    files.extend(retire(root, apply));
    let mut book = Book::open(root, foreign);
    let shared = [
        (servers::PATH, server(root, form, &mut book.ledger, apply)),
        (SETTINGS, settings(root, form, &mut book.ledger, apply)),
    ];
    let is_any_settled = shared.iter().any(|(_, entry)| entry.is_ok());
    files.extend(
        shared.into_iter().map(|(path, entry)| entry.unwrap_or_else(|failure| Entry::refused(path, failure))),
    );
    // An entry is recorded only for a file that has what it says.
    if is_any_settled {
        let created =
            files.iter().filter(|file| file.status == Status::Created).map(|file| file.path.as_str());
        let made = folders::made(&missing, created.chain([ledger::PATH]));
        let done = book.close(root, made, apply);
        files.push(done.unwrap_or_else(|failure| Entry::refused(ledger::PATH, failure)));
    }
    Report { form, apply, files }
}

fn texts(root: &Path, foreign: Foreign, apply: Apply) -> Vec<Entry> {
    let protocol = protocol(root);
    let one = |text: &Text| {
        let path = text.installed_path();
        let block = text.block(protocol.as_deref());
        match managed::sync(root, &path, &block, Mode::Dedicated, foreign, apply) {
            Ok(Outcome::Created) => Entry::new(path, Status::Created),
            Ok(Outcome::Updated { hand_edited }) => {
                Entry { hand_edited, ..Entry::new(path, Status::Updated) }
            }
            Ok(Outcome::Unchanged) => Entry::new(path, Status::Unchanged),
            Err(failure) => Entry::refused(&path, failure),
        }
    };
    TEXTS.iter().map(one).collect()
}

/// The context command of earlier versions, which shadowed one of the host's.
fn retire(root: &Path, apply: Apply) -> Option<Entry> {
    let found = retired::find(root)?;
    if found.is_edited {
        return Some(Entry::kept(retired::PATH, "edited by hand"));
    }
    if apply == Apply::Write
        && let Err(error) = std::fs::remove_file(&found.path)
    {
        return Some(Entry::refused(retired::PATH, Failure::io("remove", &found.path, &error)));
    }
    Some(Entry::new(retired::PATH, Status::Retired))
}

fn server(root: &Path, form: Form, ledger: &mut Ledger, apply: Apply) -> Result<Entry, Failure> {
    let file = managed::read(root, servers::PATH)?;
    let wanted = servers::containers();
    let (text, opened) = match &file.bytes {
        None => (Some(servers::fresh(form)), Opened::file(&wanted)),
        Some(bytes) => {
            let servers = Servers::read(bytes).map_err(|problem| conflict(servers::PATH, &problem))?;
            let opened =
                Opened::before(ledger.opened(servers::PATH).as_ref(), &servers.containers(), &wanted);
            match servers.merged(form, ledger) {
                Some(text) => (Some(text), opened.with_end_of(&String::from_utf8_lossy(bytes))),
                None => (None, opened),
            }
        }
    };
    let entry = put(root, servers::PATH, &file, text, apply)?;
    ledger.record_server(&servers::server(form));
    ledger.record_opened(servers::PATH, &opened);
    Ok(entry)
}

fn settings(root: &Path, form: Form, ledger: &mut Ledger, apply: Apply) -> Result<Entry, Failure> {
    let file = managed::read(root, SETTINGS)?;
    let wanted = containers();
    let known = ledger.opened(SETTINGS);
    let (text, opened) = match &file.bytes {
        None => (Some(fresh(form.command())), Opened::file(&wanted)),
        Some(bytes) => {
            let settings = Settings::read(bytes).map_err(|problem| conflict(SETTINGS, &problem))?;
            let opened = Opened::before(known.as_ref(), &settings.containers(), &wanted);
            match settings.merged(form.command()) {
                Some(text) => (Some(text), opened.with_end_of(&String::from_utf8_lossy(bytes))),
                None => (None, opened),
            }
        }
    };
    let entry = put(root, SETTINGS, &file, text, apply)?;
    ledger.record_hooks(form.command());
    ledger.record_opened(SETTINGS, &opened);
    Ok(entry)
}

/// A file that cannot be edited.
pub(super) fn conflict(path: &str, problem: &Problem) -> Failure {
    Failure::new(Code::CLAUDE_SETTINGS_CONFLICT, format!("{path}, {problem}"))
}

/// The ledger on its way from one install to the next.
struct Book {
    file: Result<OnDisk, Failure>,
    ledger: Ledger,
    /// What stands in its place may not be overwritten.
    refused: Option<Failure>,
}

impl Book {
    fn open(root: &Path, foreign: Foreign) -> Self {
        let file = managed::read(root, ledger::PATH);
        let read = Ledger::read(file.as_ref().ok().and_then(|file| file.bytes.as_deref()));
        match read {
            Ok(ledger) => Self { file, ledger, refused: None },
            Err(_) if foreign == Foreign::Overwrite => {
                Self { file, ledger: Ledger::default(), refused: None }
            }
            Err(reason) => {
                let text = format!("{} is not the ledger: {reason}; --force overwrites it", ledger::PATH);
                let refused = Some(Failure::new(Code::GENERATED_FILE_UNMANAGED, text));
                Self { file, ledger: Ledger::default(), refused }
            }
        }
    }

    fn close(mut self, root: &Path, made: Vec<String>, apply: Apply) -> Result<Entry, Failure> {
        if let Some(refused) = self.refused {
            return Err(refused);
        }
        let file = self.file?;
        self.ledger.record_folders(made);
        let text = self.ledger.text();
        let text = (file.bytes.as_deref() != Some(text.as_bytes())).then_some(text);
        put(root, ledger::PATH, &file, text, apply)
    }
}

/// Writes a file's new text, if there is one.
fn put(root: &Path, path: &str, file: &OnDisk, text: Option<String>, apply: Apply) -> Result<Entry, Failure> {
    let Some(text) = text else { return Ok(Entry::new(path, Status::Unchanged)) };
    if apply == Apply::Write {
        managed::write(root, file, &text)?;
    }
    let status = if file.bytes.is_none() { Status::Created } else { Status::Updated };
    Ok(Entry::new(path, status))
}
