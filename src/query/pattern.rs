//! A search by a regular expression, `/pattern/flags`: linear in what it looks at, and never for long.

use super::entry::Entry;
use super::view::excerpt;
use crate::failure::{Code, Failure};
use crate::path::trim;
use regex::{Regex, RegexBuilder};
use std::time::{Duration, Instant};

/// Longest pattern, and how far into a body it looks, in characters.
const LONGEST: usize = 256;
const BODY: usize = 20_000;
/// A search that takes longer is given up.
const PATIENCE: Duration = Duration::from_secs(2);
/// The clock is looked at after so many matches.
const MATCHES: usize = 256;

/// A compiled expression.
pub(super) struct Pattern {
    expression: Regex,
    until: Instant,
}

/// Where an expression matches a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Matches {
    /// Whether the title does.
    pub(super) title: bool,
    /// How often it does altogether.
    pub(super) count: u32,
}

impl Pattern {
    /// Reads a search that is one expression from end to end; `None` for any other.
    ///
    /// `SEARCH_REGEX_INVALID` for one that is too long or means nothing.
    pub(super) fn parse(typed: &str) -> Result<Option<Self>, Failure> {
        let Some((pattern, flags)) = trim(typed).strip_prefix('/').and_then(|rest| rest.rsplit_once('/'))
        else {
            return Ok(None);
        };
        if pattern.is_empty() || flags.contains(|flag| !"imsu".contains(flag)) {
            return Ok(None);
        }
        let invalid = |reason: &str| {
            let text = format!("the expression /{pattern}/ cannot be searched for: {reason}");
            Failure::new(Code::SEARCH_REGEX_INVALID, text)
        };
        if pattern.chars().count() > LONGEST {
            let text = format!("an expression has at most {LONGEST} characters");
            return Err(Failure::new(Code::SEARCH_REGEX_INVALID, text));
        }
        let mut builder = RegexBuilder::new(pattern);
        builder.case_insensitive(flags.contains('i'));
        builder.multi_line(flags.contains('m')).dot_matches_new_line(flags.contains('s'));
        let expression = builder.build().map_err(|error| {
            // The last line says what is wrong, those above it where.
            let reason = error.to_string();
            invalid(reason.lines().last().unwrap_or_default().trim_start_matches("error: "))
        })?;
        Ok(Some(Self { expression, until: Instant::now() + PATIENCE }))
    }

    /// Where it matches a record; `None` for nowhere.
    pub(super) fn matches(&self, entry: Entry<'_>) -> Result<Option<Matches>, Failure> {
        let title = self.count(entry.title().unwrap_or_default())?;
        let count = title + self.count(entry.id())? + self.count(scanned(entry.body()))?;
        Ok((count > 0).then_some(Matches { title: title > 0, count }))
    }

    /// How often it matches. One match takes linear time; many of them may look at the same text again and again.
    fn count(&self, text: &str) -> Result<u32, Failure> {
        let mut count = 0;
        for (number, _) in self.expression.find_iter(text).enumerate() {
            if number % MATCHES == 0 && Instant::now() > self.until {
                let text = format!("the search for /{}/ takes more than two seconds", self.expression);
                return Err(Failure::new(Code::SEARCH_REGEX_TIMEOUT, text));
            }
            count += 1;
        }
        Ok(count)
    }

    /// The line of the first match in a body, cut like an excerpt.
    pub(super) fn excerpt(&self, body: &str) -> Option<String> {
        let found = self.expression.find(scanned(body))?;
        let start = body[..found.start()].rfind('\n').map_or(0, |feed| feed + 1);
        let end = body[found.start()..].find('\n').map_or(body.len(), |feed| found.start() + feed);
        Some(excerpt(&body[start..end]))
    }
}

/// What is looked at of a body.
fn scanned(body: &str) -> &str {
    body.char_indices().nth(BODY).map_or(body, |(end, _)| &body[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(typed: &str) -> Result<Option<Pattern>, Failure> {
        Pattern::parse(typed)
    }

    #[test]
    fn only_the_whole_form_is_an_expression() {
        for typed in ["/x", "x/", "//", "/x/g", "/x/ y", "a /x/", "", "/"] {
            assert!(parse(typed).unwrap().is_none(), "{typed}");
        }
        for typed in ["/x/", " /x/imsu ", "/a/b/", "/ /"] {
            assert!(parse(typed).unwrap().is_some(), "{typed}");
        }
        for typed in ["/(/", "/(?=x)/", "/(a)\\1/", &format!("/{}/", "a".repeat(257))] {
            let Err(failure) = parse(typed) else { panic!("{typed}") };
            assert_eq!(failure.code, Code::SEARCH_REGEX_INVALID);
            assert!(!failure.text.contains('\n'), "{}", failure.text);
        }
    }

    #[test]
    fn flags_mean_what_they_say() {
        let is_match = |typed: &str, text: &str| parse(typed).unwrap().unwrap().count(text).unwrap() > 0;
        assert!(is_match("/A/i", "a") && !is_match("/A/", "a"));
        assert!(is_match("/^b/m", "a\nb") && !is_match("/^b/", "a\nb"));
        assert!(is_match("/a.b/s", "a\nb") && !is_match("/a.b/", "a\nb"));
    }

    #[test]
    fn the_excerpt_is_the_line_of_the_first_match() {
        let pattern = parse("/b+/").unwrap().unwrap();
        assert_eq!(pattern.excerpt("a\n c  bb d \nb").as_deref(), Some("c bb d"));
        assert_eq!(pattern.excerpt("a"), None);
        let far = "é".repeat(BODY) + "b";
        assert_eq!(pattern.excerpt(&far), None);
    }
}
