//! The ledger: one line an edit, appended, never rewritten.

use crate::clock::Time;
use crate::fs::Dir;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Seek, SeekFrom};

/// The ledger, below a workspace root.
pub const FILE: &str = ".project/.cache/activity/events.jsonl";
/// The ledger before the last rotation.
const ROTATED: &str = ".project/.cache/activity/events.1.jsonl";
/// A longer line is not written.
const LINE: usize = 8 * 1024;
/// From this size on a session's start rotates the ledger.
const ROTATE: u64 = 1024 * 1024;
/// How much of the end is read.
const TAIL: u64 = 256 * 1024;
/// Read backwards in steps of this size.
const STEP: u64 = 8 * 1024;

/// One line.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Event<'a> {
    /// When, as written.
    pub at: &'a str,
    /// The session id as received.
    pub session_id: &'a str,
    /// The tool.
    pub tool: &'a str,
    /// The repository path.
    pub path: &'a str,
    /// The tool call's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<&'a str>,
    /// The subagent that made the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<&'a str>,
    /// Its kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<&'a str>,
    /// What a scan found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collision: Option<Collision<'a>>,
}

/// A change inside somebody else's scope.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Collision<'a> {
    /// The card whose scope it is.
    pub card: &'a str,
    /// Who holds it.
    pub holder: &'a str,
    /// Whether any session here signals as the holder.
    pub holder_known: bool,
    /// Whether one of them signalled in the window.
    pub holder_signalled: bool,
    /// The file's time, in milliseconds.
    pub mtime: i64,
}

/// Appends lines in one write, in a process that ends soon. A line that is too long is left out.
pub fn append(root: &Dir, events: &[Event<'_>]) -> io::Result<()> {
    let mut text = Vec::new();
    for event in events {
        let start = text.len();
        serde_json::to_writer(&mut text, event)?;
        text.push(b'\n');
        if text.len() - start > LINE {
            text.truncate(start);
        }
    }
    if text.is_empty() {
        return Ok(());
    }
    match root.append_and_leave(FILE, &text) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            super::make(root)?;
            root.append_and_leave(FILE, &text)
        }
        done => done,
    }
}

/// Puts a ledger that has grown too long aside, over the one before.
pub fn rotate(activity: &Dir) -> io::Result<()> {
    let name = |path: &'static str| path.rsplit('/').next().unwrap_or(path);
    match activity.stat(name(FILE)) {
        Ok(stat) if stat.size > ROTATE => activity.rename(name(FILE), name(ROTATED)),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// A line as a reader sees it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Line {
    at: String,
    /// The session id.
    #[serde(default)]
    pub session_id: String,
    /// The tool.
    #[serde(default)]
    pub tool: String,
    /// The repository path.
    #[serde(default)]
    pub path: String,
    /// What a scan found, of which a reader needs the file's time.
    #[serde(default)]
    pub collision: Option<Found>,
}

/// The part of a collision that is read back.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Found {
    /// The file's time, in milliseconds.
    #[serde(default)]
    pub mtime: Option<i64>,
}

impl Line {
    /// When it was written.
    pub fn at(&self) -> Option<Time> {
        Time::parse(&self.at)
    }
}

/// The lines at the end of the ledger from `since` on, the latest first; at most the last 256 KiB, and as much of the
/// rotated ledger when the first line is later than `since`. Lines that cannot be read are skipped.
pub fn tail(root: &Dir, since: Time) -> Vec<Line> {
    let mut lines = Vec::new();
    if read_back(root, FILE, since, &mut lines) == Reached::Start {
        read_back(root, ROTATED, since, &mut lines);
    }
    lines
}

#[derive(PartialEq, Eq)]
enum Reached {
    Since,
    Start,
}

/// Parallel hooks append in an order of their own; within this time a line may stand behind a later one.
const DISORDER_MS: i64 = 10_000;

fn read_back(root: &Dir, path: &str, since: Time, lines: &mut Vec<Line>) -> Reached {
    let Ok((mut file, stat)) = root.open_file(path) else { return Reached::Start };
    let floor = stat.size.saturating_sub(TAIL);
    let mut from = stat.size;
    // The beginning of a line whose end was in the step before.
    let mut carried: Vec<u8> = Vec::new();
    while from > floor {
        let low = from.saturating_sub(STEP).max(floor);
        let mut bytes = vec![0; (from - low) as usize];
        if file.seek(SeekFrom::Start(low)).and_then(|_| file.read_exact(&mut bytes)).is_err() {
            return Reached::Since;
        }
        bytes.append(&mut carried);
        from = low;
        let mut rest = bytes.as_slice();
        while let Some(cut) = rest.iter().rposition(|byte| *byte == b'\n') {
            let line = &rest[cut + 1..];
            rest = &rest[..cut];
            if push(line, since, lines) == Reached::Since {
                return Reached::Since;
            }
        }
        if low == 0 {
            return push(rest, since, lines);
        }
        carried = rest.to_vec();
    }
    if floor == 0 { Reached::Start } else { Reached::Since }
}

fn push(line: &[u8], since: Time, lines: &mut Vec<Line>) -> Reached {
    let Ok(line) = serde_json::from_slice::<Line>(line) else { return Reached::Start };
    match line.at() {
        Some(at) if since.since(at) > DISORDER_MS => Reached::Since,
        Some(at) if at < since => Reached::Start,
        Some(_) => {
            lines.push(line);
            Reached::Start
        }
        None => Reached::Start,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event<'a>(at: &'a str, path: &'a str) -> Event<'a> {
        Event {
            at,
            session_id: "s",
            tool: "Edit",
            path,
            tool_use_id: None,
            agent_id: None,
            agent_type: None,
            collision: None,
        }
    }

    #[test]
    fn the_tail_is_read_backwards_to_a_moment_and_over_a_rotation() {
        let keep = tempfile::tempdir().unwrap();
        let dir = Dir::open(keep.path().to_str().unwrap()).unwrap();
        let time = |number: i64| Time::from_ms(1_700_000_000_000 + number * 1000);
        let write = |range: std::ops::Range<i64>| {
            for number in range {
                append(&dir, &[event(&time(number).timestamp(), &format!("f{number}"))]).unwrap();
            }
        };
        write(0..300);
        std::fs::rename(keep.path().join(FILE), keep.path().join(ROTATED)).unwrap();
        dir.append_and_leave(FILE, b"{ broken\n\n").unwrap();
        write(300..600);
        let paths =
            |since: i64| tail(&dir, time(since)).into_iter().map(|line| line.path).collect::<Vec<_>>();
        assert_eq!(paths(597), ["f599", "f598", "f597"]);
        assert_eq!(paths(400).len(), 200);
        assert_eq!(paths(200).len(), 400, "the rotated ledger goes on");
        assert_eq!(paths(-5).len(), 600);
        assert_eq!(paths(700).len(), 0);
    }

    #[test]
    fn a_line_that_is_too_long_is_left_out_and_the_others_stay() {
        let keep = tempfile::tempdir().unwrap();
        let dir = Dir::open(keep.path().to_str().unwrap()).unwrap();
        let long = "x".repeat(LINE);
        let at = "2026-01-01T00:00:00.000Z";
        append(&dir, &[event(at, "a"), event(at, &long), event(at, "b\n\"")]).unwrap();
        let text = std::fs::read_to_string(keep.path().join(FILE)).unwrap();
        assert_eq!(text.lines().count(), 2);
        assert!(text.ends_with("\"path\":\"b\\n\\\"\"}\n"));
    }

    #[test]
    fn a_large_ledger_is_put_aside() {
        let keep = tempfile::tempdir().unwrap();
        let dir = Dir::open(keep.path().to_str().unwrap()).unwrap();
        rotate(&super::super::make(&dir).unwrap()).unwrap();
        std::fs::write(keep.path().join(FILE), vec![b'x'; ROTATE as usize + 1]).unwrap();
        rotate(&super::super::make(&dir).unwrap()).unwrap();
        assert!(!keep.path().join(FILE).exists() && keep.path().join(ROTATED).exists());
    }
}
