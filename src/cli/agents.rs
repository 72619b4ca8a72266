//! `workfile agents …`: instructions for agents, and who the program takes a session for.

use super::{Args, Column, Command, Context, DryRun, Flag, Listed, Output, Table};
use crate::failure::Failure;
use crate::surface::agents::{self, Synced};
use crate::surface::claude;
use crate::surface::managed::{Apply, Foreign, Outcome};
use crate::work::claim::NOBODY;
use crate::workspace::Workspace;
use serde_json::{Map, Value as Json};
use std::fmt::Write as _;

const TARGETS: Flag =
    Flag::value("targets", "A,B", "only these: agents-md, claude; without it the configured ones");

pub(super) const COMMANDS: &[Command] = &[
    Command {
        words: &["agents", "sync"],
        operands: "",
        most_operands: 0,
        about: "write the protocol and what points AGENTS.md and CLAUDE.md to it",
        flags: &[TARGETS, Flag::switch("force", "overwrite generated files that have other content")],
        examples: &[
            ("workfile agents sync --dry-run", "which files would be written"),
            ("workfile agents sync --targets agents-md,claude", "both instruction files, and the protocol"),
        ],
        dry_run: DryRun::Yes,
        listed: Listed::Yes,
        run: sync,
    },
    Command {
        words: &["agents", "check"],
        operands: "",
        most_operands: 0,
        about: "compare them with a sync; exit 1 when one is not current",
        flags: &[TARGETS],
        examples: &[("workfile agents check", "whether the instructions are what this version writes")],
        dry_run: DryRun::No,
        listed: Listed::Yes,
        run: check,
    },
    Command {
        words: &["agents", "status"],
        operands: "",
        most_operands: 0,
        about: "the same as `agents check`",
        flags: &[TARGETS],
        examples: &[],
        dry_run: DryRun::No,
        listed: Listed::No,
        run: check,
    },
    Command {
        words: &["agents", "whoami"],
        operands: "",
        most_operands: 0,
        about: "print whom changes are attributed to",
        flags: &[],
        examples: &[("workfile agents whoami", "the name a claim would carry, and where it comes from")],
        dry_run: DryRun::No,
        listed: Listed::Yes,
        run: whoami,
    },
];

fn targets(workspace: &Workspace, args: &Args) -> Result<Vec<String>, Failure> {
    agents::targets(workspace, args.list("targets").as_deref())
}

fn sync(context: &Context, args: &Args) -> Result<Output, Failure> {
    let workspace = context.workspace()?;
    let foreign = if args.has("force") { Foreign::Overwrite } else { Foreign::Refuse };
    let apply = if args.has("dry-run") { Apply::DryRun } else { Apply::Write };
    let report = agents::sync(&workspace, targets(&workspace, args)?, foreign, apply)?;
    let exit = report.refused().map(|(_, failure)| failure.code.exit()).max().unwrap_or(0);
    let rows = report.files.iter().map(|file| [file.status(), &file.path]);
    let table = Table::new([Column::Status, Column::Detail], rows);
    let output = Output::rows(report.to_json(), table, String::new()).exit(exit);
    let note = |output: Output, (file, failure): (&Synced, &Failure)| {
        output.note(format!("workfile: {}: {}", file.path, failure.message()))
    };
    let output = report.refused().fold(output, note);
    let behind = matches!(apply, Apply::Write) && claude::is_skill_behind(&workspace.root);
    let output = if behind {
        let path = claude::SKILL;
        output.note(format!(
            "workfile: {path} quotes the protocol; `workfile claude install` brings it up to date"
        ))
    } else {
        output
    };
    let edited = |file: &&Synced| matches!(file.outcome, Ok(Outcome::Updated { hand_edited: true }));
    Ok(report.files.iter().filter(edited).fold(output, |output, file| {
        output.note(format!("workfile: {}: a change made by hand inside the block is gone", file.path))
    }))
}

fn check(context: &Context, args: &Args) -> Result<Output, Failure> {
    let workspace = context.workspace()?;
    let report = agents::check(&workspace, &targets(&workspace, args)?);
    let rows = report.files.iter().map(|file| {
        let state = file.verdict.state;
        [state.name(), &file.path, state.reason().unwrap_or_default()]
    });
    let table = Table::new([Column::Status, Column::Detail, Column::Word], rows);
    Ok(Output::rows(report.to_json(), table, String::new()).exit(u8::from(!report.ok())))
}

fn whoami(context: &Context, args: &Args) -> Result<Output, Failure> {
    let identity = context.identity(args)?;
    let mut json = Map::new();
    let mut put = |key: &str, value: Option<&str>| {
        if let Some(value) = value {
            json.insert(key.to_owned(), value.into());
        }
    };
    put("actor", identity.actor.as_deref());
    put("source", Some(identity.source.name()));
    put("sessionId", identity.session.as_deref());
    let actor = identity.actor.as_deref().unwrap_or("(unresolved)");
    let mut text = format!("{actor}\t{}", identity.source.name());
    if let Some(session) = &identity.session {
        let _ = write!(text, "\nsession\t{session}");
    }
    let output = Output::new(Json::Object(json), text);
    Ok(match identity.actor {
        Some(_) => output,
        None => output.note(format!("workfile: nobody can be named: {NOBODY}")),
    })
}
