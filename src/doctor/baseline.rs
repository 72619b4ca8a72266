//! The findings that a project lives with for now: `doctor-baseline.json`, committed beside the records.

use super::Report;
use crate::clock;
use crate::failure::{Code, Failure};
use crate::fs;
use crate::record::order;
use crate::workspace::{Finding, Workspace};
use serde_json::{Value as Json, json};
use std::collections::HashMap;
use std::path::PathBuf;

const FILE: &str = "doctor-baseline.json";
const VERSION: u64 = 1;
/// No baseline is larger.
const CAP: u64 = 16 * 1024 * 1024;

/// What a finding is known by: rule, id, file, message.
type Key = [String; 4];

/// A baseline that was written.
#[derive(Clone, Debug)]
pub struct Accepted {
    /// How many findings it holds.
    pub accepted: usize,
    /// How many of them differ.
    pub distinct: usize,
    /// When, as a timestamp.
    pub accepted_at: String,
}

impl Accepted {
    /// `{accepted, distinct, acceptedAt}`.
    pub fn to_json(&self) -> Json {
        json!({"accepted": self.accepted, "distinct": self.distinct, "acceptedAt": self.accepted_at})
    }
}

/// A report held against the baseline.
#[derive(Clone, Debug)]
pub struct Compared {
    /// What the baseline does not hold.
    pub new: Vec<Finding>,
    /// How many findings it holds that are still there.
    pub known: usize,
    /// How many it holds that are not.
    pub resolved: usize,
}

/// Writes everything that was found into the baseline.
pub fn accept(workspace: &Workspace, report: &Report) -> Result<Accepted, Failure> {
    workspace.writable()?;
    let mut counted: HashMap<Key, usize> = HashMap::new();
    for finding in &report.findings {
        *counted.entry(key(finding)).or_default() += 1;
    }
    let mut entries: Vec<(Key, usize)> = counted.into_iter().collect();
    entries.sort_by(|(a, _), (b, _)| {
        let parts = a.iter().zip(b).map(|(a, b)| order::text(a, b));
        parts.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
    });
    let accepted = Accepted {
        accepted: report.findings.len(),
        distinct: entries.len(),
        accepted_at: clock::now().timestamp(),
    };
    let issues = entries.into_iter().map(|([code, id, file, message], count)| {
        json!({"code": code, "id": id, "file": file, "message": message, "count": count})
    });
    let json = json!({
        "version": VERSION,
        "acceptedAt": accepted.accepted_at,
        "issues": issues.collect::<Vec<_>>(),
    });
    let mut text = serde_json::to_string_pretty(&json).unwrap_or_default();
    text.push('\n');
    fs::replace(&workspace.root, &path(workspace), text.as_bytes())?;
    Ok(accepted)
}

/// Tells what is new: of equal findings as many are known as were accepted.
///
/// `DOCTOR_BASELINE_MISSING` without a baseline, `DOCTOR_BASELINE_INVALID` when it cannot be read as one.
pub fn compare(workspace: &Workspace, findings: Vec<Finding>) -> Result<Compared, Failure> {
    let mut left = read(workspace)?;
    let (mut new, mut known) = (Vec::new(), 0);
    for finding in findings {
        match left.get_mut(&key(&finding)).filter(|count| **count > 0) {
            Some(count) => {
                *count -= 1;
                known += 1;
            }
            None => new.push(finding),
        }
    }
    Ok(Compared { new, known, resolved: left.values().sum() })
}

fn key(finding: &Finding) -> Key {
    let part = |part: &Option<String>| part.clone().unwrap_or_default();
    [finding.code.to_owned(), part(&finding.id), part(&finding.file), finding.message.clone()]
}

fn path(workspace: &Workspace) -> PathBuf {
    workspace.paths.project.join(FILE)
}

fn read(workspace: &Workspace) -> Result<HashMap<Key, usize>, Failure> {
    let path = path(workspace);
    let shown = workspace.repo_path(&path);
    let accept = "workfile doctor --accept-baseline";
    let invalid = |why: &str| {
        let text = format!("{shown} is no baseline: {why}");
        Failure::new(Code::DOCTOR_BASELINE_INVALID, text).remedy(accept)
    };
    let bytes = match fs::read_regular(&path, CAP) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => {
            let text = format!("there is no {shown} to compare with");
            return Err(Failure::new(Code::DOCTOR_BASELINE_MISSING, text).remedy(accept));
        }
        Err(error) => return Err(invalid(&error.to_string())),
    };
    let json: Json = serde_json::from_slice(&bytes).map_err(|error| invalid(&error.to_string()))?;
    if json["version"].as_u64() != Some(VERSION) {
        return Err(invalid("`version` is not 1"));
    }
    let issues = json["issues"].as_array().ok_or_else(|| invalid("`issues` is not a list"))?;
    let mut counted = HashMap::new();
    for issue in issues {
        let text = |key: &str| issue[key].as_str().map(str::to_owned);
        let key = ["code", "id", "file", "message"].map(text);
        let [Some(code), Some(id), Some(file), Some(message)] = key else {
            return Err(invalid("an issue lacks one of code, id, file and message"));
        };
        let count = issue["count"].as_u64().ok_or_else(|| invalid("an issue has no count"))?;
        *counted.entry([code, id, file, message]).or_default() += count as usize;
    }
    Ok(counted)
}
