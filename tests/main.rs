//! The integration tests, one binary: a module per area, a builder for workspaces, a runner for recorded cases.

mod compare;
mod golden;
mod golden_hooks;
mod golden_records;
mod payload;
mod world;
