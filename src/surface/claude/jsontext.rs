//! JSON as text: what each value is and where it stands.
//!
//! Settings files belong to their repository. Parsing and writing one anew would turn `1e3` into `1000.0`, a large
//! integer into a float and every line into somebody else's layout; so values are found by their place, and
//! [`super::jsonedit`] changes a few of them there.

use crate::path::line_and_column;
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
    let (line, column) = line_and_column(text, at);
    Problem { line, column, what: what.into() }
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

#[cfg(test)]
mod tests {
    use super::super::jsonedit::Layout;
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn node(text: &str) -> Node {
        parse(text.as_bytes()).unwrap().1
    }

    #[test]
    fn problems_name_line_and_column() {
        for (text, line, column, what) in [
            ("{\n  \"a\": 1,\n}", 3, 1, "expected a key in double quotes, found `}`"),
            ("{\n  // why\n}", 2, 3, "expected a key in double quotes, found `/`"),
            ("[1,]", 1, 4, "expected a value, found `]`"),
            ("[1 2]", 1, 4, "expected `,` or `]`"),
            ("{\"a\" 1}", 1, 6, "expected `:`"),
            ("{} {}", 1, 4, "expected the end of the file"),
            ("", 1, 1, "expected a value, found the end of the file"),
            ("\u{feff}", 1, 1, "expected a value"),
            ("{\"\u{e9}\": x}", 1, 7, "expected a value, found `x`"),
            ("\"a\nb\"", 1, 3, "expected the end of the string, found `\\n`"),
            ("\"\\x\"", 1, 3, "expected an escape"),
            ("\"\\u12\u{e9}4\"", 1, 6, "expected a hex digit"),
            ("[01]", 1, 3, "expected `,` or `]`"),
            ("[1.]", 1, 4, "expected a digit"),
            ("[-]", 1, 3, "expected a digit"),
            ("[1e+]", 1, 5, "expected a digit"),
            ("[nul]", 1, 2, "expected a value"),
            ("['a']", 1, 2, "expected a value, found `\\'`"),
            ("[\u{a0}1]", 1, 2, "expected a value"),
        ] {
            let found = parse(text.as_bytes()).unwrap_err();
            assert_eq!((found.line, found.column), (line, column), "{text}: {found}");
            assert!(found.what.starts_with(what), "{text}: {found}");
        }
        let latin = parse(b"{\n\"caf\xe9\": 1}").unwrap_err();
        assert_eq!(latin.to_string(), "line 2, column 5: bytes that are not UTF-8");
        let deep = parse("[".repeat(DEEPEST + 2).as_bytes()).unwrap_err();
        assert_eq!(deep.to_string(), "line 1, column 130: nested deeper than 128");
        assert!(parse(("[".repeat(DEEPEST) + &"]".repeat(DEEPEST)).as_bytes()).is_ok());
    }

    #[test]
    fn strings_are_decoded() {
        for (text, decoded) in [
            (r#""\u0068ooks""#, "hooks"),
            (r#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t"),
            (r#""\ud83d\ude00 \uD83D""#, "\u{1f600} \u{fffd}"),
            (r#""\ud83d\u0041\ude00""#, "\u{fffd}A\u{fffd}"),
        ] {
            assert_eq!(node(text).text(), Some(decoded), "{text}");
        }
    }

    #[test]
    fn a_key_that_stands_twice_is_found_however_it_is_spelled() {
        let duplicate = |text| node(text).duplicate().map(|member| (member.key.clone(), member.start));
        assert_eq!(duplicate(r#"{"a":{"a":1},"b":[{"a":1},{"a":2}]}"#), None);
        assert_eq!(duplicate(r#"{"b":[{"a":1,"\u0061":2}]}"#), Some(("a".to_owned(), 13)));
    }

    #[test]
    fn values_are_compared_without_their_layout() {
        let wanted = json!({ "a": [1, true, null, "x"], "b": {} });
        assert!(node("{ \"b\" : { } ,\n\"a\":[1,true , null,\"\\u0078\"]}").equals(&wanted));
        for other in [
            r#"{"a":[1,true,null,"x"]}"#,
            r#"{"a":[1,true,null,"x"],"b":[]}"#,
            r#"{"a":[1,true,null],"b":{}}"#,
            r#"{"a":[1,true,null,"y"],"b":{}}"#,
            r#"{"a":["1",true,null,"x"],"b":{}}"#,
            r#"{"a":[1,true,null,"x"],"c":{}}"#,
        ] {
            assert!(!node(other).equals(&wanted), "{other}");
        }
    }

    fn value() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::from),
            any::<i64>().prop_map(Json::from),
            ".{0,6}".prop_map(Json::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
                proptest::collection::vec((".{0,3}", inner), 0..4)
                    .prop_map(|pairs| Json::Object(pairs.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn every_json_text_is_read_as_what_it_is(value in value()) {
            for text in [value.to_string(), format!("{value:#}"), Layout::of("\t").render(&value, 0)] {
                let (_, node) = parse(text.as_bytes()).unwrap();
                prop_assert!(node.equals(&value));
                prop_assert_eq!(node.span, 0..text.len());
            }
        }

        #[test]
        fn nothing_panics_and_only_json_is_read(text in "[\\[\\]{}:,\"\\\\u0-9a-f.eE+\\- \ntrlsné]{0,24}") {
            // Lone surrogates apart, which are read as U+FFFD, the two readers accept the same texts.
            let ours = parse(text.as_bytes()).is_ok();
            if !text.contains("\\u") {
                prop_assert_eq!(ours, serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok());
            }
        }
    }
}
