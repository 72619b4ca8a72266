//! What an answer shows of a record: all of it, a summary, or a row of a list.

use super::entry::{Entry, Folders, Kind};
use super::graph::{Graph, Incoming, Outgoing, Relations};
use super::index::Index;
use crate::failure::Failure;
use crate::path::{is_space, trim};
use crate::work::Card;
use crate::work::load::Assets;
use crate::workspace::Workspace;
use serde_json::{Map, Value as Json, json};

/// How many backlinks are listed.
const BACKLINKS: usize = 20;
/// How many characters an excerpt has.
pub const EXCERPT: usize = 200;

/// What is shown of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// Everything.
    Full,
    /// Facts, an excerpt, and who names whom.
    Summary,
    /// Facts.
    List,
}

impl View {
    /// The name of the view in an answer.
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Summary => "summary",
            Self::List => "list",
        }
    }
}

/// The keys of a summary, in order.
const SUMMARY: [&str; 31] = [
    "id",
    "kind",
    "recordType",
    "title",
    "path",
    "file",
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
    "managed",
    "documentKind",
    "visibility",
    "released",
    "date",
    "collection",
    "version",
    "claimed_by",
    "claimed_at",
    "created",
    "updated",
    "revision",
    "searchScore",
    "incomingTotal",
];

/// What shows the records of an index.
pub struct Shower<'a> {
    workspace: &'a Workspace,
    /// The records.
    pub index: &'a Index,
    /// Who names whom.
    pub graph: Graph<'a>,
    assets: Assets,
}

impl<'a> Shower<'a> {
    /// Gets ready to show records; nothing is computed yet.
    pub fn new(workspace: &'a Workspace, index: &'a Index) -> Result<Self, Failure> {
        let assets = Assets::open(workspace)?;
        Ok(Self { workspace, index, graph: Graph::new(workspace, index), assets })
    }

    /// The records at `places`. Nothing is diagnosed: a full view has no findings in it yet.
    pub fn show(&self, places: &[usize], view: View) -> Vec<Map<String, Json>> {
        let incoming = self.graph.incoming(places);
        places.iter().zip(&incoming).map(|(place, incoming)| self.one(*place, incoming, view)).collect()
    }

    fn one(&self, place: usize, incoming: &[Incoming], view: View) -> Map<String, Json> {
        let entry = self.index.entry(place);
        let settings = &self.workspace.config.cards;
        let mut full = entry.to_json(settings, Some(&self.assets));
        let mut put = |key: &str, value: Json| full.insert(key.to_owned(), value);
        put("incomingTotal", incoming.len().into());
        if view == View::Full {
            let outgoing = self.graph.outgoing(place);
            put("outgoing", outgoing.iter().map(|edge| self.outgoing(edge, view)).collect());
            put("incoming", listed(incoming).iter().map(|edge| self.incoming(*edge, view)).collect());
            put("issues", json!([]));
            match entry.kind() {
                Kind::Doc => drop(put("freshness", json!([]))),
                Kind::Memory => drop(put("lifecycleIssues", json!([]))),
                _ => {}
            }
            return full;
        }
        let axes: Vec<String> = entry.axes(settings).into_iter().map(str::to_owned).collect();
        let left_out: &[&str] = if view == View::List { &["revision", "file"] } else { &[] };
        let keys = SUMMARY.into_iter().chain(axes.iter().map(String::as_str)).chain(["axes"]);
        let mut row = Map::new();
        for key in keys.filter(|key| !left_out.contains(key)) {
            let is_blank = |value: &Json| value.as_str().is_some_and(|text| trim(text).is_empty());
            if let Some(value) = full.get_mut(key).filter(|value| !is_blank(value)) {
                row.insert(key.to_owned(), value.take());
            }
        }
        row.insert("bodyBytes".to_owned(), entry.body().len().into());
        if view == View::Summary {
            row.insert("excerpt".to_owned(), excerpt(entry.body()).into());
            let outgoing = self.graph.outgoing(place);
            row.insert(
                "outgoing".to_owned(),
                outgoing.iter().map(|edge| self.outgoing(edge, view)).collect(),
            );
            let incoming = listed(incoming);
            row.insert(
                "incoming".to_owned(),
                incoming.iter().map(|edge| self.incoming(*edge, view)).collect(),
            );
        }
        row
    }

    fn outgoing(&self, edge: &Outgoing<'_>, view: View) -> Json {
        let mut json = related(edge.id, edge.relations);
        json.insert("exists".to_owned(), edge.target.is_some().into());
        if let (Some(target), View::Full) = (edge.target, view) {
            let target = self.index.entry(target);
            name(&mut json, target);
            json.insert("path".to_owned(), target.path().into());
        }
        Json::Object(json)
    }

    fn incoming(&self, edge: Incoming, view: View) -> Json {
        let from = self.index.entry(edge.from);
        let mut json = related(from.id(), edge.relations);
        if view == View::Full {
            name(&mut json, from);
        }
        Json::Object(json)
    }
}

/// A card alone, as a change of it answers.
pub fn alone(workspace: &Workspace, card: &Card) -> Map<String, Json> {
    Folders::of(workspace).entry(card).to_json(&workspace.config.cards, None)
}

/// The backlinks that are listed: all, or the strongest when there are too many.
fn listed(incoming: &[Incoming]) -> Vec<Incoming> {
    let mut listed = incoming.to_vec();
    if listed.len() > BACKLINKS {
        listed.sort_by_key(|edge| edge.relations.rank());
        listed.truncate(BACKLINKS);
    }
    listed
}

fn related(id: &str, relations: Relations) -> Map<String, Json> {
    let names: Vec<&str> = relations.names().collect();
    let mut json = Map::new();
    json.insert("id".to_owned(), id.into());
    json.insert("relation".to_owned(), names.first().copied().into());
    if names.len() > 1 {
        json.insert("relations".to_owned(), names.into());
    }
    json
}

fn name(json: &mut Map<String, Json>, entry: Entry<'_>) {
    json.insert("kind".to_owned(), entry.kind().name().into());
    if let Some(title) = entry.title() {
        json.insert("title".to_owned(), title.into());
    }
}

/// The beginning of a text in one line.
pub fn excerpt(text: &str) -> String {
    // What is cut off is not looked at.
    let mut line = String::new();
    let mut length = 0;
    for word in text.split(is_space).filter(|word| !word.is_empty()) {
        let space = if line.is_empty() { "" } else { " " };
        for c in space.chars().chain(word.chars()) {
            if length == EXCERPT {
                line.truncate(line.trim_end_matches(is_space).len());
                line.push('…');
                return line;
            }
            line.push(c);
            length += 1;
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_one_line_and_says_when_it_is_cut() {
        assert_eq!(excerpt("  a\n\n b\tc "), "a b c");
        assert_eq!(excerpt(&"é".repeat(EXCERPT)), "é".repeat(EXCERPT));
        assert_eq!(excerpt(&"é".repeat(EXCERPT + 1)), "é".repeat(EXCERPT) + "…");
        let words = "x".repeat(EXCERPT - 1) + " y";
        assert_eq!(excerpt(&words), "x".repeat(EXCERPT - 1) + "…");
        assert_eq!(excerpt(""), "");
    }
}
