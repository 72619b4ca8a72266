//! The rendered changelog and its file, which is written and never read.

use super::{load, preview, render};
use crate::failure::{Code, Failure};
use crate::fs;
use crate::path::{inside, normalise};
use crate::workspace::Workspace;
use std::path::PathBuf;

/// The visibility that is rendered when none is asked for.
const USUAL: &str = "public";

/// A changelog that was written.
#[derive(Clone, Debug)]
pub struct Written {
    /// Where, absolute.
    pub path: PathBuf,
    /// What.
    pub content: String,
}

/// The changelog with the fragments of one visibility, `public` without one. `CHANGE_VISIBILITY_INVALID`.
pub fn rendered(workspace: &Workspace, visibility: Option<&str>) -> Result<String, Failure> {
    let settings = &workspace.config.changelog;
    if let Some(visibility) = visibility {
        preview::check_visibility(visibility, settings)?;
    }
    let listing = load::all(workspace)?;
    Ok(render::changelog(&listing, settings, visibility.unwrap_or(USUAL)))
}

/// Renders the changelog into `changelog.output`, in one step.
///
/// `CHANGELOG_OUTPUT_OUTSIDE_WORKSPACE` for a path that leaves the workspace, by itself or through a link, and for one
/// that belongs to Git.
pub fn write(workspace: &Workspace, visibility: Option<&str>) -> Result<Written, Failure> {
    workspace.module_writable("changelog", workspace.config.changelog.enabled)?;
    let path = target(workspace)?;
    let content = rendered(workspace, visibility)?;
    let root = &workspace.root;
    let real = fs::real_path(root, &path).map_err(|failure| match failure.code {
        Code::RECORD_PATH_ESCAPES_WORKSPACE => outside(workspace, "lies behind a link that leads out of it"),
        _ => failure,
    })?;
    let real_root = root.canonicalize().map_err(|error| Failure::io("resolve", root, &error))?;
    if real
        .strip_prefix(&real_root)
        .is_ok_and(|below| below.iter().any(|name| name.eq_ignore_ascii_case(".git")))
    {
        return Err(outside(workspace, "belongs to Git"));
    }
    fs::replace(&real_root, &real, content.as_bytes())?;
    Ok(Written { path, content })
}

/// The configured path, resolved.
fn target(workspace: &Workspace) -> Result<PathBuf, Failure> {
    let output = &workspace.config.changelog.output;
    let root = normalise(&workspace.root.to_string_lossy(), "/");
    let is_path = !output.contains('\0') && (cfg!(windows) || output.as_bytes().get(1) != Some(&b':'));
    let below =
        is_path.then(|| normalise(output, &root)).and_then(|full| inside(&root, &full).map(str::to_owned));
    match below.filter(|below| !below.is_empty()) {
        Some(below) => Ok(workspace.root.join(below)),
        None => Err(outside(workspace, "is no file inside it")),
    }
}

fn outside(workspace: &Workspace, why: &str) -> Failure {
    let output = &workspace.config.changelog.output;
    let text = format!("changelog.output must name a file of the workspace; `{output}` {why}");
    Failure::new(Code::CHANGELOG_OUTPUT_OUTSIDE_WORKSPACE, text).with("output", output.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::testing::{fragment, workspace};

    const FRAGMENT: &str = ".project/changelog/unreleased/CHG-0001-a.md";
    const RENDERED: &str = "# Changelog\n\n## Unreleased\n\n### Fixed\n\n- One\n";

    fn configured(output: &str) -> (tempfile::TempDir, Workspace) {
        let (root, mut workspace) = workspace(&[(FRAGMENT, &fragment("CHG-0001", "One"))]);
        output.clone_into(&mut workspace.config.changelog.output);
        (root, workspace)
    }

    #[test]
    fn the_file_is_written_inside_the_workspace_and_nowhere_else() {
        for output in ["CHANGELOG.md", "./docs/deep/../CHANGES.md"] {
            let (_root, workspace) = configured(output);
            let written = write(&workspace, None).unwrap();
            assert_eq!(written.content, RENDERED);
            assert_eq!(std::fs::read_to_string(&written.path).unwrap(), RENDERED);
            assert!(written.path.starts_with(&workspace.root));
        }
        for output in
            ["../x.md", "a/../../x.md", "..\\x.md", "/tmp/x.md", "", ".", "a/..", "C:\\x.md", "a\0b"]
        {
            let (_root, workspace) = configured(output);
            let refused = write(&workspace, None).unwrap_err();
            assert_eq!(refused.code, Code::CHANGELOG_OUTPUT_OUTSIDE_WORKSPACE, "{output:?}");
        }
        for output in [".git/config", "sub/.GIT/hooks/pre-commit"] {
            let (_root, workspace) = configured(output);
            let refused = write(&workspace, None).unwrap_err();
            assert_eq!(refused.code, Code::CHANGELOG_OUTPUT_OUTSIDE_WORKSPACE, "{output:?}");
            assert!(!workspace.root.join(output).exists());
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_followed_inside_the_workspace_only() {
        let (_root, workspace) = configured("CHANGELOG.md");
        let out = tempfile::tempdir().unwrap();
        std::fs::write(out.path().join("x"), "theirs").unwrap();
        let link = workspace.root.join("CHANGELOG.md");
        for target in [out.path().join("x"), out.path().join("new"), "/nowhere/at/all".into()] {
            std::os::unix::fs::symlink(target, &link).unwrap();
            let refused = write(&workspace, None).unwrap_err();
            assert_eq!(refused.code, Code::CHANGELOG_OUTPUT_OUTSIDE_WORKSPACE);
            std::fs::remove_file(&link).unwrap();
        }
        assert_eq!(std::fs::read_to_string(out.path().join("x")).unwrap(), "theirs");
        assert_eq!(std::fs::read_dir(out.path()).unwrap().count(), 1);
        std::fs::create_dir(workspace.root.join("docs")).unwrap();
        std::fs::write(workspace.root.join("docs/c.md"), "old").unwrap();
        std::os::unix::fs::symlink("docs/c.md", &link).unwrap();
        assert_eq!(write(&workspace, None).unwrap().path, link);
        assert_eq!(std::fs::read_to_string(workspace.root.join("docs/c.md")).unwrap(), RENDERED);
        assert!(link.is_symlink());
    }

    #[test]
    fn a_visibility_that_no_fragment_can_have_empties_no_file() {
        let (_root, workspace) = configured("CHANGELOG.md");
        write(&workspace, None).unwrap();
        let refused = write(&workspace, Some("secret")).unwrap_err();
        assert_eq!(refused.code, Code::CHANGE_VISIBILITY_INVALID);
        assert_eq!(std::fs::read_to_string(workspace.root.join("CHANGELOG.md")).unwrap(), RENDERED);
        assert_eq!(rendered(&workspace, Some("internal")).unwrap(), "# Changelog\n");
    }
}
