//! A card as a record among others: whole, or as a row of a listing.

use crate::path::trim;
use crate::work::Card;
use crate::work::card::{Body, View};
use crate::work::load::Assets;
use crate::workspace::Workspace;
use serde_json::{Map, Value as Json};

/// Keys of a row that are the header's own, in order; the declared axes stand behind them.
const SHOWN: [&str; 14] = [
    "status",
    "type",
    "priority",
    "area",
    "archived",
    "parent",
    "depends",
    "origin",
    "related",
    "milestone",
    "tags",
    "claimed_by",
    "claimed_at",
    "created",
];

/// The card with what every record has: `kind`, `recordType`, `path`, and the names of its axes.
pub fn record(card: &Card, workspace: &Workspace) -> Map<String, Json> {
    named(card, card.to_json(), workspace)
}

/// The same with the names of its files.
pub fn with_assets(card: &Card, workspace: &Workspace, assets: &Assets) -> Map<String, Json> {
    let view = View { body: Body::Whole, assets: Some(assets.of(&card.id)), only: None };
    named(card, card.view(view), workspace)
}

/// A row: neither body nor revision, since a list that carried one would only invite conflicts.
pub fn list(card: &Card, workspace: &Workspace) -> Map<String, Json> {
    let header = card.to_json();
    let mut row = Map::new();
    let mut put = |key: &str, value: &Json| {
        let is_blank = value.as_str().is_some_and(|text| trim(text).is_empty());
        if !value.is_null() && !is_blank {
            row.insert(key.to_owned(), value.clone());
        }
    };
    put("id", &card.id.as_str().into());
    put("kind", &"card".into());
    put("recordType", &header["type"]);
    put("title", &title(card).into());
    put("path", &card.repo_path(workspace).into());
    for key in SHOWN.iter().chain(&["updated"]) {
        put(key, &header[*key]);
    }
    let axes = axes(card, workspace);
    for axis in &axes {
        put(axis, &header[axis.as_str()]);
    }
    if !axes.is_empty() {
        put("axes", &axes.into());
    }
    put("bodyBytes", &card.body().len().into());
    row
}

fn named(card: &Card, json: Json, workspace: &Workspace) -> Map<String, Json> {
    let Json::Object(mut map) = json else { return Map::new() };
    if card.field("title").is_none() {
        map.insert("title".to_owned(), title(card).into());
    }
    map.insert("kind".to_owned(), "card".into());
    map.insert("path".to_owned(), card.repo_path(workspace).into());
    if let Some(kind) = card.field("type") {
        map.insert("recordType".to_owned(), kind.into());
    }
    let axes = axes(card, workspace);
    if !axes.is_empty() {
        map.insert("axes".to_owned(), axes.into());
    }
    map
}

/// The title; a card that was written by hand without one goes by its id.
fn title(card: &Card) -> &str {
    card.field("title").unwrap_or(&card.id)
}

/// The declared axes that a card carries.
fn axes(card: &Card, workspace: &Workspace) -> Vec<String> {
    let declared = workspace.config.cards.axes.iter().map(|(name, _)| name);
    declared.filter(|name| card.field(name).is_some()).cloned().collect()
}
