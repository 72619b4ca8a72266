//! `init`: makes a workspace, shows first what that means, and says how to go on.

use super::{Args, Command, Context, DryRun, Flag, Listed, Offers, Output, invalid_option, sanitise};
use crate::failure::{Code, Failure};
use crate::path::one_line;
use crate::surface::init::{self, Existing, Plan, Status, Wishes};
use crate::workspace::{self, AGENT_TARGETS, CI_TARGETS, Missing};
use serde_json::{Value as Json, json};
use std::fmt::Write as _;
use std::io::{BufRead, IsTerminal, Read, Write as _};

pub(super) const COMMANDS: &[Command] = &[Command {
    words: &["init"],
    operands: "",
    most_operands: 0,
    about: "make a workspace in this repository",
    flags: &[
        Flag::switch("yes", "use what was detected and do not ask"),
        Flag::switch("force", "overwrite the configuration and VERSION that are there"),
        Flag::value("name", "NAME", "the project's name"),
        Flag::value("areas", "A,B", "areas of cards, the default one first"),
        Flag::value("docs", "A,B", "patterns of documents"),
        Flag::value(
            "agents",
            "A,B",
            "agent instructions: agents-md, claude, cursor, copilot; empty for none",
        )
        .offers(Offers::Words(AGENT_TARGETS)),
        Flag::value("ci", "A,B", "continuous integration: github, gitlab, generic; empty for none")
            .offers(Offers::Words(CI_TARGETS)),
    ],
    examples: &[
        ("workfile init", "look at what was detected and agree"),
        (
            "workfile init --yes --name \"Ferry\" --areas api,web",
            "name the project and its areas and ask nothing",
        ),
        ("workfile init --dry-run", "every file as it would be written"),
    ],
    dry_run: DryRun::Yes,
    listed: Listed::Yes,
    run,
}];

/// How to go on from a fresh workspace.
const NEXT: [&str; 3] = [
    "workfile card create --title \"What is to be done\"",
    "workfile card claim T-0001 --scope src",
    "workfile claude install",
];

/// Who agreed to the plan.
enum Consent {
    /// `--yes`.
    Given,
    /// Somebody at the terminal.
    Asked,
    /// Nobody could be asked, for this reason.
    Assumed(&'static str),
}

fn run(context: &Context, args: &Args) -> Result<Output, Failure> {
    let wishes = wishes(args)?;
    let existing = if args.has("force") { Existing::Overwrite } else { Existing::Keep };
    let root = workspace::locate(&context.start, Missing::Allow)?;
    context.announce(&root);
    let plan = init::plan(&root, wishes, existing)?;
    if args.has("dry-run") {
        return Ok(Output::new(dry_json(&plan), dry_text(&plan)));
    }
    let consent = consent(context, args, &plan)?;
    plan.apply()?;
    let mut json = plan_json(&plan);
    json["next"] = json!(NEXT);
    let headline = format!("made a workspace in {}\n", plan.root.display());
    let text = match consent {
        Consent::Asked => headline,
        Consent::Given | Consent::Assumed(_) => format!("{headline}\n{}", plan_text(&plan, Folders::Counted)),
    };
    let output = Output::new(Json::Null, format!("{text}\nNext:\n  {}", NEXT.join("\n  ")));
    Ok(match consent {
        Consent::Given => Output { json, ..output },
        Consent::Asked => {
            json["interactive"] = json!({ "prompted": true });
            Output { json, ..output }
        }
        Consent::Assumed(reason) => {
            json["interactive"] = json!({ "prompted": false, "reason": reason, "silenceWith": "--yes" });
            let output = Output { json, ..output };
            if plan.detected.is_empty() { output } else { output.note(assumed(&plan, reason)) }
        }
    })
}

/// What the flags ask for, checked.
fn wishes(args: &Args) -> Result<Wishes, Failure> {
    let name = args.get("name").map(one_line);
    if name.as_ref().is_some_and(String::is_empty) {
        return Err(invalid_option("name", "", "a name"));
    }
    let list = |flag: &str, wanted: &str, allowed: &[&str]| -> Result<Option<Vec<String>>, Failure> {
        let Some(items) = args.list(flag) else { return Ok(None) };
        let written = args.get(flag).unwrap_or_default();
        let twice = items.iter().enumerate().any(|(at, item)| items[..at].contains(item));
        let foreign = !allowed.is_empty() && items.iter().any(|item| !allowed.contains(&&**item));
        if twice || foreign || (allowed.is_empty() && items.is_empty()) {
            let failure = invalid_option(flag, written, wanted);
            return Err(if foreign { failure.with("allowed", allowed) } else { failure });
        }
        Ok(Some(items))
    };
    Ok(Wishes {
        name,
        areas: list("areas", "one or more areas, each once", &[])?,
        docs: list("docs", "one or more patterns, each once", &[])?,
        agents: list("agents", "known targets, each once", AGENT_TARGETS)?,
        ci: list("ci", "known targets, each once", CI_TARGETS)?,
    })
}

/// Asks at a terminal; `INIT_CANCELLED` when the answer is no.
fn consent(context: &Context, args: &Args, plan: &Plan) -> Result<Consent, Failure> {
    if args.has("yes") {
        return Ok(Consent::Given);
    }
    if context.json {
        return Ok(Consent::Assumed("--json asks nothing"));
    }
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Ok(Consent::Assumed("there is no terminal to ask at"));
    }
    let mut terminal = std::io::stderr();
    let shown = sanitise(&format!(
        "This makes a workspace in {}\n\n{}",
        plan.root.display(),
        plan_text(plan, Folders::Counted)
    ));
    let _ = write!(terminal, "{shown}\nProceed? [Y/n] ");
    let mut answer = String::new();
    let read = std::io::stdin().lock().take(256).read_line(&mut answer);
    if read.is_ok_and(|length| length > 0) && agrees(&answer) {
        return Ok(Consent::Asked);
    }
    Err(Failure::new(Code::INIT_CANCELLED, "cancelled; nothing was written"))
}

/// Whether an answer is yes; an empty line is.
fn agrees(answer: &str) -> bool {
    matches!(&*one_line(answer).to_lowercase(), "" | "y" | "yes")
}

fn assumed(plan: &Plan, reason: &str) -> String {
    let rows = plan.values.rows();
    let used: Vec<String> = rows
        .iter()
        .filter(|(flag, _)| plan.detected.contains(flag))
        .map(|(flag, value)| format!("  --{flag:<7} {value}"))
        .collect();
    format!(
        "{reason}, so these were detected and used; choose with the flags, or say --yes:\n{}",
        used.join("\n")
    )
}

/// How much is said about folders.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Folders {
    /// Each by its name.
    Named,
    /// How many there are: they are the same in every workspace.
    Counted,
}

fn plan_text(plan: &Plan, folders: Folders) -> String {
    let mut out = String::new();
    for (flag, value) in plan.values.rows() {
        let _ = writeln!(out, "  {flag:<10} {value}");
    }
    out.push('\n');
    let made = plan.folders.iter().filter(|(_, status)| *status == Status::Created).count();
    if folders == Folders::Counted && made > 0 {
        let plural = if made == 1 { "folder" } else { "folders" };
        let _ = writeln!(out, "  {:<10} {made} {plural} for records", Status::Created.word());
    }
    for (path, status) in plan.folders.iter().filter(|_| folders == Folders::Named) {
        let _ = writeln!(out, "  {:<10} {path}/", status.word());
    }
    for file in &plan.files {
        let _ = writeln!(out, "  {:<10} {}", file.status.word(), file.path);
    }
    out
}

fn dry_text(plan: &Plan) -> String {
    let mut out =
        format!("would make a workspace in {}\n\n{}", plan.root.display(), plan_text(plan, Folders::Named));
    for file in &plan.files {
        let _ = write!(out, "\n{}:\n{}", file.path, String::from_utf8_lossy(&file.bytes));
    }
    out.truncate(out.trim_end().len());
    out
}

fn plan_json(plan: &Plan) -> Json {
    let values = &plan.values;
    let folders = plan.folders.iter().map(|(path, status)| json!({ "path": path, "status": status.word() }));
    let files = plan.files.iter().map(|file| json!({ "path": file.path, "status": file.status.word() }));
    json!({
        "root": plan.root.display().to_string(),
        "dryRun": false,
        "values": {
            "name": values.name,
            "areas": values.areas,
            "docs": values.docs,
            "agents": values.agents,
            "ci": values.ci,
        },
        "detected": plan.detected,
        "directories": folders.collect::<Vec<_>>(),
        "files": files.collect::<Vec<_>>(),
    })
}

fn dry_json(plan: &Plan) -> Json {
    let mut json = plan_json(plan);
    json["dryRun"] = json!(true);
    for (entry, file) in json["files"].as_array_mut().into_iter().flatten().zip(&plan.files) {
        entry["content"] = json!(String::from_utf8_lossy(&file.bytes));
    }
    json
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_yes_and_silence_agree() {
        for answer in ["\n", "y\n", "Yes\r\n", " Y"] {
            assert!(agrees(answer), "{answer:?}");
        }
        for answer in ["n\n", "no", "q", "yeah", "y n"] {
            assert!(!agrees(answer), "{answer:?}");
        }
    }
}
