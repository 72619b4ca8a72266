//! The fork in the road: a hook goes straight to its room, everything else is the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    match args.next() {
        Some(word) if word == "hook" => workfile::hook::run(args.next().as_deref()),
        None => workfile::hook::run_bare().unwrap_or_else(|| workfile::cli::run(None, args)),
        word => workfile::cli::run(word, args),
    }
}
