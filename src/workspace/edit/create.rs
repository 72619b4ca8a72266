//! A new record under an id that no other writer can also get.

use super::{Candidate, Draft, Kind};
use crate::clock;
use crate::failure::{Code, Failure};
use crate::fs::{self, Created};
use crate::record::id::{self, Allocation, Attempt};
use crate::record::{self, Header, Value};
use crate::workspace::{Workspace, files};
use std::path::{Path, PathBuf};

/// A record that is to be made.
#[derive(Clone, Copy, Debug)]
pub struct New<'a> {
    /// Its kind.
    pub kind: &'static Kind,
    /// Its fields and its body.
    pub draft: &'a Draft,
    /// The prefix of its id.
    pub prefix: &'a str,
    /// How often an id is tried for.
    pub tries: usize,
    /// The code raised when all tries are used up.
    pub exhausted: Code,
}

/// A record that was made.
#[derive(Clone, Debug)]
pub struct Fresh {
    /// Its id.
    pub id: String,
    /// Its file.
    pub path: PathBuf,
    /// What the file holds.
    pub text: String,
}

/// Makes a record: `highest` scans for the highest sequence in use, `check` judges the header before an id is taken and again
/// under the one it gets, `place` says which file it is.
pub fn create(
    workspace: &Workspace,
    new: New<'_>,
    mut highest: impl FnMut() -> Result<u64, Failure>,
    check: impl Fn(Candidate<'_>) -> Result<(), Failure>,
    place: impl Fn(&str) -> PathBuf,
) -> Result<Fresh, Failure> {
    let today = clock::now().date();
    let called = format!("the new {}", new.kind.noun);
    let judged = |id: &str| {
        let header = header(new.draft, id, &today);
        let keys = Header::of(&header);
        check(Candidate { called: &called, header: &keys }).map(|()| header)
    };
    let first = highest()?;
    judged(&id::format(new.prefix, first.saturating_add(1)))?;

    let locks = format!("{}/ids", workspace.paths.locks);
    let how = Allocation {
        root: &workspace.root,
        locks: &locks,
        prefix: new.prefix,
        tries: new.tries,
        exhausted: new.exhausted,
    };
    let mut first = Some(first);
    id::allocate(
        &how,
        || first.take().map_or_else(&mut highest, Ok),
        |id| {
            let text = record::render(&judged(id)?, &new.draft.body)?;
            let path = place(id);
            reachable(workspace, path.parent().unwrap_or(&workspace.root), new.kind.noun)?;
            Ok(match fs::create(&workspace.root, &path, text.as_bytes())? {
                Created::Taken => Attempt::Collision,
                Created::Fresh => Attempt::Written(Fresh { id: id.to_owned(), path, text }),
            })
        },
    )
}

fn header(draft: &Draft, id: &str, today: &str) -> Vec<(String, Value)> {
    let text = |key: &str, value: &str| (key.to_owned(), Value::Text(value.to_owned()));
    let mut header = vec![text("id", id)];
    header.extend(draft.fields.iter().cloned());
    header.extend([text("created", today), text("updated", today)]);
    header
}

/// Makes a folder of records and refuses one that is only reached through a link: what is written there would not be read
/// back. `noun` is what one of the records is called.
pub fn reachable(workspace: &Workspace, folder: &Path, noun: &str) -> Result<(), Failure> {
    if !hidden(workspace, folder) {
        fs::make_folder(&workspace.root, folder)?;
        if files::open_folder(workspace, folder)?.is_some() {
            return Ok(());
        }
    }
    let shown = workspace.repo_path(folder);
    let text = format!("{shown} lies behind a link; a {noun} is only read from a plain folder");
    Err(Failure::new(Code::RECORD_PATH_ESCAPES_WORKSPACE, text).with("path", shown))
}

/// Whether a link leads to a path inside the workspace, wherever to.
pub fn hidden(workspace: &Workspace, path: &Path) -> bool {
    let inside = path.ancestors().take_while(|above| *above != workspace.root);
    inside.into_iter().any(Path::is_symlink)
}
