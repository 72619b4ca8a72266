//! The changelog as Markdown: what a title or a body holds stays inside its own item or section.

use super::fragment::{Fragment, Stage};
use super::load::Listing;
use super::release::Release;
use crate::path::{is_control, one_line};
use crate::record::fenced_lines;
use crate::record::order::{natural, text};
use crate::workspace::Changelog;
use std::collections::HashMap;

/// The types that have a heading of their own.
const HEADINGS: [(&str, &str); 7] = [
    ("added", "Added"),
    ("changed", "Changed"),
    ("fixed", "Fixed"),
    ("deprecated", "Deprecated"),
    ("removed", "Removed"),
    ("security", "Security"),
    ("internal", "Internal"),
];

/// Fragments of one type, in the order they are shown.
#[derive(Clone, Debug)]
pub(super) struct Group<'a> {
    /// The type.
    pub(super) kind: &'a str,
    /// By area, title and id.
    pub(super) fragments: Vec<&'a Fragment>,
}

/// The groups that are not empty: configured types in their order, then all others in text order. A fragment without a
/// type counts as of the default one.
pub(super) fn groups<'a>(
    fragments: impl Iterator<Item = &'a Fragment>,
    settings: &'a Changelog,
    visibility: Option<&str>,
) -> Vec<Group<'a>> {
    let shown = fragments.filter(|it| visibility.is_none_or(|wanted| it.field("visibility") == Some(wanted)));
    let mut groups: Vec<Group<'a>> = Vec::new();
    for fragment in shown {
        let kind = fragment.field("type").unwrap_or(&settings.default_type);
        match groups.iter_mut().find(|group| group.kind == kind) {
            Some(group) => group.fragments.push(fragment),
            None => groups.push(Group { kind, fragments: vec![fragment] }),
        }
    }
    let place = |kind: &str| settings.types.iter().position(|known| known == kind).unwrap_or(usize::MAX);
    groups.sort_by(|a, b| place(a.kind).cmp(&place(b.kind)).then_with(|| text(a.kind, b.kind)));
    for group in &mut groups {
        group.fragments.sort_by(|a, b| {
            let by = |key: &str| text(a.field(key).unwrap_or_default(), b.field(key).unwrap_or_default());
            by("area").then_with(|| by("title")).then_with(|| natural(&a.id, &b.id))
        });
    }
    groups
}

/// The groups as Markdown, without a newline at the end; empty for none.
pub(super) fn markdown(groups: &[Group<'_>]) -> String {
    groups.iter().flat_map(blocks).collect::<Vec<_>>().join("\n\n")
}

/// The whole changelog: what is unreleased, then the releases that have anything to show.
pub(super) fn changelog(listing: &Listing, settings: &Changelog, visibility: &str) -> String {
    let mut parts = vec!["# Changelog".to_owned()];
    let mut section = |heading: String, body: Option<String>, groups: &[Group<'_>]| {
        if body.is_some() || !groups.is_empty() {
            parts.push(heading);
            parts.extend(body);
            parts.extend(groups.iter().flat_map(blocks));
        }
    };
    let unreleased = listing.fragments.iter().filter(|it| it.stage == Stage::Unreleased);
    section("## Unreleased".to_owned(), None, &groups(unreleased, settings, Some(visibility)));
    let released = released(listing);
    for release in &listing.releases {
        let ids = release.fragments();
        let consumed = ids.iter().filter_map(|id| of_release(released.get(id.as_str())?, release));
        let body = Some(closed(release.body())).filter(|body| !body.is_empty());
        section(heading(release), body, &groups(consumed, settings, Some(visibility)));
    }
    parts.join("\n\n") + "\n"
}

/// Released fragments by id; an id may be that of several files.
fn released(listing: &Listing) -> HashMap<&str, Vec<&Fragment>> {
    let mut found: HashMap<&str, Vec<&Fragment>> = HashMap::new();
    for fragment in listing.fragments.iter().filter(|it| it.is_released()) {
        found.entry(&fragment.id).or_default().push(fragment);
    }
    found
}

/// Of fragments with one id the one in the release's own folder, else the first.
fn of_release<'a>(candidates: &[&'a Fragment], release: &Release) -> Option<&'a Fragment> {
    let folder = release.path.strip_suffix(release.file()).unwrap_or_default();
    let own = candidates.iter().find(|it| it.path.starts_with(folder));
    own.or(candidates.first()).copied()
}

fn heading(release: &Release) -> String {
    let version = line(release.field("version").unwrap_or(&release.id));
    match release.field("date") {
        Some(date) => format!("## {version} — {}", line(date)),
        None => format!("## {version}"),
    }
}

/// A group's heading and its items.
fn blocks(group: &Group<'_>) -> [String; 2] {
    let heading = HEADINGS.iter().find(|(kind, _)| *kind == group.kind).map(|(_, heading)| *heading);
    let items: Vec<String> = group.fragments.iter().map(|it| item(it)).collect();
    [format!("### {}", heading.map_or_else(|| line(group.kind), str::to_owned)), items.join("\n")]
}

fn item(fragment: &Fragment) -> String {
    let title = line(fragment.field("title").unwrap_or(&fragment.id));
    let mut origins = fragment.list("cards");
    origins.extend(fragment.list("decisions"));
    if origins.is_empty() {
        return format!("- {title}");
    }
    format!("- {title} ({})", line(&origins.join(", ")))
}

/// A text on one line: what ends a line or steers a terminal is a space.
fn line(text: &str) -> String {
    one_line(&text.replace(is_control, " "))
}

/// A body with LF line ends that ends what it opens: neither unclosed code nor an unclosed comment takes in what follows.
fn closed(body: &str) -> String {
    let mut body = body.replace("\r\n", "\n").replace('\r', "\n");
    let is_open = |body: &str| fenced_lines(&format!("{body}\n")).last() == Some(&true);
    if is_open(&body) {
        // As long as the longest fence of the body is long enough for the one that is open.
        let closings = ['`', '~'].map(|mark| {
            let longest = body.lines().map(|line| run(line, mark)).max().unwrap_or_default();
            format!("{body}\n{}", mark.to_string().repeat(longest.max(3)))
        });
        body = closings.into_iter().find(|closed| !is_open(closed)).unwrap_or(body);
    }
    let lines = body.lines().zip(fenced_lines(&body));
    let in_comment = lines.filter(|(_, fenced)| !fenced).fold(false, |open, (line, _)| {
        match (line.rfind("<!--"), line.rfind("-->")) {
            (Some(opens), Some(closes)) => opens > closes,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (None, None) => open,
        }
    });
    if in_comment { body + "\n-->" } else { body }
}

/// How many of `mark` stand first on a line.
fn run(line: &str, mark: char) -> usize {
    line.trim_start_matches(' ').chars().take_while(|c| *c == mark).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::testing::{listing, settings};
    use proptest::prelude::*;

    const FOLDER: &str = ".project/changelog";

    fn unreleased(items: &[&str]) -> Listing {
        let file = |(at, header): (usize, &&str)| {
            let id = format!("CHG-{:04}", at + 1);
            (format!("{FOLDER}/unreleased/{id}.md"), format!("---\nid: {id}\n{header}\n---\n"))
        };
        listing(&items.iter().enumerate().map(file).collect::<Vec<_>>())
    }

    fn rendered(listing: &Listing) -> String {
        changelog(listing, &settings(), "public")
    }

    #[test]
    fn groups_follow_the_configured_types_and_no_type_vanishes() {
        let listing = unreleased(&[
            "title: a\ntype: zeta\nvisibility: public",
            "title: b\ntype: Alpha\nvisibility: public",
            "title: c\ntype: security\nvisibility: public",
            "title: d\ntype: added\nvisibility: public",
            "title: e\nvisibility: public",
            "title: f\ntype: added\nvisibility: internal",
            "title: g\ntype: added",
        ]);
        assert_eq!(
            rendered(&listing),
            "# Changelog\n\n## Unreleased\n\n### Added\n\n- d\n\n### Changed\n\n- e\n\n### Security\n\n- c\n\n\
            ### Alpha\n\n- b\n\n### zeta\n\n- a\n"
        );
        let internal = changelog(&listing, &settings(), "internal");
        assert_eq!(internal, "# Changelog\n\n## Unreleased\n\n### Added\n\n- f\n");
        let all = groups(listing.fragments.iter(), &settings(), None)
            .iter()
            .map(|it| it.fragments.len())
            .sum::<usize>();
        assert_eq!(all, 7);
    }

    #[test]
    fn items_are_sorted_by_area_title_and_id() {
        let item = |area: &str, title: &str| {
            format!("title: {title}\narea: {area}\ntype: fixed\nvisibility: public")
        };
        let headers = [
            ("web", "a"),
            ("api", "zebra"),
            ("api", "Ébene"),
            ("api", "eben"),
            ("api", "same"),
            ("api", "same"),
        ];
        let headers: Vec<String> = headers.iter().map(|(area, title)| item(area, title)).collect();
        let listing = unreleased(&headers.iter().map(String::as_str).collect::<Vec<_>>());
        let settings = settings();
        let ids: Vec<&str> = groups(listing.fragments.iter(), &settings, None)[0]
            .fragments
            .iter()
            .map(|it| it.id.as_str())
            .collect();
        assert_eq!(ids, ["CHG-0004", "CHG-0003", "CHG-0005", "CHG-0006", "CHG-0002", "CHG-0001"]);
    }

    #[test]
    fn a_release_shows_what_it_released_and_a_body_even_without_any() {
        let release = |id: &str, more: &str| format!("---\nid: {id}\n{more}\n---\n\n");
        let fragment = "---\nid: CHG-0001\ntitle: One\ntype: fixed\nvisibility: public\ncards: [T-0001]\ndecisions: [ADR-0001]\n---\n";
        let path = |rest: &str| format!("{FOLDER}/releases/{rest}");
        let listing = listing(&[
            (
                path("a/REL-0001-a.md"),
                release("REL-0001", "version: 1.0.0\ndate: 2026-01-01\nfragments: [CHG-0001]"),
            ),
            (path("a/fragments/CHG-0001.md"), fragment.to_owned()),
            (
                path("b/REL-0002-b.md"),
                release("REL-0002", "version: 1.1.0\ndate: 2026-02-01\nfragments: [CHG-0009]"),
            ),
            (
                path("c/REL-0003-c.md"),
                release("REL-0003", "version: 1.2.0\ndate: 2026-01-01") + "Only words.\n",
            ),
            (path("d/REL-0004-d.md"), release("REL-0004", "title: t\nfragments: [CHG-0001]")),
        ]);
        assert_eq!(
            rendered(&listing),
            "# Changelog\n\n## 1.2.0 — 2026-01-01\n\nOnly words.\n\n## 1.0.0 — 2026-01-01\n\n### Fixed\n\n\
            - One (T-0001, ADR-0001)\n\n## REL-0004\n\n### Fixed\n\n- One (T-0001, ADR-0001)\n"
        );
    }

    #[test]
    fn of_two_fragments_with_one_id_a_release_shows_its_own() {
        let release = |id: &str, version: &str| {
            format!("---\nid: {id}\nversion: {version}\ndate: 2026-01-01\nfragments: [CHG-0001]\n---\n")
        };
        let fragment = |title: &str| {
            format!("---\nid: CHG-0001\ntitle: {title}\ntype: fixed\nvisibility: public\n---\n")
        };
        let path = |rest: &str| format!("{FOLDER}/releases/{rest}");
        let listing = listing(&[
            (path("a/REL-0001-a.md"), release("REL-0001", "1.0.0")),
            (path("a/fragments/CHG-0001.md"), fragment("A")),
            (path("b/REL-0002-b.md"), release("REL-0002", "1.1.0")),
            (path("b/fragments/CHG-0001.md"), fragment("B")),
        ]);
        assert_eq!(
            rendered(&listing),
            "# Changelog\n\n## 1.1.0 — 2026-01-01\n\n### Fixed\n\n- B\n\n## 1.0.0 — 2026-01-01\n\n### Fixed\n\n- A\n"
        );
    }

    #[test]
    fn a_body_closes_what_it_opens() {
        for (body, wanted) in [
            ("plain", "plain"),
            ("a\r\nb\rc", "a\nb\nc"),
            ("```\ncode", "```\ncode\n```"),
            ("~~~~~\n```\ncode", "~~~~~\n```\ncode\n~~~~~"),
            ("```\ncode\n```", "```\ncode\n```"),
            ("a <!-- b\nc", "a <!-- b\nc\n-->"),
            ("a <!-- b\nc --> d", "a <!-- b\nc --> d"),
            ("```\n<!-- code\n```", "```\n<!-- code\n```"),
        ] {
            assert_eq!(closed(body), wanted, "{body:?}");
        }
    }

    proptest! {
        #[test]
        fn a_fragment_is_one_line_whatever_its_title_holds(title in any::<String>(), card in any::<String>()) {
            let quoted = |text: &str| serde_json::Value::from(text).to_string();
            let header =
                format!("title: {}\ntype: fixed\nvisibility: public\ncards: [{}]", quoted(&title), quoted(&card));
            let rendered = rendered(&unreleased(&[&header, "title: Other\ntype: fixed\nvisibility: public"]));
            let lines: Vec<&str> = rendered.lines().skip(6).collect();
            prop_assert_eq!(lines.len(), 2, "{:?}", rendered);
            prop_assert!(lines.iter().all(|line| line.starts_with("- ")));
            prop_assert!(!rendered.contains(|c| is_control(c) && c != '\n'));
        }

        #[test]
        fn a_closed_body_leaves_nothing_open(body in prop::collection::vec("```|~~~~|````|text|<!--|-->|", 0..8)) {
            let closed = closed(&body.join("\n"));
            let fenced = fenced_lines(&format!("{closed}\nx"));
            prop_assert_eq!(fenced.last(), Some(&false), "{:?}", closed);
        }
    }
}
