//! `claude check`: whether the files are what an install would write, and whether the hooks can run.

use super::binary::{Form, Reach, Runtime, Surroundings};
use super::ledger::{self as ledger_file, Ledger};
use super::servers::{self, Servers};
use super::settings::Settings;
use super::texts::{TEXTS, Text, protocol};
use super::{LOCAL_SETTINGS, PLUGIN_ID, SETTINGS, SKILL, retired};
use crate::activity::{ledger, session};
use crate::surface::managed::{self, State, Verdict};
use crate::workspace::{Finding, Severity};
use serde_json::{Map, Value as Json, json};
use std::path::Path;

/// What the hooks write to; a link anywhere in it and they write nothing.
const WRITTEN: [&str; 2] = [session::FOLDER_PATH, ledger::FILE];

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// As an install would write it.
    Current,
    /// Behind, or changed by hand.
    Stale,
    /// Not there.
    Missing,
    /// An install cannot or may not write it.
    Unmanaged,
}

impl Status {
    const ALL: [Self; 4] = [Self::Current, Self::Stale, Self::Missing, Self::Unmanaged];

    /// As reports print it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Stale => "stale",
            Self::Missing => "missing",
            Self::Unmanaged => "unmanaged",
        }
    }

    const fn of(state: State) -> Self {
        match state {
            State::Current => Self::Current,
            State::Stale(_) => Self::Stale,
            State::Missing => Self::Missing,
            State::Unmanaged => Self::Unmanaged,
        }
    }
}

/// One file of a report.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Relative to the root, with `/`.
    pub path: String,
    /// What it is.
    pub status: Status,
    /// Why it is not current.
    pub reason: Option<String>,
    verdict: Option<Verdict>,
}

impl Entry {
    fn new(path: impl Into<String>, status: Status, reason: Option<String>) -> Self {
        Self { path: path.into(), status, reason, verdict: None }
    }

    fn to_json(&self) -> Json {
        if let Some(verdict) = &self.verdict {
            return verdict.to_json(&self.path);
        }
        let mut entry = Map::new();
        entry.insert("path".to_owned(), self.path.as_str().into());
        entry.insert("status".to_owned(), self.status.name().into());
        if let Some(reason) = &self.reason {
            entry.insert("reason".to_owned(), reason.as_str().into());
        }
        Json::Object(entry)
    }
}

/// Whether an install would bring anything up to date here, were it only the version that files say they were written by.
pub fn is_behind(root: &Path, report: &Report) -> bool {
    let is_older =
        |version: Option<&str>| version.is_some_and(|version| version != env!("CARGO_PKG_VERSION"));
    let ledger = ledger(root);
    let mut stamps = report.files.iter().filter_map(|file| file.verdict.as_ref()?.version.as_deref());
    !report.ok() || stamps.any(|version| is_older(Some(version))) || is_older(ledger.version())
}

/// The ledger; what cannot be read as one lists nothing.
fn ledger(root: &Path) -> Ledger {
    let file = managed::read(root, ledger_file::PATH).ok();
    Ledger::read(file.as_ref().and_then(|file| file.bytes.as_deref())).unwrap_or_default()
}

/// The module that findings are reported under.
const MODULE: &str = "claude";

fn about(severity: Severity, code: &'static str, file: &str, what: String, remedy: &str) -> Finding {
    let mut finding = Finding::new(severity, MODULE, code, what, remedy);
    finding.file = Some(file.to_owned());
    finding
}

fn warning(code: &'static str, file: &str, what: String, remedy: &str) -> Finding {
    about(Severity::Warning, code, file, what, remedy)
}

/// Whether this repository has, or once had, the surface installed.
pub fn is_installed(root: &Path) -> bool {
    let has = |path: &str| managed::read(root, path).is_ok_and(|file| file.bytes.is_some());
    has(ledger_file::PATH) || TEXTS.iter().any(|text| has(&text.installed_path()))
}

/// How a repository compares with an install.
#[derive(Clone, Debug)]
pub struct Report {
    /// The files.
    pub files: Vec<Entry>,
    /// The registered command, resolved here.
    pub runtime: Runtime,
    /// What to know.
    pub issues: Vec<Finding>,
}

impl Report {
    /// Whether every file is current. The runtime is not in it: whether a name is on `PATH` differs between two people
    /// with one checkout.
    pub fn ok(&self) -> bool {
        self.behind() == 0
    }

    /// How many files are not current.
    pub fn behind(&self) -> usize {
        self.files.iter().filter(|file| file.status != Status::Current).count()
    }

    /// `{module, ok, counts, runtime, files, issues}`.
    pub fn to_json(&self) -> Json {
        let count = |status| self.files.iter().filter(|file| file.status == status).count();
        let counts: Map<String, Json> =
            Status::ALL.into_iter().map(|status| (status.name().to_owned(), count(status).into())).collect();
        json!({
            "module": "claude",
            "ok": self.ok(),
            "counts": counts,
            "runtime": self.runtime.to_json(),
            "files": self.files.iter().map(Entry::to_json).collect::<Vec<_>>(),
            "issues": self.issues.iter().map(Finding::to_json).collect::<Vec<_>>(),
        })
    }
}

/// Compares the repository at `root`. Nothing is written.
pub fn check(root: &Path, around: &Surroundings) -> Report {
    let form = Form::of(root);
    let protocol = protocol(root);
    let text = |text| text_entry(root, text, protocol.as_deref());
    let mut files: Vec<Entry> = TEXTS.iter().map(text).collect();
    if retired::find(root).is_some_and(|found| !found.is_edited) {
        files.push(Entry::new(retired::PATH, Status::Stale, Some("retired".to_owned())));
    }
    files.push(server_entry(root, form, &ledger(root)));
    let shared = Switches::of(root, SETTINGS);
    files.push(settings_entry(root, form));
    let local = Switches::of(root, LOCAL_SETTINGS);
    let plugin = shared.plugin || local.plugin;
    let form = if plugin && !shared.hooks { Form::Plugin } else { form };
    let runtime = Runtime::resolve(root, form, around);
    let mut issues: Vec<Finding> = files.iter().filter_map(surface_issue).collect();
    issues.extend(runtime_issue(&runtime));
    if plugin && shared.hooks {
        let what = format!(
            "the plugin {PLUGIN_ID} is switched on for this project and its hooks are installed too: both run"
        );
        let remedy = "`workfile claude uninstall` leaves the plugin's";
        issues.push(warning("claude-hook-duplicate", SETTINGS, what, remedy));
    }
    for (switches, file) in [(&shared, SETTINGS), (&local, LOCAL_SETTINGS)] {
        if switches.disabled {
            let what = format!("`disableAllHooks` is true in {file}: no hook runs");
            issues.push(warning("claude-hooks-disabled", file, what, "take it out"));
        }
    }
    let is_link = |path: &&str| root.join(path).symlink_metadata().is_ok_and(|found| found.is_symlink());
    let parts = |path: &'static str| path.match_indices('/').map(|(cut, _)| &path[..cut]).chain([path]);
    if let Some(link) = WRITTEN.into_iter().flat_map(parts).find(is_link) {
        let what = format!("{link} is a link, so the hooks write nothing there");
        issues.push(warning("claude-cache-linked", link, what, "delete the link"));
    }
    Report { files, runtime, issues }
}

/// Whether the skill is installed and does not quote the protocol as it is now.
pub fn is_skill_behind(root: &Path) -> bool {
    let skill = TEXTS.iter().find(|text| text.installed_path() == SKILL);
    skill.is_some_and(|skill| text_entry(root, skill, protocol(root).as_deref()).status == Status::Stale)
}

fn text_entry(root: &Path, text: &Text, protocol: Option<&str>) -> Entry {
    let path = text.installed_path();
    let file = match managed::read(root, &path) {
        Ok(file) => file,
        Err(failure) => return Entry::new(path, Status::Unmanaged, Some(failure.text)),
    };
    // What is not UTF-8 has no block.
    let content = file.bytes.as_ref().map(|_| file.text().unwrap_or_default());
    let verdict = managed::compare(content, &text.block(protocol));
    let reason = verdict.state.reason().map(str::to_owned);
    let status = Status::of(verdict.state);
    Entry { verdict: Some(verdict), ..Entry::new(path, status, reason) }
}

fn server_entry(root: &Path, form: Form, ledger: &Ledger) -> Entry {
    let entry = |status, reason: Option<String>| Entry::new(servers::PATH, status, reason);
    let file = match managed::read(root, servers::PATH) {
        Ok(file) => file,
        Err(failure) => return entry(Status::Unmanaged, Some(failure.text)),
    };
    let Some(bytes) = &file.bytes else { return entry(Status::Missing, None) };
    match Servers::read(bytes) {
        Err(problem) => entry(Status::Unmanaged, Some(problem.to_string())),
        Ok(servers) => match servers.drift(form, ledger) {
            drift if drift.is_empty() => entry(Status::Current, None),
            drift => entry(Status::Stale, Some(drift.join(", "))),
        },
    }
}

fn settings_entry(root: &Path, form: Form) -> Entry {
    let entry = |status, reason: Option<String>| Entry::new(SETTINGS, status, reason);
    let file = match managed::read(root, SETTINGS) {
        Ok(file) => file,
        Err(failure) => return entry(Status::Unmanaged, Some(failure.text)),
    };
    let Some(bytes) = &file.bytes else { return entry(Status::Missing, None) };
    match Settings::read(bytes) {
        Err(problem) => entry(Status::Unmanaged, Some(problem.to_string())),
        Ok(settings) => match settings.drift(form.command()) {
            drift if drift.is_empty() => entry(Status::Current, None),
            drift => entry(Status::Stale, Some(drift.join(", "))),
        },
    }
}

/// What a settings file says besides the wiring; nothing when it cannot be read.
#[derive(Default)]
pub(super) struct Switches {
    pub(super) disabled: bool,
    pub(super) plugin: bool,
    pub(super) hooks: bool,
}

impl Switches {
    pub(super) fn of(root: &Path, path: &str) -> Self {
        let bytes = managed::read(root, path).ok().and_then(|file| file.bytes).unwrap_or_default();
        Settings::read(&bytes).map_or_else(
            |_| Self::default(),
            |settings| Self {
                disabled: settings.disables_hooks(),
                plugin: settings.enables_plugin(PLUGIN_ID),
                hooks: settings.has_hooks(),
            },
        )
    }
}

fn surface_issue(file: &Entry) -> Option<Finding> {
    let because = file.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    let (severity, code, what, remedy) = match file.status {
        Status::Current => return None,
        Status::Missing => (
            Severity::Info,
            "claude-surface-missing",
            "is not installed",
            "`workfile claude install` writes it",
        ),
        Status::Stale => {
            let what = "is not what an install writes";
            (
                Severity::Warning,
                "claude-surface-stale",
                what,
                "`workfile claude install` brings it up to date",
            )
        }
        Status::Unmanaged if file.reason.is_some() => {
            let remedy = "correct it, then `workfile claude install` writes its part";
            (Severity::Warning, "claude-surface-unmanaged", "cannot be kept up to date", remedy)
        }
        Status::Unmanaged => {
            let remedy = "move it away, or `workfile claude install --force` writes over it";
            (Severity::Warning, "claude-surface-unmanaged", "cannot be kept up to date", remedy)
        }
    };
    let what = format!("{} {what}{because}", file.path);
    Some(about(severity, code, &file.path, what, remedy))
}

fn runtime_issue(runtime: &Runtime) -> Option<Finding> {
    let (code, remedy) = match runtime.reach {
        Reach::Current => return None,
        Reach::Unreachable => ("claude-hook-unreachable", "put its folder on the PATH"),
        Reach::OtherBuild => ("claude-hook-other-build", "install this build in its place, or run that one"),
    };
    Some(warning(code, SETTINGS, runtime.warning()?, remedy))
}
