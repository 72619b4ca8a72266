//! JSON as text: where each value stands, and edits that leave every other byte alone.
//!
//! Settings files belong to their repository. Parsing and writing one anew would turn `1e3` into `1000.0`, a large
//! integer into a float and every line into somebody else's layout; so values are found by their place and only what
//! changes is spliced in.

use serde_json::Value as Json;
use std::fmt;
use std::ops::Range;

/// Deeper than any settings file; the reader recurses no further.
const DEEPEST: usize = 128;

/// Why a text cannot be edited: where, counted from 1 in lines and characters, and what is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.what)
    }
}

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) span: Range<usize>,
    pub(super) kind: Kind,
}

/// What a value is.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    Object(Vec<Member>),
    Array(Vec<Node>),
    /// Decoded; half a surrogate pair is U+FFFD.
    Text(String),
    /// A number as it is written, `true`, `false` or `null`.
    Word(String),
}

/// One member of an object.
#[derive(Clone, Debug)]
pub(super) struct Member {
    /// Decoded.
    pub(super) key: String,
    /// Where the key begins.
    pub(super) start: usize,
    pub(super) value: Node,
}

impl Member {
    /// From the key to the end of the value.
    pub(super) fn span(&self) -> Range<usize> {
        self.start..self.value.span.end
    }
}

impl Node {
    /// The members of an object.
    pub(super) fn members(&self) -> Option<&[Member]> {
        if let Kind::Object(members) = &self.kind { Some(members) } else { None }
    }

    /// The elements of an array.
    pub(super) fn elements(&self) -> Option<&[Self]> {
        if let Kind::Array(elements) = &self.kind { Some(elements) } else { None }
    }

    /// The decoded text of a string.
    pub(super) fn text(&self) -> Option<&str> {
        if let Kind::Text(text) = &self.kind { Some(text) } else { None }
    }

    /// The value of a key; the last one when the key stands there twice, as every reader of JSON has it.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        self.members()?.iter().rev().find(|member| member.key == key).map(|member| &member.value)
    }

    /// Whether this is `true`.
    pub(super) fn is_true(&self) -> bool {
        matches!(&self.kind, Kind::Word(word) if word == "true")
    }

    /// The first key, here or below, that stands in its object a second time.
    pub(super) fn duplicate(&self) -> Option<&Member> {
        match &self.kind {
            Kind::Array(elements) => elements.iter().find_map(Self::duplicate),
            Kind::Object(members) => members.iter().enumerate().find_map(|(index, member)| {
                let seen = members[..index].iter().any(|earlier| earlier.key == member.key);
                if seen { Some(member) } else { member.value.duplicate() }
            }),
            Kind::Text(_) | Kind::Word(_) => None,
        }
    }

    /// Whether this is the same value, whatever its layout and the order of its keys.
    pub(super) fn equals(&self, wanted: &Json) -> bool {
        match (&self.kind, wanted) {
            (Kind::Text(text), Json::String(wanted)) => text == wanted,
            (Kind::Word(word), Json::Number(_) | Json::Bool(_) | Json::Null) => {
                let wanted = wanted.to_string();
                *word == wanted
            }
            (Kind::Array(elements), Json::Array(wanted)) => {
                elements.len() == wanted.len()
                    && elements.iter().zip(wanted).all(|(element, wanted)| element.equals(wanted))
            }
            (Kind::Object(members), Json::Object(wanted)) => {
                members.len() == wanted.len()
                    && members
                        .iter()
                        .all(|member| wanted.get(&member.key).is_some_and(|value| member.value.equals(value)))
            }
            _ => false,
        }
    }
}

/// Reads a whole file, strictly as RFC 8259 has it; a byte order mark in front is let through.
pub(super) fn parse(bytes: &[u8]) -> Result<(&str, Node), Problem> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            return Err(problem(&valid, valid.len(), "bytes that are not UTF-8"));
        }
    };
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut reader = Reader { text, at: start };
    let node = reader.value(0)?;
    reader.space();
    if reader.at < text.len() {
        return Err(reader.expected("the end of the file"));
    }
    Ok((text, node))
}

/// A problem at a byte offset of `text`.
pub(super) fn problem(text: &str, at: usize, what: impl Into<String>) -> Problem {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let column = before[line_start..].chars().filter(|&c| c != '\u{feff}').count() + 1;
    Problem { line: before.matches('\n').count() + 1, column, what: what.into() }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn expected(&self, what: &str) -> Problem {
        let found = match self.text[self.at..].chars().next() {
            None => "the end of the file".to_owned(),
            Some(c) => format!("`{}`", c.escape_debug()),
        };
        problem(self.text, self.at, format!("expected {what}, found {found}"))
    }

    /// Takes one byte after white space.
    fn take(&mut self, byte: u8) -> bool {
        self.space();
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn value(&mut self, depth: usize) -> Result<Node, Problem> {
        self.space();
        if depth > DEEPEST {
            return Err(problem(self.text, self.at, format!("nested deeper than {DEEPEST}")));
        }
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => Kind::Object(self.members(depth)?),
            Some(b'[') => Kind::Array(self.elements(depth)?),
            Some(b'"') => Kind::Text(self.string()?),
            Some(b'-' | b'0'..=b'9') => Kind::Word(self.number()?),
            _ => {
                let rest = &self.text[self.at..];
                let word = ["true", "false", "null"].into_iter().find(|word| rest.starts_with(word));
                let word = word.ok_or_else(|| self.expected("a value"))?;
                self.at += word.len();
                Kind::Word(word.to_owned())
            }
        };
        Ok(Node { span: start..self.at, kind })
    }

    fn members(&mut self, depth: usize) -> Result<Vec<Member>, Problem> {
        self.at += 1;
        let mut members = Vec::new();
        if self.take(b'}') {
            return Ok(members);
        }
        loop {
            self.space();
            let start = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.expected("a key in double quotes"));
            }
            let key = self.string()?;
            if !self.take(b':') {
                return Err(self.expected("`:`"));
            }
            members.push(Member { key, start, value: self.value(depth + 1)? });
            if self.take(b'}') {
                return Ok(members);
            }
            if !self.take(b',') {
                return Err(self.expected("`,` or `}`"));
            }
        }
    }

    fn elements(&mut self, depth: usize) -> Result<Vec<Node>, Problem> {
        self.at += 1;
        let mut elements = Vec::new();
        if self.take(b']') {
            return Ok(elements);
        }
        loop {
            elements.push(self.value(depth + 1)?);
            if self.take(b']') {
                return Ok(elements);
            }
            if !self.take(b',') {
                return Err(self.expected("`,` or `]`"));
            }
        }
    }

    fn number(&mut self) -> Result<String, Problem> {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.digits()?;
        }
        Ok(self.text[start..self.at].to_owned())
    }

    fn digits(&mut self) -> Result<(), Problem> {
        if !self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            return Err(self.expected("a digit"));
        }
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        Ok(())
    }

    /// A string, from its opening quote on.
    fn string(&mut self) -> Result<String, Problem> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = &self.text[self.at..];
            let plain = rest.find(|c: char| matches!(c, '"' | '\\' | '\0'..='\u{1f}')).unwrap_or(rest.len());
            out.push_str(&rest[..plain]);
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => out.push(self.escape()?),
                _ => return Err(self.expected("the end of the string")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Problem> {
        self.at += 1;
        let plain = match self.peek() {
            Some(b'u') => return self.unicode(),
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            _ => return Err(self.expected("an escape")),
        };
        self.at += 1;
        Ok(plain)
    }

    fn unicode(&mut self) -> Result<char, Problem> {
        let first = self.hex()?;
        if !(0xd800..0xdc00).contains(&first) || !self.text[self.at..].starts_with("\\u") {
            return Ok(char::from_u32(first).unwrap_or('\u{fffd}'));
        }
        let behind_first = self.at;
        self.at += 1;
        let second = self.hex()?;
        if (0xdc00..0xe000).contains(&second) {
            let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
            return Ok(char::from_u32(code).unwrap_or('\u{fffd}'));
        }
        self.at = behind_first;
        Ok('\u{fffd}')
    }

    /// Four hex digits behind the `u` that stands here.
    fn hex(&mut self) -> Result<u32, Problem> {
        self.at += 1;
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            code = code * 16 + digit.ok_or_else(|| self.expected("a hex digit"))?;
            self.at += 1;
        }
        Ok(code)
    }
}

/// One replacement; an empty range inserts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Splice {
    pub(super) at: Range<usize>,
    pub(super) with: String,
}

/// `text` with all replacements done. They do not overlap.
pub(super) fn apply(text: &str, mut splices: Vec<Splice>) -> String {
    splices.sort_by_key(|splice| (splice.at.start, splice.at.end));
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for Splice { at: place, with } in splices {
        out.push_str(&text[at..place.start]);
        out.push_str(&with);
        at = place.end;
    }
    out.push_str(&text[at..]);
    out
}

/// What happens to a child of a list or an object.
#[derive(Clone, Debug)]
pub(super) enum Fate {
    /// It stays; splices may lie inside it.
    Keep,
    /// It goes, and a comma with it.
    Drop,
    /// Another value stands in its place.
    Replace(String),
}

/// How a file is laid out, as far as new lines in it should look alike.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    unit: String,
    newline: &'static str,
}

impl Layout {
    /// The first indented line decides, else two spaces.
    pub(super) fn of(text: &str) -> Self {
        let indent = |line: &str| {
            let width = line.len() - line.trim_start_matches([' ', '\t']).len();
            let is_blank = line[width..].trim_end().is_empty();
            (width > 0 && !is_blank).then(|| line[..width].to_owned())
        };
        let unit = text.lines().find_map(indent).unwrap_or_else(|| "  ".to_owned());
        Self { unit, newline: if text.contains("\r\n") { "\r\n" } else { "\n" } }
    }

    /// The end of a line.
    pub(super) fn newline(&self) -> &'static str {
        self.newline
    }

    /// A new line at a depth.
    fn line(&self, depth: usize) -> String {
        format!("{}{}", self.newline, self.unit.repeat(depth))
    }

    /// `value` as it stands at a depth, its first line not indented.
    pub(super) fn render(&self, value: &Json, depth: usize) -> String {
        let mut out = String::new();
        self.write(&mut out, value, depth);
        out
    }

    /// A member as it stands at a depth.
    pub(super) fn render_member(&self, key: &str, value: &Json, depth: usize) -> String {
        format!("{}: {}", Json::from(key), self.render(value, depth))
    }

    fn write(&self, out: &mut String, value: &Json, depth: usize) {
        let (open, close, children): (_, _, Vec<(Option<&String>, &Json)>) = match value {
            Json::Array(elements) if !elements.is_empty() => {
                ('[', ']', elements.iter().map(|element| (None, element)).collect())
            }
            Json::Object(members) if !members.is_empty() => {
                ('{', '}', members.iter().map(|(key, value)| (Some(key), value)).collect())
            }
            plain => return out.push_str(&plain.to_string()),
        };
        out.push(open);
        for (index, (key, child)) in children.into_iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            out.push_str(&self.line(depth + 1));
            if let Some(key) = key {
                out.push_str(&Json::from(key.as_str()).to_string());
                out.push_str(": ");
            }
            self.write(out, child, depth + 1);
        }
        out.push_str(&self.line(depth));
        out.push(close);
    }

    /// The splices that carry out the fates of a container's children and add new ones at its end. `depth` is the
    /// container's own.
    pub(super) fn edit(
        &self,
        container: &Range<usize>,
        children: &[(Range<usize>, Fate)],
        added: &[String],
        depth: usize,
    ) -> Vec<Splice> {
        let stays = |fate: &Fate| !matches!(fate, Fate::Drop);
        let added: Vec<String> =
            added.iter().map(|child| format!("{}{child}", self.line(depth + 1))).collect();
        let Some(first_kept) = children.iter().position(|(_, fate)| stays(fate)) else {
            if children.is_empty() && added.is_empty() {
                return Vec::new();
            }
            let inner = container.start + 1..container.end - 1;
            let with = if added.is_empty() { String::new() } else { added.join(",") + &self.line(depth) };
            return vec![Splice { at: inner, with }];
        };
        let mut splices = Vec::new();
        for (index, (place, fate)) in children.iter().enumerate() {
            match fate {
                Fate::Keep => {}
                Fate::Replace(with) => splices.push(Splice { at: place.clone(), with: with.clone() }),
                Fate::Drop => {
                    // In front of the first that stays, the comma behind goes; behind it, the comma in front.
                    let at = if index < first_kept {
                        place.start..children[index + 1].0.start
                    } else {
                        children[index - 1].0.end..place.end
                    };
                    splices.push(Splice { at, with: String::new() });
                }
            }
        }
        if !added.is_empty() {
            let end = children[children.len() - 1].0.end;
            splices.push(Splice { at: end..end, with: format!(",{}", added.join(",")) });
        }
        splices
    }
}
