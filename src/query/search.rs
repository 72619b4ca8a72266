//! Which records fit a search, the best first.

use super::entry::{Entry, Kind};
use super::expression::{self, Expression, Sign};
use super::index::Index;
use super::list::Filter;
use super::pattern::Pattern;
use super::score::{Folded, Words};
use super::view::{Shower, View};
use crate::failure::Failure;
use crate::record::order;
use crate::workspace::parallel;
use serde_json::{Map, Value as Json};
use std::cmp::{Ordering, Reverse};
use std::collections::HashSet;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// What was typed; blank for everything.
    pub query: String,
    /// Only these kinds; empty for all.
    pub kinds: Vec<Kind>,
    /// Only what matches besides.
    pub filter: Filter,
    /// How many to pass over.
    pub offset: usize,
    /// How many to show.
    pub limit: usize,
}

/// How a search was understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// As words and filters.
    Lexical,
    /// As a regular expression.
    Regex,
}

impl Mode {
    /// The name of the mode in an answer.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lexical => "lexical",
            Self::Regex => "regex",
        }
    }
}

/// A record that fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Its place in the index.
    pub place: usize,
    /// Points, or matches of an expression.
    pub score: u32,
    /// Whether an expression matches the title.
    title: bool,
}

impl Hit {
    /// A record that words fit.
    pub(super) fn of(place: usize, score: u32) -> Self {
        Self { place, score, title: false }
    }
}

/// What fits.
pub struct Hits {
    /// The asked part of it, the best first.
    pub page: Vec<Hit>,
    /// How many records fit.
    pub total: usize,
    /// How the search was understood.
    pub mode: Mode,
    /// What could not have had an effect, for whoever asks.
    pub warnings: Vec<String>,
    pattern: Option<Pattern>,
}

impl Hits {
    /// The places of the page.
    pub fn places(&self) -> Vec<usize> {
        self.page.iter().map(|hit| hit.place).collect()
    }
}

/// Looks for what fits.
///
/// `SEARCH_REGEX_INVALID` or `SEARCH_REGEX_TIMEOUT` for an expression that cannot be used.
pub fn search(index: &Index, request: &Request) -> Result<Hits, Failure> {
    let places = (0..index.len()).filter(|place| {
        let entry = index.entry(*place);
        (request.kinds.is_empty() || request.kinds.contains(&entry.kind())) && request.filter.matches(entry)
    });
    let places: Vec<usize> = places.collect();
    let (found, mode, warnings, pattern) = if let Some(pattern) = Pattern::parse(&request.query)? {
        let hit = |place: usize| {
            let found = pattern.matches(index.entry(place))?;
            Ok(found.map(|found| Hit { place, score: found.count, title: found.title }))
        };
        let found: Result<Vec<_>, Failure> = parallel::map(places, hit).into_iter().collect();
        (found?, Mode::Regex, Vec::new(), Some(pattern))
    } else {
        let expression = Expression::parse(&request.query);
        let warnings = warnings(index, &places, &expression);
        (lexical(index, places, &expression), Mode::Lexical, warnings, None)
    };
    let mut hits: Vec<Hit> = found.into_iter().flatten().collect();
    let total = hits.len();
    let compare = |a: &Hit, b: &Hit| compare(index, a, b);
    let end = request.offset.saturating_add(request.limit);
    if end > 0 && end < hits.len() {
        hits.select_nth_unstable_by(end - 1, compare);
        hits.truncate(end);
    }
    hits.sort_unstable_by(compare);
    hits.truncate(end);
    hits.drain(..request.offset.min(hits.len()));
    Ok(Hits { page: hits, total, mode, warnings, pattern })
}

fn lexical(index: &Index, places: Vec<usize>, expression: &Expression) -> Vec<Option<Hit>> {
    let words = Words::of(&expression.terms);
    parallel::fold(places, Folded::default, |room, place| {
        let entry = index.entry(place);
        let passes = expression.filters.iter().all(|filter| passes(entry, filter));
        let score = if passes { words.score(entry, room) } else { None };
        score.map(|score| Hit::of(place, score))
    })
}

/// Whether a record passes one filter.
fn passes(entry: Entry<'_>, filter: &expression::Filter) -> bool {
    let mut found = false;
    entry.values(field(filter), &mut |value| found |= value.to_lowercase().contains(&filter.value));
    found == (filter.sign == Sign::Wanted)
}

/// The field that a filter means.
fn field(filter: &expression::Filter) -> &str {
    match filter.field.as_str() {
        "tag" => "tags",
        "claim" => "claimed_by",
        field => field,
    }
}

/// Names the filters whose field no record has, each field once.
fn warnings(index: &Index, places: &[usize], expression: &Expression) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut warnings = Vec::new();
    for filter in expression.filters.iter().filter(|filter| seen.insert(filter.field.as_str())) {
        let has = |place: &usize| index.entry(*place).values(field(filter), &mut |_| ());
        if !places.iter().any(has) {
            warnings.push(format!("no record has a field `{}`", filter.field));
        }
    }
    warnings
}

/// The better first; of equals the one that was changed last, then by title, then by id.
pub(super) fn compare(index: &Index, a: &Hit, b: &Hit) -> Ordering {
    let (one, other) = (index.entry(a.place), index.entry(b.place));
    let best = |hit: &Hit| Reverse((hit.title, hit.score));
    let titles = || order::text(one.title().unwrap_or_default(), other.title().unwrap_or_default());
    best(a)
        .cmp(&best(b))
        .then_with(|| other.updated().cmp(&one.updated()))
        .then_with(titles)
        .then(a.place.cmp(&b.place))
}

/// The answer to a search, in full or in summary.
pub fn answer(shower: &Shower<'_>, request: &Request, view: View) -> Result<Map<String, Json>, Failure> {
    let hits = search(shower.index, request)?;
    let records = shower.show(&hits.places(), view).into_iter().zip(&hits.page).map(|(mut record, hit)| {
        record.insert("searchScore".to_owned(), hit.score.into());
        if let (View::Summary, Some(pattern)) = (view, &hits.pattern)
            && let Some(line) = pattern.excerpt(shower.index.entry(hit.place).body())
        {
            record.insert("excerpt".to_owned(), line.into());
        }
        Json::Object(record)
    });
    let mut answer = Map::new();
    let mut put = |key: &str, value: Json| answer.insert(key.to_owned(), value);
    put("records", records.collect());
    put("total", hits.total.into());
    put("offset", request.offset.into());
    put("limit", request.limit.into());
    put("view", view.name().into());
    put("mode", hits.mode.name().into());
    put("provider", Json::Null);
    if !hits.warnings.is_empty() {
        put("warnings", hits.warnings.into());
    }
    Ok(answer)
}
