//! What is wrong with the workspace.

use super::output::{Member, Shape};
use super::{Answer, Call, Nature, Property, Size, Tool};
use crate::doctor::{Checks, Everything};
use crate::failure::Failure;
use crate::mcp::host::Host;
use crate::work::diagnose::{Git, Paths};
use crate::workspace::Workspace;
use serde_json::{Map, Value as Json};

pub(super) const TOOLS: &[Tool] = &[Tool {
    name: "project_doctor",
    title: "Health report",
    about: "Check every record of every module, their references to each other and the generated files, and report what is \
        wrong, errors first, each with a code, the record and its file. Nothing is changed. Run it before you call work \
        finished, and look at what names records you touched.",
    nature: Nature::Reads,
    input: &[
        Property::flag("checkPaths", "Also look whether files that records name exist.").or_flag(true),
        Property::flag(
            "checkGit",
            "Also ask git whether the commits of done cards are part of HEAD; no process starts unless a card names one.",
        )
        .or_flag(true),
    ],
    output: &[
        Member::new("ok", Shape::Flag).about("No error was found."),
        Member::new("generatedAt", Shape::Text).about("When, RFC 3339."),
        Member::new("cards", Shape::Integer).about("Cards looked at."),
        Member::new("modules", Shape::Counts).about("Records by module and collection."),
        Member::new("counts", Shape::Severities).about("Findings by severity; all, also when issues was shortened."),
        Member::new("issues", Shape::List(&Shape::Issue)),
    ],
    always: &["ok", "issues"],
    size: Size::Grows,
    run: doctor,
}];

fn doctor(call: &Call<'_>) -> Answer {
    let paths = if call.arguments.flag("checkPaths") { Paths::Check } else { Paths::Skip };
    let git = if call.arguments.flag("checkGit") { Git::Check } else { Git::Skip };
    report(call.host, &call.workspace()?, Checks { paths, git })
}

/// What the doctor reports.
pub(in crate::mcp) fn report(
    host: &Host,
    workspace: &Workspace,
    checks: Checks,
) -> Result<Map<String, Json>, Failure> {
    let report = Everything::of(host.index(workspace)?).report(workspace, checks);
    Ok(report.to_json(&report.findings, usize::MAX))
}
