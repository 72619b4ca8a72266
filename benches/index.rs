//! The record index: reading it, who names whom, what is shown; for finding out where time goes.

#[path = "fixture/records.rs"]
mod records;

use criterion::{BenchmarkId, Criterion, Throughput};
use records::{ALL, Records};
use std::io;
use std::process::ExitCode;
use workfile::clock::Time;
use workfile::query::list::{self, Filter};
use workfile::query::{Index, Kind, Shower, View, context, next};
use workfile::workspace::{Access, Missing, Start, Workspace};

fn main() -> ExitCode {
    let mut criterion = Criterion::default().configure_from_args().sample_size(10);
    match run(&mut criterion) {
        Ok(()) => {
            criterion.final_summary();
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("index: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(criterion: &mut Criterion) -> io::Result<()> {
    let top = tempfile::Builder::new().prefix("workfile-index-").tempdir()?;
    let is_quick = std::env::args().any(|arg| arg == "--test");
    for count in if is_quick { vec![200] } else { vec![1000, ALL] } {
        let records = Records::new(top.path(), count)?;
        let open = |access| {
            let workspace = Workspace::load(&Start::Exactly(records.root.clone()), Missing::Refuse, access);
            workspace.map_err(|failure| io::Error::other(failure.to_string()))
        };
        let (reading, writing) = (open(Access::ReadOnly)?, open(Access::Write)?);
        let load = |workspace: &Workspace, kinds: &[Kind]| {
            Index::of(workspace, kinds).map_err(|failure| io::Error::other(failure.to_string()))
        };
        let mut group = criterion.benchmark_group("index");
        group.throughput(Throughput::Elements(records.files() as u64));
        group.bench_function(BenchmarkId::new("read without a cache", count), |bencher| {
            bencher.iter(|| load(&reading, &Kind::ALL).map(|index| index.len()));
        });
        if !is_quick {
            // Younger files are not kept.
            std::thread::sleep(std::time::Duration::from_millis(2100));
        }
        let index = load(&writing, &Kind::ALL)?;
        if index.len() != records.files() {
            return Err(io::Error::other(format!("{} of {} records", index.len(), records.files())));
        }
        group.bench_function(BenchmarkId::new("read", count), |bencher| {
            bencher.iter(|| load(&writing, &Kind::ALL).map(|index| index.len()));
        });
        group.bench_function(BenchmarkId::new("read cards", count), |bencher| {
            bencher.iter(|| load(&writing, &[Kind::Card]).map(|index| index.len()));
        });
        let shower =
            || Shower::new(&writing, &index).map_err(|failure| io::Error::other(failure.to_string()));
        group.bench_function(BenchmarkId::new("show a page", count), |bencher| {
            let request =
                list::Request { kinds: vec![Kind::Card], filter: Filter::nothing(), offset: 0, limit: 50 };
            bencher.iter(|| shower().map(|shower| list::answer(&shower, &request, View::List).len()));
        });
        group.bench_function(BenchmarkId::new("next", count), |bencher| {
            bencher.iter(|| next::candidates(&index, Some("ann"), &[]).len());
        });
        group.bench_function(BenchmarkId::new("context", count), |bencher| {
            let (card, now) = (Some("T-0100".to_owned()), Time::from_ms(1_740_787_200_000));
            let request = context::Request { card, limit: 20, ceiling: None, now };
            bencher.iter(|| shower().map(|shower| context::answer(&shower, &request).is_ok()));
        });
    }
    Ok(())
}
