//! `workfile agents context`: what to know before work on a card begins.

use super::{Args, Command, Context, DryRun, Flag, Listed, Offers, Output};
use crate::clock;
use crate::failure::Failure;
use crate::query::context::{self, MOST, Request, USUAL};
use crate::query::{Index, Shower};
use serde_json::Value as Json;
use std::mem::ManuallyDrop;

pub(super) const COMMANDS: &[Command] = &[Command {
    words: &["agents", "context"],
    operands: "",
    most_operands: 0,
    about: "print what to know before work on a card, or a session, begins",
    flags: &[
        Flag::value("card", "ID", "the card; without it what is in flight and in force everywhere")
            .offers(Offers::Card),
        Flag::value("limit", "N", "how many records, 1 to 50; 20 without it"),
    ],
    examples: &[
        (
            "workfile agents context --card T-0001",
            "the card, its relations, and the rules and decisions about its scope",
        ),
        ("workfile agents context", "the same for a session that has no card yet"),
    ],
    dry_run: DryRun::No,
    listed: Listed::Yes,
    run,
}];

fn run(context: &Context, args: &Args) -> Result<Output, Failure> {
    let limit = args.at_least_one("limit")?.unwrap_or(USUAL).min(MOST);
    let request =
        Request { card: args.get("card").map(str::to_owned), limit, ceiling: None, now: clock::now() };
    let workspace = context.workspace()?;
    // Its memory goes with the process, at once.
    let index = ManuallyDrop::new(Index::load(&workspace)?);
    let answer = context::answer(&Shower::new(&workspace, &index)?, &request)?;
    let markdown = answer.get("markdown").and_then(Json::as_str).unwrap_or_default().to_owned();
    Ok(Output::new(Json::Object(answer), markdown))
}
