//! What is here: the workspace, one record, the cards that can be started.

use super::super::host::Host;
use super::output::{Member, Shape};
use super::{Answer, Call, Nature, Property, Size, Tool, answer};
use crate::doctor::{self, Everything};
use crate::failure::{Code, Failure};
use crate::query::{Shower, View, next};
use crate::workspace::Workspace;
use serde_json::{Map, Value as Json};

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "project_get_record",
        title: "Read one record",
        about: "Read one record of any family whole, by its id: body, fields, revision, what it links to, what links to it \
            (the strongest 20), and what the doctor finds wrong with it. Read before you write: expectedRevision of the \
            writing tools wants the revision from here.",
        nature: Nature::Reads,
        input: &[Property::text(
            "id",
            "Its id: T-0007, DOC-0002, CHG-0031, REL-0004, ADR-0005, LRN-0009, or the PATH- id of an indexed file.",
        ).required().filled()],
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
    Ok(overview(call.host, &call.workspace()?))
}

/// `{name, root, version, schema, readOnly}`.
pub(in crate::mcp) fn overview(host: &Host, workspace: &Workspace) -> Map<String, Json> {
    let mut overview = answer("name", workspace.config.name.clone());
    overview.insert("root".to_owned(), workspace.root.to_string_lossy().into());
    if let Some(version) = &workspace.version {
        overview.insert("version".to_owned(), version.clone());
    }
    overview.insert("schema".to_owned(), workspace.schema());
    overview.insert("readOnly".to_owned(), host.is_read_only().into());
    overview
}

fn record(call: &Call<'_>) -> Answer {
    let workspace = call.workspace()?;
    let id = call.arguments.needed("id");
    let all = Everything::of(call.host.index(&workspace)?);
    let Some(place) = all.find(id) else {
        let failure = Failure::new(Code::RECORD_NOT_FOUND, format!("there is no record {id}"));
        return Err(failure.remedy("workfile search"));
    };
    call.go_on()?;
    Ok(answer("record", doctor::record(&workspace, &all, place)?))
}

fn ready(call: &Call<'_>) -> Answer {
    let caller = call.caller()?.acting.actor;
    let workspace = call.workspace()?;
    let index = call.host.index(&workspace)?;
    call.go_on()?;
    let areas = call.arguments.texts("area").unwrap_or_default();
    let ready = next::candidates(&index, caller.as_deref(), &areas);
    let shown = &ready[..call.arguments.number("limit").min(ready.len())];
    let rows = next::show(&Shower::new(&workspace, &index)?, shown, View::List).into_iter().map(Json::Object);
    let mut found = answer("records", rows.collect::<Vec<Json>>());
    found.insert("total".to_owned(), ready.len().into());
    Ok(found)
}
