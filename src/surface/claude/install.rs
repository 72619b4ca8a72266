//! `claude install`: every file of the surface, each on its own: one that cannot be written leaves the others to go on.

use super::binary::Form;
use super::settings::{Settings, fresh};
use super::texts::{TEXTS, protocol};
use super::{SETTINGS, ledger, retired};
use crate::failure::{Code, Failure};
use crate::surface::managed::{self, Apply, Foreign, Mode, OnDisk, Outcome};
use serde_json::{Map, Value as Json, json};
use std::path::Path;

/// What became of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It is new.
    Created,
    /// It was changed.
    Updated,
    /// It was as it should be.
    Unchanged,
    /// It is of an earlier version and was deleted.
    Retired,
    /// It is of an earlier version, was edited by hand and stays.
    Kept,
    /// It has content that nothing here wrote, and stays.
    Unmanaged,
    /// It cannot be merged, and stays.
    Conflict,
}

impl Status {
    /// As reports print it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::Unchanged => "unchanged",
            Self::Retired => "retired",
            Self::Kept => "kept",
            Self::Unmanaged => "unmanaged",
            Self::Conflict => "conflict",
        }
    }

    const fn is_refused(self) -> bool {
        matches!(self, Self::Unmanaged | Self::Conflict)
    }

    const fn is_change(self) -> bool {
        matches!(self, Self::Created | Self::Updated | Self::Retired)
    }
}

/// One file of a report.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Relative to the root, with `/`.
    pub path: String,
    /// What became of it.
    pub status: Status,
    /// Why it was not written or not deleted.
    pub reason: Option<String>,
    /// The code of a refusal.
    pub code: Option<Code>,
    /// Whether a change that somebody made by hand is gone.
    pub hand_edited: bool,
}

impl Entry {
    fn new(path: impl Into<String>, status: Status) -> Self {
        Self { path: path.into(), status, reason: None, code: None, hand_edited: false }
    }

    fn refused(path: &str, failure: Failure) -> Self {
        let status =
            if failure.code == Code::GENERATED_FILE_UNMANAGED { Status::Unmanaged } else { Status::Conflict };
        Self { reason: Some(failure.text), code: Some(failure.code), ..Self::new(path, status) }
    }

    fn to_json(&self) -> Json {
        let mut entry = Map::new();
        entry.insert("path".to_owned(), self.path.as_str().into());
        entry.insert("status".to_owned(), self.status.name().into());
        if let Some(reason) = &self.reason {
            entry.insert("reason".to_owned(), reason.as_str().into());
        }
        if let Some(code) = self.code {
            entry.insert("code".to_owned(), code.name.into());
        }
        if self.hand_edited {
            entry.insert("handEdited".to_owned(), true.into());
        }
        Json::Object(entry)
    }
}

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
    let protocol = protocol(root);
    let mut files: Vec<Entry> = TEXTS
        .iter()
        .map(|text| {
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
        })
        .collect();
    files.extend(retire(root, apply));
    let settings = settings(root, form, apply).unwrap_or_else(|failure| Entry::refused(SETTINGS, failure));
    // An entry is recorded only for a file that has what it says.
    let is_settled = !settings.status.is_refused();
    files.push(settings);
    if is_settled {
        let done = record(root, form, foreign, apply);
        files.push(done.unwrap_or_else(|failure| Entry::refused(ledger::PATH, failure)));
    }
    Report { form, apply, files }
}

/// The context command of earlier versions, which shadowed one of the host's.
fn retire(root: &Path, apply: Apply) -> Option<Entry> {
    let found = retired::find(root)?;
    if found.is_edited {
        let reason = Some("edited by hand".to_owned());
        return Some(Entry { reason, ..Entry::new(retired::PATH, Status::Kept) });
    }
    if apply == Apply::Write
        && let Err(error) = std::fs::remove_file(&found.path)
    {
        return Some(Entry::refused(retired::PATH, Failure::io("remove", &found.path, &error)));
    }
    Some(Entry::new(retired::PATH, Status::Retired))
}

fn settings(root: &Path, form: Form, apply: Apply) -> Result<Entry, Failure> {
    let file = managed::read(root, SETTINGS)?;
    let text = match &file.bytes {
        None => Some(fresh(form.command())),
        Some(bytes) => {
            let settings = Settings::read(bytes).map_err(|problem| {
                let text = format!("{SETTINGS}, {problem}");
                Failure::new(Code::CLAUDE_SETTINGS_CONFLICT, text)
            })?;
            settings.merged(form.command())
        }
    };
    put(root, SETTINGS, &file, text, apply)
}

fn record(root: &Path, form: Form, foreign: Foreign, apply: Apply) -> Result<Entry, Failure> {
    let file = managed::read(root, ledger::PATH)?;
    let old = file.bytes.as_deref();
    let updated = ledger::updated(old, form.command()).or_else(|reason| match foreign {
        Foreign::Overwrite => ledger::updated(None, form.command()),
        Foreign::Refuse => Err(reason),
    });
    let text = updated.map_err(|reason| {
        let text = format!("{} is not the ledger: {reason}; --force overwrites it", ledger::PATH);
        Failure::new(Code::GENERATED_FILE_UNMANAGED, text)
    })?;
    let text = (old != Some(text.as_bytes())).then_some(text);
    put(root, ledger::PATH, &file, text, apply)
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
