//! One normaliser, one "is inside", one trim: every path and every text that comes from outside passes here.
//!
//! Nothing in this module touches the file system. Paths are text with `/`; what Windows spells differently is
//! folded into that spelling first, by a [`Flavour`] that tests can choose on any machine.

/// How a platform spells absolute paths and whether letter case tells two of them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// `/a/b`; case counts.
    Posix,
    /// `/a/b`; case does not count.
    Mac,
    /// `C:/a/b`, also written `c:\a\b`, `\\?\C:\a\b` or, by Git Bash, `/c/a/b`; case does not count.
    Windows,
}

impl Flavour {
    /// The platform this program was built for.
    pub const HOST: Self = if cfg!(windows) {
        Self::Windows
    } else if cfg!(target_os = "macos") {
        Self::Mac
    } else {
        Self::Posix
    };

    /// Whether `a` and `A` are one name.
    pub const fn folds_case(self) -> bool {
        !matches!(self, Self::Posix)
    }
}

/// White space as every record and every rule here means it.
///
/// Not Rust's `char::is_whitespace`: U+0085 is none, U+FEFF is.
pub const fn is_space(c: char) -> bool {
    matches!(
        c,
        '\u{9}'..='\u{d}' | ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{2028}' | '\u{2029}'
            | '\u{202f}' | '\u{205f}' | '\u{3000}' | '\u{feff}'
    )
}

/// Whether a character shows nothing and still changes what is read: it turns the direction, has no width, or carries text
/// for machines alone, as the tag characters do.
pub const fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Whether a character is a control character or ends a line wherever it is shown.
pub fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

/// `text` without white space ([`is_space`]) at both ends.
#[allow(
    clippy::inline_always,
    reason = "a call to another page of the program costs a hook more than the call does"
)]
#[inline(always)]
pub fn trim(text: &str) -> &str {
    let mut rest = text;
    while let Some(first) = rest.chars().next().filter(|c| is_space(*c)) {
        rest = &rest[first.len_utf8()..];
    }
    while let Some(last) = rest.chars().next_back().filter(|c| is_space(*c)) {
        rest = &rest[..rest.len() - last.len_utf8()];
    }
    rest
}

/// Where `byte` stands first. Not `memchr::memchr`: that one asks the processor for its features first, which costs more
/// than the whole search where processors are virtual.
pub fn find_byte(byte: u8, bytes: &[u8]) -> Option<usize> {
    #[cfg(target_arch = "aarch64")]
    use memchr::arch::aarch64::neon::memchr::One;
    #[cfg(target_arch = "x86_64")]
    use memchr::arch::x86_64::sse2::memchr::One;
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    if let Some(finder) = One::new(byte) {
        return finder.find(bytes);
    }
    memchr::arch::all::memchr::One::new(byte).find(bytes)
}

/// Line and column of a byte offset, both from 1. Columns count characters, a byte order mark none.
pub fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |feed| feed + 1);
    let column = before[line_start..].chars().filter(|c| *c != '\u{feff}').count() + 1;
    (before.matches('\n').count() + 1, column)
}

/// `text` on one line: trimmed, every run of white space one space.
pub fn one_line(text: &str) -> String {
    text.split(is_space).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Whether `path` is absolute in this flavour's spelling, `\` already replaced.
fn is_absolute(path: &str, flavour: Flavour) -> bool {
    path.starts_with('/') || (flavour == Flavour::Windows && drive(path).is_some())
}

/// The drive letter of `C:/…`, and the rest from the `/` on.
fn drive(path: &str) -> Option<(char, &str)> {
    let mut chars = path.chars();
    let letter = chars.next().filter(char::is_ascii_alphabetic)?;
    let rest = chars.as_str().strip_prefix(':')?;
    (rest.is_empty() || rest.starts_with('/')).then_some((letter, rest))
}

/// The absolute, lexically normal form of `path`: `\` is `/`, `.` and empty segments go, `..` takes its parent
/// with it, relative paths start at `base` (absolute itself).
///
/// Links are not looked at. `base` counts only for a relative `path`.
pub fn normalise(path: &str, base: &str) -> String {
    // Almost every path comes as it is wanted.
    if !cfg!(windows) && is_normal(path) { path.to_owned() } else { normalise_as(path, base, Flavour::HOST) }
}

/// Whether an absolute path has nothing to be normalised; says no when in doubt.
fn is_normal(path: &str) -> bool {
    let mut before = b'/';
    let plain = path.bytes().skip(1).all(|byte| {
        let fine = byte != b'\\' && !(before == b'/' && matches!(byte, b'/' | b'.'));
        before = byte;
        fine
    });
    plain && path.len() > 1 && path.starts_with('/') && before != b'/'
}

/// [`normalise`] as another platform would do it.
pub fn normalise_as(path: &str, base: &str, flavour: Flavour) -> String {
    let mut text = path.replace('\\', "/");
    if flavour == Flavour::Windows {
        if let Some(plain) = text.strip_prefix("//?/") {
            text = plain.to_owned();
        }
        if let Some(rest) = text.strip_prefix('/')
            && let Some((letter, tail)) = rest.split_at_checked(1)
            && letter.chars().all(|c| c.is_ascii_alphabetic())
            && (tail.is_empty() || tail.starts_with('/'))
        {
            text = format!("{letter}:{tail}");
        }
    }
    let mut out = String::with_capacity(base.len() + text.len() + 2);
    if !is_absolute(&text, flavour) {
        let base = base.replace('\\', "/");
        push_segments(&mut out, &base, flavour);
    }
    push_segments(&mut out, &text, flavour);
    if out.is_empty() || (flavour == Flavour::Windows && out.len() == 2) {
        out.push('/');
    }
    out
}

fn push_segments(out: &mut String, text: &str, flavour: Flavour) {
    let mut text = text;
    let mut floor = 0;
    if flavour == Flavour::Windows
        && let Some((letter, rest)) = drive(text)
    {
        out.push(letter.to_ascii_uppercase());
        out.push(':');
        text = rest;
    }
    if flavour == Flavour::Windows && out.as_bytes().get(1) == Some(&b':') {
        floor = 2;
    }
    for segment in text.split('/') {
        match segment {
            "" | "." => {}
            ".." => out.truncate(out.rfind('/').unwrap_or(floor).max(floor)),
            name => {
                let name =
                    if flavour == Flavour::Windows { name.split(':').next().unwrap_or(name) } else { name };
                out.push('/');
                out.push_str(name);
            }
        }
    }
}

/// What is left of `path` below `root`: `Some("")` when they are equal, `None` when it is not inside.
///
/// Both are normal absolute paths; the boundary is a `/`, so `/a/bc` is not inside `/a/b`.
pub fn inside<'a>(root: &str, path: &'a str) -> Option<&'a str> {
    inside_as(root, path, Flavour::HOST)
}

/// [`inside`] as another platform would compare.
pub fn inside_as<'a>(root: &str, path: &'a str, flavour: Flavour) -> Option<&'a str> {
    let root = root.strip_suffix('/').unwrap_or(root);
    let rest = if flavour.folds_case() { strip_folded(root, path)? } else { path.strip_prefix(root)? };
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

/// `path` without a prefix that equals `root` but for letter case.
fn strip_folded<'a>(root: &str, path: &'a str) -> Option<&'a str> {
    let mut rest = path.chars();
    for wanted in root.chars() {
        if !same_char(wanted, rest.next()?, Flavour::Mac) {
            return None;
        }
    }
    Some(rest.as_str())
}

/// Whether two characters of a name are one in this flavour.
pub fn same_char(left: char, right: char, flavour: Flavour) -> bool {
    left == right || (flavour.folds_case() && left.to_lowercase().eq(right.to_lowercase()))
}

/// Whether two path segments name the same entry in this flavour.
pub fn same_name(left: &str, right: &str, flavour: Flavour) -> bool {
    left == right || (flavour.folds_case() && strip_folded(left, right) == Some(""))
}

/// The directory above a normal absolute path; `None` at the top.
pub fn parent(path: &str) -> Option<&str> {
    let cut = path.rfind('/')?;
    match cut {
        0 if path.len() == 1 => None,
        0 => Some("/"),
        2 if path.as_bytes()[1] == b':' => (path.len() > 3).then(|| &path[..3]),
        _ => Some(&path[..cut]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_is_the_records_set() {
        assert_eq!(trim("\u{feff}\u{a0}x y\u{3000}\n"), "x y");
        assert_eq!(trim("\u{85}x"), "\u{85}x");
        assert_eq!(one_line("  a\r\n b\u{2028}c "), "a b c");
    }

    #[test]
    fn places_are_counted_in_lines_and_characters() {
        let text = "\u{feff}aé\n\nb";
        for (at, place) in [(0, (1, 1)), (3, (1, 1)), (6, (1, 3)), (7, (2, 1)), (8, (3, 1)), (99, (3, 2))] {
            assert_eq!(line_and_column(text, at), place, "{at}");
        }
    }

    #[test]
    fn dots_and_doubled_separators_go() {
        assert_eq!(normalise_as("/w/mine/../theirs//./f.rs", "/", Flavour::Posix), "/w/theirs/f.rs");
        assert_eq!(normalise_as("theirs/f.rs", "/w/mine", Flavour::Posix), "/w/mine/theirs/f.rs");
        assert_eq!(normalise_as("../../../..", "/w", Flavour::Posix), "/");
        assert_eq!(normalise_as(r"src\api\x.ts", "/w", Flavour::Posix), "/w/src/api/x.ts");
        assert_eq!(normalise_as("", "/w", Flavour::Posix), "/w");
    }

    #[test]
    fn every_windows_spelling_is_one_path() {
        for spelling in [
            r"D:\w\src\a",
            "d:/w/src/a",
            "/d/w/src/a",
            r"\\?\D:\w\src\a",
            r"D:\w\.\x\..\src\a",
            r"d:\w\src\a:stream",
        ] {
            assert_eq!(normalise_as(spelling, "C:/", Flavour::Windows), "D:/w/src/a", "{spelling}");
        }
        assert_eq!(normalise_as(r"..\..\..\x", r"C:\a", Flavour::Windows), "C:/x");
        assert_eq!(normalise_as(r"C:\", "C:/", Flavour::Windows), "C:/");
        assert_eq!(inside_as("D:/w", "D:/W/src/a", Flavour::Windows), Some("src/a"));
        assert_eq!(inside_as("/w", "/W/src/a", Flavour::Posix), None);
    }

    #[test]
    fn the_short_way_agrees_with_the_long_one() {
        for path in [
            "/", "/a", "/a/", "//a", "/a//b", "/a/.b", "/a/./b", "/a/../b", "/a/..", "a", "", "/a\\b",
            "/a/b.c", "/é",
        ] {
            assert_eq!(normalise(path, "/w"), normalise_as(path, "/w", Flavour::HOST), "{path}");
        }
        assert!(is_normal("/a/b.c") && !is_normal("/a/.b") && !is_normal("/"));
    }

    #[test]
    fn inside_ends_at_a_separator() {
        assert_eq!(inside("/w", "/w/a"), Some("a"));
        assert_eq!(inside("/w", "/w"), Some(""));
        assert_eq!(inside("/w", "/wa"), None);
        assert_eq!(inside("/", "/a"), Some("a"));
    }

    #[test]
    fn case_is_folded_in_one_way() {
        for (left, right, same) in [
            ("SRC", "src", true),
            ("É", "é", true),
            ("ΑΣ", "ασ", true),
            ("a", "ab", false),
            ("ab", "a", false),
        ] {
            assert_eq!(same_name(left, right, Flavour::Mac), same, "{left} {right}");
            let (left, right) = (format!("/{left}"), format!("/{right}/x"));
            assert_eq!(inside_as(&left, &right, Flavour::Mac), same.then_some("x"), "{left} {right}");
        }
        assert!(!same_name("SRC", "src", Flavour::Posix));
    }

    #[test]
    fn parents_end_at_the_top() {
        assert_eq!(parent("/a/b"), Some("/a"));
        assert_eq!(parent("/a"), Some("/"));
        assert_eq!(parent("/"), None);
        assert_eq!(parent("C:/a"), Some("C:/"));
        assert_eq!(parent("C:/"), None);
    }
}
