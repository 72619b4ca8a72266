//! `workfile card …`: arguments into one call of the room of cards, one answer out.

mod filing;
mod prove;
mod read;
mod write;

use super::input::JSON_INPUT;
use super::{Args, Command, Context, DryRun, Flag, Offers, Output, command};
use crate::activity::actor::{self, Asked, ProcessEnv};
use crate::failure::Failure;
use crate::work::fields::STATUSES;
use crate::work::{Caller, Card, Force, Proof, Target, Waiver};
use crate::workspace::METHODS;

const ACTOR: Flag = Flag::value("actor", "NAME", "on whose behalf; without it the environment says who asks");
const REVISION: Flag =
    Flag::value("expected-revision", "REV", "refuse when the card has changed since this revision");
const FORCE: Flag = Flag::switch("force", "act although another actor holds the card; needs --reason");
const REASON: Flag = Flag::value("reason", "TEXT", "why, with --force; it is written into the card");
const FORCE_PAST: Flag = Flag::switch(
    "force",
    "act although another actor holds the card or a gate of done is not passed; needs --reason",
);
const METHOD: Flag =
    Flag::value("method", "METHOD", "for a move to done: how it was verified, local without it")
        .offers(Offers::Word(METHODS));
const RUN: Flag = Flag::value("run", "URL", "where the run can be seen; the method ci needs it");
const EVIDENCE: Flag =
    Flag::value("evidence", "TEXT", "what was seen, a line of the notes; the method manual needs it");
const AXIS: Flag = Flag::many("axis", "NAME=VALUE", "the value of a declared axis; an empty one clears it");

pub(super) const COMMANDS: &[Command] = &[
    command(&["card", "create"], "", 0, "make a card", write::CREATE, write::create).examples(&[
        ("workfile card create --title \"Rework the rates\"", "a task in the backlog, in the first area"),
        (
            "workfile card create --title \"Rates are per berth\" --type bug --scope src/api,docs/rates.md",
            "says besides which paths the work will change",
        ),
        ("workfile card create --json-input card.json --body-file card.md", "fields and text from files"),
    ]),
    command(&["card", "list"], "", 0, "list cards", read::LIST, read::list).examples(&[
        ("workfile card list --status doing,review", "what is being worked on, and by whom"),
        ("workfile card list --area api --unclaimed --limit 20", "what nobody holds in one area"),
        (
            "workfile card list --status doing --json --fields id,title,claimed_by,scope",
            "who holds what, for a program",
        ),
    ]),
    command(&["card", "show"], "ID", 1, "print one card as JSON", &[], read::show)
        .examples(&[("workfile card show T-0001", "every field, the text and the revision of a card")]),
    command(
        &["card", "patch"],
        "ID",
        1,
        "set or clear fields of a card",
        &[JSON_INPUT, AXIS, METHOD, RUN, EVIDENCE, ACTOR, FORCE_PAST, REASON, REVISION],
        write::patch,
    )
    .examples(&[
        (
            "workfile card patch T-0001 --json-input changes.json",
            "the keys of a file replace those of the card",
        ),
        ("workfile card patch T-0001 --axis risk=low", "the value of an axis that the project declares"),
    ]),
    command(
        &["card", "write"],
        "ID",
        1,
        "replace the text of a card; its trail and its notes stay",
        &[
            Flag::value("body-file", "FILE", "the new text; without it standard input").offers(Offers::Files),
            ACTOR,
            REVISION,
        ],
        write::body,
    )
    .examples(&[(
        "workfile card write T-0001 --body-file card.md",
        "the text below the header, as a file has it",
    )]),
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
    )
    .examples(&[(
        "workfile card note T-0001 --text \"rates are per berth, not per boat\"",
        "a line with date and name below the card's text",
    )]),
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
            )
            .offers(Offers::Paths),
            ACTOR,
            FORCE,
            REASON,
            REVISION,
        ],
        write::claim,
    )
    .examples(&[
        (
            "workfile card claim T-0001 --scope src/api,docs/rates.md",
            "others are asked before they edit there",
        ),
        (
            "workfile card claim T-0001 --force --reason \"the session is gone\"",
            "takes it from whoever holds it and writes down why",
        ),
    ]),
    command(
        &["card", "release"],
        "ID",
        1,
        "drop the claim on a card",
        &[
            Flag::value("status", "STATUS", "where the card goes; without it from doing to next")
                .offers(Offers::Word(STATUSES)),
            METHOD,
            RUN,
            EVIDENCE,
            ACTOR,
            FORCE_PAST,
            REASON,
            REVISION,
        ],
        write::release,
    )
    .examples(&[
        ("workfile card release T-0001", "the card goes back to next"),
        ("workfile card release T-0001 --status blocked", "or to another status"),
    ]),
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
            )
            .offers(Offers::Paths),
            METHOD,
            RUN,
            EVIDENCE,
            ACTOR,
            FORCE_PAST,
            REASON,
            REVISION,
        ],
        write::transition,
    )
    .examples(&[
        ("workfile card transition T-0001 review", "the work is built; the claim is dropped with it"),
        ("workfile card transition T-0001 doing --scope src/api", "the same as a claim"),
        (
            "workfile card transition T-0001 done --method ci --run https://ci.example/12",
            "closes the card once every criterion is ticked, and says how that was verified",
        ),
    ]),
    command(
        &["card", "archive"],
        "ID",
        1,
        "put a closed card into the archive",
        &[ACTOR, REVISION],
        filing::archive,
    )
    .examples(&[("workfile card archive T-0001", "once it is done or discarded")]),
    command(
        &["card", "reopen"],
        "ID",
        1,
        "open a card again, from the archive too",
        &[
            Flag::value("status", "STATUS", "an open status; backlog without it")
                .offers(Offers::Word(STATUSES)),
            ACTOR,
            REVISION,
        ],
        filing::reopen,
    )
    .examples(&[("workfile card reopen T-0001 --status next", "it was not done after all")]),
    Command {
        dry_run: DryRun::Yes,
        ..command(
            &["card", "reap"],
            "",
            0,
            "release the claims that nobody stands behind any more",
            &[Flag::value("older-than", "HOURS", "only claims of at least this age"), ACTOR],
            filing::reap,
        )
    }
    .examples(&[
        ("workfile card reap --dry-run", "which claims have outlived their lease or their session"),
        ("workfile card reap --older-than 48", "gives those of two days and more back"),
    ]),
    command(
        &["card", "renumber"],
        "[ID|PATH]",
        1,
        "give a card another id",
        &[
            Flag::value("to", "ID", "the new id; without it the next one that is free"),
            Flag::switch("duplicates", "heal every id that several cards carry; no ID then"),
            ACTOR,
            REVISION,
        ],
        filing::renumber,
    )
    .examples(&[
        ("workfile card renumber --duplicates", "after a merge of two branches that made the same id"),
        (
            "workfile card renumber .project/cards/T-0042-rates.md",
            "one of several cards with an id, by its path",
        ),
    ]),
    command(&["card", "ac"], "ID", 1, "list acceptance criteria, or tick them", prove::AC, prove::ac)
        .examples(&[
            ("workfile card ac T-0001", "every criterion with its number"),
            (
                "workfile card ac T-0001 --check 1,3 --uncheck 2",
                "what a command proves is left to `card verify`",
            ),
        ]),
    command(
        &["card", "verify"],
        "[ID]",
        1,
        "run the commands that a card declares and tick what they prove",
        prove::VERIFY,
        prove::verify,
    )
    .examples(&[
        ("workfile card verify T-0001", "every command of the card, one after the other"),
        ("workfile card verify T-0001 --only tests,docs", "two of them"),
        (
            "workfile card verify --changed --base main --close --run https://ci.example/7",
            "every card that this branch touched; what is wholly proved is done",
        ),
    ]),
];

/// Who asks: the actor named or derived, and the one the process has by itself.
pub(super) fn caller(context: &Context, args: &Args) -> Result<Caller, Failure> {
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

fn proof(args: &Args) -> Proof<'_> {
    Proof { method: args.get("method"), run: args.get("run"), evidence: args.get("evidence"), commit: None }
}

/// A card, and in one line what became of it.
fn answer(card: &Card, done: &str) -> Output {
    Output::new(card.to_json(), format!("{} {done}", card.id))
}

/// What a list of cards says where there is none at all.
pub(super) const NO_CARD: &str = "there is no card yet: `workfile card create --title TEXT` makes one";
