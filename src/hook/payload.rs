//! The payload: one JSON object on stdin, scanned and not parsed.
//!
//! It is read through one small window up to its closing brace and never to the end of the input, which some hosts leave
//! open. A handful of fields is kept, bounded; everything else is passed over whatever its size. Anything that is not one
//! whole object is as good as an empty one.

use crate::path::find_byte;
use std::io;

/// Longest id or name that is kept, in bytes.
const NAME: usize = 256;
/// Longest path that is kept, in bytes.
const PATH: usize = 32 * 1024;
/// How deep values may be nested.
const DEPTH: u32 = 128;
/// More than this is not read.
const MOST: usize = 16 * 1024 * 1024;
/// The size of the window that a payload is read through. Of a larger one only what is filled costs anything, but a call
/// costs less than the page faults of filling it.
pub(super) const WINDOW: usize = 16 * 1024;
/// The longest key or number that matters.
const TOKEN: usize = 32;

/// The fields of a payload that are used. Absent, empty, too long and of the wrong type are all `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Payload {
    pub(super) session_id: Option<String>,
    pub(super) cwd: Option<String>,
    pub(super) hook_event_name: Option<String>,
    pub(super) agent_id: Option<String>,
    pub(super) agent_type: Option<String>,
    pub(super) source: Option<String>,
    pub(super) tool_name: Option<String>,
    pub(super) tool_use_id: Option<String>,
    pub(super) duration_ms: Option<f64>,
    pub(super) file_path: Option<String>,
    pub(super) notebook_path: Option<String>,
}

/// Where a payload comes from.
pub(super) trait Source {
    /// Reads once into the room that `into` has left; 0 when there is no more.
    fn fill(&mut self, into: &mut Vec<u8>) -> io::Result<usize>;
}

impl Payload {
    /// Reads one payload through `window`; an empty one when the input is anything but a whole JSON object.
    pub(super) fn read(input: impl Source, window: &mut Vec<u8>) -> Self {
        let mut scanner = Scanner { input, window, at: 0, total: 0 };
        if let Ok(payload) = scanner.payload() {
            return payload;
        }
        // The host is still writing: let it, as long as it does not pause.
        while scanner.fill().is_ok() {}
        Self::default()
    }

    /// The path that the tool is about.
    pub(super) fn path(&self) -> Option<&str> {
        let (first, second) = if self.tool_name.as_deref() == Some("NotebookEdit") {
            (&self.notebook_path, &self.file_path)
        } else {
            (&self.file_path, &self.notebook_path)
        };
        first.as_deref().or(second.as_deref())
    }

    /// Whether the tool only reads.
    pub(super) fn reads(&self) -> bool {
        self.tool_name.as_deref().is_some_and(reads)
    }

    /// Whether the tool is a shell.
    pub(super) fn is_shell(&self) -> bool {
        self.tool_name.as_deref().is_some_and(is_shell)
    }
}

/// Whether a tool of this name only reads.
pub(super) fn reads(tool: &str) -> bool {
    matches!(tool, "Read" | "NotebookRead" | "Glob" | "Grep" | "LS" | "LSP" | "WebFetch" | "WebSearch")
}

/// Whether a tool of this name is a shell.
pub(super) fn is_shell(tool: &str) -> bool {
    matches!(tool, "Bash" | "PowerShell")
}

/// Not one whole JSON object.
#[derive(Debug)]
struct Malformed;

type Scan<T> = Result<T, Malformed>;

struct Scanner<'a, S> {
    input: S,
    window: &'a mut Vec<u8>,
    at: usize,
    total: usize,
}

/// A key or a number, as far as it matters.
struct Token {
    bytes: [u8; TOKEN],
    len: usize,
}

impl Token {
    const fn new() -> Self {
        Self { bytes: [0; TOKEN], len: 0 }
    }

    /// Longer ones are counted, not kept: they equal no name.
    fn extend(&mut self, bytes: &[u8]) {
        if let Some(place) = self.bytes.get_mut(self.len..self.len + bytes.len()) {
            place.copy_from_slice(bytes);
        }
        self.len += bytes.len();
    }

    fn text(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

/// Where the content of a string goes.
enum Keep<'a> {
    Token(&'a mut Token),
    Text { into: &'a mut Vec<u8>, cap: usize },
}

impl Keep<'_> {
    fn extend(&mut self, bytes: &[u8]) {
        match self {
            Self::Token(token) => token.extend(bytes),
            // One byte over the cap is enough to know.
            Self::Text { into, cap } => {
                let room = (*cap + 1).saturating_sub(into.len());
                let kept = &bytes[..bytes.len().min(room)];
                into.extend_from_slice(kept);
            }
        }
    }
}

impl<S: Source> Scanner<'_, S> {
    /// The next bytes; `Malformed` when there are none.
    #[inline(never)]
    fn fill(&mut self) -> Scan<()> {
        if self.total >= MOST {
            return Err(Malformed);
        }
        self.window.clear();
        let read = self.input.fill(self.window).unwrap_or(0);
        self.at = 0;
        // An input that has ended or paused for too long is not asked again.
        self.total = if read == 0 { MOST } else { self.total + read };
        if read == 0 { Err(Malformed) } else { Ok(()) }
    }

    fn peek(&mut self) -> Scan<u8> {
        if self.at == self.window.len() {
            self.fill()?;
        }
        Ok(self.window[self.at])
    }

    fn next(&mut self) -> Scan<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Ok(byte)
    }

    /// The next byte that is not white space, taken.
    fn token(&mut self) -> Scan<u8> {
        loop {
            match self.next()? {
                b' ' | b'\t' | b'\n' | b'\r' => {}
                byte => return Ok(byte),
            }
        }
    }

    fn expect(&mut self, wanted: u8) -> Scan<()> {
        if self.token()? == wanted { Ok(()) } else { Err(Malformed) }
    }

    fn payload(&mut self) -> Scan<Payload> {
        let mut first = self.token()?;
        if first == 0xef {
            if self.next()? != 0xbb || self.next()? != 0xbf {
                return Err(Malformed);
            }
            first = self.token()?;
        }
        if first != b'{' {
            return Err(Malformed);
        }
        let mut payload = Payload::default();
        self.members(|scanner, key, value| {
            match key {
                b"session_id" => payload.session_id = scanner.text(value, NAME)?,
                b"cwd" => payload.cwd = scanner.text(value, PATH)?,
                b"hook_event_name" => payload.hook_event_name = scanner.text(value, NAME)?,
                b"agent_id" => payload.agent_id = scanner.text(value, NAME)?,
                b"agent_type" => payload.agent_type = scanner.text(value, NAME)?,
                b"source" => payload.source = scanner.text(value, NAME)?,
                b"tool_name" => payload.tool_name = scanner.text(value, NAME)?,
                b"tool_use_id" => payload.tool_use_id = scanner.text(value, NAME)?,
                b"duration_ms" => payload.duration_ms = scanner.number(value)?,
                b"tool_input" => {
                    (payload.file_path, payload.notebook_path) = (None, None);
                    if value != b'{' {
                        return scanner.skip(value);
                    }
                    scanner.members(|scanner, key, value| {
                        match key {
                            b"file_path" => payload.file_path = scanner.text(value, PATH)?,
                            b"notebook_path" => payload.notebook_path = scanner.text(value, PATH)?,
                            _ => scanner.skip_below(value, 2)?,
                        }
                        Ok(())
                    })?;
                }
                _ => scanner.skip(value)?,
            }
            Ok(())
        })?;
        Ok(payload)
    }

    /// The members of an object whose `{` is taken: the key, and the first byte of its value.
    fn members(&mut self, mut each: impl FnMut(&mut Self, &[u8], u8) -> Scan<()>) -> Scan<()> {
        let mut byte = self.token()?;
        if byte == b'}' {
            return Ok(());
        }
        loop {
            if byte != b'"' {
                return Err(Malformed);
            }
            let mut key = Token::new();
            self.string(Keep::Token(&mut key))?;
            self.expect(b':')?;
            let value = self.token()?;
            each(self, key.text(), value)?;
            match self.token()? {
                b',' => byte = self.token()?,
                b'}' => return Ok(()),
                _ => return Err(Malformed),
            }
        }
    }

    /// A string that is kept; anything else is passed over.
    fn text(&mut self, first: u8, cap: usize) -> Scan<Option<String>> {
        if first != b'"' {
            self.skip(first)?;
            return Ok(None);
        }
        // Enough for most: growing costs more than the reading.
        let mut bytes = Vec::with_capacity(128);
        self.string(Keep::Text { into: &mut bytes, cap })?;
        if bytes.is_empty() || bytes.len() > cap || bytes.contains(&0) {
            return Ok(None);
        }
        String::from_utf8(bytes).map(Some).map_err(|_| Malformed)
    }

    /// A number that is kept; anything else is passed over.
    fn number(&mut self, first: u8) -> Scan<Option<f64>> {
        if first != b'-' && !first.is_ascii_digit() {
            self.skip(first)?;
            return Ok(None);
        }
        let mut token = Token::new();
        self.digits(first, &mut token)?;
        Ok(std::str::from_utf8(token.text()).ok().and_then(|text| text.parse().ok()))
    }

    /// The rest of a string whose `"` is taken, kept.
    fn string(&mut self, mut keep: Keep<'_>) -> Scan<()> {
        loop {
            if self.at == self.window.len() {
                self.fill()?;
            }
            let held = &self.window[self.at..];
            let stop = held.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20));
            keep.extend(&held[..stop.unwrap_or(held.len())]);
            let Some(stop) = stop else {
                self.at = self.window.len();
                continue;
            };
            let end = held[stop];
            self.at += stop + 1;
            match end {
                b'"' => return Ok(()),
                b'\\' => {
                    let escape = self.next()?;
                    self.escape(escape, &mut keep)?;
                }
                _ => return Err(Malformed),
            }
        }
    }

    /// The rest of a string whose `"` is taken, passed over. Whole files come as strings: only quotes are looked for, and
    /// one ends the string when an even number of `\` stands before it.
    fn skip_string(&mut self) -> Scan<()> {
        // Whether an odd number of `\` ends what has been passed over.
        let mut escaping = false;
        loop {
            if self.at == self.window.len() {
                self.fill()?;
            }
            let held = &self.window[self.at..];
            let stop = find_byte(b'"', held);
            let plain = &held[..stop.unwrap_or(held.len())];
            let run = plain.iter().rev().take_while(|byte| **byte == b'\\').count();
            escaping = (run % 2 == 1) != (run == plain.len() && escaping);
            let Some(stop) = stop else {
                self.at = self.window.len();
                continue;
            };
            self.at += stop + 1;
            if !escaping {
                return Ok(());
            }
            escaping = false;
        }
    }

    /// One escape whose `\` is taken.
    fn escape(&mut self, byte: u8, keep: &mut Keep<'_>) -> Scan<()> {
        let plain = match byte {
            b'"' | b'\\' | b'/' => byte,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let mut unit = self.hex()?;
                if (0xd800..0xdc00).contains(&unit) {
                    if self.next()? != b'\\' || self.next()? != b'u' {
                        return Err(Malformed);
                    }
                    let low = self.hex()?;
                    if !(0xdc00..0xe000).contains(&low) {
                        return Err(Malformed);
                    }
                    unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                }
                let decoded = char::from_u32(unit).ok_or(Malformed)?;
                keep.extend(decoded.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            _ => return Err(Malformed),
        };
        keep.extend(&[plain]);
        Ok(())
    }

    fn hex(&mut self) -> Scan<u32> {
        let mut unit = 0;
        for _ in 0..4 {
            unit = unit * 16 + char::from(self.next()?).to_digit(16).ok_or(Malformed)?;
        }
        Ok(unit)
    }

    /// The rest of a number: `-`? digits, a fraction, an exponent.
    fn digits(&mut self, first: u8, token: &mut Token) -> Scan<()> {
        token.extend(&[first]);
        let lead = if first == b'-' { self.digit(token)? } else { first };
        if lead != b'0' {
            self.more_digits(token)?;
        }
        if self.peek()? == b'.' {
            self.take(token)?;
            self.digit(token)?;
            self.more_digits(token)?;
        }
        if matches!(self.peek()?, b'e' | b'E') {
            self.take(token)?;
            if matches!(self.peek()?, b'+' | b'-') {
                self.take(token)?;
            }
            self.digit(token)?;
            self.more_digits(token)?;
        }
        Ok(())
    }

    fn take(&mut self, token: &mut Token) -> Scan<u8> {
        let byte = self.next()?;
        token.extend(&[byte]);
        Ok(byte)
    }

    fn digit(&mut self, token: &mut Token) -> Scan<u8> {
        let byte = self.take(token)?;
        if byte.is_ascii_digit() { Ok(byte) } else { Err(Malformed) }
    }

    fn more_digits(&mut self, token: &mut Token) -> Scan<()> {
        while self.peek()?.is_ascii_digit() {
            self.take(token)?;
        }
        Ok(())
    }

    /// Passes over a value at the top level whose first byte is taken.
    fn skip(&mut self, first: u8) -> Scan<()> {
        self.skip_below(first, 1)
    }

    /// Passes over a value whose first byte is taken, `depth` levels down. No recursion: a bit a level says whether it is
    /// an object.
    fn skip_below(&mut self, first: u8, depth: u32) -> Scan<()> {
        let mut objects = 0_u128;
        let mut open = 0;
        let mut byte = first;
        loop {
            // A value begins with `byte`.
            match byte {
                b'{' | b'[' => {
                    if depth + open >= DEPTH {
                        return Err(Malformed);
                    }
                    open += 1;
                    objects = objects << 1 | u128::from(byte == b'{');
                    let next = self.token()?;
                    if next == if byte == b'{' { b'}' } else { b']' } {
                        open -= 1;
                        objects >>= 1;
                    } else if byte == b'{' {
                        byte = self.key(next)?;
                        continue;
                    } else {
                        byte = next;
                        continue;
                    }
                }
                b'"' => self.skip_string()?,
                b't' => self.literal(b"rue")?,
                b'f' => self.literal(b"alse")?,
                b'n' => self.literal(b"ull")?,
                b'-' | b'0'..=b'9' => self.digits(byte, &mut Token::new())?,
                _ => return Err(Malformed),
            }
            // A value has ended.
            loop {
                if open == 0 {
                    return Ok(());
                }
                let in_object = objects & 1 == 1;
                match (self.token()?, in_object) {
                    (b',', true) => {
                        let quote = self.token()?;
                        byte = self.key(quote)?;
                        break;
                    }
                    (b',', false) => {
                        byte = self.token()?;
                        break;
                    }
                    (b'}', true) | (b']', false) => {
                        open -= 1;
                        objects >>= 1;
                    }
                    _ => return Err(Malformed),
                }
            }
        }
    }

    /// A key whose first byte is taken, its colon, and the first byte of the value.
    fn key(&mut self, quote: u8) -> Scan<u8> {
        if quote != b'"' {
            return Err(Malformed);
        }
        self.skip_string()?;
        self.expect(b':')?;
        self.token()
    }

    fn literal(&mut self, rest: &[u8]) -> Scan<()> {
        for wanted in rest {
            if self.next()? != *wanted {
                return Err(Malformed);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Hands out its bytes in pieces of a given size.
    struct Pieces<'a>(&'a [u8], usize);

    impl Source for Pieces<'_> {
        fn fill(&mut self, into: &mut Vec<u8>) -> io::Result<usize> {
            let size = self.1.min(into.capacity() - into.len()).min(self.0.len());
            into.extend_from_slice(&self.0[..size]);
            self.0 = &self.0[size..];
            Ok(size)
        }
    }

    fn scan(input: impl Source) -> Payload {
        Payload::read(input, &mut Vec::with_capacity(WINDOW))
    }

    fn read(text: impl AsRef<[u8]>) -> Payload {
        let whole = scan(Pieces(text.as_ref(), usize::MAX));
        assert_eq!(scan(Pieces(text.as_ref(), 1)), whole, "byte by byte");
        assert_eq!(scan(Pieces(text.as_ref(), 7)), whole, "in sevens");
        whole
    }

    #[test]
    fn the_used_fields_are_kept_and_everything_else_is_passed_over() {
        let found = read(
            r#" {"session_id":"s-1","transcript_path":"/x \" y","cwd":"/w","effort":{"level":[1,-2.5e+3,{"a":null}]},
            "tool_name":"Edit","tool_input":{"file_path":"/w/a\u00e9\ud83d\ude00\n.rs","old_string":"\\","x":[[],{}],"replace_all":false},
            "duration_ms":12.5,"agent_id":"a7","agent_type":"t","source":"startup","hook_event_name":"PreToolUse","tool_use_id":"toolu_1"} trailing"#,
        );
        assert_eq!(found.session_id.as_deref(), Some("s-1"));
        assert_eq!(found.file_path.as_deref(), Some("/w/aé😀\n.rs"));
        assert_eq!(found.duration_ms, Some(12.5));
        assert_eq!(found.tool_use_id.as_deref(), Some("toolu_1"));
        assert_eq!(found.agent_type.as_deref(), Some("t"));
    }

    #[test]
    fn what_is_not_one_whole_object_is_empty() {
        let deep = format!(r#"{{"cwd":"/w","x":{}1{}}}"#, "[".repeat(200), "]".repeat(200));
        for text in [
            "",
            "{",
            "[]",
            "null",
            "\"x\"",
            "{\"cwd\":\"/w\"",
            "{\"cwd\":\"/w\",}",
            "{\"cwd\" \"/w\"}",
            "{\"cwd\":\"/w\",\"x\":[1,]}",
            "{\"cwd\":\"/w\",\"x\":{\"a\"}}",
            "{\"cwd\":\"/w\",\"x\":01}",
            "{\"cwd\":\"/w\",\"x\":1.}",
            "{\"cwd\":\"/w\",\"x\":tru}",
            "{\"cwd\":\"/w\",\"x\":[}",
            "{\"cwd\":\"/w\\ud800\"}",
            "{\"cwd\":\"/w\\x\"}",
            "{\"cwd\":\"a\nb\"}",
            "{cwd:1}",
            &deep,
        ] {
            assert_eq!(read(text), Payload::default(), "{text}");
        }
        assert_eq!(read(b"{\"cwd\":\"/w\",\"session_id\":\"\xff\"}"), Payload::default());
        assert_eq!(read(vec![b'a'; 3_000_000]), Payload::default());
    }

    #[test]
    fn fields_that_cannot_be_used_count_as_absent() {
        let long = format!(r#"{{"session_id":"{}","cwd":"{}"}}"#, "x".repeat(257), "y".repeat(PATH));
        let found = read(&long);
        assert_eq!((found.session_id, found.cwd.map(|cwd| cwd.len())), (None, Some(PATH)));
        let odd = r#"{"session_id":7,"cwd":"","tool_name":["x"],"tool_input":null,"duration_ms":"5","source":"a\u0000b","agent_id":{"a":"b"}}"#;
        assert_eq!(read(odd), Payload::default());
    }

    #[test]
    fn the_last_of_two_equal_keys_wins_and_keys_may_be_escaped() {
        let found = read(
            r#"{"cwd":"a","cwd":"b","tool_input":{"file_path":"x"},"tool_\u0069nput":{"notebook_path":"y"}}"#,
        );
        assert_eq!(
            (found.cwd.as_deref(), found.file_path, found.notebook_path.as_deref()),
            (Some("b"), None, Some("y"))
        );
        assert_eq!(read("\u{feff}{\"cwd\":\"a\"}").cwd.as_deref(), Some("a"));
    }

    #[test]
    fn escapes_in_strings_that_are_passed_over_do_not_end_them() {
        for text in [r"\\", r"\\\\", r#"a\\\"b"#, r#"\"\"\""#, r#"\n\\\"\\"#, "", "plain"] {
            let found = read(format!("{{\"content\":\"{text}\",\"cwd\":\"/w\"}}"));
            assert_eq!(found.cwd.as_deref(), Some("/w"), "{text}");
        }
        assert_eq!(read(r#"{"content":"\\\","cwd":"/w"}"#), Payload::default());
    }

    #[test]
    fn nothing_is_read_behind_the_closing_brace() {
        struct Open<'a>(&'a [u8]);
        impl Source for Open<'_> {
            fn fill(&mut self, into: &mut Vec<u8>) -> io::Result<usize> {
                assert!(!self.0.is_empty(), "read on after the payload was complete");
                Pieces(std::mem::take(&mut self.0), usize::MAX).fill(into)
            }
        }
        assert_eq!(scan(Open(b"{\"cwd\":\"/w\"}")).cwd.as_deref(), Some("/w"));
    }

    #[test]
    fn an_input_that_pauses_is_waited_for_once() {
        struct Paused<'a>(&'a [u8], usize);
        impl Source for &mut Paused<'_> {
            fn fill(&mut self, into: &mut Vec<u8>) -> io::Result<usize> {
                self.1 += usize::from(self.0.is_empty());
                Pieces(std::mem::take(&mut self.0), usize::MAX).fill(into)
            }
        }
        for text in ["", "{\"cwd\":\"/w\"", "no payload"] {
            let mut input = Paused(text.as_bytes(), 0);
            assert_eq!(scan(&mut input), Payload::default(), "{text}");
            assert_eq!(input.1, 1, "{text}");
        }
    }

    fn json(depth: u32) -> BoxedStrategy<serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            proptest::bool::ANY.prop_map(Into::into),
            proptest::num::i64::ANY.prop_map(Into::into),
            (-1e30..1e30).prop_map(|number: f64| number.into()),
            "\\PC{0,12}".prop_map(Into::into),
        ];
        leaf.prop_recursive(depth, 24, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
                proptest::collection::vec(("[a-z_]{1,12}", inner), 0..4)
                    .prop_map(|pairs| serde_json::Value::Object(pairs.into_iter().collect())),
            ]
        })
        .boxed()
    }

    proptest! {
        #[test]
        fn any_object_agrees_with_a_parser(extra in json(4), cwd in "\\PC{0,20}", path in "\\PC{0,20}") {
            let value = serde_json::json!({"extra": extra, "cwd": cwd, "tool_input": {"content": extra, "file_path": path}});
            let found = read(value.to_string());
            let wanted = |text: String| (!text.is_empty()).then_some(text);
            prop_assert_eq!(found.cwd, wanted(cwd));
            prop_assert_eq!(found.file_path, wanted(path));
            prop_assert_eq!(read(serde_json::to_string_pretty(&value).unwrap()).tool_name, None);
        }

        #[test]
        fn nothing_panics(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
            read(&bytes);
            read([b"{\"cwd\":".as_slice(), &bytes].concat());
        }
    }
}
