//! The texts of a folder's files as they were last time, so that a file that has not changed is not opened again.
//!
//! A file is known by its path and by what [`Stat::numbers`] says of it; what changed shortly before it was read is never
//! kept ([`Stat::is_settled`]). The cache is this machine's own: a copy of it matches no inode. Whatever is damaged,
//! foreign or of another version is not used, and whoever cannot write it is only slower.
//!
//! ```text
//! magic  checksum of the table  length of the table  length of the rest (8 bytes each)
//! the table, per file in the order of their paths: inode, size, mtime, ctime, checksum of the text (8 bytes each), length of
//! the path (4 bytes), the path
//! the rest: the texts, one behind the other, each as long as its file
//! ```
//!
//! One cache a folder: who lists cards reads no documents, and what changes often is not written together with what never
//! does.

use super::files::Source;
use super::{Access, Workspace};
use crate::fs::{Dir, Stat, checksum};
use crate::record::{self, Text};
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::sync::Arc;

const MAGIC: &[u8; 8] = b"wftexts1";
const LEAD: usize = 40;
/// A file's numbers, checksum and length of path.
const FIXED: usize = 44;
/// A longer cache counts as absent.
const CAP: u64 = 1 << 30;
/// A file that has to be read costs a run about ten microseconds, writing the cache about one for each file in it. So many
/// changed files, and one in [`SHARE`] of all besides, are read in every run before the cache is written anew; a folder
/// with fewer has none.
const FEW: usize = 32;
const SHARE: usize = 64;

/// A cache that was found and not yet read.
pub(super) struct Found {
    file: File,
    lead: [u8; LEAD],
}

impl Found {
    /// Looks for the cache of the folder at `path`.
    pub(super) fn open(workspace: &Workspace, path: &str) -> Option<Self> {
        let (mut file, stat) = index(workspace, Dir::below)?.open_file(&name(path)).ok()?;
        let mut lead = [0; LEAD];
        file.read_exact(&mut lead).ok()?;
        let whole = number(&lead, 24).checked_add(number(&lead, 32))?.checked_add(LEAD as u64)?;
        (lead.starts_with(MAGIC) && whole == stat.size && whole <= CAP).then_some(Self { file, lead })
    }

    /// Reads it; `None` when it is not whole.
    pub(super) fn read(mut self) -> Option<Cache> {
        let [sum, files, table, texts] = [8, 16, 24, 32].map(|at| number(&self.lead, at));
        let mut take = |length: u64| {
            let mut bytes = Vec::with_capacity(length as usize);
            let read = Read::by_ref(&mut self.file).take(length).read_to_end(&mut bytes).ok()?;
            (read as u64 == length).then_some(bytes)
        };
        let table = take(table).filter(|table| checksum(table) == sum)?;
        let texts = Arc::new(String::from_utf8(take(texts)?).ok()?);
        Some(Cache { table, texts, at: 0, start: 0, unused: files as usize })
    }
}

/// What a folder's files were, asked in the order of their paths.
pub(super) struct Cache {
    table: Vec<u8>,
    texts: Arc<String>,
    /// Where the next file begins in the table, and its text among the texts.
    at: usize,
    start: usize,
    /// How many files were not found as they had been.
    unused: usize,
}

impl Cache {
    /// The text of the file at `path`, of which `stat` is true now. Paths are asked for in the order of their bytes.
    pub(super) fn find(&mut self, path: &str, stat: &Stat) -> Option<Text> {
        loop {
            let fixed = self.table.get(self.at..)?.first_chunk::<FIXED>()?;
            let length = u32::from_le_bytes(*fixed.last_chunk()?) as usize;
            let name = self.table.get(self.at + FIXED..)?.get(..length)?;
            if name > path.as_bytes() {
                return None;
            }
            let is_same = name == path.as_bytes();
            let numbers = [0, 8, 16, 24].map(|at| number(fixed, at));
            let sum = number(fixed, 32);
            let part = self.start..self.start.checked_add(numbers[1] as usize)?;
            self.at += FIXED + length;
            self.start = part.end;
            if is_same {
                let text = Text::part(&self.texts, part).filter(|_| numbers == stat.numbers());
                let text = text.filter(|text| checksum(text.as_bytes()) == sum)?;
                self.unused = self.unused.saturating_sub(1);
                return Some(text);
            }
        }
    }
}

/// What had to be read although there may be a cache.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fresh {
    /// Files that can be kept now.
    pub(super) settled: usize,
    /// Files that had just changed.
    pub(super) racy: usize,
}

/// Writes the cache of the folder at `path`, whose files are `sources` in the order of their paths, when that pays.
pub(super) fn store(
    workspace: &Workspace,
    path: &str,
    sources: &[Source],
    old: Option<&Cache>,
    fresh: Fresh,
    now_ns: i64,
) {
    // A changed file is one that is unused and one that is fresh; until it can be kept nothing is won.
    let unused = old.map_or(0, |old| old.unused).saturating_sub(fresh.racy);
    if workspace.access == Access::ReadOnly || fresh.settled + unused <= FEW + sources.len() / SHARE {
        return;
    }
    if let Some(index) = index(workspace, Dir::make) {
        // A cache that cannot be written is one that is not there.
        let _ = write(&index, &name(path), sources, now_ns);
    }
}

pub(super) fn write(index: &Dir, name: &str, sources: &[Source], now_ns: i64) -> io::Result<()> {
    let kept = |source: &&Source| {
        let Source { path, text, stat } = source;
        stat.is_settled(now_ns) && text.len() as u64 == stat.size && u32::try_from(path.len()).is_ok()
    };
    let kept: Vec<&Source> = sources.iter().filter(kept).collect();
    let mut table = Vec::new();
    let mut texts = 0;
    for Source { path, text, stat } in &kept {
        for number in stat.numbers().into_iter().chain([checksum(text.as_bytes())]) {
            table.extend_from_slice(&number.to_le_bytes());
        }
        table.extend_from_slice(&(path.len() as u32).to_le_bytes());
        table.extend_from_slice(path.as_bytes());
        texts += stat.size;
    }
    index.replace_by(name, |file| {
        let mut file = BufWriter::with_capacity(1 << 18, file);
        file.write_all(MAGIC)?;
        for number in [checksum(&table), kept.len() as u64, table.len() as u64, texts] {
            file.write_all(&number.to_le_bytes())?;
        }
        file.write_all(&table)?;
        for source in &kept {
            file.write_all(source.text.as_bytes())?;
        }
        file.flush()
    })
}

/// Where caches are, below the cache folder.
pub(super) const FOLDER: &str = "index";

/// The folder of caches, as `open` gets to it from the root.
fn index(workspace: &Workspace, open: fn(&Dir, &str) -> io::Result<Dir>) -> Option<Dir> {
    let root = super::files::open_folder(workspace, &workspace.root).ok()??;
    open(&root, &workspace.repo_path(&workspace.paths.cache.join(FOLDER))).ok()
}

/// What the cache of a folder is called. Two folders may share a name: an entry counts for its own file alone.
fn name(path: &str) -> String {
    format!("{}.bin", record::slug(path, 80, "root"))
}

fn number(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..].first_chunk().copied().unwrap_or_default())
}
