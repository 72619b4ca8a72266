//! The tokens of JavaScript that a configuration can consist of.

use super::Problem;
use crate::path::is_space;

/// One token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind<'a> {
    /// The end of the source.
    End,
    /// A name or keyword.
    Word(&'a str),
    /// `'…'` or `"…"`, decoded.
    Text(String),
    /// `` `…` `` without substitutions, decoded.
    Template(String),
    /// A number.
    Number(f64),
    /// Anything else.
    Mark(&'a str),
}

/// A token and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind<'a>,
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether a line break stands before it: there a statement may end without `;`.
    pub(super) on_new_line: bool,
}

/// Marks of more than one character, the longer ones first.
const MARKS: &[&str] =
    &["...", "===", "!==", "**", "++", "--", "=>", "?.", "??", "&&", "||", "==", "!=", "<=", ">="];

/// Words after which a `/` begins a regular expression.
const BEFORE_OPERAND: &[&str] = &[
    "return",
    "typeof",
    "instanceof",
    "in",
    "of",
    "new",
    "delete",
    "void",
    "throw",
    "case",
    "await",
    "yield",
    "do",
];

/// Reads tokens one by one.
pub(super) struct Lexer<'a> {
    source: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        Self { source, at: 0 }
    }

    fn rest(&self) -> &'a str {
        &self.source[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// Skips white space and comments; whether a line ended in them.
    fn blank(&mut self) -> Result<bool, Problem> {
        let mut line_ended = false;
        loop {
            let space = self.take_while(is_space);
            line_ended |= space.contains(is_line_end);
            if self.rest().starts_with("//") {
                self.take_while(|c| !is_line_end(c));
            } else if let Some(comment) = self.rest().strip_prefix("/*") {
                let Some(length) = comment.find("*/") else {
                    return Err(Problem::invalid(self.at, "a comment without its end"));
                };
                line_ended |= comment[..length].contains(is_line_end);
                self.at += length + 4;
            } else {
                return Ok(line_ended);
            }
        }
    }

    /// The next token.
    pub(super) fn next(&mut self) -> Result<Token<'a>, Problem> {
        let on_new_line = self.blank()?;
        let start = self.at;
        let kind = match self.peek() {
            None => Kind::End,
            Some(quote @ ('"' | '\'')) => Kind::Text(self.text(quote)?),
            Some('`') => Kind::Template(self.text('`')?),
            Some(c) if c.is_ascii_digit() => Kind::Number(self.number()?),
            Some('.') if self.rest()[1..].starts_with(|c: char| c.is_ascii_digit()) => {
                Kind::Number(self.number()?)
            }
            Some(c) if begins_word(c) => Kind::Word(self.take_while(continues_word)),
            Some(c) => {
                let rest = self.rest();
                let long = MARKS.iter().find(|mark| rest.starts_with(**mark));
                let length = long.map_or(c.len_utf8(), |mark| mark.len());
                self.at += length;
                Kind::Mark(&rest[..length])
            }
        };
        Ok(Token { kind, start, end: self.at, on_new_line })
    }

    fn text(&mut self, quote: char) -> Result<String, Problem> {
        let start = self.at;
        self.take();
        let mut out = String::new();
        loop {
            let at = self.at;
            match self.take() {
                None => return Err(Problem::invalid(start, "a string without its end")),
                Some(c) if c == quote => return Ok(out),
                Some('\n' | '\r') if quote != '`' => {
                    return Err(Problem::invalid(start, "a string without its end"));
                }
                Some('\r') => {
                    // A line break in a template is a line feed however the file spells it.
                    if self.peek() == Some('\n') {
                        self.take();
                    }
                    out.push('\n');
                }
                Some('$') if quote == '`' && self.peek() == Some('{') => {
                    return Err(Problem::unsupported(at, "${"));
                }
                Some('\\') => self.escape(&mut out)?,
                Some(c) => out.push(c),
            }
        }
    }

    /// What stands behind a `\`.
    fn escape(&mut self, out: &mut String) -> Result<(), Problem> {
        let at = self.at - 1;
        let digit_follows = |lexer: &Self| lexer.peek().is_some_and(|c| c.is_ascii_digit());
        match self.take() {
            None => return Err(Problem::invalid(at, "a string without its end")),
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some('v') => out.push('\u{b}'),
            Some('0') if !digit_follows(self) => out.push('\0'),
            Some('0'..='9') => return Err(Problem::invalid(at, &self.source[at..self.at])),
            Some('\r') => {
                if self.peek() == Some('\n') {
                    self.take();
                }
            }
            Some('\n' | '\u{2028}' | '\u{2029}') => {}
            Some('x') => {
                let unit = self.hex(2, at)?;
                out.extend(char::from_u32(unit));
            }
            Some('u') => out.push(self.unicode(at)?),
            Some(c) => out.push(c),
        }
        Ok(())
    }

    /// `uXXXX`, a pair of them, or `u{X…}`, the `u` taken already.
    fn unicode(&mut self, at: usize) -> Result<char, Problem> {
        let unit = if self.peek() == Some('{') {
            self.take();
            let digits = self.take_while(|c| c.is_ascii_hexdigit()).trim_start_matches('0');
            let value = if digits.is_empty() { Some(0) } else { u32::from_str_radix(digits, 16).ok() };
            match value {
                Some(value) if self.take() == Some('}') && value <= 0x10_FFFF => value,
                _ => return Err(Problem::invalid(at, &self.source[at..self.at])),
            }
        } else {
            self.hex(4, at)?
        };
        if let 0xD800..=0xDBFF = unit {
            let before = self.at;
            if self.rest().starts_with("\\u") {
                self.at += 2;
                if let Ok(low @ 0xDC00..=0xDFFF) = self.hex(4, at)
                    && let Some(c) = char::from_u32(0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00))
                {
                    return Ok(c);
                }
            }
            self.at = before;
        }
        // Half a pair alone is no text.
        char::from_u32(unit).ok_or_else(|| Problem::unsupported(at, &self.source[at..self.at]))
    }

    fn hex(&mut self, length: usize, at: usize) -> Result<u32, Problem> {
        let digits = self.rest().get(..length).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
        let value = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let value = value.ok_or_else(|| Problem::invalid(at, &self.source[at..self.at]))?;
        self.at += length;
        Ok(value)
    }

    fn number(&mut self) -> Result<f64, Problem> {
        let start = self.at;
        let rest = self.rest().as_bytes();
        if rest[0] == b'0' && rest.get(1).is_some_and(|b| matches!(b, b'x' | b'X')) {
            self.at += 2;
            let digits = self.digits(start, |c| c.is_ascii_hexdigit())?;
            let digits = digits.trim_start_matches('0');
            self.no_word_follows(start)?;
            if digits.is_empty() {
                return Ok(0.0);
            }
            let value = u128::from_str_radix(digits, 16);
            return value
                .map(|value| value as f64)
                .map_err(|_| Problem::unsupported(start, &self.source[start..self.at]));
        }
        if rest[0] == b'0' && rest.get(1).is_some_and(|b| matches!(b, b'b' | b'B' | b'o' | b'O')) {
            self.take_while(continues_word);
            return Err(Problem::unsupported(start, &self.source[start..self.at]));
        }
        if rest[0] == b'0' && rest.get(1).is_some_and(|b| b.is_ascii_digit() || *b == b'_') {
            self.take_while(continues_word);
            return Err(Problem::invalid(start, &self.source[start..self.at]));
        }
        let mut text = String::new();
        if self.peek() != Some('.') {
            text.push_str(&self.digits(start, |c| c.is_ascii_digit())?);
        }
        if self.peek() == Some('.') {
            self.take();
            text.push('.');
            if self.peek().is_some_and(|c| c.is_ascii_digit() || c == '_') {
                text.push_str(&self.digits(start, |c| c.is_ascii_digit())?);
            }
        }
        if let Some('e' | 'E') = self.peek() {
            self.take();
            text.push('e');
            if let Some(sign @ ('+' | '-')) = self.peek() {
                self.take();
                text.push(sign);
            }
            text.push_str(&self.digits(start, |c| c.is_ascii_digit())?);
        }
        self.no_word_follows(start)?;
        text.parse().map_err(|_| Problem::invalid(start, &self.source[start..self.at]))
    }

    /// One or more digits with single `_` between them, which are left out.
    fn digits(&mut self, start: usize, wanted: impl Fn(char) -> bool) -> Result<String, Problem> {
        let written = self.take_while(|c| wanted(c) || c == '_');
        if written.is_empty() || written.starts_with('_') || written.ends_with('_') || written.contains("__")
        {
            return Err(Problem::invalid(start, &self.source[start..self.at]));
        }
        Ok(written.replace('_', ""))
    }

    fn no_word_follows(&mut self, start: usize) -> Result<(), Problem> {
        let word = self.take_while(continues_word);
        match word {
            "" => Ok(()),
            "n" => Err(Problem::unsupported(start, &self.source[start..self.at])),
            _ => Err(Problem::invalid(start, &self.source[start..self.at])),
        }
    }

    /// Skips the expression that begins after `from`: what an export that is not read holds. Strings, comments, templates,
    /// regular expressions and brackets are told apart, nothing else.
    pub(super) fn skip_expression(&mut self, from: usize) -> Result<(), Problem> {
        self.at = from;
        // The closing marks that are due; a '`' stands for a template whose substitution is being skipped.
        let mut due: Vec<char> = Vec::new();
        let mut after_operand = false;
        let mut first = true;
        loop {
            let before = self.at;
            let on_new_line = self.blank()?;
            let start = self.at;
            let Some(c) = self.peek() else {
                let complete = due.is_empty() && !first;
                return if complete { Ok(()) } else { Err(Problem::invalid(start, END)) };
            };
            if due.is_empty() {
                let word = begins_word(c).then(|| leading_word(self.rest()));
                let starts_anew = match word {
                    Some(word) => !matches!(word, "in" | "instanceof"),
                    None => c.is_ascii_digit() || matches!(c, '"' | '\''),
                };
                if c == ';' && first {
                    return Err(Problem::invalid(start, c));
                }
                // No expression goes on with these; whether they may stand here is the caller's to say.
                let is_statement = after_operand && matches!(word, Some("export" | "import" | "const"));
                if c == ';' || is_statement || (on_new_line && after_operand && starts_anew) {
                    // The line break is the next token's to report.
                    self.at = before;
                    return Ok(());
                }
            }
            first = false;
            match c {
                '"' | '\'' => {
                    self.skip_quoted(c)?;
                    after_operand = true;
                }
                '`' => {
                    self.take();
                    after_operand = self.skip_template(&mut due, start)?;
                }
                '(' | '[' | '{' => {
                    self.take();
                    due.push(if c == '(' {
                        ')'
                    } else if c == '[' {
                        ']'
                    } else {
                        '}'
                    });
                    after_operand = false;
                }
                ')' | ']' | '}' => {
                    self.take();
                    match due.pop() {
                        Some(wanted) if wanted == c => after_operand = true,
                        Some('`') if c == '}' => after_operand = self.skip_template(&mut due, start)?,
                        _ => return Err(Problem::invalid(start, c)),
                    }
                }
                '/' if !after_operand => {
                    self.skip_regular_expression()?;
                    after_operand = true;
                }
                c if begins_word(c) || c.is_ascii_digit() => {
                    let word = self.take_while(continues_word);
                    after_operand = !BEFORE_OPERAND.contains(&word);
                }
                _ => {
                    self.take();
                    after_operand = false;
                }
            }
        }
    }

    fn skip_quoted(&mut self, quote: char) -> Result<(), Problem> {
        let start = self.at;
        self.take();
        loop {
            match self.take() {
                Some(c) if c == quote => return Ok(()),
                None | Some('\n' | '\r') => return Err(Problem::invalid(start, "a string without its end")),
                Some('\\') => {
                    if self.take() == Some('\r') && self.peek() == Some('\n') {
                        self.take();
                    }
                }
                Some(_) => {}
            }
        }
    }

    /// Skips to the end of a template or into its next substitution; whether the end was reached.
    fn skip_template(&mut self, due: &mut Vec<char>, start: usize) -> Result<bool, Problem> {
        loop {
            match self.take() {
                None => return Err(Problem::invalid(start, "a template without its end")),
                Some('`') => return Ok(true),
                Some('\\') => {
                    self.take();
                }
                Some('$') if self.peek() == Some('{') => {
                    self.take();
                    due.push('`');
                    return Ok(false);
                }
                Some(_) => {}
            }
        }
    }

    fn skip_regular_expression(&mut self) -> Result<(), Problem> {
        let start = self.at;
        let mut in_class = false;
        self.take();
        loop {
            match self.take() {
                Some('/') if !in_class => return Ok(()),
                Some('[') => in_class = true,
                Some(']') => in_class = false,
                None => return Err(Problem::invalid(start, "/")),
                Some(c) if is_line_end(c) => return Err(Problem::invalid(start, "/")),
                Some('\\') => {
                    self.take();
                }
                Some(_) => {}
            }
        }
    }
}

/// What stands at the end of the source, in a report.
pub(super) const END: &str = "the end of the file";

fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

fn begins_word(c: char) -> bool {
    c.is_alphabetic() || c == '_' || c == '$'
}

fn continues_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '\u{200c}' | '\u{200d}')
}

fn leading_word(text: &str) -> &str {
    &text[..text.find(|c| !continues_word(c)).unwrap_or(text.len())]
}
