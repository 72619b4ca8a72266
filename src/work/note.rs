//! Notes: lines that anybody may add under a heading of a card.

use super::card::Card;
use super::mutate::{Caller, Target, mutate};
use super::plan::{Home, Line, Plan};
use crate::failure::{Code, Failure};
use crate::path::trim;
use crate::record::{self, section_name};
use crate::workspace::Workspace;

/// The section that a note goes to without another name.
pub const SECTION: &str = "Notes";

/// A note.
#[derive(Clone, Copy, Debug)]
pub struct Note<'a> {
    /// Which card.
    pub target: Target<'a>,
    /// What it says.
    pub text: &'a str,
    /// The heading without its marks.
    pub section: &'a str,
}

/// Adds a note. Archived cards take notes too, and stay archived.
pub fn note(workspace: &Workspace, note: Note<'_>, caller: &Caller) -> Result<Card, Failure> {
    let heading = format!("## {}", section(note.section)?);
    let text = text(note.text).ok_or_else(|| {
        let failure = Failure::new(Code::CARD_NOTE_REQUIRED, "a note needs a text");
        failure.remedy(format!("workfile card note {} --text TEXT", note.target.id))
    })?;
    let plan = |_: &Card, now: crate::clock::Time| {
        let mut plan = Plan::new(caller, Home::Stay);
        let author = caller.actor().map(|actor| format!(" {actor}")).unwrap_or_default();
        plan.lines.push(Line::Under(heading, format!("- {}{author} — {text}", now.stamp())));
        Ok(plan)
    };
    mutate(workspace, note.target, caller, plan, |_| ()).map(|(card, ())| card)
}

/// The name of a section that notes may go to; the trail is none.
fn section(name: &str) -> Result<&str, Failure> {
    let problem = match section_name(name) {
        Ok(name) if name.to_lowercase() == "activity" => "the trail is written by the commands themselves",
        Ok(name) => return Ok(name),
        Err(problem) => problem,
    };
    let text = format!("a note cannot go to the section `{}`: {problem}", trim(name));
    Err(Failure::new(Code::CARD_NOTE_SECTION_INVALID, text))
}

/// The text with every line after the first indented, so that none can open a section or pass for a trail line, and
/// with no code fence left open, which would swallow the sections below. `None` when nothing is said.
fn text(text: &str) -> Option<String> {
    let text = Some(trim(text)).filter(|text| !text.is_empty())?;
    let lines = text.replace("\r\n", "\n").replace('\r', "\n").replace('\n', "\n  ");
    match record::open_fence(&format!("- {lines}")) {
        Some(fence) => Some(format!("{lines}\n  {fence}")),
        None => Some(lines),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h18_a_note_cannot_forge_a_section_or_a_trail_line() {
        let forged = text(" one\n## Activity\r\n- 2026-01-01 00:00Z ben · claimed\rx ").unwrap();
        assert_eq!(forged, "one\n  ## Activity\n  - 2026-01-01 00:00Z ben · claimed\n  x");
        assert!(forged.lines().all(|line| !record::is_trail_line(line)));
        assert_eq!(text(" \u{feff}\n"), None);
    }

    #[test]
    fn a_note_leaves_no_fence_open() {
        assert_eq!(text("see\n```\ncode").unwrap(), "see\n  ```\n  code\n  ```");
        assert_eq!(text("see\n````md\n```\ncode").unwrap(), "see\n  ````md\n  ```\n  code\n  ````");
        assert_eq!(text("see\n~~~\ncode\n~~~\nend").unwrap(), "see\n  ~~~\n  code\n  ~~~\n  end");
    }

    #[test]
    fn h19_a_section_is_a_plain_name() {
        assert_eq!(section(" Measurements ").unwrap(), "Measurements");
        for name in ["", "  ", "a\nb", "a\rb", "a\u{1b}b", "# x", "#", "Activity", "aCTIVITY "] {
            assert_eq!(section(name).unwrap_err().code, Code::CARD_NOTE_SECTION_INVALID, "{name:?}");
        }
    }
}
