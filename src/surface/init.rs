//! `init`: a workspace in an existing repository.
//!
//! A [`Plan`] is made first and looks at everything it is going to touch, so that a refusal comes before the first
//! write; applying it adds files and folders and overwrites nothing unless it was asked to.

mod detect;
mod render;

use crate::clock;
use crate::failure::{Code, Failure};
use crate::fs::{self, Created, read_regular};
use crate::surface::agents;
use crate::surface::managed::{Apply, Foreign, Outcome};
use crate::workspace::{self, MODULE_FILE, OBJECT_FILE, SCHEMA_VERSION, Workspace};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// Folders of a workspace that no setting names.
const FOLDERS: [&str; 2] = [".project/specs", ".project/migrations"];

const VERSION: &str = ".project/VERSION";
const GITIGNORE: &str = ".gitignore";

/// Largest `.gitignore` and `VERSION` that are read.
const FILE_BYTES: u64 = 1 << 20;

/// What was asked for; what is `None` is detected.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    /// The project's name.
    pub name: Option<String>,
    /// The areas of cards.
    pub areas: Option<Vec<String>>,
    /// Patterns of documents.
    pub docs: Option<Vec<String>>,
    /// Targets of agent instructions.
    pub agents: Option<Vec<String>>,
    /// Targets of continuous integration.
    pub ci: Option<Vec<String>>,
}

/// What becomes of a configuration that is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It is a conflict.
    Keep,
    /// It is overwritten.
    Overwrite,
}

/// What the configuration will say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Values {
    /// The project's name.
    pub name: String,
    /// The areas of cards, at least one.
    pub areas: Vec<String>,
    /// Patterns of documents, at least one.
    pub docs: Vec<String>,
    /// Targets of agent instructions.
    pub agents: Vec<String>,
    /// Targets of continuous integration.
    pub ci: Vec<String>,
}

impl Values {
    /// Each value with the name of its flag, as people read it.
    pub fn rows(&self) -> [(&'static str, String); 5] {
        let list = |items: &[String]| if items.is_empty() { "none".to_owned() } else { items.join(", ") };
        [
            ("name", self.name.clone()),
            ("areas", list(&self.areas)),
            ("docs", list(&self.docs)),
            ("agents", list(&self.agents)),
            ("ci", list(&self.ci)),
        ]
    }
}

/// What happens to a file or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It is not there yet.
    Created,
    /// It gets other content.
    Updated,
    /// It is right as it is.
    Unchanged,
}

impl Status {
    /// As it is printed.
    pub fn word(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::Unchanged => "unchanged",
        }
    }
}

/// One file of a plan.
#[derive(Clone, Debug)]
pub struct File {
    /// Relative to the root, with `/`.
    pub path: String,
    /// What happens to it.
    pub status: Status,
    /// What it will hold.
    pub bytes: Vec<u8>,
}

/// Everything that an `init` does.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The root, absolute.
    pub root: PathBuf,
    /// What the configuration will say.
    pub values: Values,
    /// Which of the values were detected, by the name of their flag.
    pub detected: Vec<&'static str>,
    /// Every folder, parents first, relative to the root.
    pub folders: Vec<(String, Status)>,
    /// Every file that this room writes itself.
    pub files: Vec<File>,
    /// Every file of the instructions for agents, which a sync of them writes.
    pub instructions: Vec<File>,
    /// The workspace as it will be.
    workspace: Workspace,
    existing: Existing,
}

/// Finds out what an `init` in `root` would do. Nothing is written.
///
/// `INIT_FILE_CONFLICT` with the files that are there already, unless they may be overwritten, and for whatever stands in
/// a folder's place; `CONFIG_AMBIGUOUS` when both forms of a configuration would be left;
/// `RECORD_PATH_ESCAPES_WORKSPACE` for a link that leads out of the root.
pub fn plan(root: &Path, wishes: Wishes, existing: Existing) -> Result<Plan, Failure> {
    let defaults = workspace::defaults();
    let (values, detected) = values(root, wishes, &defaults);
    let is_there = |name: &str| root.join(name).symlink_metadata().is_ok();
    let taken: Vec<&str> =
        [MODULE_FILE, OBJECT_FILE, VERSION].into_iter().filter(|name| is_there(name)).collect();
    if existing == Existing::Keep && !taken.is_empty() {
        let text = format!(
            "{} is a workspace already; --force would overwrite {}",
            root.display(),
            taken.join(" and ")
        );
        return Err(Failure::new(Code::INIT_FILE_CONFLICT, text).with("files", taken));
    }
    if taken.contains(&MODULE_FILE) && taken.contains(&OBJECT_FILE) {
        let text =
            format!("{MODULE_FILE} and {OBJECT_FILE} are both in {}; one of them must go", root.display());
        return Err(Failure::new(Code::CONFIG_AMBIGUOUS, text).with("files", vec![MODULE_FILE, OBJECT_FILE]));
    }
    if let Some(folder) = taken.iter().find(|name| root.join(name).is_dir()) {
        return Err(in_the_way(root, folder));
    }
    let mut folders = Vec::new();
    for folder in layout(&defaults) {
        let status = folder_status(root, &folder)?;
        folders.push((folder, status));
    }
    let mut files = Vec::new();
    files.extend(gitignore(root, &defaults)?);
    let (config, text) = if taken.contains(&OBJECT_FILE) {
        (OBJECT_FILE, render::object(&values))
    } else {
        (MODULE_FILE, render::module(&values))
    };
    for (path, bytes) in [(config, text.into_bytes()), (VERSION, version(root)?)] {
        let status = if taken.contains(&path) { Status::Updated } else { Status::Created };
        files.push(File { path: path.to_owned(), status, bytes });
    }
    let workspace = Workspace::proposed(root, render::data(&values))?;
    let instructions = instructions(&workspace, existing)?;
    Ok(Plan { root: root.to_owned(), values, detected, folders, files, instructions, workspace, existing })
}

impl Existing {
    const fn foreign(self) -> Foreign {
        match self {
            Self::Keep => Foreign::Refuse,
            Self::Overwrite => Foreign::Overwrite,
        }
    }
}

/// What a sync of the instructions for agents will do.
fn instructions(workspace: &Workspace, existing: Existing) -> Result<Vec<File>, Failure> {
    let targets = agents::targets(workspace, None)?;
    let (mut files, mut taken) = (Vec::new(), Vec::new());
    for (path, planned) in agents::plan(workspace, &targets, existing.foreign()) {
        match planned {
            Ok(planned) => {
                let status = match planned.outcome {
                    Outcome::Created => Status::Created,
                    Outcome::Updated { .. } => Status::Updated,
                    Outcome::Unchanged => Status::Unchanged,
                };
                files.push(File { path, status, bytes: planned.text.into_bytes() });
            }
            Err(failure) if failure.code == Code::GENERATED_FILE_UNMANAGED => taken.push(path),
            Err(failure) => return Err(failure),
        }
    }
    if taken.is_empty() {
        return Ok(files);
    }
    let text = format!("{} has other content; --force would overwrite it", taken.join(" and "));
    Err(Failure::new(Code::INIT_FILE_CONFLICT, text).with("files", taken))
}

impl Plan {
    /// Everything that is written.
    pub fn all_files(&self) -> impl Iterator<Item = &File> {
        self.files.iter().chain(&self.instructions)
    }

    /// Makes the folders and writes the files.
    pub fn apply(&self) -> Result<(), Failure> {
        for (folder, _) in self.folders.iter().filter(|(_, status)| *status == Status::Created) {
            fs::make_folder(&self.root, &self.root.join(folder))?;
        }
        for file in &self.files {
            let path = self.root.join(&file.path);
            match file.status {
                Status::Unchanged => {}
                Status::Updated => fs::replace(&self.root, &path, &file.bytes)?,
                Status::Created => {
                    if fs::create(&self.root, &path, &file.bytes)? == Created::Taken {
                        let text = format!("{} was made by somebody else meanwhile", path.display());
                        return Err(Failure::new(Code::INIT_FILE_CONFLICT, text)
                            .with("files", vec![file.path.as_str()]));
                    }
                }
            }
        }
        // One file may be two of them by a link, so they are made one after another and not as planned.
        let targets = agents::targets(&self.workspace, None)?;
        let report = agents::sync(&self.workspace, targets, self.existing.foreign(), Apply::Write)?;
        let mut refused = report.refused();
        refused.next().map_or(Ok(()), |(_, failure)| Err(failure.clone()))
    }
}

/// What was asked for, and what was detected where nothing was.
fn values(root: &Path, wishes: Wishes, defaults: &Json) -> (Values, Vec<&'static str>) {
    let mut detected = Vec::new();
    let mut missing = |flag: &'static str, is_missing: bool| {
        if is_missing {
            detected.push(flag);
        }
    };
    missing("name", wishes.name.is_none());
    missing("areas", wishes.areas.is_none());
    missing("docs", wishes.docs.is_none());
    missing("agents", wishes.agents.is_none());
    missing("ci", wishes.ci.is_none());
    let folders = detect::folders(root);
    let or_default = |found: Vec<String>, key: [&str; 2]| {
        if found.is_empty() { texts(&defaults[key[0]][key[1]]) } else { found }
    };
    let values = Values {
        name: wishes.name.unwrap_or_else(|| {
            detect::name(root).unwrap_or_else(|| defaults["name"].as_str().unwrap_or_default().to_owned())
        }),
        areas: wishes.areas.unwrap_or_else(|| or_default(detect::areas(root, &folders), ["cards", "areas"])),
        docs: wishes.docs.unwrap_or_else(|| or_default(detect::docs(root, &folders), ["docs", "sources"])),
        agents: wishes.agents.unwrap_or_else(|| or_default(detect::agents(root), ["agents", "targets"])),
        ci: wishes.ci.unwrap_or_else(|| detect::ci(root)),
    };
    (values, detected)
}

fn texts(list: &Json) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(Json::as_str).map(str::to_owned).collect()
}

/// Every folder of a workspace with all its parents, parents first.
fn layout(defaults: &Json) -> BTreeSet<String> {
    let setting = |section: &str, key: &str| defaults[section][key].as_str().unwrap_or_default().to_owned();
    let mut wanted = vec![
        setting("storage", "cache"),
        setting("cards", "archivePath"),
        setting("cards", "assetsPath"),
        setting("docs", "managedPath"),
        setting("changelog", "fragmentsPath"),
        setting("changelog", "releasesPath"),
        setting("agents", "workflowsPath"),
    ];
    let memory = setting("memory", "path");
    wanted.extend(texts(&defaults["memory"]["collections"]).iter().map(|name| format!("{memory}/{name}")));
    wanted.extend(FOLDERS.map(str::to_owned));
    let mut all = BTreeSet::new();
    for folder in wanted {
        all.extend(folder.match_indices('/').map(|(cut, _)| folder[..cut].to_owned()));
        all.insert(folder);
    }
    all
}

fn folder_status(root: &Path, folder: &str) -> Result<Status, Failure> {
    let path = root.join(folder);
    let found = match path.symlink_metadata() {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Status::Created),
        Err(error) => return Err(Failure::io("look at", &path, &error)),
    };
    if found.is_symlink() {
        fs::real_path(root, &path)?;
    }
    if path.is_dir() { Ok(Status::Unchanged) } else { Err(in_the_way(root, folder)) }
}

fn in_the_way(root: &Path, path: &str) -> Failure {
    let text = format!("{} is in the way; move it first", root.join(path).display());
    Failure::new(Code::INIT_FILE_CONFLICT, text).with("files", vec![path])
}

/// The `.gitignore` with a line for the cache; a file whose lines cover the cache already stays as it is.
fn gitignore(root: &Path, defaults: &Json) -> Result<Option<File>, Failure> {
    let path = root.join(GITIGNORE);
    if path.is_symlink() {
        let text =
            format!("{} is a link, which git does not follow; put a file in its place first", path.display());
        return Err(Failure::new(Code::INIT_FILE_CONFLICT, text).with("files", vec![GITIGNORE]));
    }
    let cache = defaults["storage"]["cache"].as_str().unwrap_or_default();
    match read_regular(&path, FILE_BYTES) {
        Ok(None) => Ok(Some(File {
            path: GITIGNORE.to_owned(),
            status: Status::Created,
            bytes: format!("{cache}/\n").into(),
        })),
        Ok(Some(old)) => Ok(Some(match render::gitignore(&old, cache) {
            Some(bytes) => File { path: GITIGNORE.to_owned(), status: Status::Updated, bytes },
            None => File { path: GITIGNORE.to_owned(), status: Status::Unchanged, bytes: old },
        })),
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Err(in_the_way(root, GITIGNORE)),
        Err(error) => Err(Failure::io("read", &path, &error)),
    }
}

/// A fresh `VERSION`; keys of the old one that are not ours stay.
fn version(root: &Path) -> Result<Vec<u8>, Failure> {
    let path = root.join(VERSION);
    let old = match read_regular(&path, FILE_BYTES) {
        Ok(old) => old.and_then(|bytes| serde_json::from_slice(&bytes).ok()),
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => return Err(in_the_way(root, VERSION)),
        Err(error) => return Err(Failure::io("read", &path, &error)),
    };
    let mut version = Map::from_iter([
        ("schemaVersion".to_owned(), json!(SCHEMA_VERSION)),
        ("createdWith".to_owned(), json!(concat!(env!("CARGO_PKG_NAME"), "@", env!("CARGO_PKG_VERSION")))),
        ("createdAt".to_owned(), json!(clock::now().timestamp())),
    ]);
    if let Some(Json::Object(old)) = old {
        for (key, value) in old {
            version.entry(key).or_insert(value);
        }
    }
    Ok(render::pretty(&Json::Object(version)).into_bytes())
}

#[cfg(test)]
mod tests;
