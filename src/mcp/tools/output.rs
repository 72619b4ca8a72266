//! What answers look like, as JSON schemas that a success, a failure and a shortened answer all satisfy.

use serde_json::{Map, Value as Json, json};

/// One member of an answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    name: &'static str,
    shape: Shape,
    about: Option<&'static str>,
}

/// What a member holds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    /// A text.
    Text,
    /// One of these.
    OneOf(&'static [&'static str]),
    /// Yes or no.
    Flag,
    /// An object.
    Object,
    /// A list of what is inside.
    List(&'static Shape),
    /// A whole number.
    Integer,
    /// A whole record.
    Record,
    /// A record without body and revision.
    Row,
    /// A row that says why it is there.
    Candidate,
    /// Somebody else's scope that a claim touches.
    Overlap,
    /// A record that was found.
    Hit,
    /// A text, or null.
    MaybeText,
    /// Fragments of one type.
    Group,
    /// Where a card comes from.
    Provenance,
    /// What was left out of a bundle.
    Omitted,
    /// A rule by its title.
    Rule,
    /// Names and numbers.
    Counts,
    /// Findings by severity.
    Severities,
    /// A finding.
    Issue,
}

impl Member {
    /// A member.
    pub(super) const fn new(name: &'static str, shape: Shape) -> Self {
        Self { name, shape, about: None }
    }

    /// What it says.
    pub(super) const fn about(self, about: &'static str) -> Self {
        Self { about: Some(about), ..self }
    }
}

/// The members of a page of rows.
pub(super) const PAGE: &[Member] = &[
    Member::new("records", Shape::List(&Shape::Row)),
    Member::new("total", Shape::Integer).about("Matches on all pages."),
    Member::new("offset", Shape::Integer).about("Matches skipped."),
    Member::new("limit", Shape::Integer).about("Most rows of a page."),
];

/// The only member of a changed record's answer.
pub(super) const RECORD: &[Member] = &[Member::new("record", Shape::Record)];

/// The schema of an answer: open, because a shortened one has a mark besides, and with a branch for failures.
pub(super) fn schema(members: &[Member], always: &[&str]) -> Json {
    let mut properties: Map<String, Json> = Map::new();
    for member in members {
        let mut schema = member.shape.schema();
        if let Some(about) = member.about {
            schema["description"] = about.into();
        }
        properties.insert(member.name.to_owned(), schema);
    }
    properties.insert("resultTruncated".to_owned(), truncated());
    properties.insert("error".to_owned(), error());
    json!({
        "type": "object",
        "additionalProperties": true,
        "properties": properties,
        "anyOf": [{"required": always}, {"required": ["error"]}],
    })
}

fn object(properties: &Json, required: &[&str]) -> Json {
    json!({"type": "object", "additionalProperties": true, "properties": properties, "required": required})
}

fn open(properties: &Json) -> Json {
    json!({"type": "object", "additionalProperties": true, "properties": properties})
}

fn ids(about: &str) -> Json {
    json!({"type": "array", "items": {"type": "string"}, "description": about})
}

fn truncated() -> Json {
    json!({
        "type": "object",
        "additionalProperties": true,
        "description": "Only where the byte ceiling cut this answer.",
        "properties": {
            "records": {"type": "integer", "description": "Rows left out.", "minimum": 0},
            "bodyBytes": {"type": "integer", "description": "Stored bytes of the text that was cut.", "minimum": 0},
        },
    })
}

fn error() -> Json {
    let mut error = object(
        &json!({
            "code": {"type": "string"},
            "message": {"type": "string"},
            "details": {"type": "object", "additionalProperties": true},
        }),
        &["code", "message"],
    );
    error["description"] = "Alone in a failed answer.".into();
    error
}

/// The families of records.
pub(super) const KINDS: &[&str] = &["card", "doc", "change", "release", "memory"];

impl Shape {
    fn schema(self) -> Json {
        let text = || json!({"type": "string"});
        let whole = || json!({"type": "integer"});
        match self {
            Self::Text => text(),
            Self::OneOf(allowed) => json!({"type": "string", "enum": allowed}),
            Self::Flag => json!({"type": "boolean"}),
            Self::Integer => whole(),
            Self::Object => json!({"type": "object", "additionalProperties": true}),
            Self::List(inner) => json!({"type": "array", "items": inner.schema()}),
            Self::Record => {
                let links = || json!({"type": "array", "items": {"type": "object"}});
                object(
                    &json!({
                        "id": text(), "kind": Self::OneOf(KINDS).schema(), "recordType": text(), "title": text(),
                        "status": text(), "path": text(), "file": text(), "revision": text(), "body": text(),
                        "created": text(), "updated": text(), "archived": {"type": "boolean"},
                        "tags": {"type": "array", "items": text()},
                        "outgoing": links(), "incoming": links(), "incomingTotal": whole(), "issues": links(),
                    }),
                    &["id", "kind", "title"],
                )
            }
            Self::Row => {
                let mut row = object(
                    &json!({
                        "id": text(), "kind": Self::OneOf(KINDS).schema(), "recordType": text(), "title": text(),
                        "path": text(), "status": text(), "created": text(), "updated": text(),
                        "incomingTotal": whole(), "bodyBytes": whole(),
                    }),
                    &["id", "kind", "title", "path"],
                );
                row["description"] = "No body, no revision.".into();
                row
            }
            Self::Candidate => {
                let mut row = object(
                    &json!({"id": text(), "kind": text(), "title": text(), "reason": text()}),
                    &["id", "title", "reason"],
                );
                row["description"] = "A row and why it is here.".into();
                row
            }
            Self::Hit => object(
                &json!({
                    "id": text(), "kind": text(), "title": text(), "searchScore": {"type": "number"},
                    "excerpt": text(),
                }),
                &["id", "kind", "title"],
            ),
            Self::MaybeText => json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
            Self::Group => open(&json!({"type": text(), "fragments": Self::List(&Self::Row).schema()})),
            Self::Provenance => open(&json!({
                "origin": ids("Records it came out of."),
                "spawned": ids("Cards that came out of it."),
            })),
            Self::Omitted => open(&json!({
                "relevance": ids("Not about this card."),
                "limit": ids("Beyond the limit."),
            })),
            Self::Rule => open(&json!({"id": text(), "title": text(), "collection": text()})),
            Self::Counts => json!({"type": "object", "additionalProperties": whole()}),
            Self::Severities => json!({
                "type": "object",
                "properties": {"error": whole(), "warning": whole(), "info": whole()},
                "additionalProperties": true,
            }),
            Self::Issue => object(
                &json!({
                    "severity": {"type": "string", "enum": ["error", "warning", "info"]},
                    "code": text(), "message": text(), "id": text(), "file": text(), "module": text(),
                    "details": Self::Object.schema(),
                }),
                &["severity", "code", "message"],
            ),
            Self::Overlap => object(
                &json!({
                    "code": {"type": "string", "const": "CARD_SCOPE_OVERLAP"},
                    "cardId": text(), "claimedBy": text(),
                    "paths": {"type": "array", "items":
                        {"type": "array", "items": text(), "minItems": 2, "maxItems": 2}},
                }),
                &["code", "cardId", "claimedBy", "paths"],
            ),
        }
    }
}
