//! Locks as files: one process at a time changes a record, and a dead one does not stop the others.
//!
//! A lock carries the process, the host and a random token. It is broken only when its process is gone on this host or
//! when it is too old, and then by renaming it away first: what was renamed must be what was judged.

use super::{Dir, Kind, Stat, process_id};
use crate::clock::Time;
use crate::failure::{Code, Failure};
use serde_json::{Map, Value};
use std::ffi::OsStr;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a writer waits for a lock.
const WAIT: Duration = Duration::from_secs(5);
/// How often it looks.
const STEP: Duration = Duration::from_millis(25);
/// From this age on a lock is nobody's.
const STALE_MS: i64 = 50_000;
/// The end of the name of a lock that is not in its place yet.
const NEW: &str = ".new";
/// The end of the name of one that was broken.
const BROKEN: &str = ".broken";
/// More than a lock file of ours ever has.
const CAP: u64 = 4096;

/// What a lock stands for; its file says so.
#[derive(Clone, Copy, Debug)]
pub enum Purpose<'a> {
    /// Changing one record of a module.
    Record {
        /// The module, `cards` for instance.
        module: &'a str,
        /// The record's id.
        id: &'a str,
    },
    /// Keeping an id while its record is made.
    Reservation {
        /// The id.
        id: &'a str,
    },
}

/// A lock that is held; dropping it gives it back.
#[derive(Debug)]
pub struct Lock {
    folder: Dir,
    name: String,
    token: String,
}

impl Lock {
    /// Waits up to five seconds for `<root>/<folder>/<name>`. `folder` is a relative path with `/`.
    ///
    /// `WRITE_LOCK_TIMEOUT` when somebody holds it that long, details `{lockPath, owner, heldForMs, lastError}`.
    pub fn take(root: &Path, folder: &str, name: &str, purpose: Purpose<'_>) -> Result<Self, Failure> {
        let start = Instant::now();
        let path = format!("{folder}/{name}");
        loop {
            let error = match Self::attempt(root, folder, name, purpose)? {
                Attempt::Got(lock) => return Ok(lock),
                Attempt::Held(error) => error,
            };
            if start.elapsed() >= WAIT {
                return Err(timed_out(&root.join(&path), held_by(root, &path), start.elapsed(), &error));
            }
            std::thread::sleep(STEP);
        }
    }

    /// Takes the lock if nobody alive has it; `None` when somebody does.
    pub fn try_take(
        root: &Path,
        folder: &str,
        name: &str,
        purpose: Purpose<'_>,
    ) -> Result<Option<Self>, Failure> {
        match Self::attempt(root, folder, name, purpose)? {
            Attempt::Got(lock) => Ok(Some(lock)),
            Attempt::Held(_) => Ok(None),
        }
    }

    fn attempt(root: &Path, folder: &str, name: &str, purpose: Purpose<'_>) -> Result<Attempt, Failure> {
        let path = root.join(folder);
        let fail = |error: io::Error| Failure::io("take the lock", &path.join(name), &error);
        let text = root.to_str().ok_or_else(|| fail(io::ErrorKind::InvalidFilename.into()))?;
        let dir = Dir::open(text).and_then(|root| root.make(folder)).map_err(fail)?;
        // Two rounds: a stale lock that is broken in the first is taken in the second.
        for _ in 0..2 {
            let token = token();
            match create(&dir, name, &content(purpose, &token), &token) {
                Ok(()) => {
                    sweep(&dir);
                    return Ok(Attempt::Got(Self { folder: dir, name: name.to_owned(), token }));
                }
                Err(error) if is_contention(&error) => {
                    if !break_stale(&dir, name) {
                        return Ok(Attempt::Held(error));
                    }
                }
                Err(error) => return Err(fail(error)),
            }
        }
        Ok(Attempt::Held(io::ErrorKind::AlreadyExists.into()))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // After 50 seconds somebody else may have taken it over; theirs stays.
        if read(&self.folder, &self.name)
            .is_some_and(|text| owner(&text).token.as_deref() == Some(&self.token))
        {
            let _ = self.folder.remove(&self.name);
        }
    }
}

enum Attempt {
    Got(Lock),
    Held(io::Error),
}

/// Makes the lock with its content in it: a process that is killed in between must not leave a lock that names nobody,
/// which would stand until it is too old.
fn create(dir: &Dir, name: &str, content: &[u8], token: &str) -> io::Result<()> {
    let put = |name: &str| {
        let written = dir.create(name)?.write_all(content);
        if written.is_err() {
            let _ = dir.remove(name);
        }
        written
    };
    if dir.stat(name).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let aside = format!("{name}.{token}{NEW}");
    put(&aside)?;
    let linked = dir.link(&aside, name);
    let _ = dir.remove(&aside);
    match linked {
        Err(error) if !is_contention(&error) => put(name),
        linked => linked,
    }
}

/// Removes what killed processes have left beside locks, once nobody can be about to use it.
fn sweep(dir: &Dir) {
    let mut left = Vec::new();
    let _ = dir.list(|entry| {
        let name = entry.name().to_str().filter(|name| name.ends_with(NEW) || name.ends_with(BROKEN));
        let old = |stat: Stat| is_old(Time::from_ms(stat.mtime_ns / 1_000_000));
        left.extend(name.filter(|_| entry.stat().is_ok_and(old)).map(str::to_owned));
        ControlFlow::Continue(())
    });
    for name in left {
        let _ = dir.remove(&name);
    }
}

fn is_old(written: Time) -> bool {
    Time::system().since(written).abs() > STALE_MS
}

fn is_contention(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::AlreadyExists
        || (cfg!(windows)
            && matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ResourceBusy))
}

fn token() -> String {
    format!("{:016x}", fastrand::u64(..))
}

fn content(purpose: Purpose<'_>, token: &str) -> Vec<u8> {
    let mut map = Map::new();
    if let Purpose::Reservation { id } = purpose {
        map.insert("id".to_owned(), id.into());
    }
    map.insert("pid".to_owned(), process_id().into());
    map.insert("createdAt".to_owned(), Time::system().timestamp().into());
    if let Purpose::Record { module, id } = purpose {
        map.insert("module".to_owned(), module.into());
        map.insert("recordId".to_owned(), id.into());
    }
    map.insert("host".to_owned(), host().into());
    map.insert("token".to_owned(), token.into());
    let mut line = Value::Object(map).to_string().into_bytes();
    line.push(b'\n');
    line
}

struct Owner {
    json: Option<Value>,
    pid: Option<i64>,
    host: Option<String>,
    created: Option<Time>,
    token: Option<String>,
}

impl Owner {
    /// Whether it was a process of this host that is not there any more.
    fn is_gone(&self) -> bool {
        self.host.as_deref().is_none_or(|host| host == self::host()) && self.pid.is_some_and(is_gone)
    }
}

fn owner(text: &[u8]) -> Owner {
    let json: Option<Value> = serde_json::from_slice(text).ok();
    let field = |name: &str| json.as_ref().and_then(|json| json.get(name));
    let text_of = |name: &str| field(name).and_then(Value::as_str).map(str::to_owned);
    Owner {
        pid: field("pid").and_then(Value::as_i64),
        host: text_of("host"),
        created: field("createdAt").and_then(Value::as_str).and_then(Time::parse),
        token: text_of("token"),
        json,
    }
}

fn read(dir: &Dir, name: &str) -> Option<Vec<u8>> {
    dir.read(name, CAP).ok()
}

/// Whether the lock is out of the way now: it was stale and is broken, or it is gone.
fn break_stale(dir: &Dir, name: &str) -> bool {
    let Ok(stat) = dir.stat(name) else { return true };
    let judged = read(dir, name);
    let found = judged.as_deref().map(owner);
    // A time that has yet to come was not written by a clock: such a lock would never get old.
    let written = Time::from_ms(stat.mtime_ns / 1_000_000);
    let created =
        found.as_ref().and_then(|found| found.created).map_or(written, |created| created.min(written));
    let old = is_old(created);
    let dead = found.as_ref().is_some_and(Owner::is_gone);
    if !old && !dead {
        return false;
    }
    let aside = format!("{name}.{}{BROKEN}", token());
    if let Err(error) = dir.rename(name, &aside) {
        return error.kind() == io::ErrorKind::NotFound;
    }
    if read(dir, &aside) != judged {
        // Another process broke it first and holds it by now: it gets its lock back.
        let back = dir.link(&aside, name);
        let _ = dir.remove(&aside);
        return back.is_err();
    }
    let _ = dir.remove(&aside);
    true
}

/// What the lock at `path` below `root` says, when it is a file: whatever else stands there is not waited for.
fn held_by(root: &Path, path: &str) -> Option<Owner> {
    let text = read(&Dir::open(root.to_str()?).ok()?, path)?;
    Some(owner(&text))
}

fn timed_out(path: &Path, found: Option<Owner>, waited: Duration, error: &io::Error) -> Failure {
    let held =
        found.as_ref().and_then(|found| found.created).map(|created| Time::system().since(created).max(0));
    let who = match found.as_ref().and_then(|found| found.pid) {
        Some(pid) => format!("process {pid}"),
        None => "somebody".to_owned(),
    };
    let text = format!("{} is held by {who}; waited {} ms", path.display(), waited.as_millis());
    Failure::new(Code::WRITE_LOCK_TIMEOUT, text)
        .with("lockPath", path.display().to_string())
        .with("owner", found.and_then(|found| found.json).unwrap_or(Value::Null))
        .with("heldForMs", held.map_or(Value::Null, Value::from))
        .with("lastError", error.to_string())
}

/// A lock as somebody finds it.
#[derive(Clone, Debug)]
pub struct Standing {
    /// Its path from the root.
    pub path: String,
    /// The record or the id that it stands for, when it says so.
    pub record: Option<String>,
    /// The process that made it.
    pub pid: Option<i64>,
    /// Since when it stands.
    pub since: Time,
    /// Whether that process was on this host and is gone.
    pub owner_is_gone: bool,
}

/// Every lock in the folders below `<root>/<folder>`, by path. Nothing is waited for.
pub fn standing_locks(root: &Path, folder: &str) -> Vec<Standing> {
    let mut found = Vec::new();
    let Some(top) =
        root.to_str().and_then(|root| Dir::open(root).ok()).and_then(|root| root.below(folder).ok())
    else {
        return found;
    };
    let mut waiting = vec![String::new()];
    while let Some(at) = waiting.pop() {
        let dir = if at.is_empty() { top.enter(OsStr::new(".")) } else { top.below(&at) };
        let Ok(dir) = dir else { continue };
        let _ = dir.list(|entry| {
            let Some(name) = entry.name().to_str() else { return ControlFlow::Continue(()) };
            let path = if at.is_empty() { name.to_owned() } else { format!("{at}/{name}") };
            match entry.kind() {
                Kind::Dir if at.matches('/').count() < 3 => waiting.push(path),
                Kind::File if name.as_bytes().ends_with(b".lock") => {
                    found.extend(standing(&dir, name, format!("{folder}/{path}")));
                }
                _ => {}
            }
            ControlFlow::Continue(())
        });
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

fn standing(dir: &Dir, name: &str, path: String) -> Option<Standing> {
    let stat = dir.stat(name).ok()?;
    let owner = read(dir, name).as_deref().map(owner);
    let written = Time::from_ms(stat.mtime_ns / 1_000_000);
    let since =
        owner.as_ref().and_then(|owner| owner.created).map_or(written, |created| created.min(written));
    let text = |owner: &Owner, key: &str| owner.json.as_ref()?.get(key)?.as_str().map(str::to_owned);
    let record = owner.as_ref().and_then(|owner| text(owner, "recordId").or_else(|| text(owner, "id")));
    let (pid, owner_is_gone) = owner.as_ref().map_or((None, false), |owner| (owner.pid, owner.is_gone()));
    Some(Standing { path, record, pid, since, owner_is_gone })
}

#[cfg(unix)]
fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(not(unix))]
fn host() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_default()
}

/// Whether no such process exists on this host; one that may not be signalled does.
#[cfg(unix)]
fn is_gone(pid: i64) -> bool {
    let Some(pid) = i32::try_from(pid).ok().filter(|pid| *pid > 0).and_then(rustix::process::Pid::from_raw)
    else {
        return true;
    };
    matches!(rustix::process::test_kill_process(pid), Err(rustix::io::Errno::SRCH))
}

/// Without a way to ask, a lock lasts until it is too old.
#[cfg(not(unix))]
fn is_gone(_pid: i64) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    const CARD: Purpose<'_> = Purpose::Record { module: "cards", id: "T-0001" };

    fn plant(root: &Path, text: &str) {
        std::fs::create_dir_all(root.join("locks")).unwrap();
        std::fs::write(root.join("locks/x.lock"), text).unwrap();
    }

    #[test]
    fn a_lock_is_held_once_and_given_back() {
        let root = tempfile::tempdir().unwrap();
        let first = Lock::take(root.path(), "locks", "x.lock", CARD).unwrap();
        assert!(Lock::try_take(root.path(), "locks", "x.lock", CARD).unwrap().is_none());
        let text = std::fs::read_to_string(root.path().join("locks/x.lock")).unwrap();
        let json: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(json["recordId"], "T-0001");
        assert!(text.ends_with("}\n"));
        drop(first);
        assert!(Lock::try_take(root.path(), "locks", "x.lock", CARD).unwrap().is_some());
    }

    #[test]
    fn a_lock_is_never_seen_without_its_owner() {
        let root = tempfile::tempdir().unwrap();
        let folder = Dir::open(root.path().to_str().unwrap()).unwrap().make("locks").unwrap();
        let busy = std::sync::atomic::AtomicBool::new(true);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..500 {
                    drop(Lock::take(root.path(), "locks", "x.lock", CARD).unwrap());
                }
                busy.store(false, std::sync::atomic::Ordering::Relaxed);
            });
            while busy.load(std::sync::atomic::Ordering::Relaxed) {
                if let Some(text) = read(&folder, "x.lock") {
                    assert!(owner(&text).token.is_some(), "{text:?}");
                }
            }
        });
        assert_eq!(
            std::fs::read_dir(root.path().join("locks")).unwrap().count(),
            0,
            "nothing is left beside it"
        );
    }

    #[test]
    fn h25_a_dead_owner_an_old_lock_and_an_old_empty_lock_are_broken() {
        let root = tempfile::tempdir().unwrap();
        let now = Time::system().timestamp();
        let dead = format!("{{\"pid\":999999999,\"createdAt\":\"{now}\"}}");
        let old = format!("{{\"pid\":{},\"createdAt\":\"2020-01-01T00:00:00.000Z\"}}", std::process::id());
        for text in [&dead, &old] {
            plant(root.path(), text);
            assert!(Lock::try_take(root.path(), "locks", "x.lock", CARD).unwrap().is_some(), "{text}");
        }
        plant(root.path(), "");
        assert!(
            Lock::try_take(root.path(), "locks", "x.lock", CARD).unwrap().is_none(),
            "fresh and unreadable"
        );
        let past = filetime::FileTime::from_unix_time(1_600_000_000, 0);
        filetime::set_file_mtime(root.path().join("locks/x.lock"), past).unwrap();
        assert!(Lock::try_take(root.path(), "locks", "x.lock", CARD).unwrap().is_some());
        assert_eq!(std::fs::read_dir(root.path().join("locks")).unwrap().count(), 0, "nothing is left aside");
    }

    #[test]
    fn what_killed_writers_left_goes_with_the_next_lock() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join("locks").join(name);
        std::fs::create_dir_all(at("")).unwrap();
        let leave = |name: &str, age: u64| {
            std::fs::write(at(name), "{}").unwrap();
            let time = std::time::SystemTime::now() - Duration::from_secs(age);
            filetime::set_file_mtime(at(name), filetime::FileTime::from_system_time(time)).unwrap();
        };
        for (name, age) in
            [("x.lock.1.new", 60), ("y.lock.2.broken", 60), ("z.lock.3.new", 1), ("note.txt", 60)]
        {
            leave(name, age);
        }
        drop(Lock::take(root.path(), "locks", "x.lock", CARD).unwrap());
        let mut left: Vec<_> = std::fs::read_dir(at("")).unwrap().map(|it| it.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["note.txt", "z.lock.3.new"], "a fresh one may be somebody's");
    }

    #[test]
    fn a_lock_from_the_future_gets_old_all_the_same() {
        let root = tempfile::tempdir().unwrap();
        let text = format!("{{\"pid\":{},\"createdAt\":\"2999-01-01T00:00:00.000Z\"}}", std::process::id());
        plant(root.path(), &text);
        assert!(Lock::try_take(root.path(), "locks", "x.lock", CARD).unwrap().is_none(), "written just now");
        for seconds in [1_600_000_000, 32_000_000_000] {
            plant(root.path(), &text);
            let time = filetime::FileTime::from_unix_time(seconds, 0);
            filetime::set_file_mtime(root.path().join("locks/x.lock"), time).unwrap();
            assert!(Lock::try_take(root.path(), "locks", "x.lock", CARD).unwrap().is_some(), "{seconds}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn who_holds_a_lock_is_read_from_files_only() {
        let root = tempfile::tempdir().unwrap();
        plant(root.path(), "{\"pid\":7}");
        assert_eq!(held_by(root.path(), "locks/x.lock").unwrap().pid, Some(7));
        let pipe = root.path().join("locks/pipe.lock");
        assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
        assert!(held_by(root.path(), "locks/pipe.lock").is_none());
    }

    #[test]
    fn h25_a_process_of_another_host_is_not_judged_here() {
        let root = tempfile::tempdir().unwrap();
        let now = Time::system().timestamp();
        plant(root.path(), &format!("{{\"pid\":999999999,\"createdAt\":\"{now}\",\"host\":\"elsewhere\"}}"));
        assert!(Lock::try_take(root.path(), "locks", "x.lock", CARD).unwrap().is_none());
    }

    #[test]
    fn h25_a_lock_that_changed_hands_is_not_given_back_by_the_old_owner() {
        let root = tempfile::tempdir().unwrap();
        let lock = Lock::take(root.path(), "locks", "x.lock", CARD).unwrap();
        plant(root.path(), "{\"token\":\"theirs\"}");
        drop(lock);
        assert!(root.path().join("locks/x.lock").exists());
    }
}
