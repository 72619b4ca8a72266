//! Locks that nobody holds any more.

use crate::clock::Time;
use crate::fs;
use crate::workspace::{Finding, Severity, Workspace};
use serde_json::Value as Json;

/// From this age on a lock is reported, in milliseconds.
const OLD_MS: i64 = 60_000;

pub(super) fn findings(workspace: &Workspace, now: Time) -> Vec<Finding> {
    let locks = fs::standing_locks(&workspace.root, &workspace.paths.locks);
    locks
        .into_iter()
        .filter_map(|lock| {
            let age = now.since(lock.since);
            let reason = match (lock.owner_is_gone, age > OLD_MS) {
                (true, _) => "owner-gone",
                (false, true) => "old",
                (false, false) => return None,
            };
            let what = format!("the lock {} is nobody's any more", lock.path);
            let remedy = "the next writer breaks it";
            let mut finding = Finding::new(Severity::Warning, "doctor", "stale-write-lock", what, remedy);
            finding.id = lock.record;
            finding.file = Some(lock.path);
            finding
                .put("pid", lock.pid.map_or(Json::Null, Json::from))
                .put("ageMs", age)
                .put("reason", reason);
            Some(finding)
        })
        .collect()
}
