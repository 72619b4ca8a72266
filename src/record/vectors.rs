//! The recorded vectors of the format, all files of `tests/golden/vectors` that concern it.

use super::body::sections;
use super::scalar::{flow_list, item, list, scalar};
use super::*;
use crate::failure::Failure;
use serde_json::{Map, Value as Json, json};

const LISTS: &[&str] = &["tags", "depends", "scope", "related", "origin"];

macro_rules! vectors {
    ($name:literal) => {
        serde_json::from_str::<Json>(include_str!(concat!("../../tests/golden/vectors/", $name, ".json")))
            .unwrap()
    };
}

fn cases(vectors: &Json) -> &[Json] {
    let cases = vectors.as_array().unwrap();
    assert!(!cases.is_empty());
    cases
}

fn text<'a>(case: &'a Json, key: &str) -> &'a str {
    case[key].as_str().unwrap_or_else(|| panic!("{key} in {case}"))
}

fn lists(case: &Json) -> Vec<&str> {
    case["listKeys"].as_array().unwrap().iter().map(|key| key.as_str().unwrap()).collect()
}

fn values(header: &Header) -> Json {
    let entries = header.entries.iter();
    let present = entries.filter_map(|it| Some((it.key.to_string(), it.value.as_ref()?.to_json())));
    Json::Object(present.collect())
}

fn styles(header: &Header) -> Json {
    let style = |entry: &Entry| Json::from(format!("{:?}", entry.style).to_lowercase());
    let present = header.entries.iter().filter(|entry| entry.value.is_some());
    Json::Object(present.map(|entry| (entry.key.to_string(), style(entry))).collect())
}

#[test]
fn headers_are_read_as_recorded() {
    for case in cases(&vectors!("header-read")) {
        for end in ["\n", "\r\n"] {
            let file = format!("---\n{}\n---\n", text(case, "header")).replace('\n', end);
            let header = read(&file, &lists(case)).unwrap().header;
            assert_eq!(values(&header), case["values"], "{}", case["name"]);
            assert_eq!(styles(&header), case["styles"], "{}", case["name"]);
            assert_eq!(read_head(file.as_bytes(), &lists(case)), Head::Header(header));
        }
    }
}

#[test]
fn documents_are_split_as_recorded() {
    let hardened = vectors!("hardened");
    let recorded = vectors!("document-read");
    for case in cases(&recorded).iter().chain(cases(&hardened["document-read"])) {
        let file = text(case, "text");
        let found = read(file, LISTS).map_or(Json::Null, |document| {
            assert_eq!(format!("{}{}", document.prefix, document.body_text), file);
            json!({"values": values(&document.header), "body": document.body_text})
        });
        assert_eq!(found, case["result"], "{}", case["name"]);
    }
}

fn changes(json: &Map<String, Json>) -> Result<Vec<Change>, Failure> {
    json.iter().map(|(key, value)| Ok((key.clone(), Value::from_json(key, value)?))).collect()
}

#[test]
fn patches_give_the_recorded_bytes() {
    let hardened = vectors!("hardened");
    let recorded = vectors!("patch");
    for case in cases(&recorded).iter().chain(cases(&hardened["patch"])) {
        let name = text(case, "name");
        let today = case["touchUpdated"].as_bool().unwrap().then(|| text(case, "today"));
        let result = changes(case["changes"].as_object().unwrap())
            .and_then(|changes| patch(text(case, "text"), &changes, &lists(case), today));
        let Some(code) = case.get("error") else {
            assert_eq!(result.unwrap(), text(case, "result"), "{name}");
            continue;
        };
        let failure = result.unwrap_err();
        assert_eq!(failure.code.name, code, "{name}");
        if let Some(details) = case.get("details") {
            assert_eq!(&Json::Object(failure.details), details, "{name}");
        }
    }
}

#[test]
fn scalars_are_written_as_recorded() {
    let hardened = vectors!("hardened");
    let recorded = vectors!("scalar-write");
    for case in cases(&recorded).iter().chain(cases(&hardened["scalar-write"])) {
        assert_eq!(scalar(text(case, "value")), text(case, "written"));
    }
}

#[test]
fn lists_are_written_and_read_as_recorded() {
    let hardened = vectors!("hardened");
    let recorded = vectors!("item-write");
    for case in cases(&recorded).iter().chain(cases(&hardened["list-write"])) {
        let Some(Value::List(items)) = Value::from_json("k", &case["value"]).unwrap() else {
            assert_eq!(format!("[{}]", item(text(case, "value"))), text(case, "written"));
            continue;
        };
        assert_eq!(list(&items), text(case, "written"));
    }
    for case in cases(&hardened["list-read"]) {
        assert_eq!(Json::from(flow_list(text(case, "text"))), case["value"]);
    }
}

#[test]
fn bodies_are_cut_into_the_recorded_sections() {
    for case in cases(&vectors!("sections")) {
        let found: Vec<_> = sections(text(case, "body"))
            .into_iter()
            .map(|section| json!({"heading": section.heading, "text": section.text}))
            .collect();
        assert_eq!(Json::from(found), case["sections"]);
    }
}

#[test]
fn lines_are_appended_as_recorded() {
    for case in cases(&vectors!("append-under-heading")) {
        let found = append_under_heading(text(case, "body"), text(case, "heading"), text(case, "line"));
        assert_eq!(found, text(case, "result"));
    }
}

#[test]
fn slugs_are_the_recorded_ones() {
    for case in cases(&vectors!("slug")) {
        assert_eq!(slug(text(case, "title"), 50, "card"), text(case, "slug"));
    }
}

#[test]
fn trail_lines_are_recognised_as_recorded() {
    for case in cases(&vectors!("trail-entry")) {
        assert_eq!(is_trail_line(text(case, "line")), case["entry"], "{}", case["line"]);
    }
}

#[test]
fn revisions_are_the_recorded_ones() {
    for case in cases(&vectors!("revision")) {
        assert_eq!(digest(text(case, "content")), text(case, "revision"));
    }
}
