//! No result of a call is longer than its ceiling: rows go first, then the ends of long texts, then links, then all but
//! what names a record.
//!
//! A write that has happened is answered in every case, or its caller would repeat it. What was left out is said in
//! `resultTruncated`.

use crate::failure::{Code, Failure};
use serde_json::{Map, Value as Json, json};

/// What becomes of an answer that does not fit even as a skeleton.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Last {
    /// A reading tool fails, and the caller asks for less.
    Refuse,
    /// What was written stays written: its name is shortened and told.
    Tell,
}

/// The mark of a shortened answer.
const MARK: &str = "resultTruncated";

/// Members whose entries are rows.
const ROWS: [&str; 4] = ["records", "consumedFragments", "fragments", "issues"];

/// What a text ends in that was cut.
const CUT: char = '…';

/// Shortens `payload` until `measure` says that the whole result has at most `ceiling` bytes.
pub(super) fn fit(
    payload: Map<String, Json>,
    ceiling: usize,
    last: Last,
    measure: &dyn Fn(&Map<String, Json>) -> usize,
) -> Result<Map<String, Json>, Failure> {
    let fits = |payload: &Map<String, Json>| measure(payload) <= ceiling;
    let bytes = measure(&payload);
    if bytes <= ceiling {
        return Ok(payload);
    }
    let mut payload = payload;
    for name in ROWS {
        if rows(&mut payload, name, &fits) {
            return Ok(payload);
        }
    }
    if texts(&mut payload, BODIES, &fits) {
        return Ok(payload);
    }
    // One row that was kept for the sake of its body.
    if payload.get("records").is_some_and(|rows| rows.as_array().is_some_and(|rows| rows.len() == 1)) {
        keep(&mut payload, "records", 0);
        if fits(&payload) {
            return Ok(payload);
        }
    }
    for name in ["incoming", "outgoing", "issues"] {
        for record in ["record", "replacement"] {
            if let Some(links) = payload.get_mut(record).and_then(|record| record.get_mut(name)) {
                *links = json!([]);
            }
        }
        if fits(&payload) {
            return Ok(payload);
        }
    }
    for path in [&["record"][..], &["replacement"], &["error", "details", "current"]] {
        if let Some(record) = at(&mut payload, path) {
            skeleton(record);
        }
    }
    if fits(&payload) {
        return Ok(payload);
    }
    if payload.contains_key("error") {
        details(&mut payload, &fits);
        return Ok(payload);
    }
    match last {
        Last::Refuse => {
            let text = format!(
                "the answer has {bytes} bytes, and this server sends at most {ceiling}; ask for less, or for one record"
            );
            let failure = Failure::new(Code::MCP_TOOL_RESULT_TOO_LARGE, text);
            Err(failure.with("bytes", bytes).with("maximumBytes", ceiling))
        }
        Last::Tell => {
            payload.retain(|name, _| matches!(name.as_str(), "record" | "replacement" | MARK));
            texts(&mut payload, NAMES, &fits);
            Ok(payload)
        }
    }
}

/// Texts of which the end may go.
const BODIES: &[&[&str]] = &[
    &["record", "body"],
    &["replacement", "body"],
    &["error", "details", "current", "body"],
    &["markdown"],
    &["records", "*", "body"],
];

/// What still names a record when nothing else is left.
const NAMES: &[&[&str]] =
    &[&["record", "title"], &["replacement", "title"], &["record", "path"], &["replacement", "path"]];

/// Drops rows from the end: the longest beginning that fits stays. Says whether the answer fits now; when even the first
/// row does not because of its body, that row stays.
fn rows(payload: &mut Map<String, Json>, name: &str, fits: &dyn Fn(&Map<String, Json>) -> bool) -> bool {
    let Some(total) = payload.get(name).and_then(Json::as_array).map(Vec::len).filter(|total| *total > 0)
    else {
        return false;
    };
    let whole = payload.clone();
    let kept = |count: usize| {
        let mut payload = whole.clone();
        keep(&mut payload, name, count);
        payload
    };
    let (mut fitting, mut too_many) = (0, total);
    while too_many - fitting > 1 {
        let middle = fitting + (too_many - fitting) / 2;
        if fits(&kept(middle)) {
            fitting = middle;
        } else {
            too_many = middle;
        }
    }
    let has_body = name == "records" && whole[name][0].get("body").is_some();
    if fitting == 0 && has_body && total > 1 {
        *payload = kept(1);
    } else if fitting > 0 || !has_body {
        *payload = kept(fitting);
    }
    fits(payload)
}

/// Keeps the first `count` rows of `name` and counts what went; `groups` repeat the rows of `fragments`.
fn keep(payload: &mut Map<String, Json>, name: &str, count: usize) {
    let Some(Json::Array(rows)) = payload.get_mut(name) else { return };
    let dropped = rows.len().saturating_sub(count);
    rows.truncate(count);
    let ids: Vec<Json> = rows.iter().filter_map(|row| row.get("id").cloned()).collect();
    if name == "fragments"
        && let Some(Json::Array(groups)) = payload.get_mut("groups")
    {
        for group in groups.iter_mut() {
            if let Some(Json::Array(rows)) = group.get_mut(name) {
                rows.retain(|row| row.get("id").is_some_and(|id| ids.contains(id)));
            }
        }
        groups.retain(|group| group[name].as_array().is_some_and(|rows| !rows.is_empty()));
    }
    let before = payload.get(MARK).and_then(|mark| mark["records"].as_u64()).unwrap_or(0);
    mark(payload, "records", before + dropped as u64);
}

fn mark(payload: &mut Map<String, Json>, name: &str, count: u64) {
    let mark = payload.entry(MARK).or_insert_with(|| json!({}));
    mark[name] = count.into();
}

/// Cuts the largest text to what fits, and the next largest when that is not enough.
fn texts(
    payload: &mut Map<String, Json>,
    paths: &[&[&str]],
    fits: &dyn Fn(&Map<String, Json>) -> bool,
) -> bool {
    let mut found: Vec<(usize, Vec<Place>)> = Vec::new();
    for path in paths {
        places(&Json::Object(payload.clone()), path, &mut Vec::new(), &mut found);
    }
    found.retain(|(bytes, _)| *bytes > CUT.len_utf8());
    found.sort_by_key(|(bytes, _)| std::cmp::Reverse(*bytes));
    let largest = found.first().map(|(bytes, _)| *bytes as u64);
    for (_, place) in found {
        if let Some(largest) = largest {
            mark(payload, "bodyBytes", largest);
        }
        if cut(payload, &place, fits) {
            return true;
        }
    }
    false
}

/// One step into a payload.
#[derive(Clone, Debug)]
enum Place {
    Member(String),
    Item(usize),
}

/// Every text at a path, with its size; `*` is any item.
fn places(value: &Json, path: &[&str], above: &mut Vec<Place>, found: &mut Vec<(usize, Vec<Place>)>) {
    match (path, value) {
        ([], Json::String(text)) => found.push((text.len(), above.clone())),
        (["*", rest @ ..], Json::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                above.push(Place::Item(index));
                places(item, rest, above, found);
                above.pop();
            }
        }
        ([name, rest @ ..], Json::Object(members)) => {
            if let Some(member) = members.get(*name) {
                above.push(Place::Member((*name).to_owned()));
                places(member, rest, above, found);
                above.pop();
            }
        }
        _ => {}
    }
}

fn text_at<'a>(payload: &'a mut Map<String, Json>, place: &[Place]) -> Option<&'a mut Json> {
    let (Place::Member(first), rest) = place.split_first()? else { return None };
    rest.iter().try_fold(payload.get_mut(first)?, |value, step| match step {
        Place::Member(name) => value.get_mut(name),
        Place::Item(index) => value.get_mut(index),
    })
}

fn at<'a>(payload: &'a mut Map<String, Json>, path: &[&str]) -> Option<&'a mut Json> {
    let place: Vec<Place> = path.iter().map(|name| Place::Member((*name).to_owned())).collect();
    text_at(payload, &place)
}

/// Cuts one text to its longest beginning that fits, else to nothing.
fn cut(payload: &mut Map<String, Json>, place: &[Place], fits: &dyn Fn(&Map<String, Json>) -> bool) -> bool {
    let Some(Json::String(text)) = text_at(payload, place).map(Json::take) else { return false };
    let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let put = |payload: &mut Map<String, Json>, characters: usize| {
        if let Some(value) = text_at(payload, place) {
            *value = format!("{}{CUT}", &text[..ends[characters]]).into();
        }
        fits(payload)
    };
    if !put(payload, 0) {
        return false;
    }
    let (mut fitting, mut too_many) = (0, ends.len());
    while too_many - fitting > 1 {
        let middle = fitting + (too_many - fitting) / 2;
        if put(payload, middle) {
            fitting = middle;
        } else {
            too_many = middle;
        }
    }
    put(payload, fitting)
}

/// What names a record, and its revision.
fn skeleton(record: &mut Json) {
    if let Json::Object(record) = record {
        record.retain(|name, _| matches!(name.as_str(), "id" | "kind" | "title" | "path" | "revision"));
    }
}

/// A failure without its details, its message as long as it can be.
fn details(payload: &mut Map<String, Json>, fits: &dyn Fn(&Map<String, Json>) -> bool) {
    if let Some(error) = payload.get_mut("error").and_then(Json::as_object_mut) {
        error.shift_remove("details");
    }
    if !fits(payload) {
        texts(payload, &[&["error", "message"]], fits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::message::wire;

    fn object(value: Json) -> Map<String, Json> {
        match value {
            Json::Object(map) => map,
            other => panic!("{other}"),
        }
    }

    fn size(payload: &Map<String, Json>) -> usize {
        wire(payload).len()
    }

    fn fitted(value: &Json, ceiling: usize, last: Last) -> Json {
        match fit(object(value.clone()), ceiling, last, &size) {
            Ok(payload) => Json::Object(payload),
            Err(failure) => failure.to_json(),
        }
    }

    fn page(rows: usize) -> Json {
        let rows: Vec<Json> =
            (0..rows).map(|n| json!({"id": format!("T-{n:04}"), "title": "é\"".repeat(9)})).collect();
        json!({"records": rows, "total": 99, "offset": 0, "limit": 50})
    }

    fn record(body: usize) -> Json {
        json!({"record": {
            "id": "T-0001", "kind": "card", "title": "A title", "path": "p", "revision": "r", "status": "next",
            "body": "aé\n😀".repeat(body), "incoming": [{"id": "T-0002"}], "incomingTotal": 1,
        }, "warnings": []})
    }

    #[test]
    fn what_fits_is_left_alone() {
        let page = page(3);
        assert_eq!(fitted(&page, size(&object(page.clone())), Last::Refuse), page);
    }

    #[test]
    fn at_every_ceiling_the_longest_beginning_of_the_rows_stays() {
        let whole = page(40);
        for ceiling in (120..size(&object(whole.clone()))).step_by(7) {
            let got = fitted(&whole, ceiling, Last::Refuse);
            let kept = got["records"].as_array().unwrap().len();
            assert!(size(&object(got.clone())) <= ceiling, "{ceiling}");
            assert_eq!(got["resultTruncated"], json!({"records": 40 - kept}), "{ceiling}");
            assert_eq!(got["records"].as_array().unwrap()[..], whole["records"].as_array().unwrap()[..kept]);
            assert_eq!(got["total"], 99);
            let mut more = object(whole.clone());
            keep(&mut more, "records", kept + 1);
            assert!(size(&more) > ceiling, "{ceiling}: one more would have fitted");
        }
    }

    #[test]
    fn at_every_ceiling_a_body_is_cut_at_a_character() {
        let whole = record(200);
        let body = whole["record"]["body"].as_str().unwrap();
        for ceiling in 240..size(&object(whole.clone())) {
            let got = fitted(&whole, ceiling, Last::Tell);
            let size = size(&object(got.clone()));
            assert!(size <= ceiling && size + 12 > ceiling, "{ceiling}: {size}");
            let cut = got["record"]["body"].as_str().unwrap().strip_suffix('…').unwrap();
            assert!(body.starts_with(cut));
            assert_eq!(got["resultTruncated"], json!({"bodyBytes": body.len()}));
            assert_eq!(got["record"]["incoming"], whole["record"]["incoming"]);
        }
    }

    #[test]
    fn a_write_is_always_told_and_a_read_may_be_refused() {
        let mut whole = record(50);
        whole["record"]["title"] = "T".repeat(500).into();
        for ceiling in 150..700 {
            let told = fitted(&whole, ceiling, Last::Tell);
            assert!(size(&object(told.clone())) <= ceiling, "{ceiling}: {told}");
            assert_eq!(told["record"]["id"], "T-0001");
        }
        let refused = fitted(&whole, 300, Last::Refuse);
        assert_eq!(refused["error"]["code"], "MCP_TOOL_RESULT_TOO_LARGE");
        assert_eq!(refused["error"]["details"]["maximumBytes"], 300);
    }

    #[test]
    fn links_go_before_the_rest_of_a_record() {
        let mut whole = record(0);
        whole["record"]["incoming"] =
            (0..20).map(|n| json!({"id": format!("T-{n:04}"), "title": "x"})).collect();
        let got = fitted(&whole, 260, Last::Refuse);
        assert_eq!(got["record"]["incoming"], json!([]));
        assert_eq!((&got["record"]["incomingTotal"], &got["record"]["status"]), (&json!(1), &json!("next")));
    }

    #[test]
    fn one_long_row_keeps_what_fits_of_its_body() {
        let long = json!({"id": "T-0001", "body": "x".repeat(900)});
        let whole = json!({"records": [long, {"id": "T-0002", "body": "y"}], "markdown": "m".repeat(300)});
        let got = fitted(&whole, 500, Last::Refuse);
        assert_eq!(got["records"].as_array().unwrap().len(), 1);
        assert!(got["records"][0]["body"].as_str().unwrap().ends_with('…'));
        assert_eq!(got["resultTruncated"], json!({"records": 1, "bodyBytes": 900}));
        assert_eq!(fitted(&whole, 90, Last::Refuse)["records"], json!([]));
    }

    #[test]
    fn groups_lose_the_rows_that_the_list_lost() {
        let fragment = |n: usize| json!({"id": format!("CHG-{n:04}"), "body": "x".repeat(40)});
        let all: Vec<Json> = (0..10).map(fragment).collect();
        let groups =
            json!([{"type": "added", "fragments": all[..5]}, {"type": "fixed", "fragments": all[5..]}]);
        let got = fitted(&json!({"fragments": all, "groups": groups, "markdown": ""}), 700, Last::Refuse);
        let kept = got["fragments"].as_array().unwrap().len();
        let grouped =
            got["groups"].as_array().unwrap().iter().flat_map(|group| group["fragments"].as_array().unwrap());
        assert!((1..10).contains(&kept));
        assert_eq!(grouped.count(), kept);
    }

    #[test]
    fn a_failure_fits_too() {
        let current = record(300)["record"].clone();
        let message = "m".repeat(400);
        let failed = json!({"error": {"code": "X", "message": message, "details": {"id": "T-0001", "current": current}}});
        let got = fitted(&failed, 1024, Last::Tell);
        assert!(got["error"]["details"]["current"]["body"].as_str().unwrap().ends_with('…'));
        for ceiling in (90..1500).step_by(3) {
            let got = fitted(&failed, ceiling, Last::Tell);
            assert!(size(&object(got.clone())) <= ceiling, "{ceiling}");
            assert_eq!(got["error"]["code"], "X");
        }
    }
}
