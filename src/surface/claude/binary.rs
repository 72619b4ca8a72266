//! Which binary the hooks name, and whether it is the one that is running.
//!
//! The bare name, found on `PATH`, is portable: the settings file is committed. A copy that the repository vendors wins
//! when it is there. The question is asked once an install, so running it again follows the file in either direction.

use super::stamp::Stamp;
use serde_json::{Value as Json, json};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The program as a file of this platform.
const FILE: &str = if cfg!(windows) { "workfile.exe" } else { "workfile" };

/// Where a project pins a build.
const VENDORED: &str = ".project/bin/workfile";

/// How a binary is registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The bare name on `PATH`.
    Path,
    /// The copy in the repository.
    Vendored,
    /// The plugin's launcher, which looks on `PATH`.
    Plugin,
}

impl Form {
    /// As reports print it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Vendored => "vendored",
            Self::Plugin => "plugin",
        }
    }

    /// The command of every handler.
    pub const fn command(self) -> &'static str {
        match self {
            Self::Path => "workfile",
            Self::Vendored => "${CLAUDE_PROJECT_DIR}/.project/bin/workfile",
            Self::Plugin => "${CLAUDE_PLUGIN_ROOT}/bin/workfile",
        }
    }

    /// The command of the server. In `.mcp.json` the host has no project folder to put in, so there is a default; a plugin's
    /// own file has one.
    pub const fn server_command(self) -> &'static str {
        match self {
            Self::Vendored => "${CLAUDE_PROJECT_DIR:-.}/.project/bin/workfile",
            Self::Path | Self::Plugin => self.command(),
        }
    }

    /// What an install registers in a repository.
    pub fn of(root: &Path) -> Self {
        if vendored(root).is_some() { Self::Vendored } else { Self::Path }
    }
}

/// The vendored binary; a Windows build counts everywhere, because the settings file is shared.
fn vendored(root: &Path) -> Option<PathBuf> {
    let plain = root.join(VENDORED);
    [plain.clone(), plain.with_extension("exe")].into_iter().find(|path| path.is_file())
}

/// The version of the vendored binary, when there is one with a stamp.
pub fn vendored_version(root: &Path) -> Option<String> {
    Some(Stamp::of_file(&vendored(root)?).ok()??.version)
}

/// What is known of the process that asks.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// The search path of its shell.
    pub path: Option<OsString>,
    /// The file it runs from.
    pub running: PathBuf,
}

impl Surroundings {
    /// Those of this process.
    pub fn of_process() -> Self {
        Self { path: std::env::var_os("PATH"), running: std::env::current_exe().unwrap_or_default() }
    }

    /// The program on the search path. Relative entries are left out: the host starts hooks in other directories.
    fn find(&self) -> Option<PathBuf> {
        let path = self.path.as_deref()?;
        let candidates = std::env::split_paths(path).filter(|folder| folder.is_absolute());
        candidates.map(|folder| folder.join(FILE)).find(|file| is_program(file))
    }
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

/// Whether the registered command runs, and what it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The running build.
    Current,
    /// Another build.
    OtherBuild,
    /// Nothing that can be started.
    Unreachable,
}

impl Reach {
    /// As reports print it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::OtherBuild => "other-build",
            Self::Unreachable => "unreachable",
        }
    }
}

/// The registered command and what it resolves to here. Not a file of the surface: settings can be right and the hook
/// not runnable, and those are two repairs.
#[derive(Clone, Debug)]
pub struct Runtime {
    /// How it is registered.
    pub form: Form,
    /// Whether it runs.
    pub reach: Reach,
    /// What stands behind the verdict; `None` for the running build itself.
    pub reason: Option<String>,
    /// The file that is found.
    pub resolved: Option<PathBuf>,
    /// Its version, when it carries a stamp.
    pub version: Option<String>,
}

impl Runtime {
    /// Resolves a form in a repository.
    pub fn resolve(root: &Path, form: Form, around: &Surroundings) -> Self {
        let resolved = match form {
            Form::Path | Form::Plugin => around.find(),
            Form::Vendored => vendored(root).filter(|file| is_program(file)),
        };
        let Some(resolved) = resolved else {
            let reason = match form {
                Form::Vendored => format!("{VENDORED} cannot be executed on this platform"),
                Form::Path | Form::Plugin => {
                    "no `workfile` on the PATH of this shell; a client that was not started \
                                              from a shell has a PATH of its own, which is not looked at"
                        .to_owned()
                }
            };
            let reach = Reach::Unreachable;
            return Self { form, reach, reason: Some(reason), resolved: None, version: None };
        };
        let running = Stamp::running();
        let (reach, reason, version) = if same_file(&resolved, &around.running) {
            (Reach::Current, None, Some(running.version))
        } else {
            match Stamp::of_file(&resolved) {
                Ok(Some(stamp)) if stamp == running => {
                    let reason = "another file of the same build";
                    (Reach::Current, Some(reason.to_owned()), Some(stamp.version))
                }
                Ok(Some(stamp)) => {
                    let reason = format!(
                        "this is {} ({}), the hooks run {} ({})",
                        running.version, running.commit, stamp.version, stamp.commit
                    );
                    (Reach::OtherBuild, Some(reason), Some(stamp.version))
                }
                Ok(None) => (Reach::OtherBuild, Some("it carries no build stamp".to_owned()), None),
                Err(error) => (Reach::OtherBuild, Some(format!("it cannot be read: {error}")), None),
            }
        };
        Self { form, reach, reason, resolved: Some(resolved), version }
    }

    /// What a person should know; `None` when the hooks run this build.
    pub fn warning(&self) -> Option<String> {
        let what = match (self.reach, &self.resolved) {
            (Reach::Current, _) => return None,
            (_, None) => "which cannot be started from here".to_owned(),
            (_, Some(path)) => format!("which is {} and not this build", path.display()),
        };
        let reason = self.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        Some(format!("the hooks run `{}`, {what}{reason}", self.form.command()))
    }

    /// Where the command is looked for, in words.
    pub const fn place(&self) -> &'static str {
        match self.form {
            Form::Path => "workfile on PATH",
            Form::Vendored => VENDORED,
            Form::Plugin => "workfile on PATH, through the plugin",
        }
    }

    /// `{command, args, form, status, reason, resolved, version}`; what is not known is `null`.
    pub fn to_json(&self) -> Json {
        json!({
            "command": self.form.command(),
            "args": ["hook"],
            "form": self.form.name(),
            "status": self.reach.name(),
            "reason": self.reason,
            "resolved": self.resolved.as_ref().map(|path| path.display().to_string()),
            "version": self.version,
        })
    }
}

#[cfg(unix)]
fn same_file(left: &Path, right: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |path: &Path| path.metadata().ok().map(|found| (found.dev(), found.ino()));
    identity(left).is_some_and(|left| identity(right) == Some(left))
}

#[cfg(not(unix))]
fn same_file(left: &Path, right: &Path) -> bool {
    left.canonicalize().is_ok_and(|left| right.canonicalize().is_ok_and(|right| left == right))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn program(path: &Path, content: &[u8]) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    }

    fn own() -> PathBuf {
        std::env::current_exe().unwrap()
    }

    fn look(root: &Path, path: &str) -> Runtime {
        let around = Surroundings { path: Some(path.into()), running: own() };
        Runtime::resolve(root, Form::of(root), &around)
    }

    #[test]
    fn a_vendored_binary_wins_while_it_is_there() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(Form::of(root.path()), Form::Path);
        let file = root.path().join(VENDORED);
        program(&file, &super::super::stamp::written("9.9.9", "abc"));
        assert_eq!(Form::of(root.path()), Form::Vendored);
        let found = look(root.path(), "");
        assert_eq!((found.reach, found.version.as_deref()), (Reach::OtherBuild, Some("9.9.9")));
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).unwrap();
        assert_eq!(look(root.path(), "").reach, Reach::Unreachable);
        std::fs::rename(&file, file.with_extension("exe")).unwrap();
        assert_eq!(Form::of(root.path()), Form::Vendored);
        std::fs::remove_file(file.with_extension("exe")).unwrap();
        std::fs::create_dir(&file).unwrap();
        assert_eq!(Form::of(root.path()), Form::Path);
    }

    #[test]
    fn the_path_is_searched_in_order_and_only_for_programs() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name).join("workfile");
        std::fs::create_dir_all(at("folder")).unwrap();
        std::fs::create_dir_all(root.path().join("plain")).unwrap();
        std::fs::write(at("plain"), "x").unwrap();
        program(&at("old"), b"#!/usr/bin/env node\n");
        std::fs::create_dir(root.path().join("linked")).unwrap();
        symlink(own(), at("linked")).unwrap();
        program(&at("copy"), &std::fs::read(own()).unwrap());
        let path = |names: &[&str]| {
            let folders = names.iter().map(|name| root.path().join(name));
            std::env::join_paths(folders).unwrap().into_string().unwrap()
        };
        let found = look(root.path(), &path(&["folder", "plain", "linked", "old"]));
        assert_eq!((found.reach, found.resolved), (Reach::Current, Some(at("linked"))));
        assert_eq!(found.version.as_deref(), Some(env!("CARGO_PKG_VERSION")));
        let found = look(root.path(), &path(&["old", "linked"]));
        assert_eq!((found.reach, found.version), (Reach::OtherBuild, None));
        let found = look(root.path(), &path(&["copy"]));
        assert_eq!(found.reach, Reach::Current);
        for nothing in ["", ".", "folder:plain", &path(&["folder", "plain"])] {
            let found = look(root.path(), nothing);
            assert_eq!(found.reach, Reach::Unreachable, "{nothing}");
            assert!(found.reason.unwrap().contains("PATH"));
        }
    }
}
