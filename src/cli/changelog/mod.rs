//! `workfile changelog …`: arguments into one call of the room of history, one answer out.

mod read;
mod write;

use super::input::JSON_INPUT;
use super::{Command, Flag, command};

const REVISION: Flag =
    Flag::value("expected-revision", "REV", "refuse when the record has changed since this revision");
const VISIBILITY: Flag = Flag::value("visibility", "WORD", "only fragments of this visibility");
const FRAGMENTS: Flag = Flag::value("fragments", "IDS", "only these unreleased fragments");

pub(super) const COMMANDS: &[Command] = &[
    command(&["changelog", "add"], "", 0, "write down a change for the next release", write::ADD, write::add)
        .examples(&[
            (
                "workfile changelog add --title \"Rates are per berth\" --type fixed",
                "a line of the next release",
            ),
            (
                "workfile changelog add --title \"New build\" --visibility internal --cards T-0001",
                "one that the public changelog leaves out, with the card behind it",
            ),
        ]),
    command(
        &["changelog", "list"],
        "",
        0,
        "list fragments and releases",
        &[Flag::switch("unreleased", "only fragments that wait for a release"), VISIBILITY],
        read::list,
    )
    .examples(&[
        ("workfile changelog list", "everything, released or not"),
        ("workfile changelog list --unreleased", "what the next release consumes"),
    ]),
    command(&["changelog", "show"], "ID", 1, "print one fragment or release as JSON", &[], read::show)
        .examples(&[(
            "workfile changelog show CHG-0001",
            "every field, the text and the revision of a fragment",
        )]),
    command(
        &["changelog", "patch"],
        "ID",
        1,
        "set or clear fields of an unreleased fragment",
        &[JSON_INPUT, REVISION],
        write::patch,
    )
    .examples(&[(
        "workfile changelog patch CHG-0001 --json-input changes.json",
        "the keys of a file replace those of the fragment",
    )]),
    command(
        &["changelog", "preview"],
        "",
        0,
        "show what a release would consume",
        &[FRAGMENTS, VISIBILITY],
        read::preview,
    )
    .examples(&[("workfile changelog preview --visibility public", "how the next release reads")]),
    command(
        &["changelog", "release"],
        "VERSION",
        1,
        "release all unreleased fragments, or amend the newest release",
        write::RELEASE,
        write::release,
    )
    .examples(&[
        ("workfile changelog release 1.4.0", "every fragment belongs to 1.4.0 from now on"),
        ("workfile changelog release 1.4.1 --fragments CHG-0007", "or only some of them"),
        ("workfile changelog release 1.4.1 --amend --title \"Quick fix\"", "corrects the newest release"),
    ]),
    command(
        &["changelog", "render"],
        "",
        0,
        "print the changelog as Markdown",
        &[
            Flag::value("visibility", "WORD", "fragments of this visibility instead of the public ones"),
            Flag::switch("write", "write it to the file that `changelog.output` names"),
        ],
        write::render,
    )
    .examples(&[("workfile changelog render --write", "brings CHANGELOG.md up to date")]),
    command(&["changelog", "verify"], "", 0, "say what is wrong with the changelog", &[], read::verify)
        .examples(&[("workfile changelog verify", "fails when a fragment or a release is damaged")]),
];
