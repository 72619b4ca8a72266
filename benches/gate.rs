//! The gate: what each path costs in instructions, system calls, page faults and memory, compared with `budgets.tsv`.
//!
//! Counts do not depend on how busy the machine is, so a regression shows in one run. Everything but memory and the row of the
//! hook that is switched off is counted over that row: the start of the process is the same for all.

mod budgets;
mod fixture;

use budgets::{Budget, COUNTED, Counts, FILE, MEMORY};
use fixture::{Fixture, NOP, Row};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// A larger payload comes from a file: a pipe does not hold it before the program reads.
const PIPE: usize = 64 * 1024;
/// Runs of which the middle one's page faults count: where the stack begins is chance.
const RUNS: usize = 15;
/// No run takes longer, under valgrind neither.
const LIMIT: Duration = Duration::from_secs(120);

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if !args.iter().any(|arg| arg == "--bench") {
        println!("the gate runs with `cargo bench --bench gate`");
        return ExitCode::SUCCESS;
    }
    match gate(args.iter().any(|arg| arg == "--record")) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("gate: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Measures every row; whether all is well.
fn gate(record: bool) -> io::Result<bool> {
    let fixture = Fixture::build()?;
    let counters = Counters::find(fixture.top());
    let mut measured = Vec::new();
    for row in &fixture.rows {
        measured.push((row.name, counters.count(row, &fixture)?));
    }
    let nop = measured.iter().find(|(name, _)| *name == NOP).map(|(_, counts)| *counts).unwrap_or_default();
    for (_, counts) in measured.iter_mut().filter(|(name, _)| *name != NOP) {
        for (count, nothing) in counts.iter_mut().zip(nop).take(MEMORY) {
            *count = count.zip(nothing).map(|(count, nothing)| count.saturating_sub(nothing));
        }
    }
    let mut text = std::fs::read_to_string(FILE)?;
    if record {
        text = budgets::record(&text, &measured).map_err(io::Error::other)?;
        std::fs::write(FILE, &text)?;
        println!("recorded in {FILE}");
    }
    let budgets = budgets::parse(&text).map_err(io::Error::other)?;
    Ok(report(&budgets, &measured, counters.there()) & counters.say_what_is_missing())
}

/// Prints the table and what there is to say about it; whether nothing failed.
fn report(budgets: &[Budget], measured: &[(&str, Counts)], counted: [bool; COUNTED.len()]) -> bool {
    print!("{:<22}", "path");
    for what in COUNTED {
        print!("{what:>14}{:>12}{:>12}", "record", "ceiling");
    }
    println!();
    let mut remarks = Vec::new();
    let mut good = true;
    for budget in budgets {
        let Some((name, counts)) = measured.iter().find(|(name, _)| *name == budget.path) else {
            good = false;
            remarks.push(format!("FAILED  {}: nothing measures it", budget.path));
            continue;
        };
        print!("{name:<22}");
        for ((now, recorded), most) in counts.iter().zip(budget.recorded).zip(budget.most) {
            print!("{:>14}{:>12}{:>12}", shown(*now), shown(recorded), shown(most));
        }
        println!();
        for ((what, counted), now) in COUNTED.iter().zip(counted).zip(counts) {
            if counted && now.is_none() {
                good = false;
                remarks.push(format!("FAILED  {name}: the hook gave up before its {what} were counted"));
            }
        }
        for finding in budget.judge(*counts) {
            good &= !finding.verdict.is_failure();
            let mark = if finding.verdict.is_failure() { "FAILED" } else { "note" };
            remarks.push(format!("{mark:<7} {name}: {finding}"));
        }
    }
    for (name, _) in measured {
        if !budgets.iter().any(|budget| budget.path == *name) {
            good = false;
            remarks.push(format!("FAILED  {name}: it has no line in {FILE}"));
        }
    }
    println!();
    for remark in remarks {
        println!("{remark}");
    }
    good
}

fn shown(number: Option<u64>) -> String {
    number.map_or("-".to_owned(), |number| number.to_string())
}

/// What counts.
struct Counters {
    valgrind: Option<PathBuf>,
    strace: Option<PathBuf>,
    /// Whether the kernel keeps books.
    books: bool,
    /// What stops a program where it ends and notes its memory.
    peak: Option<PathBuf>,
}

impl Counters {
    fn find(folder: &Path) -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let find =
            |name| std::env::split_paths(&path).map(|folder| folder.join(name)).find(|tool| tool.is_file());
        Self {
            valgrind: find("valgrind"),
            strace: find("strace"),
            books: faults_of_children().is_some(),
            peak: build_peak(folder),
        }
    }

    const fn there(&self) -> [bool; COUNTED.len()] {
        [self.valgrind.is_some(), self.strace.is_some(), self.books, self.peak.is_some()]
    }

    /// Whether nothing is missing. On a desk the gate passes without a counter, in CI it does not.
    fn say_what_is_missing(&self) -> bool {
        let counters = ["valgrind", "strace", "/proc/self/stat", "cc"];
        let missing = counters.into_iter().zip(COUNTED).zip(self.there());
        let mut all = true;
        for ((counter, what), there) in missing {
            if !there {
                all = false;
                println!("MISSING {counter}: no {what} were counted, and a regression there goes unseen");
            }
        }
        all || std::env::var_os("CI").is_none()
    }

    fn count(&self, row: &Row, fixture: &Fixture) -> io::Result<Counts> {
        let instructions =
            self.valgrind.as_deref().map(|tool| instructions(tool, row, fixture)).transpose()?;
        let calls = self.strace.as_deref().map(|tool| system_calls(tool, row, fixture)).transpose()?;
        let faults = self.books.then(|| page_faults(row, fixture)).transpose()?;
        let memory = self.peak.as_deref().map(|tool| memory(tool, row, fixture)).transpose()?;
        Ok([instructions, calls, faults, memory].map(Option::flatten))
    }
}

/// Instructions in user space, by callgrind; `None` when the hook gave up, which it does when it runs out of time.
fn instructions(valgrind: &Path, row: &Row, fixture: &Fixture) -> io::Result<Option<u64>> {
    let (out, log) = (fixture.top().join("callgrind.out"), fixture.top().join("callgrind.log"));
    let mut command = Command::new(valgrind);
    command.arg("--tool=callgrind").arg(format!("--callgrind-out-file={}", out.display()));
    // Old releases complain of each call that they do not know, and answer it with ENOSYS.
    command.arg(format!("--log-file={}", log.display())).arg(&fixture.program);
    if !run(&mut command, row, fixture)? {
        return Ok(None);
    }
    let text = std::fs::read_to_string(out)?;
    let total = text.lines().find_map(|line| line.strip_prefix("totals: ")?.trim().parse().ok());
    total.map(Some).ok_or_else(|| io::Error::other(format!("{}: callgrind counted nothing", row.name)))
}

/// System calls of the whole process, by strace; `None` when the hook gave up.
fn system_calls(strace: &Path, row: &Row, fixture: &Fixture) -> io::Result<Option<u64>> {
    let out = fixture.top().join("strace.out");
    let mut command = Command::new(strace);
    command.args(["-f", "-o"]).arg(&out).arg(&fixture.program);
    if !run(&mut command, row, fixture)? {
        return Ok(None);
    }
    // A process id, then a call; or a signal, an exit, or the rest of a call that was counted when it began.
    let is_call = |line: &&str| {
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
        let name = rest.split_once('(').map_or("", |(name, _)| name);
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let text = String::from_utf8_lossy(&std::fs::read(out)?).into_owned();
    match text.lines().filter(is_call).count() {
        0 => Err(io::Error::other(format!("{}: strace saw nothing", row.name))),
        calls => Ok(Some(calls as u64)),
    }
}

/// Page faults without a disk, by the kernel's own books; `None` when the hook gave up.
fn page_faults(row: &Row, fixture: &Fixture) -> io::Result<Option<u64>> {
    let mut faults = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        let before = faults_of_children();
        if !run(&mut Command::new(&fixture.program), row, fixture)? {
            return Ok(None);
        }
        faults.extend(faults_of_children().zip(before).map(|(after, before)| after - before));
    }
    faults.sort_unstable();
    Ok(faults.get(RUNS / 2).copied())
}

/// The minor page faults of every child that was waited for: the kernel adds them up when it hands out the exit.
fn faults_of_children() -> Option<u64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program may hold anything; the eleventh field is the ninth behind it.
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(8)?.parse().ok()
}

/// The program in `peak.c`, built into `folder`; `None` where it cannot be.
fn build_peak(folder: &Path) -> Option<PathBuf> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let (source, program) = (concat!(env!("CARGO_MANIFEST_DIR"), "/benches/peak.c"), folder.join("peak"));
    let built = Command::new("cc").args(["-O2", "-o"]).arg(&program).arg(source).status();
    built.is_ok_and(|status| status.success()).then_some(program)
}

/// The most memory in use, in KiB; `None` when the hook gave up. The middle of some runs, as with [`page_faults`].
fn memory(peak: &Path, row: &Row, fixture: &Fixture) -> io::Result<Option<u64>> {
    let out = fixture.top().join("peak.out");
    let mut all = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        let mut command = Command::new(peak);
        command.arg(&out).arg(&fixture.program);
        if !run(&mut command, row, fixture)? {
            return Ok(None);
        }
        let text = std::fs::read_to_string(&out)?;
        let kib = text.trim().parse().map_err(|_| {
            io::Error::other(format!("{}: its memory was not to be seen; the figure was {text:?}", row.name))
        })?;
        all.push(kib);
    }
    all.sort_unstable();
    Ok(all.get(RUNS / 2).copied())
}

/// Runs a row once from its beginning, its payload ready on stdin before it starts; whether it printed what it has to.
fn run(command: &mut Command, row: &Row, fixture: &Fixture) -> io::Result<bool> {
    row.reset()?;
    row.arm(command);
    let stdin: Stdio = if row.payload.len() <= PIPE {
        let (reader, mut writer) = io::pipe()?;
        writer.write_all(&row.payload)?;
        reader.into()
    } else {
        let file = fixture.top().join("payload");
        std::fs::write(&file, &row.payload)?;
        std::fs::File::open(file)?.into()
    };
    let said = fixture.top().join("said");
    command.stdin(stdin).stdout(std::fs::File::create(&said)?);
    finish(command.spawn()?, row.name)?;
    Ok(row.fits(&std::fs::read(said)?))
}

/// Waits for a run, not for ever.
fn finish(mut child: Child, row: &str) -> io::Result<()> {
    let until = Instant::now() + LIMIT;
    let status = loop {
        match child.try_wait()? {
            Some(status) => break status,
            None if Instant::now() < until => std::thread::sleep(Duration::from_millis(1)),
            None => {
                child.kill()?;
                child.wait()?;
                return Err(io::Error::other(format!("{row}: not done after {} s", LIMIT.as_secs())));
            }
        }
    };
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("{row}: {status}"))) }
}
