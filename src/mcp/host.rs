//! What one server process works on: a root that does not change, and the limits it was started with.

use super::kept::Kept;
use crate::failure::{Code, Failure};
use crate::query::Index;
use crate::workspace::{Access, Missing, Start, Workspace};
use serde_json::Value as Json;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How a server is started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    /// `--root`.
    pub(super) root: Option<PathBuf>,
    /// `--read-only`.
    pub(super) read_only: bool,
    /// `--max-result-bytes`.
    pub(super) result_bytes: Option<usize>,
}

/// A server's workspace and limits.
#[derive(Debug)]
pub(super) struct Host {
    /// The workspace's root.
    pub(super) root: PathBuf,
    access: Access,
    /// Longest line of input.
    pub(super) message_bytes: usize,
    /// Longest result of a call.
    pub(super) result_bytes: usize,
    /// Entries of a page of resources.
    pub(super) page: usize,
    kept: Kept,
}

/// What the bounds of a limit are.
const LIMITS: std::ops::RangeInclusive<usize> = 1024..=16_777_216;

impl Host {
    /// Finds the workspace and reads its configuration: two small files, and no record.
    pub(super) fn open(options: &Options) -> Result<Self, Failure> {
        let Workspace { root, raw, .. } = Workspace::load(&start(options)?, Missing::Refuse, Access::Write)?;
        let settings = &raw["mcp"];
        if settings["enabled"] == Json::Bool(false) {
            let text = "the MCP server is switched off: mcp.enabled is false in the configuration";
            return Err(Failure::new(Code::MCP_DISABLED, text));
        }
        let writes = !options.read_only && settings["allowMutations"] != Json::Bool(false);
        let number = |key: &str| settings[key].as_u64().unwrap_or_default() as usize;
        Ok(Self {
            root,
            access: if writes { Access::Write } else { Access::ReadOnly },
            message_bytes: number("maxMessageBytes"),
            result_bytes: options.result_bytes.unwrap_or_else(|| number("maxToolResultBytes")),
            page: number("resourcePageSize"),
            kept: Kept::default(),
        })
    }

    /// Whether mutations are refused.
    pub(super) fn is_read_only(&self) -> bool {
        self.access == Access::ReadOnly
    }

    /// The records of a workspace that was just loaded, as they are now.
    pub(super) fn index(&self, workspace: &Workspace) -> Result<Arc<Index>, Failure> {
        self.kept.index(workspace)
    }

    /// The workspace with its configuration as it is now: vocabularies may change while a session lasts.
    pub(super) fn workspace(&self) -> Result<Workspace, Failure> {
        Workspace::load(&Start::Exactly(self.root.clone()), Missing::Refuse, self.access)
    }
}

/// Where the search for the workspace begins. A `--root` that is where the client was started, as the plugin writes it,
/// is often a folder inside the workspace; any other one is the workspace itself.
fn start(options: &Options) -> Result<Start, Failure> {
    let project = std::env::var_os("CLAUDE_PROJECT_DIR").filter(|dir| !dir.is_empty()).map(PathBuf::from);
    match (&options.root, project) {
        (Some(root), Some(project)) if *root == project => Ok(Start::From(project)),
        (Some(root), _) => Ok(Start::Exactly(root.clone())),
        (None, Some(project)) => Ok(Start::From(project)),
        (None, None) => std::env::current_dir().map(Start::From).map_err(|error| {
            Failure::new(Code::INTERNAL_ERROR, format!("the current directory cannot be read: {error}"))
        }),
    }
}

/// Reads `--max-result-bytes`.
pub(super) fn result_bytes(text: &str) -> Result<usize, Failure> {
    let number = text.parse::<usize>().ok().filter(|number| LIMITS.contains(number));
    number.ok_or_else(|| {
        let range = format!("{} to {}", LIMITS.start(), LIMITS.end());
        Failure::new(
            Code::CONFIG_MCP_LIMIT_INVALID,
            format!("--max-result-bytes is `{text}`, but must be {range}"),
        )
    })
}

/// A path for the machine that reads a printed configuration.
pub(super) fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
