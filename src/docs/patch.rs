//! Patch, write, note: a managed document changed in place.

use super::document::{Document, Origin};
use super::fields::{self, KIND};
use super::load;
use crate::clock;
use crate::failure::{Code, Failure};
use crate::path::{one_line, trim};
use crate::record::{self, section_name};
use crate::workspace::edit::{self, Changes, Kind, Record, Target};
use crate::workspace::{Workspace, files};
use serde_json::{Map, Value as Json};

/// The section that a note goes to without another name.
pub const SECTION: &str = "Notes";

impl Record for Document {
    const KIND: &'static Kind = &KIND;

    fn id(&self) -> &str {
        &self.id
    }

    fn path(&self) -> &str {
        &self.path
    }

    fn to_json(&self) -> Map<String, Json> {
        self.to_json()
    }

    fn again(&self, workspace: &Workspace, text: String) -> Result<Self, Failure> {
        Self::at(workspace, self.origin, self.path.clone(), self.file.clone(), text)
    }
}

/// A note.
#[derive(Clone, Copy, Debug)]
pub struct Note<'a> {
    /// Which document.
    pub target: Target<'a>,
    /// What it says.
    pub text: &'a str,
    /// The heading without its marks.
    pub section: &'a str,
    /// Who says it.
    pub actor: Option<&'a str>,
}

/// Sets or clears fields, and replaces the text when `body` is among the changes. No file moves.
pub fn patch(
    workspace: &Workspace,
    target: Target<'_>,
    input: &Map<String, Json>,
) -> Result<Document, Failure> {
    change(workspace, target, |_| edit::changes(&KIND, input))
}

/// Replaces the whole text below the header; `DOC_BODY_REQUIRED` without one, an empty one empties the document.
pub fn write(workspace: &Workspace, target: Target<'_>, body: Option<&str>) -> Result<Document, Failure> {
    writable(workspace)?;
    let body = body.ok_or_else(|| {
        let failure =
            Failure::new(Code::DOC_BODY_REQUIRED, "the text that the document is to have is missing");
        failure.remedy(format!("workfile doc write {} --body-file FILE", target.id))
    })?;
    let body = Some(trim(body).to_owned());
    change(workspace, target, |_| Ok(Changes { header: Vec::new(), body }))
}

/// Adds one line at the end of a section, which is made when there is none.
pub fn note(workspace: &Workspace, note: Note<'_>) -> Result<Document, Failure> {
    writable(workspace)?;
    let name = section_name(note.section).map_err(|problem| {
        let text = format!("a note cannot go to the section `{}`: {problem}", trim(note.section));
        Failure::new(Code::DOC_NOTE_SECTION_INVALID, text)
    })?;
    let text = one_line(note.text);
    if text.is_empty() {
        let failure = Failure::new(Code::DOC_NOTE_REQUIRED, "a note needs a text");
        return Err(failure.remedy(format!("workfile doc note {} --text TEXT", note.target.id)));
    }
    let author = note.actor.map(|actor| format!(" {actor}")).unwrap_or_default();
    let line = format!("- {}{author} — {text}", clock::now().stamp());
    change(workspace, note.target, |document| {
        let body = record::append_under_heading(document.body_text(), &format!("## {name}"), &line);
        Ok(Changes { header: Vec::new(), body: Some(body) })
    })
}

fn writable(workspace: &Workspace) -> Result<(), Failure> {
    workspace.module_writable("docs", workspace.config.docs.enabled)
}

fn change(
    workspace: &Workspace,
    target: Target<'_>,
    plan: impl FnOnce(&Document) -> Result<Changes, Failure>,
) -> Result<Document, Failure> {
    writable(workspace)?;
    let find = || find(workspace, target.id);
    edit::patch(workspace, target, find, plan, |_, candidate| {
        fields::check(candidate, &workspace.config.docs)
    })
}

/// The managed document with this id: one, and only one.
pub(super) fn find(workspace: &Workspace, id: &str) -> Result<Document, Failure> {
    let listing = load::all(workspace)?;
    let (managed, indexed): (Vec<_>, Vec<_>) =
        listing.documents.into_iter().filter(|document| document.id == id).partition(Document::is_managed);
    match indexed.first() {
        _ if !managed.is_empty() => edit::locate(managed, id),
        Some(document) => {
            let root = workspace.repo_path(&workspace.paths.docs);
            let text = format!(
                "{id} is {}, which is only indexed; documents below {root} are changed here",
                document.path
            );
            Err(Failure::new(Code::DOC_NOT_MANAGED, text).with("id", id).with("path", document.path.as_str()))
        }
        None => Err(edit::missing(&KIND, id, &listing.unreadable)),
    }
}

impl Document {
    /// The document whose file at `path` was just written with `text`.
    pub(super) fn at(
        workspace: &Workspace,
        origin: Origin,
        path: String,
        file: String,
        text: String,
    ) -> Result<Self, Failure> {
        let found = files::again(workspace, &workspace.root, &path)?;
        let stat = found.map(|found| found.stat).ok_or_else(|| {
            Failure::new(Code::INTERNAL_ERROR, format!("{path} was written and cannot be read"))
        })?;
        Ok(Self::read(origin, path, file, text, &stat))
    }
}
