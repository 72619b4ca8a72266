//! `workfile agents …`: who the program takes a session for.

use super::{Args, Command, Context, DryRun, Listed, Output};
use crate::failure::Failure;
use crate::work::claim::NOBODY;
use serde_json::{Map, Value as Json};
use std::fmt::Write as _;

pub(super) const COMMANDS: &[Command] = &[Command {
    words: &["agents", "whoami"],
    operands: "",
    most_operands: 0,
    about: "print whom changes are attributed to",
    flags: &[],
    examples: &[("workfile agents whoami", "the name a claim would carry, and where it comes from")],
    dry_run: DryRun::No,
    listed: Listed::Yes,
    run: whoami,
}];

fn whoami(context: &Context, args: &Args) -> Result<Output, Failure> {
    let identity = context.identity(args)?;
    let mut json = Map::new();
    let mut put = |key: &str, value: Option<&str>| {
        if let Some(value) = value {
            json.insert(key.to_owned(), value.into());
        }
    };
    put("actor", identity.actor.as_deref());
    put("source", Some(identity.source.name()));
    put("sessionId", identity.session.as_deref());
    let actor = identity.actor.as_deref().unwrap_or("(unresolved)");
    let mut text = format!("{actor}\t{}", identity.source.name());
    if let Some(session) = &identity.session {
        let _ = write!(text, "\nsession\t{session}");
    }
    let output = Output::new(Json::Object(json), text);
    Ok(match identity.actor {
        Some(_) => output,
        None => output.note(format!("workfile: nobody can be named: {NOBODY}")),
    })
}
