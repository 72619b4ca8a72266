//! The plugin's launcher, run as the host and the shell tool run it.

use serde_json::Value as Json;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Folders that a search path is made of.
struct Folders(tempfile::TempDir);

/// What a run ended with.
#[derive(Debug, PartialEq)]
struct Ran {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

fn launcher() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("hooks/bin/workfile")
}

impl Folders {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// `workfile` in a folder of its own.
    fn at(&self, name: &str) -> PathBuf {
        let folder = self.0.path().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        folder.join("workfile")
    }

    fn link(self, name: &str, to: impl AsRef<Path>) -> Self {
        symlink(to, self.at(name)).unwrap();
        self
    }

    /// Another file with the launcher's text. A child makes it: a file that this process has open for writing while
    /// another test starts a program could not be started.
    fn copy(self, name: &str) -> Self {
        assert!(Command::new("cp").arg(launcher()).arg(self.at(name)).status().unwrap().success());
        self
    }

    fn path(&self, names: &[&str]) -> String {
        let folder = |name: &&str| {
            if name.starts_with(['/', '.']) || name.is_empty() {
                (*name).to_owned()
            } else {
                format!("{}/{name}", self.0.path().display())
            }
        };
        names.iter().map(folder).collect::<Vec<_>>().join(":")
    }

    fn run_as(&self, program: &Path, path: &[&str], data: Option<&str>, args: &[&str]) -> Ran {
        let mut command = Command::new(program);
        command
            .args(args)
            .env_clear()
            .env("PATH", self.path(path))
            .stdin(Stdio::null())
            .current_dir(self.0.path());
        if let Some(data) = data {
            command.env("CLAUDE_PLUGIN_DATA", self.0.path().join(data));
        }
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    fn run(&self, path: &[&str], args: &[&str]) -> Ran {
        self.run_as(&launcher(), path, None, args)
    }

    fn starts(&self, path: &[&str], data: Option<&str>) -> bool {
        let ran = self.run_as(&launcher(), path, data, &["help"]);
        let started = ran.stdout.starts_with("workfile keeps several agents");
        assert_eq!(ran.code, Some(if started { 0 } else { 127 }), "{ran:?}");
        started
    }
}

const BINARY: &str = env!("CARGO_BIN_EXE_workfile");
const SILENT: Ran = Ran { code: Some(0), stdout: String::new(), stderr: String::new() };

#[test]
fn the_launcher_can_be_started() {
    assert_eq!(launcher().metadata().unwrap().permissions().mode() & 0o111, 0o111);
}

#[test]
fn without_a_binary_hooks_are_silent_but_for_one_message() {
    let folders = Folders::new();
    std::fs::write(folders.at("plain"), "not a program").unwrap();
    std::fs::create_dir(folders.at("folder")).unwrap();
    for path in [&[][..], &["plain", "folder"], &["missing"]] {
        for event in ["pre-tool-use", "post-tool-use", "no-such-event"] {
            assert_eq!(folders.run(path, &["hook", event]), SILENT);
        }
        assert_eq!(folders.run(path, &["hook"]), SILENT);
        let start = folders.run(path, &["hook", "session-start"]);
        assert_eq!((start.code, start.stderr.as_str()), (Some(0), ""));
        let answer: Json = serde_json::from_str(&start.stdout).unwrap();
        let answer = &answer["hookSpecificOutput"];
        assert_eq!(answer["hookEventName"], "SessionStart");
        let context = answer["additionalContext"].as_str().unwrap();
        assert!(context.starts_with("Workfile: ") && context.contains("`cargo install --git https://"));
        for args in [&["card", "list"][..], &[], &["hooks"]] {
            let other = folders.run(path, args);
            assert_eq!((other.code, other.stdout.as_str()), (Some(127), ""));
            assert!(other.stderr.contains("not installed"));
        }
    }
}

#[test]
fn the_binary_on_the_path_is_started_with_its_arguments() {
    let folders = Folders::new().link("bin", BINARY);
    assert!(folders.starts(&["empty", "bin"], None));
    let refused = folders.run(&["bin"], &["claude", "install", "--odd name"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""));
    assert!(refused.stderr.contains("odd name"), "{refused:?}");
}

#[test]
fn the_data_directory_is_the_last_resort() {
    let folders = Folders::new().link("data/bin", BINARY);
    assert!(folders.starts(&["empty"], Some("data")));
    assert!(!folders.starts(&["empty"], Some("other")));
    assert!(!folders.starts(&["empty"], None));
}

#[test]
fn the_launcher_never_starts_itself() {
    let own = launcher();
    let own = own.parent().unwrap().to_str().unwrap();
    let slash = format!("{own}/");
    let folders =
        Folders::new().link("linked", launcher()).link("again", "../linked/workfile").link("bin", BINARY);
    let folders = folders.copy("copy").copy("second").link("data/bin", launcher());
    let all = [own, &slash, "linked", "again", "copy", "second"];
    assert!(!folders.starts(&all, Some("data")));
    assert!(folders.starts(&[&all[..], &["bin"]].concat(), Some("data")));
    for copy in ["linked", "again", "copy"] {
        assert_eq!(folders.run_as(&folders.at(copy), &all, None, &["hook", "pre-tool-use"]), SILENT);
    }
}

#[test]
fn relative_entries_of_the_path_are_left_out() {
    let folders = Folders::new().link("bin", BINARY).link("", BINARY);
    for path in [&[""][..], &["."], &["./bin"], &["", "./bin/"]] {
        assert!(!folders.starts(path, None), "{path:?}");
    }
}

#[test]
fn a_program_that_cannot_be_started_is_no_decision() {
    let folders = Folders::new();
    std::fs::write(folders.at("broken"), "#!/nowhere/at/all\n").unwrap();
    std::fs::set_permissions(folders.at("broken"), PermissionsExt::from_mode(0o755)).unwrap();
    for shell in ["/bin/sh", "/bin/dash", "/bin/bash"] {
        if !Path::new(shell).exists() {
            continue;
        }
        let script = launcher();
        let script = script.to_str().unwrap();
        let ran = folders.run_as(Path::new(shell), &["broken"], None, &[script, "hook", "pre-tool-use"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{shell}: {ran:?}");
    }
}
