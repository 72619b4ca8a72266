//! One registered command started as the host would start it: the same form, the same variables, a payload on its stdin.

use super::super::settings::{Handler, Start};
use super::stage::{SESSION, Stage};
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The variable that a host puts into commands.
const PROJECT: &str = "${CLAUDE_PROJECT_DIR}";

/// Longest wait for a command, whatever its settings say.
const LONGEST: Duration = Duration::from_secs(60);

/// How a command ended.
#[derive(Debug)]
pub(super) enum Ended {
    /// By itself.
    Done {
        /// Its exit number, when it had one.
        code: Option<i32>,
        /// What it printed.
        stdout: String,
        /// How long it ran.
        took: Duration,
    },
    /// It did not end in its time.
    TimedOut,
    /// It could not be started.
    NotStarted(io::Error),
}

/// Starts a command for a session in the throwaway workspace; a vendored binary is that of `root`.
pub(super) fn fire(handler: &Handler, root: &Path, stage: &Stage, payload: &str) -> Ended {
    let mut command = match &handler.start {
        Start::Exec(args) => {
            // The host puts the project's folder in, and there the binary is.
            let root = root.display().to_string();
            let mut command = Command::new(handler.command.replace(PROJECT, &root));
            command.args(args.iter().map(|arg| arg.replace(PROJECT, &root)));
            command
        }
        Start::Shell => shell(&handler.command),
    };
    command
        .current_dir(stage.root())
        .env("CLAUDE_PROJECT_DIR", stage.root())
        .env("CLAUDE_CODE_SESSION_ID", SESSION)
        .env("CLAUDECODE", "1")
        // A clock that stands still is for tests of this program, not for its hooks.
        .env_remove("WORKFILE_TEST");
    let time = handler.timeout.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    run(&mut command, payload, time.unwrap_or(LONGEST).min(LONGEST))
}

#[cfg(unix)]
fn shell(line: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", line]);
    command
}

#[cfg(not(unix))]
fn shell(line: &str) -> Command {
    let mut command = Command::new("cmd");
    command.args(["/C", line]);
    command
}

fn run(command: &mut Command, payload: &str, time: Duration) -> Ended {
    let input = match system::input(command) {
        Ok(input) => input,
        Err(error) => return Ended::NotStarted(error),
    };
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let start = Instant::now();
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return Ended::NotStarted(error),
    };
    let (sender, receiver) = channel();
    let stdout = child.stdout.take();
    let mut input = system::opened(input, &mut child);
    let payload = format!("{payload}\n");
    std::thread::spawn(move || {
        // A command that does not read is judged by its answer.
        let _ = input.as_mut().map(|input| input.write_all(payload.as_bytes()));
        drop(input);
        let mut bytes = Vec::new();
        let _ = stdout.map(|mut stdout| stdout.read_to_end(&mut bytes));
        let _ = sender.send(bytes);
    });
    let answer = receiver.recv_timeout(time);
    if answer == Err(RecvTimeoutError::Timeout) {
        system::kill(&mut child);
        let _ = child.wait();
        return Ended::TimedOut;
    }
    // Its stdout is closed, so it is about to end.
    let code = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status.code(),
            Ok(None) if start.elapsed() < time => std::thread::sleep(Duration::from_micros(100)),
            Ok(None) => {
                system::kill(&mut child);
                let _ = child.wait();
                return Ended::TimedOut;
            }
            Err(_) => break None,
        }
    };
    let stdout = String::from_utf8_lossy(&answer.unwrap_or_default()).into_owned();
    Ended::Done { code, stdout, took: start.elapsed() }
}

/// The host's stdin is a socket on Unix, and what reads a pipe only would fail there.
#[cfg(unix)]
mod system {
    use super::{Child, Command, Stdio, Write, io};
    use rustix::process::{Pid, Signal, kill_process_group};
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;
    use std::os::unix::process::CommandExt;

    pub(super) fn input(command: &mut Command) -> io::Result<UnixStream> {
        let (ours, theirs) = UnixStream::pair()?;
        command.stdin(Stdio::from(OwnedFd::from(theirs))).process_group(0);
        Ok(ours)
    }

    #[allow(clippy::unnecessary_wraps, reason = "elsewhere a child may have no stdin")]
    pub(super) fn opened(input: UnixStream, _: &mut Child) -> Option<impl Write + Send + 'static> {
        Some(input)
    }

    pub(super) fn kill(child: &mut Child) {
        if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

#[cfg(not(unix))]
mod system {
    use super::{Child, Command, Stdio, Write, io};

    pub(super) fn input(command: &mut Command) -> io::Result<()> {
        command.stdin(Stdio::piped());
        Ok(())
    }

    pub(super) fn opened((): (), child: &mut Child) -> Option<impl Write + Send + 'static> {
        child.stdin.take()
    }

    pub(super) fn kill(child: &mut Child) {
        let _ = child.kill();
    }
}
