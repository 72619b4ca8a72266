//! Claude Code: what an install writes into a repository, how it is compared, and the same surface as a plugin.
//!
//! The Markdown files are managed blocks, `.claude/settings.json` is merged handler by handler, `.mcp.json` gains one
//! server, and a ledger says which of their values are generated. Which files there are is the table `texts::TEXTS`, which hooks the table
//! `hooks::HOOKS`; install, check and plugin read both.

mod binary;
mod check;
mod entry;
mod folders;
mod hooks;
mod install;
mod jsonedit;
mod jsontext;
mod ledger;
mod live;
mod opened;
mod plugin;
mod retired;
mod servers;
mod settings;
mod stamp;
mod texts;
mod uninstall;

pub use binary::{Form, Reach, Runtime, Surroundings, vendored_version};
pub use check::{
    Entry as Checked, Report as CheckReport, Status as CheckStatus, check, is_behind, is_installed,
    is_skill_behind,
};
pub use entry::{Entry as Installed, Status};
pub use install::{Report as InstallReport, install};
pub use live::{Fired, LastSeen, Report as LiveReport, Verdict, fire_registered};
pub use plugin::{PluginFile, render as render_plugin, write as write_plugin};
pub use stamp::Stamp;
pub use uninstall::{Report as UninstallReport, uninstall};

/// The settings that a repository shares.
const SETTINGS: &str = ".claude/settings.json";

/// Settings of one person in this repository; the host reads them over the shared ones.
const LOCAL_SETTINGS: &str = ".claude/settings.local.json";

/// The skill of a repository; without it nothing is installed here.
pub const SKILL: &str = ".claude/skills/workfile/SKILL.md";

/// The plugin as settings name it: `plugin@marketplace`.
const PLUGIN_ID: &str = "workfile@illodev";
