//! A line on stderr that says what runs and for how long, for whoever sits at a terminal; elsewhere nothing.

use super::print::sanitise;
use super::table::{cut, width};
use super::terminal::Terminal;
use crate::work::verify::Moment;
use std::io::Write as _;

/// One line that is written over and over.
pub(super) struct Progress {
    /// Without a terminal nothing is drawn.
    terminal: Option<Terminal>,
    /// What stands there now.
    shown: String,
}

impl Progress {
    /// A line on stderr, when it is a terminal; none where JSON is asked for.
    pub(super) fn new(json: bool) -> Self {
        let terminal = if json { None } else { Terminal::stderr() };
        Self { terminal, shown: String::new() }
    }

    /// Shows what is happening.
    pub(super) fn show(&mut self, moment: Moment<'_>) {
        let drawn = self.draw(moment);
        if !drawn.is_empty() {
            let mut stderr = std::io::stderr();
            let _ = stderr.write_all(drawn.as_bytes()).and_then(|()| stderr.flush());
        }
    }

    /// What to write so that the line says this; nothing while it already does. Only seconds are shown, so that it is
    /// written once in each.
    fn draw(&mut self, moment: Moment<'_>) -> String {
        let Some(terminal) = self.terminal else { return String::new() };
        let line = match moment {
            Moment::Running { card, entry, so_far } => {
                let seconds = so_far.as_secs();
                let time = if seconds < 60 {
                    format!("{seconds} s")
                } else {
                    format!("{} min {:02} s", seconds / 60, seconds % 60)
                };
                // One column stays free: in the last one some terminals begin a new line.
                cut(&sanitise(&format!("{card}: {entry} runs, {time}")), terminal.width - 1)
            }
            Moment::Over => String::new(),
        };
        if line == self.shown {
            return String::new();
        }
        let rest = width(&self.shown).saturating_sub(width(&line));
        let drawn = if rest > 0 { format!("\r{line}{:rest$}\r{line}", "") } else { format!("\r{line}") };
        self.shown = line;
        drawn
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn running(entry: &str, ms: u64) -> Moment<'_> {
        Moment::Running { card: "T-1", entry, so_far: Duration::from_millis(ms) }
    }

    #[test]
    fn the_line_is_written_once_a_second_and_leaves_nothing_behind() {
        let mut progress = Progress { terminal: Some(Terminal::plain(80)), shown: String::new() };
        assert_eq!(progress.draw(running("tight", 3)), "\rT-1: tight runs, 0 s");
        assert_eq!(progress.draw(running("tight", 999)), "");
        assert_eq!(progress.draw(running("tight", 61_000)), "\rT-1: tight runs, 1 min 01 s");
        let (line, blank) = ("T-1: a runs, 0 s", " ".repeat(11));
        assert_eq!(progress.draw(running("a", 0)), format!("\r{line}{blank}\r{line}"));
        assert_eq!(progress.draw(Moment::Over), format!("\r{}\r", " ".repeat(line.len())));
        assert_eq!(progress.draw(Moment::Over), "");
    }

    #[test]
    fn a_long_name_stays_on_its_line_and_a_hostile_one_is_escaped() {
        let mut progress = Progress { terminal: Some(Terminal::plain(20)), shown: String::new() };
        assert_eq!(progress.draw(running("a-long-name-of-it", 0)), "\rT-1: a-long-name-o…");
        let mut progress = Progress { terminal: Some(Terminal::plain(80)), shown: String::new() };
        assert_eq!(progress.draw(running("\u{1b}[2J", 0)), "\rT-1: \\u{1b}[2J runs, 0 s");
    }

    #[test]
    fn without_a_terminal_there_is_nothing() {
        let mut progress = Progress { terminal: None, shown: String::new() };
        assert_eq!(progress.draw(running("tight", 0)), "");
        assert_eq!(progress.draw(Moment::Over), "");
    }
}
