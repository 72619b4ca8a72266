//! Making and changing records of a kind that a table describes: documents, changelog fragments, memory.
//!
//! A change has one shape: take the record's lock, load, find the one record, compare the revision, read the input against
//! the table, build the header as it would become, check all of it, write the file in one step. Whoever is refused leaves
//! every byte as it was, and a change that would change nothing but the date of the change writes nothing.

mod check;
mod create;
mod input;
mod patch;

pub use check::{Candidate, not_allowed};
pub use create::{Fresh, New, create, hidden, reachable};
pub use input::{Changes, Draft, changes, draft};
pub use patch::{
    candidate, fresh, locate, lock, locks, matters, missing, patch, rewritten, unchanged, write,
};

use super::Workspace;
use crate::failure::{Code, Failure};
use crate::record::RecordFile;
use serde_json::{Map, Value as Json};
use std::ops::Deref;

/// What a field of a header holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// One text.
    Text,
    /// A list of texts.
    List,
    /// A number, written as the text it shows.
    Number,
}

/// A kind of record.
#[derive(Debug)]
pub struct Kind {
    /// The module, which names the folder of its locks: `docs`.
    pub module: &'static str,
    /// What messages call one: `document`.
    pub noun: &'static str,
    /// The command that prints one, without its id: `workfile doc show`.
    pub show: &'static str,
    /// The command that lists them.
    pub list: &'static str,
    /// Keys of the header that hold lists when they are read.
    pub lists: &'static [&'static str],
    /// Fields that input may name, in the order of a new header; `id` comes first, `created` and `updated` last.
    pub fields: &'static [(&'static str, Type)],
    /// The codes of its refusals.
    pub codes: Codes,
}

impl Kind {
    /// What a field holds; `None` for a key that input may not name.
    pub fn field(&self, key: &str) -> Option<Type> {
        self.fields.iter().find(|(name, _)| *name == key).map(|(_, kind)| *kind)
    }
}

/// The codes of a kind's refusals.
#[derive(Debug)]
pub struct Codes {
    /// A new record with a key that is none of its fields, details `{fields}`.
    pub unknown: Code,
    /// A value of the wrong type or with a control character, details `{field, reason}`.
    pub invalid: Code,
    /// A change of a key that cannot be changed, details `{fields}`.
    pub not_patchable: Code,
    /// A change of nothing.
    pub empty: Code,
    /// A record that has changed meanwhile.
    pub conflict: Code,
    /// No such record.
    pub not_found: Code,
    /// The id of several files, details `{files}`.
    pub ambiguous: Code,
}

/// A record that can be changed here.
pub trait Record: Sized + Deref<Target = RecordFile> {
    /// Its kind.
    const KIND: &'static Kind;

    /// Its id.
    fn id(&self) -> &str;

    /// Where its file is, from the root, with `/`.
    fn path(&self) -> &str;

    /// It with every key.
    fn to_json(&self) -> Map<String, Json>;

    /// The same record with another text, which its file holds by now.
    fn again(&self, workspace: &Workspace, text: String) -> Result<Self, Failure>;
}

/// Which record, and as the caller saw it when.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The id.
    pub id: &'a str,
    /// The revision it must still have; empty counts as none.
    pub revision: Option<&'a str>,
}

#[cfg(test)]
mod tests;
