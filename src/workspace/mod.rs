//! Where the workspace is and what its configuration says.
//!
//! Loading reads at most two files, executes nothing and writes nothing. Whatever the configuration holds, the answer is
//! a checked [`Workspace`] or a [`Failure`] that names the key or the place.

mod cache;
#[cfg(all(test, unix))]
mod cache_tests;
mod config;
mod discovery;
pub mod edit;
pub mod files;
pub mod finding;
mod glob;
mod layout;
mod literal;
pub mod parallel;
mod schema;
mod seal;
mod source;

pub use config::{
    AGENT_TARGETS, CI_TARGETS, Cards, Changelog, Config, DocLayout, Docs, METHODS, Memory, ReleaseStrategy,
};
pub use discovery::locate;
pub use finding::{Finding, Severity};
pub use glob::Globs;
pub use layout::Paths;
pub use schema::{COLLECTIONS, Collection, EFFORTS, PRIORITIES, STATUSES, TYPES};
pub use seal::Seal;

use crate::failure::{Code, Failure};
use serde_json::{Map, Value as Json};
use std::path::{Path, PathBuf};

/// The configuration as a JavaScript module.
pub const MODULE_FILE: &str = "project.config.mjs";

/// The configuration as JSON.
pub const OBJECT_FILE: &str = "project.config.json";

/// The only schema there is.
pub const SCHEMA_VERSION: u32 = 2;

/// What a workspace without a configuration file has.
pub fn defaults() -> Json {
    config::merge(Map::new())
}

/// How the root is looked for.
#[derive(Clone, Debug)]
pub enum Start {
    /// `--root DIR`: that directory and no other; relative to the current directory.
    Exactly(PathBuf),
    /// The current directory and upwards.
    From(PathBuf),
}

/// What to do when there is no workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// `WORKSPACE_NOT_FOUND`.
    Refuse,
    /// `--allow-new`: use the directory itself with all defaults.
    Allow,
}

/// Whether mutations are possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// They are.
    Write,
    /// They are refused with `WORKSPACE_READ_ONLY`.
    ReadOnly,
}

/// Whether a module is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// Its records are listed and can be written.
    On,
    /// It has no records, and none are made.
    Off,
}

/// A loaded workspace.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// The root, absolute, as it was found (links in it not resolved).
    pub root: PathBuf,
    /// The configuration file, when there is one.
    pub config_path: Option<PathBuf>,
    /// Names that the configuration exports and nobody reads.
    pub ignored_exports: Vec<String>,
    /// The configuration with defaults merged in, validated.
    pub config: Config,
    /// The same as JSON, for what reads rarely used keys.
    pub raw: Json,
    /// The parsed `VERSION` file.
    pub version: Option<Json>,
    /// Where things are.
    pub paths: Paths,
    /// Whether mutations are possible.
    pub access: Access,
}

impl Workspace {
    /// Finds and loads a workspace. Nothing is written.
    pub fn load(start: &Start, missing: Missing, access: Access) -> Result<Self, Failure> {
        let workspace = Self::load_to_migrate(start, missing, access)?;
        if let Some(version) = &workspace.version {
            source::compare(version, &workspace.paths.project)?;
        }
        Ok(workspace)
    }

    /// The same whatever schema `VERSION` names: what migrates a workspace must be able to load it.
    pub fn load_to_migrate(start: &Start, missing: Missing, access: Access) -> Result<Self, Failure> {
        let root = locate(start, missing)?;
        let source = source::read(&root)?;
        let (config_path, name, own, ignored_exports) = match source {
            Some(source) => (Some(source.path), source.name, source.data, source.ignored),
            None => (None, MODULE_FILE, Map::new(), Vec::new()),
        };
        let mut workspace = Self::of(root, name, own, access)?;
        workspace.version = source::version(&workspace.paths.project)?;
        Ok(Self { config_path, ignored_exports, ..workspace })
    }

    /// The workspace that `own` would make of `root`; nothing there is read.
    pub fn proposed(root: &Path, own: Map<String, Json>) -> Result<Self, Failure> {
        Self::of(root.to_owned(), MODULE_FILE, own, Access::Write)
    }

    fn of(root: PathBuf, name: &str, own: Map<String, Json>, access: Access) -> Result<Self, Failure> {
        let raw = config::merge(own);
        let issues = config::issues(&raw);
        if let Some(first) = issues.first() {
            let list: Vec<Json> = issues.iter().map(config::Issue::to_json).collect();
            return Err(Failure::new(first.code, format!("{name}: {}", first.message)).with("issues", list));
        }
        let (paths, config) = (Paths::of(&raw, &root)?, Config::of(&raw));
        Ok(Self {
            root,
            config_path: None,
            ignored_exports: Vec::new(),
            config,
            raw,
            version: None,
            paths,
            access,
        })
    }

    /// The effective vocabularies, as `workfile schema` prints them.
    pub fn schema(&self) -> Json {
        schema::of(&self.raw)
    }

    /// The schema that `VERSION` names, when it is a number; the configuration's without such a file.
    pub fn written_schema(&self) -> Option<f64> {
        self.version.as_ref().map_or(Some(f64::from(SCHEMA_VERSION)), source::schema_of)
    }

    /// `path` relative to the root, with `/`; a path that is not below the root as it is.
    pub fn repo_path(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.root).unwrap_or(path).to_string_lossy();
        if cfg!(windows) { below.replace('\\', "/") } else { below.into_owned() }
    }

    /// Refuses a mutation of a module that is switched off, after [`Workspace::writable`].
    pub fn module_writable(&self, module: &str, switch: Switch) -> Result<(), Failure> {
        self.writable()?;
        if switch == Switch::On {
            return Ok(());
        }
        let text = format!("{module} is switched off: {module}.enabled is false in the configuration");
        Err(Failure::new(Code::MODULE_DISABLED, text).with("module", module))
    }

    /// Refuses on a read-only workspace; every mutation passes here before anything else.
    pub fn writable(&self) -> Result<(), Failure> {
        match self.access {
            Access::Write => Ok(()),
            Access::ReadOnly => {
                let text = format!("the workspace {} is open for reading only", self.root.display());
                Err(Failure::new(Code::WORKSPACE_READ_ONLY, text))
            }
        }
    }
}

/// Whether a merged configuration has a module on.
pub fn is_enabled(raw: &Json, module: &str) -> Switch {
    config::switch(&raw[module])
}

#[cfg(test)]
mod tests;
