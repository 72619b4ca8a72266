//! Session files: who signalled when, and what they touched.

use super::actor::disc;
use crate::clock::Time;
use crate::fs::{Dir, Kind, process_id};
use serde::{Deserialize, Serialize};
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

/// The folder of session files, below a root.
pub const FOLDER_PATH: &str = ".project/.cache/activity/sessions";
/// A longer file counts as absent.
const CAP: u64 = 64 * 1024;
/// Paths that are kept.
const TOUCHED: usize = 50;
/// Tool calls that are kept.
const RECENT: usize = 32;
/// Files that are looked at in one folder.
pub const MOST: usize = 1000;

/// What a session file says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// The session id as received.
    #[serde(rename = "sessionId")]
    pub id: String,
    /// Who the session is.
    #[serde(default)]
    pub actor: Option<String>,
    /// The card the session works on.
    #[serde(default, rename = "cardId")]
    pub card: Option<String>,
    /// The hook process that wrote the file.
    #[serde(default)]
    pub pid: Option<i64>,
    /// When it signalled first, as written.
    #[serde(default)]
    pub started_at: Option<String>,
    /// When it signalled last, as written.
    #[serde(default)]
    pub last_signal_at: Option<String>,
    /// Repository paths, the latest last.
    #[serde(default)]
    pub files_touched: Vec<String>,
    /// The process that starts the session's hooks: its host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_pid: Option<i64>,
    /// The latest tool calls, the latest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recent_tool_use_ids: Vec<String>,
}

impl Session {
    /// The session's discriminator.
    pub fn disc(&self) -> Option<String> {
        disc(&self.id)
    }

    /// When it signalled first.
    pub fn started(&self) -> Option<Time> {
        self.started_at.as_deref().and_then(Time::parse)
    }

    /// When it signalled last.
    pub fn last_signal(&self) -> Option<Time> {
        self.last_signal_at.as_deref().and_then(Time::parse)
    }

    /// Reads one session's file, in a process that ends soon; `None` when there is none that can be read.
    pub fn read(sessions: &Dir, id: &str) -> Option<Self> {
        parse(&sessions.read_and_leave(&file_name(id), CAP).ok()?)
    }

    /// The file after one more signal: everything that is not said now carries over.
    pub fn signalled(previous: Option<Self>, signal: Signal<'_>) -> Self {
        let mut next = previous.unwrap_or_default();
        let now = signal.now.timestamp();
        signal.id.clone_into(&mut next.id);
        if let Some(actor) = signal.actor {
            next.actor = Some(actor.to_owned());
        }
        next.pid = Some(i64::from(process_id()));
        next.started_at.get_or_insert_with(|| now.clone());
        next.last_signal_at = Some(now);
        next.host_pid = signal.host.or(next.host_pid);
        if let Some(path) = signal.touched {
            remember(&mut next.files_touched, path, TOUCHED);
        }
        if let Some(call) = signal.tool_use {
            remember(&mut next.recent_tool_use_ids, call, RECENT);
        }
        next
    }

    /// Writes the file.
    pub fn write(&self, sessions: &Dir) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        sessions.replace(&file_name(&self.id), &text)
    }
}

/// One sign of life.
#[derive(Clone, Copy, Debug)]
pub struct Signal<'a> {
    /// The session id as received.
    pub id: &'a str,
    /// Who the session is, when that can be told now.
    pub actor: Option<&'a str>,
    /// Now.
    pub now: Time,
    /// The process that started the hook.
    pub host: Option<i64>,
    /// A repository path that was edited.
    pub touched: Option<&'a str>,
    /// The tool call's id.
    pub tool_use: Option<&'a str>,
}

/// Puts `item` last in a list of distinct texts that holds at most `most`.
fn remember(list: &mut Vec<String>, item: &str, most: usize) {
    list.retain(|known| known != item);
    list.push(item.to_owned());
    let extra = list.len().saturating_sub(most);
    list.drain(..extra);
}

fn parse(bytes: &[u8]) -> Option<Session> {
    serde_json::from_slice(bytes).ok()
}

/// The name of a session's file: the id with every run of other characters than letters, digits, `_`, `.`, `-` as one
/// `_`; a long one is cut and told apart by a hash.
pub fn file_name(id: &str) -> String {
    let mut name = stem(id);
    name.push_str(".json");
    name
}

/// The name of the file that says a session has been started.
pub fn start_name(id: &str) -> String {
    let mut name = stem(id);
    name.push_str(".start");
    name
}

fn stem(id: &str) -> String {
    let mut name = String::with_capacity(id.len() + 6);
    for c in id.chars() {
        if c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-') {
            name.push(c);
        } else if !name.ends_with('\u{0}') {
            // Marks a run until the end, so that an underscore of the id itself is kept.
            name.push('\u{0}');
        }
    }
    let mut name = name.replace('\u{0}', "_");
    if name.len() > 96 {
        name.truncate(80);
        let hash = format!("{:016x}", fnv(id.as_bytes()));
        name.push('-');
        name.push_str(&hash[..15]);
    }
    name
}

/// FNV-1a, 64 bits: tells long ids apart, protects nothing.
fn fnv(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Opens the folder of session files below a root, and makes what is missing of it.
pub fn folder(root: &Dir) -> io::Result<Dir> {
    match root.below(FOLDER_PATH) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => root.make(FOLDER_PATH),
        opened => opened,
    }
}

/// Every session file of a workspace that can be read, the latest signal first.
pub fn all(root: &Path) -> Vec<Session> {
    root.to_str().and_then(|root| Dir::open(root).ok()).map(|root| of(&root)).unwrap_or_default()
}

/// [`all`] of an open root.
pub fn of(root: &Dir) -> Vec<Session> {
    root.below(FOLDER_PATH).map(|sessions| read_all(&sessions)).unwrap_or_default()
}

/// [`all`] of the open folder of session files.
pub fn read_all(sessions: &Dir) -> Vec<Session> {
    let mut names = Vec::new();
    // A folder that cannot be listed to its end still has the sessions read so far.
    let _ = sessions.list(|entry| {
        if entry.kind() == Kind::File
            && let Some(name) = entry.name().to_str().filter(|name| name.rsplit('.').next() == Some("json"))
        {
            names.push(name.to_owned());
        }
        if names.len() < MOST { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    names.sort_unstable();
    let mut found: Vec<Session> =
        names.iter().filter_map(|name| parse(&sessions.read(name, CAP).ok()?)).collect();
    found.sort_by_key(|session| std::cmp::Reverse(session.last_signal()));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_is_plain_and_tells_ids_apart() {
        assert_eq!(file_name("ab-1_2.x"), "ab-1_2.x.json");
        assert_eq!(file_name("../../etc/pa sswd"), ".._.._etc_pa_sswd.json");
        assert_eq!(file_name("a__b"), "a__b.json");
        let long = "é".repeat(40) + &"x".repeat(100);
        assert_eq!(file_name(&long).len(), 80 + 1 + 15 + 5);
        assert_ne!(file_name(&long), file_name(&(long.clone() + "y")));
    }

    #[test]
    fn a_signal_carries_over_what_it_does_not_say() {
        let at = |text| Time::parse(text).unwrap();
        let signal = Signal {
            id: "s-1",
            actor: Some("ann@box"),
            now: at("2026-01-01T00:00:00Z"),
            host: Some(7),
            touched: Some("a"),
            tool_use: Some("t1"),
        };
        let first = Session::signalled(None, signal);
        assert_eq!(first.started_at.as_deref(), Some("2026-01-01T00:00:00.000Z"));
        let later = Signal {
            actor: None,
            host: None,
            touched: None,
            tool_use: None,
            now: at("2026-01-01T00:01:00Z"),
            ..signal
        };
        let second = Session::signalled(Some(first.clone()), later);
        assert_eq!(second.started_at, first.started_at);
        assert_eq!(second.last_signal_at.as_deref(), Some("2026-01-01T00:01:00.000Z"));
        assert_eq!((second.actor, second.host_pid), (Some("ann@box".into()), Some(7)));
        assert_eq!(
            (second.files_touched, second.recent_tool_use_ids),
            (vec!["a".to_owned()], vec!["t1".to_owned()])
        );
    }

    #[test]
    fn the_lists_are_bounded_and_distinct() {
        let mut list = Vec::new();
        for number in 0..60 {
            remember(&mut list, &format!("f{number}"), TOUCHED);
        }
        remember(&mut list, "f20", TOUCHED);
        assert_eq!(list.len(), TOUCHED);
        assert_eq!(list.first().map(String::as_str), Some("f10"));
        assert_eq!(list.last().map(String::as_str), Some("f20"));
    }
}
