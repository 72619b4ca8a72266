//! `workfile doctor`: what is wrong with the records, what of it is new, and what can be put right.

use super::{Args, Command, Context, DryRun, Flag, Listed, Output, invalid_option};
use crate::doctor::{self, Checks, Everything, Fixed, Report, accept, at_least, compare};
use crate::failure::{Code, Failure};
use crate::workspace::{Finding, Severity, files, finding};
use serde_json::{Value as Json, json};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::mem::ManuallyDrop;

pub(super) const COMMANDS: &[Command] = &[Command {
    words: &["doctor"],
    operands: "",
    most_operands: 0,
    about: "check every record; exit 1 when something is an error",
    flags: &[
        Flag::value("severity", "LEVEL", "only this severity and graver ones: error, warning or info"),
        Flag::value("max-issues", "N", "list at most so many; all are counted"),
        Flag::switch("new", "only what the accepted baseline does not hold; exit 1 when there is any"),
        Flag::switch("accept-baseline", "accept everything that is found now into the baseline"),
        Flag::switch(
            "fix",
            "give duplicated ids, stale file names and misplaced trail entries their right form",
        ),
        Flag::switch("rebuild-cache", "drop what is remembered of the records and read all of them"),
        Flag::value("actor", "NAME", "on whose behalf --fix acts; without it the environment says who asks"),
    ],
    examples: &[
        ("workfile doctor --severity error", "only what has to be put right"),
        ("workfile doctor --fix", "heal what needs no decision, then report the rest"),
        ("workfile doctor --new", "what has come up since `workfile doctor --accept-baseline`"),
    ],
    dry_run: DryRun::No,
    listed: Listed::Yes,
    run,
}];

fn run(context: &Context, args: &Args) -> Result<Output, Failure> {
    let severity = args.get("severity").map(|name| {
        Severity::named(name).ok_or_else(|| invalid_option("severity", name, "error, warning or info"))
    });
    let severity = severity.transpose()?;
    let most = args.number("max-issues")?.unwrap_or(usize::MAX);
    if let Some(other) = ["new", "fix"].into_iter().find(|flag| args.has("accept-baseline") && args.has(flag))
    {
        let text = format!("--accept-baseline and --{other} do not go together");
        return Err(Failure::new(Code::CLI_ARGUMENT_CONFLICT, text).with("flag", "--accept-baseline"));
    }
    let caller = super::card::caller(context, args)?;
    let workspace = context.workspace()?;
    if args.has("rebuild-cache") {
        files::forget(&workspace)?;
    }
    let fixed = if args.has("fix") { Some(doctor::fix(&workspace, &caller)?) } else { None };
    // Its memory goes with the process, at once.
    let everything = ManuallyDrop::new(Everything::load(&workspace)?);
    let report = everything.report(&workspace, Checks::ALL);
    if args.has("accept-baseline") {
        let accepted = accept(&workspace, &report)?;
        let text = format!("accepted {} findings, {} of them distinct", accepted.accepted, accepted.distinct);
        return Ok(Output::new(json!({"baseline": accepted.to_json()}), text));
    }
    let mut shown = report.findings.clone();
    let mut baseline = None;
    if args.has("new") {
        let compared = compare(&workspace, shown)?;
        shown = compared.new;
        baseline = Some((compared.known, compared.resolved));
    }
    let failed = if baseline.is_some() { !shown.is_empty() } else { !report.ok() };
    let hidden = severity.map(|severity| {
        let (kept, hidden) = at_least(std::mem::take(&mut shown), severity);
        shown = kept;
        (severity, hidden)
    });
    let seen = Seen { report: &report, shown: &shown, most, hidden, baseline, fixed: fixed.as_ref() };
    Ok(Output::new(seen.json(), seen.text()).exit(u8::from(failed)))
}

/// What is printed of a report.
struct Seen<'a> {
    report: &'a Report,
    shown: &'a [Finding],
    most: usize,
    /// The least grave severity that is shown, and how many findings are below it.
    hidden: Option<(Severity, usize)>,
    /// How many findings of the baseline are still there, and how many are not.
    baseline: Option<(usize, usize)>,
    fixed: Option<&'a Fixed>,
}

impl Seen<'_> {
    fn json(&self) -> Json {
        let mut json = self.report.to_json(self.shown, self.most);
        if let Some((_, hidden)) = self.hidden {
            json.insert("suppressed".to_owned(), hidden.into());
        }
        if let Some((known, resolved)) = self.baseline {
            json.insert("baseline".to_owned(), json!({"known": known, "resolved": resolved}));
        }
        if let Some(fixed) = self.fixed {
            json.insert("fixed".to_owned(), fixed.to_json());
        }
        Json::Object(json)
    }

    fn text(&self) -> String {
        let mut out = String::new();
        if let Some(fixed) = self.fixed {
            out.push_str(&fixed.text());
        }
        let counts = finding::counts(self.shown);
        let new = if self.baseline.is_some() { " (new since baseline)" } else { "" };
        let _ =
            writeln!(out, "Workfile doctor: {} errors, {} warnings{new}", counts["error"], counts["warning"]);
        for finding in self.shown.iter().take(self.most) {
            let _ = writeln!(out, "{}", finding.line());
        }
        let more = self.shown.len().saturating_sub(self.most);
        if more > 0 {
            let _ = writeln!(out, "… {more} more");
        }
        if let Some((severity, hidden)) = self.hidden.filter(|(_, hidden)| *hidden > 0) {
            let _ = writeln!(out, "… {hidden} below --severity {} suppressed", severity.name());
        }
        if !self.shown.is_empty() {
            out.push_str("\nBy rule:\n");
            for (key, count) in by_rule(self.shown) {
                let _ = writeln!(out, "{count:>5}  {key}");
            }
        }
        if let Some((known, resolved)) = self.baseline {
            let _ = writeln!(out, "\n{known} known, {resolved} resolved since the baseline.");
        }
        out
    }
}

/// How often each rule reports, the most frequent first.
fn by_rule(findings: &[Finding]) -> Vec<(String, usize)> {
    let mut counted: HashMap<String, usize> = HashMap::new();
    for finding in findings {
        *counted.entry(format!("{}/{}", finding.module, finding.code)).or_default() += 1;
    }
    let mut rows: Vec<_> = counted.into_iter().collect();
    rows.sort_by(|(a, m), (b, n)| n.cmp(m).then_with(|| a.cmp(b)));
    rows
}
