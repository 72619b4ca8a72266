//! Documents: everything that changes one.

use super::output::RECORD;
use super::{ACTOR, Answer, Call, Nature, Property, REVISION, Size, Tool, answer};
use crate::docs::{self, Document, Move, Note, SECTION};
use crate::query::Entry;

const ID: Property = Property::text("id", "Document id, e.g. DOC-0002.").required().filled();

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "project_doc_create",
        title: "Create a document",
        about: "Add a managed document under a fresh id, for text that people and agents come back to: how something works or \
            is run. A rule, decision or finding belongs into memory (project_memory_add). Look first with project_search; \
            this never finds an existing one.",
        nature: Nature::Adds,
        input: &[
            Property::text("title", "What it is about, in one line.").required().filled(),
            Property::text(
                "kind",
                "One of this project's kinds (project_workspace); its default if left out.",
            ),
            Property::text(
                "status",
                "One of this project's statuses (project_workspace); its default if left out.",
            ),
            Property::text(
                "folder",
                "Folder below the managed root; left out, the workspace's layout decides.",
            ),
            Property::texts("owners", "Who keeps it true."),
            Property::texts("related", "Records worth reading beside it."),
            Property::texts("supersedes", "Documents it takes the place of."),
            Property::texts("scope", "Subjects it covers, in words; not paths."),
            Property::texts("tags", "Labels of your own."),
            Property::text("source", "What the text is based on."),
            Property::text("reviewed", "Day it was last checked, YYYY-MM-DD."),
            Property::integer("review_interval_days", 0, None, "Days until it has to be checked again.")
                .deferred(),
            Property::text("body", "The text, in Markdown."),
        ],
        output: RECORD,
        always: &["record"],
        size: Size::Bounded,
        run: create,
    },
    Tool {
        name: "project_doc_move",
        title: "Move a document",
        about: "Put a managed document into another folder below the managed root. Its id and text stay, so that references by \
            id still hold. DOC_MOVE_TARGET_EXISTS: a file of that name is there; choose another folder.",
        nature: Nature::Settles,
        input: &[
            ID,
            Property::text("folder", "Where to; \"\" is the managed root itself.").required(),
            REVISION,
        ],
        output: RECORD,
        always: &["record"],
        size: Size::Bounded,
        run: relocate,
    },
    Tool {
        name: "project_doc_note",
        title: "Add a line to a document",
        about: "Append a line with time and name under a heading of a managed document, which is made if missing. For what \
            changes the text itself take project_doc_write.",
        nature: Nature::Adds,
        input: &[
            ID,
            Property::text("text", "What to say.").required().filled(),
            Property::text("section", "Heading it goes under, without the `#` marks.").or(SECTION),
            ACTOR,
        ],
        output: RECORD,
        always: &["record"],
        size: Size::Bounded,
        run: note,
    },
    Tool {
        name: "project_doc_patch",
        title: "Change document metadata",
        about: "Set or clear header fields of a managed document by name, and its text when body is among them; what you do \
            not name stays. DOC_NOT_MANAGED: files that are only indexed are edited like any other file.",
        nature: Nature::Settles,
        input: &[
            ID,
            Property::fields(
                "changes",
                "Fields and new values; null, \"\" and [] clear one; body replaces the text. The folder is project_doc_move's.",
            ),
            REVISION,
        ],
        output: RECORD,
        always: &["record"],
        size: Size::Bounded,
        run: patch,
    },
    Tool {
        name: "project_doc_write",
        title: "Replace a document body",
        about: "Replace a managed document's text whole: read it first (project_get_record), send all of it back changed, with \
            the revision you read. To add one line take project_doc_note.",
        nature: Nature::Adds,
        input: &[ID, Property::text("body", "The whole new text, in Markdown.").required(), REVISION],
        output: RECORD,
        always: &["record"],
        size: Size::Bounded,
        run: write,
    },
];

fn record(call: &Call<'_>, document: &Document) -> Answer {
    let settings = call.workspace()?.config.cards;
    Ok(answer("record", Entry::Doc(document).to_json(&settings, None)))
}

fn create(call: &Call<'_>) -> Answer {
    record(call, &docs::create(&call.workspace()?, call.arguments.all())?)
}

fn relocate(call: &Call<'_>) -> Answer {
    let moving = Move { target: call.target(), folder: call.arguments.text("folder") };
    record(call, &docs::relocate(&call.workspace()?, moving)?)
}

fn note(call: &Call<'_>) -> Answer {
    let caller = call.caller()?;
    let (text, section) = (call.arguments.needed("text"), call.arguments.needed("section"));
    let note = Note { target: call.target(), text, section, actor: caller.actor() };
    record(call, &docs::note(&call.workspace()?, note)?)
}

fn patch(call: &Call<'_>) -> Answer {
    record(call, &docs::patch(&call.workspace()?, call.target(), &call.arguments.fields("changes"))?)
}

fn write(call: &Call<'_>) -> Answer {
    record(call, &docs::write(&call.workspace()?, call.target(), call.arguments.text("body"))?)
}
