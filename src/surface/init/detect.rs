//! What a repository says about itself: its name, its parts, its documents and the tools it is set up for.
//!
//! Nothing that the repository ignores counts, links are not followed, and every look is limited: a folder of any size
//! costs no more than [`ENTRIES`] entries.

use crate::fs::read_regular;
use crate::path::one_line;
use ignore::{DirEntry, WalkBuilder};
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::path::Path;

/// Most entries that one look into a folder takes.
const ENTRIES: usize = 50_000;

/// How deep documents are looked for.
const DOCS_DEPTH: usize = 8;

/// Most areas that are proposed.
const AREAS: usize = 40;

/// Longest name that is proposed, in characters.
const NAME: usize = 100;

/// Largest manifest that is read.
const MANIFEST_BYTES: u64 = 1 << 20;

/// Where a folder says what is to be ignored.
const RULES: [&str; 3] = [".gitignore", ".ignore", ".git/info/exclude"];

/// Folders whose folders are parts of the project.
const CONTAINERS: [&str; 3] = ["apps", "packages", "crates"];

/// Folders at the top that are parts of the project themselves.
const PARTS: [&str; 20] = [
    "api", "app", "backend", "cli", "client", "common", "core", "desktop", "frontend", "infra", "mobile",
    "sdk", "server", "services", "shared", "tools", "ui", "web", "website", "worker",
];

/// Folders at the top that hold documents.
const DOCS: [&str; 4] = ["docs", "doc", "documentation", "wiki"];

/// Folders that hold other people's work or nobody's, ignored or not.
const FOREIGN: [&str; 7] = ["node_modules", "vendor", "third_party", "target", "dist", "build", "out"];

/// Files that say which agents a repository is set up for.
const AGENTS: [(&str, &[&str]); 4] = [
    ("agents-md", &["AGENTS.md"]),
    ("claude", &["CLAUDE.md", ".claude"]),
    ("cursor", &[".cursor", ".cursorrules"]),
    ("copilot", &[".github/copilot-instructions.md"]),
];

/// Files that say which continuous integration a repository has.
const CI: [(&str, &[&str]); 3] = [
    ("github", &[".github/workflows"]),
    ("gitlab", &[".gitlab-ci.yml"]),
    (
        "generic",
        &[
            ".circleci",
            ".buildkite",
            ".travis.yml",
            "Jenkinsfile",
            "azure-pipelines.yml",
            "bitbucket-pipelines.yml",
        ],
    ),
];

/// The folders directly in a folder that the repository does not ignore.
pub(super) fn folders(folder: &Path) -> BTreeSet<String> {
    let is_dir = |entry: &DirEntry| entry.depth() == 1 && entry.file_type().is_some_and(|kind| kind.is_dir());
    let names =
        walk(folder, 1).filter(is_dir).filter_map(|entry| entry.file_name().to_str().map(str::to_owned));
    names.filter(|name| !FOREIGN.contains(&&**name)).collect()
}

/// Whether what a folder says of ignored entries can be read by a reader that follows links and takes no bound: git
/// does not follow such a link either, and it may lead to a device without an end.
fn has_plain_rules(folder: &Path) -> bool {
    let is_plain = |name: &str| match folder.join(name).symlink_metadata() {
        Ok(found) => found.is_file() && found.len() <= MANIFEST_BYTES,
        Err(_) => true,
    };
    RULES.into_iter().all(is_plain)
}

/// What a folder holds, hidden and ignored entries left out.
fn walk(folder: &Path, depth: usize) -> impl Iterator<Item = DirEntry> {
    let foreign = |entry: &DirEntry| entry.file_name().to_str().is_some_and(|name| FOREIGN.contains(&name));
    let rules = folder.ancestors().all(has_plain_rules);
    WalkBuilder::new(folder)
        .max_depth(Some(depth))
        .require_git(false)
        .git_global(false)
        .parents(rules)
        .ignore(rules)
        .git_ignore(rules)
        .git_exclude(rules)
        .filter_entry(move |entry| entry.depth() == 0 || !foreign(entry) && has_plain_rules(entry.path()))
        .build()
        .take(ENTRIES)
        .filter_map(Result::ok)
}

/// The parts of the project, lower case, those of `apps`, `packages` and `crates` first; empty when there are none.
pub(super) fn areas(root: &Path, folders: &BTreeSet<String>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let below = CONTAINERS
        .iter()
        .filter(|name| folders.contains(**name))
        .flat_map(|name| self::folders(&root.join(name)));
    let top = PARTS.iter().filter(|name| folders.contains(**name)).map(|name| (*name).to_owned());
    for name in below.chain(top) {
        let name = name.to_lowercase();
        let is_plain = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'));
        if is_plain && !found.contains(&name) && found.len() < AREAS {
            found.push(name);
        }
    }
    found
}

/// Patterns of the documents that are there, and of the workspace's own; empty when there are none.
pub(super) fn docs(root: &Path, folders: &BTreeSet<String>) -> Vec<String> {
    let mut found = Vec::new();
    if root.join("README.md").is_file() {
        found.push("README.md".to_owned());
    }
    let is_document = |entry: DirEntry| {
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        is_file && entry.path().extension().is_some_and(|ending| ending == "md")
    };
    for name in DOCS.iter().filter(|name| folders.contains(**name)) {
        if walk(&root.join(name), DOCS_DEPTH).any(is_document) {
            found.push(format!("{name}/**/*.md"));
        }
    }
    if !found.is_empty() {
        found.push(".project/specs/**/*.md".to_owned());
    }
    found
}

/// The agents that the repository is set up for; empty when there are none.
pub(super) fn agents(root: &Path) -> Vec<String> {
    present(root, &AGENTS)
}

/// The continuous integration that the repository has; empty when there is none.
pub(super) fn ci(root: &Path) -> Vec<String> {
    present(root, &CI)
}

fn present(root: &Path, table: &[(&str, &[&str])]) -> Vec<String> {
    let is_there = |files: &[&str]| files.iter().any(|file| root.join(file).exists());
    table.iter().filter(|(_, files)| is_there(files)).map(|(target, _)| (*target).to_owned()).collect()
}

/// The project's name: a manifest's without its scope, else the folder's.
pub(super) fn name(root: &Path) -> Option<String> {
    let manifest = |file: &str, read: fn(&str) -> Option<String>| {
        let bytes = read_regular(&root.join(file), MANIFEST_BYTES).ok()??;
        usable(&read(std::str::from_utf8(&bytes).ok()?)?)
    };
    manifest("package.json", package_json)
        .or_else(|| manifest("Cargo.toml", |text| toml_name(text, &["package"])))
        .or_else(|| manifest("pyproject.toml", |text| toml_name(text, &["project", "tool.poetry"])))
        .or_else(|| manifest("go.mod", go_module))
        .or_else(|| usable(&root.file_name()?.to_string_lossy()))
}

/// A name on one line, of a length that somebody may have meant.
fn usable(name: &str) -> Option<String> {
    let name = one_line(name);
    let fits = !name.is_empty() && name.chars().count() <= NAME && !name.chars().any(char::is_control);
    fits.then_some(name)
}

fn package_json(text: &str) -> Option<String> {
    let manifest: Json = serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(text)).ok()?;
    let name = manifest.get("name")?.as_str()?;
    Some(name.rsplit('/').next().unwrap_or(name).to_owned())
}

/// `name = "…"` in one of these tables.
fn toml_name(text: &str, tables: &[&str]) -> Option<String> {
    let mut inside = false;
    for line in text.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            inside = header.split_once(']').is_some_and(|(table, _)| tables.contains(&table.trim()));
            continue;
        }
        let value = line.strip_prefix("name").map(str::trim_start).and_then(|rest| rest.strip_prefix('='));
        if let Some(value) = value.map(str::trim_start).filter(|_| inside) {
            let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
            return value[1..].split(quote).next().map(str::to_owned);
        }
    }
    None
}

/// The last part of a Go module's path that is not a major version.
fn go_module(text: &str) -> Option<String> {
    let path = text.lines().find_map(|line| line.trim().strip_prefix("module"))?;
    let path = path.split("//").next().unwrap_or(path).trim().trim_matches('"');
    let is_major = |part: &str| {
        part.strip_prefix('v').is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    };
    path.rsplit('/').find(|part| !is_major(part)).map(str::to_owned)
}
