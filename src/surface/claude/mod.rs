//! Claude Code: what an install writes into a repository, how it is compared, and the same surface as a plugin.
//!
//! The Markdown files are managed blocks, `.claude/settings.json` is merged handler by handler, and a ledger says which
//! of its values are generated. Which files there are is the table `texts::TEXTS`, which hooks the table
//! `hooks::HOOKS`; install, check and plugin read both.

mod binary;
mod check;
mod hooks;
mod install;
mod jsonedit;
mod jsontext;
mod ledger;
mod plugin;
mod retired;
mod settings;
mod stamp;
mod texts;

pub use binary::{Form, Reach, Runtime, Surroundings};
pub use check::{Entry as Checked, Report as CheckReport, Status as CheckStatus, check, is_installed};
pub use install::{Entry as Installed, Report as InstallReport, Status, install};
pub use plugin::{PluginFile, render as render_plugin, write as write_plugin};
pub use stamp::Stamp;

/// The settings that a repository shares.
const SETTINGS: &str = ".claude/settings.json";

/// The plugin as settings name it: `plugin@marketplace`.
const PLUGIN_ID: &str = "workfile@illodev";
