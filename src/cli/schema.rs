//! `schema` and `version`: what this workspace's vocabularies are, and which program this is.

use super::{Args, Command, Context, DryRun, Listed, Output};
use crate::failure::Failure;
use crate::surface::claude::Stamp;
use serde_json::json;

pub(super) const COMMANDS: &[Command] = &[
    Command {
        words: &["schema"],
        operands: "",
        most_operands: 0,
        about: "the vocabularies and defaults in effect here",
        flags: &[],
        examples: &[("workfile schema", "every status, type, priority and area that a card may have here")],
        dry_run: DryRun::No,
        listed: Listed::Yes,
        run: schema,
    },
    Command {
        words: &["version"],
        operands: "",
        most_operands: 0,
        about: "the version of this program, and the commit it was built from",
        flags: &[],
        examples: &[("workfile version --json", "name, version and commit for a program")],
        dry_run: DryRun::No,
        listed: Listed::Yes,
        run: version,
    },
];

fn schema(context: &Context, _: &Args) -> Result<Output, Failure> {
    Ok(Output::json(context.workspace()?.schema()))
}

#[allow(clippy::unnecessary_wraps, reason = "every command of the table can fail")]
fn version(_: &Context, _: &Args) -> Result<Output, Failure> {
    let (name, Stamp { version, commit }) = (env!("CARGO_PKG_NAME"), Stamp::running());
    let text = format!("{name} {version} (commit {commit})");
    Ok(Output::new(json!({ "name": name, "version": version, "commit": commit }), text))
}
