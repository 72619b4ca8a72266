//! `workfile doc …`: arguments into one call of the room of documents, one answer out.

mod read;
mod write;

use super::input::JSON_INPUT;
use super::{Command, Flag, Offers, command};

const REVISION: Flag =
    Flag::value("expected-revision", "REV", "refuse when the document has changed since this revision");
const FOLDER: Flag =
    Flag::value("folder", "FOLDER", "a folder below the managed documents; an empty one is their root");

pub(super) const COMMANDS: &[Command] = &[
    command(&["doc", "create"], "", 0, "make a document", write::CREATE, write::create).examples(&[
        (
            "workfile doc create --title \"How rates are found\" --kind architecture",
            "a draft, in the folder of its kind",
        ),
        (
            "workfile doc create --title \"Draining the queue\" --kind runbook --folder ops --owners core",
            "in a folder of its own, with an owner",
        ),
    ]),
    command(&["doc", "list"], "", 0, "list documents", read::LIST, read::list).examples(&[
        ("workfile doc list", "managed and indexed documents, what changed last first"),
        ("workfile doc list --managed", "only those that can be changed here"),
        ("workfile doc list --query \"queue kind:runbook\"", "what a search finds among them"),
    ]),
    command(&["doc", "show"], "ID", 1, "print one document as JSON", &[], read::show)
        .examples(&[("workfile doc show DOC-0001", "every field, the text and the revision of a document")]),
    command(
        &["doc", "patch"],
        "ID",
        1,
        "set or clear fields of a document",
        &[JSON_INPUT, REVISION],
        write::patch,
    )
    .examples(&[(
        "workfile doc patch DOC-0001 --json-input changes.json",
        "the keys of a file replace those of the document",
    )]),
    command(
        &["doc", "move"],
        "ID",
        1,
        "move a document to another folder, as it is",
        &[FOLDER, REVISION],
        write::relocate,
    )
    .examples(&[("workfile doc move DOC-0001 --folder ops", "folders that are left empty go")]),
    command(
        &["doc", "write"],
        "ID",
        1,
        "replace the text of a document",
        &[
            Flag::value("body-file", "FILE", "the new Markdown below the header; standard input without it")
                .offers(Offers::Files),
            REVISION,
        ],
        write::write,
    )
    .examples(&[("workfile doc write DOC-0001 --body-file new.md", "the header stays")]),
    command(
        &["doc", "note"],
        "ID",
        1,
        "add a line to a document's notes",
        &[
            Flag::value("text", "TEXT", "what the note says, in one line"),
            Flag::value("section", "NAME", "another section than Notes"),
            Flag::value("actor", "NAME", "on whose behalf; without it the environment says who asks"),
            REVISION,
        ],
        write::note,
    )
    .examples(&[(
        "workfile doc note DOC-0001 --text \"checked against the running queue\"",
        "a line with date and name at the end of its notes",
    )]),
];
