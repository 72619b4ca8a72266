//! Generated files that are not what this version writes.

use crate::surface::agents;
use crate::surface::claude::{self, Surroundings};
use crate::workspace::{Finding, Switch, Workspace, is_enabled};

pub(super) fn findings(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    if is_enabled(&workspace.raw, agents::MODULE) == Switch::On
        && let Ok(targets) = agents::targets(workspace, None)
    {
        findings.extend(agents::check(workspace, &targets).findings());
    }
    // Nobody has to use Claude Code: only what was installed once is held to it.
    if claude::is_installed(&workspace.root) {
        findings.extend(claude::check(&workspace.root, &Surroundings::of_process()).issues);
    }
    findings
}
