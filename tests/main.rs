//! The integration tests, one binary: a module per area, a builder for workspaces, a runner for recorded cases.

mod arithmetic;
mod cases;
mod claude;
mod compare;
mod doors;
mod golden;
mod golden_hooks;
mod golden_records;
mod init;
#[cfg(unix)]
mod launcher;
mod names;
mod payload;
mod process;
mod registered;
mod runtime;
mod workspace;
mod world;
