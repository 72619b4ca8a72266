//! The rooms below the hooks, one function at a time: for finding out where time goes, never to judge a change by.

#[path = "fixture/cards.rs"]
mod cards;
#[path = "fixture/workspace.rs"]
mod workspace;

use cards::{Work, card};
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput};
use std::hint::black_box;
use std::io;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use workfile::activity::board::{self, Effort, Guard, Me};
use workfile::activity::ledger::{self, Event};
use workfile::clock::Time;
use workfile::fs::Dir;
use workfile::record::{self, Value};
use workfile::{path, scope};
use workspace::{FREE, Workspace};

/// Keys of a card that are lists.
const LISTS: [&str; 5] = ["tags", "depends", "scope", "related", "origin"];
/// The ledger's lines are this far apart, in milliseconds.
const STEP_MS: i64 = 1000;

fn main() -> ExitCode {
    let mut criterion = Criterion::default().configure_from_args();
    match run(&mut criterion) {
        Ok(()) => {
            criterion.final_summary();
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("rooms: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(criterion: &mut Criterion) -> io::Result<()> {
    let top = tempfile::Builder::new().prefix("workfile-rooms-").tempdir()?;
    paths(criterion);
    scopes(criterion);
    records(criterion);
    for claims in [10, 200, 2000] {
        let workspace = Workspace::new(top.path(), &format!("claims-{claims:05}"), claims, 1)?;
        boards(criterion, &Dir::open(&workspace.root)?, claims)?;
    }
    let workspace = Workspace::new(top.path(), "ledgers", 1, 1)?;
    ledgers(criterion, &Dir::open(&workspace.root)?)
}

fn paths(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("path::normalise");
    for (name, text) in [
        ("absolute", "/home/ann/repository/src/free/edit.rs"),
        ("relative", "../repository/./src//free/../free/edit.rs"),
    ] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| path::normalise(black_box(text), black_box("/home/ann/work")));
        });
    }
}

fn scopes(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("scope::covers");
    let path = "src/free/deep/er/and/deeper/edit.test.rs";
    for (name, entry) in [
        ("another folder", "docs/part-0001.md"),
        ("a folder above", "src/free"),
        ("a star", "src/free/*/er"),
        ("two stars", "src/**/edit.*.rs"),
        ("two stars that miss", "**/a/**/b/**/*.md"),
    ] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| scope::covers(black_box(entry), black_box(path)));
        });
    }
}

fn records(criterion: &mut Criterion) {
    let text = card(9, Work::Claimed);
    let mut group = criterion.benchmark_group("record");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("read_head", |bencher| {
        bencher.iter(|| record::read_head(black_box(text.as_bytes()), &LISTS));
    });
    group.bench_function("read", |bencher| {
        bencher.iter(|| record::read(black_box(&text), &LISTS).is_ok());
    });
    let changes = [
        ("status".to_owned(), Some(Value::Text("done".to_owned()))),
        ("claimed_by".to_owned(), None),
        ("scope".to_owned(), None),
    ];
    group.bench_function("patch", |bencher| {
        bencher.iter(|| record::patch(black_box(&text), &changes, &LISTS, Some("2025-03-01")).is_ok());
    });
}

fn boards(criterion: &mut Criterion, root: &Dir, claims: usize) -> io::Result<()> {
    let effort = || Effort { until: Instant::now() + Duration::from_secs(60), most_cards: None };
    let now = Time::system();
    board::renewed(root, effort(), now, |_| ())?;
    let me = Me::new(Some("5f0c7c9e-3b1d-4c7a-9a53-0d6d3c1b2a10"), |_| None);
    let is_clear =
        || matches!(board::ask_index(root, FREE, &me, &mut Vec::with_capacity(16 * 1024)), Guard::Clear);
    if !is_clear() {
        return Err(io::Error::other("the index does not answer"));
    }
    let mut group = criterion.benchmark_group("board");
    group.throughput(Throughput::Elements(claims as u64));
    group.bench_function(BenchmarkId::new("ask_index", claims), |bencher| bencher.iter(is_clear));
    group.bench_function(BenchmarkId::new("current", claims), |bencher| {
        bencher.iter(|| board::current(root, effort(), now).map(|told| told.board.claims.len()));
    });
    Ok(())
}

fn ledgers(criterion: &mut Criterion, root: &Dir) -> io::Result<()> {
    let activity = workfile::activity::make(root)?;
    let from = Time::from_ms(1_740_787_200_000);
    let at = |line: i64| from.minus(-line * STEP_MS).timestamp();
    let mut group = criterion.benchmark_group("ledger");
    let first = at(0);
    group.bench_function("append", |bencher| {
        bencher.iter_batched(
            // It would grow without end.
            || drop(activity.remove(ledger::FILE)),
            |()| ledger::append(&activity, &[event(&first)]),
            BatchSize::NumIterations(1000),
        );
    });
    drop(activity.remove(ledger::FILE));
    let lines = 1000;
    for line in 0..lines {
        ledger::append(&activity, &[event(&at(line))])?;
    }
    for last in [1, 100, lines] {
        let since = from.minus((last - lines) * STEP_MS);
        let read = ledger::tail(&activity, since).len();
        if read != last as usize {
            return Err(io::Error::other(format!("{read} of {last} lines of the ledger")));
        }
        group.bench_function(BenchmarkId::new("tail", last), |bencher| {
            bencher.iter(|| ledger::tail(&activity, black_box(since)).len());
        });
    }
    Ok(())
}

fn event(at: &str) -> Event<'_> {
    Event {
        at,
        session_id: "5f0c7c9e-3b1d-4c7a-9a53-0d6d3c1b2a10",
        tool: "Edit",
        path: FREE,
        tool_use_id: Some("toolu_01Hb8Qn5vWcXk2RzYtLm4PsD"),
        agent_id: None,
        agent_type: None,
        collision: None,
    }
}
