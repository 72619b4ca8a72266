//! Managed blocks: generated text that says what it is, so that it can be compared and replaced without touching
//! what stands around it.
//!
//! A block carries its kind, the version that wrote it and a digest of what was written. The digest is over the body with
//! LF line ends: a checkout that turns them into CRLF has edited nothing, and a file keeps the line ends it has.

mod file;
mod marker;

use crate::path::is_space;
use crate::record::digest;
pub use file::{Apply, OnDisk, Outcome, Planned, plan, read, sync, write};
pub use marker::without_markers;
use marker::{Marker, Metadata};
use serde_json::{Map, Value as Json};
use std::ops::Range;

/// The version that blocks say they were written by.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// How a file carries its marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Comments around the block: Markdown without frontmatter.
    Html,
    /// `#` comments around the block: YAML, shell.
    Hash,
    /// One comment below the opening fence; the block is the whole file. A fence is only a fence at byte 0.
    Frontmatter,
}

impl Style {
    const ALL: [Self; 3] = [Self::Html, Self::Hash, Self::Frontmatter];
}

/// What should stand in a file.
#[derive(Clone, Debug)]
pub struct Block {
    kind: &'static str,
    version: &'static str,
    style: Style,
    body: String,
}

impl Block {
    /// A block of this version of the program; in frontmatter style `text` opens with a fence.
    pub fn new(kind: &'static str, style: Style, text: &str) -> Self {
        Self { kind, version: VERSION, style, body: body_of(text) }
    }

    /// The digest that the marker declares.
    pub fn digest(&self) -> String {
        digest(&self.body)
    }

    /// The block with its markers, without a newline at the end.
    pub fn render(&self) -> String {
        let metadata = format!("kind={} version={} digest={}", self.kind, self.version, self.digest());
        let body = &self.body;
        match self.style {
            Style::Html => {
                format!("<!-- workfile:begin {metadata} -->\n{body}\n<!-- workfile:end -->")
            }
            Style::Hash => format!("# workfile:begin {metadata}\n{body}\n# workfile:end"),
            Style::Frontmatter => {
                let (fence, rest) = body.split_once('\n').unwrap_or((body, ""));
                format!("{fence}\n# workfile {metadata}\n{rest}")
            }
        }
    }
}

fn body_of(text: &str) -> String {
    text.replace("\r\n", "\n").trim_end_matches(is_space).to_owned()
}

/// A block that stands in a file.
#[derive(Clone, Debug)]
pub struct Found {
    /// The style it was found in.
    pub style: Style,
    /// Where it stands: the markers with it, the newline behind it not.
    pub span: Range<usize>,
    /// Its text.
    pub body: String,
    /// The digest that its marker declares.
    pub declared: Option<String>,
    /// The version that wrote it.
    pub version: Option<String>,
}

impl Found {
    /// Whether somebody changed the body after it was written.
    pub fn is_hand_edited(&self) -> bool {
        self.declared.as_deref() != Some(&digest(&self.body))
    }

    /// Whether nothing but white space and markers stands around the block.
    pub fn is_whole_file(&self, text: &str) -> bool {
        let around = [&text[..self.span.start], &text[self.span.end..]];
        around.iter().all(|part| without_markers(part).chars().all(is_space))
    }
}

/// The block of a kind in the wanted style, else in another one: an older layout is migrated, not refused.
pub fn find(text: &str, kind: &str, wanted: Style) -> Option<Found> {
    let others = Style::ALL.into_iter().filter(|style| *style != wanted);
    std::iter::once(wanted).chain(others).find_map(|style| match style {
        Style::Frontmatter => find_frontmatter(text, kind),
        pair => pairs(text, pair).complete.into_iter().find(|found| found.0 == kind).map(|found| found.1),
    })
}

/// The lines of `text` with where they begin.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some((start, line))
    })
}

fn is_fence(line: &str) -> bool {
    matches!(line, "---\n" | "---\r\n" | "---")
}

fn find_frontmatter(text: &str, kind: &str) -> Option<Found> {
    let mut lines = lines(text);
    let (_, fence) = lines.next()?;
    if !is_fence(fence) {
        return None;
    }
    let mut marker: Option<(Range<usize>, Metadata)> = None;
    for (at, line) in lines {
        if is_fence(line) {
            let (place, metadata) = marker?;
            let body = body_of(&format!("{}{}", &text[..place.start], &text[place.end..]));
            let Metadata { version, digest: declared, .. } = metadata;
            return Some(Found { style: Style::Frontmatter, span: 0..text.len(), body, declared, version });
        }
        if marker.is_none()
            && let Some(Marker::Begin(Style::Frontmatter, metadata)) = Marker::read(line)
            && metadata.kind == kind
        {
            marker = Some((at..at + line.len(), metadata));
        }
    }
    None
}

/// The pair markers of one style: blocks that are whole, in the order they begin, and markers that belong to none.
struct Pairs {
    complete: Vec<(String, Found)>,
    stray: Vec<Range<usize>>,
}

/// An end closes the begin nearest above it. Markers do not nest; where an older file has them nested, this finds the
/// outer block whole, and a begin whose end was lost does not swallow the text up to the end of another block.
fn pairs(text: &str, style: Style) -> Pairs {
    let mut open: Vec<(Range<usize>, Metadata)> = Vec::new();
    let mut found = Pairs { complete: Vec::new(), stray: Vec::new() };
    for (at, line) in lines(text) {
        let place = at..at + line.len();
        match Marker::read(line) {
            Some(Marker::Begin(of, metadata)) if of == style => open.push((place, metadata)),
            Some(Marker::End(of)) if of == style => match open.pop() {
                None => found.stray.push(place),
                Some((begin, Metadata { kind, version, digest: declared })) => {
                    let body = body_of(&text[begin.end..at]);
                    let span = begin.start..at + line.trim_end_matches(['\r', '\n']).len();
                    found.complete.push((kind, Found { style, span, body, declared, version }));
                }
            },
            _ => {}
        }
    }
    found.stray.extend(open.into_iter().map(|(place, _)| place));
    found.stray.sort_by_key(|place| place.start);
    found.complete.sort_by_key(|(_, block)| block.span.start);
    found
}

/// Why a block is not what would be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It stands in another style.
    Style,
    /// The body is another.
    Body,
    /// The declared digest is another.
    Digest,
    /// The file does not end in a newline.
    TrailingNewline,
}

/// How a file compares with what would be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No file.
    Missing,
    /// A file without a block of this kind.
    Unmanaged,
    /// Nothing to do.
    Current,
    /// A block that is behind or was edited.
    Stale(Reason),
}

impl State {
    /// As reports print it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Unmanaged => "unmanaged",
            Self::Current => "current",
            Self::Stale(_) => "stale",
        }
    }

    /// The reason of a stale block, as reports print it.
    pub const fn reason(self) -> Option<&'static str> {
        match self {
            Self::Stale(Reason::Style) => Some("style"),
            Self::Stale(Reason::Body) => Some("body"),
            Self::Stale(Reason::Digest) => Some("digest"),
            Self::Stale(Reason::TrailingNewline) => Some("trailing-newline"),
            _ => None,
        }
    }
}

/// The outcome of a comparison.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The state.
    pub state: State,
    /// The digest of the body on disk.
    pub current: Option<String>,
    /// The digest that the marker on disk declares.
    pub declared: Option<String>,
    /// The digest of what would be written.
    pub expected: String,
    /// The version that wrote the block on disk; it makes nothing stale.
    pub version: Option<String>,
}

impl Verdict {
    /// `{path, status, reason?, current?, declared?, expected, version?}`.
    pub fn to_json(&self, path: &str) -> Json {
        let mut entry = Map::from_iter([("path".to_owned(), Json::from(path))]);
        let facts = [
            ("status", Some(self.state.name())),
            ("reason", self.state.reason()),
            ("current", self.current.as_deref()),
            ("declared", self.declared.as_deref()),
            ("expected", Some(self.expected.as_str())),
            ("version", self.version.as_deref()),
        ];
        entry.extend(facts.into_iter().filter_map(|(key, fact)| Some((key.to_owned(), fact?.into()))));
        Json::Object(entry)
    }
}

/// Compares a file's text with the block; `None` when there is no file.
pub fn compare(text: Option<&str>, block: &Block) -> Verdict {
    let expected = block.digest();
    let bare = |state, expected| Verdict { state, current: None, declared: None, expected, version: None };
    let Some(text) = text else { return bare(State::Missing, expected) };
    let Some(found) = find(text, block.kind, block.style) else { return bare(State::Unmanaged, expected) };
    let state = if found.style != block.style {
        State::Stale(Reason::Style)
    } else if found.body != block.body {
        State::Stale(Reason::Body)
    } else if found.declared.as_ref() != Some(&expected) {
        State::Stale(Reason::Digest)
    } else if !text.ends_with('\n') {
        State::Stale(Reason::TrailingNewline)
    } else {
        State::Current
    };
    let current = Some(digest(&found.body));
    Verdict { state, current, declared: found.declared, expected, version: found.version }
}

/// Whom a file belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The repository; the block is added to what it has.
    Append,
    /// The block alone.
    Dedicated,
}

/// What happens to a dedicated file with other content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreign {
    /// It is refused.
    Refuse,
    /// `--force`: it is overwritten.
    Overwrite,
}

/// A file's text with the block in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// The whole text.
    pub text: String,
    /// Whether a change that somebody made inside the block is gone.
    pub hand_edited: bool,
}

/// The text that a file should have; `None` when it holds somebody else's text that would be lost. An absent file is an
/// empty one.
pub fn merge(text: &str, block: &Block, mode: Mode, foreign: Foreign) -> Option<Merged> {
    // A lone CR at the end becomes a CRLF with the newline that is added.
    let newline = if text.contains("\r\n") || text.ends_with('\r') { "\r\n" } else { "\n" };
    let rendered = block.render().replace('\n', newline);
    let alone = format!("{rendered}{newline}");
    let text = without_strays(text, block.style);
    let Some(found) = find(&text, block.kind, block.style) else {
        let text = match mode {
            _ if text.chars().all(is_space) => alone,
            Mode::Append => {
                let gap = match text.strip_suffix('\n') {
                    None => newline.repeat(2),
                    Some(rest) if rest.ends_with('\n') || rest.ends_with("\n\r") => String::new(),
                    Some(_) => newline.to_owned(),
                };
                format!("{text}{gap}{alone}")
            }
            Mode::Dedicated if foreign == Foreign::Overwrite => alone,
            Mode::Dedicated => return None,
        };
        return Some(Merged { text, hand_edited: false });
    };
    let hand_edited = found.is_hand_edited() && found.body != block.body;
    if block.style == Style::Frontmatter {
        let may_go = found.is_whole_file(&text) || foreign == Foreign::Overwrite;
        return may_go.then_some(Merged { text: alone, hand_edited });
    }
    let replaced = format!("{}{rendered}{}", &text[..found.span.start], &text[found.span.end..]);
    // A block in another style may have stood between markers of this one.
    let mut text = without_strays(&replaced, block.style);
    if !text.ends_with('\n') {
        text.push_str(newline);
    }
    Some(Merged { text, hand_edited })
}

/// `text` without markers of a style that belong to no complete block.
fn without_strays(text: &str, style: Style) -> String {
    if style == Style::Frontmatter {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for place in pairs(text, style).stray {
        out.push_str(&text[at..place.start]);
        at = place.end;
    }
    out.push_str(&text[at..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn block(style: Style, text: &str) -> Block {
        Block { version: "1.2.3", ..Block::new("demo", style, text) }
    }

    fn put(text: &str, block: &Block, mode: Mode) -> String {
        merge(text, block, mode, Foreign::Refuse).expect("a block or room for one").text
    }

    fn state(text: &str, block: &Block) -> State {
        compare(Some(text), block).state
    }

    const FRONT: &str = "---\ndescription: \"Say hello\"\n---\n\nHello.";

    #[test]
    fn digests_are_over_the_trimmed_body() {
        for (style, body, hex) in [
            (
                Style::Html,
                "# Title\n\nText.",
                "264a09b2def1b16fc9c8d12264885f391650772484564214a5f5f7b4e71d3f4c",
            ),
            (Style::Frontmatter, FRONT, "78d3c7b0e0b968f910ceb63f7cdafe3825340c6c13a586009bfa01112b62c346"),
            (Style::Hash, "a: 1", "16c3c6d78678d53d39ab2c7a5a7bc4596567b46a1a57000a2d707334f779b824"),
        ] {
            for text in [body.to_owned(), format!("{body} \n\n"), format!("{body}\u{feff}")] {
                assert_eq!(block(style, &text).digest(), format!("sha256:{hex}"));
            }
            let text = put("", &block(style, body), Mode::Dedicated);
            let found = find(&text, "demo", style).unwrap();
            assert_eq!((found.body.as_str(), found.style), (body, style));
            assert_eq!(found.declared, Some(format!("sha256:{hex}")));
            assert_eq!(found.version.as_deref(), Some("1.2.3"));
            assert_eq!(state(&text, &block(style, body)), State::Current);
        }
    }

    #[test]
    fn each_style_has_its_shape() {
        let digest = digest("a: 1");
        assert_eq!(
            block(Style::Html, "a: 1\n").render(),
            format!(
                "<!-- workfile:begin kind=demo version=1.2.3 digest={digest} -->\na: 1\n<!-- workfile:end -->"
            )
        );
        assert_eq!(
            block(Style::Hash, "a: 1\n").render(),
            format!("# workfile:begin kind=demo version=1.2.3 digest={digest}\na: 1\n# workfile:end")
        );
        let front = block(Style::Frontmatter, FRONT);
        let marker = format!("# workfile kind=demo version=1.2.3 digest={}", front.digest());
        assert_eq!(front.render(), FRONT.replacen("---\n", &format!("---\n{marker}\n"), 1));
    }

    #[test]
    fn every_kind_of_staleness_has_its_reason() {
        let wanted = block(Style::Html, "new");
        let text = put("", &wanted, Mode::Append);
        assert_eq!(compare(None, &wanted).state, State::Missing);
        assert_eq!(state("notes", &wanted), State::Unmanaged);
        assert_eq!(state(&text.replace("kind=demo", "kind=other"), &wanted), State::Unmanaged);
        assert_eq!(state(&text.replace("version=1.2.3", "version=9.9.9"), &wanted), State::Current);
        assert_eq!(state(&text.replace("\nnew\n", "\nold\n"), &wanted), State::Stale(Reason::Body));
        assert_eq!(state(&text.replace("sha256:", "sha256:0"), &wanted), State::Stale(Reason::Digest));
        assert_eq!(state(text.trim_end(), &wanted), State::Stale(Reason::TrailingNewline));
        assert_eq!(
            state(&put("", &block(Style::Hash, "new"), Mode::Append), &wanted),
            State::Stale(Reason::Style)
        );
    }

    #[test]
    fn text_around_a_block_stays() {
        let old = put("# Mine\n", &block(Style::Html, "old"), Mode::Append) + "\nAlso mine";
        assert!(old.starts_with("# Mine\n\n<!-- workfile:begin"));
        let merged = merge(&old, &block(Style::Html, "new"), Mode::Append, Foreign::Refuse).unwrap();
        assert!(merged.text.starts_with("# Mine\n\n<!-- workfile:begin"));
        assert!(merged.text.ends_with("\nnew\n<!-- workfile:end -->\n\nAlso mine\n"));
        assert!(!merged.hand_edited);
        for (content, start) in [("a", "a\n\n<!--"), ("a\n\n", "a\n\n<!--"), (" \n", "<!--")] {
            assert!(put(content, &block(Style::Html, "b"), Mode::Append).starts_with(start), "{content:?}");
        }
    }

    #[test]
    fn an_edit_inside_a_block_is_noticed_and_one_outside_is_not() {
        let wanted = block(Style::Html, "new");
        let old = put("", &block(Style::Html, "old"), Mode::Append);
        let edited = |text: &str| merge(text, &wanted, Mode::Append, Foreign::Refuse).unwrap().hand_edited;
        assert!(!edited(&old));
        assert!(!edited(&format!("mine\n{old}mine\n")));
        assert!(edited(&old.replace("\nold\n", "\nold, edited\n")));
        let front = put("", &block(Style::Frontmatter, FRONT), Mode::Dedicated);
        let wanted = block(Style::Frontmatter, "---\na: \"b\"\n---");
        let merged = merge(&(front + "more\n"), &wanted, Mode::Dedicated, Foreign::Refuse).unwrap();
        assert!(merged.hand_edited);
        assert_eq!(merged.text, wanted.render() + "\n");
    }

    #[test]
    fn foreign_text_in_a_dedicated_file_needs_force() {
        let wanted = block(Style::Frontmatter, FRONT);
        assert_eq!(merge("mine", &wanted, Mode::Dedicated, Foreign::Refuse), None);
        let forced = merge("mine", &wanted, Mode::Dedicated, Foreign::Overwrite).unwrap();
        assert_eq!(forced.text, wanted.render() + "\n");
        // A fence behind a byte order mark opens no frontmatter.
        let marked = format!("\u{feff}{}\n", wanted.render());
        assert_eq!(merge(&marked, &wanted, Mode::Dedicated, Foreign::Refuse), None);
    }

    #[test]
    fn a_pair_becomes_frontmatter_unless_text_around_it_would_go() {
        let wanted = block(Style::Frontmatter, FRONT);
        let old = put("", &block(Style::Html, "---\ndescription: old\n---\n\nOld."), Mode::Dedicated);
        assert_eq!(state(&old, &wanted), State::Stale(Reason::Style));
        assert_eq!(put(&old, &wanted, Mode::Dedicated), wanted.render() + "\n");
        assert_eq!(merge(&(old + "\nMine.\n"), &wanted, Mode::Dedicated, Foreign::Refuse), None);
    }

    #[test]
    fn nested_markers_of_an_older_file_are_one_block() {
        let inner = block(Style::Html, "inner").render().replace("kind=demo", "kind=inner");
        let old = block(Style::Html, &format!("before\n{inner}\nafter")).render() + "\n";
        let found = find(&old, "demo", Style::Html).unwrap();
        assert_eq!(found.span, 0..old.len() - 1);
        assert!(!found.is_hand_edited());
        let wanted = block(Style::Html, "new");
        assert_eq!(put(&old, &wanted, Mode::Append), wanted.render() + "\n");
    }

    #[test]
    fn a_begin_without_its_end_swallows_nothing() {
        let wanted = block(Style::Html, "new");
        let lost = block(Style::Html, "old").render().replace("<!-- workfile:end -->", "");
        let other = block(Style::Html, "theirs").render().replace("kind=demo", "kind=other");
        let text = format!("<!-- workfile:end -->\n{lost}mine\n{other}\n");
        let merged = put(&text, &wanted, Mode::Append);
        assert_eq!(merged, format!("old\nmine\n{other}\n\n{}\n", wanted.render()));
        assert_eq!(put(&merged, &wanted, Mode::Append), merged);
    }

    #[test]
    fn crlf_line_ends_are_kept_and_are_no_edit() {
        for (style, text) in [(Style::Html, "a\nb"), (Style::Hash, "a\nb"), (Style::Frontmatter, FRONT)] {
            let wanted = block(style, text);
            let dos = put("", &wanted, Mode::Dedicated).replace('\n', "\r\n");
            assert_eq!(state(&dos, &wanted), State::Current);
            assert_eq!(put(&dos, &wanted, Mode::Dedicated), dos);
        }
        let added = put("mine\r\n", &block(Style::Html, "a"), Mode::Append);
        assert!(added.starts_with("mine\r\n\r\n<!-- workfile:begin"));
        assert!(added.ends_with("\r\na\r\n<!-- workfile:end -->\r\n"));
    }

    #[test]
    fn a_frontmatter_marker_counts_only_between_the_fences() {
        let marker = "# workfile kind=demo version=1 digest=sha256:0";
        let at = |text: String| find(&text, "demo", Style::Frontmatter).is_some();
        assert!(at(format!("---\na: 1\n{marker}\n---\n")));
        for text in [
            format!("---\na: 1\n---\n{marker}\n"),
            format!("{marker}\n---\n---\n"),
            format!("---\n{marker}\n"),
        ] {
            assert!(!at(text.clone()), "{text}");
        }
    }

    proptest! {
        #[test]
        fn merging_twice_changes_nothing_more(
            lines in proptest::collection::vec(prop_oneof![
                Just("<!-- workfile:begin kind=demo version=0 digest=sha256:0 -->".to_owned()),
                Just("<!-- workfile:begin kind=other -->".to_owned()),
                Just("<!-- workfile:end -->".to_owned()),
                Just("# workfile:begin kind=demo".to_owned()),
                Just("# workfile:end".to_owned()),
                Just("# workfile kind=demo".to_owned()),
                Just("---".to_owned()),
                "[a-z \r]{0,8}",
            ], 0..12),
            html in any::<bool>(),
            newline in any::<bool>(),
        ) {
            let style = if html { Style::Html } else { Style::Hash };
            let wanted = block(style, "body");
            let text = lines.join("\n") + if newline { "\n" } else { "" };
            let once = put(&text, &wanted, Mode::Append);
            prop_assert_eq!(state(&once, &wanted), State::Current);
            prop_assert_eq!(put(&once, &wanted, Mode::Append), once.clone());
            if find(&without_strays(&text, style), "demo", style).is_none() {
                let plain = |text: &str| without_markers(text).trim().to_owned();
                prop_assert!(plain(&once).starts_with(&plain(&text)));
            }
        }
    }
}
