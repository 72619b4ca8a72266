//! The cache of texts never changes an answer, whatever became of it.

use super::cache::{self, FOLDER};
use super::files::{Source, Wanted, wanted_at};
use super::{Access, Missing, Start, Workspace};
use crate::clock::Time;
use crate::record::Text;
use filetime::FileTime;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// More files than are read in every run.
const MANY: usize = 100;

struct Tree {
    top: TempDir,
    workspace: Workspace,
}

impl Tree {
    fn new(files: usize) -> Self {
        let top = tempfile::tempdir().unwrap();
        fs::write(top.path().join("project.config.mjs"), "").unwrap();
        let tree = Self { workspace: load(top.path()), top };
        for number in 0..files {
            tree.write(number, &format!("text of {number:03}"));
        }
        tree
    }

    fn path(&self, number: usize) -> PathBuf {
        self.folder().join(format!("r-{number:03}.md"))
    }

    fn folder(&self) -> PathBuf {
        self.top.path().join("docs")
    }

    fn write(&self, number: usize, text: &str) {
        fs::create_dir_all(self.folder()).unwrap();
        fs::write(self.path(number), text).unwrap();
    }

    fn cache(&self) -> PathBuf {
        self.top.path().join(format!(".project/.cache/{FOLDER}/docs.bin"))
    }

    /// What is read a minute from now, when everything is settled.
    fn read(&self) -> Vec<Source> {
        read(&self.workspace, &self.folder(), 60_000)
    }

    fn texts(&self) -> Vec<(String, String)> {
        self.read().into_iter().map(|source| (source.path, source.text.to_string())).collect()
    }

    /// What is in the files.
    fn truth(&self) -> Vec<(String, String)> {
        let entries = fs::read_dir(self.folder()).unwrap().map(|entry| entry.unwrap());
        let file = |entry: fs::DirEntry| {
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read_to_string(entry.path()).unwrap())
        };
        let mut files: Vec<_> = entries.map(file).collect();
        files.sort();
        files
    }

    /// Makes the cache say something else of every file, with everything about it in order.
    fn lie(&self) {
        let lies = self.read().into_iter().map(|mut source| {
            source.text = Text::from(source.text.replace("text", "lies"));
            source
        });
        let lies: Vec<Source> = lies.collect();
        let index = crate::fs::Dir::open(self.cache().parent().unwrap().to_str().unwrap()).unwrap();
        cache::write(&index, "docs.bin", &lies, now(60_000)).unwrap();
    }

    fn lies(&self) -> usize {
        self.texts().iter().filter(|(_, text)| text.starts_with("lies")).count()
    }
}

fn load(root: &Path) -> Workspace {
    Workspace::load(&Start::Exactly(root.to_owned()), Missing::Refuse, Access::Write).unwrap()
}

fn now(later_ms: i64) -> i64 {
    (Time::system().ms() + later_ms) * 1_000_000
}

fn read(workspace: &Workspace, folder: &Path, later_ms: i64) -> Vec<Source> {
    let wanted = Wanted { folder: &|_| true, file: &|_| true, deepest: 3 };
    let found = wanted_at(workspace, folder, &wanted, now(later_ms)).unwrap();
    assert_eq!(found.unreadable, []);
    found.sources
}

#[test]
fn what_has_not_changed_is_taken_from_the_cache() {
    let tree = Tree::new(MANY);
    assert_eq!(tree.texts(), tree.truth());
    tree.lie();
    assert_eq!(tree.lies(), MANY);
}

#[test]
fn what_had_just_changed_and_what_is_little_is_not_kept() {
    let tree = Tree::new(MANY);
    read(&tree.workspace, &tree.folder(), 0);
    assert!(!tree.cache().exists());
    let tree = Tree::new(20);
    tree.read();
    assert!(!tree.cache().exists());
}

#[test]
fn changed_replaced_renamed_and_deleted_files_are_seen() {
    let tree = Tree::new(MANY);
    tree.read();
    tree.lie();
    let before = fs::read(tree.cache()).unwrap();
    let at = |number| tree.path(number);
    // Of the same length and time: in place, and by another file.
    let time = FileTime::from_last_modification_time(&at(0).metadata().unwrap());
    let changed = at(0).metadata().unwrap();
    while (changed.ctime(), changed.ctime_nsec())
        == at(0).metadata().map(|now| (now.ctime(), now.ctime_nsec())).unwrap()
    {
        tree.write(0, "TEXT OF 000");
        filetime::set_file_mtime(at(0), time).unwrap();
    }
    fs::write(tree.top.path().join("other"), "TEXT OF 001").unwrap();
    filetime::set_file_mtime(tree.top.path().join("other"), time).unwrap();
    fs::rename(tree.top.path().join("other"), at(1)).unwrap();
    fs::rename(at(2), tree.folder().join("a-new-name.md")).unwrap();
    fs::remove_file(at(3)).unwrap();
    tree.write(MANY, "text of another");
    let texts = tree.texts();
    let honest: Vec<_> = texts.iter().filter(|(_, text)| !text.starts_with("lies")).collect();
    let names: Vec<&str> = honest.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["a-new-name.md", "r-000.md", "r-001.md", "r-100.md"]);
    assert!(honest.iter().all(|file| tree.truth().contains(file)));
    assert_eq!(texts.len(), MANY);
    assert_eq!(fs::read(tree.cache()).unwrap(), before, "a few changes are not worth writing everything");
}

#[test]
fn the_cache_is_written_anew_when_much_has_changed_or_gone() {
    let tree = Tree::new(MANY);
    tree.read();
    tree.lie();
    for number in 0..MANY / 2 {
        tree.write(number, "text that is new");
    }
    assert_eq!(tree.lies(), MANY / 2);
    let size = fs::metadata(tree.cache()).unwrap().len();
    for number in 0..MANY / 2 {
        fs::remove_file(tree.path(number)).unwrap();
    }
    tree.read();
    assert!(fs::metadata(tree.cache()).unwrap().len() < size * 2 / 3);
}

#[test]
fn a_damaged_cache_is_not_believed() {
    let tree = Tree::new(MANY);
    tree.read();
    let (whole, truth) = (fs::read(tree.cache()).unwrap(), tree.truth());
    for at in (0..whole.len()).step_by(37).chain(0..48) {
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << (at % 8);
        fs::write(tree.cache(), &damaged).unwrap();
        assert_eq!(tree.texts(), truth, "byte {at}");
    }
    for length in (0..whole.len()).step_by(301) {
        fs::write(tree.cache(), &whole[..length]).unwrap();
        assert_eq!(tree.texts(), truth, "{length} bytes");
    }
    for junk in [&b"wftexts0"[..], b"", &[0xff; 5000], &[0; 5000]] {
        fs::write(tree.cache(), [junk, &whole[junk.len().min(whole.len())..]].concat()).unwrap();
        assert_eq!(tree.texts(), truth);
    }
}

#[test]
fn a_cache_from_elsewhere_matches_nothing() {
    let tree = Tree::new(MANY);
    tree.read();
    tree.lie();
    let other = Tree::new(MANY);
    for number in 0..MANY {
        let time = FileTime::from_last_modification_time(&tree.path(number).metadata().unwrap());
        filetime::set_file_mtime(other.path(number), time).unwrap();
    }
    other.read();
    fs::copy(tree.cache(), other.cache()).unwrap();
    assert_eq!(other.lies(), 0);
}

#[test]
fn nobody_needs_a_cache() {
    let tree = Tree::new(MANY);
    let reading = Workspace { access: Access::ReadOnly, ..tree.workspace.clone() };
    assert_eq!(read(&reading, &tree.folder(), 60_000).len(), MANY);
    assert!(!tree.cache().exists(), "a workspace that is open for reading only is not written to");
    // Where the folder of caches has to be, something else is, or a link that leads out.
    let place = tree.cache().parent().unwrap().to_owned();
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    fs::write(&place, "mine").unwrap();
    assert_eq!(tree.texts(), tree.truth());
    fs::remove_file(&place).unwrap();
    let outside = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), &place).unwrap();
    assert_eq!(tree.texts(), tree.truth());
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    fs::remove_file(&place).unwrap();
    tree.read();
    assert!(tree.cache().exists());
    fs::remove_file(tree.cache()).unwrap();
    fs::create_dir(tree.cache()).unwrap();
    assert_eq!(tree.texts(), tree.truth());
}
