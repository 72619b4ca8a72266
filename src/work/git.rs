//! What Git knows of a workspace: the commit that is checked out, the files that a branch has changed.
//!
//! Git is asked, never trusted to be there: no shell, a limit of time, and nothing of an environment that could point it
//! at another repository.

use super::process::{self, By, Go, Limits};
use std::collections::HashSet;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// What one answer may take.
const LIMITS: Limits =
    Limits { time: Duration::from_secs(5), grace: Duration::from_millis(500), keep: 64 * 1024 };
/// What the comparison of a long branch may take.
const COMPARISON: Limits = Limits { time: Duration::from_secs(60), keep: 64 * 1024 * 1024, ..LIMITS };
/// How many commits are asked about at once.
const AT_ONCE: usize = 1000;
/// Longest name of a base.
const LONGEST: usize = 255;

/// The full id of the commit that is checked out; `None` without a repository, a commit or Git.
pub fn head(root: &Path) -> Option<String> {
    commit(root, "HEAD").ok()
}

/// The files, relative to `root` and with `/`, that differ between `HEAD` and where it left `base`, without deleted ones.
///
/// The error is why Git could not answer, which never means that nothing changed.
pub fn changed(root: &Path, base: &str) -> Result<Vec<String>, String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._/-".contains(&byte);
    if base.len() > LONGEST || base.starts_with('-') || !base.bytes().all(plain) {
        return Err(format!("`{base}` is not the name of a branch, a tag or a commit"));
    }
    let base = commit(root, &format!("{base}^{{commit}}"))?;
    let range = format!("{base}...HEAD");
    let asked = ["diff", "--name-only", "--no-renames", "--diff-filter=d", "--relative", "-z", &range, "--"];
    let names = ask(root, &asked, COMPARISON)?;
    let names = names.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    // A name that is not UTF-8 is none of a card.
    Ok(names.filter_map(|name| std::str::from_utf8(name).ok()).map(str::to_owned).collect())
}

/// The commit that is checked out, and those of `commits` that it does not contain. `None` when Git cannot tell: without a
/// repository, without a commit, or in a clone whose history is cut off. A commit that Git does not know is not among them.
pub fn not_in_head<'a>(root: &Path, commits: &[&'a str]) -> Option<(String, HashSet<&'a str>)> {
    let head = head(root)?;
    let shallow = ask(root, &["rev-parse", "--is-shallow-repository"], LIMITS).ok()?;
    if !shallow.starts_with(b"false") {
        return None;
    }
    let mut outside = HashSet::new();
    let without = format!("^{head}");
    for some in commits.chunks(AT_ONCE) {
        let asked = ["rev-list", "--ignore-missing"];
        let asked: Vec<&str> = asked.iter().chain(some).copied().chain([without.as_str(), "--"]).collect();
        let answer = String::from_utf8(ask(root, &asked, COMPARISON).ok()?).ok()?;
        let mut found: Vec<&str> = answer.lines().collect();
        found.sort_unstable();
        // A commit may be named by the beginning of its id.
        let is_found = |commit: &str| {
            let at = found.partition_point(|id| *id < commit);
            found.get(at).is_some_and(|id| id.starts_with(commit))
        };
        outside.extend(some.iter().filter(|commit| is_found(commit)).copied());
    }
    Some((head, outside))
}

/// The full id that a revision resolves to.
fn commit(root: &Path, revision: &str) -> Result<String, String> {
    let answer = ask(root, &["rev-parse", "--verify", revision], LIMITS)?;
    let id = String::from_utf8(answer).unwrap_or_default();
    let id = id.trim_end();
    let is_full =
        matches!(id.len(), 40 | 64) && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if is_full { Ok(id.to_owned()) } else { Err(format!("git gives no commit for {revision}")) }
}

/// What Git prints on success; else the first line that it complains with.
fn ask(root: &Path, args: &[&str], limits: Limits) -> Result<Vec<u8>, String> {
    let mut git = Command::new("git");
    git.args(args).current_dir(root);
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR"] {
        git.env_remove(name);
    }
    for (name, value) in
        [("GIT_OPTIONAL_LOCKS", "0"), ("GIT_TERMINAL_PROMPT", "0"), ("GIT_CONFIG_NOSYSTEM", "1")]
    {
        git.env(name, value);
    }
    let ended = process::run(&mut git, limits, &mut |_| Go::On)
        .map_err(|error| format!("git does not start: {error}"))?;
    if ended.by == By::Time {
        return Err(format!("git gave no answer within {} s", limits.time.as_secs()));
    }
    let (answer, cut) = ended.stdout.take();
    if ended.code != Some(0) {
        let (told, _) = ended.stderr.text();
        let line = told.lines().next().unwrap_or("it says nothing");
        return Err(format!("git cannot answer: {line}"));
    }
    if cut { Err("git's answer is too long".to_owned()) } else { Ok(answer) }
}
