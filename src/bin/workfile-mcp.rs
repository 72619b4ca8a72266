//! The MCP server under its own name.

use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    let exit = match args.first().and_then(|word| word.to_str()) {
        Some("--help" | "-h") => workfile::cli::run(Some("mcp".into()), std::iter::empty()),
        Some("--version" | "-V") => workfile::cli::run(Some("version".into()), std::iter::empty()),
        _ => workfile::mcp::serve(args.into_iter()),
    };
    exit.into()
}
