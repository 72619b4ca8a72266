//! The configuration module `project.config.mjs`, read as data.
//!
//! Nothing is executed. What is accepted is the part of JavaScript that writes down a value; other JavaScript is
//! refused as unsupported, and what is no JavaScript as invalid, both with the place where reading stopped. The work is
//! linear in the size of the text: nesting and what constants may expand to are limited.

mod parse;
mod token;

use serde_json::{Map, Value as Json};

/// Longest source, in bytes.
pub(super) const SOURCE_BYTES: usize = 1 << 20;

/// Deepest nesting of objects, arrays and parentheses.
pub(super) const NESTING: usize = 64;

/// Why a source was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// JavaScript that is not data.
    Unsupported,
    /// Not JavaScript.
    Invalid,
}

/// Where and why reading stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) reason: Reason,
    /// Offset in bytes.
    pub(super) at: usize,
    /// The text that stands there.
    pub(super) found: String,
}

impl Problem {
    fn unsupported(at: usize, found: impl Into<String>) -> Self {
        Self { reason: Reason::Unsupported, at, found: clip(found.into()) }
    }

    fn invalid(at: usize, found: impl Into<String>) -> Self {
        Self { reason: Reason::Invalid, at, found: clip(found.into()) }
    }
}

/// What a module holds.
#[derive(Clone, Debug, Default)]
pub(super) struct Module {
    /// The default export; empty without one.
    pub(super) exported: Map<String, Json>,
    /// Constants that were not read as data.
    pub(super) skipped: Vec<String>,
}

/// Reads a module.
pub(super) fn read(source: &str) -> Result<Module, Problem> {
    if source.len() > SOURCE_BYTES {
        return Err(Problem::unsupported(0, format!("more than {SOURCE_BYTES} bytes")));
    }
    parse::module(source)
}

fn clip(found: String) -> String {
    const SHOWN: usize = 40;
    match found.char_indices().nth(SHOWN) {
        Some((cut, _)) => format!("{}…", &found[..cut]),
        None => found,
    }
}

#[cfg(test)]
mod tests;
