//! `claude`: the surface in Claude Code, and `dev plugin`, which renders it for this project's own tree.

use super::{Args, Command, Context, DryRun, Flag, Listed, Output};
use crate::failure::{Class, Code, Failure};
use crate::surface::claude::{
    CheckReport, CheckStatus, Checked, Fired, Form, InstallReport, Installed, LastSeen, LiveReport, Reach,
    Runtime, Surroundings, UninstallReport, Verdict, check, fire_registered, install, uninstall,
    write_plugin,
};
use crate::surface::managed::{Apply, Foreign};
use serde_json::json;
use std::fmt::Write as _;

const FORCE: &[Flag] = &[Flag::switch("force", "overwrite generated files that have other content")];

const LIVE: &[Flag] = &[Flag::switch(
    "live",
    "run the commands that the settings name, in a throwaway workspace; exit 1 when one is wrong",
)];

pub(super) const COMMANDS: &[Command] = &[
    Command {
        words: &["claude", "install"],
        operands: "",
        most_operands: 0,
        about: "write hooks, commands and skill for Claude Code",
        flags: FORCE,
        examples: &[
            ("workfile claude install --dry-run", "which files would be written, and which would not"),
            (
                "workfile claude install",
                "hooks, slash commands and skill in .claude; what is yours there stays",
            ),
        ],
        dry_run: DryRun::Yes,
        listed: Listed::Yes,
        run: run_install,
    },
    Command {
        words: &["claude", "sync"],
        operands: "",
        most_operands: 0,
        about: "the same as `claude install`",
        flags: FORCE,
        examples: &[],
        dry_run: DryRun::Yes,
        listed: Listed::No,
        run: run_install,
    },
    Command {
        words: &["claude", "uninstall"],
        operands: "",
        most_operands: 0,
        about: "take out what `claude install` wrote; every other byte stays",
        flags: &[],
        examples: &[
            (
                "workfile claude uninstall --dry-run",
                "which files would go, which would change, which would stay",
            ),
            ("workfile claude uninstall", "no hook, command or skill of Workfile is left in .claude"),
        ],
        dry_run: DryRun::Yes,
        listed: Listed::Yes,
        run: run_uninstall,
    },
    Command {
        words: &["claude", "check"],
        operands: "",
        most_operands: 0,
        about: "compare them with an install; exit 1 when a file is not current",
        flags: LIVE,
        examples: &[
            (
                "workfile claude check",
                "whether what is installed is current, and whether the hooks can be started",
            ),
            (
                "workfile claude check --live",
                "the same, and every registered hook is run once to see whether it answers",
            ),
        ],
        dry_run: DryRun::No,
        listed: Listed::Yes,
        run: run_check,
    },
    Command {
        words: &["claude"],
        operands: "",
        most_operands: 0,
        about: "the same as `claude check`; `claude install` writes the files",
        flags: &[],
        examples: &[],
        dry_run: DryRun::No,
        listed: Listed::No,
        run: run_check,
    },
    Command {
        words: &["dev", "plugin"],
        operands: "",
        most_operands: 0,
        about: "render the Claude Code plugin into the source tree",
        flags: &[],
        examples: &[],
        dry_run: DryRun::Yes,
        listed: Listed::No,
        run: run_plugin,
    },
];

fn apply(args: &Args) -> Apply {
    if args.has("dry-run") { Apply::DryRun } else { Apply::Write }
}

fn run_install(ctx: &Context, args: &Args) -> Result<Output, Failure> {
    let workspace = ctx.workspace()?;
    let apply = apply(args);
    if apply == Apply::Write {
        workspace.writable()?;
    }
    let foreign = if args.has("force") { Foreign::Overwrite } else { Foreign::Refuse };
    let report = install(&workspace.root, foreign, apply);
    let output = Output::new(report.to_json(), install_text(&report)).exit(refused_exit(report.refused()));
    let runtime = Runtime::resolve(&workspace.root, report.form, &Surroundings::of_process());
    Ok(match runtime.warning() {
        None => output,
        Some(warning) => output.note(format!("workfile: {warning}")),
    })
}

/// A conflict, unless the system failed.
fn refused_exit<'a>(refused: impl Iterator<Item = &'a Installed>) -> u8 {
    let mut codes = refused.filter_map(|file| file.code).peekable();
    if codes.peek().is_none() {
        return 0;
    }
    let internal = codes.find(|code| code.class == Class::Internal);
    internal.unwrap_or(Code::CLAUDE_SETTINGS_CONFLICT).exit()
}

fn install_text(report: &InstallReport) -> String {
    let left = report.refused().count();
    let mut text = match (report.apply, left) {
        (Apply::DryRun, _) => "Claude Code surface, dry run: nothing is written".to_owned(),
        (Apply::Write, 0) => format!("Claude Code surface: the hooks run `{}`", report.form.command()),
        (Apply::Write, 1) => "Claude Code surface: 1 file was left as it is".to_owned(),
        (Apply::Write, left) => format!("Claude Code surface: {left} files were left as they are"),
    };
    text.push('\n');
    lines(&mut text, &report.files);
    if report.apply == Apply::Write && report.rewires() {
        text.push_str(
            "\nThe hooks run in every Claude Code session that is started in this folder from now on.\n\
             `workfile claude check` says whether they are current and can be started.\n",
        );
    }
    text
}

fn lines(text: &mut String, files: &[Installed]) {
    for Installed { path, status, reason, hand_edited, .. } in files {
        let because = match reason {
            Some(reason) => format!(" ({reason})"),
            None if *hand_edited => " (a change made by hand inside it is gone)".to_owned(),
            None => String::new(),
        };
        line(text, status.name(), path, &because);
    }
}

fn run_uninstall(ctx: &Context, args: &Args) -> Result<Output, Failure> {
    let workspace = ctx.workspace()?;
    let apply = apply(args);
    if apply == Apply::Write {
        workspace.writable()?;
    }
    let report = uninstall(&workspace.root, apply);
    let exit = refused_exit(report.refused());
    Ok(Output::new(report.to_json(), uninstall_text(&report)).exit(exit))
}

fn uninstall_text(report: &UninstallReport) -> String {
    let mut text = match (report.apply, report.files.is_empty()) {
        (_, true) => "Claude Code surface: nothing is installed here".to_owned(),
        (Apply::DryRun, _) => "Claude Code surface, dry run: nothing is written".to_owned(),
        (Apply::Write, _) => "Claude Code surface: what an install wrote is gone".to_owned(),
    };
    if report.apply == Apply::Write && report.refused().next().is_some() {
        text.push_str(", but for what could not be handled");
    }
    text.push('\n');
    lines(&mut text, &report.files);
    text
}

fn line(text: &mut String, status: &str, what: &str, because: &str) {
    let _ = writeln!(text, "  {status:<10} {what}{because}");
}

fn run_check(ctx: &Context, args: &Args) -> Result<Output, Failure> {
    let workspace = ctx.workspace()?;
    let report = check(&workspace.root, &Surroundings::of_process());
    let (mut json, mut text) = (report.to_json(), check_text(&report));
    let mut ok = report.ok();
    if args.has("live") {
        let live = fire_registered(&workspace.root)?;
        ok &= live.ok();
        json["live"] = live.to_json();
        text.push_str(&live_text(&live));
    }
    Ok(Output::new(json, text).exit(u8::from(!ok)))
}

/// Every probe has a word in front: what was not answered does not look like what was.
fn live_text(live: &LiveReport) -> String {
    let mut text = String::from("\nFired as a client fires them, in a throwaway workspace:\n");
    for fired in &live.fired {
        let Fired { event, name, what, verdict, .. } = fired;
        let shown = match verdict {
            Verdict::Ok => "ok".to_owned(),
            verdict => verdict.name().to_uppercase(),
        };
        let mut details: Vec<String> = verdict.reason().map(str::to_owned).into_iter().collect();
        details.extend(fired.ms().map(|ms| format!("{ms:.2} ms")));
        details.extend(fired.command.as_ref().map(|(command, form)| format!("`{command}`, {form} form")));
        details.extend(fired.file.map(str::to_owned));
        let _ = writeln!(text, "  {shown:<14} {event} {name}: {what} ({})", details.join("; "));
    }
    let LastSeen { session_start, post_tool_use } = &live.last_seen;
    text.push_str("In this repository sessions themselves last fired:\n");
    for (event, at) in [("SessionStart", session_start), ("PostToolUse", post_tool_use)] {
        let _ = writeln!(text, "  {event:<14} {}", at.as_deref().unwrap_or("never, as far as is known here"));
    }
    text
}

fn check_text(report: &CheckReport) -> String {
    let behind = report.behind();
    let mut text = match behind {
        0 => "Claude Code surface: every file is current\n".to_owned(),
        behind => {
            let are = if behind == 1 { "is" } else { "are" };
            format!("Claude Code surface: {behind} of {} files {are} not current\n", report.files.len())
        }
    };
    for Checked { path, status, reason, .. } in &report.files {
        let because = reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
        line(&mut text, status.name(), path, &because);
    }
    let Runtime { form, reach, resolved, version, .. } = &report.runtime;
    let mut found = resolved.as_ref().map(|path| format!(" -> {}", path.display())).unwrap_or_default();
    if let Some(version) = version {
        let _ = write!(found, " v{version}");
    }
    line(&mut text, reach.name(), form.command(), &found);
    // What the lines above have said already is not repeated.
    for issue in report.issues.iter().filter(|issue| !issue.code.starts_with("claude-surface-")) {
        let _ = writeln!(text, "{}: {} [{}]", issue.severity.name(), issue.message, issue.code);
    }
    let unmanaged = report.files.iter().filter(|file| file.status == CheckStatus::Unmanaged).count();
    if *form == Form::Plugin {
        text.push_str(
            "The plugin brings all of it along; an install would add the same hooks a second time.\n",
        );
    } else if behind > unmanaged {
        text.push_str("`workfile claude install` brings the files up to date.\n");
    }
    if unmanaged > 0 {
        text.push_str(
            "An install leaves what is unmanaged as it is: mend or move the file and install, or overwrite a command \
             or skill with `workfile claude install --force`.\n",
        );
    }
    if *reach == Reach::Unreachable && *form == Form::Path {
        text.push_str(
            "Put the folder of this program on the PATH, or the program itself at .project/bin/workfile and install again.\n",
        );
    }
    text
}

fn run_plugin(ctx: &Context, args: &Args) -> Result<Output, Failure> {
    let changed = write_plugin(&ctx.directory(), apply(args))?;
    let text = if changed.is_empty() { "the plugin is current".to_owned() } else { changed.join("\n") };
    Ok(Output::new(json!({ "changed": changed }), text))
}
