//! Where the workspace is and what its configuration says.

use crate::failure::Failure;
use serde_json::Value as Json;
use std::path::{Path, PathBuf};

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

/// A loaded workspace.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// The root, absolute, as it was found (links in it not resolved).
    pub root: PathBuf,
    /// The configuration file, when there is one.
    pub config_path: Option<PathBuf>,
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

/// Absolute paths of the layout.
#[derive(Clone, Debug)]
pub struct Paths {
    /// `.project`.
    pub project: PathBuf,
    /// `.project/.cache`.
    pub cache: PathBuf,
    /// The folder of locks relative to the root with `/`: `.project/.cache/locks`.
    pub locks: String,
    /// Live cards.
    pub cards: PathBuf,
    /// Archived cards.
    pub archive: PathBuf,
    /// Assets of cards.
    pub assets: PathBuf,
}

/// The settings that rules depend on. Keys with no effect yet are validated and stay in [`Workspace::raw`].
#[derive(Clone, Debug)]
pub struct Config {
    /// The project's name.
    pub name: String,
    /// `cards`.
    pub cards: Cards,
}

/// The `cards` section.
#[derive(Clone, Debug)]
pub struct Cards {
    /// Whether the module is on.
    pub enabled: bool,
    /// Declared areas; the first is the default.
    pub areas: Vec<String>,
    /// Declared axes and their vocabularies, in file order.
    pub axes: Vec<(String, Vec<String>)>,
    /// Command prefixes a verify entry may run.
    pub verify_commands: Vec<Vec<String>>,
    /// Accepted methods by area, or `*`.
    pub verify_methods: Vec<(String, Vec<String>)>,
    /// Seconds a verify command may take.
    pub verify_timeout_seconds: u32,
    /// The id prefix, `T`.
    pub id_prefix: String,
    /// How many ancestors a card may have.
    pub max_hierarchy_depth: u32,
    /// Hours after which a claim is stale.
    pub claim_lease_hours: f64,
    /// Whether mutations write trail lines.
    pub activity_trail: bool,
}

impl Workspace {
    /// Finds and loads a workspace (`records.md` 1). Nothing is written.
    pub fn load(_start: &Start, _missing: Missing, _access: Access) -> Result<Self, Failure> {
        todo!()
    }

    /// The effective vocabularies, as `workfile schema` prints them (`knowledge.md` 9).
    pub fn schema(&self) -> Json {
        todo!()
    }

    /// `path` relative to the root, with `/`.
    pub fn repo_path(&self, _path: &Path) -> String {
        todo!()
    }

    /// Refuses on a read-only workspace; every mutation passes here before anything else.
    pub fn writable(&self) -> Result<(), Failure> {
        todo!()
    }
}
