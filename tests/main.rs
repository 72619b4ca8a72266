//! The integration tests, one binary: a module per area, a builder for workspaces, a runner for recorded cases.

mod cases;
mod compare;
mod doors;
mod golden;
mod golden_hooks;
mod golden_records;
mod init;
mod names;
mod payload;
mod registered;
mod runtime;
mod workspace;
mod world;
