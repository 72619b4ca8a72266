//! What is here: the workspace, one record, the cards that match, the cards that can be started.

use super::output::{Member, PAGE, Shape};
use super::{Answer, Call, Nature, Property, Size, Tool, answer};
use crate::failure::{Code, Failure};
use crate::query::list::{self, Filter, Holding, Request, boundary};
use crate::query::{Index, Kind, Shower, View, next};
use crate::work::fields::{PRIORITIES, STATUSES, TYPES};
use crate::workspace::Workspace;
use serde_json::{Map, Value as Json};

const SINCE: Property = Property::text(
    "updatedSince",
    "Changed on this day or later: YYYY-MM-DD, or a full RFC 3339 time, of which the day counts.",
)
.day();
const LIMIT: Property = Property::integer("limit", 1, Some(200), "Rows of a page.").or_number(50);
const OFFSET: Property = Property::integer("offset", 0, Some(100_000), "Matches to skip.").or_number(0);

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
            Property::texts("tags", "With any of these tags."),
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
        name: "project_get_record",
        title: "Read one record",
        about: "Read one record whole, by its id: its body, its fields and its revision. Read before you write; \
            expectedRevision of the writing tools wants the revision from here.",
        nature: Nature::Reads,
        input: &[Property::text("id", "Id of the record, e.g. T-0007.").required().filled()],
        output: super::output::RECORD,
        always: &["record"],
        size: Size::Grows,
        run: record,
    },
    Tool {
        name: "project_next",
        title: "What can start now",
        about: "Which cards can be worked on now, the best first, each with the reason. Left out are epics, cards whose \
            dependencies are open and cards that others hold; what you hold already comes first. Then claim one with \
            project_card_claim.",
        nature: Nature::Reads,
        input: &[
            super::cards::ACTOR,
            Property::texts("area", "Only these areas (project_workspace lists them)."),
            Property::integer("limit", 1, Some(next::MOST as i64), "How many.").or_number(next::USUAL as i64),
        ],
        output: &[
            Member::new("records", Shape::List(&Shape::Candidate)),
            Member::new("total", Shape::Integer).about("How many could start."),
        ],
        always: &["records", "total"],
        size: Size::Bounded,
        run: ready,
    },
    Tool {
        name: "project_workspace",
        title: "Workspace overview",
        about: "What this workspace is: its name and root, the modules that are on, every vocabulary in use (areas, axes, \
            kinds, statuses), how each area wants a card to be proven done, and whether writing is possible. Call it once at \
            the beginning: values that a project declares for itself are listed here and nowhere else.",
        nature: Nature::Reads,
        input: &[],
        output: &[
            Member::new("name", Shape::Text).about("Its name."),
            Member::new("root", Shape::Text).about("Absolute path of its root."),
            Member::new("version", Shape::Object).about("What it was made with."),
            Member::new("schema", Shape::Object).about(
                "Vocabularies, defaults and paths by module. cards.verification.methods: by area (or *) the methods that \
                 prove a card done; none listed, any will do.",
            ),
            Member::new("readOnly", Shape::Flag).about("Whether writing is refused."),
        ],
        always: &["name", "root", "readOnly"],
        size: Size::Bounded,
        run: workspace,
    },
];

fn workspace(call: &Call<'_>) -> Answer {
    Ok(overview(&call.workspace()?, call.host.is_read_only()))
}

/// `{name, root, version, schema, readOnly}`.
pub(in crate::mcp) fn overview(workspace: &Workspace, read_only: bool) -> Map<String, Json> {
    let mut overview = answer("name", workspace.config.name.clone());
    overview.insert("root".to_owned(), workspace.root.to_string_lossy().into());
    if let Some(version) = &workspace.version {
        overview.insert("version".to_owned(), version.clone());
    }
    overview.insert("schema".to_owned(), workspace.schema());
    overview.insert("readOnly".to_owned(), read_only.into());
    overview
}

fn record(call: &Call<'_>) -> Answer {
    let workspace = call.workspace()?;
    let id = call.arguments.needed("id");
    let index = Index::load(&workspace)?;
    let Some(place) = index.find(id) else {
        let failure = Failure::new(Code::RECORD_NOT_FOUND, format!("there is no record {id}"));
        return Err(failure.remedy("workfile search"));
    };
    call.go_on()?;
    Ok(answer("record", Shower::new(&workspace, &index)?.show(&[place], View::Full).remove(0)))
}

fn cards(call: &Call<'_>) -> Answer {
    let texts = |name| call.arguments.texts(name).unwrap_or_default();
    let filter = Filter {
        status: texts("status"),
        types: texts("type"),
        priority: texts("priority"),
        area: texts("area"),
        tags: texts("tags"),
        parent: call.arguments.text("parent").map(str::to_owned),
        claim: holding(call),
        updated_since: since(call)?,
        ..Filter::nothing()
    };
    let (offset, limit) = (call.arguments.number("offset"), call.arguments.number("limit"));
    let workspace = call.workspace()?;
    let index = Index::load(&workspace)?;
    call.go_on()?;
    let request = Request { kinds: vec![Kind::Card], filter, offset, limit };
    Ok(list::answer(&Shower::new(&workspace, &index)?, &request, View::List))
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

fn ready(call: &Call<'_>) -> Answer {
    let caller = call.caller()?.acting.actor;
    let workspace = call.workspace()?;
    let index = Index::load(&workspace)?;
    call.go_on()?;
    let areas = call.arguments.texts("area").unwrap_or_default();
    let ready = next::candidates(&index, caller.as_deref(), &areas);
    let shown = &ready[..call.arguments.number("limit").min(ready.len())];
    let rows = next::show(&Shower::new(&workspace, &index)?, shown, View::List).into_iter().map(Json::Object);
    let mut found = answer("records", rows.collect::<Vec<Json>>());
    found.insert("total".to_owned(), ready.len().into());
    Ok(found)
}
