//! A workspace in a temporary directory, with a home of its own and nothing of the caller's environment.
//!
//! Build it, run a command or a hook in it, and say what must come out: every check looks at the status, stdout and
//! stderr together. Names of people are enough: `ben` is the user `ben` in the session [`session_id`]`("ben")`, and his
//! claims carry [`actor`]`("ben")`.

use crate::payload::{Answered, Payload};
use crate::process::{Call, Run, run_process};
use filetime::FileTime;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};
use workfile::clock::Time;

/// Where the runtime keeps what is going on.
pub(crate) const ACTIVITY: &str = ".project/.cache/activity";

/// The session of a person.
pub(crate) fn session_id(name: &str) -> String {
    format!("{name:0<8}-0000-4000-8000-000000000000")
}

/// What a person's session is called as an actor, without a host name.
pub(crate) fn actor(name: &str) -> String {
    format!("{name}@local#{}", &session_id(name)[..8])
}

/// The workspace.
pub(crate) struct World {
    base: tempfile::TempDir,
    /// Its root, without links in the path.
    pub(crate) root: PathBuf,
    env: BTreeMap<String, String>,
}

impl World {
    /// A workspace without any record.
    pub(crate) fn new() -> Self {
        Self::bare().file(".project/VERSION", "{\"schemaVersion\": 2}\n")
    }

    /// An empty directory that is no workspace, and above which none is looked for.
    pub(crate) fn bare() -> Self {
        let base = tempfile::Builder::new().prefix("world-").tempdir().unwrap();
        let top = base.path().canonicalize().unwrap();
        for folder in ["workspace", "home", ".git"] {
            std::fs::create_dir(top.join(folder)).unwrap();
        }
        let text = |path: PathBuf| path.into_os_string().into_string().unwrap();
        let mut env: BTreeMap<String, String> = [
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_AUTHOR_NAME", "Example"),
            ("GIT_AUTHOR_EMAIL", "example@example.com"),
            ("GIT_COMMITTER_NAME", "Example"),
            ("GIT_COMMITTER_EMAIL", "example@example.com"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
        env.insert("PATH".to_owned(), std::env::var("PATH").unwrap());
        env.insert(if cfg!(windows) { "USERPROFILE" } else { "HOME" }.to_owned(), text(top.join("home")));
        env.insert("GIT_CEILING_DIRECTORIES".to_owned(), text(top.clone()));
        Self { root: top.join("workspace"), base, env }
    }

    /// Stops the clock for commands and hooks at an RFC 3339 time.
    pub(crate) fn clock(self, time: &str) -> Self {
        self.env("WORKFILE_CLOCK", time).env("WORKFILE_TEST", "1")
    }

    /// Sets a variable for everything that runs from now on.
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Writes a file; folders are made.
    pub(crate) fn file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        self.write(path, content);
        self
    }

    /// [`World::file`] in the middle of a test.
    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// Makes a symbolic link; a relative target counts from the root.
    #[cfg(unix)]
    pub(crate) fn link(self, path: &str, target: impl AsRef<Path>) -> Self {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(self.root.join(target), path).unwrap();
        self
    }

    /// Writes the card `id`.
    pub(crate) fn card(self, id: &str, build: impl FnOnce(Card) -> Card) -> Self {
        let since = self.ago(1_800_000);
        let card = build(Card::default());
        let text = card.text(id, &since);
        self.file(&format!(".project/cards/{id}-card.md"), text)
    }

    /// Writes the session file of a person whose last signal is `silent_ms` old; `more` keys replace the usual ones.
    pub(crate) fn session(self, name: &str, silent_ms: i64, more: &Json) -> Self {
        let mut session = json!({
            "sessionId": session_id(name), "actor": actor(name), "cardId": null, "pid": 1,
            "startedAt": self.ago(3_600_000.max(silent_ms)), "lastSignalAt": self.ago(silent_ms), "filesTouched": [],
        });
        session.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let text = format!("{}\n", serde_json::to_string_pretty(&session).unwrap());
        self.file(&format!("{ACTIVITY}/sessions/{}.json", session_id(name)), text)
    }

    /// Makes every file and folder two hours old, as in a checkout where nothing has happened for a while.
    pub(crate) fn settled(self) -> Self {
        for path in crate::compare::tree(&self.root).keys() {
            self.age(path, 7_200_000);
        }
        self
    }

    /// Sets the modification time of a file to `ms` before now.
    pub(crate) fn age(&self, path: &str, ms: u64) {
        let path = self.root.join(path);
        if !path.is_symlink() {
            let time = SystemTime::now() - Duration::from_millis(ms);
            filetime::set_file_mtime(path, FileTime::from_system_time(time)).unwrap();
        }
    }

    /// The world's time `ms` ago, as records carry it.
    pub(crate) fn ago(&self, ms: i64) -> String {
        let now = self.env.get("WORKFILE_CLOCK").map_or_else(Time::system, |time| Time::parse(time).unwrap());
        now.minus(ms).timestamp()
    }

    /// The text of a file.
    #[track_caller]
    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// The lines of the ledger; none when it is not there.
    pub(crate) fn ledger(&self) -> Vec<Json> {
        let text = std::fs::read_to_string(self.root.join(ACTIVITY).join("events.jsonl")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The folder that holds the workspace and the home.
    pub(crate) fn base(&self) -> PathBuf {
        self.base.path().canonicalize().unwrap()
    }

    /// A process in this world.
    pub(crate) fn process(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root).env_clear().envs(&self.env);
        command
    }

    /// Runs a command line to its end.
    pub(crate) fn run(&self, call: impl Into<Call>) -> Run {
        let call = call.into();
        let mut command = self.process(env!("CARGO_BIN_EXE_workfile"));
        command.args(&call.args).envs(call.env).current_dir(self.root.join(call.cwd));
        let what = format!("workfile {}", call.args.join(" "));
        Run { ended: run_process(&mut command, &call.stdin), what }
    }

    /// Starts all command lines before it waits for any.
    pub(crate) fn run_together(&self, calls: Vec<Call>) -> Vec<Run> {
        std::thread::scope(|scope| {
            let runs: Vec<_> = calls.into_iter().map(|call| scope.spawn(|| self.run(call))).collect();
            runs.into_iter().map(|run| run.join().unwrap()).collect()
        })
    }

    /// The process of a hook and its stdin.
    pub(crate) fn hook_process(&self, payload: &Payload) -> (Command, Vec<u8>) {
        let mut command = self.process(env!("CARGO_BIN_EXE_workfile"));
        command.args(["hook", payload.event()]).envs(payload.env(&self.root));
        let folder = self.root.join(payload.folder());
        command.current_dir(if folder.is_dir() { &folder } else { &self.root });
        (command, payload.bytes(&self.root))
    }

    /// Runs a hook to its end.
    pub(crate) fn hook(&self, payload: impl Into<Payload>) -> Answered {
        let payload = payload.into();
        let (mut command, stdin) = self.hook_process(&payload);
        Answered::new(run_process(&mut command, &stdin), &payload)
    }
}

/// A card to be written.
#[derive(Default)]
pub(crate) struct Card {
    status: Option<&'static str>,
    holder: Option<String>,
    title: Option<String>,
    lines: Vec<String>,
    body: Option<String>,
}

impl Card {
    pub(crate) fn doing(self) -> Self {
        self.status("doing")
    }

    pub(crate) fn status(self, status: &'static str) -> Self {
        Self { status: Some(status), ..self }
    }

    /// Claimed by a person's session half an hour ago.
    pub(crate) fn claimed_by(self, name: &str) -> Self {
        self.claimed_as(&actor(name))
    }

    /// Claimed under exactly this name.
    pub(crate) fn claimed_as(self, holder: &str) -> Self {
        Self { holder: Some(holder.to_owned()), ..self }
    }

    /// Its scope as it stands in the header: `src, docs/*`.
    pub(crate) fn scope(self, entries: &str) -> Self {
        self.line(&format!("scope: [{entries}]"))
    }

    pub(crate) fn title(self, title: &str) -> Self {
        Self { title: Some(title.to_owned()), ..self }
    }

    pub(crate) fn body(self, body: &str) -> Self {
        Self { body: Some(body.to_owned()), ..self }
    }

    /// One more line of the header, as it is.
    pub(crate) fn line(mut self, line: &str) -> Self {
        self.lines.push(line.to_owned());
        self
    }

    fn text(&self, id: &str, since: &str) -> String {
        let title = self.title.as_deref().unwrap_or("Some work");
        let status = self.status.unwrap_or("backlog");
        let claim = |holder| format!("claimed_by: {}\nclaimed_at: \"{since}\"\n", json!(holder));
        let claim = self.holder.as_ref().map(claim).unwrap_or_default();
        let more: String = self.lines.iter().flat_map(|line| [line, "\n"]).collect();
        let body = self.body.as_deref().unwrap_or("Body of the card.");
        format!(
            "---\nid: {id}\ntitle: {title}\nstatus: {status}\ntype: task\npriority: medium\narea: general\n\
            created: 2026-01-02\nupdated: 2026-01-02\n{claim}{more}---\n\n{body}\n"
        )
    }
}
