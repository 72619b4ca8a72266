//! Lines out of a stream of bytes: cut at line feeds and nowhere else, none longer than a limit.
//!
//! Memory stays at the limit and one byte whatever arrives; what is too long is named once and thrown away up to the
//! next line feed, so that the reader stays in step.

const BOM: &[u8] = b"\xef\xbb\xbf";

/// One line of input.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Its bytes, without the line feed and a carriage return directly before it. Never blank.
    Text(Vec<u8>),
    /// It had more bytes than the limit.
    TooLong,
}

/// Cuts a stream.
#[derive(Debug)]
pub(super) struct Lines {
    limit: usize,
    line: Vec<u8>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The first bytes of the stream, which may be a byte order mark.
    Begin,
    Inside,
    /// Behind the limit, up to the next line feed.
    Skipping,
}

impl Lines {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, line: Vec::new(), state: State::Begin }
    }

    /// Takes the next bytes and hands out every line that they complete.
    pub(super) fn feed(&mut self, mut bytes: &[u8], mut each: impl FnMut(Line)) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            self.take(&bytes[..end]);
            bytes = &bytes[end + 1..];
            self.begun();
            if self.line.last() == Some(&b'\r') {
                self.line.pop();
            }
            each_line(self.finish(), &mut each);
        }
        self.take(bytes);
    }

    /// The end of the stream: the last line counts without a line feed too.
    pub(super) fn end(&mut self, mut each: impl FnMut(Line)) {
        self.begun();
        each_line(self.finish(), &mut each);
    }

    /// Keeps the bytes of one line up to the limit and one more, which may turn out to be the carriage return.
    fn take(&mut self, bytes: &[u8]) {
        if self.state == State::Skipping {
            return;
        }
        let marked = if self.state == State::Begin { BOM.len() } else { 0 };
        let room = self.limit + 1 + marked - self.line.len();
        if bytes.len() > room {
            self.state = State::Skipping;
            self.line = Vec::new();
            return;
        }
        self.line.extend_from_slice(bytes);
        if self.state == State::Begin && self.line.len() >= BOM.len() {
            self.begun();
        }
        if self.line.len() > self.limit + 1 && self.state == State::Inside {
            self.state = State::Skipping;
            self.line = Vec::new();
        }
    }

    /// Decides about the byte order mark.
    fn begun(&mut self) {
        if self.state == State::Begin {
            self.state = State::Inside;
            if self.line.starts_with(BOM) {
                self.line.drain(..BOM.len());
            }
        }
    }

    fn finish(&mut self) -> Option<Line> {
        let too_long = self.state == State::Skipping || self.line.len() > self.limit;
        self.state = State::Inside;
        let line = std::mem::take(&mut self.line);
        if too_long {
            return Some(Line::TooLong);
        }
        let blank = line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
        (!blank).then_some(Line::Text(line))
    }
}

fn each_line(line: Option<Line>, each: &mut impl FnMut(Line)) {
    if let Some(line) = line {
        each(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cut(limit: usize, pieces: &[&[u8]]) -> Vec<String> {
        let mut lines = Lines::new(limit);
        let mut found = Vec::new();
        let mut each = |line| {
            found.push(match line {
                Line::Text(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                Line::TooLong => "TOO LONG".to_owned(),
            });
        };
        for piece in pieces {
            lines.feed(piece, &mut each);
        }
        lines.end(&mut each);
        found
    }

    #[test]
    fn only_a_line_feed_ends_a_line() {
        assert_eq!(cut(99, &[b"a\r\nb\rc\n\xe2\x80\xa8d\n\n \t\r\r\n e"]), ["a", "b\rc", "\u{2028}d", " e"]);
    }

    #[test]
    fn the_limit_counts_neither_the_line_feed_nor_the_dropped_carriage_return() {
        assert_eq!(
            cut(4, &[b"abcd\r\nabcde\r\nabcd\nabcde\nabcd\rx\nxy"]),
            ["abcd", "TOO LONG", "abcd", "TOO LONG", "TOO LONG", "xy"]
        );
        assert_eq!(cut(4, &[b"abcd\r"]), ["TOO LONG"], "nothing says that it ends a line");
    }

    #[test]
    fn a_byte_order_mark_is_dropped_at_the_beginning_of_the_stream_alone() {
        assert_eq!(cut(4, &[b"\xef", b"\xbb", b"\xbfabcd\n\xef\xbb\xbfx"]), ["abcd", "\u{feff}x"]);
        assert_eq!(cut(4, &[b"\xef\xbb\xbf\n\xef\xbb\xbfx\n"]), ["\u{feff}x"]);
        assert_eq!(cut(9, &[b"\xef\xbb\xbf\xef\xbb\xbfx"]), ["\u{feff}x"]);
        assert_eq!(cut(4, &[b"\xef\xbb\xbfabcde"]), ["TOO LONG"]);
        assert_eq!(cut(4, &[b"ab\nabcde\n"]), ["ab", "TOO LONG"]);
    }

    #[test]
    fn memory_stays_at_the_limit() {
        let mut lines = Lines::new(1024);
        for _ in 0..10_000 {
            lines.feed(&[b'x'; 4096], |line| panic!("{line:?}"));
            assert!(lines.line.capacity() <= 2 * 1025);
        }
        let mut found = Vec::new();
        lines.feed(b"\nok\n", |line| found.push(line));
        assert_eq!(found, [Line::TooLong, Line::Text(b"ok".to_vec())]);
    }

    proptest! {
        #[test]
        fn where_the_stream_is_cut_changes_nothing(
            stream in proptest::collection::vec(
                prop_oneof![Just(b'\n'), Just(b'\r'), Just(b'a'), Just(0xef), Just(0xbb), Just(0xbf), any::<u8>()], 0..60),
            cuts in proptest::collection::vec(0usize..60, 0..6),
            limit in 1usize..12,
        ) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|at| at.min(stream.len())).collect();
            cuts.extend([0, stream.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|at| &stream[at[0]..at[1]]).collect();
            prop_assert_eq!(cut(limit, &pieces), cut(limit, &[&stream]));
        }
    }
}
