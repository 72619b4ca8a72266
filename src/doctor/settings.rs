//! What the configuration says that has no effect, or another one than whoever wrote it thinks.

use crate::workspace::{Finding, Severity, Workspace, defaults};
use serde_json::Value as Json;

/// Objects whose keys a project chooses itself.
const OPEN: [&str; 2] = ["cards.axes", "cards.verification.methods"];

/// Where the hooks look, whatever a configuration says.
const FIXED: [(&str, &str); 2] = [("cards.path", ".project/cards"), ("storage.cache", ".project/.cache")];

pub(super) fn findings(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    let file = workspace.config_path.as_ref().map(|path| workspace.repo_path(path));
    let mut warn = |code: &'static str, what: String, remedy: &str| {
        let finding = Finding::new(Severity::Warning, "doctor", code, what, remedy);
        findings.push(match &file {
            Some(file) => finding.in_file(file.as_str()),
            None => finding,
        });
        findings.len() - 1
    };
    let mut unknown = Vec::new();
    strangers("", &workspace.raw, &defaults(), &mut unknown);
    for key in unknown {
        let what = format!("`{key}` is no key of the configuration and has no effect");
        warn("config-key-unknown", what, "take it out");
    }
    for name in &workspace.ignored_exports {
        let what = format!("the configuration exports `{name}`, which is read by nothing here");
        warn("config-integrations-unsupported", what, "take it out");
    }
    for (key, place) in FIXED {
        let value = lookup(&workspace.raw, key).and_then(Json::as_str).unwrap_or_default();
        if value.trim_start_matches("./").trim_end_matches('/') != place {
            let what = format!(
                "`{key}` is {value}, but hooks look for claims in {place} only: claims guard nothing"
            );
            warn("config-hooks-elsewhere", what, "set it back");
        }
    }
    let areas = &workspace.config.cards.areas;
    let methods = workspace.raw["cards"]["verification"]["methods"].as_object();
    let named: Vec<&str> = methods
        .into_iter()
        .flatten()
        .map(|(area, _)| area.as_str())
        .filter(|area| *area != "*" && !areas.iter().any(|known| known == area))
        .collect();
    if !named.is_empty() {
        let what =
            format!("cards.verification.methods names {}, which cards.areas does not have", named.join(", "));
        let at = warn("verification-policy-area-unknown", what, "declare them there or take them out");
        findings[at].put("areas", named).put("declared", areas.clone());
    }
    if let Some(provider) = workspace.raw["search"]["provider"].as_str() {
        let what = format!("search.provider is {provider}, and no such provider exists: search is lexical");
        let remedy = "take it out";
        let mut finding =
            Finding::new(Severity::Warning, "doctor", "search-provider-unresolved", what, remedy);
        finding.put("provider", provider).put("integrations", Json::Array(Vec::new()));
        findings.push(finding);
    }
    findings
}

/// Keys of `own` that `known` does not have, by their whole path.
fn strangers(path: &str, own: &Json, known: &Json, found: &mut Vec<String>) {
    let (Json::Object(own), Json::Object(known)) = (own, known) else { return };
    for (key, value) in own {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        match known.get(key) {
            None => found.push(path),
            Some(_) if OPEN.contains(&path.as_str()) => {}
            Some(below) => strangers(&path, value, below, found),
        }
    }
}

fn lookup<'a>(json: &'a Json, path: &str) -> Option<&'a Json> {
    path.split('.').try_fold(json, |json, key| json.get(key))
}
