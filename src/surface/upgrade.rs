//! `upgrade`: generated files brought to this version, and whether the workspace runs this binary.
//!
//! A surface is behind when a check of it is not clean, or when anything in it says that another version wrote it. What
//! no configured target owns any more is reported and left alone.

use crate::failure::{Code, Failure};
use crate::surface::agents;
use crate::surface::claude::{self, Runtime, Stamp, Surroundings};
use crate::surface::managed::{self, Apply, Foreign, Style};
use crate::workspace::{Switch, Workspace, is_enabled};
use serde_json::{Map, Value as Json, json};

/// Where a target of the configuration has its file, whichever version or implementation wrote it.
const PLACES: [(&str, &str, &str, &str, Style); 7] = [
    ("agents", "agents-md", "adapter-agents-md", "AGENTS.md", Style::Html),
    ("agents", "claude", "adapter-claude", "CLAUDE.md", Style::Html),
    ("agents", "cursor", "adapter-cursor", ".cursor/rules/workfile.mdc", Style::Html),
    ("agents", "copilot", "adapter-copilot", ".github/copilot-instructions.md", Style::Html),
    ("ci", "github", "ci-github", ".github/workflows/workfile.yml", Style::Hash),
    ("ci", "gitlab", "ci-gitlab", ".gitlab/workfile.yml", Style::Hash),
    ("ci", "generic", "ci-generic", ".project/ci/workfile.sh", Style::Hash),
];

/// How a surface stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Nothing was to be done.
    Current,
    /// It was behind and was synced.
    Synced,
    /// It is behind; a dry run leaves it so.
    WouldSync,
    /// The configuration has it off.
    Disabled,
    /// Nobody installed it here.
    NotInstalled,
}

impl Status {
    /// As reports print it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Synced => "synced",
            Self::WouldSync => "would-sync",
            Self::Disabled => "disabled",
            Self::NotInstalled => "not-installed",
        }
    }
}

/// One file of a surface that was synced.
#[derive(Clone, Debug)]
pub struct File {
    /// Relative to the root, with `/`.
    pub path: String,
    /// What became of it.
    pub status: &'static str,
    /// Why it was left as it is.
    pub reason: Option<String>,
    /// The code of a refusal.
    pub code: Option<Code>,
}

/// One surface.
#[derive(Clone, Debug)]
pub struct Surface {
    /// What it is called.
    pub id: &'static str,
    /// How it stands.
    pub status: Status,
    /// What a sync did, or would do; `None` when none was due.
    pub sync: Option<Sync>,
}

/// What a sync did, or would do.
#[derive(Clone, Debug)]
pub struct Sync {
    /// Whether any file changed.
    pub changed: bool,
    /// The files.
    pub files: Vec<File>,
}

/// A generated block that no configured target owns.
#[derive(Clone, Debug)]
pub struct Orphan {
    /// Its surface.
    pub surface: &'static str,
    /// The target that would own it.
    pub target: &'static str,
    /// The kind of the block.
    pub kind: &'static str,
    /// Where it stands.
    pub file: &'static str,
    /// The version that wrote it.
    pub version: Option<String>,
}

/// The binary that runs, and the one that the workspace will run.
#[derive(Clone, Debug)]
pub struct Binary {
    /// The version of this one.
    pub running: String,
    /// The registered one, resolved here.
    pub registered: Runtime,
    /// The version of the vendored copy.
    pub local: Option<String>,
}

impl Binary {
    /// The version that the workspace runs, when it is known and not this one's.
    pub fn mismatch(&self) -> Option<&str> {
        self.registered.version.as_deref().filter(|version| *version != self.running)
    }

    fn to_json(&self) -> Json {
        let Runtime { form, resolved, version, .. } = &self.registered;
        json!({
            "running": self.running,
            "registered": {
                "form": form.name(),
                "command": form.command(),
                "resolved": resolved.as_ref().map(|path| path.display().to_string()),
                "version": version,
            },
            "local": self.local,
            "mismatched": self.mismatch().is_some(),
        })
    }
}

/// What an upgrade did, or would do.
#[derive(Clone, Debug)]
pub struct Report {
    /// Whether anything was written.
    pub apply: Apply,
    /// The surfaces.
    pub surfaces: Vec<Surface>,
    /// What nobody owns.
    pub orphans: Vec<Orphan>,
    /// Which binary runs where.
    pub binary: Binary,
}

impl Report {
    /// The files that were left as they are although something belongs into them.
    pub fn refused(&self) -> impl Iterator<Item = (&File, Code)> {
        let files =
            self.surfaces.iter().filter_map(|surface| surface.sync.as_ref()).flat_map(|sync| &sync.files);
        files.filter_map(|file| Some((file, file.code?)))
    }

    /// `{version, dryRun, surfaces: [{id, status, changed?, files?}], orphans, binary}`.
    pub fn to_json(&self) -> Json {
        let orphan = |orphan: &Orphan| {
            let Orphan { surface, target, kind, file, version } = orphan;
            json!({ "surface": surface, "target": target, "kind": kind, "file": file, "version": version })
        };
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "dryRun": self.apply == Apply::DryRun,
            "surfaces": self.surfaces.iter().map(surface_json).collect::<Vec<_>>(),
            "orphans": self.orphans.iter().map(orphan).collect::<Vec<_>>(),
            "binary": self.binary.to_json(),
        })
    }
}

fn surface_json(surface: &Surface) -> Json {
    let mut json = Map::from_iter([
        ("id".to_owned(), surface.id.into()),
        ("status".to_owned(), surface.status.name().into()),
    ]);
    if let Some(Sync { changed, files }) = &surface.sync {
        json.insert("changed".to_owned(), (*changed).into());
        json.insert("files".to_owned(), files.iter().map(file_json).collect());
    }
    Json::Object(json)
}

fn file_json(file: &File) -> Json {
    let mut json = Map::from_iter([
        ("path".to_owned(), file.path.as_str().into()),
        ("status".to_owned(), file.status.into()),
    ]);
    if let Some(reason) = &file.reason {
        json.insert("reason".to_owned(), reason.as_str().into());
    }
    if let Some(code) = file.code {
        json.insert("code".to_owned(), code.name.into());
    }
    Json::Object(json)
}

/// Brings every surface of a workspace to this version.
pub fn upgrade(workspace: &Workspace, around: &Surroundings, apply: Apply) -> Result<Report, Failure> {
    if apply == Apply::Write {
        workspace.writable()?;
    }
    // The skill quotes the protocol, so the protocol comes first.
    let surfaces = vec![agents_surface(workspace, apply)?, claude_surface(workspace, around, apply)];
    let binary = Binary {
        running: Stamp::running().version,
        registered: claude::check(&workspace.root, around).runtime,
        local: claude::vendored_version(&workspace.root),
    };
    Ok(Report { apply, surfaces, orphans: orphans(workspace), binary })
}

fn synced(id: &'static str, apply: Apply, sync: Sync) -> Surface {
    let status = if apply == Apply::Write { Status::Synced } else { Status::WouldSync };
    Surface { id, status, sync: Some(sync) }
}

fn agents_surface(workspace: &Workspace, apply: Apply) -> Result<Surface, Failure> {
    let id = agents::MODULE;
    if is_enabled(&workspace.raw, id) == Switch::Off {
        return Ok(Surface { id, status: Status::Disabled, sync: None });
    }
    let targets = agents::targets(workspace, None)?;
    if !agents::check(workspace, &targets).is_behind() {
        return Ok(Surface { id, status: Status::Current, sync: None });
    }
    let report = agents::sync(workspace, targets, Foreign::Refuse, apply)?;
    let file = |file: &agents::Synced| {
        let refused = file.outcome.as_ref().err();
        let (reason, code) =
            (refused.map(|failure| failure.text.clone()), refused.map(|failure| failure.code));
        File { path: file.path.clone(), status: file.status(), reason, code }
    };
    let files = report.files.iter().map(file).collect();
    Ok(synced(id, apply, Sync { changed: report.changed(), files }))
}

fn claude_surface(workspace: &Workspace, around: &Surroundings, apply: Apply) -> Surface {
    let (id, root) = ("claude", &workspace.root);
    if managed::read(root, claude::SKILL).is_ok_and(|file| file.bytes.is_none()) {
        return Surface { id, status: Status::NotInstalled, sync: None };
    }
    if !claude::is_behind(root, &claude::check(root, around)) {
        return Surface { id, status: Status::Current, sync: None };
    }
    let report = claude::install(root, Foreign::Refuse, apply);
    let file = |file: &claude::Installed| File {
        path: file.path.clone(),
        status: file.status.name(),
        reason: file.reason.clone(),
        code: file.code,
    };
    let files = report.files.iter().map(file).collect();
    synced(id, apply, Sync { changed: report.changed(), files })
}

/// Blocks of targets that the configuration does not name, or whose module is off.
fn orphans(workspace: &Workspace) -> Vec<Orphan> {
    let owns = |surface: &str, target: &str| {
        let targets = workspace.raw[surface]["targets"].as_array().into_iter().flatten();
        is_enabled(&workspace.raw, surface) == Switch::On
            && targets.filter_map(Json::as_str).any(|name| name == target)
    };
    let orphan = |(surface, target, kind, file, style)| {
        if owns(surface, target) {
            return None;
        }
        let found = managed::read(&workspace.root, file).ok()?;
        let block = managed::find(found.text()?, kind, style)?;
        Some(Orphan { surface, target, kind, file, version: block.version })
    };
    PLACES.into_iter().filter_map(orphan).collect()
}
