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
        let what = format!("it lies in the archive with the `status` {status}");
        let remedy = "`workfile card reopen` takes it out, `workfile card transition` closes it";
        report.error("open-archived", what, remedy);
    }
    let entries = misplaced(card.body()).len();
    if entries > 0 {
        let what = if entries == 1 { "trail entry stands" } else { "trail entries stand" };
        let text = format!("{entries} {what} outside `## Activity`");
        report.warning("misplaced-trail", text, "`workfile doctor --fix` moves them");
    }
    criteria(report);
}

fn claim(report: &mut Report<'_>) {
    let card = report.card;
    if card.has("claimed_by") != card.has("claimed_at") {
        let (there, missing) =
            if card.has("claimed_by") { ("claimed_by", "claimed_at") } else { ("claimed_at", "claimed_by") };
        let what = format!("`{there}` is set and `{missing}` is not");
        let remedy = "`workfile card claim` writes both, `workfile card release` takes both out";
        report.warning("partial-claim", what, remedy);
    }
    let Some(holder) = card.holder() else { return };
    if card.status() != Some(DOING) {
        let status = card.status().unwrap_or("none");
        let what = format!("it is claimed by {holder} with the `status` {status}");
        report.warning("claim-status", what, "`workfile card release` drops the claim");
    }
    let lease = report.settings().claim_lease_hours;
    let Some((judged, claim)) = report.scene.claims.judge(card) else { return };
    let (code, text) = match judged.state {
        State::Stale => ("card-claim-stale", format!("the claim of {holder} is older than {lease} hours")),
        State::Orphaned => ("card-claim-orphaned", format!("the session of {holder} has fallen silent")),
        State::Unclaimed | State::Live | State::Held => return,
    };
    report.warning(code, text, "`workfile card reap` releases the claim").put("claim", claim);
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
            texts.join(", ")
        );
        let remedy = "`workfile card write` puts the heading there";
        report.warning("acceptance-unreadable", text, remedy).put("unreadable", orphans);
    }
    let open: Vec<_> = reading.items.iter().filter(|item| !item.checked).collect();
    if card.status() == Some(DONE) && !open.is_empty() {
        let named: Vec<String> = open.iter().map(|item| format!("#{} {}", item.index, item.text)).collect();
        let text = format!("it is done with open criteria: {}", named.join(", "));
        let unchecked: Vec<Json> =
            open.iter().map(|item| json!({"index": item.index, "text": item.text})).collect();
        let remedy = "`workfile card ac --check` ticks what is met, `workfile card reopen` opens it again";
        report.warning("done-unchecked", text, remedy).put("unchecked", unchecked);
    }
}

fn boxes(count: usize) -> String {
    if count == 1 { "1 box is".to_owned() } else { format!("{count} boxes are") }
}
