//! How well a record fits the words of a search.

use super::entry::Entry;
use super::expression::{Form, Sign, Term};
use super::word::{Wanted, fold, folded, words};
use std::ops::Range;

/// Points for a word that is a word of the id, of the title, a part of one of the title's, a word of the metadata, of the
/// body.
const ID: u32 = 30;
const TITLE: u32 = 15;
const TITLE_PART: u32 = 8;
const METADATA: u32 = 5;
const BODY: u32 = 2;

/// Whether the words of this key of a header count as metadata.
fn is_text(key: &str) -> bool {
    matches!(key, "type" | "area" | "visibility" | "version" | "category" | "severity" | "confidence")
}

/// Whether the words of this key's items do.
fn is_list(key: &str) -> bool {
    matches!(key, "tags" | "owners" | "deciders")
}

/// The words of a search.
#[derive(Default)]
pub(super) struct Words {
    wanted: Vec<Wanted>,
    unwanted: Vec<Wanted>,
}

impl Words {
    /// The words of some terms. A phrase is one word; any other term has as many as are in it.
    pub(super) fn of(terms: &[Term]) -> Self {
        let mut all = Self::default();
        for term in terms {
            let list = if term.sign == Sign::Wanted { &mut all.wanted } else { &mut all.unwanted };
            let text = folded(&term.text);
            match term.form {
                Form::Quoted => {
                    let phrase: Vec<&str> = words(&text).collect();
                    if !phrase.is_empty() {
                        list.push(Wanted::phrase(&phrase));
                    }
                }
                Form::Plain => list.extend(words(&text).map(Wanted::word)),
            }
        }
        all
    }

    /// Plain words, each counting as often as it is there.
    pub(super) fn plain<'a>(plain: impl Iterator<Item = &'a str>) -> Self {
        let mut counts: Vec<(&str, u32)> = Vec::new();
        let mut places = std::collections::HashMap::new();
        for word in plain {
            let place = *places.entry(word).or_insert(counts.len());
            match counts.get_mut(place) {
                Some((_, times)) => *times += 1,
                None => counts.push((word, 1)),
            }
        }
        let wanted = counts.into_iter().map(|(word, times)| Wanted::word(word).asked(times));
        Self { wanted: wanted.collect(), unwanted: Vec::new() }
    }

    /// The points of a record; `None` when it does not match.
    pub(super) fn score(&self, entry: Entry<'_>, room: &mut Folded) -> Option<u32> {
        if self.wanted.is_empty() && self.unwanted.is_empty() {
            return Some(0);
        }
        room.fill(entry);
        let points = |wanted: &Wanted| {
            if wanted.may_be_in(&room.text) { room.points(wanted) * wanted.times } else { 0 }
        };
        if self.unwanted.iter().any(|word| points(word) > 0) {
            return None;
        }
        let score = self.wanted.iter().map(points).sum();
        (score > 0 || self.wanted.is_empty()).then_some(score)
    }
}

/// A record's texts, folded: room that is used again for the next record.
#[derive(Default)]
pub(super) struct Folded {
    text: String,
    id: Range<usize>,
    title: Range<usize>,
    metadata: Vec<Range<usize>>,
    body: Range<usize>,
}

impl Folded {
    fn fill(&mut self, entry: Entry<'_>) {
        self.text.clear();
        self.metadata.clear();
        let text = &mut self.text;
        let mut add = |part: &str| {
            let start = text.len();
            fold(part, text);
            let range = start..text.len();
            // No word reaches into the next text.
            text.push('\n');
            range
        };
        self.id = add(entry.id());
        self.title = add(entry.title().unwrap_or_default());
        let own = [Some(entry.kind().name()), entry.record_type(), entry.status()];
        self.metadata.push(add(&entry.path()));
        self.metadata.extend(own.into_iter().flatten().map(&mut add));
        // Each key of the header is looked at once, not the whole header for each key that counts. One that is written twice
        // counts with its last value twice, which is no more than once.
        for header in &entry.record().header.entries {
            if is_text(&header.key) {
                self.metadata.extend(entry.record().field(&header.key).map(&mut add));
            } else if is_list(&header.key) {
                self.metadata.extend(entry.items(&header.key).map(&mut add));
            }
        }
        self.body = add(entry.body());
    }

    fn points(&self, wanted: &Wanted) -> u32 {
        let of = |range: &Range<usize>| &self.text[range.clone()];
        let title = of(&self.title);
        let mut points = 0;
        if wanted.is_in(of(&self.id)) {
            points += ID;
        }
        if wanted.is_in(title) {
            points += TITLE;
        } else if wanted.is_part_of(title) {
            points += TITLE_PART;
        }
        if self.metadata.iter().any(|range| wanted.is_in(of(range))) {
            points += METADATA;
        }
        if wanted.is_in(of(&self.body)) {
            points += BODY;
        }
        points
    }
}

#[cfg(test)]
mod tests {
    use super::super::expression::Expression;
    use super::*;
    use crate::work::{Card, Place};
    use proptest::prelude::*;

    fn card(title: &str, tags: &str, body: &str) -> Card {
        let text = format!("---\nid: T-0001\ntitle: \"{title}\"\ntags: [{tags}]\ntype: bug\n---\n\n{body}\n");
        Card::parse("T-0001-x.md".to_owned(), Place::Live, text).unwrap()
    }

    fn score(card: &Card, query: &str) -> Option<u32> {
        let words = Words::of(&Expression::parse(query).terms);
        words.score(Entry::Card(card, "cards"), &mut Folded::default())
    }

    /// The rules again, word by word over whole lists of words.
    fn slowly(card: &Card, query: &str) -> Option<u32> {
        let split = |text: &str| words(&folded(text)).map(str::to_owned).collect::<Vec<_>>();
        let entry = Entry::Card(card, "cards");
        let metadata: Vec<Vec<String>> = [entry.path().as_ref(), "card", "bug", "bug"]
            .into_iter()
            .chain(entry.items("tags"))
            .map(split)
            .collect();
        let (id, title, body) =
            (split(&card.id), split(card.field("title").unwrap_or_default()), split(card.body()));
        let points = |word: &[String], form| {
            let has = |all: &[String]| all.windows(word.len()).any(|some| some == word);
            let part = form == Form::Plain && title.iter().any(|one| one.contains(&word[0]));
            30 * u32::from(has(&id))
                + if has(&title) { 15 } else { 8 * u32::from(part) }
                + 5 * u32::from(metadata.iter().any(|all| has(all)))
                + 2 * u32::from(has(&body))
        };
        let (mut sum, mut any) = (0, false);
        for term in Expression::parse(query).terms {
            let all = split(&term.text);
            let terms: Vec<&[String]> = match term.form {
                Form::Quoted => vec![&all[..]],
                Form::Plain => all.chunks(1).collect(),
            };
            for word in terms.into_iter().filter(|word| !word.is_empty()) {
                match (term.sign, points(word, term.form)) {
                    (Sign::Unwanted, 0) => {}
                    (Sign::Unwanted, _) => return None,
                    (Sign::Wanted, points) => {
                        any = true;
                        sum += points;
                    }
                }
            }
        }
        (sum > 0 || !any).then_some(sum)
    }

    #[test]
    fn every_row_of_the_table_counts_once() {
        let card = card("Diseño of the page", "ui, billing", "page page T-0001 exact  phrase");
        for (query, points) in [
            ("T-0001", Some(32)),
            ("page", Some(17)),
            ("dis", Some(8)),
            ("ui", Some(5)),
            ("bug", Some(5)),
            ("\"exact phrase\"", Some(2)),
            ("\"phrase exact\"", None),
            ("\"pag\"", None),
            ("page page", Some(34)),
            ("page -ui", None),
            ("-zzz", Some(0)),
            ("--", Some(0)),
            ("zzz", None),
        ] {
            assert_eq!(score(&card, query), points, "{query}");
        }
    }

    proptest! {
        #[test]
        fn a_quick_look_changes_no_score(
            title in "[abéB 0-]{0,8}", tags in "[ab]{0,2}", body in "[abéB .0-]{0,12}",
            query in "[abé0]{1,2}( -?[ab]{1,2})?( \"[ab] [b0]\")?"
        ) {
            let card = card(&title, &tags, &body);
            prop_assert_eq!(score(&card, &query), slowly(&card, &query));
        }
    }
}
