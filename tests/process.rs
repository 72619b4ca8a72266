//! Processes: a command line, how it ended, and what it must have printed.

use crate::world::session_id;
use serde_json::Value as Json;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// A command line and what it runs with.
#[derive(Clone)]
pub(crate) struct Call {
    pub(crate) args: Vec<String>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) stdin: Vec<u8>,
    pub(crate) cwd: String,
}

/// `workfile` with these arguments, as nobody in particular.
pub(crate) fn call<const N: usize>(args: [&str; N]) -> Call {
    Call { args: args.map(str::to_owned).into(), env: Vec::new(), stdin: Vec::new(), cwd: String::new() }
}

impl Call {
    /// With these words behind the others.
    pub(crate) fn words(mut self, words: &[&str]) -> Self {
        self.args.extend(words.iter().map(|word| (*word).to_owned()));
        self
    }

    /// As this person, in their session.
    pub(crate) fn by(self, name: &str) -> Self {
        self.env("USER", name).env("CLAUDE_CODE_SESSION_ID", &session_id(name))
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn stdin(self, text: impl Into<Vec<u8>>) -> Self {
        Self { stdin: text.into(), ..self }
    }

    /// In this folder of the workspace.
    pub(crate) fn cwd(self, folder: impl Into<String>) -> Self {
        Self { cwd: folder.into(), ..self }
    }
}

impl<const N: usize> From<[&str; N]> for Call {
    fn from(args: [&str; N]) -> Self {
        call(args)
    }
}

/// How a process ended.
#[derive(Clone)]
pub(crate) struct Ended {
    /// `None` after a signal.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

impl std::fmt::Debug for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [stdout, stderr] = [&self.stdout, &self.stderr].map(|bytes| String::from_utf8_lossy(bytes));
        write!(f, "exit {:?}, stdout {stdout:?}, stderr {stderr:?}", self.code)
    }
}

/// How long a process may take before it counts as hanging.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs a process with `stdin` on a pipe that is closed at its end. A process that hangs is killed, and is no answer.
pub(crate) fn run_process(command: &mut Command, stdin: &[u8]) -> Ended {
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let (done, ended) = channel::<()>();
    let pid = child.id();
    std::thread::scope(|scope| {
        // A process may end without reading everything; that is for its test to judge.
        scope.spawn(move || drop(input.write_all(stdin)));
        scope.spawn(move || {
            if ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                kill(pid);
            }
        });
        let output = child.wait_with_output().unwrap();
        drop(done);
        Ended { code: output.status.code(), stdout: output.stdout, stderr: output.stderr }
    })
}

#[cfg(unix)]
fn kill(pid: u32) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

#[cfg(not(unix))]
fn kill(pid: u32) {
    panic!("process {pid} hangs");
}

/// A command line that has run; say what it must have printed.
#[must_use]
pub(crate) struct Run {
    pub(crate) ended: Ended,
    /// The command line, for messages.
    pub(crate) what: String,
}

impl Run {
    /// Exit 0 with exactly this on stdout and nothing on stderr.
    #[track_caller]
    pub(crate) fn success(self, stdout: &str) {
        self.check(0, stdout, "");
    }

    /// Exactly this status, stdout and stderr.
    #[track_caller]
    pub(crate) fn check(self, exit: i32, stdout: &str, stderr: &str) {
        let got = (self.ended.code, text(&self.ended.stdout), text(&self.ended.stderr));
        assert_eq!(got, (Some(exit), stdout, stderr), "{}", self.what);
    }

    /// Exit 0, one JSON value indented by two on stdout, nothing on stderr.
    #[track_caller]
    pub(crate) fn json(self) -> Json {
        let Ok(value) = serde_json::from_slice::<Json>(&self.ended.stdout) else {
            panic!("{}: one JSON value is due: {:?}", self.what, self.ended);
        };
        self.check(0, &format!("{}\n", serde_json::to_string_pretty(&value).unwrap()), "");
        value
    }

    /// Exit 0, some text on stdout, nothing on stderr.
    #[track_caller]
    pub(crate) fn text(self) -> String {
        let stdout = text(&self.ended.stdout).to_owned();
        self.check(0, &stdout, "");
        stdout
    }

    /// This status and code, nothing on stdout; the error as `--json` prints it, else the line as a string.
    #[track_caller]
    pub(crate) fn fails(self, exit: i32, code: &str) -> Json {
        let stderr = text(&self.ended.stderr);
        let got = (self.ended.code, text(&self.ended.stdout));
        assert_eq!(got, (Some(exit), ""), "{}: {stderr}", self.what);
        let Ok(value) = serde_json::from_str::<Json>(stderr) else {
            assert!(
                stderr.starts_with(&format!("{code}: ")) && stderr.ends_with('\n'),
                "{}: {stderr}",
                self.what
            );
            return stderr.into();
        };
        assert_eq!(value["error"]["code"], code, "{}: {stderr}", self.what);
        value["error"].clone()
    }
}

/// Bytes that must be UTF-8.
#[track_caller]
pub(crate) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

mod tests {
    use super::*;

    fn run(code: i32, stdout: &str, stderr: &str) -> Run {
        let ended = Ended { code: Some(code), stdout: stdout.into(), stderr: stderr.into() };
        Run { ended, what: "workfile".to_owned() }
    }

    #[test]
    fn what_is_as_it_must_be_passes() {
        run(0, "{}\n", "").json();
        run(0, "x\n", "").success("x\n");
        run(3, "", "CODE: text\n").fails(3, "CODE");
        run(3, "", "{\"error\":{\"code\":\"CODE\"}}").fails(3, "CODE");
    }

    #[test]
    #[should_panic(expected = "assertion")]
    fn a_stray_line_on_stderr_is_no_success() {
        run(0, "x\n", "noise\n").success("x\n");
    }

    #[test]
    #[should_panic(expected = "assertion")]
    fn json_is_indented_by_two() {
        run(0, "{\"a\":1}\n", "").json();
    }

    #[test]
    #[should_panic(expected = "assertion")]
    fn another_code_is_another_failure() {
        run(3, "", "{\"error\":{\"code\":\"OTHER\"}}").fails(3, "CODE");
    }

    #[test]
    #[should_panic(expected = "assertion")]
    fn a_failure_prints_nothing_on_stdout() {
        run(3, "x", "CODE: text\n").fails(3, "CODE");
    }
}
