//! The table of every rule: its id, the module that reports it, how grave it can be, and what it says.

use crate::workspace::Severity::{self, Error, Info, Warning};

/// One rule.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Its id, as findings carry it.
    pub code: &'static str,
    /// The module that reports it; `*` for several.
    pub module: &'static str,
    /// The severities that it reports with.
    pub severities: &'static [Severity],
    /// When it reports.
    pub when: &'static str,
}

const E: &[Severity] = &[Error];
const W: &[Severity] = &[Warning];
const I: &[Severity] = &[Info];
/// An error in a managed document, a warning in an indexed one, which cannot be repaired from here.
const EW: &[Severity] = &[Error, Warning];

const fn rule(
    module: &'static str,
    code: &'static str,
    severities: &'static [Severity],
    when: &'static str,
) -> Rule {
    Rule { code, module, severities, when }
}

/// Every rule there is.
pub const RULES: &[Rule] = &[
    rule("cards", "unreadable-card", E, "a file among the cards is none"),
    rule("cards", "missing-required", E, "a key that every card has is missing"),
    rule("cards", "invalid-id", E, "the id is not the prefix and at least four digits"),
    rule("cards", "filename-mismatch", E, "the file's name does not begin with the id"),
    rule("*", "filename-stale", W, "the file's name is not what the title gives"),
    rule("cards", "raised-missing", W, "nothing says whether a person asked or an agent inferred it"),
    rule("cards", "long-title", W, "the title has more than 80 characters"),
    rule("cards", "invalid-enum", E, "a value is outside its vocabulary"),
    rule("cards", "invalid-axis", E, "the value of an axis is outside its vocabulary"),
    rule("cards", "missing-axis", W, "an open card has no value for a declared axis"),
    rule("cards", "invalid-date", E, "a date is no day"),
    rule("cards", "invalid-date-range", E, "the start lies after the due date"),
    rule("cards", "invalid-timestamp", E, "the time of a claim is none"),
    rule("cards", "legacy-claim-date", W, "the time of a claim is a day"),
    rule("cards", "missing-parent", E, "the parent is not exactly one card"),
    rule("cards", "self-parent", E, "a card is its own parent"),
    rule("cards", "parent-cycle", E, "parents lead in a circle"),
    rule("cards", "hierarchy-depth", E, "more cards lie above than cards.maxHierarchyDepth"),
    rule("cards", "missing-dependency", E, "a dependency is not exactly one card"),
    rule("cards", "self-dependency", E, "a card depends on itself"),
    rule("cards", "dependency-cycle", W, "cards wait for each other"),
    rule("cards", "self-origin", E, "a card is its own origin"),
    rule("cards", "missing-origin", W, "an origin is no record"),
    rule("cards", "missing-source", E, "the source is not there inside the workspace"),
    rule("cards", "partial-claim", W, "only one of holder and time is set"),
    rule("cards", "claim-status", W, "a card is claimed and not in doing"),
    rule("cards", "card-claim-stale", W, "a claim is older than its lease"),
    rule("cards", "card-claim-orphaned", W, "the session behind a claim has fallen silent"),
    rule("cards", "open-archived", E, "an open card lies in the archive"),
    rule("cards", "misplaced-trail", W, "trail entries stand outside the trail"),
    rule("cards", "acceptance-unreadable", W, "boxes are open and no heading promises criteria"),
    rule("cards", "done-unchecked", W, "a done card has open criteria"),
    rule("cards", "verify-run-invalid", E, "a verify entry has no command"),
    rule(
        "cards",
        "verify-command-not-allowed",
        E,
        "a verify entry runs what the configuration does not declare",
    ),
    rule("cards", "verify-binding-stale", W, "a verify entry is bound to a criterion that is not there"),
    rule("cards", "verified-block-invalid", W, "a verified block does not read as one"),
    rule("cards", "verified-criteria-changed", W, "the criteria are not those that were verified"),
    rule("cards", "verification-method-unaccepted", W, "the area does not accept how the card was verified"),
    rule("cards", "verified-commit-unreachable", W, "HEAD does not contain the commit that was verified"),
    rule("cards", "duplicate-key", E, "a key stands in a header more than once"),
    rule("cards", "reserved-key", W, "a header key has the name of a computed one"),
    rule("docs", "unreadable-document", E, "a document cannot be read"),
    rule("docs", "doc-missing-required", E, "a key that every managed document has is missing"),
    rule("docs", "doc-invalid-kind", E, "the kind is none of docs.kinds"),
    rule("docs", "doc-invalid-status", E, "the status is none of docs.statuses"),
    rule("docs", "doc-invalid-date", EW, "a date is no day"),
    rule("docs", "doc-missing-related", W, "a related record is not there"),
    rule("docs", "doc-missing-superseded", EW, "a superseded record is not there"),
    rule("docs", "doc-broken-local-link", EW, "a link leads to nothing"),
    rule("docs", "doc-missing-scope-path", EW, "a scope path is not there inside the workspace"),
    rule("docs", "doc-source-newer", W, "what the document is about has changed since"),
    rule("docs", "doc-review-overdue", W, "the document is due for review"),
    rule("docs", "doc-related-card-newer", W, "a related card was closed since"),
    rule("changelog", "unreadable-changelog-record", E, "a file is neither fragment nor release"),
    rule("changelog", "change-missing-required", E, "a key that every fragment has is missing"),
    rule("changelog", "change-invalid-type", E, "the type is none of changelog.types"),
    rule("changelog", "change-invalid-visibility", E, "the visibility is none of changelog.visibilities"),
    rule("changelog", "change-unknown-area", W, "the area is none of cards.areas"),
    rule("changelog", "change-invalid-date", E, "a date is no day"),
    rule("changelog", "change-missing-reference", W, "a referenced record is not there"),
    rule("changelog", "released-fragment-unassigned", E, "a released fragment is listed by no release"),
    rule("changelog", "fragment-consumed-multiple-times", E, "a fragment is listed by several releases"),
    rule("changelog", "release-missing-required", E, "a key that every release has is missing"),
    rule("changelog", "release-empty", E, "a release lists no fragment"),
    rule("changelog", "release-invalid-date", E, "the date of a release is no day"),
    rule("changelog", "release-invalid-version", E, "the version does not fit the strategy"),
    rule("changelog", "release-missing-fragment", E, "a listed fragment is not there"),
    rule("changelog", "release-points-to-unreleased-fragment", E, "a listed fragment is still unreleased"),
    rule("changelog", "release-date-in-future", W, "a release lies ahead"),
    rule("changelog", "release-version-duplicate", E, "several releases have one version"),
    rule("memory", "unreadable-memory-record", E, "a file in a collection is no record"),
    rule("memory", "memory-missing-required", E, "a key that every memory record has is missing"),
    rule("memory", "memory-invalid-status", E, "the status is none of the collection's"),
    rule("memory", "memory-invalid-date", E, "a date is no day"),
    rule("memory", "memory-missing-reference", W, "a referenced record is not there"),
    rule("memory", "memory-supersession-target-missing", W, "a superseded record names no successor"),
    rule("memory", "memory-supersession-cycle", E, "records supersede each other"),
    rule("memory", "learning-invalid-confidence", E, "the confidence is none of low, medium, high"),
    rule("memory", "learning-invalid-occurrences", E, "the occurrences are no whole number from 1"),
    rule("memory", "learning-graduation-target-missing", W, "a graduated learning names no target"),
    rule("memory", "incident-invalid-severity", E, "the severity is none of critical, high, medium, low"),
    rule("memory", "incident-invalid-timestamp", E, "a time of an incident is none"),
    rule("memory", "incident-resolution-time-missing", W, "a closed incident has no time of its end"),
    rule("memory", "incident-corrective-actions-missing", I, "a closed incident names no corrective action"),
    rule("memory", "context-lifecycle-missing", W, "active context has neither end nor review"),
    rule("memory", "context-expired-active", W, "active context has expired"),
    rule("memory", "context-review-overdue", W, "active context is due for review"),
    rule("agents", "agent-instructions-missing", W, "a generated instruction file is missing"),
    rule("agents", "agent-instructions-unmanaged", W, "an instruction file has no generated block"),
    rule("agents", "agent-instructions-stale", W, "a generated block is not what this version writes"),
    rule("claude", "claude-surface-missing", I, "a file of the Claude Code surface is missing"),
    rule(
        "claude",
        "claude-surface-stale",
        W,
        "a file of the Claude Code surface is not what this version writes",
    ),
    rule(
        "claude",
        "claude-surface-unmanaged",
        W,
        "a file of the Claude Code surface cannot be kept up to date",
    ),
    rule("claude", "claude-hook-unreachable", W, "the registered command cannot be started here"),
    rule("claude", "claude-hook-other-build", W, "the registered command is another build"),
    rule("claude", "claude-hook-duplicate", W, "the plugin and the installed hooks both run"),
    rule("claude", "claude-hooks-disabled", W, "the settings switch all hooks off"),
    rule("claude", "claude-cache-linked", W, "part of the hooks' cache is a link, so they write nothing"),
    rule("doctor", "duplicate-record-id", E, "several files carry one id"),
    rule("doctor", "search-provider-unresolved", W, "the configured search provider does not exist"),
    rule(
        "doctor",
        "verification-policy-area-unknown",
        W,
        "a verification policy names an area that is not declared",
    ),
    rule("doctor", "stale-write-lock", W, "a lock is nobody's any more"),
    rule("doctor", "config-key-unknown", W, "a key of the configuration has no effect"),
    rule("doctor", "config-integrations-unsupported", W, "the configuration exports what nobody reads"),
    rule("doctor", "config-hooks-elsewhere", W, "hooks look elsewhere than the configuration says"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_rule_has_one_row() {
        let codes: HashSet<&str> = RULES.iter().map(|rule| rule.code).collect();
        assert_eq!(codes.len(), RULES.len());
        for rule in RULES {
            assert!(!rule.severities.is_empty() && !rule.when.is_empty(), "{}", rule.code);
        }
    }
}
