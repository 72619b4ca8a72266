//! Searches over the record index, one shape of query at a time; for finding out where time goes.

#[path = "fixture/records.rs"]
mod records;

use criterion::{BenchmarkId, Criterion, Throughput};
use records::{ALL, Records};
use std::io;
use std::process::ExitCode;
use workfile::query::list::Filter;
use workfile::query::{Index, search};
use workfile::workspace::{Access, Missing, Start, Workspace};

/// Shapes of queries, and whether they find something.
const QUERIES: [(&str, &str, bool); 8] = [
    ("everything", "", true),
    ("a word of many", "berth", true),
    ("a word of none", "zeppelin", false),
    ("an id", "T-0100", true),
    ("a phrase", "\"the page\"", true),
    ("words and a filter", "retry queue -status:done type:task", true),
    ("a filter", "area:web", true),
    ("an expression", "/retr(y|ies)/i", true),
];

fn main() -> ExitCode {
    let mut criterion = Criterion::default().configure_from_args().sample_size(10);
    match run(&mut criterion) {
        Ok(()) => {
            criterion.final_summary();
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("search: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(criterion: &mut Criterion) -> io::Result<()> {
    let top = tempfile::Builder::new().prefix("workfile-search-").tempdir()?;
    let is_quick = std::env::args().any(|arg| arg == "--test");
    for count in if is_quick { vec![2000] } else { vec![1000, ALL] } {
        let records = Records::new(top.path(), count)?;
        let start = Start::Exactly(records.root.clone());
        let index = Workspace::load(&start, Missing::Refuse, Access::ReadOnly)
            .and_then(|workspace| Index::load(&workspace))
            .map_err(|failure| io::Error::other(failure.to_string()))?;
        let mut group = criterion.benchmark_group("search");
        group.throughput(Throughput::Elements(records.files() as u64));
        for (name, query, finds) in QUERIES {
            let request = search::Request {
                query: query.to_owned(),
                kinds: Vec::new(),
                filter: Filter::nothing(),
                offset: 0,
                limit: 100,
            };
            let found = || search::search(&index, &request).map(|hits| hits.total);
            if found().is_ok_and(|total| (total > 0) != finds) {
                return Err(io::Error::other(format!("{query} finds what it should not, or nothing")));
            }
            group.bench_function(BenchmarkId::new(name, count), |bencher| bencher.iter(found));
        }
    }
    Ok(())
}
