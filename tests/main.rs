//! The integration tests, one binary: a module per area, a builder for workspaces, a runner for recorded cases.

mod agents;
#[cfg(unix)]
mod arithmetic;
mod cards;
mod cases;
mod changelog;
mod claude;
mod client;
mod closing;
mod compare;
#[cfg(unix)]
mod completions;
mod docs;
mod doctor;
mod doors;
mod earlier;
mod git;
mod golden;
mod golden_hooks;
mod golden_knowledge;
mod golden_mcp;
mod golden_records;
mod growth;
mod hardening;
mod heal;
mod hostile;
mod init;
mod launcher;
#[cfg(unix)]
mod live;
mod mcp;
mod memory;
mod names;
mod payload;
mod process;
mod queries;
mod races;
mod registered;
mod runtime;
#[cfg(unix)]
mod sweep;
#[cfg(unix)]
mod terminal;
mod uninstall;
mod upgrade;
mod usage;
#[cfg(unix)]
mod verify;
mod workspace;
mod world;
