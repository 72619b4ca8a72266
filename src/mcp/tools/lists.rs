//! The four listings: one filter, one order, one page.

use super::memory::COLLECTIONS;
use super::output::PAGE;
use super::{Answer, Call, Nature, Property, Size, Tool};
use crate::docs::Origin;
use crate::failure::{Code, Failure};
use crate::query::list::{self, Filter, Holding, Request, boundary};
use crate::query::{Kind, Shower, View};
use crate::work::fields::{PRIORITIES, STATUSES, TYPES};

const SINCE: Property = Property::text(
    "updatedSince",
    "Changed on this day or later: YYYY-MM-DD, or a full RFC 3339 time, of which the day counts.",
)
.day();
const LIMIT: Property = Property::integer("limit", 1, Some(200), "Rows of a page.").or_number(50);
const OFFSET: Property = Property::integer("offset", 0, Some(100_000), "Matches to skip.").or_number(0);

const TAGS: Property = Property::texts("tags", "With any of these tags.");

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "project_card_list",
        title: "List cards",
        about: "List cards, a short row each, in order of id; filters combine, values of one filter are alternatives. \
            Archived cards are there and marked. For what to start on now take project_next; for a body or a revision \
            project_get_record.",
        nature: Nature::Reads,
        input: &[
            Property::any_of("status", STATUSES, "Any of these statuses.").judged(),
            Property::texts("area", "Any of these areas (project_workspace lists them)."),
            Property::any_of("type", TYPES, "Any of these types.").judged(),
            Property::any_of("priority", PRIORITIES, "Any of these priorities.").judged(),
            Property::text("parent", "Parts of this card."),
            Property::text("claimedBy", "Held by exactly this actor."),
            Property::flag("unclaimed", "true: held by nobody."),
            TAGS,
            SINCE,
            LIMIT,
            OFFSET,
        ],
        output: PAGE,
        always: &["records", "total"],
        size: Size::Grows,
        run: cards,
    },
    Tool {
        name: "project_changelog_list",
        title: "List fragments and releases",
        about: "List change fragments and releases, a short row each, in order of id; filters combine, values of one filter are \
            alternatives. What the next release would be is project_changelog_preview's.",
        nature: Nature::Reads,
        input: &[
            Property::texts("type", "Any of these types of change (project_workspace lists them)."),
            Property::texts("area", "Any of these areas (project_workspace lists them)."),
            Property::texts("visibility", "Any of these visibilities (project_workspace lists them)."),
            Property::flag(
                "released",
                "true: only fragments of a release; false: only those that wait. Either leaves releases out.",
            ),
            TAGS,
            SINCE,
            LIMIT,
            OFFSET,
        ],
        output: PAGE,
        always: &["records", "total"],
        size: Size::Grows,
        run: history,
    },
    Tool {
        name: "project_doc_list",
        title: "List documents",
        about: "List documents, a short row each, in order of id: managed ones, which these tools change, and files that are \
            only indexed. For words in them take project_search.",
        nature: Nature::Reads,
        input: &[
            Property::texts("kind", "Any of these kinds (project_workspace lists them)."),
            Property::texts("status", "Any of these statuses (project_workspace lists them)."),
            Property::flag(
                "managed",
                "true: only documents that these tools can change; false: only indexed files.",
            ),
            TAGS,
            SINCE,
            LIMIT,
            OFFSET,
        ],
        output: PAGE,
        always: &["records", "total"],
        size: Size::Grows,
        run: docs,
    },
    Tool {
        name: "project_memory_list",
        title: "List memory",
        about: "List learnings, decisions, incidents, conventions and context, a short row each, in order of id. For what is \
            known about a subject take project_search, for what matters to a card project_agent_context.",
        nature: Nature::Reads,
        input: &[
            Property::any_of("collection", COLLECTIONS, "Any of these collections.").judged(),
            Property::texts(
                "status",
                "Any of these statuses; each collection has its own (project_workspace).",
            ),
            TAGS,
            SINCE,
            LIMIT,
            OFFSET,
        ],
        output: PAGE,
        always: &["records", "total"],
        size: Size::Grows,
        run: memory,
    },
];

fn cards(call: &Call<'_>) -> Answer {
    let filter = Filter {
        status: texts(call, "status"),
        types: texts(call, "type"),
        priority: texts(call, "priority"),
        area: texts(call, "area"),
        parent: call.arguments.text("parent").map(str::to_owned),
        claim: holding(call),
        ..Filter::nothing()
    };
    page(call, vec![Kind::Card], filter)
}

fn docs(call: &Call<'_>) -> Answer {
    let origin = call
        .arguments
        .choice("managed")
        .map(|managed| if managed { Origin::Managed } else { Origin::Indexed });
    let filter =
        Filter { status: texts(call, "status"), types: texts(call, "kind"), origin, ..Filter::nothing() };
    page(call, vec![Kind::Doc], filter)
}

fn history(call: &Call<'_>) -> Answer {
    let filter = Filter {
        types: texts(call, "type"),
        area: texts(call, "area"),
        visibility: texts(call, "visibility"),
        released: call.arguments.choice("released"),
        ..Filter::nothing()
    };
    page(call, vec![Kind::Change, Kind::Release], filter)
}

fn memory(call: &Call<'_>) -> Answer {
    let filter =
        Filter { status: texts(call, "status"), types: texts(call, "collection"), ..Filter::nothing() };
    page(call, vec![Kind::Memory], filter)
}

/// A page of what matches; tags and the day are filters of every list.
fn page(call: &Call<'_>, kinds: Vec<Kind>, filter: Filter) -> Answer {
    let filter = Filter { tags: texts(call, TAGS.name), updated_since: since(call)?, ..filter };
    let (offset, limit) = (call.arguments.number(OFFSET.name), call.arguments.number(LIMIT.name));
    let workspace = call.workspace()?;
    let index = call.host.index(&workspace)?;
    call.go_on()?;
    let request = Request { kinds, filter, offset, limit };
    Ok(list::answer(&Shower::new(&workspace, &index)?, &request, View::List))
}

fn texts(call: &Call<'_>, name: &str) -> Vec<String> {
    call.arguments.texts(name).unwrap_or_default()
}

fn holding(call: &Call<'_>) -> Holding {
    match (call.arguments.text("claimedBy"), call.arguments.flag("unclaimed")) {
        (None, false) => Holding::Any,
        (None, true) => Holding::Nobody,
        (Some(actor), false) => Holding::Actor(actor.to_owned()),
        // Nobody is called this, and nothing is held by somebody and by nobody.
        (Some(_), true) => Holding::Actor(String::new()),
    }
}

/// The day of `updatedSince`; what is none is refused and not a filter that matches nothing.
fn since(call: &Call<'_>) -> Result<Option<String>, Failure> {
    let Some(text) = call.arguments.text(SINCE.name) else { return Ok(None) };
    boundary(text).map(Some).ok_or_else(|| {
        let problem =
            format!("`updatedSince` is `{text}`, but must be a day, YYYY-MM-DD, or a full RFC 3339 time");
        Failure::new(Code::MCP_ARGUMENT_INVALID, problem).with("option", SINCE.name).with("value", text)
    })
}
