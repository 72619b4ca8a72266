//! Where the workspace is, and where in it a file lies.
//!
//! One search serves the hooks, the command line and the server, so they never disagree about the root. A root is text:
//! an absolute, lexically normal path. Links are looked at only for a file that an edit names, because a link may lead
//! into somebody else's scope.

use crate::fs::{Dir, Probe};
use crate::path::{Flavour, inside, normalise, parent, same_name};
use std::path::Path;

/// How many directories a search looks at.
const LEVELS: usize = 64;

/// What a workspace declares itself with, the usual one first.
const DECLARED: [&str; 3] = [".project/VERSION", "project.config.mjs", "project.config.json"];

/// The first directory from the absolute path `start` upwards that declares a workspace (`.project/VERSION`,
/// `project.config.mjs` or `project.config.json`), not above a directory with a `.git` entry.
pub fn find_declared(start: &str) -> Option<String> {
    search(start, declares)
}

/// Whether `dir` itself declares a workspace.
#[allow(
    clippy::inline_always,
    reason = "a call to another page of the program costs a hook more than the call does"
)]
#[inline(always)]
pub fn declares(dir: &str) -> bool {
    DECLARED.iter().any(|name| exists(dir, name))
}

/// [`find_declared`] for hooks, which also work in a half-set-up clone: `.project/cards` is enough.
pub fn find(start: &str) -> Option<String> {
    search(start, |dir| declares(dir) || Path::new(&join(dir, ".project/cards")).is_dir())
}

fn search(start: &str, is_root: impl Fn(&str) -> bool) -> Option<String> {
    if !Path::new(start).is_absolute() {
        return None;
    }
    let start = normalise(start, "/");
    let mut dir = start.as_str();
    for _ in 0..LEVELS {
        if is_root(dir) {
            return Some(dir.to_owned());
        }
        if exists(dir, ".git") {
            return None;
        }
        dir = parent(dir)?;
    }
    None
}

#[allow(
    clippy::inline_always,
    reason = "a call to another page of the program costs a hook more than the call does"
)]
#[inline(always)]
fn exists(dir: &str, name: &str) -> bool {
    std::fs::symlink_metadata(join(dir, name)).is_ok()
}

#[allow(
    clippy::inline_always,
    reason = "a call to another page of the program costs a hook more than the call does"
)]
#[inline(always)]
fn join(dir: &str, name: &str) -> String {
    let mut path = String::with_capacity(dir.len() + name.len() + 1);
    path.push_str(dir);
    if !dir.ends_with('/') {
        path.push('/');
    }
    path.push_str(name);
    path
}

/// The roots of one hook event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roots {
    /// The session's root: heartbeat, board, ledger and scan live here.
    pub session: String,
    /// The root above `CLAUDE_PROJECT_DIR`, when it is another one.
    pub project: Option<String>,
}

/// The roots for a session that was started in `project` (`CLAUDE_PROJECT_DIR`) and is in `cwd` (from the payload) now.
///
/// Entering a linked worktree moves the session's root to it; a mere `cd` into a folder that happens to hold a
/// `.project` does not.
pub fn session_roots(project: Option<&str>, cwd: Option<&str>) -> Option<Roots> {
    let first = project.and_then(find);
    let second =
        cwd.filter(|cwd| Some(*cwd) != project).and_then(find).filter(|found| Some(found) != first.as_ref());
    match (first, second) {
        (None, Some(entered)) => Some(Roots { session: entered, project: None }),
        (Some(first), Some(entered)) if exists(&entered, ".git") => {
            Some(Roots { session: entered, project: Some(first) })
        }
        (Some(first), _) => Some(Roots { session: first, project: None }),
        (None, None) => {
            let here = std::env::current_dir().ok()?;
            Some(Roots { session: find(here.to_str()?)?, project: None })
        }
    }
}

/// A file of a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The workspace root.
    pub root: String,
    /// The path below it, `/` separated, never empty.
    pub path: String,
}

/// Where the file `path` of a payload lies: as it is written first, then, when links lead elsewhere, where it really is.
/// Empty outside every workspace. A relative path starts at `cwd`, else at the session's root, which `session` holds open.
pub fn locate(path: &str, cwd: Option<&str>, roots: &Roots, session: &Dir) -> Vec<Place> {
    let expanded = expand_home(path);
    let base = cwd.unwrap_or(&roots.session);
    let path = expanded.as_deref().unwrap_or(path);
    let full = normalise(path, base);
    // Behind a link `..` is the parent of what the link leads to, whatever the text says.
    let climbs = path.split(['/', '\\']).any(|name| name == "..");
    let known = || [Some(roots.session.as_str()), roots.project.as_deref()].into_iter().flatten();
    let lexical = place(&full, known().map(|root| (root, root)));
    if let Some(found) = &lexical
        && !climbs
        && is_plain(found, roots, session)
    {
        return lexical.into_iter().map(rerooted).collect();
    }
    let real: Vec<(&str, Option<String>)> = known().map(|root| (root, resolve(root))).collect();
    let spellings = || {
        let as_written = known().map(|root| (root, root));
        as_written.chain(real.iter().filter_map(|(root, real)| Some((real.as_deref()?, *root))))
    };
    let lexical = lexical.or_else(|| place(&full, spellings()));
    let resolved = if climbs { resolve(&unresolved(path, base)) } else { resolve(&full) };
    let resolved = resolved.and_then(|real| place(&real, spellings()));
    let mut places: Vec<Place> = lexical.into_iter().chain(resolved).map(rerooted).collect();
    places.dedup();
    places
}

/// The place below the longest of the roots, given as (spelling to compare with, root it stands for).
fn place<'a>(full: &str, spellings: impl Iterator<Item = (&'a str, &'a str)>) -> Option<Place> {
    spellings
        .filter_map(|(spelling, root)| {
            Some((spelling, root, inside(spelling, full).filter(|rest| !rest.is_empty())?))
        })
        .max_by_key(|(spelling, _, _)| spelling.len())
        .map(|(_, root, rest)| Place { root: root.to_owned(), path: rest.to_owned() })
}

/// Whether no link stands between a place's root and its file, which may be missing.
fn is_plain(place: &Place, roots: &Roots, session: &Dir) -> bool {
    let opened;
    let root = if place.root == roots.session {
        session
    } else {
        let Ok(root) = Dir::open(&place.root) else { return false };
        opened = root;
        &opened
    };
    let mut path = place.path.as_str();
    // A new file in a new folder: the first ancestor that exists decides.
    loop {
        match root.probe(path) {
            Probe::Plain => return true,
            Probe::Missing => match path.rsplit_once('/') {
                Some((folder, _)) => path = folder,
                None => return true,
            },
            Probe::Linked => return false,
        }
    }
}

/// How many links that lead to nothing yet are followed, as by a kernel.
const LINKS: usize = 40;

/// The absolute path of `path` with its `..` left in.
fn unresolved(path: &str, base: &str) -> String {
    if cfg!(windows) {
        return normalise(path, base);
    }
    let text = path.replace('\\', "/");
    if text.starts_with('/') { text } else { join(base, &text) }
}

/// The real path of the deepest existing ancestor, and the rest behind it. A link that leads to nothing is followed too:
/// whoever writes to it makes its target.
fn resolve(full: &str) -> Option<String> {
    let mut full = full.to_owned();
    for _ in 0..LINKS {
        let mut existing = full.as_str();
        while std::fs::symlink_metadata(existing).is_err() {
            existing = parent(existing)?;
        }
        let rest = &full[existing.len()..];
        if let Ok(real) = std::fs::canonicalize(existing) {
            return Some(normalise(&format!("{}{rest}", real.to_str()?), "/"));
        }
        let target = std::fs::read_link(existing).ok()?;
        let folder = std::fs::canonicalize(parent(existing)?).ok()?;
        full = format!("{}{rest}", unresolved(target.to_str()?, folder.to_str()?));
    }
    None
}

/// A file below `.claude/worktrees/<name>/` belongs to that checkout, when it is one.
fn rerooted(place: Place) -> Place {
    if !place.path.starts_with('.') {
        return place;
    }
    let mut parts = place.path.splitn(4, '/');
    let (first, second, name, rest) = (parts.next(), parts.next(), parts.next(), parts.next());
    let is = |part: Option<&str>, wanted| part.is_some_and(|part| same_name(part, wanted, Flavour::HOST));
    if !is(first, ".claude") || !is(second, "worktrees") {
        return place;
    }
    let (Some(name), Some(rest)) = (name, rest.filter(|rest| !rest.is_empty())) else { return place };
    let root = join(&place.root, &format!(".claude/worktrees/{name}"));
    if exists(&root, ".git") && Path::new(&join(&root, ".project")).is_dir() {
        Place { root, path: rest.to_owned() }
    } else {
        place
    }
}

/// `~/x` below the home directory; `None` when there is nothing to expand.
fn expand_home(path: &str) -> Option<String> {
    let rest = path.strip_prefix("~/").or_else(|| path.strip_prefix("~\\"))?;
    let home = ["HOME", "USERPROFILE"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|home| !home.is_empty()))?;
    Some(join(&home, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(paths: &[&str]) -> (tempfile::TempDir, String) {
        let dir = tempfile::tempdir().unwrap();
        for path in paths {
            let full = dir.path().join(path);
            std::fs::create_dir_all(full.parent().unwrap()).unwrap();
            if path.ends_with('/') {
                std::fs::create_dir_all(full).unwrap();
            } else {
                std::fs::write(full, "").unwrap();
            }
        }
        let root = dir.path().canonicalize().unwrap().to_str().unwrap().to_owned();
        (dir, root)
    }

    #[test]
    fn the_search_climbs_to_the_repository_and_no_further() {
        let (_keep, top) =
            tree(&["project.config.mjs", "a/b/", "foreign/.git/", "foreign/x/", "half/.project/cards/"]);
        assert_eq!(find(&format!("{top}/a/b")), Some(top.clone()));
        assert_eq!(find(&format!("{top}/foreign/x")), None);
        assert_eq!(find(&format!("{top}/half")), Some(format!("{top}/half")));
        assert_eq!(
            find_declared(&format!("{top}/half")),
            Some(top.clone()),
            "half a set-up counts for hooks only"
        );
        assert_eq!(find("relative"), None);
    }

    #[test]
    fn a_worktree_moves_the_root_and_a_fixture_does_not() {
        let (_keep, top) =
            tree(&[".project/VERSION", "fix/.project/VERSION", "tree/.project/VERSION", "tree/.git"]);
        let at = |cwd: &str| session_roots(Some(&top), Some(cwd)).unwrap().session;
        assert_eq!(at(&top), top);
        assert_eq!(at(&format!("{top}/fix")), top);
        assert_eq!(at(&format!("{top}/tree")), format!("{top}/tree"));
    }

    #[cfg(unix)]
    #[test]
    fn links_give_a_second_place() {
        let (_keep, top) = tree(&["theirs/f.rs", "mine/"]);
        std::os::unix::fs::symlink("../theirs/f.rs", format!("{top}/mine/l")).unwrap();
        let roots = Roots { session: top.clone(), project: None };
        let paths = |path: &str| -> Vec<String> {
            locate(path, None, &roots, &Dir::open(&top).unwrap())
                .into_iter()
                .map(|place| place.path)
                .collect()
        };
        assert_eq!(paths("mine/l"), ["mine/l", "theirs/f.rs"]);
        assert_eq!(paths("theirs/new/deep/x.rs"), ["theirs/new/deep/x.rs"]);
        assert_eq!(paths("mine/../theirs/f.rs"), ["theirs/f.rs"]);
        assert_eq!(paths("../elsewhere"), [""; 0]);
        assert_eq!(paths("."), [""; 0]);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_is_where_the_system_would_write_it() {
        let (_keep, top) = tree(&["theirs/deep/", "mine/"]);
        for (target, link) in [
            ("../theirs/new.rs", "mine/dangling"),
            ("dangling", "mine/twice"),
            ("../theirs/deep", "mine/deep"),
            ("nowhere/../../theirs/x", "mine/odd"),
            ("loop", "mine/loop"),
        ] {
            std::os::unix::fs::symlink(target, format!("{top}/{link}")).unwrap();
        }
        let roots = Roots { session: top.clone(), project: None };
        let paths = |path: &str| -> Vec<String> {
            let found = locate(path, None, &roots, &Dir::open(&top).unwrap());
            found.into_iter().map(|place| place.path).collect()
        };
        assert_eq!(paths("mine/dangling"), ["mine/dangling", "theirs/new.rs"]);
        assert_eq!(paths("mine/twice"), ["mine/twice", "theirs/new.rs"]);
        assert_eq!(paths("mine/deep/../f.rs"), ["mine/f.rs", "theirs/f.rs"]);
        assert_eq!(paths("mine/deep/../no/../f.rs"), ["mine/f.rs", "theirs/f.rs"]);
        assert_eq!(paths("mine/odd"), ["mine/odd", "theirs/x"]);
        assert_eq!(paths("mine/loop"), ["mine/loop"]);
        assert_eq!(paths("mine/no/../../theirs/f.rs"), ["theirs/f.rs"]);
    }
}
