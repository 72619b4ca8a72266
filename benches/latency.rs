//! The latency harness: what a hook costs from just before its process is spawned to just after its exit is collected.
//!
//! Everything that is compared runs in one interleaved series of rounds, in random order, so that a busy machine slows all
//! of it alike. Times are quoted as ratios to the least that a process can cost on the same machine at the same moment: a
//! static program without libc that exits at once (F), and a static C program that returns from `main` (C).

mod fixture;
mod statistics;

use fixture::{Fixture, NOP, Row};
use statistics::{Ratio, floor, median, p95, percentile, ratio};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

/// Rounds by default, and for a quick look.
const ROUNDS: usize = 1000;
const QUICK: usize = 200;
/// Rounds that are not counted.
const WARM_UP: usize = 10;
/// Rows that take milliseconds run once in this many rounds.
const SELDOM: usize = 10;
/// Only what is above its budget by more than this, and surely so, fails.
const TOLERANCE: f64 = 1.25;
/// How much later than a process that only reads its stdin a hook before an edit may be, at the 95th percentile.
const LATER_US: f64 = 2000.0;
/// The row that the promise about edits is measured on.
const EDIT: &str = "pre-200";

/// What a row may cost.
struct Goal {
    row: &'static str,
    /// Its floor in units of F, for glibc and for musl.
    floor: (f64, Option<f64>),
    /// Its 95th percentile in units of that of F.
    p95: Option<f64>,
    /// Its floor in units of C.
    c: Option<f64>,
    /// Whether it runs in one of [`SELDOM`] rounds.
    seldom: bool,
}

/// The goals; a musl build has its own where one was measured.
const GOALS: [Goal; 12] = [
    goal(NOP, 3.3, Some(1.4)),
    goal("pre-10", 3.5, Some(2.0)),
    Goal { p95: Some(3.8), c: Some(1.25), ..goal(EDIT, 3.7, Some(2.2)) },
    goal("pre-2000", 4.7, Some(3.2)),
    goal("pre-write-1mb", 6.0, Some(5.0)),
    goal("post-edit-35k", 3.7, Some(2.3)),
    goal("post-read", 3.5, Some(2.1)),
    Goal { seldom: true, ..goal("post-bash-scan", 38.0, Some(38.0)) },
    goal("start-10", 6.0, Some(4.5)),
    Goal { seldom: true, ..goal("start-1000", 15.0, None) },
    Goal { seldom: true, ..goal("start-10000", 130.0, None) },
    Goal { seldom: true, ..goal("start-10000-uncached", 260.0, None) },
];

const fn goal(row: &'static str, glibc: f64, musl: Option<f64>) -> Goal {
    Goal { row, floor: (glibc, musl), p95: None, c: None, seldom: false }
}

impl Goal {
    fn floor(&self) -> f64 {
        let (glibc, musl) = self.floor;
        if cfg!(target_env = "musl") { musl.unwrap_or(glibc) } else { glibc }
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let has = |wanted: &str| args.iter().any(|arg| arg == wanted);
    if !has("--bench") {
        println!("the harness runs with `cargo bench --bench latency`");
        return ExitCode::SUCCESS;
    }
    match measure(if has("--quick") { QUICK } else { ROUNDS }) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("latency: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Measures everything, what failed once again; whether nothing failed twice.
fn measure(rounds: usize) -> io::Result<bool> {
    let fixture = Fixture::build()?;
    let references = References::build(fixture.top());
    let mut series = all_series(&fixture, &references)?;
    run_rounds(&mut series, rounds)?;
    let failed = report(&series, &references);
    if failed.is_empty() {
        return Ok(true);
    }
    println!("\nabove their budgets, so once again:\n");
    series.retain(|series| series.row.is_none_or(|row| row.name == NOP || failed.contains(&row.name)));
    for series in &mut series {
        series.samples.clear();
    }
    run_rounds(&mut series, rounds)?;
    Ok(report(&series, &references).is_empty())
}

/// The programs that times are compared with; `None` without a C compiler or a static libc.
struct References {
    /// Exits at once, without libc.
    floor: Option<PathBuf>,
    /// Returns from `main`.
    c: Option<PathBuf>,
    /// Reads its stdin to the end.
    reader: Option<PathBuf>,
}

const FLOOR: &str = r#"
void _start(void) {
#if defined(__x86_64__)
    __asm__ volatile("xor %edi, %edi\n\tmov $231, %eax\n\tsyscall");
#elif defined(__aarch64__)
    __asm__ volatile("mov x0, #0\n\tmov x8, #94\n\tsvc #0");
#else
#error "no floor for this processor"
#endif
}
"#;
const C: &str = "int main(void) { return 0; }\n";
const READER: &str = "#include <unistd.h>\nint main(void) { static char window[65536]; \
                      while (read(0, window, sizeof window) > 0); return 0; }\n";

impl References {
    fn build(folder: &Path) -> Self {
        let build = |name: &str, source: &str, flags: &[&str]| {
            let (text, linked, copy) =
                (folder.join(format!("{name}.c")), folder.join(format!("{name}.linked")), folder.join(name));
            let build = || -> io::Result<bool> {
                std::fs::write(&text, source)?;
                let status = Command::new("cc")
                    .args(["-O2", "-static"])
                    .args(flags)
                    .arg("-o")
                    .arg(&linked)
                    .arg(&text)
                    .status()?;
                // A copy, as the program that it is compared with is one.
                std::fs::copy(&linked, &copy)?;
                Ok(status.success())
            };
            match build() {
                Ok(true) => Some(copy),
                failed => {
                    println!("MISSING no static C program to compare with ({name}: {failed:?})");
                    None
                }
            }
        };
        Self {
            floor: build(
                "floor",
                FLOOR,
                &["-nostdlib", "-nostartfiles", "-fno-stack-protector", "-Wl,--build-id=none"],
            ),
            c: build("nothing", C, &[]),
            reader: build("reader", READER, &[]),
        }
    }
}

/// One program and how long its runs took.
struct Series<'a> {
    label: &'a str,
    program: PathBuf,
    /// Where it begins, and its words, environment and payload.
    row: Option<&'a Row>,
    /// The row whose environment and payload it runs with.
    like: &'a Row,
    seldom: bool,
    /// Microseconds.
    samples: Vec<f64>,
}

fn all_series<'a>(fixture: &'a Fixture, references: &References) -> io::Result<Vec<Series<'a>>> {
    let find = |name: &str| {
        let found = fixture.rows.iter().find(|row| row.name == name);
        found.ok_or_else(|| io::Error::other(format!("{name}: nothing measures it")))
    };
    let edit = find(EDIT)?;
    let mut all = Vec::new();
    for (label, program) in [("F", &references.floor), ("C", &references.c), ("reader", &references.reader)] {
        if let Some(program) = program.clone() {
            all.push(Series { label, program, row: None, like: edit, seldom: false, samples: Vec::new() });
        }
    }
    for goal in &GOALS {
        let row = find(goal.row)?;
        let (program, seldom) = (fixture.program.clone(), goal.seldom);
        all.push(Series { label: row.name, program, row: Some(row), like: row, seldom, samples: Vec::new() });
    }
    Ok(all)
}

/// Runs everything in turn, in another order each time.
fn run_rounds(all: &mut [Series<'_>], rounds: usize) -> io::Result<()> {
    let mut random = fastrand::Rng::new();
    let mut order: Vec<usize> = (0..all.len()).collect();
    for round in 0..WARM_UP + rounds {
        random.shuffle(&mut order);
        for &place in &order {
            let series = &mut all[place];
            if series.seldom && round % SELDOM != 0 {
                continue;
            }
            let took = run(series)?;
            if round >= WARM_UP {
                series.samples.push(took);
            }
        }
    }
    Ok(())
}

/// One run from the row's beginning, in microseconds.
fn run(series: &Series<'_>) -> io::Result<f64> {
    if let Some(row) = series.row {
        row.reset()?;
    }
    let (reader, mut stdin) = io::pipe()?;
    let (mut stdout, writer) = io::pipe()?;
    let mut command = Command::new(&series.program);
    series.like.arm(&mut command);
    command.stdin(reader).stdout(writer.try_clone()?).stderr(writer);
    let mut said = Vec::with_capacity(8 * 1024);

    let start = Instant::now();
    let mut child = command.spawn()?;
    // Its ends of the pipes go with it.
    drop(command);
    // A program that reads nothing may be gone by now.
    let _ = stdin.write_all(&series.like.payload);
    drop(stdin);
    stdout.read_to_end(&mut said)?;
    let status = child.wait()?;
    let took = start.elapsed();

    if status.success() && series.row.is_none_or(|row| row.fits(&said)) {
        Ok(took.as_secs_f64() * 1e6)
    } else {
        let said = String::from_utf8_lossy(&said);
        Err(io::Error::other(format!("{}: {status}, and it said {said:?}", series.label)))
    }
}

/// Prints what was measured; the rows that are surely above their budgets.
fn report<'a>(all: &[Series<'a>], references: &References) -> Vec<&'a str> {
    let samples = |label: &str| {
        let found = all.iter().find(|series| series.label == label);
        found.map(|series| series.samples.as_slice())
    };
    if references.floor.is_none() {
        println!(
            "MISSING without a static program to compare with, ratios are to the hook that is switched off, and no budget holds"
        );
    }
    let unit = samples("F").or_else(|| samples(NOP)).unwrap_or_default();
    let mut random = fastrand::Rng::with_seed(95);
    let mut failed = Vec::new();
    let mut remarks = Vec::new();
    println!(
        "{:<22}{:>6}{:>10}{:>10}{:>10}{:>10}   {:<21}{:>7}   {:<21}{:>7}   {:<20}{:>6}",
        "microseconds",
        "runs",
        "floor",
        "p50",
        "p95",
        "p99",
        "x floor of F",
        "goal",
        "x p95 of F",
        "goal",
        "x floor of C",
        "goal"
    );
    for series in all {
        let own = series.samples.as_slice();
        let goal = GOALS.iter().find(|goal| goal.row == series.label);
        let in_floors = ratio(own, unit, floor, &mut random);
        let in_p95 = ratio(own, unit, p95, &mut random);
        let in_c = samples("C").map(|c| ratio(own, c, floor, &mut random));
        let budgets = [
            (Some(in_floors), goal.map(Goal::floor)),
            (Some(in_p95), goal.and_then(|goal| goal.p95)),
            (in_c, goal.and_then(|goal| goal.c)),
        ];
        print!(
            "{:<22}{:>6}{:>10.1}{:>10.1}{:>10.1}{:>10.1}",
            series.label,
            own.len(),
            floor(own),
            median(own),
            p95(own),
            percentile(own, 0.99)
        );
        for (ratio, budget) in budgets {
            print!(
                "   {:<21}{:>7}",
                ratio.map(shown).unwrap_or_default(),
                budget.map(|goal| goal.to_string()).unwrap_or_default()
            );
            if let (Some(ratio), Some(budget), Some(_)) = (ratio, budget, &references.floor) {
                if ratio.low > TOLERANCE * budget {
                    failed.push(series.label);
                    remarks.push(format!(
                        "FAILED  {}: surely more than {:.2} times its goal of {budget}",
                        series.label,
                        ratio.low / budget
                    ));
                } else if ratio.low > budget {
                    remarks.push(format!("note    {}: above its goal of {budget}", series.label));
                }
            }
        }
        println!();
    }
    if let (Some(reader), Some(edit)) = (samples("reader"), samples(EDIT)) {
        let later = p95(edit) - p95(reader);
        remarks.push(format!("note    {EDIT}: {later:+.0} us at the 95th percentile against reading stdin alone; {LATER_US:.0} are allowed"));
        if later > LATER_US {
            failed.push(EDIT);
            remarks.push(format!("FAILED  {EDIT}: later than that"));
        }
    }
    println!();
    for remark in remarks {
        println!("{remark}");
    }
    failed.dedup();
    failed
}

fn shown(ratio: Ratio) -> String {
    format!("{:.2} [{:.2}, {:.2}]", ratio.value, ratio.low, ratio.high)
}
