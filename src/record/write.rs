//! The lines of a key: only such as read back as the value they are written for.

use super::header::{Declared, Node, Style, nodes};
use super::scalar::{is_control, list, scalar};
use super::value::{Item, Value, unrepresentable};
use crate::failure::Failure;
use crate::path::is_space;

const INDENT: &str = "  ";

/// The lines of a key, and the value a reader finds in them.
pub(super) struct Written {
    pub(super) lines: Vec<String>,
    pub(super) value: Value,
}

/// Writes `value` under `key`, in the style of `old` where that can hold it.
///
/// `RECORD_FRONTMATTER_UNREPRESENTABLE` when no lines read back as the value: a key or a name that is none, a name
/// twice in a mapping, records of one field each.
pub(super) fn entry(
    key: &str,
    value: &Value,
    old: Option<&Node<'_>>,
    lists: &[&str],
) -> Result<Written, Failure> {
    let value = value.without_empty_items();
    for (style, value) in candidates(&value, old.map(|node| node.style), Declared::of(key, lists)) {
        let shape = Shape::of(style, old);
        let Some(lines) = lines(key, &value, style, &shape) else { continue };
        if reads_back(&lines, key, &value, lists) {
            return Ok(Written { lines, value });
        }
    }
    Err(unrepresentable(key))
}

/// The styles to try, the preferred one first.
///
/// A declared list key holds a text as a list of one. A list under any other key is read only from lines of its own.
fn candidates(value: &Value, old: Option<Style>, declared: Declared) -> Vec<(Style, Value)> {
    let styles: &[Style] = match (value, old) {
        (Value::Records(_), _) => &[Style::Records],
        (Value::Mapping(_), _) => &[Style::Mapping],
        (Value::List(_), Some(Style::Block)) => &[Style::Block],
        (Value::List(_), _) => &[Style::Flow, Style::Block],
        (Value::Text(_), Some(Style::Folded)) => &[Style::Folded, Style::Literal, Style::Flow],
        (Value::Text(_), Some(Style::Literal)) => &[Style::Literal, Style::Flow],
        (Value::Text(_), _) => &[Style::Flow],
    };
    let in_style = |&style: &Style| match value {
        Value::Text(text) if declared == Declared::List && style == Style::Flow => {
            (style, Value::List(vec![text.clone()]))
        }
        value => (style, value.clone()),
    };
    styles.iter().map(in_style).collect()
}

/// What a rewritten value keeps of the old one beside its style.
struct Shape<'a> {
    indent: &'a str,
    /// What follows the `|` or `>`.
    chomping: &'a str,
}

impl<'a> Shape<'a> {
    fn of(style: Style, old: Option<&Node<'a>>) -> Self {
        let Some(old) = old else { return Self { indent: INDENT, chomping: "" } };
        // Only lines that begin with a dash can stand at the first column.
        let indent = if old.indent.is_empty() && old.style != style { INDENT } else { old.indent };
        let chomping = match old.style {
            Style::Literal | Style::Folded => old.indicator.get(1..).unwrap_or(""),
            _ => "",
        };
        Self { indent, chomping }
    }
}

/// The lines of a value in a style; `None` when the style has no spelling for it.
fn lines(key: &str, value: &Value, style: Style, shape: &Shape<'_>) -> Option<Vec<String>> {
    let indent = shape.indent;
    let mut lines = vec![format!("{key}:")];
    match (style, value) {
        (Style::Flow, Value::Text(text)) => lines[0] = format!("{key}: {}", scalar(text)),
        (Style::Flow, Value::List(items)) => lines[0] = format!("{key}: {}", list(items)),
        (Style::Block, Value::List(items)) => {
            lines.extend(items.iter().map(|item| format!("{indent}- {}", super::scalar::item(item))));
        }
        (Style::Literal | Style::Folded, Value::Text(text)) if is_plain_block(text) => {
            let mark = if style == Style::Literal { '|' } else { '>' };
            lines[0] = format!("{key}: {mark}{}", shape.chomping);
            let line = |line: &str| if line.is_empty() { String::new() } else { format!("{indent}{line}") };
            lines.extend(text.split('\n').map(line));
        }
        (Style::Mapping, Value::Mapping(fields)) => {
            lines.extend(fields.iter().map(|(name, item)| format!("{indent}{name}: {}", field(item))));
        }
        (Style::Records, Value::Records(records)) => {
            for record in records {
                for (at, (name, item)) in record.iter().enumerate() {
                    let mark = if at == 0 { "- " } else { "  " };
                    lines.push(format!("{indent}{mark}{name}: {}", field(item)));
                }
            }
        }
        _ => return None,
    }
    Some(lines)
}

fn field(item: &Item) -> String {
    match item {
        Item::Text(text) => scalar(text),
        Item::List(items) => list(items),
    }
}

/// Whether every reader finds `text` again in lines of its own: no character that some take for a line end, and no
/// indentation at its start, from which YAML readers would take that of the block.
fn is_plain_block(text: &str) -> bool {
    !text.contains(|c| is_control(c) && !matches!(c, '\n' | '\t'))
        && !text.trim_start_matches('\n').starts_with(is_space)
}

fn reads_back(lines: &[String], key: &str, value: &Value, lists: &[&str]) -> bool {
    let lines: Vec<&str> = lines.iter().flat_map(|line| line.split('\n')).collect();
    let mut nodes = nodes(&lines, lists);
    nodes.next().is_some_and(|node| node.key == key && node.value.as_ref() == Some(value))
        && nodes.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    fn written(key: &str, value: &Value) -> String {
        entry(key, value, None, &["tags"])
            .map_or_else(|failure| failure.to_string(), |it| it.lines.join("\n"))
    }

    #[test]
    fn a_list_under_an_undeclared_key_gets_lines_of_its_own() {
        let list = Value::List(vec!["a".to_owned(), "b: c".to_owned()]);
        assert_eq!(written("tags", &list), "tags: [a, \"b: c\"]");
        assert_eq!(written("other", &list), "other:\n  - a\n  - \"b: c\"");
    }

    #[test]
    fn a_text_under_a_declared_list_key_is_a_list_of_one() {
        assert_eq!(written("tags", &text("a, b")), "tags: [\"a, b\"]");
    }

    #[test]
    fn what_would_not_read_back_is_refused() {
        let field = |name: &str| (name.to_owned(), Item::Text("x".to_owned()));
        for (key, value) in [
            ("a b", text("x")),
            ("a\nb", text("x")),
            ("", text("x")),
            ("m", Value::Mapping(vec![field("a b")])),
            ("m", Value::Mapping(vec![field("a: x\nb")])),
            ("m", Value::Mapping(vec![field("a"), field("a")])),
            ("m", Value::Mapping(Vec::new())),
            ("m", Value::Records(vec![vec![field("a")], vec![field("b")]])),
            ("m", Value::Records(vec![vec![field("a"), field("b")], Vec::new()])),
            ("tags", Value::Mapping(vec![field("a")])),
        ] {
            let refused = entry(key, &value, None, &["tags"]).err().expect("refused");
            assert_eq!(refused.code, crate::failure::Code::RECORD_FRONTMATTER_UNREPRESENTABLE, "{value:?}");
            assert_eq!(refused.details["key"], key);
        }
    }

    #[test]
    fn indentation_survives_a_change_of_style_unless_it_is_none() {
        let mapping = Value::Mapping(vec![("a".to_owned(), Item::Text("x".to_owned()))]);
        for (item, wanted) in [("- old", "k:\n  a: x"), ("    - old", "k:\n    a: x")] {
            let header = ["k:", item];
            let old = &nodes(&header, &[]).next().unwrap();
            assert_eq!(entry("k", &mapping, Some(old), &[]).unwrap().lines.join("\n"), wanted);
        }
    }

    #[test]
    fn a_block_scalar_that_would_not_read_back_is_quoted_instead() {
        let header = ["k: >-", "    old"];
        let old = &nodes(&header, &[]).next().unwrap();
        let rewrite = |value: &str| entry("k", &text(value), Some(old), &[]).unwrap().lines.join("\n");
        assert_eq!(rewrite("new words"), "k: >-\n    new words");
        assert_eq!(rewrite("two  blanks"), "k: |-\n    two  blanks");
        assert_eq!(rewrite("\n\nx"), "k: \"\\n\\nx\"");
        assert_eq!(rewrite("a\n\n\nb"), "k: \"a\\n\\n\\nb\"");
        assert_eq!(rewrite("  a\nb"), "k: \"  a\\nb\"");
        assert_eq!(rewrite("a\n"), "k: \"a\\n\"");
        assert_eq!(rewrite("a\r\nb"), "k: \"a\\r\\nb\"");
        assert_eq!(rewrite("a\u{2028}b"), "k: \"a\\u2028b\"");
    }
}
