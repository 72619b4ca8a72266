//! Marker lines: what says where a generated block begins and ends, and who wrote it.

use super::Style;
use crate::path::is_space;

/// What a begin marker says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Metadata {
    pub(super) kind: String,
    pub(super) version: Option<String>,
    pub(super) digest: Option<String>,
}

/// A line that is a marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Marker {
    Begin(Style, Metadata),
    End(Style),
}

impl Marker {
    /// Reads one line, with or without its line end.
    ///
    /// A marker begins in the first column: an indented one is quoted in a text and marks nothing.
    pub(super) fn read(line: &str) -> Option<Self> {
        let line = line.trim_end_matches(is_space);
        if let Some(comment) = line.strip_prefix("<!--").and_then(|rest| rest.strip_suffix("-->")) {
            return Self::of_pair(comment, Style::Html);
        }
        let comment = line.strip_prefix('#')?;
        Self::of_pair(comment, Style::Hash).or_else(|| {
            let metadata = Metadata::read(behind(comment, "workfile")?)?;
            Some(Self::Begin(Style::Frontmatter, metadata))
        })
    }

    fn of_pair(comment: &str, style: Style) -> Option<Self> {
        if let Some(rest) = behind(comment, "workfile:end") {
            return rest.chars().all(is_space).then_some(Self::End(style));
        }
        Some(Self::Begin(style, Metadata::read(behind(comment, "workfile:begin")?)?))
    }
}

/// What stands behind `word` when the comment begins with it as a whole word.
fn behind<'a>(comment: &'a str, word: &str) -> Option<&'a str> {
    let rest = comment.trim_start_matches(is_space).strip_prefix(word)?;
    rest.chars().next().is_none_or(is_space).then_some(rest)
}

impl Metadata {
    /// Words that are no `key=value` are ignored; without a kind this is no marker but a comment of somebody's.
    fn read(words: &str) -> Option<Self> {
        let mut found = Self { kind: String::new(), version: None, digest: None };
        for (key, value) in words.split(is_space).filter_map(|word| word.split_once('=')) {
            match key {
                "kind" => value.clone_into(&mut found.kind),
                "version" => found.version = Some(value.to_owned()),
                "digest" => found.digest = Some(value.to_owned()),
                _ => {}
            }
        }
        (!found.kind.is_empty()).then_some(found)
    }
}

/// `text` without its marker lines: what one generated file quotes of another.
pub fn without_markers(text: &str) -> String {
    text.split_inclusive('\n').filter(|line| Marker::read(line).is_none()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_is_a_whole_line_in_the_first_column() {
        for line in [
            "<!-- workfile:begin kind=demo version=1.2.3 digest=sha256:00 -->\r\n",
            "# workfile:begin kind=demo version=1.2.3 digest=sha256:00",
            "# workfile kind=demo odd words version=1.2.3 digest=sha256:00\n",
        ] {
            let Some(Marker::Begin(_, metadata)) = Marker::read(line) else { panic!("{line}") };
            assert_eq!(metadata.kind, "demo");
            assert_eq!(metadata.version.as_deref(), Some("1.2.3"));
            assert_eq!(metadata.digest.as_deref(), Some("sha256:00"));
        }
        assert_eq!(Marker::read("<!-- workfile:end -->"), Some(Marker::End(Style::Html)));
        assert_eq!(Marker::read("# workfile:end\r\n"), Some(Marker::End(Style::Hash)));
        for line in [
            "# workfile",
            "# workfile and how it works",
            "    <!-- workfile:end -->",
            "<!-- workfile:end --> and more",
            "<!-- workfile:ending -->",
            "# workfile:end of it",
            "<!-- workfile:begin -->",
            "workfile:end",
            "",
        ] {
            assert_eq!(Marker::read(line), None, "{line}");
        }
    }

    #[test]
    fn a_quoted_text_loses_its_marker_lines_and_nothing_else() {
        let text =
            "a\n<!-- workfile:begin kind=x -->\nb\n<!-- workfile:end -->\n# workfile:end\n# workfile\nc";
        assert_eq!(without_markers(text), "a\nb\n# workfile\nc");
    }
}
