//! The MCP server: one client on two pipes, one JSON message a line, nothing else on standard output.
//!
//! A reader cuts lines, decides each request's era and hands work to a desk; a few threads do the work, one writes the
//! answers. Nothing but the configuration is read before a call needs it. Protocol and tools are apart: a tool is a
//! declaration and a short function (`tools/`), and knows nothing of messages.

mod arguments;
mod call;
mod ceiling;
mod desk;
mod era;
mod host;
mod inspect;
mod kept;
mod lines;
mod message;
mod methods;
mod prompts;
mod refusal;
mod resources;
mod serve;
mod streams;
mod tools;

use crate::failure::{Code, Failure};
use host::{Host, Options};
use lexopt::Arg;
use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;

/// Runs `workfile mcp …`; the answer is the exit number.
pub fn run(args: impl Iterator<Item = OsString>) -> u8 {
    let mut args = args.peekable();
    let word = args.peek().and_then(|word| word.to_str()).unwrap_or_default().to_owned();
    match word.as_str() {
        "serve" | "stdio" => serve(args.skip(1)),
        "inspect" => {
            print(options(args.skip(1), Allowed::Printing).and_then(|options| inspect::inventory(&options)))
        }
        "config" => {
            print(options(args.skip(1), Allowed::Printing).and_then(|options| inspect::config(&options)))
        }
        _ => serve(args),
    }
}

/// Serves with the flags of `workfile-mcp`; the answer is the exit number.
pub fn serve(args: impl Iterator<Item = OsString>) -> u8 {
    match options(args, Allowed::Serving).and_then(|options| Host::open(&options)) {
        Ok(host) => serve::serve(host),
        Err(failure) => refuse(&failure),
    }
}

/// Which flags a command has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Allowed {
    Serving,
    Printing,
}

fn options(args: impl Iterator<Item = OsString>, allowed: Allowed) -> Result<Options, Failure> {
    let mut parser = lexopt::Parser::from_args(args);
    let mut options = Options::default();
    let unknown = |what: &dyn std::fmt::Display| {
        let failure = Failure::new(Code::CLI_ARGUMENT_UNKNOWN, format!("{what}"));
        failure.remedy("workfile mcp --help")
    };
    while let Some(arg) = parser.next().map_err(|error| unknown(&error))? {
        match arg {
            Arg::Long("root") => {
                options.root = Some(PathBuf::from(parser.value().map_err(|error| unknown(&error))?));
            }
            Arg::Long("read-only") => options.read_only = true,
            Arg::Long("max-result-bytes") if allowed == Allowed::Serving => {
                let value = parser.value().map_err(|error| unknown(&error))?;
                options.result_bytes = Some(host::result_bytes(&value.to_string_lossy())?);
            }
            Arg::Long("json") if allowed == Allowed::Printing => {}
            other => return Err(unknown(&other.unexpected())),
        }
    }
    Ok(options)
}

/// What `inspect` and `config` print.
fn print(json: Result<serde_json::Value, Failure>) -> u8 {
    match json {
        Ok(json) => {
            // Whoever closed stdout wants no more.
            let _ = writeln!(std::io::stdout(), "{json:#}");
            0
        }
        Err(failure) => refuse(&failure),
    }
}

/// One line on stderr: clients show the last ones.
fn refuse(failure: &Failure) -> u8 {
    let line: String =
        failure.to_string().chars().map(|c| if crate::path::is_control(c) { ' ' } else { c }).collect();
    let _ = writeln!(std::io::stderr(), "{line}");
    failure.code.exit()
}
