//! Repairs that need no decision: a file named as the title says, trail entries in the trail.

use super::card::{Card, Place};
use super::create::SLUG;
use super::mutate::{Caller, Target, mutate_file};
use super::plan::{Home, Plan};
use super::trail;
use crate::failure::Failure;
use crate::record;
use crate::workspace::Workspace;

/// Gives the card in `file` the name that its title gives; the answer is that name. `CARD_FILE_EXISTS` when it is taken.
pub fn rename_file(
    workspace: &Workspace,
    id: &str,
    place: Place,
    file: &str,
    caller: &Caller,
) -> Result<String, Failure> {
    let mut name = String::new();
    let plan = |card: &Card, _| {
        name = record::file_name(&card.id, card.field("title").unwrap_or_default(), SLUG, "card");
        let folder = card.file.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
        let to = format!("{folder}{name}");
        let mut plan = Plan::new(caller, Home::File(to.clone()));
        if to != card.file {
            plan.trail(format!("renamed file to {name}"));
        }
        Ok(plan)
    };
    mutate_file(workspace, Target { id, revision: None }, Some((place, file)), caller, plan, |_| ())?;
    Ok(name)
}

/// Moves the trail entries of the card in `file` into its trail; the answer is how many were elsewhere.
pub fn gather_trail(
    workspace: &Workspace,
    id: &str,
    place: Place,
    file: &str,
    caller: &Caller,
) -> Result<usize, Failure> {
    let mut count = 0;
    let plan = |card: &Card, _| {
        let mut plan = Plan::new(caller, Home::Stay);
        count = trail::misplaced(card.body()).len();
        if let Some(body) = trail::gathered(card.body()) {
            let entries = if count == 1 { "entry" } else { "entries" };
            plan.body_text = Some(body);
            plan.trail(format!("moved {count} trail {entries} into the trail"));
        }
        Ok(plan)
    };
    mutate_file(workspace, Target { id, revision: None }, Some((place, file)), caller, plan, |_| ())?;
    Ok(count)
}
