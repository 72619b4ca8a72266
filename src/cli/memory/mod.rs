//! `workfile memory …`: arguments into one call of the room of memory, one answer out.

mod read;
mod write;

use super::input::JSON_INPUT;
use super::{Command, Flag, command};

const REVISION: Flag =
    Flag::value("expected-revision", "REV", "refuse when the record has changed since this revision");

pub(super) const COMMANDS: &[Command] = &[
    command(
        &["memory", "add"],
        "COLLECTION",
        1,
        "write down a learning, decision, incident, convention or context",
        write::ADD,
        write::add,
    )
    .examples(&[
        (
            "workfile memory add decision --title \"One queue per berth\" --status accepted",
            "what was decided",
        ),
        (
            "workfile memory add learning --title \"Retries pile up\" --confidence high --scope src/api",
            "what was learned, and where it counts",
        ),
        (
            "workfile memory add context --title \"Freeze until March\" --expires 2027-03-01",
            "what is going on, and until when",
        ),
    ]),
    command(&["memory", "list"], "", 0, "list memory", read::LIST, read::list).examples(&[
        ("workfile memory list", "every record, what changed last first"),
        ("workfile memory list --collection decisions --status accepted", "the decisions in force"),
    ]),
    command(&["memory", "show"], "ID", 1, "print one memory record as JSON", &[], read::show)
        .examples(&[("workfile memory show ADR-0001", "every field, the text and the revision of a record")]),
    command(
        &["memory", "patch"],
        "ID",
        1,
        "set or clear fields of a memory record",
        &[JSON_INPUT, REVISION],
        write::patch,
    )
    .examples(&[(
        "workfile memory patch ADR-0001 --json-input changes.json",
        "the keys of a file replace those of the record",
    )]),
    command(
        &["memory", "graduate"],
        "ID",
        1,
        "mark a learning as having become other records",
        &[Flag::value("to", "IDS", "the records it has become"), REVISION],
        write::graduate,
    )
    .examples(&[("workfile memory graduate LRN-0001 --to CONV-0001", "the learning is a convention now")]),
    command(
        &["memory", "supersede"],
        "ID",
        1,
        "put one record in the place of another; both say so",
        &[Flag::value("by", "ID", "what takes its place"), REVISION],
        write::supersede,
    )
    .examples(&[(
        "workfile memory supersede ADR-0001 --by ADR-0002",
        "the second decision replaces the first",
    )]),
    command(&["memory", "verify"], "", 0, "say what is wrong with memory", &[], read::verify)
        .examples(&[("workfile memory verify", "fails when a record is damaged")]),
];
