//! Trail lines in a body: where they belong, and those that stand elsewhere.

use super::plan::ACTIVITY;
use crate::path::trim;
use crate::record;

/// A trail line that stands outside the trail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misplaced {
    /// The line of the body, from 0.
    pub line: usize,
    /// The entry.
    pub text: String,
}

/// The trail lines of a body outside `## Activity` and outside fenced code.
pub fn misplaced(body: &str) -> Vec<Misplaced> {
    let mut found = Vec::new();
    let mut inside = false;
    for (number, (line, fenced)) in body.split('\n').zip(record::fenced_lines(body)).enumerate() {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if fenced {
            continue;
        }
        if record::is_section_heading(line) {
            inside = trim(line) == ACTIVITY;
        } else if !inside && record::is_trail_line(line) {
            found.push(Misplaced { line: number, text: line.to_owned() });
        }
    }
    found
}

/// The body with its misplaced trail lines in the trail, in the order of their times; `None` when there are none.
pub fn gathered(body: &str) -> Option<String> {
    let strays = misplaced(body);
    if strays.is_empty() {
        return None;
    }
    let lines = body.split('\n').enumerate();
    let kept: Vec<&str> = lines
        .filter(|(number, _)| !strays.iter().any(|stray| stray.line == *number))
        .map(|(_, line)| line)
        .collect();
    let kept = kept.join("\n");
    let body =
        strays.iter().fold(kept, |body, stray| record::append_under_heading(&body, ACTIVITY, &stray.text));
    Some(sorted(&body))
}

/// The body with the entries of its first trail in the order of their stamps. What is no entry stays with the one above it.
fn sorted(body: &str) -> String {
    let lines: Vec<&str> = body.split('\n').collect();
    let fenced = record::fenced_lines(body);
    let Some(start) = lines.iter().zip(&fenced).position(|(line, fenced)| !fenced && trim(line) == ACTIVITY)
    else {
        return body.to_owned();
    };
    let rest = start + 1..lines.len();
    let is_heading = |at: &usize| !fenced[*at] && record::is_section_heading(lines[*at]);
    let end = rest.clone().find(is_heading).unwrap_or(lines.len());
    let is_entry = |at: &usize| !fenced[*at] && record::is_trail_line(lines[*at].trim_end_matches('\r'));
    let Some(first) = (start + 1..end).find(is_entry) else { return body.to_owned() };
    let last = (first..end).rev().find(|at| !trim(lines[*at]).is_empty()).map_or(end, |at| at + 1);
    let mut entries: Vec<Vec<&str>> = Vec::new();
    for (at, line) in lines.iter().enumerate().take(last).skip(first) {
        match entries.last_mut() {
            Some(entry) if !is_entry(&at) => entry.push(line),
            _ => entries.push(vec![line]),
        }
    }
    // `- YYYY-MM-DD HH:MMZ`
    entries.sort_by_key(|entry| entry[0].get(..19).unwrap_or_default().to_owned());
    let mut out: Vec<&str> = lines[..first].to_vec();
    out.extend(entries.into_iter().flatten());
    out.extend(&lines[last..]);
    out.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "- 2026-02-02 10:00Z bo · claimed";
    const THREE: &str = "- 2026-02-03 10:00Z bo · released";

    #[test]
    fn only_what_stands_outside_the_trail_and_outside_code_is_misplaced() {
        let body = format!(
            "{TWO}\n\n```\n{TWO}\n```\n\n## Activity\n\n{THREE}\n\n## Notes\n\n{THREE}\n### sub\n{TWO}"
        );
        let lines: Vec<usize> = misplaced(&body).into_iter().map(|it| it.line).collect();
        assert_eq!(lines, [0, 12, 14]);
    }

    #[test]
    fn strays_come_home_in_the_order_of_time() {
        let body = format!("text\n{TWO}\n\n## Activity\n\n{THREE}\n\n## Notes\n\n- x");
        assert_eq!(
            gathered(&body).unwrap(),
            format!("text\n\n## Activity\n\n{TWO}\n{THREE}\n\n## Notes\n\n- x")
        );
        assert_eq!(gathered(&format!("a\n\n{THREE}")).unwrap(), format!("a\n\n## Activity\n\n{THREE}"));
        assert_eq!(gathered(&format!("## Activity\n\n{TWO}")), None);
    }
}
