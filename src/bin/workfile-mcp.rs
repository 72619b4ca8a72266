//! The MCP server under its own name.

use std::io::Write as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    let text = "workfile-mcp: this build has no MCP server; the hooks and `workfile --help` work without one";
    // Whoever closed stderr gets the exit number all the same.
    let _ = writeln!(std::io::stderr(), "{text}");
    ExitCode::from(2)
}
