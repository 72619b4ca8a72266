//! What the server costs a session: its start, many calls at a time over many records, and the memory that is left.
//!
//! It prints a table and judges nothing; `--test` runs a few calls over few records, each of which has to succeed.

#[path = "fixture/records.rs"]
mod records;

use records::{ALL, Records};
use serde_json::{Value as Json, json};
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// How many servers are started, and how many calls each tool gets.
const STARTS: usize = 100;
const CALLS: usize = 500;
/// Calls that are waited for at the same time.
const AT_ONCE: usize = 10;
/// What changed less than this ago is not kept in a cache.
const RACY: Duration = Duration::from_millis(2100);

const VERSION: &str = "2025-06-18";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let has = |wanted: &str| args.iter().any(|arg| arg == wanted);
    let measured = if has("--test") {
        table(&[200], 2, 2 * AT_ONCE)
    } else if has("--bench") {
        table(&[1000, ALL], STARTS, CALLS)
    } else {
        println!("the table is printed by `cargo bench --bench mcp`");
        Ok(())
    };
    match measured {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("mcp: {error}");
            ExitCode::FAILURE
        }
    }
}

fn table(counts: &[usize], starts: usize, calls: usize) -> io::Result<()> {
    let top = tempfile::Builder::new().prefix("workfile-mcp-").tempdir()?;
    println!(
        "{:<44} {:>8} {:>8} {:>9} {:>9} {:>9} {:>8}",
        "", "records", "a second", "best ms", "median ms", "worst ms", "left MB"
    );
    for count in counts {
        let records = Records::new(top.path(), *count)?;
        std::thread::sleep(RACY);
        let files = records.files();
        let mut nothing = Vec::new();
        let mut answered = Vec::new();
        for _ in 0..starts {
            let start = Instant::now();
            Command::new("true").stdin(Stdio::null()).stdout(Stdio::null()).status()?;
            nothing.push(start.elapsed());
            let start = Instant::now();
            let server = Server::start(&records.root)?;
            answered.push(start.elapsed());
            server.end()?;
        }
        row("true, start to end", files, None, nothing, None);
        row("start to answered initialize", files, None, answered, None);
        let mut server = Server::start(&records.root)?;
        for (name, tool, arguments) in [
            ("project_card_list", "project_card_list", json!({})),
            (
                "project_card_list {status, limit 200}",
                "project_card_list",
                json!({"status": ["next"], "limit": 200}),
            ),
            ("project_search", "project_search", json!({"query": "berth booking"})),
            ("project_get_record", "project_get_record", json!({"id": "T-0007"})),
        ] {
            let begun = Instant::now();
            let times = server.calls(tool, &arguments, calls)?;
            let rate = calls as f64 / begun.elapsed().as_secs_f64();
            row(name, files, Some(rate), times, server.memory());
        }
        server.end()?;
    }
    Ok(())
}

fn row(name: &str, files: usize, rate: Option<f64>, mut times: Vec<Duration>, left: Option<u64>) {
    times.sort_unstable();
    let ms = |time: Duration| format!("{:.1}", time.as_secs_f64() * 1000.0);
    let (best, median, worst) = (times[0], times[times.len() / 2], times[times.len() - 1]);
    let rate = rate.map_or_else(String::new, |rate| format!("{rate:.0}"));
    let left = left.map_or_else(String::new, |kb| format!("{:.1}", kb as f64 / 1024.0));
    println!("{name:<44} {files:>8} {rate:>8} {:>9} {:>9} {:>9} {left:>8}", ms(best), ms(median), ms(worst));
}

/// A server that has answered `initialize`.
struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: String,
}

impl Server {
    fn start(root: &Path) -> io::Result<Self> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_workfile"));
        command.arg("mcp").current_dir(root).env_remove("CLAUDE_PROJECT_DIR").env("WORKFILE_ACTOR", "ann");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let gone = || io::Error::other("the server has no pipes");
        let (input, output) = (child.stdin.take().ok_or_else(gone)?, child.stdout.take().ok_or_else(gone)?);
        let mut server = Self { child, input, output: BufReader::new(output), line: String::new() };
        let client = json!({"name": "bench", "version": "1"});
        let hello = json!({"protocolVersion": VERSION, "capabilities": {}, "clientInfo": client});
        server.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}))?;
        server.answer()?;
        Ok(server)
    }

    fn send(&mut self, message: &Json) -> io::Result<()> {
        self.input.write_all(format!("{message}\n").as_bytes())
    }

    /// The number of the call that the next line answers.
    fn answer(&mut self) -> io::Result<usize> {
        self.line.clear();
        self.output.read_line(&mut self.line)?;
        let answer: Json = serde_json::from_str(&self.line)?;
        let is_good = answer["result"].is_object() && answer["result"]["isError"] != Json::Bool(true);
        let id = answer["id"].as_u64().filter(|_| is_good);
        id.map(|id| id as usize).ok_or_else(|| io::Error::other(format!("a call fails: {}", self.line)))
    }

    /// Calls a tool so often, a few at a time; how long each answer took.
    fn calls(&mut self, tool: &str, arguments: &Json, count: usize) -> io::Result<Vec<Duration>> {
        let params = json!({"name": tool, "arguments": arguments});
        let mut sent: Vec<Instant> = Vec::with_capacity(count);
        let mut times = Vec::with_capacity(count);
        while times.len() < count {
            while sent.len() < count && sent.len() - times.len() < AT_ONCE {
                self.send(
                    &json!({"jsonrpc": "2.0", "id": sent.len(), "method": "tools/call", "params": params}),
                )?;
                sent.push(Instant::now());
            }
            let answered = self.answer()?;
            times.push(sent[answered].elapsed());
        }
        Ok(times)
    }

    /// The memory that the server has now, in kilobytes; `None` where no such thing is told.
    fn memory(&self) -> Option<u64> {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.trim().trim_end_matches(" kB").parse().ok()
    }

    fn end(mut self) -> io::Result<()> {
        drop(self.input);
        let ended = self.child.wait()?;
        if ended.success() { Ok(()) } else { Err(io::Error::other(format!("the server ends with {ended}"))) }
    }
}
