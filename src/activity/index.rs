//! `board.idx`: the board for the one question before every edit, a line a scope.
//!
//! ```text
//! workfile-index 2 <inode> <size> <mtime> <cardsMtimeNs> <n>  what board.json it was written from; how many bytes follow
//! A0009<session> <earlier> <earlier> …                        whom a session continues
//! P0023<path>\t<session>\t<holder>                            a literal entry of a claim in doing
//! G0023<pattern>\t<session>\t<holder>                         an entry with * or ?
//! ```
//!
//! The literal entries come last and in order: what covers a path is a beginning of it, so a reader ends at the first one that
//! stands behind the path. Four digits behind the letter say how long the rest of the line is, so that a reader need not search for its end. The
//! index only ever answers "is this path clear"; who holds it and what is said about it comes from `board.json`. A line that
//! cannot be read, another stamp or another version: no answer.

use super::board::{Board, Me, cards_mtime};
use crate::fs::{Dir, Stat, read_more};
use crate::path::Flavour;
use crate::scope;
use std::fmt::Write as _;
use std::fs::File;
use std::io;

const NAME: &str = "board.idx";
const VERSION: &str = "workfile-index 2";
/// A kind and four digits stand before each line's rest.
const LEAD: usize = 5;
/// Boards with a longer line get no index.
const LONGEST: usize = 4000;

/// Writes the index of `board`, whose file is `stat`. A board that cannot be told in lines gets none, and the old one no
/// longer fits its stamp.
pub(super) fn write(activity: &Dir, board: &Board, stat: &Stat) -> io::Result<()> {
    match text(board, stat) {
        Some(text) => activity.replace(NAME, text.as_bytes()),
        None => Ok(()),
    }
}

fn text(board: &Board, stat: &Stat) -> Option<String> {
    let cards = board.cards_mtime_ns?;
    let mut lines = String::new();
    let plain = |text: &str| !text.contains(['\n', '\t', ' ']);
    let clean = |text: &str| !text.contains(['\n', '\t']);
    let mut push = |kind: char, rest: &str| {
        let _ = writeln!(lines, "{kind}{:04}{rest}", rest.len());
        rest.len() <= LONGEST
    };
    for (me, earlier) in &board.aliases.0 {
        let line = format!("{me} {}", earlier.join(" "));
        if !plain(me) || !earlier.iter().all(|value| plain(value)) || !push('A', &line) {
            return None;
        }
    }
    let mut literal = Vec::new();
    for claim in board.claims.iter().filter(|claim| claim.is_doing()) {
        let session = claim.session.as_deref().unwrap_or_default();
        for entry in &claim.scope {
            let Some(walk) = scope::start(entry) else { continue };
            let shown = if walk.pattern { entry } else { &walk.literal };
            if !clean(shown) || !clean(session) || !clean(&claim.claimed_by) {
                return None;
            }
            let line = format!("{shown}\t{session}\t{}", claim.claimed_by);
            if !walk.pattern {
                literal.push((walk.literal, line));
            } else if !push('G', &line) {
                return None;
            }
        }
    }
    literal.sort_unstable();
    if !literal.iter().all(|(_, line)| push('P', line)) {
        return None;
    }
    let (ino, size, mtime, count) = (stat.ino, stat.size, stat.mtime_ns, lines.len());
    Some(format!("{VERSION} {ino} {size} {mtime} {cards} {count}\n{lines}"))
}

/// The question.
pub(super) struct Asked<'a> {
    /// A repository path.
    pub(super) path: &'a str,
    /// Who asks.
    pub(super) me: &'a Me,
}

/// The least room that a window needs for any line.
const ROOM: usize = LEAD + LONGEST + 1;

/// Whether nobody else's claim covers the path; `None` when the index cannot say. It is read through `window`.
pub(super) fn is_clear(root: &Dir, asked: &Asked<'_>, window: &mut Vec<u8>) -> Option<bool> {
    let (file, stat) = root.open_file(".project/.cache/activity/board.idx").ok()?;
    // No link was on the way to the index a moment ago; of its neighbour only numbers are taken.
    let stamp = root.stat(".project/.cache/activity/board.json").ok()?;
    let cards = cards_mtime(root)?;
    window.clear();
    window.reserve(ROOM);
    let mut text = Text { file: &file, window, from: 0, unread: stat.size };
    text.fill()?;
    let head = text.head()?;
    // One that has been cut off says too little.
    let follows = stat.size.checked_sub(head.len() as u64 + 1)?;
    if !head_matches(head, &stamp, cards, follows) {
        return None;
    }
    let mut continued: Vec<String> = Vec::new();
    loop {
        let lines = &text.window[text.from..];
        let (verdict, left) = judge_lines(lines, asked, &mut continued);
        text.from = text.window.len() - left;
        match verdict {
            Line::Beyond => break,
            Line::Passes if text.unread == 0 && left == 0 => break,
            Line::Passes if text.unread == 0 => return None,
            Line::Passes => text.fill()?,
            Line::Blocks => return Some(false),
            Line::Broken => return None,
        }
    }
    // The process ends soon; giving the handle back would be a call for nothing.
    std::mem::forget(file);
    Some(true)
}

/// Judges the whole lines at the beginning of `lines`, up to one that does not pass; how much is left behind them.
fn judge_lines(lines: &[u8], asked: &Asked<'_>, continued: &mut Vec<String>) -> (Line, usize) {
    let mut left = lines;
    while let [kind, a, b, c, d, tail @ ..] = left {
        let digit = |digit: u8| usize::from(digit.wrapping_sub(b'0'));
        let length = digit(*a) * 1000 + digit(*b) * 100 + digit(*c) * 10 + digit(*d);
        let Some(end) = tail.get(length) else {
            return (if length > LONGEST { Line::Broken } else { Line::Passes }, left.len());
        };
        if *end != b'\n' {
            return (Line::Broken, left.len());
        }
        match judge(*kind, &tail[..length], asked, continued) {
            Line::Passes => left = &tail[length + 1..],
            verdict => return (verdict, left.len()),
        }
    }
    (Line::Passes, left.len())
}

fn head_matches(line: &[u8], stamp: &Stat, cards: i64, follows: u64) -> bool {
    let [ino, size, follows] = [stamp.ino, stamp.size, follows].map(u64::cast_signed);
    let wanted = [ino, size, stamp.mtime_ns, cards, follows];
    let Some(mut rest) = line.strip_prefix(VERSION.as_bytes()) else { return false };
    for number in wanted {
        let Some((b' ', tail)) = rest.split_first() else { return false };
        let digits = tail.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let read = tail[..digits]
            .iter()
            .try_fold(0_i64, |sum, digit| sum.checked_mul(10)?.checked_add(i64::from(digit - b'0')));
        if digits == 0 || read != Some(number) {
            return false;
        }
        rest = &tail[digits..];
    }
    rest.is_empty()
}

enum Line {
    Passes,
    /// It and all that follow stand behind the path.
    Beyond,
    Blocks,
    Broken,
}

fn judge(kind: u8, rest: &[u8], asked: &Asked<'_>, continued: &mut Vec<String>) -> Line {
    match kind {
        b'P' if !Flavour::HOST.folds_case() => {
            // Most lines end here: the path leaves the entry within a few bytes.
            let path = asked.path.as_bytes();
            let shared = shared(rest, path);
            match rest.get(shared) {
                Some(b'\t') if shared == 0 || shared == path.len() || path[shared] == b'/' => {
                    holder(&rest[shared + 1..], asked, continued)
                }
                Some(b'\t') => Line::Passes,
                Some(next) if path.get(shared).is_none_or(|here| next > here) => Line::Beyond,
                Some(_) => Line::Passes,
                None => Line::Broken,
            }
        }
        b'P' | b'G' => {
            let Some(end) = rest.iter().position(|byte| *byte == b'\t') else { return Line::Broken };
            let Ok(entry) = std::str::from_utf8(&rest[..end]) else { return Line::Broken };
            if entry.is_empty() || scope::covers(entry, asked.path) {
                holder(&rest[end + 1..], asked, continued)
            } else {
                Line::Passes
            }
        }
        b'A' => {
            let Ok(text) = std::str::from_utf8(rest) else { return Line::Broken };
            let mut words = text.split(' ');
            if words.next() == asked.me.disc() {
                continued.extend(words.map(str::to_owned));
            }
            Line::Passes
        }
        _ => Line::Broken,
    }
}

/// How many bytes two texts begin with alike: most differ within the first eight.
fn shared(a: &[u8], b: &[u8]) -> usize {
    if let (Some(first), Some(second)) = (a.first_chunk(), b.first_chunk()) {
        let differ = u64::from_le_bytes(*first) ^ u64::from_le_bytes(*second);
        if differ != 0 {
            return differ.trailing_zeros() as usize / 8;
        }
    }
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// The tail of a line that covers the path: whose it is.
fn holder(tail: &[u8], asked: &Asked<'_>, continued: &[String]) -> Line {
    let Some((session, by)) = std::str::from_utf8(tail).ok().and_then(|tail| tail.split_once('\t')) else {
        return Line::Broken;
    };
    let session = (!session.is_empty()).then_some(session);
    if asked.me.holds(session, by, continued) { Line::Passes } else { Line::Blocks }
}

/// A file through one window that is filled again and again.
struct Text<'a> {
    file: &'a File,
    window: &'a mut Vec<u8>,
    from: usize,
    /// How much of the file is still to be read.
    unread: u64,
}

impl Text<'_> {
    /// Moves what is left to the front and reads on; `None` when the file cannot be read or ends early.
    fn fill(&mut self) -> Option<()> {
        self.window.drain(..self.from);
        self.from = 0;
        let read = read_more(self.file, self.window).ok().filter(|read| *read > 0)?;
        self.unread = self.unread.checked_sub(read as u64)?;
        Some(())
    }

    /// The first line, which is in the window.
    fn head(&mut self) -> Option<&[u8]> {
        let end = self.window.iter().position(|byte| *byte == b'\n')?;
        self.from = end + 1;
        Some(&self.window[..end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activity::board::Claim;
    use proptest::prelude::*;

    fn claim(id: u8, by: &str, session: Option<&str>, scope: Vec<String>, status: &str) -> Claim {
        Claim {
            id: format!("T-{id:04}"),
            title: None,
            status: Some(status.to_owned()),
            claimed_by: by.to_owned(),
            claimed_at: None,
            session: session.map(str::to_owned),
            scope,
        }
    }

    /// Board, index and folder of cards on disk, as a writer leaves them.
    fn stored(board: &mut Board) -> (tempfile::TempDir, Dir) {
        let keep = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(keep.path().join(".project/cards")).unwrap();
        let root = Dir::open(keep.path().to_str().unwrap()).unwrap();
        board.cards_mtime_ns = cards_mtime(&root);
        let activity = crate::activity::make(&root).unwrap();
        board.store(&activity, None).unwrap();
        (keep, root)
    }

    fn slow(board: &Board, path: &str, me: &Me) -> bool {
        !board.foreign(me).any(|claim| claim.scope.iter().any(|entry| scope::covers(entry, path)))
    }

    fn segment() -> impl Strategy<Value = String> {
        prop_oneof![
            "[ab]{1,2}",
            Just("*".to_owned()),
            Just("**".to_owned()),
            Just("a?".to_owned()),
            Just(".".to_owned()),
            Just("..".to_owned())
        ]
    }

    fn scopes() -> impl Strategy<Value = Vec<String>> {
        proptest::collection::vec(
            proptest::collection::vec(segment(), 1..4).prop_map(|parts| parts.join("/")),
            0..3,
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn index_and_board_agree(
            claims in proptest::collection::vec((0..3_u8, 0..4_u8, scopes(), proptest::bool::weighted(0.8)), 0..6),
            path in proptest::collection::vec("[ab]{1,2}", 1..4),
            alias in proptest::bool::ANY,
        ) {
            let names = ["ann", "ben", "ann@box"];
            let sessions = [None, Some("aaaa1111"), Some("bbbb2222"), Some("cccc3333")];
            let mut board = Board::default();
            for (number, (by, session, scope, doing)) in claims.into_iter().enumerate() {
                let status = if doing { "doing" } else { "next" };
                board.claims.push(claim(number as u8, names[by as usize], sessions[session as usize], scope, status));
            }
            if alias {
                board.aliases.continue_from("aaaa1111", "bbbb2222");
            }
            let path = path.join("/");
            let me = Me::new(Some("AAAA-1111"), |_| Some("ann".to_owned()));
            let (_keep, root) = stored(&mut board);
            let asked = Asked { path: &path, me: &me };
            prop_assert_eq!(is_clear(&root, &asked, &mut Vec::new()), Some(slow(&board, &path, &me)));
        }

        #[test]
        fn garbage_is_no_answer(junk in proptest::collection::vec(proptest::num::u8::ANY, 0..400), keep_head in proptest::bool::ANY) {
            let mut board = Board::default();
            board.claims.push(claim(1, "ben", Some("bbbb2222"), vec!["src".to_owned()], "doing"));
            let (keep, root) = stored(&mut board);
            let at = keep.path().join(super::super::FOLDER).join(NAME);
            let head = std::fs::read(&at).unwrap();
            let head = &head[..=head.iter().position(|byte| *byte == b'\n').unwrap()];
            let bytes = if keep_head { [head, b"?", &junk].concat() } else { junk };
            std::fs::write(&at, bytes).unwrap();
            let me = Me::new(Some("AAAA-1111"), |_| None);
            prop_assert_eq!(is_clear(&root, &Asked { path: "src/a", me: &me }, &mut Vec::new()), None);
        }
    }

    #[test]
    fn a_beginning_is_no_answer() {
        let mut board = Board::default();
        let scope = ["docs", "lib/*", "src"].map(str::to_owned).to_vec();
        board.claims.push(claim(1, "ben", Some("bbbb2222"), scope, "doing"));
        let (keep, root) = stored(&mut board);
        let at = keep.path().join(super::super::FOLDER).join(NAME);
        let whole = std::fs::read(&at).unwrap();
        let me = Me::new(Some("AAAA-1111"), |_| None);
        for end in 0..whole.len() {
            std::fs::write(&at, &whole[..end]).unwrap();
            let asked = Asked { path: "src/a", me: &me };
            assert_eq!(is_clear(&root, &asked, &mut Vec::new()), None, "{end} of {} bytes", whole.len());
        }
    }

    #[test]
    fn another_board_or_a_later_card_is_no_answer() {
        let mut board = Board::default();
        board.claims.push(claim(1, "ben", Some("bbbb2222"), vec!["src".to_owned()], "doing"));
        let (keep, root) = stored(&mut board);
        let me = Me::new(Some("AAAA-1111"), |_| None);
        let ask = |path| is_clear(&root, &Asked { path, me: &me }, &mut Vec::new());
        assert_eq!((ask("src/a"), ask("lib/a")), (Some(false), Some(true)));
        std::fs::write(keep.path().join(".project/cards/T-2.md"), "x").unwrap();
        filetime::set_file_mtime(
            keep.path().join(".project/cards"),
            filetime::FileTime::from_unix_time(9, 9),
        )
        .unwrap();
        assert_eq!(ask("lib/a"), None, "the folder of cards changed");
        let (keep, root) = stored(&mut board);
        let file = keep.path().join(super::super::FOLDER).join(super::super::board::FILE);
        std::fs::write(&file, r#"{"claims":[]}"#).unwrap();
        assert_eq!(
            is_clear(&root, &Asked { path: "lib/a", me: &me }, &mut Vec::new()),
            None,
            "another tool wrote the board"
        );
    }

    #[test]
    fn what_lines_cannot_hold_gets_no_index() {
        let mut board = Board::default();
        board.claims.push(claim(1, "ben", None, vec!["a\nP0001x".to_owned()], "doing"));
        let (keep, _) = stored(&mut board);
        assert!(!keep.path().join(super::super::FOLDER).join(NAME).exists());
    }

    #[test]
    fn long_boards_pass_through_one_window() {
        let mut board = Board::default();
        for number in 0..250 {
            let scope = vec![format!("packages/part-{number}/src/{}", "x".repeat(usize::from(number)))];
            board.claims.push(claim(number, "ben", Some("bbbb2222"), scope, "doing"));
        }
        let (_keep, root) = stored(&mut board);
        let me = Me::new(Some("AAAA-1111"), |_| None);
        let ask = |path: &str| is_clear(&root, &Asked { path, me: &me }, &mut Vec::new());
        assert_eq!(ask("lib/a"), Some(true));
        assert_eq!(ask(&format!("packages/part-249/src/{}/deep", "x".repeat(249))), Some(false));
    }
}
