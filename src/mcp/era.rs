//! Which revision a request speaks, decided request by request; what it must carry for that, and what its answer carries.
//!
//! Nothing that a modern request says is remembered. What `initialize` says holds until another one replaces it.

use super::message::{INVALID_PARAMS, Outcome, Request, RpcError, UNSUPPORTED_REVISION};
use super::refusal;
use crate::failure::{Code, Failure};
use serde_json::{Map, Value as Json, json};

/// The revision without a handshake.
pub(super) const MODERN: &str = "2026-07-28";

/// The revisions with one, the newest first.
const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The newest revision with a handshake.
pub(super) const NEWEST_LEGACY: &str = LEGACY[0];

/// The only revision in which an array of messages is one.
const BATCHES: &str = "2025-03-26";

/// Revisions whose clients do not know structured results.
const TEXT_ONLY: [&str; 2] = ["2025-03-26", "2024-11-05"];

/// Keys of `_meta`.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT: &str = "io.modelcontextprotocol/clientInfo";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
const PROGRESS: &str = "progressToken";
const SERVER: &str = "io.modelcontextprotocol/serverInfo";

const LOG_LEVELS: [&str; 8] =
    ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// The name this server goes by.
pub(super) const NAME: &str = "workfile";
/// The same for people.
pub(super) const TITLE: &str = "Workfile";
/// Its version.
pub(super) const VERSION_OF_SERVER: &str = env!("CARGO_PKG_VERSION");

/// Every revision, the newest first.
pub(super) fn revisions() -> Vec<&'static str> {
    std::iter::once(MODERN).chain(LEGACY).collect()
}

/// How the answer to a request is dressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Era {
    /// Each request for itself.
    Modern,
    /// After a handshake on this revision.
    Legacy(&'static str),
}

impl Era {
    /// Whether the payload of a call also travels as text.
    pub(super) fn text_only(self) -> bool {
        matches!(self, Self::Legacy(revision) if TEXT_ONLY.contains(&revision))
    }

    /// A result as this era has it.
    pub(super) fn dress(self, result: Map<String, Json>) -> Json {
        if self != Self::Modern {
            return Json::Object(result);
        }
        let mut dressed = Map::from_iter([("resultType".to_owned(), "complete".into())]);
        dressed.extend(result);
        let server = dressed.entry("_meta").or_insert_with(|| json!({}));
        server[SERVER] = json!({"name": NAME, "version": VERSION_OF_SERVER});
        Json::Object(dressed)
    }
}

/// How long a modern client may keep a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fresh {
    /// For half a minute: it does not change while the process lives.
    Constant,
    /// Not at all: a client that kept it would not see the card it just made.
    Volatile,
}

impl Fresh {
    /// The result with the hint, where the era has any.
    pub(super) fn hint(self, era: Era, mut result: Map<String, Json>) -> Map<String, Json> {
        if era == Era::Modern {
            let time: u32 = if self == Self::Constant { 30_000 } else { 0 };
            result.insert("ttlMs".to_owned(), time.into());
            result.insert("cacheScope".to_owned(), "private".into());
        }
        result
    }
}

/// What a process remembers of its client.
#[derive(Debug, Default)]
pub(super) struct Session {
    handshake: Option<Handshake>,
}

#[derive(Debug)]
struct Handshake {
    revision: &'static str,
    client: Option<String>,
}

/// What a request is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// A handshake that was made.
    Handshake(&'static str),
    /// Answered at once.
    Ping,
    /// A method in an era, for a client that may have a name.
    Method(Era, Option<String>),
}

impl Session {
    /// Whether an array is a batch now.
    pub(super) fn has_batches(&self) -> bool {
        self.handshake.as_ref().is_some_and(|handshake| handshake.revision == BATCHES)
    }

    /// Finds a request's era.
    pub(super) fn ask(&mut self, request: &Request) -> Result<Asked, RpcError> {
        let Request { method, params, .. } = request;
        let meta = match params.get("_meta") {
            None => &Map::new(),
            Some(Json::Object(meta)) => meta,
            Some(_) => return Err(refusal::argument("params._meta", "is not an object")),
        };
        let is_initialize = method == "initialize";
        if let Some(version) = params.get("protocolVersion").and_then(Json::as_str).filter(|_| is_initialize)
        {
            return Ok(Asked::Handshake(self.shake(version, params)));
        }
        match meta.get(VERSION) {
            Some(Json::String(version)) if version == MODERN => {
                modern(meta, params)?;
                return Ok(Asked::Method(Era::Modern, client_name(meta.get(CLIENT))));
            }
            Some(Json::String(version)) if LEGACY.contains(&version.as_str()) => {}
            Some(Json::String(version)) => return Err(unsupported(version)),
            Some(_) => return Err(metadata_required("it is not a string")),
            None if self.handshake.is_none()
                && (meta.contains_key(CAPABILITIES) || meta.contains_key(CLIENT)) =>
            {
                return Err(metadata_required("it is missing"));
            }
            None => {}
        }
        match (method.as_str(), &self.handshake) {
            ("server/discover", _) => Err(metadata_required("it is missing")),
            ("initialize", _) => Err(refusal::required("protocolVersion")),
            ("ping", _) => Ok(Asked::Ping),
            (_, None) => {
                let text = format!(
                    "nothing but `ping` before a handshake: send `initialize` first, or `_meta` with {VERSION}"
                );
                Err(refusal::params(&Failure::new(Code::MCP_NOT_INITIALIZED, text)))
            }
            (_, Some(shaken)) => Ok(Asked::Method(Era::Legacy(shaken.revision), shaken.client.clone())),
        }
    }

    /// Settles on a revision and remembers who asks.
    fn shake(&mut self, version: &str, params: &Map<String, Json>) -> &'static str {
        let revision = LEGACY.into_iter().find(|known| *known == version).unwrap_or(NEWEST_LEGACY);
        self.handshake = Some(Handshake { revision, client: client_name(params.get("clientInfo")) });
        revision
    }
}

fn client_name(info: Option<&Json>) -> Option<String> {
    info?.get("name")?.as_str().map(str::to_owned)
}

fn unsupported(version: &str) -> RpcError {
    let text = format!("revision {version} is not supported; supported: {}", revisions().join(", "));
    RpcError::new(UNSUPPORTED_REVISION, text).with(json!({"supported": revisions(), "requested": version}))
}

fn metadata_required(problem: &str) -> RpcError {
    let text = format!("`_meta` must name the revision under {VERSION}; {problem}");
    refusal::params(&Failure::new(Code::MCP_REQUEST_METADATA_REQUIRED, text))
}

/// Checks what a modern request has to carry and what it may.
fn modern(meta: &Map<String, Json>, params: &Map<String, Json>) -> Result<(), RpcError> {
    if !meta.get(CAPABILITIES).is_some_and(Json::is_object) {
        let text = format!("`_meta` must have {CAPABILITIES}, an object, which may be empty");
        return Err(refusal::params(&Failure::new(Code::MCP_CLIENT_CAPABILITIES_REQUIRED, text)));
    }
    let is_client = |info: &Json| ["name", "version"].iter().all(|key| info[*key].is_string());
    let is_level = |level: &Json| level.as_str().is_some_and(|level| LOG_LEVELS.contains(&level));
    let is_token = |token: &Json| token.is_string() || token.as_f64().is_some_and(|n| n.fract() == 0.0);
    for (key, holds, problem) in [
        (CLIENT, meta.get(CLIENT).is_none_or(is_client), "is not an object with a name and a version"),
        (LOG_LEVEL, meta.get(LOG_LEVEL).is_none_or(is_level), "is not one of the eight log levels"),
        (PROGRESS, meta.get(PROGRESS).is_none_or(is_token), "is neither a string nor an integer"),
    ] {
        if !holds {
            return Err(refusal::argument(&format!("_meta.{key}"), problem));
        }
    }
    if params.get("inputResponses").is_some_and(|value| !value.is_object()) {
        return Err(refusal::argument("inputResponses", "is not an object"));
    }
    if params.get("requestState").is_some_and(|value| !value.is_string()) {
        return Err(refusal::argument("requestState", "is not a string"));
    }
    Ok(())
}

/// What a new client is told.
const INSTRUCTIONS: &str = "Workfile keeps several agents and people in one Git repository out of each other's way. \
    Its records (cards, documents, change fragments, memory) are Markdown files under .project/ and change through \
    these tools only, never by editing a file. Begin with project_workspace, which tells the vocabularies of this \
    project, or project_next, which tells what can be started. Read a record before writing to it, and send the revision \
    you read as expectedRevision. Claim a card, with the paths you will change as its scope, before you change any of \
    them; an edit inside somebody else's scope is asked about. project_doctor tells what is wrong with the records. review means built; done means proven where it runs, and \
    no tool can force it. Nothing leaves this machine unless the host has added an integration.";

fn capabilities() -> Json {
    json!({"tools": {}, "resources": {}, "prompts": {}})
}

/// The answer to a handshake.
pub(super) fn initialized(revision: &str) -> Json {
    json!({
        "protocolVersion": revision,
        "capabilities": capabilities(),
        "serverInfo": {
            "name": NAME,
            "title": TITLE,
            "version": VERSION_OF_SERVER,
            "description": "Claims, cards, documents, changes and memory of one repository",
        },
        "instructions": INSTRUCTIONS,
    })
}

/// The answer to `server/discover`.
pub(super) fn discovered() -> Outcome {
    let found = json!({
        "supportedVersions": revisions(),
        "capabilities": capabilities(),
        "instructions": INSTRUCTIONS,
    });
    let Json::Object(found) = found else { return Err(RpcError::new(INVALID_PARAMS, "no discovery")) };
    let mut dressed = Era::Modern.dress(Fresh::Constant.hint(Era::Modern, found));
    dressed["_meta"][SERVER]["title"] = TITLE.into();
    Ok(dressed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::message::{Content, Message, read};

    fn request(method: &str, params: &Json) -> Request {
        let text = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        match read(text.as_bytes()).unwrap() {
            Content::One(Message::Request(request)) => request,
            other => panic!("{other:?}"),
        }
    }

    fn meta(version: &str) -> Json {
        json!({"_meta": {VERSION: version, CAPABILITIES: {}, CLIENT: {"name": "c", "version": "1"}}})
    }

    fn refused(session: &mut Session, method: &str, params: &Json) -> String {
        let error = session.ask(&request(method, params)).unwrap_err();
        let error = serde_json::to_value(error).unwrap();
        let code = error["data"]["code"].as_str().unwrap_or_default();
        format!("{} {code} {}", error["code"], error["data"]["details"]["argument"].as_str().unwrap_or("-"))
    }

    #[test]
    fn eras_are_found_request_by_request() {
        let mut session = Session::default();
        let modern = Asked::Method(Era::Modern, Some("c".to_owned()));
        assert_eq!(session.ask(&request("tools/list", &meta(MODERN))).unwrap(), modern);
        assert_eq!(refused(&mut session, "tools/list", &json!({})), "-32602 MCP_NOT_INITIALIZED -");
        assert_eq!(session.ask(&request("ping", &json!({}))).unwrap(), Asked::Ping);
        let asked = json!({"protocolVersion": "2025-03-26", "clientInfo": {"name": "old"}});
        assert_eq!(session.ask(&request("initialize", &asked)).unwrap(), Asked::Handshake("2025-03-26"));
        assert!(session.has_batches());
        let legacy = Asked::Method(Era::Legacy("2025-03-26"), Some("old".to_owned()));
        assert_eq!(session.ask(&request("tools/list", &json!({}))).unwrap(), legacy);
        assert_eq!(session.ask(&request("tools/list", &meta("2024-11-05"))).unwrap(), legacy);
        assert_eq!(session.ask(&request("tools/list", &meta(MODERN))).unwrap(), modern);
        for unknown in [MODERN, "1999"] {
            let asked = json!({"protocolVersion": unknown});
            assert_eq!(session.ask(&request("initialize", &asked)).unwrap(), Asked::Handshake(NEWEST_LEGACY));
        }
        assert!(!session.has_batches());
        let nobody = Asked::Method(Era::Legacy(NEWEST_LEGACY), None);
        assert_eq!(session.ask(&request("tools/call", &json!({}))).unwrap(), nobody);
    }

    #[test]
    fn metadata_is_checked() {
        let mut session = Session::default();
        for (method, params, expected) in [
            ("tools/list", json!({"_meta": []}), "-32602 MCP_ARGUMENT_INVALID params._meta"),
            ("tools/list", meta("2099-01-01"), "-32022  -"),
            ("tools/list", json!({"_meta": {VERSION: 3}}), "-32602 MCP_REQUEST_METADATA_REQUIRED -"),
            ("tools/list", json!({"_meta": {CAPABILITIES: {}}}), "-32602 MCP_REQUEST_METADATA_REQUIRED -"),
            ("server/discover", json!({}), "-32602 MCP_REQUEST_METADATA_REQUIRED -"),
            ("initialize", json!({}), "-32602 MCP_ARGUMENT_REQUIRED protocolVersion"),
            ("tools/list", json!({"_meta": {VERSION: MODERN}}), "-32602 MCP_CLIENT_CAPABILITIES_REQUIRED -"),
        ] {
            assert_eq!(refused(&mut session, method, &params), expected, "{params}");
        }
        for (key, value, argument) in [
            (CLIENT, json!({"name": "x"}), "_meta.io.modelcontextprotocol/clientInfo"),
            (LOG_LEVEL, json!("loud"), "_meta.io.modelcontextprotocol/logLevel"),
            ("progressToken", json!(1.5), "_meta.progressToken"),
        ] {
            let mut params = meta(MODERN);
            params["_meta"][key] = value;
            let expected = format!("-32602 MCP_ARGUMENT_INVALID {argument}");
            assert_eq!(refused(&mut session, "tools/call", &params), expected);
        }
        for (key, value) in [("inputResponses", json!([])), ("requestState", json!(1))] {
            let mut params = meta(MODERN);
            params[key] = value;
            assert_eq!(
                refused(&mut session, "tools/call", &params),
                format!("-32602 MCP_ARGUMENT_INVALID {key}")
            );
        }
    }
}
