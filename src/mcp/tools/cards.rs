//! Cards: everything that changes one.

use super::output::{Member, RECORD, Shape};
use super::{Answer, Call, Nature, Property, Size, Tool, answer};
use crate::query::view;
use crate::work::claim::{self, Claim, Claimed, Overlap};
use crate::work::fields::{EFFORTS, PRIORITIES, RAISED, STATUSES, TYPES};
use crate::work::note::{self, Note};
use crate::work::patch::{self, Patch};
use crate::work::release::{self, Release};
use crate::work::transition::{self, Transition};
use crate::work::write::{self, Write, Written};
use crate::work::{Card, Proof, Waiver, archive as archiving, create as creation};
use crate::workspace::METHODS;
use serde_json::Value as Json;

/// Statuses that a released card may have: all but the one that is always claimed.
const RELEASED: &[&str] = &["backlog", "next", "review", "blocked", "deferred", "done", "discarded"];

const ID: Property = Property::text("id", "Card id, e.g. T-0007.").required().filled();
pub(super) const ACTOR: Property =
    Property::text("actor", "Whom the change names; leave out, the server derives it from the client.");
pub(super) const REVISION: Property = Property::text(
    "expectedRevision",
    "The revision you read last; the write is refused if the record has changed since. Left out: written over whatever is there.",
);
const SCOPE: &str = "Repository paths the work will change, `*` and `**` as usual. Edits of others inside them are asked about.";

const METHOD: Property = Property::one_of(
    "method",
    METHODS,
    "For a move to done: local (a command ran here; also when left out), ci (a run that others can open), manual (somebody \
     looked). project_workspace says which an area takes.",
);
const RUN: Property = Property::text("run", "With ci: address of the run.");
const EVIDENCE: Property = Property::text("evidence", "With manual: what was seen; it is noted in the card.");

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "project_card_archive",
        title: "Archive a card",
        about: "Put a card that is done or discarded away in the archive, where it keeps its id and stays readable. Nothing \
            else of it changes, and archiving it again does nothing. project_card_reopen brings it back.",
        nature: Nature::Removes,
        input: &[ID, ACTOR, REVISION],
        output: RECORD,
        always: &["record"],
        size: Size::Bounded,
        run: archive,
    },
    Tool {
        name: "project_card_claim",
        title: "Claim a card",
        about: "Take a card before you change what it covers: it becomes yours, moves to doing, and its scope guards those \
            paths against other agents. Names no other card: find one with project_next. CARD_ALREADY_CLAIMED means that \
            somebody holds it and no tool takes it over: pick another card or ask a person. warnings name claimed cards \
            whose scope touches yours; the claim stands, but talk to the holder or narrow the scope.",
        nature: Nature::Adds,
        input: &[
            ID,
            Property::text("actor", "Who takes it. Leave it out: the edit guard knows you by the derived name.").filled(),
            Property::texts("scope", "Repository paths this claim covers, `*` and `**` as usual; left out, the card keeps its scope."),
            REVISION,
        ],
        output: &[
            Member::new("record", Shape::Record),
            Member::new("warnings", Shape::List(&Shape::Overlap)),
        ],
        always: &["record"],
        size: Size::Bounded,
        run: claim,
    },
    Tool {
        name: "project_card_create",
        title: "Create a card",
        about: "Add one card for one piece of work, under a fresh id. Look first (project_card_list) whether it exists: this \
            never finds one. Areas and axes are the project's own; project_workspace lists them. To start on it, \
            project_card_claim it afterwards.",
        nature: Nature::Adds,
        input: &[
            Property::text("title", "What is to be done, in one line.").required().filled().at_most(80),
            Property::one_of("status", STATUSES, "Where it starts.").or("backlog"),
            Property::one_of("type", TYPES, "What kind of work it is.").or("task"),
            Property::one_of("priority", PRIORITIES, "How pressing it is.").or("medium"),
            Property::text("area", "One of this project's areas (project_workspace); the first one if left out."),
            Property::text("parent", "Card this one is a part of."),
            Property::texts("depends", "Cards that must be closed before this one can start."),
            Property::text("source", "File or reference the work comes from."),
            Property::one_of(
                "raised",
                &RAISED,
                "reported: a person asked for it; derived: you concluded it. Say it now, nobody can tell later.",
            ),
            Property::texts("tags", "Labels of your own."),
            Property::texts("scope", SCOPE),
            Property::texts("related", "Records worth reading beside it."),
            Property::texts("origin", "Records that were being worked on, or decided, when this came up."),
            Property::one_of("effort", EFFORTS, "Size: small, medium, large."),
            Property::text("start", "Day to start, YYYY-MM-DD."),
            Property::text("due", "Day it must be done by, YYYY-MM-DD."),
            Property::text("body", "The description in Markdown; criteria as a `- [ ]` list under `## Acceptance criteria`."),
            Property::names("axes", "Values of this project's axes, name: value (project_workspace)."),
        ],
        output: RECORD,
        always: &["record"],
        size: Size::Bounded,
        run: create,
    },
    Tool {
        name: "project_card_note",
        title: "Add a line to a card",
        about: "Append a line with time and name under a heading of a card, which is made if missing. Anybody may, whoever \
            holds the card; nothing else of it changes. For progress and findings.",
        nature: Nature::Adds,
        input: &[
            ID,
            Property::text("text", "What to say.").required().filled(),
            Property::text("section", "Heading it goes under, without the `#` marks; not Activity.").or("Notes"),
            ACTOR,
        ],
        output: RECORD,
        always: &["record"],
        size: Size::Bounded,
        run: note,
    },
    Tool {
        name: "project_card_patch",
        title: "Change card metadata",
        about: "Set or clear header fields of a card by name; what you do not name stays as it is. For the status \
            project_card_transition is better, for a line of text project_card_note. CARD_WRITE_CONFLICT: read it again \
            (project_get_record) and repeat with the new revision.",
        nature: Nature::Settles,
        input: &[
            ID,
            Property::fields(
                "changes",
                "Fields and new values, e.g. {\"priority\": \"high\", \"due\": null}; null, \"\" and [] clear one. Axes as \
                 {\"axes\": {name: value}}.",
            ),
            METHOD,
            RUN,
            EVIDENCE,
            REVISION,
        ],
        output: RECORD,
        always: &["record"],
        size: Size::Bounded,
        run: patch,
    },
    Tool {
        name: "project_card_release",
        title: "Release a claim",
        about: "Give back a card you hold, when you stop before it is finished or to hand it on. Only its holder can; \
            CARD_CLAIM_OWNER_MISMATCH names who that is.",
        nature: Nature::Settles,
        input: &[
            ID,
            ACTOR,
            Property::one_of("status", RELEASED, "Status to leave it in; left out, doing becomes next and any other stays."),
            METHOD,
            RUN,
            EVIDENCE,
            REVISION,
        ],
        output: RECORD,
        always: &["record"],
        size: Size::Bounded,
        run: release,
    },
    Tool {
        name: "project_card_reopen",
        title: "Reopen a card",
        about: "Bring a closed or archived card back into an open status, when its work turns out not to be finished. \
            CARD_REOPEN_STATUS_INVALID: done and discarded are closed; choose an open one.",
        nature: Nature::Adds,
        input: &[
            ID,
            Property::one_of("status", STATUSES, "Open status to come back in; not done, not discarded.").or("backlog"),
            ACTOR,
            REVISION,
        ],
        output: RECORD,
        always: &["record"],
        size: Size::Bounded,
        run: reopen,
    },
    Tool {
        name: "project_card_transition",
        title: "Move a card",
        about: "Move a card to another status. To doing is a claim (as project_card_claim); to review says that it is built \
            and waits for proof; to done needs every acceptance criterion ticked (project_card_write) and a method its area \
            accepts. No tool can force done: CARD_ACCEPTANCE_UNMET lists what is open, CARD_VERIFICATION_METHOD_REFUSED \
            which methods count.",
        nature: Nature::Adds,
        input: &[
            ID,
            Property::one_of(
                "status",
                STATUSES,
                "backlog: noted; next: queued; doing: in hand, claimed; review: built, not proven; blocked: waits for \
                 something outside; deferred: put off; done: proven; discarded: will not be done.",
            )
            .required(),
            ACTOR,
            Property::texts("scope", "For doing only: repository paths that the claim covers."),
            METHOD,
            RUN,
            EVIDENCE,
            REVISION,
        ],
        output: RECORD,
        always: &["record"],
        size: Size::Bounded,
        run: transition,
    },
    Tool {
        name: "project_card_write",
        title: "Replace a card body",
        about: "Replace a card's Markdown body whole: read it first (project_get_record), send all of it back changed, with \
            the revision you read. The Activity and Notes sections keep what is stored, wherever they stand in what you \
            send. To add one line take project_card_note, for header fields project_card_patch.",
        nature: Nature::Adds,
        input: &[ID, Property::text("body", "The whole new body, in Markdown.").required(), REVISION],
        output: &[
            Member::new("record", Shape::Record),
            Member::new("ignored", Shape::List(&Shape::Text))
                .about("Headings of kept sections for which other text was sent."),
        ],
        always: &["record"],
        size: Size::Bounded,
        run: write,
    },
];

fn record(call: &Call<'_>, card: &Card) -> Answer {
    Ok(answer("record", view::alone(&call.workspace()?, card)))
}

fn create(call: &Call<'_>) -> Answer {
    let workspace = call.workspace()?;
    let card = creation::create(&workspace, call.arguments.all(), &call.caller()?)?;
    Ok(answer("record", view::alone(&workspace, &card)))
}

fn patch(call: &Call<'_>) -> Answer {
    let changes = call.arguments.value("changes");
    let patch = Patch { target: call.target(), changes: &changes, waiver: Waiver::NONE, proof: proof(call) };
    record(call, &patch::patch(&call.workspace()?, patch, &call.caller()?)?)
}

fn note(call: &Call<'_>) -> Answer {
    let (text, section) = (call.arguments.needed("text"), call.arguments.needed("section"));
    let note = Note { target: call.target(), text, section };
    record(call, &note::note(&call.workspace()?, note, &call.caller()?)?)
}

fn claim(call: &Call<'_>) -> Answer {
    let scope = call.arguments.texts("scope");
    let claim =
        Claim { target: call.target(), scope: scope.as_deref(), waiver: Waiver::NONE, proof: Proof::NONE };
    let Claimed { card, overlaps } = claim::claim(&call.workspace()?, claim, &call.caller()?)?;
    let mut answer = record(call, &card)?;
    let warnings: Vec<Json> = overlaps.iter().map(Overlap::to_json).collect();
    answer.insert("warnings".to_owned(), warnings.into());
    Ok(answer)
}

fn release(call: &Call<'_>) -> Answer {
    let (status, proof) = (call.arguments.text("status"), proof(call));
    let release = Release { target: call.target(), status, waiver: Waiver::NONE, proof };
    record(call, &release::release(&call.workspace()?, release, &call.caller()?)?)
}

fn transition(call: &Call<'_>) -> Answer {
    let scope = call.arguments.texts("scope");
    let (status, scope, proof) = (call.arguments.needed("status"), scope.as_deref(), proof(call));
    let transition = Transition { target: call.target(), status, scope, waiver: Waiver::NONE, proof };
    record(call, &transition::transition(&call.workspace()?, transition, &call.caller()?)?.card)
}

fn write(call: &Call<'_>) -> Answer {
    let body = call.arguments.value("body");
    let write = Write { target: call.target(), body: &body };
    let Written { card, ignored } = write::write(&call.workspace()?, write, &call.caller()?)?;
    let mut answer = record(call, &card)?;
    answer.insert("ignored".to_owned(), ignored.into());
    Ok(answer)
}

fn archive(call: &Call<'_>) -> Answer {
    record(call, &archiving::archive(&call.workspace()?, call.target(), &call.caller()?)?)
}

fn reopen(call: &Call<'_>) -> Answer {
    let status = call.arguments.needed("status");
    record(call, &archiving::reopen(&call.workspace()?, call.target(), status, &call.caller()?)?)
}

/// How a move to done was proven.
fn proof<'a>(call: &'a Call<'_>) -> Proof<'a> {
    let text = |name| call.arguments.text(name);
    Proof { method: text("method"), run: text("run"), evidence: text("evidence"), commit: None }
}
