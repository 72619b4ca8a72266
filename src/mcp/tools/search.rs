//! What is known: records that fit words, and all that matters to a card.

use super::output::{KINDS, Member, Shape};
use super::{Answer, Call, Nature, Property, Size, Tool};
use crate::clock;
use crate::query::list::Filter;
use crate::query::{Kind, Shower, View, context, search};
use serde_json::{Map, Value as Json};

/// Bytes of a result around a bundle: its line, its envelope, and what says that it was shortened.
const AROUND: usize = 640;

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "project_agent_context",
        title: "Context bundle for a card",
        about: "Everything worth knowing before you work on a card, in one answer: the card, what it links to and what links to \
            it, conventions and decisions in force, open incidents, what was learned about the same subject. Ask for it once, \
            after project_card_claim. What did not fit is named in digest and omitted; project_get_record has it.",
        nature: Nature::Reads,
        input: &[
            Property::text("cardId", "The card, e.g. T-0007.").required().filled(),
            Property::integer("limit", 1, Some(50), "Most records in the bundle.").or_number(20),
        ],
        output: &[
            Member::new("focus", Shape::Text).about("The card."),
            Member::new("provenance", Shape::Provenance),
            Member::new("generatedAt", Shape::Text).about("When, RFC 3339."),
            Member::new("truncated", Shape::Flag).about("Whether limit left anything out; not resultTruncated."),
            Member::new("totalAvailable", Shape::Integer).about("Records without the limit."),
            Member::new("omitted", Shape::Omitted),
            Member::new("records", Shape::List(&Shape::Record)),
            Member::new("digest", Shape::List(&Shape::Rule)).about("Rules beyond the limit, by title."),
            Member::new("markdown", Shape::Text).about("The bundle as Markdown."),
        ],
        always: &["focus", "records"],
        size: Size::Grows,
        run: bundle,
    },
    Tool {
        name: "project_search",
        title: "Search records",
        about: "Search cards, documents, change fragments, releases and memory for words, the best first. `field:value` \
            narrows, `-word` excludes, `\"a phrase\"` stays together, `/expression/` is a regular expression. For \
            everything with a status or tag take the list tools. SEARCH_REGEX_INVALID says what is wrong with an \
            expression.",
        nature: Nature::Reads,
        input: &[
            Property::text("query", "Words to look for.").required().filled(),
            Property::any_of("kinds", KINDS, "Only these families of records.").judged(),
            Property::integer("limit", 1, Some(100), "Hits of a page.").or_number(20),
            Property::integer("offset", 0, Some(100_000), "Hits to skip.").or_number(0),
            Property::one_of(
                "mode",
                &["lexical", "hybrid"],
                "hybrid asks a semantic provider too where the host has one, and is lexical where it has none.",
            )
            .or("hybrid")
            .judged(),
            Property::one_of("view", &["summary", "full"], "summary: rows with an excerpt; full: whole records.")
                .or("summary")
                .judged(),
        ],
        output: &[
            Member::new("records", Shape::List(&Shape::Hit)),
            Member::new("total", Shape::Integer).about("Hits on all pages."),
            Member::new("offset", Shape::Integer).about("Hits skipped."),
            Member::new("limit", Shape::Integer).about("Most hits of a page."),
            Member::new("view", Shape::OneOf(&["summary", "full"])).about("How records are shown."),
            Member::new("mode", Shape::OneOf(&["lexical", "hybrid", "regex"])).about("How they were ranked."),
            Member::new("provider", Shape::MaybeText).about("Semantic provider that took part."),
            Member::new("warnings", Shape::List(&Shape::Text)).about("Parts of the query that nothing can answer."),
        ],
        always: &["records", "total"],
        size: Size::Grows,
        run: find,
    },
];

fn find(call: &Call<'_>) -> Answer {
    let kinds = call.arguments.texts("kinds").unwrap_or_default();
    let request = search::Request {
        query: call.arguments.needed("query").to_owned(),
        kinds: kinds.iter().filter_map(|name| Kind::named(name)).collect(),
        filter: Filter::nothing(),
        offset: call.arguments.number("offset"),
        limit: call.arguments.number("limit"),
    };
    let view = if call.arguments.text("view") == Some("full") { View::Full } else { View::Summary };
    let workspace = call.workspace()?;
    let index = call.host.index(&workspace)?;
    call.go_on()?;
    search::answer(&Shower::new(&workspace, &index)?, &request, view)
}

fn bundle(call: &Call<'_>) -> Answer {
    let request = context::Request {
        card: call.arguments.text("cardId").map(str::to_owned),
        limit: call.arguments.number("limit"),
        ceiling: None,
        now: clock::now(),
    };
    let workspace = call.workspace()?;
    let index = call.host.index(&workspace)?;
    call.go_on()?;
    let shower = Shower::new(&workspace, &index)?;
    let whole = context::answer(&shower, &request)?;
    let room = call.host.result_bytes.saturating_sub(AROUND);
    if serde_json::to_vec(&whole).is_ok_and(|bytes| bytes.len() <= room) {
        return Ok(whole);
    }
    // Only the bundle itself can be written anew from fewer records, its Markdown with it.
    let mut shorter = context::answer(&shower, &context::Request { ceiling: Some(room), ..request })?;
    mark(&whole, &mut shorter);
    Ok(shorter)
}

/// Says what a bundle was shortened by.
fn mark(whole: &Map<String, Json>, shorter: &mut Map<String, Json>) {
    let records = |bundle: &Map<String, Json>| bundle["records"].as_array().cloned().unwrap_or_default();
    let (before, after) = (records(whole), records(shorter));
    let mut mark = Map::new();
    if before.len() > after.len() {
        mark.insert("records".to_owned(), (before.len() - after.len()).into());
    }
    let cut = before.iter().zip(&after).find(|(before, after)| before["body"] != after["body"]);
    if let Some(body) = cut.and_then(|(before, _)| before["body"].as_str()) {
        mark.insert("bodyBytes".to_owned(), body.len().into());
    }
    if !mark.is_empty() {
        shorter.insert("resultTruncated".to_owned(), mark.into());
    }
}
