//! The files a workspace is declared with: `project.config.mjs` or `project.config.json`, and `VERSION`.

use super::literal::{self, Reason};
use super::{MODULE_FILE, OBJECT_FILE, SCHEMA_VERSION};
use crate::failure::{Code, Failure};
use crate::fs::read_regular;
use crate::path::line_and_column;
use serde_json::{Map, Value as Json};
use std::io;
use std::path::{Path, PathBuf};

/// A configuration as it was written.
pub(super) struct Source {
    pub(super) path: PathBuf,
    /// The file's name, as failures give it.
    pub(super) name: &'static str,
    pub(super) data: Map<String, Json>,
    /// Exports that were not read.
    pub(super) ignored: Vec<String>,
}

/// Reads the configuration of `root`; `None` when there is none.
pub(super) fn read(root: &Path) -> Result<Option<Source>, Failure> {
    let present: Vec<_> =
        [MODULE_FILE, OBJECT_FILE].into_iter().filter(|name| root.join(name).exists()).collect();
    let name = match present[..] {
        [] => return Ok(None),
        [name] => name,
        _ => {
            let text =
                format!("{} are both in {}; one of them must go", present.join(" and "), root.display());
            return Err(Failure::new(Code::CONFIG_AMBIGUOUS, text).with("files", present));
        }
    };
    let path = root.join(name);
    let unreadable = |found: String| syntax(name, Reason::Unsupported, (1, 1), &found);
    let bytes = match read_regular(&path, literal::SOURCE_BYTES as u64) {
        Ok(Some(bytes)) => bytes,
        // Gone since it was looked for.
        Ok(None) => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
            return Err(unreadable(error.to_string()));
        }
        Err(error) => return Err(Failure::io("read", &path, &error)),
    };
    let source = match std::str::from_utf8(&bytes) {
        Ok(source) => source,
        Err(error) => {
            let before = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            let place = line_and_column(&before, before.len());
            return Err(syntax(name, Reason::Invalid, place, "a byte that is not UTF-8"));
        }
    };
    if name == OBJECT_FILE {
        return Ok(Some(Source { path, name, data: object(source, name)?, ignored: Vec::new() }));
    }
    let module = literal::read(source).map_err(|problem| {
        syntax(name, problem.reason, line_and_column(source, problem.at), &problem.found)
    })?;
    Ok(Some(Source { path, name, data: module.exported, ignored: module.skipped }))
}

/// Strict JSON, an object; a byte order mark before it does not count.
fn object(source: &str, name: &str) -> Result<Map<String, Json>, Failure> {
    let text = source.strip_prefix('\u{feff}').unwrap_or(source);
    let value: Json = serde_json::from_str(text).map_err(|error| {
        let message = error.to_string();
        let found = message.split(" at line").next().unwrap_or(&message);
        syntax(name, Reason::Invalid, (error.line().max(1), error.column().max(1)), found)
    })?;
    if depth(&value) > literal::NESTING {
        return Err(syntax(name, Reason::Unsupported, (1, 1), "nesting of more than 64 levels"));
    }
    match value {
        Json::Object(object) => Ok(object),
        _ => Err(syntax(name, Reason::Invalid, (1, 1), "something that is not an object")),
    }
}

/// How many objects and arrays are open at the deepest place; what was parsed nests less than 128 levels.
fn depth(value: &Json) -> usize {
    let below = match value {
        Json::Array(items) => items.iter().map(depth).max(),
        Json::Object(object) => object.values().map(depth).max(),
        _ => return 0,
    };
    below.unwrap_or_default() + 1
}

fn syntax(name: &str, reason: Reason, (line, column): (usize, usize), found: &str) -> Failure {
    let (code, what) = match reason {
        Reason::Unsupported => (Code::CONFIG_SYNTAX_UNSUPPORTED, "is read as data, which this is not"),
        Reason::Invalid => (Code::CONFIG_SYNTAX_INVALID, "cannot be read from here on"),
    };
    Failure::new(code, format!("{name}:{line}:{column}: the configuration {what}: {found}"))
        .with("path", name)
        .with("line", line)
        .with("column", column)
        .with("found", found)
}

/// Reads `VERSION` in the folder `project`; `None` when there is none.
pub(super) fn version(project: &Path) -> Result<Option<Json>, Failure> {
    let path = project.join("VERSION");
    let unreadable = |what: &str| {
        let text = format!("{} cannot be read: {what}", path.display());
        Failure::new(Code::WORKSPACE_VERSION_UNREADABLE, text).with("path", path.display().to_string())
    };
    match read_regular(&path, literal::SOURCE_BYTES as u64) {
        Ok(Some(bytes)) => {
            serde_json::from_slice(&bytes).map(Some).map_err(|error| unreadable(&error.to_string()))
        }
        Ok(None) => Ok(None),
        Err(error) => Err(unreadable(&error.to_string())),
    }
}

/// The schema that a `VERSION` names, when it is a number.
pub(super) fn schema_of(version: &Json) -> Option<f64> {
    match version.get("schemaVersion")? {
        Json::String(text) => crate::path::trim(text).parse().ok(),
        other => other.as_f64(),
    }
}

/// Compares the schema of a `VERSION` in the folder `project` with the configuration's.
pub(super) fn compare(version: &Json, project: &Path) -> Result<(), Failure> {
    let (number, wanted) = (schema_of(version), f64::from(SCHEMA_VERSION));
    if number == Some(wanted) {
        return Ok(());
    }
    let path = project.join("VERSION");
    let place = path.display();
    let text = match number {
        Some(found) if found > wanted => format!(
            "{place} says schema {found} and this program reads schema {SCHEMA_VERSION}: upgrade the program"
        ),
        Some(found) => format!(
            "{place} says schema {found} and this program reads schema {SCHEMA_VERSION} only: the workspace must be \
             brought to schema {SCHEMA_VERSION} first"
        ),
        None => format!("{place} has no number in schemaVersion; this program reads schema {SCHEMA_VERSION}"),
    };
    let failure = Failure::new(Code::CONFIG_SCHEMA_MISMATCH, text)
        .with("configSchemaVersion", SCHEMA_VERSION)
        .with("versionSchemaVersion", version.get("schemaVersion").cloned().unwrap_or(Json::Null));
    Err(if number.is_some_and(|found| found < wanted) {
        failure.remedy("workfile migrate schema")
    } else {
        failure
    })
}
