//! Where the workspace is.

/// The first directory from the absolute path `start` upwards that declares a workspace (`.project/VERSION`,
/// `project.config.mjs` or `project.config.json`), not above a directory with a `.git` entry.
pub fn find_declared(_start: &str) -> Option<String> {
    todo!()
}
