//! The Markdown below the header, as far as operations write it: sections under `## ` headings, fenced code left alone.
//!
//! Lines end at LF; a CR in front of it belongs to the line end.

use super::document::Fences;
use crate::failure::Failure;
use crate::path::{is_control, is_space, trim};

/// One `## ` section of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Section {
    /// The heading line trimmed; `None` for the text before the first one.
    pub(super) heading: Option<String>,
    /// The section's text, heading line included, without leading line ends and trailing white space.
    pub(super) text: String,
}

/// The sections of a body; the first is the text without heading, empty or not.
pub(super) fn sections(body: &str) -> Vec<Section> {
    let section = |heading: Option<&str>, text| Section {
        heading: heading.map(str::to_owned),
        text: section_text(text).to_owned(),
    };
    let mut sections = Vec::new();
    let mut heading = None;
    let mut start = 0;
    let mut at = 0;
    for (line, fenced) in body.split('\n').zip(fenced_lines(body)) {
        if !fenced && is_section_heading(line) {
            sections.push(section(heading, &body[start..at]));
            heading = Some(trim(line));
            start = at;
        }
        at += line.len() + 1;
    }
    sections.push(section(heading, &body[start..]));
    sections
}

/// For each line of `body` (split at LF), whether it is inside fenced code or a fence itself.
pub fn fenced_lines(body: &str) -> Vec<bool> {
    let mut open = None;
    body.split('\n').map(|line| Fence::step(&mut open, line)).collect()
}

/// The line that would close the fenced code which `text` leaves open: whatever follows would be code as well.
pub fn open_fence(text: &str) -> Option<String> {
    let mut open = None;
    for line in text.split('\n') {
        Fence::step(&mut open, line);
    }
    open.map(|fence| fence.mark.to_string().repeat(fence.length))
}

/// Section texts put together again: the non-empty ones, one blank line between them, LF line ends. None swallows the
/// next one.
fn join_sections(sections: &[Section]) -> String {
    let mut out = String::new();
    for section in sections.iter().filter(|section| !section.text.is_empty()) {
        if !out.is_empty() {
            close_fence(&mut out);
            out.push_str("\n\n");
        }
        out.push_str(&section.text);
    }
    with_line_ends(&out, "\n")
}

fn close_fence(text: &mut String) {
    if let Some(fence) = open_fence(text) {
        text.push('\n');
        text.push_str(&fence);
    }
}

/// `sent` in place of `stored`, but sections with one of these headings as they are stored: where the sender put them,
/// or at the end. A section of that heading that is not stored goes. Besides the headings, each once, whose text was
/// sent and is not kept.
pub fn keep_sections(stored: &str, sent: &str, headings: &[&str]) -> (String, Vec<String>) {
    let is_kept =
        |section: &Section| section.heading.as_deref().is_some_and(|heading| headings.contains(&heading));
    let mut kept: Vec<Section> = sections(stored).into_iter().filter(is_kept).collect();
    let mut ignored: Vec<String> = Vec::new();
    let mut body = Vec::new();
    for section in sections(sent) {
        let Some(heading) = section.heading.clone().filter(|_| is_kept(&section)) else {
            body.push(section);
            continue;
        };
        let found = kept.iter().position(|other| other.heading == section.heading).map(|at| kept.remove(at));
        let same = |other: &Section| with_line_ends(&other.text, "\n") == with_line_ends(&section.text, "\n");
        if !found.as_ref().is_some_and(same) && !ignored.contains(&heading) {
            ignored.push(heading);
        }
        body.extend(found);
    }
    body.append(&mut kept);
    (join_sections(&body), ignored)
}

/// `body` with `line` under the last line of the first section with that heading, or in a new one at the end. A `line`
/// of several lines is appended as it is.
pub fn append_under_heading(body: &str, heading: &str, line: &str) -> String {
    let mut sections = sections(body);
    match sections.iter_mut().find(|section| section.heading.as_deref() == Some(heading)) {
        Some(section) => {
            close_fence(&mut section.text);
            section.text.push('\n');
            section.text.push_str(line);
        }
        None => {
            sections
                .push(Section { heading: Some(heading.to_owned()), text: format!("{heading}\n\n{line}") });
        }
    }
    join_sections(&sections)
}

/// The trimmed name of a section that can be appended to, its marks left out; the error is what is wrong with it.
pub fn section_name(name: &str) -> Result<&str, &'static str> {
    match trim(name) {
        "" => Err("it is empty"),
        name if name.contains(is_control) => Err("it holds a line break or another control character"),
        name if name.starts_with('#') => Err("it begins with #"),
        name => Ok(name),
    }
}

/// The file `text` with its body replaced: line ends as in the prefix, `prefix + EOL + body + EOL`, or the prefix alone
/// for an empty body. Leading line ends and trailing white space of `body` go.
///
/// `RECORD_FRONTMATTER_MISSING` when `text` is not a record.
pub fn with_body(text: &str, body: &str) -> Result<String, Failure> {
    let fences = Fences::of(text)?;
    let body = section_text(body);
    if body.is_empty() {
        return Ok(fences.prefix.to_owned());
    }
    let end = fences.line_end();
    Ok([fences.prefix, end, &with_line_ends(body, end), end].concat())
}

/// The file `text` with exactly this behind its header.
///
/// `RECORD_FRONTMATTER_MISSING` when `text` is not a record.
pub fn with_body_text(text: &str, body_text: &str) -> Result<String, Failure> {
    Ok([Fences::of(text)?.prefix, body_text].concat())
}

/// `text` with `end` at the end of every line.
///
/// All CRs in front of an LF go: one that stayed would be half of a CRLF in the result.
pub(super) fn with_line_ends(text: &str, end: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some((line, after)) = rest.split_once('\n') {
        out.push_str(line.trim_end_matches('\r'));
        out.push_str(end);
        rest = after;
    }
    out.push_str(rest);
    out
}

fn section_text(text: &str) -> &str {
    text.trim_start_matches(['\r', '\n']).trim_end_matches(is_space)
}

/// Whether a line opens a section: `## ` and something behind it.
pub fn is_section_heading(line: &str) -> bool {
    line.strip_prefix("##").is_some_and(|rest| rest.starts_with(is_space) && !trim(rest).is_empty())
}

/// A run of at least three backticks or tildes, at most three blanks in front of it.
#[derive(Clone, Copy)]
struct Fence {
    mark: char,
    length: usize,
}

impl Fence {
    /// Whether a line is inside fenced code or a fence itself; `open` is the fence that is open before and after it.
    fn step(open: &mut Option<Self>, line: &str) -> bool {
        let Some((fence, behind)) = Self::at_start(line) else { return open.is_some() };
        match *open {
            None => *open = Some(fence),
            Some(opening) if fence.closes(opening) && trim(behind).is_empty() => *open = None,
            Some(_) => {}
        }
        true
    }

    fn at_start(line: &str) -> Option<(Self, &str)> {
        let run = line.trim_start_matches(' ');
        let mark = run.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let behind = run.trim_start_matches(mark);
        let length = run.len() - behind.len();
        (line.len() - run.len() <= 3 && length >= 3).then_some((Self { mark, length }, behind))
    }

    fn closes(self, opening: Self) -> bool {
        self.mark == opening.mark && self.length >= opening.length
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn h34_a_fence_closes_at_its_own_mark_and_length_only() {
        let body = "````md\n```\nin\n````x\n~~~~\n   `````\t\r\nout\n    ```\nout\n~~~\nin";
        let fenced: Vec<_> = fenced_lines(body).into_iter().map(u8::from).collect();
        assert_eq!(fenced, [1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1]);
    }

    #[test]
    fn headings_of_other_levels_open_no_section() {
        let headings = |body| sections(body).into_iter().filter_map(|it| it.heading).collect::<Vec<_>>();
        assert_eq!(headings("# a\n### b\n##c\n## \n ## d\n##\te\r\n##\u{a0}f"), ["##\te", "##\u{a0}f"]);
    }

    #[test]
    fn a_body_takes_the_line_ends_of_the_prefix() {
        let crlf = "---\r\nid: T-1\r\n---\r\nold";
        assert_eq!(with_body(crlf, "\na\nb\r\n  ").unwrap(), "---\r\nid: T-1\r\n---\r\n\r\na\r\nb\r\n");
        assert_eq!(with_body("---\n---\nold\r\n", "a\r\r\nb").unwrap(), "---\n---\n\na\nb\n");
        assert_eq!(with_body(crlf, " \n").unwrap(), "---\r\nid: T-1\r\n---\r\n");
        assert_eq!(with_body("no record", "x").unwrap_err().code.name, "RECORD_FRONTMATTER_MISSING");
    }

    #[test]
    fn a_body_text_is_written_byte_for_byte() {
        let text = "\u{feff}---\r\nid: T-1\r\n--- \r\nold";
        assert_eq!(
            with_body_text(text, "\n a\r\n\n ").unwrap(),
            "\u{feff}---\r\nid: T-1\r\n--- \r\n\n a\r\n\n "
        );
        assert_eq!(with_body_text("no record", "x").unwrap_err().code.name, "RECORD_FRONTMATTER_MISSING");
    }

    #[test]
    fn the_indentation_of_a_first_line_is_kept() {
        assert_eq!(with_body("---\n---\n", "\n    code\n").unwrap(), "---\n---\n\n    code\n");
        assert_eq!(append_under_heading("\n    code", "## N", "- n"), "    code\n\n## N\n\n- n");
    }

    #[test]
    fn code_that_is_left_open_swallows_no_section() {
        assert_eq!(open_fence("~~~~ md\n```\n~~~").as_deref(), Some("~~~~"));
        assert_eq!(open_fence("```\n```"), None);
        let once = append_under_heading("```\ncode", "## Activity", "- a");
        assert_eq!(once, "```\ncode\n```\n\n## Activity\n\n- a");
        assert_eq!(append_under_heading(&once, "## Activity", "- b"), format!("{once}\n- b"));
        let inside = append_under_heading("## Activity\n```\ncode", "## Activity", "- a");
        assert_eq!(inside, "## Activity\n```\ncode\n```\n- a");
    }

    #[test]
    fn sections_are_kept_where_they_are_put_and_at_the_end() {
        let stored = "Old.\r\n\r\n## A\r\n\r\n- a1\r\n\r\n## N\r\n\r\n- n\r\n\r\n## A\r\n\r\n- a2\r\n\r\n## Old\r\n\r\nGone.";
        let keep = |sent: &str| keep_sections(stored, sent, &["## A", "## N"]);
        let none: [&str; 0] = [];
        for (sent, body, ignored) in [
            ("", "## A\n\n- a1\n\n## N\n\n- n\n\n## A\n\n- a2", &none[..]),
            ("New.", "New.\n\n## A\n\n- a1\n\n## N\n\n- n\n\n## A\n\n- a2", &none),
            ("## N\n\n- n\n\nx", "## N\n\n- n\n\n## A\n\n- a1\n\n## A\n\n- a2", &["## N"]),
            ("## N\n\n- n\n\n## B\n\nb", "## N\n\n- n\n\n## B\n\nb\n\n## A\n\n- a1\n\n## A\n\n- a2", &none),
            (
                "## A\nx\n## B\n## A\n\n- a2\n## A\nthird",
                "## A\n\n- a1\n\n## B\n\n## A\n\n- a2\n\n## N\n\n- n",
                &["## A"],
            ),
            ("```\n## A\nx", "```\n## A\nx\n```\n\n## A\n\n- a1\n\n## N\n\n- n\n\n## A\n\n- a2", &none),
        ] {
            let (kept, told) = keep(sent);
            assert_eq!(
                (kept.as_str(), told.as_slice()),
                (body, &ignored.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>()[..])
            );
        }
        let (body, ignored) =
            keep_sections("Plain.", "x\n\n## N\n- forged\n## N\n- again", &["## A", "## N"]);
        assert_eq!((body.as_str(), ignored), ("x", vec!["## N".to_owned()]));
    }

    #[test]
    fn several_lines_are_appended_as_they_are() {
        let body = append_under_heading("## Notes\r\n\r\n- a\r\n", "## Notes", "- b\n  more");
        assert_eq!(body, "## Notes\n\n- a\n- b\n  more");
    }

    proptest! {
        #[test]
        fn sections_joined_and_split_again_are_the_same(
            lines in prop::collection::vec("## [ab]|```|~~~~|text|- x||  |\r|### c", 0..12),
        ) {
            let joined = join_sections(&sections(&lines.join("\n")));
            prop_assert_eq!(join_sections(&sections(&joined)), joined);
        }

        #[test]
        fn a_body_written_twice_is_written_once(body in "[a\r\n #`]{0,20}", crlf in any::<bool>()) {
            let record = if crlf { "---\r\nid: 1\r\n---\r\n" } else { "---\nid: 1\n---\n" };
            let once = with_body(record, &body).unwrap();
            let read = super::super::read(&once, &[]).unwrap();
            prop_assert_eq!(with_body(&once, read.body_text).unwrap(), once.as_str());
        }
    }
}
