//! `upgrade` and `migrate schema`: what is to be done after another version of the program was installed.

use super::{Args, Command, Context, DryRun, Listed, Output};
use crate::failure::{Code, Failure};
use crate::surface::claude::Surroundings;
use crate::surface::managed::Apply;
use crate::surface::upgrade::{Report, upgrade};
use crate::workspace::SCHEMA_VERSION;
use serde_json::json;
use std::fmt::Write as _;

pub(super) const COMMANDS: &[Command] = &[
    Command {
        words: &["upgrade"],
        operands: "",
        most_operands: 0,
        about: "bring generated files to this version; say when the workspace runs another one",
        flags: &[],
        examples: &[
            ("workfile upgrade --dry-run", "what is behind"),
            ("workfile upgrade", "instructions, hooks, commands and skill as this version writes them"),
        ],
        dry_run: DryRun::Yes,
        listed: Listed::Yes,
        run: run_upgrade,
    },
    Command {
        words: &["migrate", "schema"],
        operands: "",
        most_operands: 0,
        about: "bring the records of an older workspace to this schema",
        flags: &[],
        examples: &[("workfile migrate schema", "whether there is anything to migrate")],
        dry_run: DryRun::No,
        listed: Listed::Yes,
        run: migrate_schema,
    },
];

fn run_upgrade(context: &Context, args: &Args) -> Result<Output, Failure> {
    let workspace = context.workspace()?;
    let apply = if args.has("dry-run") { Apply::DryRun } else { Apply::Write };
    let report = upgrade(&workspace, &Surroundings::of_process(), apply)?;
    let exit = report.refused().map(|(_, code)| code.exit()).max().unwrap_or(0);
    Ok(Output::new(report.to_json(), text(&report)).exit(exit))
}

fn text(report: &Report) -> String {
    let mut out = format!("upgrade to {}", report.binary.running);
    if report.apply == Apply::DryRun {
        out.push_str(", dry run: nothing is written");
    }
    out.push('\n');
    let mut line = |word: &str, what: &str| {
        let _ = writeln!(out, "  {word:<13} {what}");
    };
    for surface in &report.surfaces {
        line(surface.status.name(), surface.id);
        for file in surface.sync.iter().flat_map(|sync| &sync.files).filter(|file| file.status != "unchanged")
        {
            let because = file.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
            line("", &format!("  {:<10} {}{because}", file.status, file.path));
        }
    }
    for orphan in &report.orphans {
        let version =
            orphan.version.as_ref().map(|version| format!(", written by {version}")).unwrap_or_default();
        let why = format!("{}.targets does not name {}", orphan.surface, orphan.target);
        line("orphan", &format!("{} holds a block {}{version}, and {why}", orphan.file, orphan.kind));
    }
    if let Some(other) = report.binary.mismatch() {
        let (running, place) = (&report.binary.running, report.binary.registered.place());
        line("MISMATCH", &format!("this binary is v{running}, the workspace runs v{other} ({place})"));
    }
    out
}

/// There is one schema, so nothing older can be brought to it; saying so needs a workspace that loads all the same.
fn migrate_schema(context: &Context, _: &Args) -> Result<Output, Failure> {
    let workspace = context.workspace_to_migrate()?;
    let wanted = f64::from(SCHEMA_VERSION);
    let found = workspace.written_schema();
    if found == Some(wanted) {
        let json = json!({ "schemaVersion": SCHEMA_VERSION, "changed": false });
        return Ok(Output::new(json, format!("already at schema {SCHEMA_VERSION}")));
    }
    let place = workspace.paths.project.join("VERSION");
    let what = match found {
        Some(found) if found > wanted => {
            format!("schema {found}, which is newer than this program: upgrade the program")
        }
        Some(found) => format!("schema {found}, from which no migration to schema {SCHEMA_VERSION} is known"),
        None => "no number in schemaVersion".to_owned(),
    };
    let text = format!("{} says {what}", place.display());
    Err(Failure::new(Code::CONFIG_SCHEMA_UNSUPPORTED, text).with("versionSchemaVersion", found))
}
