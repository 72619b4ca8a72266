//! `mcp inspect` and `mcp config`: what the server offers, and what a host has to run.

use super::era::{MODERN, NAME, NEWEST_LEGACY, TITLE, VERSION_OF_SERVER, revisions};
use super::host::{Host, Options, shown};
use super::prompts;
use super::resources::ADDRESSES;
use super::tools;
use crate::failure::{Code, Failure};
use serde_json::{Value as Json, json};

/// The server's own program, beside the running one.
const PROGRAM: &str = if cfg!(windows) { "workfile-mcp.exe" } else { "workfile-mcp" };

/// The inventory.
pub(super) fn inventory(options: &Options) -> Result<Json, Failure> {
    let host = Host::open(options)?;
    let tools: Vec<Json> = tools::offered(&host)
        .map(|tool| {
            json!({
                "name": tool.name,
                "title": tool.title,
                "mutating": tool.nature != tools::Nature::Reads,
                "annotations": tool.annotations(),
            })
        })
        .collect();
    Ok(json!({
        "protocolVersion": MODERN,
        "legacyProtocolVersion": NEWEST_LEGACY,
        "supportedProtocolVersions": revisions(),
        "protocolEra": "dual",
        "transport": "stdio",
        "server": {"name": NAME, "title": TITLE, "version": VERSION_OF_SERVER},
        "readOnly": host.is_read_only(),
        "tools": tools,
        "resources": ADDRESSES,
        "prompts": prompts::names(),
        "semanticSearch": false,
        "integrations": [],
    }))
}

/// What starts this server for this workspace.
pub(super) fn config(options: &Options) -> Result<Json, Failure> {
    let host = Host::open(options)?;
    let running = std::env::current_exe().map_err(|error| {
        Failure::new(Code::INTERNAL_ERROR, format!("the running program has no path: {error}"))
    })?;
    let own = running.with_file_name(PROGRAM);
    let (command, mut args) =
        if own.is_file() { (own, vec![]) } else { (running, vec!["mcp".to_owned(), "serve".to_owned()]) };
    args.extend(["--root".to_owned(), shown(&host.root)]);
    if host.is_read_only() {
        args.push("--read-only".to_owned());
    }
    Ok(json!({
        "command": shown(&command),
        "args": args,
        "env": {},
        "transport": "stdio",
        "protocolVersion": MODERN,
    }))
}
