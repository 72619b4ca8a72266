//! `workfile card …`: arguments into one call of the room of cards, one answer out.

mod input;
mod read;
mod write;

use super::{Args, Command, Context, DryRun, Flag, Listed, Output};
use crate::activity::actor::{self, Asked, ProcessEnv};
use crate::failure::Failure;
use crate::work::{Caller, Force, Target, Waiver};

const ACTOR: Flag = Flag::value("actor", "NAME", "on whose behalf; without it the environment says who asks");
const REVISION: Flag =
    Flag::value("expected-revision", "REV", "refuse when the card has changed since this revision");
const FORCE: Flag = Flag::switch("force", "act although another actor holds the card; needs --reason");
const REASON: Flag = Flag::value("reason", "TEXT", "why, with --force; it is written into the card");
const JSON_INPUT: Flag =
    Flag::value("json-input", "FILE", "fields as a JSON object, null clears one; - reads standard input");
const AXIS: Flag = Flag::many("axis", "NAME=VALUE", "the value of a declared axis; an empty one clears it");

/// A row of the family.
const fn command(
    words: &'static [&'static str],
    operands: &'static str,
    most_operands: usize,
    about: &'static str,
    flags: &'static [Flag],
    run: fn(&Context, &Args) -> Result<Output, Failure>,
) -> Command {
    Command { words, operands, most_operands, about, flags, dry_run: DryRun::No, listed: Listed::Yes, run }
}

pub(super) const COMMANDS: &[Command] = &[
    command(&["card", "create"], "", 0, "make a card", write::CREATE, write::create),
    command(&["card", "list"], "", 0, "list cards", read::LIST, read::list),
    command(&["card", "show"], "ID", 1, "print one card as JSON", &[], read::show),
    command(
        &["card", "patch"],
        "ID",
        1,
        "set or clear fields of a card",
        &[JSON_INPUT, AXIS, ACTOR, FORCE, REASON, REVISION],
        write::patch,
    ),
    command(
        &["card", "note"],
        "ID",
        1,
        "add a line to a card's notes",
        &[
            Flag::value("text", "TEXT", "what the note says"),
            Flag::value("section", "NAME", "another section than Notes"),
            ACTOR,
            REVISION,
        ],
        write::note,
    ),
    command(
        &["card", "claim"],
        "ID",
        1,
        "take a card and say which paths the work will change",
        &[
            Flag::value(
                "scope",
                "PATHS",
                "paths from the root, comma-separated, `*` and `**` as usual; without it they stay",
            ),
            ACTOR,
            FORCE,
            REASON,
            REVISION,
        ],
        write::claim,
    ),
    command(
        &["card", "release"],
        "ID",
        1,
        "drop the claim on a card",
        &[
            Flag::value("status", "STATUS", "where the card goes; without it from doing to next"),
            ACTOR,
            FORCE,
            REASON,
            REVISION,
        ],
        write::release,
    ),
    command(
        &["card", "transition"],
        "ID STATUS",
        2,
        "move a card to another status; to doing is a claim",
        &[
            Flag::value(
                "scope",
                "PATHS",
                "for a move to doing: paths from the root that the work will change",
            ),
            ACTOR,
            FORCE,
            REASON,
            REVISION,
        ],
        write::transition,
    ),
];

/// Who asks: the actor named or derived, and the one the process has by itself.
fn caller(context: &Context, args: &Args) -> Result<Caller, Failure> {
    let acting = context.identity(args)?;
    Ok(Caller { acting, own: actor::resolve(Asked::NOTHING, &ProcessEnv) })
}

fn target(args: &Args) -> Result<Target<'_>, Failure> {
    Ok(Target { id: args.need(0, "ID")?, revision: args.get("expected-revision") })
}

fn waiver(args: &Args) -> Waiver<'_> {
    let force = if args.has("force") { Force::Yes } else { Force::No };
    Waiver { force, reason: args.get("reason") }
}

/// What a list of cards says where there is none at all.
pub(super) const NO_CARD: &str = "there is no card yet: `workfile card create --title TEXT` makes one";

/// A cell of a row: what would break the row is a space.
pub(super) fn cell(text: Option<&str>) -> String {
    let breaks = |c: char| if matches!(c, '\t' | '\n' | '\r') { ' ' } else { c };
    text.unwrap_or_default().chars().map(breaks).collect()
}
