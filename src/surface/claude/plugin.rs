//! The plugin: the same surface for repositories that want no generated files.
//!
//! Its root is `hooks/` of this project's repository. Everything in it is rendered from what an install uses; a test
//! compares the files in the tree byte for byte, so neither form can drift from the other.

use super::binary::Form;
use super::hooks::wiring;
use super::jsonedit::Layout;
use super::texts::TEXTS;
use crate::failure::{Code, Failure};
use crate::surface::managed;
use serde_json::{Value as Json, json};
use std::path::Path;

const DESCRIPTION: &str = env!("CARGO_PKG_DESCRIPTION");
const VERSION: &str = env!("CARGO_PKG_VERSION");
const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");
const LICENSE: &str = env!("CARGO_PKG_LICENSE");

/// Starts the binary; nothing else may be in a plugin that has none of its own.
const LAUNCHER: &str = include_str!("launcher.sh");

/// One file of the plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginFile {
    /// Relative to the root of the repository, with `/`.
    pub path: String,
    /// Its whole text.
    pub text: String,
    /// Whether it is run.
    pub is_program: bool,
}

/// Every file of the plugin and of the marketplace that offers it.
pub fn render() -> Vec<PluginFile> {
    let file = |path: &str, text: String| PluginFile { path: path.to_owned(), text, is_program: false };
    let json = |value: &Json| Layout::of("").render(value, 0) + "\n";
    let mut files = vec![
        file(".claude-plugin/marketplace.json", json(&marketplace())),
        file("hooks/.claude-plugin/plugin.json", json(&manifest())),
        file(
            "hooks/hooks.json",
            json(&json!({ "description": DESCRIPTION, "hooks": wiring(Form::Plugin.command()) })),
        ),
    ];
    files.push(file("hooks/.mcp.json", json(&server())));
    files.extend(TEXTS.iter().map(|text| file(&format!("hooks/{}", text.path), text.render(None))));
    files.push(PluginFile { is_program: true, ..file("hooks/bin/workfile", launcher()) });
    files
}

/// `hooks` is the only path that is not at its default place, and nothing at the default place competes with it.
fn manifest() -> Json {
    json!({
        "name": "workfile",
        "version": VERSION,
        "description": DESCRIPTION,
        "author": { "name": "illodev" },
        "homepage": REPOSITORY,
        "repository": REPOSITORY,
        "license": LICENSE,
        "keywords": ["agents", "claims", "hooks", "git"],
        "hooks": "./hooks.json",
    })
}

/// The server is told the project: it is started elsewhere.
fn server() -> Json {
    let command = Form::Plugin.server_command();
    json!({ "mcpServers": { "workfile": { "command": command, "args": ["mcp", "--root", "${CLAUDE_PROJECT_DIR}"] } } })
}

fn marketplace() -> Json {
    json!({
        "name": "illodev",
        "owner": { "name": "illodev" },
        "description": "Workfile for Claude Code",
        "plugins": [{
            "name": "workfile",
            "source": "./hooks",
            "version": VERSION,
            "description": DESCRIPTION,
            "homepage": REPOSITORY,
            "license": LICENSE,
        }],
    })
}

fn launcher() -> String {
    let context = format!(
        "Workfile: the plugin is enabled, but no `workfile` binary is installed, so claims are neither shown nor \
         guarded in this session. `cargo install --git {REPOSITORY}` puts it on PATH."
    );
    let missing =
        json!({ "hookSpecificOutput": { "hookEventName": "SessionStart", "additionalContext": context } });
    LAUNCHER.replace("@MISSING@", &missing.to_string())
}

/// Writes the plugin into this project's own tree and names the files that changed.
pub fn write(root: &Path, apply: managed::Apply) -> Result<Vec<String>, Failure> {
    let mine = std::fs::read_to_string(root.join("Cargo.toml"))
        .is_ok_and(|text| text.contains("name = \"workfile\""));
    if !mine {
        let text = format!("{} is not the source tree of workfile", root.display());
        return Err(Failure::new(Code::CLI_ARGUMENT_INVALID, text));
    }
    let mut changed = Vec::new();
    for PluginFile { path, text, is_program } in render() {
        let file = managed::read(root, &path)?;
        if file.bytes.as_deref() == Some(text.as_bytes()) {
            continue;
        }
        if apply == managed::Apply::Write {
            managed::write(root, &file, &text)?;
            if is_program {
                make_executable(&file.path)?;
            }
        }
        changed.push(path);
    }
    Ok(changed)
}

#[cfg(unix)]
fn make_executable(path: &Path) -> Result<(), Failure> {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(path, mode).map_err(|error| Failure::io("make executable", path, &error))
}

#[cfg(not(unix))]
fn make_executable(_path: &Path) -> Result<(), Failure> {
    Ok(())
}
