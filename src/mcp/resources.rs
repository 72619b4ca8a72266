//! Resources: the workspace, the protocol of the project, and every record as Markdown.

use super::host::Host;
use super::message::RpcError;
use super::refusal;
use super::tools::{overview, report};
use crate::clock;
use crate::doctor::Checks;
use crate::failure::{Code, Failure};
use crate::query::{Entry, Kind, Shower, View};
use crate::record::order::natural;
use crate::work::fields::DOING;
use crate::workspace::Workspace;
use serde_json::{Map, Value as Json, json};
use std::fmt::Write as _;

/// What a record's address begins with.
const RECORD: &str = "project://record/";
const WORKSPACE: &str = "project://workspace";
const HEALTH: &str = "project://health";
const PROTOCOL: &str = "project://protocol";

/// Every address there can be, whether or not its file exists.
pub(super) const ADDRESSES: [&str; 4] = [WORKSPACE, HEALTH, PROTOCOL, "project://record/{id}"];

/// Most entries of a page.
const MOST: u64 = 500;

/// What a cursor of this server begins with, before it is encoded.
const MARK: &str = "1:";

/// Largest protocol file that is read.
const CAP: u64 = 16 * 1024 * 1024;

/// The only template.
pub(super) fn templates() -> Vec<Json> {
    vec![json!({
        "uriTemplate": "project://record/{id}",
        "name": "project-record",
        "title": "A record",
        "description": "One record as Markdown, with its id, path and revision on top",
        "mimeType": "text/markdown",
    })]
}

/// A page of `resources/list`. The cursor names the last entry of the page before, so that records that come and go
/// neither repeat nor hide others.
pub(super) fn list(host: &Host, params: &Map<String, Json>) -> Result<Map<String, Json>, RpcError> {
    let limit = limit(host, params)?;
    let after = cursor(params)?;
    let workspace = loaded(host)?;
    let mut entries: Vec<(String, Json)> = Vec::new();
    entries.push((WORKSPACE.to_owned(), workspace_entry(&workspace)));
    entries.push((HEALTH.to_owned(), health_entry()));
    if protocol(&workspace).is_some() {
        entries.push((PROTOCOL.to_owned(), protocol_entry()));
    }
    let fixed = entries.len();
    let index = host.index(&workspace).map_err(|failure| refusal::defect(host, &failure))?;
    entries.extend(index.entries().map(|entry| (entry.id().to_owned(), record_entry(entry))));
    let start = match &after {
        None => 0,
        Some(after) if after.starts_with("project:") => {
            entries.iter().position(|(name, _)| name == after).map_or(fixed, |at| at + 1)
        }
        Some(after) => fixed + entries[fixed..].partition_point(|(id, _)| natural(id, after).is_le()),
    };
    let end = entries.len().min(start.saturating_add(limit));
    let mut page = Map::new();
    if end < entries.len()
        && let Some((last, _)) = entries.get(end.wrapping_sub(1))
    {
        page.insert("nextCursor".to_owned(), encode(&format!("{MARK}{last}")).into());
    }
    let shown: Vec<Json> = entries.drain(..end).skip(start).map(|(_, entry)| entry).collect();
    page.insert("resources".to_owned(), shown.into());
    Ok(page)
}

fn limit(host: &Host, params: &Map<String, Json>) -> Result<usize, RpcError> {
    match params.get("limit") {
        None => Ok(host.page),
        Some(limit) => match limit.as_u64() {
            Some(limit @ 1..=MOST) => Ok(limit as usize),
            _ => Err(refusal::argument("limit", "is not a whole number from 1 to 500")),
        },
    }
}

/// The entry that a page comes after. What this server cannot have issued is refused.
fn cursor(params: &Map<String, Json>) -> Result<Option<String>, RpcError> {
    let refused = || {
        let text = "the cursor is none that this server has issued; begin without one";
        refusal::params(&Failure::new(Code::MCP_CURSOR_INVALID, text))
    };
    match params.get("cursor") {
        None => Ok(None),
        Some(Json::String(text)) if text.is_empty() => Ok(None),
        Some(Json::String(text)) => {
            let decoded = decode(text).and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(refused)?;
            let after = decoded.strip_prefix(MARK).filter(|after| !after.is_empty()).ok_or_else(refused)?;
            Ok(Some(after.to_owned()))
        }
        Some(_) => Err(refused()),
    }
}

/// `resources/read`.
pub(super) fn read(host: &Host, params: &Map<String, Json>) -> Result<Map<String, Json>, RpcError> {
    let uri = params.get("uri").and_then(Json::as_str).filter(|uri| !crate::path::trim(uri).is_empty());
    let Some(uri) = uri else { return Err(refusal::required("uri")) };
    let data = |value: Map<String, Json>| ("application/json", format!("{:#}", Json::Object(value)));
    let (kind, text) = match uri {
        WORKSPACE => data(overview(host, &loaded(host)?)),
        HEALTH => data(
            report(host, &loaded(host)?, Checks::ALL).map_err(|failure| refusal::defect(host, &failure))?,
        ),
        PROTOCOL => ("text/markdown", protocol(&loaded(host)?).ok_or_else(|| missing(uri))?),
        _ => {
            let id = uri.strip_prefix(RECORD).ok_or_else(|| missing(uri))?;
            ("text/markdown", record(host, uri, id)?)
        }
    };
    let contents = json!([{"uri": uri, "mimeType": kind, "text": text}]);
    Ok(Map::from_iter([("contents".to_owned(), contents)]))
}

fn record(host: &Host, uri: &str, id: &str) -> Result<String, RpcError> {
    let Some(id) = unescaped(id) else {
        let text = format!("{} has a broken escape", crate::path::one_line(uri));
        return Err(refusal::params_of(uri, &Failure::new(Code::MCP_RESOURCE_URI_INVALID, text)));
    };
    let workspace = loaded(host)?;
    let failed = |failure: Failure| refusal::defect(host, &failure);
    let index = host.index(&workspace).map_err(failed)?;
    let place = index.find(&id).ok_or_else(|| missing(uri))?;
    let shower = Shower::new(&workspace, &index).map_err(failed)?;
    let shown = shower.show(&[place], View::Full);
    Ok(markdown(index.entry(place), shown.first().unwrap_or(&Map::new())))
}

/// A record as Markdown.
fn markdown(entry: Entry<'_>, shown: &Map<String, Json>) -> String {
    let mut out = String::from("---\n");
    for key in ["id", "kind", "recordType", "title", "status", "area", "path", "revision"] {
        if let Some(value) = shown.get(key).and_then(Json::as_str).filter(|value| !value.is_empty()) {
            let _ = writeln!(out, "{key}: {}", quoted(value));
        }
    }
    for key in ["outgoing", "incoming"] {
        let links = shown.get(key).and_then(Json::as_array).into_iter().flatten();
        let ids: Vec<&str> = links.filter_map(|link| link["id"].as_str()).collect();
        if !ids.is_empty() {
            let _ = writeln!(out, "{key}: [{}]", ids.join(", "));
        }
    }
    let title = crate::path::one_line(entry.title().unwrap_or(entry.id()));
    let _ = write!(out, "---\n\n# {} — {title}\n\n{}", entry.id(), entry.body());
    out.trim_end().to_owned()
}

/// A value that would not be read back as itself is quoted as JSON.
fn quoted(value: &str) -> String {
    let plain = |c: char| !crate::path::is_control(c);
    let starts = value.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '/' | '('));
    let breaks = value.contains(": ") || value.contains(" #") || value.ends_with(':') || value.ends_with(' ');
    if starts && !breaks && value.chars().all(plain) { value.to_owned() } else { json!(value).to_string() }
}

/// A protocol file in the workspace.
fn protocol(workspace: &Workspace) -> Option<String> {
    let path = workspace.raw["agents"]["canonicalInstructions"].as_str()?;
    let real = crate::fs::real_path(&workspace.root, &workspace.root.join(path)).ok()?;
    let bytes = crate::fs::read_regular(&real, CAP).ok()??;
    String::from_utf8(bytes).ok()
}

fn workspace_entry(workspace: &Workspace) -> Json {
    json!({
        "uri": WORKSPACE,
        "name": "workspace",
        "title": format!("The workspace {}", workspace.config.name),
        "description": "Its root, modules and vocabularies",
        "mimeType": "application/json",
        "annotations": {"audience": ["user", "assistant"], "priority": 1},
    })
}

fn health_entry() -> Json {
    json!({
        "uri": HEALTH,
        "name": "health",
        "title": "The health of the records",
        "description": "What is wrong with them, errors first",
        "mimeType": "application/json",
        "annotations": {"audience": ["user", "assistant"], "priority": 0.9},
    })
}

fn protocol_entry() -> Json {
    json!({
        "uri": PROTOCOL,
        "name": "protocol",
        "title": "The protocol of this project",
        "description": "How agents work here",
        "mimeType": "text/markdown",
        "annotations": {"audience": ["assistant"], "priority": 1},
    })
}

fn record_entry(entry: Entry<'_>) -> Json {
    let area = entry.items("area").next();
    let parts = [Some(entry.kind().name()), entry.record_type(), entry.status(), area];
    let description: Vec<&str> = parts.into_iter().flatten().collect();
    let in_hand = entry.kind() == Kind::Card && entry.status() == Some(DOING);
    let priority = if in_hand { 0.9 } else { 0.6 };
    let mut annotations = json!({"audience": ["user", "assistant"], "priority": priority});
    if let Some(day) = entry.updated().filter(|day| clock::is_date(day)) {
        annotations["lastModified"] = format!("{day}T00:00:00.000Z").into();
    }
    json!({
        "uri": format!("{RECORD}{}", escaped(entry.id())),
        "name": entry.id(),
        "title": format!("{} — {}", entry.id(), entry.title().unwrap_or(entry.id())),
        "description": description.join(" · "),
        "mimeType": "text/markdown",
        "annotations": annotations,
    })
}

fn loaded(host: &Host) -> Result<Workspace, RpcError> {
    host.workspace().map_err(|failure| refusal::defect(host, &failure))
}

fn missing(uri: &str) -> RpcError {
    let text = format!("there is no resource {}", crate::path::one_line(uri));
    refusal::params_of(uri, &Failure::new(Code::MCP_RESOURCE_NOT_FOUND, text))
}

/// An id as it stands in an address.
fn escaped(id: &str) -> String {
    let mut out = String::new();
    for byte in id.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.') {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// The text behind percent escapes, decoded once; `None` when one is broken.
fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let mut digit = || char::from(rest.next()?).to_digit(16);
            bytes.push((digit()? * 16 + digit()?) as u8);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// base64url without padding.
fn encode(text: &str) -> String {
    let mut out = String::new();
    for group in text.as_bytes().chunks(3) {
        let bits =
            group.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..=group.len() {
            out.push(char::from(ALPHABET[(bits >> (18 - 6 * place)) as usize & 63]));
        }
    }
    out
}

/// What [`encode`] was given; `None` for anything it does not write.
fn decode(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    for group in text.as_bytes().chunks(4) {
        let mut bits = 0u32;
        for byte in group {
            bits = bits << 6 | ALPHABET.iter().position(|letter| letter == byte)? as u32;
        }
        bits <<= 6 * (4 - group.len());
        let count = group.len().checked_sub(1).filter(|count| *count > 0)?;
        out.extend((0..count).map(|place| (bits >> (16 - 8 * place)) as u8));
    }
    (encode(std::str::from_utf8(&out).ok()?) == text).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_cursor_that_was_not_issued_is_refused() {
        let asked = |sent: Json| cursor(&Map::from_iter([("cursor".to_owned(), sent)])).map_err(drop);
        assert_eq!(asked(encode("1:T-0009").into()), Ok(Some("T-0009".to_owned())));
        assert_eq!(asked("".into()), Ok(None));
        for cursor in [
            json!("!!!"),
            json!(encode("2:T-0009")),
            json!(encode("1:")),
            json!(3),
            json!("MTpUL"),
            json!(null),
        ] {
            assert_eq!(asked(cursor.clone()), Err(()), "{cursor}");
        }
    }

    #[test]
    fn escapes_are_decoded_once() {
        assert_eq!(unescaped("T-0001%20%2e%2525").as_deref(), Some("T-0001 .%25"));
        for broken in ["%", "%2", "%zz", "%c3"] {
            assert_eq!(unescaped(broken), None, "{broken}");
        }
    }

    #[test]
    fn a_title_cannot_break_the_header() {
        assert_eq!(quoted("Wipe the counter"), "Wipe the counter");
        for title in ["a: b", "- x", "a\nb: c", "", "# x", "x #y", "\"q\"", "[x]"] {
            let line = quoted(title);
            assert!(line.starts_with('"') && line.ends_with('"') && !line.contains('\n'), "{line}");
        }
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(text in "\\PC{0,20}") {
            let encoded = encode(&text);
            prop_assert_eq!(decode(&encoded), Some(text.into_bytes()));
            prop_assert!(encoded.bytes().all(|byte| ALPHABET.contains(&byte)));
        }

        #[test]
        fn an_id_survives_its_address(id in "\\PC{0,20}") {
            prop_assert_eq!(unescaped(&escaped(&id)), Some(id));
        }
    }
}
