//! `tools/call`: from what was sent to a result of bounded size.

use super::ceiling::{self, Last};
use super::desk::{Effect, Stop};
use super::era::Era;
use super::host::Host;
use super::message::{RpcError, wire};
use super::refusal;
use super::tools::{self, Tool};
use crate::failure::{Code, Failure};
use crate::path::one_line;
use serde_json::{Map, Value as Json, json};

/// Longest summary line, in characters.
const LINE: usize = 200;

/// A call of a tool that exists.
pub(super) struct Prepared {
    tool: &'static Tool,
    arguments: Map<String, Json>,
}

impl Prepared {
    /// Reads the parameters of `tools/call`.
    pub(super) fn read(mut params: Map<String, Json>) -> Result<Self, RpcError> {
        let Some(name) = params.get("name").and_then(Json::as_str) else {
            return Err(refusal::required("name"));
        };
        let Some(tool) = tools::find(name) else {
            let text = format!("there is no tool {}", one_line(name));
            return Err(refusal::params(&Failure::new(Code::MCP_TOOL_NOT_FOUND, text).with("tool", name)));
        };
        match params.shift_remove("arguments") {
            None => Ok(Self { tool, arguments: Map::new() }),
            Some(Json::Object(arguments)) => Ok(Self { tool, arguments }),
            Some(_) => Err(refusal::argument("arguments", "is not an object")),
        }
    }

    /// How it is ordered among other calls.
    pub(super) fn effect(&self, host: &Host) -> Effect {
        // A refusal writes nothing.
        if host.is_read_only() { Effect::Read } else { self.tool.effect() }
    }

    /// Carries it out.
    pub(super) fn run(&self, host: &Host, era: Era, client: Option<&str>, stop: &Stop) -> Json {
        let last = if self.tool.effect() == Effect::Write { Last::Tell } else { Last::Refuse };
        let measure = |payload: &Map<String, Json>| wire(&result(payload, era)).len();
        let answered = self.tool.call(host, &self.arguments, client, stop);
        let fitted = answered.and_then(|payload| ceiling::fit(payload, host.result_bytes, last, &measure));
        let payload = match fitted {
            Ok(payload) => payload,
            Err(failure) => {
                let failed = failed(&failure, host);
                let kept = ceiling::fit(failed, host.result_bytes, Last::Tell, &measure);
                kept.unwrap_or_else(|failure| failed_alone(&failure))
            }
        };
        result(&payload, era)
    }
}

/// The payload of a failure.
fn failed(failure: &Failure, host: &Host) -> Map<String, Json> {
    let mut payload = failed_alone(failure);
    payload.values_mut().for_each(|error| refusal::without_root(error, &host.root));
    payload
}

fn failed_alone(failure: &Failure) -> Map<String, Json> {
    let mut error = failure.to_json()["error"].take();
    error["message"] = refusal::spoken(failure).into();
    Map::from_iter([("error".to_owned(), error)])
}

/// The result of a call: a line for people, the data once, for clients that cannot see data also as text.
fn result(payload: &Map<String, Json>, era: Era) -> Json {
    let mut result = Map::new();
    let error = payload.get("error");
    if error.is_some() {
        result.insert("isError".to_owned(), true.into());
    }
    let text = |text: String| json!({"type": "text", "text": text});
    let mut content = vec![text(error.map_or_else(|| line(payload), error_line))];
    if era.text_only() {
        content.push(text(wire(payload)));
    }
    result.insert("content".to_owned(), content.into());
    result.insert("structuredContent".to_owned(), Json::Object(payload.clone()));
    era.dress(result)
}

fn error_line(error: &Json) -> String {
    let text = |key: &str| error[key].as_str().unwrap_or_default();
    format!("{}: {}", text("code"), one_line(text("message")))
}

/// One line about a success.
fn line(payload: &Map<String, Json>) -> String {
    let said = if let Some(rows) = payload.get("records").and_then(Json::as_array) {
        page(payload, rows.len())
    } else if let Some(record) = payload.get("record") {
        let text = |key: &str| record[key].as_str().unwrap_or_default();
        format!("{} — {}", text("id"), text("title"))
    } else if let Some(ok) = payload.get("ok") {
        let counts = |key: &str| payload.get("counts").and_then(|counts| counts[key].as_u64()).unwrap_or(0);
        let word = if ok == &Json::Bool(true) { "ok" } else { "failed" };
        format!(
            "{word}: {} errors, {} warnings, {} notes",
            counts("error"),
            counts("warning"),
            counts("info")
        )
    } else if let Some(name) = payload.get("name").and_then(Json::as_str) {
        format!("the workspace {name}")
    } else {
        "the notes as they would read".to_owned()
    };
    let note =
        if payload.contains_key("resultTruncated") { "; shortened to fit the result limit" } else { "" };
    let said = one_line(&said);
    let room = LINE - note.len();
    if said.chars().count() <= room {
        return said + note;
    }
    said.chars().take(room - 1).chain(['…']).chain(note.chars()).collect()
}

fn page(payload: &Map<String, Json>, shown: usize) -> String {
    let number = |key: &str| payload.get(key).and_then(Json::as_u64);
    let total = number("total").unwrap_or(shown as u64);
    let matches = if total == 1 { "match" } else { "matches" };
    let next = number("offset").unwrap_or(0) + shown as u64;
    let more = match (number("offset"), next < total) {
        (_, false) => String::new(),
        (Some(_), true) => format!("; offset {next} has the next"),
        (None, true) => "; a higher limit has more".to_owned(),
    };
    format!("{shown} of {total} {matches}{more}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: &Json) -> String {
        line(value.as_object().unwrap())
    }

    #[test]
    fn a_line_says_what_the_data_is() {
        let page = json!({"records": [{}, {}], "total": 9, "offset": 2, "limit": 2});
        assert_eq!(of(&page), "2 of 9 matches; offset 4 has the next");
        assert_eq!(of(&json!({"records": [{}], "total": 1, "offset": 0})), "1 of 1 match");
        assert_eq!(of(&json!({"records": [{}], "total": 3})), "1 of 3 matches; a higher limit has more");
        let record = json!({"record": {"id": "T-0001", "title": "A\nb"}, "resultTruncated": {}});
        assert_eq!(of(&record), "T-0001 — A b; shortened to fit the result limit");
        let long = json!({"record": {"id": "T-0001", "title": "é".repeat(500)}, "resultTruncated": {}});
        assert_eq!(of(&long).chars().count(), LINE);
        assert!(of(&long).ends_with("é…; shortened to fit the result limit"));
    }
}
