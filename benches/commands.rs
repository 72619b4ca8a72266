//! What the commands over many records cost: time and peak memory, with the cache of the index and without, beside a process
//! that does nothing and `git status` in the same tree.
//!
//! It prints a table and judges nothing.

#[path = "fixture/records.rs"]
mod records;

use records::{ALL, Records};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// Runs of a command by default, and for a quick look.
const RUNS: usize = 20;
const QUICK: usize = 5;
/// What changed less than this ago is not kept in a cache.
const RACY: Duration = Duration::from_millis(2100);

/// The commands, each by its words.
const COMMANDS: [&[&str]; 9] = [
    &["version"],
    &["card", "list"],
    &["card", "list", "--json"],
    &["next"],
    &["search", "berth", "booking"],
    &["search", "berth", "booking", "--json"],
    &["search", "/retr(y|ies)/"],
    &["agents", "context", "--card", "T-0100"],
    &DOCTOR,
];
/// It finds links among the records that lead nowhere, and says so with its exit number.
const DOCTOR: [&str; 1] = ["doctor"];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let has = |wanted: &str| args.iter().any(|arg| arg == wanted);
    if !has("--bench") {
        println!("the table is printed by `cargo bench --bench commands`");
        return ExitCode::SUCCESS;
    }
    match table(if has("--quick") { QUICK } else { RUNS }) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("commands: {error}");
            ExitCode::FAILURE
        }
    }
}

fn table(runs: usize) -> io::Result<()> {
    let top = tempfile::Builder::new().prefix("workfile-commands-").tempdir()?;
    let program = Path::new(env!("CARGO_BIN_EXE_workfile"));
    println!(
        "{:<34} {:>8} {:>6} {:>9} {:>9} {:>9}",
        "command", "records", "cache", "best ms", "median ms", "peak MB"
    );
    for count in [1000, ALL] {
        let records = Records::new(top.path(), count)?;
        commit(&records.root)?;
        std::thread::sleep(RACY);
        let (cache, count) = (records.root.join(".project/.cache"), records.files());
        row("true", count, "", 0, runs, || Ok(()), &mut Command::new("true"))?;
        let mut status = Command::new("git");
        row("git status", count, "", 0, runs, || Ok(()), status.arg("status").current_dir(&records.root))?;
        for words in COMMANDS {
            let mut command = Command::new(program);
            command.args(words).current_dir(&records.root).env("WORKFILE_ACTOR", "ann");
            let (name, ends) = (words.join(" "), i32::from(*words == DOCTOR));
            let forget = || match std::fs::remove_dir_all(&cache) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            };
            row(&name, count, "none", ends, runs, forget, &mut command)?;
            row(&name, count, "warm", ends, runs, || Ok(()), &mut command)?;
        }
    }
    Ok(())
}

/// Measures one command, `before` each time first, and prints what it costs; it has to end with the number `ends`.
fn row(
    name: &str,
    count: usize,
    cache: &str,
    ends: i32,
    runs: usize,
    before: impl Fn() -> io::Result<()>,
    command: &mut Command,
) -> io::Result<()> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut times = Vec::new();
    for _ in 0..runs {
        before()?;
        let start = Instant::now();
        if command.status()?.code() != Some(ends) {
            return Err(io::Error::other(format!("{name} fails")));
        }
        times.push(start.elapsed());
    }
    times.sort_unstable();
    before()?;
    let peak = peak(command)?.map_or_else(|| "-".to_owned(), |kb| format!("{:.1}", kb as f64 / 1024.0));
    let ms = |time: Duration| format!("{:.1}", time.as_secs_f64() * 1000.0);
    println!("{name:<34} {count:>8} {cache:>6} {:>9} {:>9} {peak:>9}", ms(times[0]), ms(times[runs / 2]));
    Ok(())
}

/// The most memory that a run of a command has, in kilobytes: its own high-water mark, looked at until it ends; `None` where
/// no such thing is told.
fn peak(command: &mut Command) -> io::Result<Option<u64>> {
    let mut child = command.spawn()?;
    let status = PathBuf::from(format!("/proc/{}/status", child.id()));
    let mut peak = None;
    while child.try_wait()?.is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let now = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        peak = peak.max(now);
    }
    Ok(peak)
}

/// Makes the workspace a repository in which everything is committed.
fn commit(root: &Path) -> io::Result<()> {
    std::fs::write(root.join(".gitignore"), ".project/.cache/\n")?;
    for args in [&["init", "-q"][..], &["add", "-A"], &["commit", "-q", "-m", "records"]] {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=ann", "-c", "user.email=ann@example.org", "-c", "gc.auto=0"]);
        if !git.args(args).current_dir(root).stdout(Stdio::null()).status()?.success() {
            return Err(io::Error::other(format!("git {} fails", args[0])));
        }
    }
    Ok(())
}
