//! Which files belong to the protocol itself, and what is said when somebody is about to edit one by hand.

use super::text::{PATH, clean};
use crate::path::{Flavour, same_name};

/// What a protocol file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Card,
    Document,
    Memory,
    Changelog,
    Agents,
    Generated,
    State,
    Version,
    Other,
}

/// What a repository path is to the protocol; `None` when anybody may write it.
pub(super) fn kind(path: &str) -> Option<Kind> {
    let is = |name: &str, wanted: &str| same_name(name, wanted, Flavour::HOST);
    let (first, rest) = path.split_once('/')?;
    if !is(first, ".project") {
        return None;
    }
    let (second, below) = rest.split_once('/').map_or((rest, None), |(second, below)| (second, Some(below)));
    let markdown = path.rsplit('.').next().is_some_and(|end| is(end, "md")) && path.contains('.');
    let records = [
        ("cards", Kind::Card),
        ("docs", Kind::Document),
        ("memory", Kind::Memory),
        ("changelog", Kind::Changelog),
    ];
    if let (Some(_), Some((_, kind))) = (below, records.iter().find(|(name, _)| is(second, name))) {
        return markdown.then_some(*kind);
    }
    let whole = [("agents", Kind::Agents), ("generated", Kind::Generated), (".cache", Kind::State)];
    if let Some((_, kind)) = whole.iter().find(|(name, _)| is(second, name)) {
        return Some(*kind);
    }
    if below.is_none() && is(second, "VERSION") {
        return Some(Kind::Version);
    }
    if ["specs", "sources", "assets", "migrations", "ci"].iter().any(|name| is(second, name)) {
        return None;
    }
    markdown.then_some(Kind::Other)
}

/// What is said about an edit of `path`.
pub(super) fn text(kind: Kind, path: &str) -> String {
    let path = clean(path, PATH);
    let record = |name: &str, tools: &str| {
        format!(
            "{path} is a {name} record. A direct edit goes around its lock, revision check and validation. {tools}"
        )
    };
    match kind {
        Kind::Card => record(
            "card",
            "Existing record: project_card_patch, project_card_write, project_card_note or `workfile card patch`. \
             New record: project_card_create or `workfile card create`.",
        ),
        Kind::Document => record(
            "document",
            "Existing record: project_doc_patch, project_doc_write, project_doc_note, project_doc_move or \
             `workfile doc patch`. New record: project_doc_create or `workfile doc create`.",
        ),
        Kind::Memory => record(
            "memory",
            "Existing record: project_memory_patch, project_memory_graduate, project_memory_supersede or \
             `workfile memory patch`. New record: project_memory_add or `workfile memory add`.",
        ),
        Kind::Changelog => record(
            "changelog",
            "Existing record: project_changelog_patch or `workfile changelog patch`. New record: \
             project_changelog_add or `workfile changelog add`. A release: project_changelog_release or \
             `workfile changelog release`.",
        ),
        Kind::Agents => format!(
            "{path} is generated. `workfile agents sync` rewrites it from its source and checks its digest, so a hand \
             edit does not last."
        ),
        Kind::Generated => format!(
            "{path} is written by Workfile. It changes through the CLI or MCP tools (`workfile claude install`), not by \
             hand."
        ),
        Kind::State => format!(
            "{path} is Workfile's runtime state (board, sessions, ledger, locks). Workfile rebuilds it and nothing else \
             writes it."
        ),
        Kind::Version => format!(
            "{path} marks the workspace's schema version. It changes through `workfile migrate schema`."
        ),
        Kind::Other => format!(
            "{path} is under .project/, which the CLI or MCP tools own. A direct edit goes around the lock and the \
             revision check."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_table() {
        for (path, wanted) in [
            (".project/cards/T-1.md", Some(Kind::Card)),
            (".project/cards/sub/T-1.md", Some(Kind::Card)),
            (".project/cards/x.png", None),
            (".project/docs/a.md", Some(Kind::Document)),
            (".project/memory/learnings/a.md", Some(Kind::Memory)),
            (".project/changelog/unreleased/a.md", Some(Kind::Changelog)),
            (".project/agents/x.txt", Some(Kind::Agents)),
            (".project/generated/claude-code.json", Some(Kind::Generated)),
            (".project/.cache/activity/board.json", Some(Kind::State)),
            (".project/VERSION", Some(Kind::Version)),
            (".project/VERSION/x", None),
            (".project/specs/a.md", None),
            (".project/assets/T-1/a.md", None),
            (".project/ci/workfile.sh", None),
            (".project/notes.md", Some(Kind::Other)),
            (".project/x/notes.md", Some(Kind::Other)),
            (".project/x/notes.txt", None),
            (".project/cards", None),
            (".project", None),
            ("src/.project/cards/T-1.md", None),
            ("docs/a.md", None),
            (".projects/cards/T-1.md", None),
            (".project/md", None),
        ] {
            assert_eq!(kind(path), wanted, "{path}");
        }
    }
}
