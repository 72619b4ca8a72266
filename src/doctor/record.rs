//! One record whole: every key, who names whom, and what the doctor finds wrong with it.

use super::{Checks, Everything, issue};
use crate::docs::FRESHNESS;
use crate::failure::Failure;
use crate::memory::LIFECYCLE;
use crate::query::{Shower, View};
use crate::work::diagnose::{Git, Paths};
use crate::workspace::{Finding, Workspace};
use serde_json::{Map, Value as Json};

/// The record at a place of the index in its full view. Git is not asked: reading one record starts no process.
pub fn record(
    workspace: &Workspace,
    everything: &Everything,
    place: usize,
) -> Result<Map<String, Json>, Failure> {
    let mut record = Shower::new(workspace, everything)?.show(&[place], View::Full).pop().unwrap_or_default();
    let checks = Checks { paths: Paths::Check, git: Git::Skip };
    let about = everything.about(workspace, checks, everything.entry(place).id());
    let of = |codes: Option<&[&str]>| -> Json {
        let wanted = |finding: &&Finding| codes.is_none_or(|codes| codes.contains(&finding.code));
        about.iter().filter(wanted).map(issue).collect()
    };
    let lists =
        [("issues", None), ("freshness", Some(&FRESHNESS[..])), ("lifecycleIssues", Some(&LIFECYCLE[..]))];
    for (key, codes) in lists {
        if let Some(value) = record.get_mut(key) {
            *value = of(codes);
        }
    }
    Ok(record)
}
