//! Claude Code: install, check, plugin.
