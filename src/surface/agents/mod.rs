//! Instructions for agents: one protocol, four workflows, and what points an agent's own instruction file to them.
//!
//! All of them are managed blocks. The table of files is derived from the configuration; sync, check and doctor read it.

mod texts;

use crate::failure::{Code, Failure};
use crate::surface::managed::{
    self, Apply, Block, Foreign, Mode, Outcome, Planned, State, Style, Verdict, compare,
};
use crate::workspace::{Finding, Severity, Workspace, is_enabled};
use serde_json::{Map, Value as Json, json};

/// The module that findings are reported under.
pub const MODULE: &str = "agents";

/// Targets that this version writes.
const ADAPTERS: [(&str, &str, &str); 2] =
    [("agents-md", "AGENTS.md", "adapter-agents-md"), ("claude", "CLAUDE.md", "adapter-claude")];

/// One generated file.
struct File {
    /// Relative to the root, with `/`.
    path: String,
    mode: Mode,
    block: Block,
}

/// What became of one file.
#[derive(Clone, Debug)]
pub struct Synced {
    /// Relative to the root, with `/`.
    pub path: String,
    /// What became of it; the error leaves it as it was.
    pub outcome: Result<Outcome, Failure>,
    /// The digest of the block.
    pub digest: String,
}

impl Synced {
    /// `created`, `updated`, `unchanged`, `unmanaged` or `conflict`.
    pub fn status(&self) -> &'static str {
        match &self.outcome {
            Ok(Outcome::Created) => "created",
            Ok(Outcome::Updated { .. }) => "updated",
            Ok(Outcome::Unchanged) => "unchanged",
            Err(failure) if failure.code == Code::GENERATED_FILE_UNMANAGED => "unmanaged",
            Err(_) => "conflict",
        }
    }

    fn to_json(&self) -> Json {
        let mut json = Map::new();
        json.insert("path".to_owned(), self.path.as_str().into());
        json.insert("status".to_owned(), self.status().into());
        json.insert("digest".to_owned(), self.digest.as_str().into());
        match &self.outcome {
            Ok(Outcome::Updated { hand_edited: true }) => {
                json.insert("handEdited".to_owned(), true.into());
            }
            Err(failure) => {
                json.insert("code".to_owned(), failure.code.name.into());
                json.insert("reason".to_owned(), failure.text.as_str().into());
            }
            Ok(_) => {}
        }
        Json::Object(json)
    }
}

/// What a sync did, or would do.
#[derive(Clone, Debug)]
pub struct SyncReport {
    /// The targets.
    pub targets: Vec<String>,
    /// The files, in the order they are handled.
    pub files: Vec<Synced>,
}

impl SyncReport {
    /// Whether any file changed, or would.
    pub fn changed(&self) -> bool {
        let changed = |file: &Synced| matches!(file.outcome, Ok(Outcome::Created | Outcome::Updated { .. }));
        self.files.iter().any(changed)
    }

    /// The files that were left as they are although a block belongs into them.
    pub fn refused(&self) -> impl Iterator<Item = (&Synced, &Failure)> {
        self.files.iter().filter_map(|file| Some((file, file.outcome.as_ref().err()?)))
    }

    /// `{version, targets, changed, files: [{path, status, digest}]}`.
    pub fn to_json(&self) -> Json {
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "targets": self.targets,
            "changed": self.changed(),
            "files": self.files.iter().map(Synced::to_json).collect::<Vec<_>>(),
        })
    }
}

/// One compared file.
#[derive(Clone, Debug)]
pub struct Compared {
    /// Relative to the root, with `/`.
    pub path: String,
    /// How it stands.
    pub verdict: Verdict,
}

/// What a check found.
#[derive(Clone, Debug)]
pub struct CheckReport {
    /// The files, in the order of the table.
    pub files: Vec<Compared>,
}

impl CheckReport {
    /// Whether every file is as a sync would leave it.
    pub fn ok(&self) -> bool {
        self.files.iter().all(|file| file.verdict.state == State::Current)
    }

    /// Whether a sync would change anything, were it only the version that files say they were written by.
    pub fn is_behind(&self) -> bool {
        let is_older = |file: &Compared| {
            file.verdict.version.as_deref().is_some_and(|version| version != env!("CARGO_PKG_VERSION"))
        };
        !self.ok() || self.files.iter().any(is_older)
    }

    /// A warning for each file that is not.
    pub fn findings(&self) -> Vec<Finding> {
        self.files.iter().filter_map(finding).collect()
    }

    /// `{ok, version, counts, files, issues}`.
    pub fn to_json(&self) -> Json {
        let count = |name: &str| self.files.iter().filter(|file| file.verdict.state.name() == name).count();
        let issues = self.findings();
        json!({
            "ok": self.ok(),
            "version": env!("CARGO_PKG_VERSION"),
            "counts": {
                "current": count("current"),
                "stale": count("stale"),
                "missing": count("missing"),
                "unmanaged": count("unmanaged"),
            },
            "files": self.files.iter().map(|file| file.verdict.to_json(&file.path)).collect::<Vec<_>>(),
            "issues": issues.iter().map(Finding::to_json).collect::<Vec<_>>(),
        })
    }
}

fn finding(file: &Compared) -> Option<Finding> {
    let Compared { path, verdict } = file;
    let (code, text) = match verdict.state {
        State::Current => return None,
        State::Missing => ("agent-instructions-missing", format!("{path} is missing")),
        State::Unmanaged => ("agent-instructions-unmanaged", format!("{path} has no block of ours")),
        State::Stale(_) => ("agent-instructions-stale", format!("{path} is not what this version writes")),
    };
    let remedy = match verdict.state {
        State::Unmanaged => {
            "`workfile agents sync` adds it, or says that `--force` has to write over the file"
        }
        _ => "`workfile agents sync` writes it",
    };
    let mut finding = Finding::new(Severity::Warning, MODULE, code, text, remedy);
    finding.file = Some(path.clone());
    let text = |value: Option<&str>| value.map_or(Json::Null, Json::from);
    finding.put("path", path.as_str()).put("status", verdict.state.name());
    finding.put("reason", text(verdict.state.reason())).put("current", text(verdict.current.as_deref()));
    finding.put("expected", verdict.expected.as_str());
    if let Some(declared) = &verdict.declared {
        finding.put("declared", declared.as_str());
    }
    if let Some(version) = &verdict.version {
        finding.put("version", version.as_str());
    }
    Some(finding)
}

/// The targets that are asked for, else the configured ones, without those that this version has no adapter for.
///
/// `AGENT_TARGET_UNSUPPORTED` for a name that is asked for and cannot be written.
pub fn targets(workspace: &Workspace, asked: Option<&[String]>) -> Result<Vec<String>, Failure> {
    let known = |name: &str| ADAPTERS.iter().any(|(target, ..)| *target == name);
    if let Some(asked) = asked {
        if let Some(other) = asked.iter().find(|name| !known(name)) {
            let names: Vec<&str> = ADAPTERS.iter().map(|(target, ..)| *target).collect();
            let text = format!("this version writes nothing for the target `{other}`");
            let failure = Failure::new(Code::AGENT_TARGET_UNSUPPORTED, text).with("target", other.as_str());
            return Err(failure.with("allowed", names));
        }
        return Ok(asked.to_vec());
    }
    let configured = workspace.raw["agents"]["targets"].as_array().into_iter().flatten();
    Ok(configured.filter_map(Json::as_str).filter(|name| known(name)).map(str::to_owned).collect())
}

/// Finds out what a sync of these targets would do, file by file.
pub fn plan(
    workspace: &Workspace,
    targets: &[String],
    foreign: Foreign,
) -> Vec<(String, Result<Planned, Failure>)> {
    let one = |file: File| {
        let planned = managed::plan(&workspace.root, &file.path, &file.block, file.mode, foreign);
        (file.path, planned)
    };
    files(workspace, targets).into_iter().map(one).collect()
}

/// Brings the files of these targets up to date.
pub fn sync(
    workspace: &Workspace,
    targets: Vec<String>,
    foreign: Foreign,
    apply: Apply,
) -> Result<SyncReport, Failure> {
    writable(workspace)?;
    let one = |file: File| {
        let outcome = managed::sync(&workspace.root, &file.path, &file.block, file.mode, foreign, apply);
        Synced { digest: file.block.digest(), path: file.path, outcome }
    };
    let files = files(workspace, &targets).into_iter().map(one).collect();
    Ok(SyncReport { targets, files })
}

/// Compares the files of these targets. Nothing is written.
pub fn check(workspace: &Workspace, targets: &[String]) -> CheckReport {
    let one = |file: File| {
        let text = managed::read(&workspace.root, &file.path);
        // What cannot be read has no block of ours.
        let verdict = match &text {
            Ok(found) if found.bytes.is_none() => compare(None, &file.block),
            Ok(found) => compare(Some(found.text().unwrap_or_default()), &file.block),
            Err(_) => compare(Some(""), &file.block),
        };
        Compared { path: file.path, verdict }
    };
    CheckReport { files: files(workspace, targets).into_iter().map(one).collect() }
}

fn writable(workspace: &Workspace) -> Result<(), Failure> {
    workspace.module_writable(MODULE, is_enabled(&workspace.raw, MODULE))
}

/// The table of files.
fn files(workspace: &Workspace, targets: &[String]) -> Vec<File> {
    let setting = |key: &str| {
        let path = workspace.raw["agents"][key].as_str().unwrap_or_default();
        path.trim_start_matches("./").trim_end_matches('/').to_owned()
    };
    let (protocol, workflows) = (setting("canonicalInstructions"), setting("workflowsPath"));
    let html = |kind, text: &str| Block::new(kind, Style::Html, text);
    let mut files = vec![File {
        path: protocol.clone(),
        mode: Mode::Append,
        block: html("canonical-agent-protocol", &texts::protocol(workspace)),
    }];
    for (name, kind, text) in texts::WORKFLOWS {
        let path = format!("{workflows}/{name}.md");
        files.push(File { path, mode: Mode::Dedicated, block: html(kind, text) });
    }
    for (target, path, kind) in ADAPTERS {
        if targets.iter().any(|name| name == target) {
            let text = texts::adapter(&protocol);
            files.push(File { path: path.to_owned(), mode: Mode::Append, block: html(kind, &text) });
        }
    }
    files
}
