//! What proves a card: its verify entries, its `verified` block, the commit that the block names.

use super::super::fields::{DONE, VERIFY};
use super::super::guard::accepted_methods;
use super::super::verified::{self, KEY};
use super::super::{criteria, git, verify_block};
use super::{Git, MODULE, PATCH, Report, Scene, about};
use crate::record::{Item, Value};
use crate::workspace::{Finding, Severity};
use serde_json::{Value as Json, json};
use std::collections::HashSet;

/// What writes a `verified` block anew.
const CLOSE_AGAIN: &str = "`workfile card reopen`, then `workfile card transition` to done, proves it anew";

pub(super) fn check(report: &mut Report<'_>) {
    if report.card.has(VERIFY) {
        commands(report);
        bindings(report);
    }
    if report.card.has(KEY) {
        block(report);
    }
}

/// Entries whose command is none, or none that the configuration allows.
fn commands(report: &mut Report<'_>) {
    let declared = &report.settings().verify_commands;
    let Some(Value::Records(records)) = report.card.header.get(VERIFY) else {
        let text = "`verify` is not a list of entries with `id`, `run` and `criteria`";
        report.error("verify-run-invalid", text, PATCH).put("entry", Json::Null);
        return;
    };
    for record in records {
        let item = |key: &str| record.iter().find(|(name, _)| name == key).map(|(_, item)| item);
        let name = match item("id") {
            Some(Item::Text(id)) => id.as_str(),
            _ => "",
        };
        let argv: Option<Vec<&str>> = match item("run") {
            Some(Item::List(words)) if !words.is_empty() => Some(words.iter().map(String::as_str).collect()),
            _ => None,
        };
        let Some(argv) = argv.filter(|argv| argv.iter().all(|word| verify_block::is_word(word))) else {
            let text =
                format!("`run` of the verify entry `{name}` is not a list of words, and no shell reads it");
            report
                .error("verify-run-invalid", text, "`workfile card patch` sets `verify`")
                .put("entry", name);
            continue;
        };
        if !verify_block::is_allowed(&argv, declared) {
            let run = argv.join(" ");
            let shown: Vec<String> = declared.iter().map(|prefix| prefix.join(" ")).collect();
            let known = if shown.is_empty() { "nothing".to_owned() } else { shown.join(", ") };
            let text = format!(
                "the verify entry `{name}` runs `{run}`, and cards.verification.commands declares {known}"
            );
            let remedy = "`workfile card patch` sets `verify`, or the configuration declares the command";
            let finding = report.error("verify-command-not-allowed", text, remedy);
            finding.put("entry", name).put("run", run).put("declared", shown);
        }
    }
}

fn bindings(report: &mut Report<'_>) {
    let items = report.card.acceptance().items;
    let known: HashSet<String> = items.iter().map(criteria::Item::digest).collect();
    let mut stale = Vec::new();
    for entry in verify_block::entries(&report.card.header) {
        for digest in entry.criteria.into_iter().filter(|digest| !known.contains(digest)) {
            stale.push(json!({"entry": entry.id, "digest": digest}));
        }
    }
    if stale.is_empty() {
        return;
    }
    let named: Vec<String> =
        stale.iter().map(|it| format!("{} {}", plain(&it["entry"]), plain(&it["digest"]))).collect();
    let text =
        format!("verify entries are bound to criteria that the card does not have: {}", named.join(", "));
    report
        .warning("verify-binding-stale", text, "`workfile card patch` sets `verify`")
        .put("bindings", stale);
}

fn plain(json: &Json) -> &str {
    json.as_str().unwrap_or_default()
}

fn block(report: &mut Report<'_>) {
    let card = report.card;
    let value = card.header.get(KEY);
    let problems = verified::problems(value);
    let field = |key: &str| verified::field(value, key);
    let method = field("method").unwrap_or_default();
    if !problems.is_empty() {
        let text = format!("the `verified` block cannot be relied on: {}", problems.join(", "));
        report.warning("verified-block-invalid", text, CLOSE_AGAIN).put("problems", problems);
    } else if let Some(recorded) = field("digest") {
        let actual = verified::digest(&card.acceptance().items, &verify_block::entries(&card.header));
        if recorded != actual {
            let at = field("at").unwrap_or_default();
            let text = format!("the criteria are not those that were verified at {at} by {method}");
            let finding = report.warning("verified-criteria-changed", text, CLOSE_AGAIN);
            finding.put("verifiedAt", at).put("method", method);
            finding.put("recorded", recorded).put("actual", actual);
        }
    }
    if card.status() != Some(DONE) || method.is_empty() || method == verified::FORCED {
        return;
    }
    let area = card.field("area").unwrap_or_default();
    if let Some(accepted) = accepted_methods(area, report.settings())
        && !accepted.iter().any(|one| one == method)
    {
        let text = format!(
            "it was verified by {method}, and cards.verification.methods accepts {} in {area}",
            accepted.join(", ")
        );
        let finding = report.warning("verification-method-unaccepted", text, CLOSE_AGAIN);
        finding.put("method", method).put("area", area).put("accepted", accepted.to_vec());
    }
}

/// Commits of live done cards that `HEAD` does not contain. Git is asked once, and only when a card names one.
pub(super) fn commits(scene: &Scene<'_>, findings: &mut Vec<Finding>) {
    if scene.git == Git::Skip {
        return;
    }
    let done = |card: &&super::Card| !card.is_archived() && card.status() == Some(DONE);
    let named = scene.listing.cards.iter().filter(done).filter_map(|card| {
        let commit = verified::field(card.header.get(KEY), "commit")?;
        verified::is_commit(commit).then_some((card, commit))
    });
    let named: Vec<_> = named.collect();
    if named.is_empty() {
        return;
    }
    let asked: Vec<&str> = named.iter().map(|(_, commit)| *commit).collect();
    let Some((head, outside)) = git::not_in_head(&scene.workspace.root, &asked) else { return };
    for (card, commit) in named {
        if !outside.contains(commit) {
            continue;
        }
        let short = commit.get(..8).unwrap_or(commit);
        let text = format!("it was verified at the commit {short}, which HEAD does not contain");
        let finding =
            Finding::new(Severity::Warning, MODULE, "verified-commit-unreachable", text, CLOSE_AGAIN);
        let finding = about(scene.workspace, card, finding);
        findings.push(finding.with("commit", commit).with("head", head.as_str()));
    }
}
