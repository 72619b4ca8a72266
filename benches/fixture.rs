//! What the gate and the latency harness measure: a row for each path of the goal table, each with a workspace, a payload
//! and a state that every run begins with.
//!
//! Ids, texts, times and the lengths of all paths are fixed, so that two builds of the program can be compared to the
//! last instruction.

mod cards;
mod keep;
mod payloads;
mod workspace;

use keep::Kept;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};
use workspace::{FREE, OLD, Workspace};

/// Below a root: everything that hooks write.
const CACHE: &str = ".project/.cache";
/// Folders of the tree that a scan walks, and the files in each.
const FOLDERS: usize = 400;
const FILES: usize = 9;
/// Edits of the session before the measured one: as many as a session file remembers.
const EDITS: usize = 50;
/// What changed less than this ago may change again without its times moving, and is not taken from a cache.
const RACY: Duration = Duration::from_secs(3);
/// Other sessions that started here.
const OTHERS: [&str; 3] = [
    "1c9d2e4f-0a6b-4d3c-8e57-94b1f6a2c301",
    "2e8b3f50-1b7c-4e4d-9f68-a5c2072b3d42",
    "3f7c4061-2c8d-4f5e-8a79-b6d3183c4e53",
];

/// What a run of a row has to come to, checked once before anything is measured.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// Nothing printed, nothing written.
    Nothing,
    /// Nothing printed; the files of the hooks changed.
    Signal,
    /// A context printed.
    Context,
}

/// One path through the program.
pub(crate) struct Row {
    /// Its name in the budgets.
    pub(crate) name: &'static str,
    /// What comes on stdin.
    pub(crate) payload: Vec<u8>,
    event: &'static str,
    root: String,
    state: Kept,
    effect: Effect,
}

/// The row of a hook that is switched off: the program doing nothing.
pub(crate) const NOP: &str = "nop";

impl Row {
    /// Gives a command the row's words and an environment without anything of the caller's.
    pub(crate) fn arm(&self, command: &mut Command) {
        command.args(["hook", self.event]).env_clear();
        command.envs([
            ("HOME", "/home/ann"),
            ("PATH", "/usr/bin:/bin"),
            ("USER", "ann"),
            ("CLAUDECODE", "1"),
        ]);
        command.env("CLAUDE_CODE_SESSION_ID", payloads::SESSION).env("CLAUDE_PROJECT_DIR", &self.root);
        if self.name == NOP {
            command.env("WORKFILE_HOOKS", "off");
        }
    }

    /// Puts everything back to where a run begins.
    pub(crate) fn reset(&self) -> io::Result<()> {
        self.state.restore()
    }

    /// Whether this is what the row has to print. A hook that ran out of time prints nothing.
    pub(crate) fn fits(&self, out: &[u8]) -> bool {
        if self.effect == Effect::Context { is_answer(out) } else { out.is_empty() }
    }

    /// Runs the row once and sees to it that it did what it is there for.
    fn prove(&self, program: &Path) -> io::Result<()> {
        self.reset()?;
        let out = run(program, self, &self.payload)?;
        let writes = self.effect != Effect::Nothing;
        if self.fits(&out) && self.state.holds()? != writes { Ok(()) } else { Err(wrong(self.name, &out)) }
    }
}

/// Every row, in a temporary folder that goes away with this value.
pub(crate) struct Fixture {
    /// The rows, [`NOP`] among them.
    pub(crate) rows: Vec<Row>,
    /// The program: a copy, because a linker leaves its output in smaller pieces of the page cache.
    pub(crate) program: PathBuf,
    top: tempfile::TempDir,
}

impl Fixture {
    /// Builds everything. The process's own directory becomes the fixture's.
    pub(crate) fn build() -> io::Result<Self> {
        let place = if cfg!(unix) { PathBuf::from("/tmp") } else { std::env::temp_dir() };
        let top = tempfile::Builder::new().prefix("workfile-bench-").rand_bytes(8).tempdir_in(place)?;
        std::env::set_current_dir(top.path())?;
        let program = top.path().join("workfile");
        std::fs::copy(env!("CARGO_BIN_EXE_workfile"), &program)?;
        let builder = Builder { top: top.path(), program: &program };
        let cards = builder.cards()?;
        let written = Instant::now();
        let mut rows = builder.edits()?;
        rows.extend(builder.signals()?);
        rows.push(builder.scan()?);
        std::thread::sleep(RACY.saturating_sub(written.elapsed()));
        rows.extend(builder.starts(&cards)?);
        for row in &rows {
            row.prove(&program)?;
        }
        // Tens of megabytes would otherwise be written out in the middle of a measurement.
        #[cfg(unix)]
        rustix::fs::sync();
        Ok(Self { rows, program, top })
    }

    /// The folder that everything is in.
    pub(crate) fn top(&self) -> &Path {
        self.top.path()
    }
}

struct Builder<'a> {
    top: &'a Path,
    program: &'a Path,
}

impl Builder<'_> {
    /// Before an edit outside every scope, and the hook that is switched off.
    fn edits(&self) -> io::Result<Vec<Row>> {
        let mut rows = Vec::new();
        for (name, claims) in [("pre-10", 10), ("pre-200", 200), ("pre-2000", 2000)] {
            let workspace = Workspace::new(self.top, &format!("claims-{claims:05}"), claims, 1)?;
            self.start(&workspace, &OTHERS)?;
            let edit = payloads::edit(&workspace.root, &workspace.at(FREE));
            let free = row(name, "pre-tool-use", &workspace, edit.clone(), Effect::Nothing)?;
            let covered = payloads::edit(&workspace.root, &workspace.at("src/part-0007/api/read.rs"));
            let out = run(self.program, &free, &covered)?;
            if !is_answer(&out) || !free.state.holds()? {
                return Err(wrong(name, &out));
            }
            rows.push(free);
            if claims == 200 {
                let write = payloads::write(&workspace.root, &workspace.at(FREE));
                rows.push(row("pre-write-1mb", "pre-tool-use", &workspace, write, Effect::Nothing)?);
                rows.push(row(NOP, "pre-tool-use", &workspace, edit, Effect::Nothing)?);
            }
        }
        Ok(rows)
    }

    /// After tools that are no shell.
    fn signals(&self) -> io::Result<[Row; 2]> {
        let workspace = Workspace::new(self.top, "signals-0010", 10, 1)?;
        self.settle(&workspace)?;
        let edited = payloads::edited(&workspace.root, &workspace.at(FREE), payloads::CALL);
        let read = payloads::read(&workspace.root, &workspace.at(FREE));
        Ok([
            row("post-edit-35k", "post-tool-use", &workspace, edited, Effect::Signal)?,
            row("post-read", "post-tool-use", &workspace, read, Effect::Signal)?,
        ])
    }

    /// After a shell command, when somebody else holds a large tree in which nothing changed.
    fn scan(&self) -> io::Result<Row> {
        // Their scope is `src/part-0001` and two places that are not there.
        let workspace = Workspace::new(self.top, "scanned-0001", 1, 1)?;
        let mut folders = vec!["src/part-0001/api".to_owned()];
        for number in 1..=FOLDERS {
            // Each folder has two more inside, so that the deepest is nine down.
            let folder = format!("{}/d{number:03}", folders[number / 2]);
            std::fs::create_dir_all(workspace.at(&folder))?;
            for file in 0..FILES {
                workspace.old_file(&format!("{folder}/file-{file}.rs"), "")?;
            }
            folders.push(folder);
        }
        self.settle(&workspace)?;
        let payload = payloads::shell(&workspace.root);
        let row = row("post-bash-scan", "post-tool-use", &workspace, payload, Effect::Signal)?;
        // The folder that is looked at last has to be found, too.
        let last = workspace.at(&format!("{}/file-8.rs", folders[FOLDERS]));
        filetime::set_file_mtime(&last, SystemTime::now().into())?;
        let out = run(self.program, &row, &row.payload)?;
        let text = String::from_utf8_lossy(&out);
        if !text.contains(&format!("d{FOLDERS}/file-8.rs: T-0001")) || text.contains("The scan stopped") {
            return Err(wrong(row.name, &out));
        }
        filetime::set_file_mtime(&last, OLD)?;
        Ok(row)
    }

    /// Workspaces with cards of which one in twenty is claimed; of ten, two are.
    fn cards(&self) -> io::Result<[Workspace; 4]> {
        let new = |name: &str, cards, per_claim| Workspace::new(self.top, name, cards, per_claim);
        Ok([
            new("cards-00010", 10, 5)?,
            new("cards-01000", 1000, 20)?,
            new("cards-10000", 10_000, 20)?,
            new("cards-no-cache", 10_000, 20)?,
        ])
    }

    /// When a session begins: where others began before it, and where none did.
    fn starts(&self, workspaces: &[Workspace; 4]) -> io::Result<Vec<Row>> {
        let mut rows = Vec::new();
        let names = ["start-10", "start-1000", "start-10000", "start-10000-uncached"];
        for (name, workspace) in names.into_iter().zip(workspaces) {
            if name != "start-10000-uncached" {
                self.start(workspace, &OTHERS)?;
            }
            let payload = payloads::start(&workspace.root, payloads::SESSION);
            rows.push(row(name, "session-start", workspace, payload, Effect::Context)?);
        }
        Ok(rows)
    }

    /// The state of a session in the middle of its work: started, and every list full.
    fn settle(&self, workspace: &Workspace) -> io::Result<()> {
        self.start(workspace, &OTHERS)?;
        self.start(workspace, &[payloads::SESSION])?;
        for number in 0..EDITS {
            let call = format!("toolu_01{number:022}");
            let file = workspace.at(&format!("src/free/file-{number:02}.rs"));
            let payload = payloads::edited(&workspace.root, &file, &call);
            let row = row("an edit", "post-tool-use", workspace, payload, Effect::Signal)?;
            run(self.program, &row, &row.payload)?;
        }
        Ok(())
    }

    fn start(&self, workspace: &Workspace, sessions: &[&str]) -> io::Result<()> {
        for session in sessions {
            let payload = payloads::start(&workspace.root, session);
            let row = row("a start", "session-start", workspace, payload, Effect::Context)?;
            run(self.program, &row, &row.payload)?;
        }
        Ok(())
    }
}

/// A row whose runs begin with the workspace as it is now.
fn row(
    name: &'static str,
    event: &'static str,
    workspace: &Workspace,
    payload: Vec<u8>,
    effect: Effect,
) -> io::Result<Row> {
    let state = Kept::of(PathBuf::from(workspace.at(CACHE)))?;
    Ok(Row { name, payload, event, root: workspace.root.clone(), state, effect })
}

/// Runs a row with another payload; what it printed.
fn run(program: &Path, row: &Row, payload: &[u8]) -> io::Result<Vec<u8>> {
    let mut command = Command::new(program);
    row.arm(&mut command);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A hook that is switched off reads nothing.
        let _ = stdin.write_all(payload);
    }
    let ended = child.wait_with_output()?;
    if ended.status.success() && ended.stderr.is_empty() {
        Ok(ended.stdout)
    } else {
        Err(wrong(row.name, &ended.stderr))
    }
}

fn is_answer(out: &[u8]) -> bool {
    out.starts_with(b"{\"hookSpecificOutput\":")
}

fn wrong(row: &str, said: &[u8]) -> io::Error {
    let said = String::from_utf8_lossy(said);
    io::Error::other(format!(
        "{row} does not do what it is measured for; the hook said: {:?}",
        said.trim_end()
    ))
}
