//! Where a card stands: its claim, its place, its trail, its criteria.

use super::super::fields::{DOING, DONE};
use super::super::trail::misplaced;
use super::Report;
use crate::activity::claim::State;
use serde_json::{Value as Json, json};

pub(super) fn check(report: &mut Report<'_>) {
    claim(report);
    let card = report.card;
    if card.is_archived() && card.is_open() {
        let status = card.status().unwrap_or("none");
        report.error(
            "open-archived",
            format!(
                "it lies in the archive with the status {status}; `workfile card reopen {}` takes it out",
                card.id
            ),
        );
    }
    let entries = misplaced(card.body()).len();
    if entries > 0 {
        let what = if entries == 1 { "trail entry stands" } else { "trail entries stand" };
        let text = format!("{entries} {what} outside `## Activity`; `workfile doctor --fix` moves them");
        report.warning("misplaced-trail", text);
    }
    criteria(report);
}

fn claim(report: &mut Report<'_>) {
    let card = report.card;
    if card.has("claimed_by") != card.has("claimed_at") {
        let (there, missing) =
            if card.has("claimed_by") { ("claimed_by", "claimed_at") } else { ("claimed_at", "claimed_by") };
        report.warning(
            "partial-claim",
            format!("`{there}` is set and `{missing}` is not; the header needs both or neither"),
        );
    }
    let Some(holder) = card.holder() else { return };
    if card.status() != Some(DOING) {
        let status = card.status().unwrap_or("none");
        report.warning("claim-status", format!("it is claimed by {holder} with the status {status}; its holder drops it with `workfile card release {}`", card.id));
    }
    let lease = report.settings().claim_lease_hours;
    let Some((judged, claim)) = report.scene.claims.judge(card) else { return };
    let (code, text) = match judged.state {
        State::Stale => {
            let text = format!(
                "the claim of {holder} is older than {lease} hours: `workfile card reap` releases it"
            );
            ("card-claim-stale", text)
        }
        State::Orphaned => {
            let text =
                format!("the session of {holder} has fallen silent: `workfile card reap` releases the claim");
            ("card-claim-orphaned", text)
        }
        State::Unclaimed | State::Live | State::Held => return,
    };
    report.warning(code, text).put("claim", claim);
}

fn criteria(report: &mut Report<'_>) {
    let card = report.card;
    let reading = card.acceptance();
    let open = reading.orphans.iter().filter(|item| !item.checked);
    let orphans: Vec<Json> = open.map(|item| json!({"text": item.text})).collect();
    if !reading.present && !orphans.is_empty() && !card.is_archived() {
        let texts: Vec<&str> = orphans.iter().filter_map(|item| item["text"].as_str()).collect();
        let text = format!(
            "{} unchecked without a heading `## Acceptance criteria` above: {}",
            boxes(orphans.len()),
            texts.join("; ")
        );
        report.warning("acceptance-unreadable", text).put("unreadable", orphans);
    }
    let open: Vec<_> = reading.items.iter().filter(|item| !item.checked).collect();
    if card.status() == Some(DONE) && !open.is_empty() {
        let named: Vec<String> = open.iter().map(|item| format!("#{} {}", item.index, item.text)).collect();
        let text = format!("it is done with open criteria: {}", named.join("; "));
        let unchecked: Vec<Json> =
            open.iter().map(|item| json!({"index": item.index, "text": item.text})).collect();
        report.warning("done-unchecked", text).put("unchecked", unchecked);
    }
}

fn boxes(count: usize) -> String {
    if count == 1 { "1 box is".to_owned() } else { format!("{count} boxes are") }
}
