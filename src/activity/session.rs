//! Session files: who signalled when, and what they touched.

use super::actor::disc;
use crate::clock::Time;
use crate::fs::{Dir, Kind, process_id};
use crate::path::find_byte;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
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

/// What a session file says; its two lists are `L`, because most readers pass over them.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "L: Deserialize<'de> + Default"))]
pub struct Entry<L> {
    /// The session id as received.
    #[serde(rename = "sessionId")]
    pub id: String,
    /// Who the session is.
    #[serde(default)]
    pub actor: Option<String>,
    /// The card the session works on.
    #[serde(default, rename = "cardId")]
    pub card: Option<String>,
    /// When it signalled first, as written.
    #[serde(default)]
    pub started_at: Option<String>,
    /// When it signalled last, as written.
    #[serde(default)]
    pub last_signal_at: Option<String>,
    /// The process that starts the session's hooks: its host.
    #[serde(default)]
    pub host_pid: Option<i64>,
    /// Repository paths, the latest last.
    #[serde(default)]
    pub files_touched: L,
    /// The latest tool calls, the latest last.
    #[serde(default)]
    pub recent_tool_use_ids: L,
}

/// A session as the others see it.
pub type Session = Entry<IgnoredAny>;

/// A session's own file, on the way from one signal to the next. The lists stay as they are written.
pub type Own<'a> = Entry<Option<&'a RawValue>>;

impl<L> Entry<L> {
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
}

impl<'a> Own<'a> {
    /// What a session's file says; `None` when it cannot be read.
    pub fn parse(file: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(file).ok()
    }

    /// Whether the session has signalled for any tool call.
    pub fn has_called(&self) -> bool {
        texts(self.recent_tool_use_ids).next().is_some()
    }

    /// Whether the session has signalled for this tool call already.
    pub fn has_seen(&self, call: &str) -> bool {
        let quoted = quoted(call);
        texts(self.recent_tool_use_ids).any(|known| known == quoted)
    }
}

/// Reads one session's file, in a process that ends soon; `None` when there is none.
pub fn read_file(sessions: &Dir, id: &str) -> Option<Vec<u8>> {
    sessions.read_and_leave(&file_name(id), CAP).ok()
}

/// Writes a session's file after one more signal: everything that is not said now carries over.
pub fn signal(sessions: &Dir, previous: Option<&Own<'_>>, signal: Signal<'_>) -> io::Result<()> {
    sessions.replace(&file_name(signal.id), text(previous, signal).as_bytes())
}

fn text(previous: Option<&Own<'_>>, signal: Signal<'_>) -> String {
    let now = signal.now.timestamp();
    let before = |field: fn(&Own<'_>) -> Option<String>| previous.and_then(field);
    let actor = signal.actor.map(str::to_owned).or_else(|| before(|own| own.actor.clone()));
    let started = before(|own| own.started_at.clone()).unwrap_or_else(|| now.clone());
    let host = signal.host.or_else(|| previous?.host_pid);
    let touched = list(previous.and_then(|own| own.files_touched), signal.touched, TOUCHED);
    let recent = list(previous.and_then(|own| own.recent_tool_use_ids), signal.tool_use, RECENT);
    let mut out = String::with_capacity(512 + touched.len() + recent.len());
    out.push_str("{\n  \"sessionId\": ");
    out.push_str(&quoted(signal.id));
    let mut put = |key: &str, value: &str| {
        out.push_str(",\n  \"");
        out.push_str(key);
        out.push_str("\": ");
        out.push_str(value);
    };
    let or_null = |text: Option<&str>| text.map_or_else(|| "null".to_owned(), quoted);
    put("actor", &or_null(actor.as_deref()));
    put("cardId", &or_null(previous.and_then(|own| own.card.as_deref())));
    put("pid", &process_id().to_string());
    put("startedAt", &quoted(&started));
    put("lastSignalAt", &quoted(&now));
    put("filesTouched", &touched);
    if let Some(host) = host {
        put("hostPid", &host.to_string());
    }
    if recent != "[]" {
        put("recentToolUseIds", &recent);
    }
    out.push_str("\n}\n");
    out
}

/// A text as JSON.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

/// The texts of a list, each as it is written.
fn texts(list: Option<&RawValue>) -> impl Iterator<Item = &str> {
    let mut rest = list.map(RawValue::get).filter(|raw| raw.starts_with('[')).unwrap_or_default();
    std::iter::from_fn(move || {
        let bytes = rest.as_bytes();
        let begin = find_byte(b'"', bytes)?;
        let mut end = begin + 1;
        loop {
            end += find_byte(b'"', &bytes[end..])?;
            let escapes = bytes[begin + 1..end].iter().rev().take_while(|byte| **byte == b'\\').count();
            if escapes % 2 == 0 {
                break;
            }
            end += 1;
        }
        let text = &rest[begin..=end];
        rest = &rest[end + 1..];
        Some(text)
    })
}

/// A list as it is written, with `item` put last: texts are distinct, and there are at most `most`.
fn list(raw: Option<&RawValue>, item: Option<&str>, most: usize) -> String {
    let item = item.map(quoted);
    let Some(item) = &item else {
        return raw.map(RawValue::get).filter(|raw| raw.starts_with('[')).unwrap_or("[]").to_owned();
    };
    let mut all: Vec<&str> = texts(raw).filter(|known| known != item).collect();
    all.push(item);
    format!("[\n    {}\n  ]", all[all.len().saturating_sub(most)..].join(",\n    "))
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
    let mut found: Vec<Session> = names
        .iter()
        .filter_map(|name| serde_json::from_slice(&sessions.read(name, CAP).ok()?).ok())
        .collect();
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
        let first = text(None, signal);
        let own = Own::parse(first.as_bytes()).unwrap();
        assert_eq!(own.started_at.as_deref(), Some("2026-01-01T00:00:00.000Z"));
        assert!(own.has_seen("t1") && !own.has_seen("t") && own.has_called());
        assert!(
            !Own::parse(text(None, Signal { tool_use: None, ..signal }).as_bytes()).unwrap().has_called()
        );
        let later = Signal {
            actor: None,
            host: None,
            touched: None,
            tool_use: None,
            now: at("2026-01-01T00:01:00Z"),
            ..signal
        };
        let second = text(Some(&own), later);
        let wanted = "{\n  \"sessionId\": \"s-1\",\n  \"actor\": \"ann@box\",\n  \"cardId\": null,\n  \"pid\": 0,\n  \
            \"startedAt\": \"2026-01-01T00:00:00.000Z\",\n  \"lastSignalAt\": \"2026-01-01T00:01:00.000Z\",\n  \
            \"filesTouched\": [\n    \"a\"\n  ],\n  \"hostPid\": 7,\n  \"recentToolUseIds\": [\n    \"t1\"\n  ]\n}\n";
        assert_eq!(second, wanted.replace("\"pid\": 0", &format!("\"pid\": {}", process_id())));
    }

    #[test]
    fn the_lists_are_bounded_and_distinct() {
        let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
        let mut written = "[]".to_owned();
        for number in 0..60 {
            written = list(Some(&raw(&written)), Some(&format!("f{number}")), TOUCHED);
        }
        written = list(Some(&raw(&written)), Some("f20"), TOUCHED);
        let all: Vec<String> = serde_json::from_str(&written).unwrap();
        assert_eq!(all.len(), TOUCHED);
        assert_eq!((all[0].as_str(), all[TOUCHED - 1].as_str()), ("f10", "f20"));
        assert_eq!(list(None, None, 3), "[]");
        assert_eq!(list(Some(&raw("{\"a\":[\"b\"]}")), None, 3), "[]");
        assert_eq!(list(Some(&raw("7")), Some("x"), 3), "[\n    \"x\"\n  ]");
    }

    #[test]
    fn a_text_is_found_as_it_was_given() {
        let odd = ["a\"b", "\\", "\\\"", "é\u{1f600}\n", "]", ",", ""];
        let mut written = "[]".to_owned();
        for text in odd {
            written = list(Some(&RawValue::from_string(written).unwrap()), Some(text), 50);
        }
        assert_eq!(serde_json::from_str::<Vec<String>>(&written).unwrap(), odd);
        let file = format!("{{\"sessionId\":\"s\",\"recentToolUseIds\":{written}}}");
        let own = Own::parse(file.as_bytes()).unwrap();
        assert!(odd.iter().all(|text| own.has_seen(text)));
        assert!(!own.has_seen("b") && !own.has_seen("a"));
    }
}
