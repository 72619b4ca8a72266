//! `workfile next`: which cards can be started.

use super::card::NO_CARD;
use super::{Args, Column, Command, Context, DryRun, Flag, Listed, Output, Table};
use crate::failure::Failure;
use crate::query::next::{self, Candidate, MOST, USUAL};
use crate::query::{Index, Shower, View};
use serde_json::{Value as Json, json};
use std::mem::ManuallyDrop;

pub(super) const COMMANDS: &[Command] = &[Command {
    words: &["next"],
    operands: "",
    most_operands: 0,
    about: "list cards that can be started, the best first",
    flags: &[
        Flag::value("actor", "NAME", "for whom; without it the environment says who asks"),
        Flag::value("area", "A,B", "any of these areas"),
        Flag::value("limit", "N", "how many, 1 to 20; 5 without it"),
    ],
    examples: &[
        ("workfile next", "the five best cards to start, and why"),
        ("workfile next --area api,web --limit 20", "more of them, from two areas"),
    ],
    dry_run: DryRun::No,
    listed: Listed::Yes,
    run,
}];

fn run(context: &Context, args: &Args) -> Result<Output, Failure> {
    let limit = args.number("limit")?.unwrap_or(USUAL).clamp(1, MOST);
    let areas = args.list("area").unwrap_or_default();
    let caller = context.identity(args)?.actor;
    let workspace = context.workspace()?;
    // Only a whole record says who names it.
    let index = if context.json { Index::load(&workspace) } else { next::index(&workspace) }?;
    // Its memory goes with the process, at once.
    let index = ManuallyDrop::new(index);
    let ready = next::candidates(&index, caller.as_deref(), &areas);
    let (shown, rest) = ready.split_at(limit.min(ready.len()));
    if !context.json {
        if index.cards.cards.is_empty() {
            return Ok(Output::new(Json::Null, NO_CARD));
        }
        return Ok(told(shown, rest.len()));
    }
    let records = next::show(&Shower::new(&workspace, &index)?, shown, View::Full);
    let answer = json!({"records": records, "total": ready.len(), "truncated": !rest.is_empty()});
    Ok(Output::new(answer, ""))
}

/// The rows, and how many more there are.
fn told(candidates: &[Candidate<'_>], more: usize) -> Output {
    if candidates.is_empty() {
        return Output::new(Json::Null, "nothing is ready to start: `workfile card list` has every card");
    }
    let columns = [Column::Id, Column::Status, Column::Priority, Column::Text, Column::Detail];
    let rows = candidates.iter().map(|Candidate { card, reason, .. }| {
        let [status, priority, title] =
            ["status", "priority", "title"].map(|key| card.field(key).unwrap_or_default().to_owned());
        [card.id.clone(), status, priority, title, format!("({reason})")]
    });
    let below = if more > 0 { format!("… {more} more ready") } else { String::new() };
    Output::rows(Json::Null, Table::new(columns, rows), below)
}
