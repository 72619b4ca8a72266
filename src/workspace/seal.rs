//! Whether a folder still holds what was read from it, so that what was made of it still holds, too.
//!
//! A seal is broken by any file or folder that comes, goes or changes, whoever does it. What changed shortly before it was read
//! has no seal that holds ([`crate::fs::Stat::is_settled`]).

use super::Workspace;
use super::files::{self, Unreadable};
use crate::fs::Stat;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Seals are compared within a process, and nobody can make a file that has the seal of another one.
static KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// What was seen of a folder when it was read.
#[derive(Clone, Debug)]
pub struct Seal {
    what: What,
    /// Nothing when it could not be known again.
    seen: Option<u64>,
}

/// Which files were asked for.
#[derive(Clone, Debug)]
enum What {
    Records { folder: PathBuf, besides: Option<PathBuf> },
    Sources,
}

impl Seal {
    pub(super) fn of_records(folder: &Path, besides: Option<&Path>, seen: Option<u64>) -> Self {
        let what = What::Records { folder: folder.to_owned(), besides: besides.map(Path::to_owned) };
        Self { what, seen }
    }

    pub(super) fn of_sources(seen: Option<u64>) -> Self {
        Self { what: What::Sources, seen }
    }

    /// Whether it can hold at all.
    pub fn is_set(&self) -> bool {
        self.seen.is_some()
    }

    /// Whether the files are the same as when they were read; the configuration has to be the same.
    pub fn holds(&self, workspace: &Workspace) -> bool {
        let now = match &self.what {
            What::Records { folder, besides } => {
                files::look_at_records(workspace, folder, besides.as_deref())
            }
            What::Sources => files::look_at_sources(workspace),
        };
        self.is_set() && now.is_ok_and(|now| now == self.seen)
    }
}

/// What identifies files, by their paths in order, and what else is in their folders.
pub(super) fn seen<'a>(
    files: impl Iterator<Item = (&'a str, Option<&'a Stat>)>,
    unreadable: &[Unreadable],
    others: &[String],
) -> Option<u64> {
    let mut hasher = KEYS.build_hasher();
    for (path, stat) in files {
        (path, stat?.numbers()).hash(&mut hasher);
    }
    // In the order in which the folders were listed, which may be another one next time.
    let mut unreadable: Vec<_> = unreadable.iter().map(|file| (&file.path, &file.reason)).collect();
    unreadable.sort_unstable();
    let mut others: Vec<_> = others.iter().collect();
    others.sort_unstable();
    (unreadable, others).hash(&mut hasher);
    Some(hasher.finish())
}

#[cfg(all(test, unix))]
mod tests {
    use super::super::files::{Wanted, wanted_at};
    use super::super::{Access, Missing, Start};
    use super::*;
    use crate::clock::Time;
    use std::fs;

    /// The seal of what is below `folder`, as it was read some time from now.
    fn seal(workspace: &Workspace, folder: &Path, later_ms: i64) -> Seal {
        let file = |path: &str| path.as_bytes().ends_with(b".md");
        let wanted = Wanted { folder: &|_| true, file: &file, deepest: 3 };
        let now_ns = (Time::system().ms() + later_ms) * 1_000_000;
        wanted_at(workspace, folder, &wanted, now_ns).unwrap().seal_of_records(folder, None)
    }

    #[test]
    fn every_change_breaks_it() {
        let top = tempfile::tempdir().unwrap();
        let start = Start::Exactly(top.path().to_owned());
        let workspace = Workspace::load(&start, Missing::Allow, Access::Write).unwrap();
        let folder = top.path().join("records");
        let at = |name: &str| folder.join(name);
        let sealed = || seal(&workspace, &folder, 60_000);
        let mut seals = vec![sealed()];
        let holds = |seals: &[Seal]| seals.iter().filter(|seal| seal.holds(&workspace)).count();
        assert_eq!(holds(&seals), 1, "a folder that is not there stays away");
        let write = |name: &str, text: &str| fs::write(at(name), text).unwrap();
        let changes: [&dyn Fn(); 7] = [
            &|| fs::create_dir_all(at("inner")).unwrap(),
            &|| write("inner/a.md", "one"),
            &|| write("inner/a.md", "three"),
            &|| fs::rename(at("inner/a.md"), at("a.md")).unwrap(),
            &|| write("T-0009-taken", "its id"),
            &|| fs::remove_file(at("a.md")).unwrap(),
            &|| fs::rename(at("inner"), at("other")).unwrap(),
        ];
        for (at, change) in changes.into_iter().enumerate() {
            change();
            assert_eq!(holds(&seals), 0, "{at}");
            seals = vec![sealed()];
            assert_eq!(holds(&seals), 1, "{at}");
        }
    }

    #[test]
    fn what_has_just_changed_or_cannot_be_read_has_none() {
        let top = tempfile::tempdir().unwrap();
        let start = Start::Exactly(top.path().to_owned());
        let workspace = Workspace::load(&start, Missing::Allow, Access::Write).unwrap();
        fs::write(top.path().join("a.md"), "text").unwrap();
        assert!(!seal(&workspace, top.path(), 0).is_set());
        assert!(seal(&workspace, top.path(), 60_000).holds(&workspace));
        fs::write(top.path().join("b.md"), b"\xff").unwrap();
        let broken = seal(&workspace, top.path(), 60_000);
        assert!(!broken.is_set() && !broken.holds(&workspace));
    }
}
