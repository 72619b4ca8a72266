//! `workfile demo`: two actors meet in a throwaway workspace, with real payloads in and real answers out.
//!
//! Every step runs this very program as Claude Code would, so what is shown is what happens.

use super::{Args, Command, Context, DryRun, Flag, Listed, Output};
use crate::failure::{Code, Failure};
use crate::fs::Throwaway;
use serde_json::{Value as Json, json};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

pub(super) const COMMANDS: &[Command] = &[Command {
    words: &["demo"],
    operands: "",
    most_operands: 0,
    about: "show two actors meeting, in a throwaway workspace",
    flags: &[Flag::switch("keep", "leave the workspace there and say where it is")],
    examples: &[
        ("workfile demo", "two actors meet, and what each of them is told"),
        ("workfile demo --keep", "the same, and the workspace stays to look around in"),
    ],
    dry_run: DryRun::No,
    listed: Listed::Yes,
    run,
}];

/// Runs whose median is shown.
const RUNS: usize = 21;

const BILLING: &str = "src/api/billing.ts";
const PAGE: &str = "src/web/page.ts";

fn run(_: &Context, args: &Args) -> Result<Output, Failure> {
    let mut stage = Stage::set()?;
    let root = stage.root.display().to_string();
    let ana = Actor { user: "ana", session: "aaaaaaaa-0001-4000-8000-000000000001" };
    let ben = Actor { user: "ben", session: "bbbbbbbb-0002-4000-8000-000000000002" };

    stage.command(
        "A workspace with two cards",
        &ana,
        &["init", "--yes", "--name", "demo", "--areas", "api,web"],
    )?;
    stage.command("", &ana, &["card", "create", "--title", "Rework the rates", "--area", "api"])?;
    stage.command("", &ana, &["card", "create", "--title", "Search page", "--area", "web"])?;

    let start = |actor: &Actor| json!({"session_id": actor.session, "cwd": root, "hook_event_name": "SessionStart", "source": "startup"});
    stage.hook("Ana's session starts: nobody holds anything", &ana, "session-start", &start(&ana))?;
    stage.command(
        "Ana takes the first card and says which paths it will change",
        &ana,
        &["card", "claim", "T-0001", "--scope", "src/api"],
    )?;
    stage.hook("Ben's session starts and is told who holds what", &ben, "session-start", &start(&ben))?;

    let edit = |path: &str| {
        json!({"session_id": ben.session, "cwd": root, "permission_mode": "default", "hook_event_name": "PreToolUse",
            "tool_name": "Edit", "tool_use_id": format!("toolu_{}", path.len()),
            "tool_input": {"file_path": format!("{root}/{path}"), "old_string": "1", "new_string": "2", "replace_all": false}})
    };
    stage.hook(
        "Ben edits a file outside every scope: no opinion, no bytes",
        &ben,
        "pre-tool-use",
        &edit(PAGE),
    )?;
    stage.hook(
        "Ben edits a file inside Ana's scope: the user is asked first",
        &ben,
        "pre-tool-use",
        &edit(BILLING),
    )?;

    let shell = "echo 'export const tax = 2;' >> src/api/billing.ts";
    stage.shell("Ben's shell writes to it all the same: a payload has a command, not a path", shell)?;
    let bash = json!({"session_id": ben.session, "cwd": root, "permission_mode": "default",
        "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "toolu_bash",
        "tool_input": {"command": shell, "description": "Add the tax"},
        "tool_response": {"stdout": "", "stderr": "", "interrupted": false, "isImage": false}, "duration_ms": 40});
    stage.hook("After the command Ben is told what changed in Ana's scope", &ben, "post-tool-use", &bash)?;
    stage.note(
        "(That hook waited 250 ms for a typed edit of the same file to show up in the ledger. It is asynchronous: the \
         session goes on meanwhile.)",
    );
    if args.has("keep") {
        stage.kept = Some(root);
        stage.folder.keep();
    }
    Ok(stage.told())
}

struct Actor {
    user: &'static str,
    session: &'static str,
}

/// The throwaway workspace, and what has been shown so far.
struct Stage {
    program: PathBuf,
    root: PathBuf,
    home: PathBuf,
    text: String,
    steps: Vec<Json>,
    /// Where the workspace is, when it is to stay.
    kept: Option<String>,
    folder: Throwaway,
}

impl Stage {
    fn set() -> Result<Self, Failure> {
        let program = std::env::current_exe()
            .map_err(|error| Failure::io("find this program", Path::new("workfile"), &error))?;
        let folder = Throwaway::make("workfile-demo").map_err(|error| {
            Failure::new(Code::INTERNAL_ERROR, format!("no folder for the demo can be made: {error}"))
        })?;
        let top = folder.path();
        let (root, home) = (top.join("repository"), top.join("home"));
        let stage = Self { program, root, home, text: String::new(), steps: Vec::new(), kept: None, folder };
        for (path, content) in [(BILLING, "export const rate = 1;\n"), (PAGE, "export const page = 1;\n")] {
            let full = stage.root.join(path);
            let folder = full.parent().unwrap_or(&stage.root);
            std::fs::create_dir_all(folder).map_err(|error| Failure::io("make", folder, &error))?;
            std::fs::write(&full, content).map_err(|error| Failure::io("write", &full, &error))?;
        }
        std::fs::create_dir(&stage.home).map_err(|error| Failure::io("make", &stage.home, &error))?;
        Ok(stage)
    }

    /// The program as a session of `actor` starts it: nothing of the caller's environment but where programs are.
    fn process(&self, actor: &Actor, args: &[&str]) -> std::process::Command {
        let mut process = std::process::Command::new(&self.program);
        process.args(args).current_dir(&self.root).env_clear();
        for name in ["PATH", "SystemRoot", "TMPDIR", "TEMP"] {
            if let Some(value) = std::env::var_os(name) {
                process.env(name, value);
            }
        }
        process
            .env("HOME", &self.home)
            .env("USER", actor.user)
            .env("HOSTNAME", "desk")
            .env("CLAUDE_PROJECT_DIR", &self.root)
            .env("CLAUDE_CODE_SESSION_ID", actor.session);
        process
    }

    fn title(&mut self, title: &str) {
        if !title.is_empty() {
            let _ = writeln!(self.text, "\n{title}");
        }
    }

    fn note(&mut self, note: &str) {
        let _ = writeln!(self.text, "    {note}");
    }

    fn command(&mut self, title: &str, actor: &Actor, args: &[&str]) -> Result<(), Failure> {
        self.title(title);
        let output = self.process(actor, args).stdin(Stdio::null()).output();
        let output = output.map_err(|error| Failure::io("run", &self.program, &error))?;
        let shown = args
            .iter()
            .map(|word| if word.contains(' ') { format!("\"{word}\"") } else { (*word).to_owned() });
        let _ = writeln!(self.text, "  {} $ workfile {}", actor.user, shown.collect::<Vec<_>>().join(" "));
        if !output.status.success() {
            let told = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(Failure::new(Code::INTERNAL_ERROR, format!("the demo cannot go on: {told}")));
        }
        self.steps.push(json!({"title": title, "actor": actor.user, "argv": args}));
        Ok(())
    }

    fn shell(&mut self, title: &str, command: &str) -> Result<(), Failure> {
        self.title(title);
        let _ = writeln!(self.text, "  ben $ {command}");
        let full = self.root.join(BILLING);
        let done = if cfg!(unix) {
            std::process::Command::new("sh")
                .args(["-c", command])
                .current_dir(&self.root)
                .status()
                .map(|_| ())
        } else {
            let file = std::fs::OpenOptions::new().append(true).open(&full);
            file.and_then(|mut file| file.write_all(b"export const tax = 2;\n"))
        };
        self.steps.push(json!({"title": title, "actor": "ben", "shell": command}));
        done.map_err(|error| Failure::io("write", &full, &error))
    }

    fn hook(&mut self, title: &str, actor: &Actor, event: &str, payload: &Json) -> Result<(), Failure> {
        self.title(title);
        let stdin = payload.to_string();
        let (answer, took) = self.timed(&mut self.process(actor, &["hook", event]), &stdin)?;
        let _ = writeln!(self.text, "  stdin of `workfile hook {event}`\n    {stdin}");
        if answer.is_empty() {
            let _ = writeln!(self.text, "  stdout: nothing");
        } else {
            let _ = writeln!(self.text, "  stdout\n    {}", answer.trim_end());
        }
        // A guard changes nothing, so it can be asked again; the other two would say something else.
        let again = event == "pre-tool-use";
        let took = if again { self.median(actor, event, &stdin, "on")? } else { took };
        let floor = self.median(actor, event, &stdin, "off")?;
        let (took, floor) = (ms(took), ms(floor));
        let runs = if again { format!("median of {RUNS}") } else { "once".to_owned() };
        let _ = writeln!(
            self.text,
            "  {took:.2} ms ({runs}); the same program with WORKFILE_HOOKS=off: {floor:.2} ms (median of {RUNS})"
        );
        let said = serde_json::from_str(&answer).unwrap_or(Json::Null);
        self.steps.push(
            json!({"title": title, "actor": actor.user, "hook": event, "stdin": payload, "stdout": said,
            "ms": took, "floorMs": floor}),
        );
        Ok(())
    }

    /// One run from start to exit, its payload on a pipe.
    fn timed(&self, process: &mut std::process::Command, stdin: &str) -> Result<(String, Duration), Failure> {
        let fail = |error: std::io::Error| Failure::io("run", &self.program, &error);
        process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let start = Instant::now();
        let mut child = process.spawn().map_err(fail)?;
        if let Some(mut pipe) = child.stdin.take() {
            // A hook that is switched off does not read.
            let _ = pipe.write_all(stdin.as_bytes());
        }
        let output = child.wait_with_output().map_err(fail)?;
        Ok((String::from_utf8_lossy(&output.stdout).into_owned(), start.elapsed()))
    }

    /// The median time of several runs with `WORKFILE_HOOKS` at `hooks`.
    fn median(&self, actor: &Actor, event: &str, stdin: &str, hooks: &str) -> Result<Duration, Failure> {
        let mut runs = Vec::new();
        for _ in 0..RUNS {
            let mut process = self.process(actor, &["hook", event]);
            runs.push(self.timed(process.env("WORKFILE_HOOKS", hooks), stdin)?.1);
        }
        runs.sort_unstable();
        Ok(runs[RUNS / 2])
    }

    fn told(&self) -> Output {
        let end = match &self.kept {
            Some(root) => format!("\nThe workspace is still there: {root}"),
            None => "\nThe workspace is gone again; --keep leaves it there.".to_owned(),
        };
        let text = self.text.trim_start().to_owned() + &end;
        Output::new(json!({"steps": self.steps, "kept": self.kept}), text)
    }
}

fn ms(time: Duration) -> f64 {
    (time.as_secs_f64() * 100_000.0).round() / 100.0
}
