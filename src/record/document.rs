//! Taking a file apart: the fences, the header between them, the body behind.

use super::header::Header;
use crate::failure::{Code, Failure};
use crate::path::{find_byte, trim};

/// Why a file is not a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotARecord {
    /// No opening fence in line 1, or no closing one.
    NoFrontmatter,
    /// Bytes that are not UTF-8.
    NotUtf8,
}

impl NotARecord {
    /// `frontmatter not found` or `not valid UTF-8`.
    pub fn reason(self) -> &'static str {
        match self {
            Self::NoFrontmatter => "frontmatter not found",
            Self::NotUtf8 => "not valid UTF-8",
        }
    }
}

/// A record taken apart: `prefix` and `body_text` together are the whole text.
#[derive(Clone, Debug)]
pub struct Document<'a> {
    /// Everything up to and with the line end of the closing fence, a BOM included.
    pub prefix: &'a str,
    /// The rest.
    pub body_text: &'a str,
    /// The header's keys.
    pub header: Header,
}

impl Document<'_> {
    /// The body: the body text trimmed.
    pub fn body(&self) -> &str {
        trim(self.body_text)
    }
}

/// The text of a file; a file with other bytes in it is never rewritten.
pub fn decode(bytes: &[u8]) -> Result<&str, NotARecord> {
    std::str::from_utf8(bytes).map_err(|_| NotARecord::NotUtf8)
}

/// Reads a record. `lists` are the declared list keys of its kind.
pub fn read<'a>(text: &'a str, lists: &[&str]) -> Result<Document<'a>, NotARecord> {
    let Split::Closed(fences) = split(text) else { return Err(NotARecord::NoFrontmatter) };
    Ok(Document {
        prefix: fences.prefix,
        body_text: &text[fences.prefix.len()..],
        header: Header::parse(&fences.lines, lists),
    })
}

/// What the beginning of a file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Head {
    /// The whole header.
    Header(Header),
    /// The closing fence is not in these bytes; more of the file may have it.
    Unfinished,
    /// Not a record, however much follows.
    NotARecord(NotARecord),
}

/// Reads the header from the first bytes of a file, which may end anywhere, inside a character too.
///
/// A closing fence counts once its line has ended: what follows could still make it something else. Whoever has the
/// whole file asks [`read`], which knows that nothing follows.
pub fn read_head(bytes: &[u8], lists: &[&str]) -> Head {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return Head::NotARecord(NotARecord::NotUtf8),
    };
    match split(text) {
        Split::Closed(fences) if fences.prefix.ends_with('\n') => {
            Head::Header(Header::parse(&fences.lines, lists))
        }
        Split::Closed(_) | Split::Open => Head::Unfinished,
        Split::None => Head::NotARecord(NotARecord::NoFrontmatter),
    }
}

/// What the first bytes of a file say about one key of its header, before anything is parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mention {
    /// A line of the header begins with the key; [`read_head`] has its value.
    Yes,
    /// None does, or the file is not a record.
    No,
    /// The closing fence is not in these bytes.
    Unfinished,
}

/// Whether the header at the beginning of a file has a line that begins with `key`.
pub fn head_mentions(bytes: &[u8], key: &str) -> Mention {
    let mut rest = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let mut opened = false;
    let mut mentioned = false;
    loop {
        let Some(end) = find_byte(b'\n', rest) else { return Mention::Unfinished };
        let line = rest[..end].strip_suffix(b"\r").unwrap_or(&rest[..end]);
        if !opened {
            if line != b"---" {
                return Mention::No;
            }
            opened = true;
        } else if is_closing_fence(line) {
            return if mentioned { Mention::Yes } else { Mention::No };
        } else {
            mentioned |= line.starts_with(key.as_bytes());
        }
        rest = &rest[end + 1..];
    }
}

/// The refusal of an operation on a text that is not a record.
pub(super) fn missing() -> Failure {
    let text = "frontmatter not found: line 1 must be `---`, and a later line `---` must close it";
    Failure::new(Code::RECORD_FRONTMATTER_MISSING, text)
}

/// What the fences of a text say.
pub(super) enum Split<'a> {
    /// Both are there.
    Closed(Fences<'a>),
    /// The opening one is there, or could be with more text.
    Open,
    /// Line 1 is not a fence.
    None,
}

/// A text cut at its fences.
pub(super) struct Fences<'a> {
    /// Up to and with the line end of the closing fence.
    pub(super) prefix: &'a str,
    /// The lines between the fences, without their ends.
    pub(super) lines: Vec<&'a str>,
}

impl<'a> Fences<'a> {
    /// The fences of `text`; `RECORD_FRONTMATTER_MISSING` when it is not a record.
    pub(super) fn of(text: &'a str) -> Result<Self, Failure> {
        match split(text) {
            Split::Closed(fences) => Ok(fences),
            Split::Open | Split::None => Err(missing()),
        }
    }

    /// The line end of everything written into this file.
    pub(super) fn line_end(&self) -> &'static str {
        if self.prefix.contains("\r\n") { "\r\n" } else { "\n" }
    }
}

pub(super) const BOM: char = '\u{feff}';

/// Cuts `text` at its fences. Only LF and CRLF end lines.
pub(super) fn split(text: &str) -> Split<'_> {
    let rest = text.strip_prefix(BOM).unwrap_or(text);
    let Some((first, mut rest)) = split_line(rest) else {
        return if "---\r".starts_with(rest) { Split::Open } else { Split::None };
    };
    if without_cr(first) != "---" {
        return Split::None;
    }
    // Few headers are longer.
    let mut lines = Vec::with_capacity(16);
    loop {
        let (line, after) = match split_line(rest) {
            Some((line, after)) => (without_cr(line), after),
            None => (rest, ""),
        };
        if is_closing_fence(line.as_bytes()) {
            return Split::Closed(Fences { prefix: &text[..text.len() - after.len()], lines });
        }
        if after.is_empty() {
            return Split::Open;
        }
        lines.push(line);
        rest = after;
    }
}

/// The first line of `text` without its LF, and what follows; `None` when there is no LF.
fn split_line(text: &str) -> Option<(&str, &str)> {
    let end = find_byte(b'\n', text.as_bytes())?;
    Some((&text[..end], &text[end + 1..]))
}

/// Whether a line, its end left out, closes a header.
fn is_closing_fence(line: &[u8]) -> bool {
    line.strip_prefix(b"---").is_some_and(|tail| tail.iter().all(|byte| matches!(byte, b' ' | b'\t')))
}

fn without_cr(line: &str) -> &str {
    line.strip_suffix('\r').unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_and_body_text_are_the_whole_text() {
        let text = "\u{feff}---\r\nid: T-1\r\n--- \t\r\n\r\n B \r\n";
        let document = read(text, &[]).unwrap();
        assert_eq!(document.prefix, "\u{feff}---\r\nid: T-1\r\n--- \t\r\n");
        assert_eq!(format!("{}{}", document.prefix, document.body_text), text);
        assert_eq!(document.body(), "B");
    }

    #[test]
    fn a_lone_carriage_return_ends_no_line() {
        assert_eq!(read("---\rid: T-1\r---\r", &[]).unwrap_err().reason(), "frontmatter not found");
        assert!(read("---\nid: T-1\n---\r", &[]).is_err());
        assert!(read("---\nid: T-1\n---\r\r\n", &[]).is_err());
        let document = read("---\na: x\ry: z\n---\n", &[]).unwrap();
        assert_eq!(document.header.text("a"), Some("x\ry: z"));
    }

    #[test]
    fn a_key_is_mentioned_in_the_header_or_nowhere() {
        let of = |text: &str| head_mentions(text.as_bytes(), "claimed_by");
        assert_eq!(of("---\nid: a\nclaimed_by: b\n---\nx"), Mention::Yes);
        assert_eq!(of("\u{feff}---\r\nclaimed_by: b\r\n--- \r\n"), Mention::Yes);
        assert_eq!(of("---\nid: a\n---\nclaimed_by: b\n"), Mention::No);
        assert_eq!(of("---\nid: a\n-----\nclaimed_by: b\n---\n"), Mention::Yes);
        assert_eq!(of("# Title\nclaimed_by: b\n---\n"), Mention::No);
        assert_eq!(of("---\nid: a\nclaimed_by: b\n"), Mention::Unfinished);
        assert_eq!(of(""), Mention::Unfinished);
    }

    #[test]
    fn a_file_of_other_bytes_is_not_a_record() {
        assert_eq!(decode(b"---\nid: \xff\n---\n").unwrap_err().reason(), "not valid UTF-8");
        assert_eq!(read_head(b"---\nid: \xff\n", &[]), Head::NotARecord(NotARecord::NotUtf8));
    }

    #[test]
    fn a_head_is_unfinished_until_the_line_of_the_closing_fence_has_ended() {
        let text = "\u{feff}---\r\nid: é\r\n---\r\nbody é";
        let end = text.find("body").unwrap();
        for cut in 0..text.len() {
            let head = read_head(&text.as_bytes()[..cut], &[]);
            if cut < end {
                assert_eq!(head, Head::Unfinished, "{cut}");
            } else {
                assert!(matches!(head, Head::Header(header) if header.text("id") == Some("é")), "{cut}");
            }
        }
        assert_eq!(read_head(b"--x", &[]), Head::NotARecord(NotARecord::NoFrontmatter));
        assert_eq!(read_head(b"# Title\n", &[]), Head::NotARecord(NotARecord::NoFrontmatter));
    }
}
