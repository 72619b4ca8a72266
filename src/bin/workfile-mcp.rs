//! The MCP server under its own name.

use std::process::ExitCode;

fn main() -> ExitCode {
    eprintln!("workfile-mcp: this build has no MCP server; the hooks and `workfile --help` work without one");
    ExitCode::from(2)
}
