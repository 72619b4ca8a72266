//! The recorded hook events, each in a workspace of its own. What the parts of a case mean is in `golden/README.md`.

use crate::compare::{Kind, Placeholders, Tree, equal, temporary, tree};
use crate::golden::{Archive, Findings, run_all};
use crate::process::{Ended, run_process};
use crate::world::ACTIVITY;
use filetime::FileTime;
use serde_json::Value as Json;
use std::collections::{BTreeMap, HashMap};
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Instant, SystemTime};
use workfile::clock::Time;

/// How old everything is that does not say otherwise, in seconds.
const AGE_S: u64 = 7200;
const NS: u64 = 1_000_000_000;

/// A case with a time limit may miss it on a busy machine, but not this often.
const TRIES: usize = 3;

#[test]
fn every_recorded_hook_event_is_answered_as_recorded() {
    run_all("hooks", &[], |_, archive| {
        let case: Json = serde_json::from_str(archive.text("case.json")).unwrap();
        let platform = case["platform"].as_str().unwrap();
        if platform != "any" && platform != std::env::consts::OS {
            return Findings::new();
        }
        let tries = if case["budgetMs"].is_null() { 1 } else { TRIES };
        let mut found = Findings::new();
        for _ in 0..tries {
            let program = Command::new(env!("CARGO_BIN_EXE_workfile"));
            found = HookCase::new(archive, case.clone()).run(program, &[]);
            if found.is_empty() {
                break;
            }
        }
        found
    });
}

#[test]
fn no_recorded_answer_depends_on_a_broken_index() {
    run_all("hooks", &[], |_, archive| {
        let case: Json = serde_json::from_str(archive.text("case.json")).unwrap();
        let platform = case["platform"].as_str().unwrap();
        if (platform != "any" && platform != std::env::consts::OS)
            || !archive.below("workspace").any(is_board)
        {
            return Findings::new();
        }
        let damages: [(&str, Damage); 5] = [
            ("of another board", |stamp| stamp.head(VERSION, 1, 0).into_bytes()),
            ("of another version", |stamp| stamp.head("workfile-index 99", 0, 0).into_bytes()),
            ("cut off behind its head", |stamp| stamp.head(VERSION, 0, 40).into_bytes()),
            ("cut off in its head", |stamp| stamp.head(VERSION, 0, 0).into_bytes()[..30].to_vec()),
            ("garbage", |stamp| [stamp.head(VERSION, 0, GARBAGE.len()).as_bytes(), GARBAGE].concat()),
        ];
        let mut found = Findings::new();
        for (damage, make) in damages {
            // Time limits are the other test's.
            let mut case = case.clone();
            case["budgetMs"] = Json::Null;
            let hook = HookCase::new(archive, case);
            let board = hook.places.root.join(format!("{ACTIVITY}/board.json"));
            let cards = hook.places.root.join(".project/cards");
            let (Ok(board), Ok(cards)) = (board.symlink_metadata(), cards.symlink_metadata()) else {
                continue;
            };
            let bytes = make(&Stamp { board, cards });
            write(&hook.places.root.join(format!("{ACTIVITY}/board.idx")), &bytes);
            let program = Command::new(env!("CARGO_BIN_EXE_workfile"));
            found.extend(hook.run(program, &[]).into_iter().map(|line| format!("index {damage}: {line}")));
        }
        found
    });
}

fn is_board((name, _): (&str, &[u8])) -> bool {
    name.ends_with("activity/board.json")
}

/// Makes an index that is broken in one way.
type Damage = fn(&Stamp) -> Vec<u8>;

const GARBAGE: &[u8] = b"\xffP0000\n\0\0G9999garbage\n...";

/// How an index begins that this program reads.
const VERSION: &str = "workfile-index 2";

/// What an index is written from.
struct Stamp {
    board: Metadata,
    cards: Metadata,
}

impl Stamp {
    /// The first line of an index without claims, its inode too large by `off`, as if `follows` bytes came behind it.
    fn head(&self, version: &str, off: u64, follows: usize) -> String {
        let ns = |file: &Metadata| {
            let time = FileTime::from_last_modification_time(file);
            time.unix_seconds() * 1_000_000_000 + i64::from(time.nanoseconds())
        };
        let (board, cards) = (ns(&self.board), ns(&self.cards));
        let (inode, size) = (inode(&self.board) + off, self.board.len());
        format!("{version} {inode} {size} {board} {cards} {follows}\n")
    }
}

#[cfg(unix)]
fn inode(file: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(file)
}

#[cfg(not(unix))]
fn inode(_: &Metadata) -> u64 {
    0
}

/// One case, set up in a directory of its own.
pub(crate) struct HookCase<'a> {
    archive: &'a Archive,
    case: Json,
    /// Holds the workspace, a place outside, a link to the workspace and a home.
    base: tempfile::TempDir,
    places: Places,
}

impl<'a> HookCase<'a> {
    /// Sets the case up, in the order that the README gives.
    pub(crate) fn new(archive: &'a Archive, case: Json) -> Self {
        let base = tempfile::Builder::new().prefix("hook-").tempdir().unwrap();
        let places = Places::new(&base.path().canonicalize().unwrap());
        let this = Self { archive, case, base, places };
        this.copy();
        let mut ages = this.generate();
        this.place_others();
        for (path, age) in this.object("ages") {
            ages.insert(this.places.locate(path), age.as_u64().unwrap());
        }
        this.set_times(&ages);
        this
    }

    fn object(&self, key: &str) -> impl Iterator<Item = (&String, &Json)> {
        self.case.get(key).and_then(Json::as_object).into_iter().flatten()
    }

    fn paths(&self, key: &str) -> impl Iterator<Item = &str> {
        self.case["expect"]
            .get(key)
            .and_then(Json::as_array)
            .into_iter()
            .flatten()
            .map(|path| path.as_str().unwrap())
    }

    fn copy(&self) {
        for (name, bytes) in self.archive.below("workspace") {
            let path = self.places.root.join(name);
            if name.ends_with('/') {
                std::fs::create_dir_all(path).unwrap();
            } else {
                write(&path, &self.places.fill_file(name, bytes));
            }
        }
    }

    fn generate(&self) -> HashMap<PathBuf, u64> {
        let Some(made) = self.case.get("generate") else { return HashMap::new() };
        let text = |key: &str| made[key].as_str().unwrap();
        let one = |number| {
            let path = self.places.root.join(format!("{}{number:04}{}", text("prefix"), text("suffix")));
            write(&path, b"x\n");
            (path, made["ageSeconds"].as_u64().unwrap())
        };
        (0..made["count"].as_u64().unwrap()).map(one).collect()
    }

    fn place_others(&self) {
        for name in self.case.get("gitFiles").and_then(Json::as_array).into_iter().flatten() {
            write(&self.places.root.join(name.as_str().unwrap()), b"gitdir: elsewhere\n");
        }
        for (name, text) in self.object("outside") {
            write(&self.places.outside.join(name), text.as_str().unwrap().as_bytes());
        }
        for (name, target) in self.object("links") {
            let target = self.places.root.join(self.places.fill(target.as_str().unwrap(), Escape::No));
            link(&target, &self.places.root.join(name));
        }
    }

    /// Files first, because a new file would move its directory's time.
    fn set_times(&self, ages: &HashMap<PathBuf, u64>) {
        let set = |path: &Path, age: u64| {
            let ns = self.places.now - age * NS;
            let time = FileTime::from_unix_time((ns / NS) as i64, (ns % NS) as u32);
            filetime::set_file_mtime(path, time).unwrap();
        };
        for top in [&self.places.root, &self.places.outside] {
            for name in tree(top).keys() {
                let path = top.join(name);
                if path.is_file() && !path.is_symlink() {
                    set(&path, ages.get(&path).copied().unwrap_or(AGE_S));
                }
            }
        }
        for name in tree(&self.places.root).keys() {
            let path = self.places.root.join(name);
            if path.is_dir() && !path.is_symlink() {
                set(&path, AGE_S);
            }
        }
        set(&self.places.root, AGE_S);
    }

    /// Runs the event with `program` and says what is not as recorded. Without `args` of its own the program is
    /// called as `program hook EVENT`.
    pub(crate) fn run(&self, mut program: Command, args: &[String]) -> Findings {
        let event = self.case["event"].as_str().unwrap().to_owned();
        let usual = ["hook".to_owned(), event];
        let env: BTreeMap<String, String> =
            serde_json::from_str(&self.places.fill(self.archive.text("env.json"), Escape::Json)).unwrap();
        program.args(if args.is_empty() { &usual[..] } else { args });
        program.env_clear().env("PATH", path_with_the_program());
        program.env(if cfg!(windows) { "USERPROFILE" } else { "HOME" }, self.base.path().join("home"));
        program.envs(env).current_dir(&self.places.root);
        let stdin =
            ["stdin.json", "stdin.txt"].into_iter().find(|name| self.archive.files.contains_key(*name));
        let stdin = stdin.expect("every case has a payload");
        let stdin = self.places.fill_file(stdin, &self.archive.files[stdin]);

        let (before, outside) = (tree(&self.places.root), tree(&self.places.outside));
        let earlier = self.ledger();
        let started = Instant::now();
        let ended = run_process(&mut program, &stdin);
        let mut found = Findings::new();
        if let Some(budget) = self.case["budgetMs"].as_u64() {
            let took = started.elapsed().as_millis();
            if took > u128::from(budget) {
                found.push(format!("time: at most {budget} ms, took {took} ms"));
            }
        }
        self.check_answer(&ended, &mut found);
        self.check_ledger(&earlier, &mut found);
        self.check_files(&mut found);
        self.check_rest(&before, &outside, &mut found);
        found
    }

    fn check_answer(&self, ended: &Ended, found: &mut Findings) {
        let expect = &self.case["expect"];
        equal("exit", &expect["exit"].as_i64().map(|code| code as i32), &ended.code, found);
        let (stdout, stderr) =
            (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
        match expect["stdout"].as_str() {
            None => equal("stdout", &"", &&*stdout, found),
            Some(file) => match serde_json::from_str::<Json>(&stdout) {
                Ok(got)
                    if got.is_object() && stdout.ends_with("}\n") && stdout.matches('\n').count() == 1 =>
                {
                    placeholders().json("stdout", &self.expected(file), &got, found);
                }
                _ => found.push(format!("stdout: one JSON object and a line feed are due, got {stdout:?}")),
            },
        }
        match expect["stderr"].as_str().unwrap() {
            "any" => {}
            "empty" => equal("stderr", &"", &&*stderr, found),
            "nonempty" => equal("stderr is empty", &false, &stderr.is_empty(), found),
            other => panic!("stderr cannot be expected to be {other}"),
        }
    }

    fn check_ledger(&self, earlier: &[String], found: &mut Findings) {
        let lines = self.ledger();
        let kept = earlier.len().min(lines.len());
        equal("the earlier ledger", &earlier, &&lines[..kept], found);
        let added = &lines[kept..];
        equal(
            "ledger lines appended",
            &self.case["expect"]["ledgerAppended"].as_u64(),
            &Some(added.len() as u64),
            found,
        );
        if self.archive.files.contains_key("expected/ledger.jsonl") {
            let expected = self.places.fill(self.archive.text("expected/ledger.jsonl"), Escape::Json);
            for (number, (want, got)) in expected.lines().zip(added).enumerate() {
                let at = format!("ledger[{number}]");
                match serde_json::from_str(got) {
                    Ok(line) if got.ends_with('\n') => {
                        placeholders().json(&at, &serde_json::from_str(want).unwrap(), &line, found);
                    }
                    _ => found.push(format!("{at}: a whole line of JSON is due, got {got:?}")),
                }
            }
        }
    }

    fn check_files(&self, found: &mut Findings) {
        let expect = &self.case["expect"];
        let board = expect["board"].as_str().map(|file| (file, format!("{ACTIVITY}/board.json")));
        let session = expect["session"].as_str().map(|path| ("session.json", path.to_owned()));
        for (file, path) in board.into_iter().chain(session) {
            let bytes = (!self.places.root.join(&path).is_symlink()).then(|| self.read(&path)).flatten();
            match bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()) {
                Some(got) => placeholders().json(&path, &self.expected(file), &got, found),
                None => found.push(format!("{path}: a file of JSON is due")),
            }
        }
        let there = |path: PathBuf| path.symlink_metadata().is_ok();
        for path in self.paths("absent") {
            equal(&format!("{path} is there"), &false, &there(self.places.root.join(path)), found);
        }
        for path in self.paths("absentOutside") {
            equal(
                &format!("{{OUTSIDE}}/{path} is there"),
                &false,
                &there(self.places.outside.join(path)),
                found,
            );
        }
        for path in self.paths("present") {
            equal(&format!("{path} is there"), &true, &there(self.places.root.join(path)), found);
        }
    }

    /// Nothing else appears, vanishes or changes outside the cache, and no temporary file stays anywhere.
    fn check_rest(&self, before: &Tree, outside: &Tree, found: &mut Findings) {
        let after = tree(&self.places.root);
        let left = temporary(&after).into_iter().filter(|path| !before.contains_key(*path));
        found.extend(left.map(|path| format!("left behind: {path}")));
        let elsewhere = |tree: &Tree| -> Tree {
            let cached = |path: &str| format!("/{path}/").contains("/.project/.cache/");
            tree.iter()
                .filter(|(path, _)| !cached(path))
                .map(|(path, entry)| (path.clone(), entry.clone()))
                .collect()
        };
        placeholders().tree("", &elsewhere(before), &elsewhere(&after), found);
        placeholders().tree("{OUTSIDE}/", outside, &tree(&self.places.outside), found);
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        std::fs::read(self.places.root.join(path)).ok()
    }

    /// The lines of the ledger with their line feeds; a link is none.
    fn ledger(&self) -> Vec<String> {
        let path = format!("{ACTIVITY}/events.jsonl");
        let linked = self.places.root.join(&path).is_symlink();
        let text = self.read(&path).filter(|_| !linked).map(|bytes| String::from_utf8(bytes).unwrap());
        text.unwrap_or_default().split_inclusive('\n').map(str::to_owned).collect()
    }

    fn expected(&self, file: &str) -> Json {
        let text = self.archive.text(&format!("expected/{file}"));
        serde_json::from_str(&self.places.fill(text, Escape::Json)).unwrap()
    }
}

/// The search path of this process, behind the folder of the program under test.
fn path_with_the_program() -> std::ffi::OsString {
    let folder = Path::new(env!("CARGO_BIN_EXE_workfile")).parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap();
    std::env::join_paths([folder].into_iter().chain(std::env::split_paths(&path))).unwrap()
}

/// The directories of a case and the moment it is set up at; what placeholders become.
struct Places {
    root: PathBuf,
    outside: PathBuf,
    alias: PathBuf,
    /// Nanoseconds since the epoch.
    now: u64,
}

/// Whether a filled-in path stands in a JSON string.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Escape {
    Json,
    No,
}

impl Places {
    fn new(base: &Path) -> Self {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos();
        let [root, outside, home] = ["workspace", "outside", "home"].map(|name| base.join(name));
        for folder in [&root, &outside, &home] {
            std::fs::create_dir(folder).unwrap();
        }
        let alias = base.join("alias");
        link(&root, &alias);
        Self { root, outside, alias, now: u64::try_from(now).unwrap() }
    }

    fn locate(&self, path: &str) -> PathBuf {
        path.strip_prefix("{OUTSIDE}/").map_or_else(|| self.root.join(path), |rest| self.outside.join(rest))
    }

    fn fill_file(&self, name: &str, bytes: &[u8]) -> Vec<u8> {
        let json = Path::new(name).extension().is_some_and(|end| end == "json" || end == "jsonl");
        match std::str::from_utf8(bytes) {
            Ok(text) => self.fill(text, if json { Escape::Json } else { Escape::No }).into_bytes(),
            Err(_) => bytes.to_vec(),
        }
    }

    fn fill(&self, text: &str, escape: Escape) -> String {
        let mut text = text.to_owned();
        for (name, path) in [("{ROOT}", &self.root), ("{OUTSIDE}", &self.outside), ("{ALIAS}", &self.alias)] {
            let path = path.to_str().unwrap();
            let quoted = serde_json::to_string(path).unwrap();
            let inside = if escape == Escape::Json { &quoted[1..quoted.len() - 1] } else { path };
            text = text.replace(name, inside);
        }
        let ms = i64::try_from(self.now / 1_000_000).unwrap();
        text = text.replace("{CARDS_MTIME_NS}", &(self.now - AGE_S * NS).to_string());
        text = text.replace("\"{PPID}\"", &std::process::id().to_string());
        text = replace_seconds(&text, "\"{NOWMS-", "s}\"", |ago| (ms - ago * 1000).to_string());
        replace_seconds(&text, "{NOW-", "s}", |ago| Time::from_ms(ms - ago * 1000).timestamp())
    }
}

/// `text` with every `OPEN…digits…CLOSE` replaced by what `value` makes of the digits.
fn replace_seconds(text: &str, open: &str, close: &str, value: impl Fn(i64) -> String) -> String {
    let mut parts = text.split(open);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (seconds, rest) = part.split_once(close).unwrap_or_else(|| panic!("{open}{part}"));
        out += &value(seconds.parse().unwrap());
        out += rest;
    }
    out
}

fn placeholders() -> Placeholders<'static> {
    Placeholders(vec![("{ANY}", Kind::Any), ("{TIME}", Kind::Time)])
}

fn write(path: &Path, bytes: &[u8]) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

#[cfg(unix)]
fn link(target: &Path, path: &Path) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(target, path).unwrap();
}

#[cfg(windows)]
fn link(target: &Path, path: &Path) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    if target.is_dir() {
        std::os::windows::fs::symlink_dir(target, path).unwrap();
    } else {
        std::os::windows::fs::symlink_file(target, path).unwrap();
    }
}

#[test]
fn placeholders_of_the_set_up_become_values() {
    let base = tempfile::tempdir().unwrap();
    let places =
        Places { now: 1_768_471_200_123_456_789, ..Places::new(&base.path().canonicalize().unwrap()) };
    let filled = places.fill("{NOW-60s} \"{NOWMS-5s}\" {CARDS_MTIME_NS} {TIME}", Escape::No);
    assert_eq!(filled, "2026-01-15T09:59:00.123Z 1768471195123 1768464000123456789 {TIME}");
    assert_eq!(places.fill("{ROOT}/a", Escape::Json), format!("{}/a", places.root.display()));
    assert_eq!(places.locate("{OUTSIDE}/b"), places.outside.join("b"));
}
