//! What a line says: requests with the id as it was written, notifications, responses, or why it is none of these.
//!
//! Ids are kept as text, because they go back digit for digit; everything else is read once.

use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json};
use std::borrow::Cow;
use std::fmt;

/// Deepest nesting of a message.
const DEEPEST: usize = 128;

/// The line is no JSON.
pub(super) const PARSE_ERROR: i64 = -32700;
/// The message is no request.
pub(super) const INVALID_REQUEST: i64 = -32600;
/// Nobody knows the method.
pub(super) const METHOD_NOT_FOUND: i64 = -32601;
/// The parameters are refused.
pub(super) const INVALID_PARAMS: i64 = -32602;
/// A defect.
pub(super) const INTERNAL_ERROR: i64 = -32603;
/// Nobody knows the revision.
pub(super) const UNSUPPORTED_REVISION: i64 = -32022;

/// The id of a request: as it was written, and as it is compared.
#[derive(Clone, Debug)]
pub(super) struct Id {
    raw: Box<RawValue>,
    /// What is compared.
    pub(super) key: Key,
}

/// An id as it is compared: a text is never a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// A string, its escapes resolved.
    Text(String),
    /// An integer, digit for digit.
    Number(String),
}

/// An error of the protocol.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct RpcError {
    code: i64,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Json>,
}

impl RpcError {
    /// An error without data.
    pub(super) fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// The same with data.
    pub(super) fn with(mut self, data: Json) -> Self {
        self.data = Some(data);
        self
    }
}

/// A request.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) id: Id,
    pub(super) method: String,
    pub(super) params: Map<String, Json>,
}

/// One message.
#[derive(Clone, Debug)]
pub(super) enum Message {
    /// To be answered once.
    Request(Request),
    /// Never answered. The only one that is acted on names a request that nobody waits for any more.
    Notification { cancels: Option<Key> },
    /// Never answered either: this server asks nothing.
    Response,
    /// Answered with an error; without an id that could be read, with a null one.
    Invalid(Option<Id>, RpcError),
}

/// What a line holds.
#[derive(Debug)]
pub(super) enum Content {
    /// A message.
    One(Message),
    /// An array of messages.
    Many(Vec<Message>),
}

/// Reads a line.
pub(super) fn read(line: &[u8]) -> Result<Content, RpcError> {
    let refused = |why: &dyn fmt::Display| RpcError::new(PARSE_ERROR, format!("the line is not JSON: {why}"));
    let text = std::str::from_utf8(line).map_err(|error| refused(&error))?;
    if depth(line) > DEEPEST {
        return Err(refused(&format_args!("it is nested more than {DEEPEST} levels deep")));
    }
    let text = text.trim_matches([' ', '\t', '\r', '\n']);
    if text.starts_with('[') {
        let members: Vec<&RawValue> = serde_json::from_str(text).map_err(|error| refused(&error))?;
        let members = members.into_iter().map(|member| one(member.get()).map_err(|error| refused(&error)));
        return Ok(Content::Many(members.collect::<Result<_, _>>()?));
    }
    one(text).map(Content::One).map_err(|error| refused(&error))
}

/// How deep brackets are nested, counted before anything is parsed.
fn depth(line: &[u8]) -> usize {
    let (mut now, mut deepest) = (0usize, 0);
    let (mut inside, mut escaped) = (false, false);
    for byte in line {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if inside => escaped = true,
            b'"' => inside = !inside,
            b'[' | b'{' if !inside => {
                now += 1;
                deepest = deepest.max(now);
            }
            b']' | b'}' if !inside => now = now.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

fn one(text: &str) -> Result<Message, serde_json::Error> {
    if !text.starts_with('{') {
        serde_json::from_str::<&RawValue>(text)?;
        let error = RpcError::new(INVALID_REQUEST, "a message is a JSON object");
        return Ok(Message::Invalid(None, error));
    }
    let envelope: Envelope<'_> = serde_json::from_str(text)?;
    let id = envelope.id.map(read_id).transpose()?;
    let method = envelope.method.and_then(|method| serde_json::from_str::<String>(method.get()).ok());
    let params: Json =
        envelope.params.map(|params| serde_json::from_str(params.get())).transpose()?.unwrap_or_default();
    if envelope.answers && envelope.method.is_none() {
        return Ok(Message::Response);
    }
    let version = envelope.jsonrpc.and_then(|version| serde_json::from_str::<String>(version.get()).ok());
    let Some(method) = method.filter(|_| version.as_deref() == Some("2.0")) else {
        let text = "a message has `jsonrpc`: \"2.0\" and a `method`, which is a string";
        return Ok(Message::Invalid(id.flatten(), RpcError::new(INVALID_REQUEST, text)));
    };
    Ok(match id {
        None => Message::Notification { cancels: cancelled(&method, envelope.params) },
        Some(None) => {
            let text = "the id of a request is a string or an integer";
            Message::Invalid(None, RpcError::new(INVALID_REQUEST, text))
        }
        Some(Some(id)) => match params {
            Json::Object(params) => Message::Request(Request { id, method, params }),
            Json::Null if envelope.params.is_none() => {
                Message::Request(Request { id, method, params: Map::new() })
            }
            _ => Message::Invalid(Some(id), super::refusal::argument("params", "is not an object")),
        },
    })
}

/// A string or an integer; `None` for any other value.
fn read_id(raw: &RawValue) -> Result<Option<Id>, serde_json::Error> {
    let text = raw.get();
    let digits = text.strip_prefix('-').unwrap_or(text);
    let key = if text.starts_with('"') {
        Key::Text(serde_json::from_str(text)?)
    } else if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        Key::Number(text.to_owned())
    } else {
        return Ok(None);
    };
    Ok(Some(Id { raw: raw.to_owned(), key }))
}

/// The request that a cancellation names, digit for digit.
fn cancelled(method: &str, params: Option<&RawValue>) -> Option<Key> {
    #[derive(Deserialize)]
    struct Cancelled<'a> {
        #[serde(borrow, rename = "requestId")]
        request: &'a RawValue,
    }
    if method != "notifications/cancelled" {
        return None;
    }
    let named: Cancelled<'_> = serde_json::from_str(params?.get()).ok()?;
    Some(read_id(named.request).ok()??.key)
}

/// The members of a message as they are written; of a repeated one the last.
#[derive(Default)]
struct Envelope<'a> {
    jsonrpc: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    /// Whether there is a `result` or an `error`.
    answers: bool,
}

impl<'de: 'a, 'a> Deserialize<'de> for Envelope<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Members)
    }
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Envelope<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut envelope = Envelope::default();
        while let Some(name) = map.next_key::<Name<'de>>()? {
            let value: &'de RawValue = map.next_value().map_err(A::Error::custom)?;
            match &*name.0 {
                "jsonrpc" => envelope.jsonrpc = Some(value),
                "id" => envelope.id = Some(value),
                "method" => envelope.method = Some(value),
                "params" => envelope.params = Some(value),
                "result" | "error" => envelope.answers = true,
                _ => {}
            }
        }
        Ok(envelope)
    }
}

#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

/// What is sent back.
pub(super) type Outcome = Result<Json, RpcError>;

/// One response: its id, and a result or an error.
#[derive(Serialize)]
pub(super) struct Response<'a> {
    jsonrpc: &'static str,
    id: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a RpcError>,
}

impl<'a> Response<'a> {
    /// The response to a request; without an id that could be read its id is null.
    pub(super) fn new(id: Option<&'a Id>, outcome: &'a Outcome) -> Self {
        Self {
            jsonrpc: "2.0",
            id: id.map(|id| &*id.raw),
            result: outcome.as_ref().ok(),
            error: outcome.as_ref().err(),
        }
    }
}

/// A value as it goes over the wire: compact, and without the characters that some clients take for the end of a line.
pub(super) fn wire(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).unwrap_or_default();
    if !text.contains(['\u{2028}', '\u{2029}', '\u{85}']) {
        return text;
    }
    text.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029").replace('\u{85}', "\\u0085")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn single(text: &str) -> Message {
        match read(text.as_bytes()).unwrap() {
            Content::One(message) => message,
            Content::Many(_) => panic!("{text} is an array"),
        }
    }

    fn answer(text: &str) -> String {
        let error = match single(text) {
            Message::Request(request) => return wire(&Response::new(Some(&request.id), &Ok(Json::Null))),
            Message::Invalid(id, error) => (id, error),
            other => return format!("{other:?}"),
        };
        wire(&Response { id: error.0.as_ref().map(|id| &*id.raw), ..Response::new(None, &Err(error.1)) })
    }

    #[test]
    fn an_id_comes_back_as_it_was_written() {
        for id in ["12345678901234567890123", "-0", "\"a\"", r#""\u00e9\n""#, "\"\""] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
            assert!(answer(&text).contains(&format!("\"id\":{id},")), "{}", answer(&text));
        }
        let line = answer("{\"jsonrpc\":\"2.0\",\"id\":\"a\u{2028}b\u{85}\",\"method\":\"ping\"}");
        assert!(line.contains(r#""id":"a\u2028b\u0085""#), "{line}");
    }

    #[test]
    fn envelopes_are_judged_in_order() {
        for (text, expected) in [
            (r#"{"id":1,"result":{}}"#, "Response"),
            (r#"{"id":null,"error":3}"#, "Response"),
            (r#"{"id":1,"method":"x"}"#, r#""id":1,"error":{"code":-32600"#),
            (r#"{"jsonrpc":"2.0","id":"x","method":3}"#, r#""id":"x","error":{"code":-32600"#),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"x"}"#, r#""id":null,"error":{"code":-32600"#),
            (r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#, r#""id":null,"error":{"code":-32600"#),
            (r#"{"jsonrpc":"2.0","id":true,"method":"x","result":1}"#, r#""id":null,"error":{"code":-32600"#),
            (r#"{"jsonrpc":"2.0","method":"x","params":[]}"#, "Notification"),
            (r#"{"jsonrpc":"2.0","id":7,"method":"x","params":null}"#, r#""id":7,"error":{"code":-32602"#),
            (r#"{"jsonrpc":"1","jsonrpc":"2.0","id":1,"id":8,"method":"x"}"#, r#""id":8,"result":null"#),
            (r#""ping""#, r#""id":null,"error":{"code":-32600"#),
        ] {
            assert!(answer(text).contains(expected), "{text}: {}", answer(text));
        }
    }

    #[test]
    fn what_is_no_json_is_a_parse_error() {
        for line in [
            &b"{\"jsonrpc\":"[..],
            b"{}\0",
            b"{}{}",
            b"\xff",
            b"\xef\xbb\xbf{}",
            b"[1,]",
            b"{\"id\":\"\\ud800\"}",
        ] {
            assert_eq!(read(line).unwrap_err().code, PARSE_ERROR, "{line:?}");
        }
    }

    #[test]
    fn a_hundred_and_twenty_eight_levels_are_read_and_no_more() {
        let nested = |levels: usize| {
            let (open, close) = ("[".repeat(levels), "]".repeat(levels));
            read(
                format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x[[","params":{{"x":{open}{close}}}}}"#)
                    .as_bytes(),
            )
        };
        assert!(matches!(nested(126), Ok(Content::One(Message::Request(_)))));
        assert_eq!(nested(127).unwrap_err().code, PARSE_ERROR);
        assert_eq!(nested(1_000_000).unwrap_err().code, PARSE_ERROR);
    }

    proptest! {
        #[test]
        fn no_line_is_more_than_an_answer(line in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&line);
        }

        #[test]
        fn nearly_valid_lines_are_no_more_than_an_answer(line in r#"[\[\]{}":,0-9a-e\\.u-]{0,60}"#) {
            let _ = read(line.as_bytes());
        }
    }
}
