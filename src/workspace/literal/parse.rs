//! The grammar: imports, constants and a default export, and the values they hold.

use super::token::{END, Kind, Lexer, Token};
use super::{Module, NESTING, Problem, SOURCE_BYTES};
use serde_json::{Map, Number, Value as Json};
use std::collections::{HashMap, HashSet};

/// Keywords that begin an expression or statement which is not data.
const BEHAVIOUR: &[&str] = &[
    "async", "await", "class", "delete", "function", "import", "new", "super", "this", "typeof", "void",
    "yield",
];

/// Keywords that cannot stand where a value is wanted.
const NO_VALUE: &[&str] = &[
    "break",
    "case",
    "catch",
    "const",
    "continue",
    "debugger",
    "default",
    "do",
    "else",
    "enum",
    "export",
    "extends",
    "finally",
    "for",
    "if",
    "in",
    "instanceof",
    "return",
    "switch",
    "throw",
    "try",
    "var",
    "while",
    "with",
];

/// Reads a module.
pub(super) fn module(source: &str) -> Result<Module, Problem> {
    let mut lexer = Lexer::new(source);
    let token = lexer.next()?;
    let mut parser =
        Parser { source, lexer, token, constants: HashMap::new(), expanded: 0, skipped: Vec::new() };
    let mut exported = None;
    loop {
        match parser.token.kind {
            Kind::End => {
                return Ok(Module { exported: exported.unwrap_or_default(), skipped: parser.skipped });
            }
            Kind::Mark(";") => parser.advance()?,
            Kind::Word("import") => parser.import()?,
            Kind::Word("const") => parser.constants()?,
            Kind::Word("export") => {
                let at = parser.token.start;
                parser.advance()?;
                match parser.token.kind {
                    Kind::Word("default") if exported.is_none() => exported = Some(parser.default_export()?),
                    Kind::Word("default") => return Err(Problem::invalid(at, "a second export default")),
                    Kind::Word("const") => parser.constants()?,
                    Kind::Word("let" | "var" | "function" | "class" | "async") | Kind::Mark("{" | "*") => {
                        return Err(parser.unsupported());
                    }
                    _ => return Err(parser.invalid()),
                }
            }
            Kind::Mark(")" | "]" | "}" | "," | ":" | "=" | "." | "?") => return Err(parser.invalid()),
            Kind::Word(
                "case" | "catch" | "default" | "else" | "extends" | "finally" | "in" | "instanceof",
            ) => {
                return Err(parser.invalid());
            }
            _ => return Err(parser.unsupported()),
        }
    }
}

struct Parser<'a> {
    source: &'a str,
    lexer: Lexer<'a>,
    token: Token<'a>,
    constants: HashMap<&'a str, Constant>,
    /// What the uses of constants have added so far, by [`Constant::weight`].
    expanded: usize,
    /// Names whose values were passed over.
    skipped: Vec<String>,
}

/// A value that has a name.
struct Constant {
    value: Item,
    depth: usize,
    weight: usize,
}

/// A value while it is being read.
#[derive(Clone)]
enum Item {
    Undefined,
    Number(f64),
    Other(Json),
}

impl<'a> Parser<'a> {
    fn advance(&mut self) -> Result<(), Problem> {
        self.token = self.lexer.next()?;
        Ok(())
    }

    fn is(&self, mark: &str) -> bool {
        matches!(self.token.kind, Kind::Mark(found) if found == mark)
    }

    fn expect(&mut self, mark: &str) -> Result<(), Problem> {
        if self.is(mark) { self.advance() } else { Err(self.after_value()) }
    }

    fn found(&self) -> &'a str {
        if self.token.kind == Kind::End { END } else { &self.source[self.token.start..self.token.end] }
    }

    fn unsupported(&self) -> Problem {
        Problem::unsupported(self.token.start, self.found())
    }

    fn invalid(&self) -> Problem {
        Problem::invalid(self.token.start, self.found())
    }

    /// What is wrong with a token that follows a value: either the expression goes on in a way that is not data, or the
    /// token cannot stand there at all.
    fn after_value(&self) -> Problem {
        match &self.token.kind {
            Kind::Template(_) | Kind::Word("in" | "instanceof" | "as" | "satisfies") => self.unsupported(),
            Kind::Mark(mark)
                if !matches!(
                    *mark,
                    ")" | "]" | "}" | ":" | "," | ";" | "{" | "!" | "~" | "#" | "@" | "\\" | "..."
                ) =>
            {
                self.unsupported()
            }
            _ => self.invalid(),
        }
    }

    /// Ends a statement: `;`, a line break, or the end of the source.
    fn end_statement(&mut self) -> Result<(), Problem> {
        match &self.token.kind {
            Kind::End => Ok(()),
            Kind::Mark(";") => self.advance(),
            Kind::Mark("{" | "!" | "~" | "++" | "--") if self.token.on_new_line => Ok(()),
            Kind::Template(_) | Kind::Mark(_) | Kind::Word("in" | "instanceof") => Err(self.after_value()),
            _ if self.token.on_new_line => Ok(()),
            _ => Err(self.after_value()),
        }
    }

    /// `import …;`, of which nothing is kept.
    fn import(&mut self) -> Result<(), Problem> {
        self.advance()?;
        let mut after_from = true;
        loop {
            match &self.token.kind {
                Kind::Text(_) if after_from => break,
                Kind::Mark("(" | ".") => return Err(self.unsupported()),
                Kind::Word(_) | Kind::Text(_) | Kind::Mark("{" | "}" | "," | "*") => {}
                _ => return Err(self.invalid()),
            }
            after_from = self.token.kind == Kind::Word("from");
            self.advance()?;
        }
        self.advance()?;
        if self.token.kind == Kind::Word("with") {
            self.advance()?;
            self.expect("{")?;
            while !self.is("}") {
                match self.token.kind {
                    Kind::Word(_) | Kind::Text(_) | Kind::Mark(":" | ",") => self.advance()?,
                    _ => return Err(self.invalid()),
                }
            }
            self.advance()?;
        }
        match self.token.kind {
            Kind::Mark(";") => self.advance(),
            Kind::End => Ok(()),
            _ if self.token.on_new_line => Ok(()),
            _ => Err(self.invalid()),
        }
    }

    /// `const NAME = value, …;` after an `export` or not. What `integrations` holds is skipped.
    fn constants(&mut self) -> Result<(), Problem> {
        loop {
            self.advance()?;
            let name = match self.token.kind {
                Kind::Word(name) if !NO_VALUE.contains(&name) => name,
                Kind::Mark("{" | "[") => return Err(self.unsupported()),
                _ => return Err(self.invalid()),
            };
            if self.constants.contains_key(name) {
                return Err(Problem::invalid(self.token.start, format!("{name} a second time")));
            }
            self.advance()?;
            if !self.is("=") {
                return Err(self.invalid());
            }
            let constant = if name == "integrations" {
                self.skipped.push(name.to_owned());
                self.lexer.skip_expression(self.token.end)?;
                self.advance()?;
                None
            } else {
                self.advance()?;
                let value = self.wrapped(0)?;
                let (depth, weight) = match &value {
                    Item::Other(json) => measure(json),
                    _ => (0, 1),
                };
                Some(Constant { value, depth, weight })
            };
            if let Some(constant) = constant {
                self.constants.insert(name, constant);
            }
            if !self.is(",") {
                return self.end_statement();
            }
        }
    }

    fn default_export(&mut self) -> Result<Map<String, Json>, Problem> {
        self.advance()?;
        let (at, found) = (self.token.start, self.found());
        let value = self.wrapped(0)?;
        self.end_statement()?;
        match value {
            Item::Other(Json::Object(object)) => Ok(object),
            _ => Err(Problem::invalid(at, found)),
        }
    }

    /// A value, also inside `defineProject( )` or `Object.freeze( )`.
    fn wrapped(&mut self, level: usize) -> Result<Item, Problem> {
        let outer = match self.token.kind {
            Kind::Word(word @ ("defineProject" | "Object")) if !self.constants.contains_key(word) => word,
            _ => return self.value(level),
        };
        let at = self.token.start;
        self.advance()?;
        if outer == "Object" {
            if !self.is(".") {
                return Err(Problem::unsupported(at, outer));
            }
            self.advance()?;
            if self.token.kind != Kind::Word("freeze") {
                return Err(Problem::unsupported(at, format!("{outer}.{}", self.found())));
            }
            self.advance()?;
        }
        if !self.is("(") {
            return Err(Problem::unsupported(at, outer));
        }
        let level = self.deeper(level)?;
        self.advance()?;
        let value = self.wrapped(level)?;
        if self.is(",") {
            self.advance()?;
            if !self.is(")") {
                return Err(self.unsupported());
            }
        }
        self.expect(")")?;
        Ok(value)
    }

    /// A sum of products, or one value.
    fn value(&mut self, level: usize) -> Result<Item, Problem> {
        let at = self.token.start;
        let mut left = self.product(level)?;
        while let Kind::Mark(mark @ ("+" | "-")) = self.token.kind {
            let Item::Number(a) = left else { return Err(self.unsupported()) };
            self.advance()?;
            let right_at = self.token.start;
            let Item::Number(b) = self.product(level)? else {
                return Err(Problem::unsupported(right_at, mark));
            };
            left = Item::Number(if mark == "+" { a + b } else { a - b });
        }
        match left {
            Item::Number(number) if !number.is_finite() => {
                Err(Problem::unsupported(at, if number.is_nan() { "NaN" } else { "Infinity" }))
            }
            value => Ok(value),
        }
    }

    fn product(&mut self, level: usize) -> Result<Item, Problem> {
        let mut left = self.signed(level)?;
        while let Kind::Mark(mark @ ("*" | "/")) = self.token.kind {
            let Item::Number(a) = left else { return Err(self.unsupported()) };
            self.advance()?;
            let right_at = self.token.start;
            let Item::Number(b) = self.signed(level)? else {
                return Err(Problem::unsupported(right_at, mark));
            };
            left = Item::Number(if mark == "*" { a * b } else { a / b });
        }
        Ok(left)
    }

    fn signed(&mut self, level: usize) -> Result<Item, Problem> {
        let at = self.token.start;
        let mut sign = None;
        while let Kind::Mark(mark @ ("+" | "-")) = self.token.kind {
            sign = Some(if mark == "-" { -sign.unwrap_or(1.0) } else { sign.unwrap_or(1.0) });
            self.advance()?;
        }
        let value = self.primary(level)?;
        match (sign, value) {
            (None, value) => Ok(value),
            (Some(sign), Item::Number(number)) => Ok(Item::Number(sign * number)),
            (Some(_), _) => Err(Problem::unsupported(at, &self.source[at..=at])),
        }
    }

    fn primary(&mut self, level: usize) -> Result<Item, Problem> {
        match &mut self.token.kind {
            Kind::Text(text) | Kind::Template(text) => {
                let text = std::mem::take(text);
                self.advance()?;
                Ok(Item::Other(Json::String(text)))
            }
            Kind::Number(number) => {
                let number = *number;
                self.advance()?;
                Ok(Item::Number(number))
            }
            Kind::Word(word) => {
                let value = match *word {
                    "true" => Item::Other(Json::Bool(true)),
                    "false" => Item::Other(Json::Bool(false)),
                    "null" => Item::Other(Json::Null),
                    "undefined" => Item::Undefined,
                    word => self.named(word, level)?,
                };
                self.advance()?;
                Ok(value)
            }
            Kind::Mark("(") => {
                let level = self.deeper(level)?;
                self.advance()?;
                if self.is(")") {
                    // The parameters of a function.
                    return Err(self.unsupported());
                }
                let value = self.value(level)?;
                if self.is(",") {
                    return Err(self.unsupported());
                }
                self.expect(")")?;
                Ok(value)
            }
            Kind::Mark("[") => self.array(level),
            Kind::Mark("{") => self.object(level),
            Kind::Mark("/" | "!" | "~" | "++" | "--" | "...") => Err(self.unsupported()),
            Kind::End | Kind::Mark(_) => Err(self.invalid()),
        }
    }

    /// The value of a constant.
    fn named(&mut self, word: &str, level: usize) -> Result<Item, Problem> {
        if NO_VALUE.contains(&word) {
            return Err(self.invalid());
        }
        let constant = self.constants.get(word).filter(|_| !BEHAVIOUR.contains(&word));
        let Some(constant) = constant else { return Err(self.unsupported()) };
        if level + constant.depth > NESTING {
            return Err(Problem::unsupported(self.token.start, TOO_DEEP));
        }
        // Constants made of constants grow by powers; the whole may be as large as a source, no larger.
        self.expanded += constant.weight;
        if self.expanded > SOURCE_BYTES {
            return Err(Problem::unsupported(self.token.start, "constants that expand to more than 1 MiB"));
        }
        Ok(constant.value.clone())
    }

    fn deeper(&self, level: usize) -> Result<usize, Problem> {
        if level < NESTING { Ok(level + 1) } else { Err(Problem::unsupported(self.token.start, TOO_DEEP)) }
    }

    fn array(&mut self, level: usize) -> Result<Item, Problem> {
        let level = self.deeper(level)?;
        self.advance()?;
        let mut items = Vec::new();
        while !self.is("]") {
            if self.is(",") {
                return Err(self.unsupported());
            }
            items.push(json(self.value(level)?).unwrap_or(Json::Null));
            if self.is(",") {
                self.advance()?;
            } else if !self.is("]") {
                return Err(self.after_value());
            }
        }
        self.advance()?;
        Ok(Item::Other(Json::Array(items)))
    }

    fn object(&mut self, level: usize) -> Result<Item, Problem> {
        let level = self.deeper(level)?;
        self.advance()?;
        let mut object = Map::new();
        let mut undefined = HashSet::new();
        while !self.is("}") {
            let key = self.key()?;
            match json(self.value(level)?) {
                Some(value) => {
                    undefined.remove(&key);
                    object.insert(key, value);
                }
                None => {
                    undefined.insert(key);
                }
            }
            if self.is(",") {
                self.advance()?;
            } else if !self.is("}") {
                return Err(self.after_value());
            }
        }
        self.advance()?;
        if !undefined.is_empty() {
            object.retain(|key, _| !undefined.contains(key));
        }
        Ok(Item::Other(Json::Object(object)))
    }

    /// A key and the `:` behind it.
    fn key(&mut self) -> Result<String, Problem> {
        let (start, found) = (self.token.start, self.found());
        let word = match self.token.kind {
            Kind::Word(word) => Some(word),
            _ => None,
        };
        let key = match &mut self.token.kind {
            Kind::Word(word) => (*word).to_owned(),
            Kind::Text(text) => std::mem::take(text),
            Kind::Number(number) => key_of(*number),
            Kind::Mark("[" | "..." | "*") => return Err(self.unsupported()),
            _ => return Err(self.invalid()),
        };
        self.advance()?;
        match &self.token.kind {
            Kind::Mark(":") => {
                self.advance()?;
                Ok(key)
            }
            Kind::Mark("(") => Err(Problem::unsupported(start, found)),
            // A name alone stands for a variable of that name.
            Kind::Mark("," | "}") if word.is_some() => Err(Problem::unsupported(start, found)),
            Kind::Word(_) | Kind::Text(_) | Kind::Number(_) | Kind::Mark("[" | "*")
                if matches!(word, Some("get" | "set" | "async")) =>
            {
                Err(Problem::unsupported(start, found))
            }
            _ => Err(self.invalid()),
        }
    }
}

const TOO_DEEP: &str = "nesting of more than 64 levels";

fn json(item: Item) -> Option<Json> {
    match item {
        Item::Undefined => None,
        Item::Number(number) => Some(number_of(number)),
        Item::Other(json) => Some(json),
    }
}

/// A finite number as JSON: whole where it is whole.
fn number_of(number: f64) -> Json {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() <= EXACT {
        return Json::Number(Number::from(number as i64));
    }
    Number::from_f64(number).map_or(Json::Null, Json::Number)
}

/// A number as the key that JavaScript makes of it.
fn key_of(number: f64) -> String {
    if number.is_infinite() {
        return "Infinity".to_owned();
    }
    if number == 0.0 || (1e-6..1e21).contains(&number) {
        return format!("{number}");
    }
    let text = format!("{number:e}");
    match text.split_once('e') {
        Some((digits, exponent)) if !exponent.starts_with('-') => format!("{digits}e+{exponent}"),
        _ => text,
    }
}

/// How deep a value nests, and how much it holds: one for each value, and the length of its texts.
fn measure(value: &Json) -> (usize, usize) {
    let mut depth = 0;
    let mut weight = 1;
    let mut add = |child: &Json, key: usize| {
        let (below, more) = measure(child);
        depth = depth.max(below + 1);
        weight += more + key;
    };
    match value {
        Json::Array(items) if items.is_empty() => return (1, 1),
        Json::Object(object) if object.is_empty() => return (1, 1),
        Json::Array(items) => items.iter().for_each(|child| add(child, 0)),
        Json::Object(object) => object.iter().for_each(|(key, child)| add(child, key.len())),
        Json::String(text) => weight += text.len(),
        _ => {}
    }
    (depth, weight)
}
