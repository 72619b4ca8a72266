//! Rows for people and for programs: columns fitted to a terminal, and in a pipe one row a line with tabs between.

use super::print::sanitise;
use super::terminal::{Style, Terminal};
use std::cmp::Reverse;
use std::fmt::Write as _;
use unicode_width::UnicodeWidthChar;

/// What a column holds, which decides how it looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// The id of a record.
    Id,
    /// A status.
    Status,
    /// A priority.
    Priority,
    /// A word of a vocabulary: a type, a collection.
    Word,
    /// Who holds the record. Shown on a terminal only: the rows of a pipe have a fixed form.
    Holder,
    /// Text that gives way first when a line is too long.
    Text,
    /// The same, of less weight: a path, a reason.
    Detail,
}

/// Rows of one form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

/// Between two columns.
const GAP: usize = 2;
/// Text is not made narrower while anything else is wider than [`LEAST`].
const LEAST_TEXT: usize = 16;
/// Nothing is made narrower.
const LEAST: usize = 8;

impl Table {
    /// A table of these columns. What would break a row is a space in a cell.
    pub fn new<const N: usize, T: AsRef<str>>(
        columns: [Column; N],
        rows: impl IntoIterator<Item = [T; N]>,
    ) -> Self {
        let breaks = |c: char| if matches!(c, '\t' | '\n' | '\r') { ' ' } else { c };
        let cell = |text: T| text.as_ref().chars().map(breaks).collect();
        let rows = rows.into_iter().map(|row| row.into_iter().map(cell).collect());
        Self { columns: columns.into(), rows: rows.collect() }
    }

    /// One row a line, tabs between the cells, nothing cut and nothing escaped.
    pub(super) fn tabbed(&self) -> String {
        let mut out = String::new();
        for row in &self.rows {
            let cells = self.columns.iter().zip(row).filter(|(column, _)| **column != Column::Holder);
            for (at, (_, cell)) in cells.enumerate() {
                out.push_str(if at == 0 { "" } else { "\t" });
                out.push_str(cell);
            }
            out.push('\n');
        }
        out
    }

    /// Aligned columns that fit the terminal; what is cut ends in `…`. A column without any text is left out.
    pub(super) fn fitted(&self, terminal: Terminal) -> String {
        let clean = |row: &Vec<String>| row.iter().map(|cell| sanitise(cell)).collect();
        let rows: Vec<Vec<String>> = self.rows.iter().map(clean).collect();
        let widest = |at: usize| rows.iter().map(|row| width(&row[at])).max().unwrap_or(0);
        let columns = self.columns.iter().enumerate();
        let mut columns: Vec<Fit> = columns
            .map(|(at, column)| Fit { at, column: *column, width: widest(at).min(terminal.width) })
            .filter(|fit| fit.width > 0)
            .collect();
        fit(&mut columns, terminal.width);
        let mut out = String::new();
        for row in &rows {
            let (mut used, mut padding) = (0, 0);
            for Fit { at, column, width: most } in &columns {
                let cell = cut(&row[*at], (*most).min(terminal.width.saturating_sub(used + padding)));
                if !cell.is_empty() {
                    let _ = write!(out, "{:padding$}", "");
                    terminal.paint(&mut out, &cell, style(*column, &cell));
                    used += padding;
                    padding = 0;
                }
                let taken = width(&cell);
                used += taken;
                padding += most - taken + GAP;
            }
            out.push('\n');
        }
        out
    }
}

/// How wide a column becomes.
struct Fit {
    at: usize,
    column: Column,
    width: usize,
}

/// Takes from the widest columns, texts first, until a line of `most` holds them or nothing more can be taken.
fn fit(columns: &mut [Fit], most: usize) {
    let texts =
        |column| if matches!(column, Column::Text | Column::Detail) { LEAST_TEXT } else { usize::MAX };
    let every = |_| LEAST;
    let gaps = GAP * columns.len().saturating_sub(1);
    let mut over = (columns.iter().map(|fit| fit.width).sum::<usize>() + gaps).saturating_sub(most);
    for least in [&texts as &dyn Fn(Column) -> usize, &every] {
        while over > 0 {
            let yielding = columns.iter_mut().filter(|one| one.width > least(one.column));
            let Some(widest) = yielding.min_by_key(|one| Reverse(one.width)) else { break };
            widest.width -= 1;
            over -= 1;
        }
    }
}

/// How many columns of a terminal a clean text takes.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// The text in at most so many columns.
pub(super) fn cut(text: &str, most: usize) -> String {
    if most == 0 {
        return String::new();
    }
    let (mut used, mut kept) = (0, 0);
    for (at, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if used > most {
            return format!("{}…", text[..kept].trim_end());
        }
        if used < most {
            kept = at + c.len_utf8();
        }
    }
    text.to_owned()
}

/// Colour is for what wants attention or is out of the way.
fn style(column: Column, cell: &str) -> Style {
    match (column, cell) {
        (Column::Id, _) => Style::Bold,
        (Column::Status, "doing") => Style::Cyan,
        (Column::Status, "review" | "timed-out" | "undecided") | (Column::Priority, "high") => Style::Yellow,
        (Column::Status, "blocked" | "failed" | "errored") | (Column::Priority, "critical") => Style::Red,
        (Column::Status, "done" | "passed" | "verified") => Style::Green,
        (Column::Detail, _) | (Column::Status, "deferred" | "discarded") | (Column::Priority, "low") => {
            Style::Dim
        }
        _ => Style::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const COLUMNS: [Column; 5] = [Column::Id, Column::Status, Column::Priority, Column::Holder, Column::Text];

    fn table(rows: &[[&str; 5]]) -> Table {
        Table::new(COLUMNS, rows.iter().copied())
    }

    #[test]
    fn a_pipe_gets_tabs_and_every_byte() {
        let table = table(&[["T-1", "doing", "high", "ana", "a\tb\u{1b}\nc"], ["T-2", "", "low", "", "漢"]]);
        assert_eq!(table.tabbed(), "T-1\tdoing\thigh\ta b\u{1b} c\nT-2\t\tlow\t漢\n");
    }

    #[test]
    fn a_terminal_gets_columns() {
        let rows = [["T-1", "doing", "high", "ana", "Rework"], ["T-22", "review", "", "", "x"]];
        let expected = "T-1   doing   high  ana  Rework\nT-22  review             x\n";
        assert_eq!(table(&rows).fitted(Terminal::plain(80)), expected);
        let alone = [["T-1", "doing", "high", "", "Rework"], ["T-2", "done", "low", "", ""]];
        let expected = "T-1  doing  high  Rework\nT-2  done   low\n";
        assert_eq!(table(&alone).fitted(Terminal::plain(80)), expected);
    }

    #[test]
    fn colour_is_laid_on_after_the_widths_are_known() {
        let rows = [["T-1", "doing", "low", "", "a"], ["T-2", "x", "high", "", "b"]];
        let expected = "\x1b[1mT-1\x1b[0m  \x1b[36mdoing\x1b[0m  \x1b[2mlow\x1b[0m   a\n\
             \x1b[1mT-2\x1b[0m  x      \x1b[33mhigh\x1b[0m  b\n";
        assert_eq!(table(&rows).fitted(Terminal::painted(80)), expected);
    }

    #[test]
    fn what_is_cut_is_cut_by_its_width_on_the_screen() {
        for (text, most, expected) in [
            ("abcdef", 6, "abcdef"),
            ("abcdef", 5, "abcd…"),
            ("ab cdef", 4, "ab…"),
            ("漢字漢字", 8, "漢字漢字"),
            ("漢字漢字", 7, "漢字漢…"),
            ("漢字漢字", 6, "漢字…"),
            ("e\u{301}e\u{301}e\u{301}", 3, "e\u{301}e\u{301}e\u{301}"),
            ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
            ("漢", 1, "…"),
            ("abc", 0, ""),
            ("", 0, ""),
        ] {
            assert_eq!(cut(text, most), expected, "{text} in {most}");
        }
    }

    #[test]
    fn the_title_gives_way_and_then_everything_else() {
        let row = ["T-0001", "doing", "medium", "ana@desk#aaaaaaaa", "A title that is rather long for this"];
        let expected = "T-0001  doing  medium  ana@desk#aaaaaaaa  A title that is…\n";
        assert_eq!(table(&[row]).fitted(Terminal::plain(58)), expected);
        let expected = "T-0001  doing  medium  ana@des…  A title…\n";
        assert_eq!(table(&[row]).fitted(Terminal::plain(41)), expected);
        assert_eq!(table(&[row]).fitted(Terminal::plain(20)), "T-0001  doing  medi…\n");
    }

    #[test]
    fn what_could_move_the_cursor_is_escaped_before_it_is_measured() {
        let fitted = table(&[["T-1", "\u{1b}[2J", "low", "", "\u{202e}x"]]).fitted(Terminal::plain(80));
        assert_eq!(fitted, "T-1  \\u{1b}[2J  low  \\u{202e}x\n");
    }

    proptest! {
        #[test]
        fn no_line_is_longer_than_the_terminal(
            rows in prop::collection::vec(prop::array::uniform5("[a漢e\u{301}\u{1b}\u{202e} \\t\\n]{0,40}"), 0..4),
            most in 20_usize..120,
        ) {
            let table = Table::new(COLUMNS, rows);
            let text = table.fitted(Terminal::plain(most));
            prop_assert_eq!(text.lines().count(), table.rows.len());
            for line in text.lines() {
                prop_assert!(width(line) <= most && line == sanitise(line), "{}", line);
            }
        }
    }
}
