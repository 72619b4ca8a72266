//! A second opinion: what a YAML reader finds in a header, every scalar as the text it is.

use super::{Item, Value};
use saphyr_parser::{Event, Parser};

/// What stands in a YAML document.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Yaml {
    Text(String),
    List(Vec<Yaml>),
    Map(Vec<(String, Yaml)>),
}

/// The keys of a header, in order; an error is what the reader complains about.
pub(super) fn keys(header: &str) -> Result<Vec<(String, Yaml)>, String> {
    let events: Result<Vec<_>, _> = Parser::new_from_str(header).collect();
    let events = events.map_err(|error| error.to_string())?;
    let mut events = events.into_iter().map(|(event, _)| event).filter(|event| {
        !matches!(event, Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd | Event::StreamEnd)
    });
    let Some(first) = events.next() else { return Ok(Vec::new()) };
    let Yaml::Map(keys) = node(first, &mut events)? else { return Err("no mapping".to_owned()) };
    match events.next() {
        None => Ok(keys),
        Some(more) => Err(format!("more than one document: {more:?}")),
    }
}

fn node<'a>(first: Event<'a>, events: &mut impl Iterator<Item = Event<'a>>) -> Result<Yaml, String> {
    let missing = || "it ends in the middle".to_owned();
    match first {
        Event::Scalar(text, _, 0, None) => Ok(Yaml::Text(text.into_owned())),
        Event::SequenceStart(0, None) => {
            let mut items = Vec::new();
            loop {
                match events.next().ok_or_else(missing)? {
                    Event::SequenceEnd => return Ok(Yaml::List(items)),
                    item => items.push(node(item, events)?),
                }
            }
        }
        Event::MappingStart(0, None) => {
            let mut fields = Vec::new();
            loop {
                match events.next().ok_or_else(missing)? {
                    Event::MappingEnd => return Ok(Yaml::Map(fields)),
                    key => {
                        let Yaml::Text(key) = node(key, events)? else { return Err("a key".to_owned()) };
                        let value = events.next().ok_or_else(missing)?;
                        fields.push((key, node(value, events)?));
                    }
                }
            }
        }
        other => Err(format!("an anchor, an alias or a tag: {other:?}")),
    }
}

/// A value of ours as the reader must find it.
pub(super) fn of(value: &Value) -> Yaml {
    let list = |items: &[String]| Yaml::List(items.iter().cloned().map(Yaml::Text).collect());
    let map = |fields: &[(String, Item)]| {
        let item = |item: &Item| match item {
            Item::Text(text) => Yaml::Text(text.clone()),
            Item::List(items) => list(items),
        };
        Yaml::Map(fields.iter().map(|(name, it)| (name.clone(), item(it))).collect())
    };
    match value {
        Value::Text(text) => Yaml::Text(text.clone()),
        Value::List(items) => list(items),
        Value::Mapping(fields) => map(fields),
        Value::Records(records) => Yaml::List(records.iter().map(|fields| map(fields)).collect()),
    }
}

/// The same without line ends at the end of a text: the last one of a block scalar is no part of our value.
pub(super) fn clipped(value: Yaml) -> Yaml {
    match value {
        Yaml::Text(text) => Yaml::Text(text.trim_end_matches('\n').to_owned()),
        other => other,
    }
}

#[test]
fn a_reader_sees_text_where_yaml_knows_types() {
    let header = "a: true\nb: ~\nc: 0012\nd: [1e3, no]\ne:\n  f: 2026-03-04\n";
    let text = |text: &str| Yaml::Text(text.to_owned());
    let wanted = [
        ("a", text("true")),
        ("b", text("~")),
        ("c", text("0012")),
        ("d", Yaml::List(vec![text("1e3"), text("no")])),
        ("e", Yaml::Map(vec![("f".to_owned(), text("2026-03-04"))])),
    ];
    assert_eq!(keys(header).unwrap(), wanted.map(|(key, value)| (key.to_owned(), value)));
    assert!(keys("a: - b").is_err() && keys("a: @b").is_err() && keys("a: *b").is_err());
}
