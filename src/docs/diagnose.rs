//! What is wrong with documents: with their headers, with what they point to, and with their age.
//!
//! An indexed document cannot be repaired through this program, so that nothing it holds is more than a warning.

use super::document::{Document, Origin};
use super::fields::{DATES, REQUIRED, days, file_name};
use super::links::local_links;
use super::load::Listing;
use crate::clock::{self, Time};
use crate::scope;
use crate::workspace::finding::BY_HAND;
use crate::workspace::{Docs, Finding, Severity, Workspace};
use std::path::PathBuf;

/// Findings that say that a document may be out of date.
pub const FRESHNESS: [&str; 3] = ["doc-source-newer", "doc-review-overdue", "doc-related-card-newer"];

/// The module that the findings are reported under.
const MODULE: &str = "docs";

/// No interval is longer, in days: what is, never ends.
const LONGEST: u64 = 1_000_000;
const DAY_MS: i64 = 86_400_000;

/// Whether the file system is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Files {
    /// Links and scope paths are looked up.
    Ask,
    /// They are left alone.
    Leave,
}

/// What lies around the documents.
#[derive(Clone, Copy)]
pub struct Around<'a> {
    /// Whether a record of any kind has an id.
    pub is_known: &'a dyn Fn(&str) -> bool,
    /// The day on which a card that is done changed last; `None` for every other id.
    pub done_on: &'a dyn Fn(&str) -> Option<String>,
    /// The day of the run.
    pub today: &'a str,
    /// Whether the file system is asked.
    pub files: Files,
}

/// Everything that is wrong, document by document.
pub fn diagnose(workspace: &Workspace, listing: &Listing, around: &Around<'_>) -> Vec<Finding> {
    let unreadable = listing.unreadable.iter().map(|file| {
        let what = format!("{} cannot be read: {}", file.path, file.reason);
        let remedy = "correct the file, or move it out of the documents";
        Finding::new(Severity::Error, MODULE, "unreadable-document", what, remedy).in_file(file.path.as_str())
    });
    let mut findings: Vec<Finding> = unreadable.collect();
    let files = Tree::of(workspace, around.files);
    for document in &listing.documents {
        findings.extend(Check { document, settings: &workspace.config.docs, around, files: &files }.all());
    }
    findings
}

/// What is wrong with one document.
pub fn findings(workspace: &Workspace, document: &Document, around: &Around<'_>) -> Vec<Finding> {
    let files = Tree::of(workspace, around.files);
    Check { document, settings: &workspace.config.docs, around, files: &files }.all()
}

/// The files of the workspace, as far as they are asked.
struct Tree {
    /// Where the root really is; `None` when nothing is asked.
    root: Option<PathBuf>,
}

impl Tree {
    fn of(workspace: &Workspace, files: Files) -> Self {
        let root = (files == Files::Ask).then(|| workspace.root.canonicalize().ok()).flatten();
        Self { root }
    }

    /// Where a path from the root really is, when something is there and it is inside.
    fn find(&self, path: &str) -> Option<PathBuf> {
        let root = self.root.as_ref()?;
        let real = root.join(path).canonicalize().ok()?;
        real.starts_with(root).then_some(real)
    }
}

struct Check<'a> {
    document: &'a Document,
    settings: &'a Docs,
    around: &'a Around<'a>,
    files: &'a Tree,
}

impl Check<'_> {
    fn all(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        self.header(&mut found);
        self.references(&mut found);
        if self.files.root.is_some() {
            self.links(&mut found);
            self.scope(&mut found);
        }
        self.review(&mut found);
        self.related(&mut found);
        if let (Origin::Managed, Some(title)) = (self.document.origin, self.document.field("title")) {
            let Document { id, path, .. } = self.document;
            found.extend(Finding::stale_name(MODULE, id, path, &file_name(id, title)));
        }
        found
    }

    /// A finding that is an error in a managed document.
    fn fault(&self, code: &'static str, what: String, remedy: &str) -> Finding {
        let managed = self.document.origin == Origin::Managed;
        self.finding(if managed { Severity::Error } else { Severity::Warning }, code, what, remedy)
    }

    fn warning(&self, code: &'static str, what: String, remedy: &str) -> Finding {
        self.finding(Severity::Warning, code, what, remedy)
    }

    fn finding(&self, severity: Severity, code: &'static str, what: String, remedy: &str) -> Finding {
        let (id, path) = (self.document.id.as_str(), self.document.path.as_str());
        Finding::new(severity, MODULE, code, what, remedy).about(id, path)
    }

    /// One remedy for a managed document, another for one that no command writes.
    fn either(&self, managed: &'static str, indexed: &'static str) -> &'static str {
        if self.document.origin == Origin::Managed { managed } else { indexed }
    }

    /// What puts a field right that a patch can set.
    fn patch(&self) -> &'static str {
        self.either("`workfile doc patch` sets it", BY_HAND)
    }

    /// What makes a document young again.
    fn revised(&self) -> &'static str {
        self.either(
            "`workfile doc write` brings it up to date, or `workfile doc patch` sets `reviewed`",
            "bring it up to date in the file, `updated` with it",
        )
    }

    /// The day under a key, when there is one.
    fn day(&self, key: &str) -> Option<&str> {
        self.document.field(key).filter(|day| clock::is_date(day))
    }

    fn header(&self, found: &mut Vec<Finding>) {
        let document = self.document;
        if document.is_managed() {
            let missing: Vec<&str> = REQUIRED.into_iter().filter(|key| !document.has(key)).collect();
            if !missing.is_empty() {
                let what = format!("the header has no {}", missing.join(", "));
                let by_hand = missing.iter().any(|key| ["id", "created"].contains(key));
                let remedy = if by_hand { "write it into the file" } else { self.patch() };
                found.push(self.fault("doc-missing-required", what, remedy));
            }
            for (key, code, allowed) in [
                ("kind", "doc-invalid-kind", &self.settings.kinds),
                ("status", "doc-invalid-status", &self.settings.statuses),
            ] {
                let Some(value) = document.header.get(key).filter(|_| document.has(key)) else { continue };
                if !value.as_text().is_some_and(|value| allowed.iter().any(|word| word == value)) {
                    let shown = value.as_text().map_or_else(|| value.to_json().to_string(), str::to_owned);
                    let message = format!("`{key}` is {shown}, which is none of {}", allowed.join(", "));
                    found.push(self.fault(code, message, self.patch()));
                }
            }
        }
        for key in DATES {
            if document.has(key) && self.day(key).is_none() {
                let what = format!("`{key}` is no day written YYYY-MM-DD");
                let remedy = if key == "reviewed" { self.patch() } else { BY_HAND };
                found.push(self.fault("doc-invalid-date", what, remedy));
            }
        }
    }

    fn references(&self, found: &mut Vec<Finding>) {
        for id in self.unknown("related") {
            let message = format!("`related` names {id}, which is no record");
            found.push(self.warning("doc-missing-related", message, self.patch()));
        }
        for id in self.unknown("supersedes") {
            let message = format!("`supersedes` names {id}, which is no record");
            found.push(self.fault("doc-missing-superseded", message, self.patch()));
        }
    }

    fn unknown(&self, key: &str) -> Vec<String> {
        let mut ids = self.document.list(key);
        ids.retain(|id| !(self.around.is_known)(id));
        ids
    }

    fn links(&self, found: &mut Vec<Finding>) {
        let document = self.document;
        for link in local_links(document.body(), &document.path, &self.settings.route_roots) {
            if link.candidates.iter().any(|path| self.files.find(path).is_some()) {
                continue;
            }
            let message =
                format!("the link to {} leads nowhere: there is no {}", link.target, link.candidates[0]);
            let remedy = self.either("`workfile doc write` corrects it", BY_HAND);
            let finding = self.fault("doc-broken-local-link", message, remedy);
            let finding = finding.with("path", link.candidates[0].as_str()).with("target", link.target);
            found.push(finding.with("tried", link.candidates));
        }
    }

    fn scope(&self, found: &mut Vec<Finding>) {
        for entry in self.document.list("scope") {
            let start = scope::start(&entry);
            let Some(real) = start.and_then(|start| self.files.find(&start.literal)) else {
                let message = format!("`scope` names {entry}, which is not there");
                found.push(self.fault("doc-missing-scope-path", message, self.patch()));
                continue;
            };
            let changed = real.metadata().and_then(|found| found.modified());
            let (Ok(changed), Some(updated)) = (changed, self.day("updated")) else { continue };
            let changed = Time::from(changed).date();
            if changed.as_str() > updated {
                let message = format!("{entry} changed on {changed}, the document last on {updated}");
                let finding = self.warning("doc-source-newer", message, self.revised()).with("path", entry);
                found.push(finding.with("changed", changed).with("updated", updated));
            }
        }
    }

    fn review(&self, found: &mut Vec<Finding>) {
        let own = self.document.field("review_interval_days").and_then(days);
        let interval = own.unwrap_or(self.settings.review_interval_days);
        let rests = matches!(self.document.status(), "superseded" | "archived");
        if interval == 0 || interval > LONGEST || rests {
            return;
        }
        let Some(since) = self.day("reviewed").or_else(|| self.day("updated")) else { return };
        let (Some(start), Some(today)) = (Time::parse(since), Time::parse(self.around.today)) else { return };
        let days = today.since(start) / DAY_MS;
        if days <= interval as i64 {
            return;
        }
        let due = start.minus(-(interval as i64) * DAY_MS).date();
        let message = format!("a review was due on {due}, {interval} days after {since}");
        let remedy = self.either(
            "`workfile doc patch` sets `reviewed`",
            "set `reviewed` in the file, or bring it up to date",
        );
        found.push(self.warning("doc-review-overdue", message, remedy).with("due", due).with("days", days));
    }

    fn related(&self, found: &mut Vec<Finding>) {
        let Some(updated) = self.day("updated") else { return };
        for id in self.document.list("related") {
            let Some(done) = (self.around.done_on)(&id).filter(|day| clock::is_date(day)) else { continue };
            if done.as_str() > updated {
                let message = format!("{id} was done on {done}, after the document was changed on {updated}");
                found.push(self.warning("doc-related-card-newer", message, self.revised()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::docs::load;
    use crate::workspace::{Access, Missing, Start};
    use serde_json::json;
    use std::fs;

    struct Place {
        folder: tempfile::TempDir,
        workspace: Workspace,
    }

    impl Place {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            fs::create_dir_all(folder.path().join(".project/docs")).unwrap();
            fs::create_dir(folder.path().join("docs")).unwrap();
            let start = Start::Exactly(folder.path().to_owned());
            let workspace = Workspace::load(&start, Missing::Allow, Access::Write).unwrap();
            Self { folder, workspace }
        }

        fn write(&self, path: &str, text: &str) {
            fs::write(self.folder.path().join(path), text).unwrap();
        }

        fn findings(&self, files: Files) -> Vec<Finding> {
            let around = Around {
                is_known: &|id| id == "T-0001",
                done_on: &|id| (id == "T-0001").then(|| "2026-02-01".to_owned()),
                today: "2026-06-01",
                files,
            };
            diagnose(&self.workspace, &load::all(&self.workspace).unwrap(), &around)
        }

        fn codes(&self) -> Vec<&'static str> {
            self.findings(Files::Ask).iter().map(|finding| finding.code).collect()
        }
    }

    const GOOD: &str =
        "id: DOC-0001\ntitle: T\nkind: guide\nstatus: current\ncreated: 2026-01-01\nupdated: 2026-05-01";

    fn managed(lines: &str, body: &str) -> Vec<&'static str> {
        let place = Place::new();
        let names: Vec<&str> =
            lines.lines().filter_map(|line| line.split_once(':')).map(|(key, _)| key).collect();
        let kept = GOOD.lines().filter(|line| !names.contains(&line.split_once(':').unwrap().0));
        let header: Vec<&str> = kept.chain(lines.lines()).collect();
        place.write(".project/docs/DOC-0001-t.md", &format!("---\n{}\n---\n\n{body}\n", header.join("\n")));
        place.codes()
    }

    #[test]
    fn each_rule_has_its_code() {
        for (lines, wanted) in [
            ("related: [T-0001]\nsource: somewhere", &[][..]),
            ("title:\nupdated:", &["doc-missing-required"]),
            ("kind: report", &["doc-invalid-kind"]),
            ("status: finished", &["doc-invalid-status"]),
            ("created: 2026-02-30\nreviewed: soon", &["doc-invalid-date", "doc-invalid-date"]),
            ("related: [T-0404]", &["doc-missing-related"]),
            ("supersedes: [DOC-0404]", &["doc-missing-superseded"]),
            ("scope: [../x, gone/*.rs]", &["doc-missing-scope-path", "doc-missing-scope-path"]),
            ("scope: [docs]", &["doc-source-newer"]),
            ("review_interval_days: 30", &["doc-review-overdue"]),
            ("review_interval_days: 31", &[]),
            ("review_interval_days: 0", &[]),
            ("review_interval_days: 30\nstatus: archived", &[]),
            ("review_interval_days: 30\nreviewed: 2026-05-20", &[]),
            ("title: Other", &["filename-stale"]),
            ("review_interval_days: 18446744073709551615", &[]),
            ("updated: 2026-01-31\nrelated: [T-0001]", &["doc-related-card-newer"]),
        ] {
            assert_eq!(managed(lines, ""), wanted, "{lines}");
        }
        assert_eq!(managed("", "[a](gone.md) [b](DOC-0001-t.md) [c](../../docs)"), ["doc-broken-local-link"]);
    }

    #[test]
    fn a_due_review_is_told_by_its_day() {
        let place = Place::new();
        place.write(".project/docs/DOC-0001-t.md", &format!("---\n{GOOD}\nreview_interval_days: 30\n---\n"));
        let finding = place.findings(Files::Ask).remove(0);
        let says =
            "a review was due on 2026-05-31, 30 days after 2026-05-01; `workfile doc patch` sets `reviewed`";
        assert_eq!(finding.message, says);
        assert_eq!(finding.details, *json!({"due": "2026-05-31", "days": 31}).as_object().unwrap());
    }

    #[test]
    fn what_is_only_indexed_is_warned_about() {
        let place = Place::new();
        place.write(
            "docs/a.md",
            "---\nkind: anything\nsupersedes: [X-1]\nscope: [gone]\ncreated: x\n---\n[a](gone.md)\n",
        );
        let found = place.findings(Files::Ask);
        let codes: Vec<&str> = found.iter().map(|finding| finding.code).collect();
        let wanted =
            ["doc-invalid-date", "doc-missing-superseded", "doc-broken-local-link", "doc-missing-scope-path"];
        assert_eq!(codes, wanted);
        assert!(found.iter().all(|finding| finding.severity == Severity::Warning));
        let codes: Vec<&str> = place.findings(Files::Leave).iter().map(|finding| finding.code).collect();
        assert_eq!(codes, wanted[..2], "files that are not asked for are not missed");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_workspace_leads_nowhere() {
        let place = Place::new();
        let out = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(out.path(), place.folder.path().join("docs/out")).unwrap();
        place.write("docs/a.md", "[a](out) [b](a.md)\n");
        assert_eq!(place.codes(), ["doc-broken-local-link"]);
    }

    #[test]
    fn a_file_that_is_no_document_is_an_error() {
        let place = Place::new();
        fs::write(place.folder.path().join("docs/a.md"), b"\xff").unwrap();
        let finding = place.findings(Files::Ask).remove(0);
        assert_eq!((finding.severity, finding.code), (Severity::Error, "unreadable-document"));
        assert_eq!(finding.file.as_deref(), Some("docs/a.md"));
        assert!(finding.message.contains("docs/a.md cannot be read: "), "{}", finding.message);
    }
}
