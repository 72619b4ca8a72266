//! The changelog: fragments, what a release would be, and releases.

use super::output::{Member, RECORD, Shape};
use super::{Answer, Call, Nature, Property, REVISION, Size, Tool, answer};
use crate::failure::Failure;
use crate::history::cut::{self, Cut, Released};
use crate::history::preview::{self, Preview};
use crate::history::{Fragment, add as adding, patch as patching};
use crate::query::Entry;
use serde_json::{Map, Value as Json};

const FRAGMENTS: Property =
    Property::texts("fragmentIds", "Only these unreleased fragments; all of them if left out.");

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "project_changelog_add",
        title: "Add a change fragment",
        about: "Write down one change that a reader of the changelog will notice, with the cards and decisions behind it. One \
            fragment a change; the next release collects them. What only the code shows needs none.",
        nature: Nature::Adds,
        input: &[
            Property::text("title", "The change as its reader sees it, in one line.").required().filled(),
            Property::text(
                "type",
                "One of this project's types (project_workspace); its default if left out.",
            ),
            Property::text(
                "area",
                "One of this project's areas (project_workspace); the first one if left out.",
            ),
            Property::text(
                "visibility",
                "Whom it is for (project_workspace lists them); the default if left out.",
            ),
            Property::texts("cards", "Cards behind it."),
            Property::texts("issues", "Tickets of another tracker."),
            Property::texts("decisions", "Decisions that it carries out."),
            Property::texts("related", "Other records worth reading."),
            Property::texts("tags", "Labels of your own."),
            Property::text("body", "What else there is to say, in Markdown."),
        ],
        output: RECORD,
        always: &["record"],
        size: Size::Bounded,
        run: add,
    },
    Tool {
        name: "project_changelog_patch",
        title: "Change a waiting fragment",
        about: "Set or clear fields of a fragment that waits for a release, and its text when body is among them. \
            CHANGE_FRAGMENT_RELEASED: what was released stays as it was; add a fragment that corrects it.",
        nature: Nature::Settles,
        input: &[
            Property::text("id", "The fragment, e.g. CHG-0031.").required().filled(),
            Property::fields(
                "changes",
                "Fields and new values; null, \"\" and [] clear one; body replaces the text.",
            ),
            REVISION,
        ],
        output: RECORD,
        always: &["record"],
        size: Size::Bounded,
        run: patch,
    },
    Tool {
        name: "project_changelog_preview",
        title: "Preview a release",
        about: "Show which fragments a release would consume and how its notes would read. Nothing is written. Look at this \
            before project_changelog_release.",
        nature: Nature::Reads,
        input: &[
            FRAGMENTS,
            Property::text(
                "visibility",
                "Show only changes of this visibility (project_workspace lists them).",
            ),
        ],
        output: &[
            Member::new("fragments", Shape::List(&Shape::Record)),
            Member::new("groups", Shape::List(&Shape::Group)).about("By type, in the order of the notes."),
            Member::new("markdown", Shape::Text).about("The notes."),
        ],
        always: &["markdown"],
        size: Size::Grows,
        run: preview,
    },
    Tool {
        name: "project_changelog_release",
        title: "Cut a release",
        about: "Cut a release: the fragments that wait become part of it and cannot be changed any more, which is not taken \
            back. Only when a person asked for a release; show project_changelog_preview first.",
        nature: Nature::Removes,
        input: &[
            Property::text(
                "version",
                "The version, as this project's strategy wants it (project_workspace).",
            )
            .required()
            .filled(),
            Property::text("title", "A title; made from the version if left out."),
            Property::text("date", "Day of the release, YYYY-MM-DD; today if left out."),
            FRAGMENTS,
            Property::text("commit", "Commit that it is made from."),
            Property::texts("tags", "Labels of your own."),
            Property::text("body", "Markdown above the list of changes."),
        ],
        output: &[
            Member::new("record", Shape::Record),
            Member::new("consumedFragments", Shape::List(&Shape::Record)),
        ],
        always: &["record", "consumedFragments"],
        size: Size::Bounded,
        run: release,
    },
];

fn shown(call: &Call<'_>, entry: Entry<'_>) -> Result<Map<String, Json>, Failure> {
    Ok(entry.to_json(&call.workspace()?.config.cards, None))
}

fn record(call: &Call<'_>, fragment: &Fragment) -> Answer {
    Ok(answer("record", shown(call, Entry::Change(fragment))?))
}

fn add(call: &Call<'_>) -> Answer {
    record(call, &adding::add(&call.workspace()?, call.arguments.all())?)
}

fn patch(call: &Call<'_>) -> Answer {
    record(call, &patching::patch(&call.workspace()?, call.target(), &call.arguments.fields("changes"))?)
}

fn preview(call: &Call<'_>) -> Answer {
    let ids = call.arguments.texts(FRAGMENTS.name);
    let asked = Preview { ids: ids.as_deref(), visibility: call.arguments.text("visibility") };
    Ok(preview::preview(&call.workspace()?, asked)?.json)
}

fn release(call: &Call<'_>) -> Answer {
    let mut fields = call.arguments.all().clone();
    fields.shift_remove("version");
    let cut = Cut::of(call.arguments.needed("version"), &fields)?;
    let Released { release, consumed } = cut::cut(&call.workspace()?, &cut)?;
    let mut answer = answer("record", shown(call, Entry::Release(&release))?);
    let consumed: Result<Vec<Json>, Failure> =
        consumed.iter().map(|fragment| shown(call, Entry::Change(fragment)).map(Json::Object)).collect();
    answer.insert("consumedFragments".to_owned(), consumed?.into());
    Ok(answer)
}
