//! The terminal that is written to: how wide it is, and whether it shows colour. A pipe or a file is none.

use std::ffi::OsString;
use std::io::{self, IsTerminal};

/// A terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Terminal {
    /// How many columns it has.
    pub(super) width: usize,
    /// Whether it is painted on.
    paint: Paint,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Paint {
    Yes,
    No,
}

/// How a piece of text looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Bold,
    Dim,
    Red,
    Green,
    Yellow,
    Cyan,
}

impl Style {
    /// What switches it on; empty for nothing.
    const fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Bold => "1",
            Self::Dim => "2",
            Self::Red => "31",
            Self::Green => "32",
            Self::Yellow => "33",
            Self::Cyan => "36",
        }
    }
}

/// The width of a terminal that does not say how wide it is.
const USUAL: usize = 80;
/// No terminal counts as narrower or wider.
const NARROWEST: usize = 20;
const WIDEST: usize = 1000;

impl Terminal {
    /// Standard output, when it is a terminal.
    pub(super) fn stdout() -> Option<Self> {
        let stream = io::stdout();
        stream.is_terminal().then(|| Self::new(window(&stream), |name| std::env::var_os(name)))
    }

    /// Standard error, when it is a terminal.
    pub(super) fn stderr() -> Option<Self> {
        let stream = io::stderr();
        stream.is_terminal().then(|| Self::new(window(&stream), |name| std::env::var_os(name)))
    }

    /// A terminal whose window is `window` columns wide, 0 when it does not know.
    fn new(window: usize, var: impl Fn(&str) -> Option<OsString>) -> Self {
        let stated = || var("COLUMNS")?.to_str()?.parse::<usize>().ok();
        let known = |width: &usize| *width > 0;
        let width = Some(window).filter(known).or_else(|| stated().filter(known)).unwrap_or(USUAL);
        // A console of Windows names itself in a variable of its own.
        let names_itself = match var("TERM") {
            Some(term) => term != "dumb" && !term.is_empty(),
            None => cfg!(windows) && var("WT_SESSION").is_some(),
        };
        let is_unwanted = var("NO_COLOR").is_some_and(|value| !value.is_empty());
        let paint = if names_itself && !is_unwanted { Paint::Yes } else { Paint::No };
        Self { width: width.clamp(NARROWEST, WIDEST), paint }
    }

    /// Writes `text`, which is clean already, behind `out`.
    pub(super) fn paint(self, out: &mut String, text: &str, style: Style) {
        if self.paint == Paint::No || style == Style::Plain || text.is_empty() {
            out.push_str(text);
        } else {
            out.extend(["\x1b[", style.code(), "m", text, "\x1b[0m"]);
        }
    }
}

/// How many columns the window has; 0 when it does not say.
#[cfg(unix)]
fn window(stream: &impl std::os::fd::AsFd) -> usize {
    rustix::termios::tcgetwinsize(stream).map_or(0, |size| size.ws_col.into())
}

#[cfg(not(unix))]
fn window<T>(_: &T) -> usize {
    0
}

#[cfg(test)]
impl Terminal {
    /// A terminal of this width without colour.
    pub(super) const fn plain(width: usize) -> Self {
        Self { width, paint: Paint::No }
    }

    /// One with colour.
    pub(super) const fn painted(width: usize) -> Self {
        Self { width, paint: Paint::Yes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terminal(window: usize, vars: &[(&str, &str)]) -> Terminal {
        let find = |name: &str| vars.iter().find(|(one, _)| *one == name).map(|(_, value)| value.into());
        Terminal::new(window, find)
    }

    #[test]
    fn the_window_says_how_wide_it_is_and_else_the_environment() {
        let width = |window, columns| terminal(window, &[("COLUMNS", columns)]).width;
        assert_eq!((width(60, "90"), width(0, "90"), width(0, "x"), width(0, "0")), (60, 90, 80, 80));
        assert_eq!((width(3, ""), width(0, "99999999")), (NARROWEST, WIDEST));
        assert_eq!(terminal(0, &[]).width, USUAL);
    }

    #[test]
    fn colour_is_for_those_who_can_and_want_to_see_it() {
        let paint = |vars: &[(&str, &str)]| terminal(80, vars).paint;
        assert_eq!(paint(&[("TERM", "xterm")]), Paint::Yes);
        assert_eq!(paint(&[("TERM", "xterm"), ("NO_COLOR", "")]), Paint::Yes);
        assert_eq!(paint(&[("TERM", "xterm"), ("NO_COLOR", "1")]), Paint::No);
        for unable in [&[("TERM", "dumb")][..], &[("TERM", "")], &[]] {
            assert_eq!(paint(unable), Paint::No);
        }
        let mut out = String::new();
        Terminal::painted(80).paint(&mut out, "a", Style::Red);
        Terminal::painted(80).paint(&mut out, "b", Style::Plain);
        Terminal::plain(80).paint(&mut out, "c", Style::Red);
        assert_eq!(out, "\x1b[31ma\x1b[0mbc");
    }
}
