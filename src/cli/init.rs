//! `init`: makes a workspace, shows first what that means, and says how to go on.

use super::{
    Args, Command, Context, DryRun, Flag, Listed, Offers, Output, invalid_option, sanitise, split_list,
};
use crate::failure::{Code, Failure};
use crate::path::one_line;
use crate::surface::init::{self, Existing, Plan, Status, Wishes};
use crate::workspace::{self, AGENT_TARGETS, CI_TARGETS, Missing};
use serde_json::{Value as Json, json};
use std::fmt::Write as _;
use std::io::{BufRead, IsTerminal, Read as _, Write};

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
    let mut plan = init::plan(&root, wishes.clone(), existing)?;
    if args.has("dry-run") {
        return Ok(Output::new(dry_json(&plan), dry_text(&plan)));
    }
    let consent = if let Some(consent) = unasked(context, args) {
        consent
    } else {
        let (mut stdin, mut terminal) = (std::io::stdin().lock(), std::io::stderr());
        plan = init::plan(&root, ask(&plan, wishes, &mut stdin, &mut terminal)?, existing)?;
        agree(&plan, &mut stdin, &mut terminal)?;
        Consent::Asked
    };
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
    let list = |flag: &str| args.get(flag).map(|written| items(flag, written)).transpose();
    Ok(Wishes { name, areas: list("areas")?, docs: list("docs")?, agents: list("agents")?, ci: list("ci")? })
}

/// The items of a list of names, each once; targets are known ones.
fn items(flag: &str, written: &str) -> Result<Vec<String>, Failure> {
    let (wanted, allowed): (_, &[&str]) = match flag {
        "areas" => ("one or more areas, each once", &[]),
        "docs" => ("one or more patterns, each once", &[]),
        "agents" => ("known targets, each once", AGENT_TARGETS),
        _ => ("known targets, each once", CI_TARGETS),
    };
    let items = split_list(written);
    let twice = items.iter().enumerate().any(|(at, item)| items[..at].contains(item));
    let foreign = !allowed.is_empty() && items.iter().any(|item| !allowed.contains(&&**item));
    if twice || foreign || (allowed.is_empty() && items.is_empty()) {
        let failure = invalid_option(flag, written, wanted);
        return Err(if foreign { failure.with("allowed", allowed) } else { failure });
    }
    Ok(items)
}

/// Why nobody is asked; `None` when somebody is.
fn unasked(context: &Context, args: &Args) -> Option<Consent> {
    if args.has("yes") {
        return Some(Consent::Given);
    }
    if context.json {
        return Some(Consent::Assumed("--json asks nothing"));
    }
    let is_terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    (!is_terminal).then_some(Consent::Assumed("there is no terminal to ask at"))
}

/// What a value is, where it is asked for.
const QUESTIONS: [(&str, &str); 5] = [
    ("name", "The project's name"),
    ("areas", "Areas of cards, the default one first"),
    ("docs", "Patterns of documents"),
    ("agents", "Agent instructions: agents-md, claude, cursor, copilot, or none"),
    ("ci", "Continuous integration: github, gitlab, generic, or none"),
];

/// Longest answer that is read, in bytes.
const ANSWER: u64 = 4096;

/// Asks for every value that was detected; an empty answer takes it as it is, one that cannot be is asked for again.
fn ask(
    plan: &Plan,
    mut wishes: Wishes,
    from: &mut impl BufRead,
    to: &mut impl Write,
) -> Result<Wishes, Failure> {
    let rows = plan.values.rows();
    let _ = writeln!(to, "Enter takes what stands in brackets; nothing is written before the last question.");
    for (flag, question) in QUESTIONS.iter().filter(|(flag, _)| plan.detected.contains(flag)) {
        let detected = rows.iter().find(|(name, _)| name == flag).map_or("", |(_, value)| value);
        loop {
            let _ = write!(to, "{}", sanitise(&format!("{question} [{detected}]: ")));
            let _ = to.flush();
            let answer = one_line(&read_answer(from)?);
            if answer.is_empty() {
                break;
            }
            match set(&mut wishes, flag, &answer) {
                Ok(()) => break,
                Err(failure) => {
                    let _ = writeln!(to, "{}", sanitise(&failure.text));
                }
            }
        }
    }
    Ok(wishes)
}

fn set(wishes: &mut Wishes, flag: &str, answer: &str) -> Result<(), Failure> {
    // An empty answer means what was detected, so nothing needs a word.
    let answer = if answer == "none" && matches!(flag, "agents" | "ci") { "" } else { answer };
    match flag {
        "name" => wishes.name = Some(answer.to_owned()),
        "areas" => wishes.areas = Some(items(flag, answer)?),
        "docs" => wishes.docs = Some(items(flag, answer)?),
        "agents" => wishes.agents = Some(items(flag, answer)?),
        _ => wishes.ci = Some(items(flag, answer)?),
    }
    Ok(())
}

/// One line; whoever closes the terminal instead has cancelled.
fn read_answer(from: &mut impl BufRead) -> Result<String, Failure> {
    let mut answer = String::new();
    match from.by_ref().take(ANSWER).read_line(&mut answer) {
        Ok(length) if length > 0 => Ok(answer),
        _ => Err(cancelled()),
    }
}

fn cancelled() -> Failure {
    Failure::new(Code::INIT_CANCELLED, "cancelled; nothing was written")
}

/// Shows the plan and asks; `INIT_CANCELLED` when the answer is no.
fn agree(plan: &Plan, from: &mut impl BufRead, to: &mut impl Write) -> Result<(), Failure> {
    let root = plan.root.display();
    let shown =
        sanitise(&format!("\nThis makes a workspace in {root}\n\n{}", plan_text(plan, Folders::Counted)));
    let _ = write!(to, "{shown}\nProceed? [Y/n] ");
    let _ = to.flush();
    if agrees(&read_answer(from)?) { Ok(()) } else { Err(cancelled()) }
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
    for file in plan.all_files() {
        let _ = writeln!(out, "  {:<10} {}", file.status.word(), file.path);
    }
    out
}

fn dry_text(plan: &Plan) -> String {
    let mut out =
        format!("would make a workspace in {}\n\n{}", plan.root.display(), plan_text(plan, Folders::Named));
    for file in plan.all_files() {
        let _ = write!(out, "\n{}:\n{}", file.path, String::from_utf8_lossy(&file.bytes));
    }
    out.truncate(out.trim_end().len());
    out
}

fn plan_json(plan: &Plan) -> Json {
    let values = &plan.values;
    let folders = plan.folders.iter().map(|(path, status)| json!({ "path": path, "status": status.word() }));
    let files = plan.all_files().map(|file| json!({ "path": file.path, "status": file.status.word() }));
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
    for (entry, file) in json["files"].as_array_mut().into_iter().flatten().zip(plan.all_files()) {
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
