//! What tools are told about records, as recorded: the answers are the contract, whoever asks.

use crate::compare::{Kind as Any, Placeholders};
use crate::golden::{Archive, cases};
use crate::world::World;
use serde_json::{Map, Value as Json};
use workfile::clock::Time;
use workfile::docs::Origin;
use workfile::failure::Failure;
use workfile::query::list::{self, Filter};
use workfile::query::{Index, Kind, Shower, View, context, next, search};
use workfile::workspace::{Access, Missing, Start, Workspace};

/// The recorded calls that are answered by a query, with the refusals of arguments left to the server.
const CASES: [(&str, usize); 4] =
    [("10-index-graph", 3), ("12-search-regex", 1), ("13-next", 2), ("15-lists", 13)];

#[test]
fn answers_are_as_recorded() {
    for (name, calls) in CASES {
        let cases = cases("knowledge");
        let (_, archive) = cases.iter().find(|(case, _)| case == name).unwrap();
        let world = world(archive);
        let case: Json = serde_json::from_str(archive.text("case.json")).unwrap();
        let steps = case["steps"].as_array().unwrap().iter();
        let steps = steps.filter(|step| step.get("tool").is_some() && step.get("isError").is_none());
        let mut found = Vec::new();
        let mut count = 0;
        for step in steps {
            let want =
                serde_json::from_str(archive.text(step["structuredContent"].as_str().unwrap())).unwrap();
            let got = answer(&world, step["tool"].as_str().unwrap(), &step["arguments"]).unwrap();
            let placeholders = Placeholders(vec![("{{NOW}}", Any::Time)]);
            placeholders.json(&format!("{name}: {}", step["arguments"]), &want, &got, &mut found);
            count += 1;
        }
        assert!(found.is_empty(), "{found:#?}");
        assert_eq!(count, calls, "{name}");
    }
}

fn world(archive: &Archive) -> World {
    archive.below("input").fold(World::bare(), |world, (path, bytes)| world.file(path, bytes))
}

fn open(world: &World) -> Workspace {
    Workspace::load(&Start::Exactly(world.root.clone()), Missing::Refuse, Access::ReadOnly).unwrap()
}

fn answer(world: &World, tool: &str, arguments: &Json) -> Result<Json, Failure> {
    let workspace = open(world);
    let index = Index::load(&workspace)?;
    let shower = Shower::new(&workspace, &index)?;
    let number = |key: &str, usual: usize| arguments[key].as_u64().map_or(usual, |number| number as usize);
    let text = |key: &str| arguments[key].as_str().map(str::to_owned);
    let texts = |key: &str| -> Vec<String> {
        arguments[key].as_array().into_iter().flatten().map(|one| one.as_str().unwrap().to_owned()).collect()
    };
    let listed = |kinds: &[Kind], types: &str| {
        let filter = Filter {
            status: texts("status"),
            types: texts(types),
            tags: texts("tags"),
            visibility: texts("visibility"),
            parent: text("parent"),
            origin: arguments["managed"]
                .as_bool()
                .map(|is| if is { Origin::Managed } else { Origin::Indexed }),
            released: arguments["released"].as_bool(),
            updated_since: text("updatedSince").map(|day| list::boundary(&day).unwrap()),
            ..Filter::nothing()
        };
        let request = list::Request {
            kinds: kinds.to_vec(),
            filter,
            offset: number("offset", 0),
            limit: number("limit", 50),
        };
        list::answer(&shower, &request, View::List)
    };
    let answer = match tool {
        "project_get_record" => {
            let place = index.find(arguments["id"].as_str().unwrap()).unwrap();
            let record = shower.show(&[place], View::Full).remove(0);
            Map::from_iter([("record".to_owned(), Json::Object(record))])
        }
        "project_search" => {
            let request = search::Request {
                query: text("query").unwrap(),
                kinds: Vec::new(),
                filter: Filter::nothing(),
                offset: 0,
                limit: number("limit", 20),
            };
            search::answer(&shower, &request, View::Summary)?
        }
        "project_next" => {
            let actor = text("actor").unwrap_or_else(|| "ann".to_owned());
            let ready = next::candidates(&index, Some(&actor), &texts("area"));
            let shown = &ready[..number("limit", next::USUAL).min(ready.len())];
            let records = next::show(&shower, shown, View::List).into_iter().map(Json::Object);
            Map::from_iter([
                ("records".to_owned(), records.collect()),
                ("total".to_owned(), ready.len().into()),
            ])
        }
        "project_card_list" => listed(&[Kind::Card], "type"),
        "project_doc_list" => listed(&[Kind::Doc], "kind"),
        "project_memory_list" => listed(&[Kind::Memory], "collection"),
        "project_changelog_list" => listed(&[Kind::Change, Kind::Release], "type"),
        tool => panic!("{tool}"),
    };
    Ok(Json::Object(answer))
}

#[test]
fn a_dependency_on_what_is_no_card_counts_when_it_is_closed() {
    let world = World::new()
        .card("T-0001", |card| card.status("next").line("depends: [LRN-0001]"))
        .card("T-0002", |card| card.status("next").line("depends: [LRN-0002]"))
        .card("T-0003", |card| card.status("next").line("depends: [T-0404]"))
        .card("T-0004", |card| card.status("next").line("depends: [T-0005]"))
        .card("T-0005", |card| card.status("done"))
        .file(".project/memory/learnings/LRN-0001-a.md", "---\nid: LRN-0001\nstatus: discarded\n---\n")
        .file(".project/memory/learnings/LRN-0002-b.md", "---\nid: LRN-0002\nstatus: active\n---\n");
    let index = next::index(&open(&world)).unwrap();
    let ready = next::candidates(&index, None, &[]);
    let ids: Vec<&str> = ready.iter().map(|candidate| candidate.card.id.as_str()).collect();
    assert_eq!(ids, ["T-0001", "T-0004"]);
}

#[test]
fn many_backlinks_are_counted_and_the_strongest_are_listed() {
    let mut world = World::new().card("T-0001", |card| card);
    for number in 2..=30 {
        let id = format!("T-{number:04}");
        world = world.card(&id, |card| {
            if number > 25 { card.line("related: [T-0001]") } else { card.body("\nAbout T-0001.\n") }
        });
    }
    let workspace = open(&world);
    let index = Index::load(&workspace).unwrap();
    let shower = Shower::new(&workspace, &index).unwrap();
    let record = shower.show(&[index.find("T-0001").unwrap()], View::Full).remove(0);
    let incoming: Vec<&str> =
        record["incoming"].as_array().unwrap().iter().map(|edge| edge["id"].as_str().unwrap()).collect();
    assert_eq!((&record["incomingTotal"], incoming.len()), (&Json::from(29), 20));
    assert_eq!(incoming[..6], ["T-0026", "T-0027", "T-0028", "T-0029", "T-0030", "T-0002"]);
    // A bundle knows them all.
    let request = context::Request {
        card: Some("T-0001".to_owned()),
        limit: context::MOST,
        ceiling: None,
        now: Time::from_ms(0),
    };
    let bundle = context::answer(&shower, &request).unwrap();
    assert_eq!(bundle["totalAvailable"], 30);
}

#[test]
fn a_bundle_fits_its_ceiling_and_names_what_it_cuts() {
    let long = format!("\n{}\n", "many words \"quoted\" ".repeat(500));
    let mut world = World::new().card("T-0001", |card| card.body(&long));
    for number in 2..=12 {
        let id = format!("T-{number:04}");
        world = world.card(&id, |card| card.line("parent: T-0001").body(&long));
    }
    let workspace = open(&world);
    let index = Index::load(&workspace).unwrap();
    let shower = Shower::new(&workspace, &index).unwrap();
    let ask = |ceiling| {
        let (card, now) = (Some("T-0001".to_owned()), Time::from_ms(0));
        context::answer(&shower, &context::Request { card, limit: 20, ceiling, now }).unwrap()
    };
    let whole = ask(None);
    let records = whole["records"].as_array().unwrap();
    assert_eq!((records.len(), &whole["truncated"]), (12, &Json::from(false)));
    assert_eq!(records[0]["body"].as_str().unwrap().chars().count(), 9999);
    assert_eq!(records[1]["body"].as_str().unwrap().chars().count(), 4001);
    for ceiling in [100_000, 60_000, 24_000, 8_000, 3_000] {
        let answer = ask(Some(ceiling));
        assert!(serde_json::to_vec(&answer).unwrap().len() <= ceiling, "{ceiling}");
        let count = answer["records"].as_array().unwrap().len();
        let cut = answer["omitted"]["limit"].as_array().unwrap().len();
        assert!((1..12).contains(&count), "{ceiling}: {count}");
        assert_eq!((count + cut, &answer["truncated"]), (12, &Json::from(true)), "{ceiling}");
        let sections = answer["markdown"].as_str().unwrap().matches("\n## T-").count();
        assert_eq!(sections, count, "{ceiling}");
    }
}

#[test]
fn a_search_names_the_fields_that_no_record_has() {
    let world = World::new().card("T-0001", |card| card.line("Shape: Round"));
    let workspace = open(&world);
    let index = Index::load(&workspace).unwrap();
    let ask = |query: &str| {
        let (kinds, filter) = (Vec::new(), Filter::nothing());
        let request = search::Request { query: query.to_owned(), kinds, filter, offset: 0, limit: 10 };
        let hits = search::search(&index, &request).unwrap();
        (hits.total, hits.warnings)
    };
    let missing = || vec!["no record has a field `colour`".to_owned()];
    assert_eq!(ask("colour:red"), (0, missing()));
    assert_eq!(ask("-colour:red"), (1, missing()));
    assert_eq!(ask("shape:square"), (0, Vec::new()));
    for query in
        ["shape:round", "SHAPE:ROU", "kind:card", "archived:false", "path:cards/t-0001", "-shape:square", ""]
    {
        assert_eq!(ask(query), (1, Vec::new()), "{query}");
    }
}
