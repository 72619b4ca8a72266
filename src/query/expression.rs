//! A search as it is typed: words, phrases, filters, each possibly with a minus sign.
//!
//! The parser goes over the text once; whatever is typed means something.

use crate::path::is_space;

/// What is looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Expression {
    /// Words and phrases.
    pub(super) terms: Vec<Term>,
    /// Conditions on fields.
    pub(super) filters: Vec<Filter>,
}

/// Whether something is wanted or not wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// It is.
    Wanted,
    /// It was written with a minus sign.
    Unwanted,
}

/// How a term was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// As it is: each of its words counts.
    Plain,
    /// Between quotes: its words follow each other.
    Quoted,
}

/// A word or a phrase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Term {
    /// The text.
    pub(super) text: String,
    /// How it was written.
    pub(super) form: Form,
    /// Whether it is wanted.
    pub(super) sign: Sign,
}

/// A condition on a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Filter {
    /// The field, in lower case.
    pub(super) field: String,
    /// What a value of it holds, in lower case.
    pub(super) value: String,
    /// Whether it is wanted.
    pub(super) sign: Sign,
}

impl Expression {
    /// Reads what was typed.
    pub(super) fn parse(typed: &str) -> Self {
        let mut expression = Self::default();
        let mut rest = typed.trim_start_matches(is_space);
        while !rest.is_empty() {
            rest = expression.take(rest).trim_start_matches(is_space);
        }
        expression
    }

    /// Takes what `text` begins with, which is no white space; what is left.
    fn take<'a>(&mut self, text: &'a str) -> &'a str {
        let bare = text.strip_prefix('-').filter(|rest| !rest.is_empty() && !rest.starts_with(is_space));
        let (sign, text) = bare.map_or((Sign::Wanted, text), |rest| (Sign::Unwanted, rest));
        if let Some((inside, rest)) = quoted(text) {
            self.terms.push(Term { text: inside.to_owned(), form: Form::Quoted, sign });
            return rest;
        }
        let field = field(text);
        let filter = |expression: &mut Self, field: &str, value: &str| {
            let (field, value) = (field.to_ascii_lowercase(), value.to_lowercase());
            expression.filters.push(Filter { field, value, sign });
        };
        if let Some((field, value)) = field
            && let Some((inside, rest)) = quoted(value)
        {
            filter(self, field, inside);
            return rest;
        }
        let (word, rest) = text.split_at(text.find(is_space).unwrap_or(text.len()));
        if let Some((field, value)) = field {
            let value = &word[text.len() - value.len()..];
            // What looks like the scheme of an address is no field.
            if !value.is_empty() && !value.starts_with("//") {
                filter(self, field, value);
                return rest;
            }
        }
        self.terms.push(Term { text: word.to_owned(), form: Form::Plain, sign });
        rest
    }
}

/// What stands between the quotes that `text` begins with, and what follows; it is not empty.
fn quoted(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix('"')?.split_once('"').filter(|(inside, _)| !inside.is_empty())
}

/// The name of a field that `text` begins with, and what stands behind its colon.
fn field(text: &str) -> Option<(&str, &str)> {
    let length = text.bytes().take_while(|byte| byte.is_ascii_alphabetic() || *byte == b'_').count();
    let (name, rest) = text.split_at(length);
    rest.strip_prefix(':').filter(|_| !name.is_empty()).map(|value| (name, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value as Json, json};

    fn parsed(typed: &str) -> Json {
        let expression = Expression::parse(typed);
        let term = |term: &Term| json!({"value": term.text, "negated": term.sign == Sign::Unwanted});
        let filter = |one: &Filter| json!({"field": one.field, "value": one.value, "negated": one.sign == Sign::Unwanted});
        json!({
            "query": typed,
            "terms": expression.terms.iter().map(term).collect::<Vec<_>>(),
            "filters": expression.filters.iter().map(filter).collect::<Vec<_>>(),
        })
    }

    #[test]
    fn queries_are_read_as_recorded() {
        let cases: Vec<Json> =
            serde_json::from_str(include_str!("../../tests/golden/vectors/queries.json")).unwrap();
        for case in cases {
            let typed = case["query"].as_str().unwrap();
            if typed == "http://x.y" {
                let term = json!([{"value": "http://x.y", "negated": false}]);
                assert_eq!(parsed(typed), json!({"query": typed, "terms": term, "filters": []}));
            } else {
                assert_eq!(parsed(typed), case);
            }
        }
    }

    #[test]
    fn quotes_end_a_word_only_where_they_begin_one() {
        let expression = Expression::parse("\"a b\"c -x:\"y  z\"w é:1 --a _f:G x:");
        let texts: Vec<&str> = expression.terms.iter().map(|term| term.text.as_str()).collect();
        assert_eq!(texts, ["a b", "c", "w", "é:1", "-a", "x:"]);
        assert_eq!(expression.terms[0].form, Form::Quoted);
        assert_eq!(expression.terms[4].sign, Sign::Unwanted);
        let filters: Vec<(&str, &str)> =
            expression.filters.iter().map(|one| (one.field.as_str(), one.value.as_str())).collect();
        assert_eq!(filters, [("x", "y  z"), ("_f", "g")]);
    }

    #[test]
    fn what_never_ends_is_read_once() {
        for unit in ["\"", "a:\"", "-", "-\"", "a:", "\"\" ", "\u{a0}\""] {
            Expression::parse(&unit.repeat(100_000));
        }
    }

    proptest! {
        #[test]
        fn the_parser_and_the_pattern_agree(typed in "[-a:_\" é/\n]{0,24}") {
            let pattern = regex::Regex::new(r#"(?i)(-?)(?:([a-z_]+):(?:"([^"]+)"|(\S+))|"([^"]+)"|(\S+))"#).unwrap();
            let mut terms = Vec::new();
            let mut filters = Vec::new();
            for found in pattern.captures_iter(&typed) {
                let group = |at| found.get(at).map(|group: regex::Match<'_>| group.as_str().to_owned());
                let negated = &found[1] == "-";
                let value = group(3).or(group(4));
                match (group(2), value) {
                    (Some(field), Some(value)) if found.get(3).is_some() || !value.starts_with("//") => {
                        filters.push((field.to_lowercase(), value.to_lowercase(), negated));
                    }
                    (Some(field), Some(value)) => terms.push((format!("{field}:{value}"), negated)),
                    _ => terms.push((group(5).or(group(6)).unwrap(), negated)),
                }
            }
            let expression = Expression::parse(&typed);
            let is = |sign| sign == Sign::Unwanted;
            let read: Vec<_> = expression.terms.iter().map(|term| (term.text.clone(), is(term.sign))).collect();
            prop_assert_eq!(read, terms);
            let read: Vec<_> =
                expression.filters.iter().map(|one| (one.field.clone(), one.value.clone(), is(one.sign))).collect();
            prop_assert_eq!(read, filters);
        }

        #[test]
        fn every_text_is_a_search(typed in any::<String>()) {
            let expression = Expression::parse(&typed);
            for filter in &expression.filters {
                prop_assert!(!filter.field.is_empty() && !filter.value.is_empty());
            }
            prop_assert!(expression.terms.iter().all(|term| !term.text.is_empty()));
        }
    }
}
