//! A throwaway workspace in which somebody else holds a card, and the payloads of a session in it.

use crate::activity::session::{self, Signal};
use crate::clock::Time;
use crate::failure::{Code, Failure};
use crate::fs::{Dir, Throwaway};
use serde_json::{Value as Json, json};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The session that is told and asked.
pub(super) const SESSION: &str = "11111111-0000-4000-8000-000000000001";
/// The card that somebody else holds; every answer about it names it.
pub(super) const CARD: &str = "T-0001";
/// A file in its scope, and one that is in nobody's.
pub(super) const HELD: &str = "held/file.txt";
pub(super) const FREE: &str = "free/file.txt";

const HOLDER_SESSION: &str = "22222222-0000-4000-8000-000000000002";
const HOLDER: &str = "somebody@elsewhere#22222222";

/// How long ago things happened, in milliseconds: the claim, this session's last signal, the change in the scope.
const CLAIMED: i64 = 600_000;
const SIGNALLED: i64 = 60_000;
const CHANGED: Duration = Duration::from_secs(5);

/// The workspace.
pub(super) struct Stage {
    folder: Throwaway,
}

impl Stage {
    /// Makes one outside `repository`, whose vendored binary a shell finds from it.
    pub(super) fn set(repository: &Path) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| {
            Failure::new(Code::INTERNAL_ERROR, format!("no throwaway workspace can be made: {error}"))
        };
        let folder = Throwaway::make("workfile-live").map_err(failed)?;
        let stage = Self { folder };
        let real = repository.canonicalize().unwrap_or_else(|_| repository.to_owned());
        if stage.root().starts_with(&real) {
            let text = format!(
                "the folder for temporary files lies inside {}; set TMPDIR elsewhere",
                real.display()
            );
            return Err(Failure::new(Code::INTERNAL_ERROR, text));
        }
        stage.fill(&real).map_err(failed)?;
        Ok(stage)
    }

    /// Its root.
    pub(super) fn root(&self) -> &Path {
        self.folder.path()
    }

    fn fill(&self, repository: &Path) -> std::io::Result<()> {
        let now = Time::system();
        let since = now.minus(CLAIMED).timestamp();
        let day = now.minus(CLAIMED).date();
        let card = format!(
            "---\nid: {CARD}\ntitle: Held by another session\nstatus: doing\ntype: task\npriority: medium\narea: general\n\
             created: {day}\nupdated: {day}\nclaimed_by: \"{HOLDER}\"\nclaimed_at: \"{since}\"\nscope: [held]\n---\n\nA test.\n"
        );
        let put = |path: &str, text: &str| {
            let path = self.root().join(path);
            std::fs::create_dir_all(path.parent().unwrap_or(self.root()))?;
            std::fs::write(path, text)
        };
        put(".project/VERSION", "{\"schemaVersion\": 2}\n")?;
        put(&format!(".project/cards/{CARD}-held.md"), &card)?;
        put(HELD, "one\n")?;
        put(FREE, "one\n")?;
        let held = File::options().write(true).open(self.root().join(HELD))?;
        held.set_modified(SystemTime::now() - CHANGED)?;
        #[cfg(unix)]
        if repository.join(".project/bin").is_dir() {
            std::os::unix::fs::symlink(repository.join(".project/bin"), self.root().join(".project/bin"))?;
        }
        let _ = repository;
        self.signal(HOLDER_SESSION, Some(HOLDER), now)?;
        self.signal(SESSION, None, now.minus(SIGNALLED))
    }

    fn signal(&self, id: &str, actor: Option<&str>, now: Time) -> std::io::Result<()> {
        let root = self.root().to_str().ok_or(std::io::ErrorKind::InvalidInput)?;
        let sessions = session::folder(&Dir::open(root)?)?;
        let signal = Signal { id, actor, now, host: None, touched: None, tool_use: None };
        session::signal(&sessions, None, signal)
    }

    /// Whether a tool call of this session has left its sign of life.
    pub(super) fn has_heartbeat(&self, call: &str) -> bool {
        let file: PathBuf = self.root().join(session::FOLDER_PATH).join(session::file_name(SESSION));
        let bytes = std::fs::read(file).unwrap_or_default();
        session::Own::parse(&bytes).is_some_and(|own| own.has_seen(call))
    }

    /// A payload of an event of this session.
    pub(super) fn payload(&self, event: &str, more: &Json) -> Json {
        let mut payload = json!({
            "session_id": SESSION,
            "transcript_path": self.root().join("transcript.jsonl"),
            "cwd": self.root(),
            "hook_event_name": event,
        });
        if let (Some(payload), Some(more)) = (payload.as_object_mut(), more.as_object()) {
            payload.extend(more.clone());
        }
        payload
    }

    /// The input of an edit.
    pub(super) fn edit(&self, path: &str) -> Json {
        json!({ "file_path": self.root().join(path), "old_string": "one", "new_string": "two", "replace_all": false })
    }
}
