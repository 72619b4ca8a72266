//! `workfile` keeps several agents and people in one Git repository out of each other's way.
//!
//! One program, three temperatures: the hooks run around every tool call and may cost little more than the start
//! of a process; the MCP server runs as long as a session; the command line runs when somebody types it.
//!
//! The rooms, and the doors between them. Imports go down this list only, never up, and rooms in one line do not
//! import each other (`tests/doors.rs` holds them to it):
//!
//! 1. `main`, `bin/`
//! 2. [`hook`] · [`cli`] · [`mcp`]
//! 3. [`doctor`]
//! 4. `surface` · [`query`]
//! 5. [`work`] · [`docs`] · [`history`] · [`memory`]
//! 6. [`workspace`]
//! 7. [`activity`]
//! 8. [`record`]
//! 9. [`fs`] · [`scope`]
//! 10. [`path`] · [`clock`] · [`failure`]
//!
//! [`hook`] may use only `activity`, `fs`, `scope`, `path`, `clock` and `failure`; `activity` uses `record` for its
//! header parser alone.

// The printing macros panic when nobody can read; `cli::print` does not.
#![warn(clippy::print_stdout, clippy::print_stderr)]

pub mod activity;
pub mod cli;
pub mod clock;
pub mod docs;
pub mod doctor;
pub mod failure;
pub mod fs;
pub mod history;
pub mod hook;
pub mod mcp;
pub mod memory;
pub mod path;
pub mod query;
pub mod record;
pub mod scope;
pub mod surface;
pub mod work;
pub mod workspace;
