//! What an agent should know before it works on a card: the card, what it hangs together with, and what is in force there.
//!
//! The answer is bounded twice: by the number of records, and in bytes where the caller has a ceiling. What the bounds cut is
//! named, never dropped in silence.

use super::entry::{Entry, Kind};
use super::index::Index;
use super::markdown;
use super::score::{Folded, Words};
use super::search;
use super::view::{Shower, View};
use super::word::fold;
use crate::clock::Time;
use crate::failure::{Code, Failure};
use crate::scope::overlaps;
use serde_json::{Map, Value as Json, json};
use std::collections::{HashMap, HashSet};

/// Records in a bundle without a limit, and at most.
pub const USUAL: usize = 20;
/// The same.
pub const MOST: usize = 50;
/// Characters of a body, but for that of the card that the bundle is about.
const BODY: usize = 4000;
/// How far into a card's body it is looked for what it is about, in characters.
const ABOUT: usize = 600;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// The card; without one, what a session should know when it begins.
    pub card: Option<String>,
    /// How many records, at most.
    pub limit: usize,
    /// How many bytes the answer has as JSON, at most.
    pub ceiling: Option<usize>,
    /// When it is asked.
    pub now: Time,
}

/// A bundle, before it is cut.
pub(super) struct Bundle {
    /// The card that it is about.
    pub(super) focus: Option<usize>,
    /// Where the card comes from, and which cards came out of it.
    pub(super) origin: Vec<String>,
    pub(super) spawned: Vec<usize>,
    /// The records in order.
    pub(super) records: Vec<usize>,
    /// What has nothing to do with the card.
    pub(super) irrelevant: Vec<usize>,
}

/// The answer to a request.
///
/// `AGENT_CONTEXT_CARD_NOT_FOUND` for an id that is no card's.
pub fn answer(shower: &Shower<'_>, request: &Request) -> Result<Map<String, Json>, Failure> {
    let bundle = bundle(shower, request)?;
    let shown = shower.show(&bundle.records[..request.limit.min(bundle.records.len())], View::Full);
    let render =
        |count: usize, most: Option<usize>| render(shower.index, &bundle, &shown[..count], most, request);
    let fits = |answer: &Map<String, Json>| {
        request
            .ceiling
            .is_none_or(|ceiling| serde_json::to_vec(answer).is_ok_and(|bytes| bytes.len() <= ceiling))
    };
    let mut answer = render(shown.len(), None);
    if fits(&answer) {
        return Ok(answer);
    }
    // The most records that fit: fewer records never make a longer answer but for what is named instead of them.
    let (mut least, mut most) = (shown.len().min(1), shown.len());
    while most - least > 1 {
        let middle = least + (most - least) / 2;
        if fits(&render(middle, None)) {
            least = middle;
        } else {
            most = middle;
        }
    }
    answer = render(least, None);
    let mut length = BODY;
    while !fits(&answer) && length > 0 {
        answer = render(least, Some(length));
        length /= 2;
    }
    Ok(answer)
}

/// The answer with the first records of a bundle, the last body cut to `most` characters.
fn render(
    index: &Index,
    bundle: &Bundle,
    shown: &[Map<String, Json>],
    most: Option<usize>,
    request: &Request,
) -> Map<String, Json> {
    let mut records = shown.to_vec();
    let last = records.len().saturating_sub(1);
    for (at, record) in records.iter_mut().enumerate() {
        let is_focus = at == 0 && bundle.focus.is_some();
        let usual = if is_focus { usize::MAX } else { BODY };
        let length = most.filter(|_| at == last).unwrap_or(usual);
        if let Some(Json::String(body)) = record.get_mut("body") {
            cut(body, length);
        }
    }
    let entry = |place: &usize| index.entry(*place);
    let left = bundle.records[records.len()..].iter().map(entry);
    let is_in_force = |entry: &Entry<'_>| matches!(entry.record_type(), Some("conventions" | "decisions"));
    let (digest, limit): (Vec<Entry<'_>>, Vec<Entry<'_>>) = left.partition(is_in_force);
    let irrelevant: Vec<Entry<'_>> = bundle.irrelevant.iter().map(entry).collect();
    let spawned: Vec<Entry<'_>> = bundle.spawned.iter().map(entry).collect();
    let focus = bundle.focus.map(|place| index.entry(place).id());
    let markdown = markdown::of(&markdown::Page {
        focus,
        origin: &bundle.origin,
        spawned: &ids(&spawned),
        records: &records,
        limit: request.limit,
        digest: &digest,
        irrelevant: irrelevant.len(),
        cut: limit.len(),
    });
    let digest_row = |entry: &Entry<'_>| json!({"id": entry.id(), "title": entry.title(), "collection": entry.record_type()});
    let provenance = focus.map(|_| json!({"origin": bundle.origin, "spawned": ids(&spawned)}));
    let mut answer = Map::new();
    let mut put = |key: &str, value: Json| answer.insert(key.to_owned(), value);
    put("focus", focus.into());
    put("provenance", provenance.into());
    put("generatedAt", request.now.timestamp().into());
    put("truncated", (bundle.records.len() > records.len()).into());
    put("totalAvailable", bundle.records.len().into());
    put("omitted", json!({"relevance": ids(&irrelevant), "limit": ids(&limit)}));
    put("records", records.into_iter().map(Json::Object).collect());
    put("digest", digest.iter().map(digest_row).collect());
    put("markdown", markdown.into());
    answer
}

fn ids<'a>(entries: &[Entry<'a>]) -> Vec<&'a str> {
    entries.iter().map(|entry| entry.id()).collect()
}

/// Cuts a text to so many characters and says so.
fn cut(text: &mut String, length: usize) {
    if let Some((end, _)) = text.char_indices().nth(length) {
        text.truncate(end);
        text.push('…');
    }
}

fn bundle(shower: &Shower<'_>, request: &Request) -> Result<Bundle, Failure> {
    let index = shower.index;
    let focus = request.card.as_deref().map(|id| card(index, id)).transpose()?;
    let mut bundle = Bundle {
        focus,
        origin: Vec::new(),
        spawned: Vec::new(),
        records: Vec::new(),
        irrelevant: Vec::new(),
    };
    let mut seen = HashSet::new();
    let mut add = |bundle: &mut Bundle, place: usize| {
        if seen.insert(place) {
            bundle.records.push(place);
        }
    };
    if let Some(place) = focus {
        let id = index.entry(place).id();
        bundle.origin = index.entry(place).items("origin").map(str::to_owned).collect();
        add(&mut bundle, place);
        for place in direct(shower, place) {
            add(&mut bundle, place);
            let entry = index.entry(place);
            if entry.kind() == Kind::Card && entry.items("origin").any(|origin| origin == id) {
                bundle.spawned.push(place);
            }
        }
        bundle.spawned.sort_unstable();
    } else {
        let in_flight = |place: &usize| {
            let entry = index.entry(*place);
            entry.kind() == Kind::Card && matches!(entry.status(), Some("doing" | "review"))
        };
        (0..index.len()).filter(in_flight).for_each(|place| add(&mut bundle, place));
    }
    let scope: Vec<String> = focus.map_or(Vec::new(), |place| index.entry(place).record().list("scope"));
    let today = request.now.date();
    let of = |collection: &'static str| {
        let (scope, today) = (&scope, &today);
        (0..index.len()).filter(move |place| {
            let entry = index.entry(*place);
            entry.kind() == Kind::Memory
                && entry.record_type() == Some(collection)
                && is_in_force(entry, collection, today)
                && is_near(entry, scope)
        })
    };
    of("conventions").for_each(|place| add(&mut bundle, place));
    let qualified: Vec<usize> =
        ["decisions", "incidents", "learnings", "context"].into_iter().flat_map(of).collect();
    let Some(focus) = focus else {
        for place in qualified {
            add(&mut bundle, place);
        }
        return Ok(bundle);
    };
    let ranks = ranks(index, focus, &qualified);
    let mut qualified: Vec<(usize, Option<usize>)> =
        qualified.into_iter().map(|place| (place, ranks.get(&place).copied())).collect();
    // What has no rank comes behind, decisions alone, by id.
    qualified.sort_by_key(|(place, rank)| (rank.unwrap_or(usize::MAX), *place));
    for (place, rank) in qualified {
        if rank.is_some() || index.entry(place).record_type() == Some("decisions") {
            add(&mut bundle, place);
        } else if !bundle.records.contains(&place) {
            bundle.irrelevant.push(place);
        }
    }
    Ok(bundle)
}

fn card(index: &Index, id: &str) -> Result<usize, Failure> {
    let found = index.find(id).filter(|place| index.entry(*place).kind() == Kind::Card);
    found.ok_or_else(|| {
        let text = format!("there is no card {id} to make a bundle for");
        Failure::new(Code::AGENT_CONTEXT_CARD_NOT_FOUND, text).with("cardId", id).remedy("workfile card list")
    })
}

/// Every record that names the card or is named by it, the closest first, then by id.
fn direct(shower: &Shower<'_>, place: usize) -> Vec<usize> {
    let mut ranks: HashMap<usize, u8> = HashMap::new();
    let outgoing = shower.graph.outgoing(place).into_iter();
    let outgoing = outgoing.filter_map(|edge| Some((edge.target?, edge.relations.rank())));
    let incoming = shower.graph.incoming(&[place]).into_iter().flatten();
    let incoming = incoming.map(|edge| (edge.from, edge.relations.rank()));
    for (other, rank) in outgoing.chain(incoming) {
        let known = ranks.entry(other).or_insert(rank);
        *known = rank.min(*known);
    }
    let mut direct: Vec<(u8, usize)> = ranks.into_iter().map(|(place, rank)| (rank, place)).collect();
    direct.sort_unstable();
    direct.into_iter().map(|(_, place)| place).collect()
}

/// Whether a memory record still holds.
fn is_in_force(entry: Entry<'_>, collection: &str, today: &str) -> bool {
    let status = entry.status().unwrap_or_default();
    match collection {
        "conventions" => matches!(status, "active" | "draft"),
        "decisions" => status == "accepted",
        "incidents" => matches!(status, "open" | "mitigated"),
        "learnings" => {
            !matches!(status, "superseded" | "discarded") && entry.record().field("confidence") != Some("low")
        }
        _ => status == "active" && entry.record().field("expires").is_none_or(|day| day >= today),
    }
}

/// Whether a record is about the same part of the tree, as far as both say which.
fn is_near(entry: Entry<'_>, scope: &[String]) -> bool {
    let own = entry.record().list("scope");
    own.is_empty() || scope.is_empty() || !overlaps(&own, scope).is_empty()
}

/// The places of those records that have to do with the card, the closest first.
fn ranks(index: &Index, focus: usize, places: &[usize]) -> HashMap<usize, usize> {
    let about = about(index.entry(focus));
    let words = Words::plain(about.split(' ').filter(|word| is_telling(word)));
    let mut room = Folded::default();
    let hit = |place: &usize| {
        let score = words.score(index.entry(*place), &mut room).filter(|score| *score > 0)?;
        Some(search::Hit::of(*place, score))
    };
    let mut hits: Vec<search::Hit> = places.iter().filter_map(hit).collect();
    hits.sort_unstable_by(|a, b| search::compare(index, a, b));
    hits.into_iter().enumerate().map(|(rank, hit)| (hit.place, rank)).collect()
}

/// The words that say what a card is about, with a space between them.
fn about(card: Entry<'_>) -> String {
    let body: String = card.body().chars().take(ABOUT).collect();
    let mut text = String::new();
    let area = card.record().field("area");
    for part in card.title().into_iter().chain(area).chain(card.items("tags")).chain([body.as_str()]) {
        fold(part, &mut text);
        text.push(' ');
    }
    text.replace(|c: char| !c.is_alphanumeric(), " ")
}

fn is_telling(word: &str) -> bool {
    word.chars().nth(1).is_some() && STOP_WORDS.binary_search(&word).is_err()
}

/// Words that say nothing about what a text is about, in order.
const STOP_WORDS: &[&str] = &[
    "a", "about", "above", "after", "again", "against", "all", "an", "and", "any", "are", "as", "at", "be",
    "been", "before", "being", "below", "between", "both", "but", "by", "can", "did", "do", "does", "doing",
    "down", "during", "each", "few", "for", "from", "further", "had", "has", "have", "having", "how", "if",
    "in", "into", "is", "it", "its", "itself", "just", "more", "most", "no", "nor", "not", "now", "of",
    "off", "on", "once", "only", "or", "other", "our", "out", "over", "own", "rather", "same", "should",
    "so", "some", "such", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this",
    "those", "through", "to", "too", "under", "until", "up", "very", "was", "we", "were", "what", "when",
    "where", "which", "while", "who", "why", "will", "with", "would", "you", "your",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_are_in_order() {
        assert!(STOP_WORDS.is_sorted() && STOP_WORDS.len() == 103, "{}", STOP_WORDS.len());
        assert!(is_telling("queue") && !is_telling("your") && !is_telling("é") && is_telling("éa"));
    }

    #[test]
    fn a_text_is_cut_at_a_character() {
        let mut text = "aéb".to_owned();
        cut(&mut text, 3);
        assert_eq!(text, "aéb");
        cut(&mut text, 2);
        assert_eq!(text, "aé…");
    }
}
