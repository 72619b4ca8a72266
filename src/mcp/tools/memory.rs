//! Memory: everything that changes it.

use super::output::{Member, RECORD, Shape};
use super::{Answer, Call, Nature, Property, REVISION, Size, Tool, answer};
use crate::memory::{self, CONFIDENCES, Graduate, Memory, SEVERITIES, Supersede, Superseded};
use crate::query::{Entry, Index};
use serde_json::{Map, Value as Json};

/// Every collection there is.
pub(super) const COLLECTIONS: &[&str] = &["learnings", "decisions", "incidents", "conventions", "context"];

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "project_memory_add",
        title: "Add to memory",
        about: "Write down one thing that should change how somebody works here later, in the one collection it belongs to. \
            Search first (project_search): a better old record is worth more than a second one. What happened on a card \
            belongs into its notes, how a thing works into a document.",
        nature: Nature::Adds,
        input: &[
            Property::one_of(
                "collection",
                COLLECTIONS,
                "learnings: found out; decisions: chosen, with reasons; incidents: went wrong; conventions: rules in force; \
                 context: true for a while.",
            )
            .required(),
            Property::text("title", "The knowledge itself, as a statement.").required().filled(),
            Property::text("status", "One of the collection's statuses (project_workspace); its first if left out."),
            Property::text("category", "A finer heading within the collection."),
            Property::one_of("confidence", CONFIDENCES, "Of a learning: how sure it is."),
            Property::integer("occurrences", 1, None, "Of a learning: how often it was seen.").deferred(),
            Property::one_of("severity", SEVERITIES, "Of an incident: how bad it was."),
            Property::text("started_at", "Of an incident: when it began."),
            Property::text("resolved_at", "Of an incident: when it was over."),
            Property::text("expires", "Of context: last day it holds, YYYY-MM-DD."),
            Property::text("review_after", "Day to look at it again, YYYY-MM-DD."),
            Property::texts("deciders", "Of a decision: who took it."),
            Property::texts("related", "Records worth reading beside it."),
            Property::texts("supersedes", "What it takes the place of; project_memory_supersede changes both sides."),
            Property::texts("graduated_to", "Of a learning: records that carry it now."),
            Property::texts("corrective_actions", "Of an incident: cards that keep it from happening again."),
            Property::texts("scope", "Subjects it is about, in words; not paths."),
            Property::texts("owners", "Who keeps it true."),
            Property::texts("tags", "Labels of your own."),
            Property::text("body", "Reasons and details, in Markdown."),
        ],
        output: RECORD,
        always: &["record"],
        size: Size::Bounded,
        run: add,
    },
    Tool {
        name: "project_memory_graduate",
        title: "Graduate a learning",
        about: "Close a learning that has become something firmer: a convention, a decision, a document. Those records must \
            exist already; make them first. MEMORY_GRADUATION_TARGET_NOT_FOUND names the ids that do not.",
        nature: Nature::Adds,
        input: &[
            Property::text("id", "The learning, e.g. LRN-0009.").required().filled(),
            Property::texts("targets", "Records of any family that carry it from now on.").filled().required(),
            REVISION,
        ],
        output: RECORD,
        always: &["record"],
        size: Size::Bounded,
        run: graduate,
    },
    Tool {
        name: "project_memory_patch",
        title: "Change memory",
        about: "Set or clear fields of a memory record by name, and its text when body is among them; what you do not name \
            stays. When another record takes its place, project_memory_supersede is right.",
        nature: Nature::Settles,
        input: &[
            Property::text("id", "Memory record: LRN-, ADR-, INC-, CONV- or CTX-.").required().filled(),
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
        name: "project_memory_supersede",
        title: "Supersede memory",
        about: "Retire a memory record because another one, which exists already, takes its place: both get the link, or \
            neither changes. Nothing is deleted. MEMORY_SUPERSESSION_UNSUPPORTED: incidents and context are ended with \
            project_memory_patch instead.",
        nature: Nature::Adds,
        input: &[
            Property::text("id", "The record that is out of force.").required().filled(),
            Property::text("replacementId", "The record that is in force now.").required().filled(),
            REVISION,
        ],
        output: &[Member::new("record", Shape::Record), Member::new("replacement", Shape::Record)],
        always: &["record", "replacement"],
        size: Size::Bounded,
        run: supersede,
    },
];

fn shown(call: &Call<'_>, record: &Memory) -> Result<Map<String, Json>, crate::failure::Failure> {
    let settings = call.workspace()?.config.cards;
    Ok(Entry::Memory(record).to_json(&settings, None))
}

fn record(call: &Call<'_>, record: &Memory) -> Answer {
    Ok(answer("record", shown(call, record)?))
}

fn add(call: &Call<'_>) -> Answer {
    let mut fields = call.arguments.all().clone();
    fields.shift_remove("collection");
    record(call, &memory::add(&call.workspace()?, call.arguments.needed("collection"), &fields)?)
}

fn patch(call: &Call<'_>) -> Answer {
    record(call, &memory::patch(&call.workspace()?, call.target(), &call.arguments.fields("changes"))?)
}

fn graduate(call: &Call<'_>) -> Answer {
    let workspace = call.workspace()?;
    let index = Index::load(&workspace)?;
    let to = call.arguments.texts("targets").unwrap_or_default();
    let graduated = memory::graduate(&workspace, Graduate { target: call.target(), to: &to }, &|id| {
        index.find(id).is_some()
    })?;
    record(call, &graduated)
}

fn supersede(call: &Call<'_>) -> Answer {
    let by = call.arguments.needed("replacementId");
    let superseded = memory::supersede(&call.workspace()?, Supersede { target: call.target(), by })?;
    let Superseded { record: retired, replacement } = superseded;
    let mut answer = record(call, &retired)?;
    answer.insert("replacement".to_owned(), shown(call, &replacement)?.into());
    Ok(answer)
}
