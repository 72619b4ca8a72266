//! What holds for every header and every text, hostile ones included.

use super::*;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use std::collections::BTreeMap;

const LISTS: &[&str] = &["tags", "scope"];

/// Texts in which quotes, separators, line ends and odd white space are frequent.
fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-c:#,'\"\\[\\]{}|> \\-\n\r\t\\\\\u{85}\u{2028}\u{a0}\u{feff}]{0,8}",
        "[a-z ]{1,12}",
        any::<String>(),
        prop::collection::vec("[a-c]|  x|", 1..4).prop_map(|lines| lines.join("\n")),
    ]
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("tags".to_owned()),
        Just("scope".to_owned()),
        Just("updated".to_owned()),
        "[a-c]",
        "[A-Za-z_][A-Za-z0-9_.-]{0,3}",
    ]
}

fn any_list() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(any_text().prop_filter("empty items are not written", |it| !it.is_empty()), 1..4)
}

fn fields(size: std::ops::Range<usize>) -> impl Strategy<Value = Vec<(String, Item)>> {
    let item = prop_oneof![any_text().prop_map(Item::Text), any_list().prop_map(Item::List)];
    prop::collection::btree_map("[A-Za-z_][a-c.-]{0,2}", item, size).prop_map(|map| map.into_iter().collect())
}

/// Values that a header can hold under a key that is not declared a list.
fn flat_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        any_text().prop_filter("an empty text removes", |it| !it.is_empty()).prop_map(Value::Text),
        fields(1..4).prop_map(Value::Mapping),
        prop::collection::vec(fields(2..4), 1..3).prop_map(Value::Records),
    ]
}

fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![flat_value(), any_list().prop_map(Value::List)]
}

/// A value as a reader of `key` finds it: a declared list key holds lists.
fn as_read(key: &str, value: &Value) -> Value {
    match value {
        Value::Text(text) if LISTS.contains(&key) => Value::List(vec![text.clone()]),
        value => value.clone(),
    }
}

/// Texts made of the lines that a parser of headers trips over.
fn hostile() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "---|--- |-----|\\.\\.\\.|-|- a|- k: v|# c|  # c||  |\t|\r",
        "[abc]:|a: x|tags:|tags: \\[a, \"b|scope: a, b|a: \\||a: >-2|a: \"q|updated: 2020-01-01",
        "  - a|  -|    - b|  k: v|   k: v|  k: \\[a, b\\]|  - k: v|    l: 'w'|\u{a0}x|\u{feff}",
        "\\PC{0,8}",
    ];
    let end = prop_oneof![4 => Just("\n"), 1 => Just("\r\n"), 1 => Just("\r")];
    let lines = prop::collection::vec((line, end), 0..14);
    let start =
        prop_oneof![6 => Just("---\n"), 1 => Just("---\r\n"), 1 => Just("\u{feff}---\n"), 1 => Just("")];
    let close = prop_oneof![4 => Just("---\nbody\r\n---\n"), 1 => Just("---"), 1 => Just("")];
    (start, lines, close).prop_map(|(start, lines, close)| {
        let lines: String = lines.iter().flat_map(|(line, end)| [line.as_str(), end]).collect();
        format!("{start}{lines}{close}")
    })
}

fn change() -> impl Strategy<Value = Change> {
    (key(), prop::option::of(any_value()))
}

/// The lines of a header that belong to no key `named`, each with the key it belongs to.
fn other_lines(text: &str, named: impl Fn(&str) -> bool) -> Vec<(Option<String>, String)> {
    let lines = super::document::Fences::of(text).unwrap().lines;
    let mut owners = vec![None; lines.len()];
    for node in super::header::nodes(&lines, LISTS) {
        owners[node.lines].fill(Some(node.key.to_owned()));
    }
    let all = owners.into_iter().zip(lines.into_iter().map(str::to_owned));
    all.filter(|(owner, _)| !owner.as_deref().is_some_and(&named)).collect()
}

proptest! {
    #[test]
    fn a_new_record_reads_back_and_is_written_the_same_again(
        header in prop::collection::btree_map("[a-z_][a-c.-]{0,3}", flat_value(), 0..5),
        tags in any_list(),
        body in any_text(),
    ) {
        let mut header: Vec<(String, Value)> = header.into_iter().collect();
        header.push(("tags".to_owned(), Value::List(tags)));
        let file = render(&header, &body).unwrap();
        let read = read(&file, LISTS).unwrap();
        let found: Vec<_> =
            read.header.entries.iter().map(|it| (it.key.to_string(), it.value.clone().unwrap())).collect();
        prop_assert_eq!(&found, &header);
        prop_assert_eq!(render(&found, read.body_text).unwrap(), file.as_str());
        let changes: Vec<Change> = found.into_iter().map(|(key, value)| (key, Some(value))).collect();
        prop_assert_eq!(patch(&file, &changes, LISTS, None).unwrap(), file);
    }

    #[test]
    fn a_patched_value_reads_back_and_is_written_the_same_again(
        text in hostile(),
        key in key(),
        value in any_value(),
    ) {
        let change = [(key.clone(), Some(value.clone()))];
        if let Ok(once) = patch(&text, &change, LISTS, None) {
            let found = read(&once, LISTS).unwrap().header;
            prop_assert_eq!(found.get(&key), Some(&as_read(&key, &value)));
            let again = [(key.clone(), found.get(&key).cloned())];
            prop_assert_eq!(patch(&once, &again, LISTS, None).unwrap(), once);
        }
    }

    #[test]
    fn a_patch_keeps_the_body_and_every_line_it_does_not_name(
        text in hostile(),
        changes in prop::collection::vec(change(), 0..4),
        today in prop::option::of(Just("2026-03-04")),
    ) {
        if let Ok(out) = patch(&text, &changes, LISTS, today) {
            let before = read(&text, LISTS).unwrap();
            let after = read(&out, LISTS).unwrap();
            prop_assert_eq!(before.body_text, after.body_text);
            prop_assert_eq!(text.starts_with('\u{feff}'), out.starts_with('\u{feff}'));
            let named = |key: &str| {
                changes.iter().any(|(name, _)| name == key) || today.is_some() && key == "updated"
            };
            prop_assert_eq!(other_lines(&text, named), other_lines(&out, named));
        }
    }

    #[test]
    fn a_sequence_of_patches_keeps_all_that_none_of_them_names(
        text in hostile(),
        patches in prop::collection::vec(prop::collection::vec(change(), 1..3), 1..6),
    ) {
        let mut now = text.clone();
        let mut wanted = BTreeMap::new();
        for changes in patches {
            if let Ok(out) = patch(&now, &changes, LISTS, None) {
                let values = changes.into_iter().map(|(key, value)| {
                    let value = value.map(|value| as_read(&key, &value));
                    (key, value)
                });
                wanted.extend(values);
                now = out;
            }
        }
        if let Ok(before) = read(&text, LISTS) {
            let after = read(&now, LISTS).unwrap();
            prop_assert_eq!(before.body_text, after.body_text);
            let named = |key: &str| wanted.contains_key(key);
            prop_assert_eq!(other_lines(&text, named), other_lines(&now, named));
            for (key, value) in &wanted {
                prop_assert_eq!(after.header.get(key), value.as_ref(), "{}", key);
            }
        }
    }

    #[test]
    fn h50_a_yaml_reader_agrees_on_every_header_that_is_written(
        header in prop::collection::btree_map("[a-z_][a-c.-]{0,3}", flat_value(), 0..5),
        tags in any_list(),
        patches in prop::collection::vec(prop::collection::vec(change(), 1..3), 0..4),
    ) {
        let mut header: Vec<(String, Value)> = header.into_iter().collect();
        header.push(("tags".to_owned(), Value::List(tags)));
        // Shapes that only a person writes, and that a patch keeps.
        let own = "b: |-\n  one\n  two\nc: >\n  folded words\n# a comment\nscope:\n- x\n---\n";
        header.retain(|(key, _)| !["b", "c"].contains(&key.as_str()));
        let mut file = render(&header, "Body.").unwrap().replacen("---\n\nBody.", &format!("{own}\nBody."), 1);
        for changes in patches {
            file = patch(&file, &changes, LISTS, None).unwrap_or(file);
        }
        let lines = super::document::Fences::of(&file).unwrap().lines.join("\n");
        let found = super::yaml::keys(&lines).map_err(|error| TestCaseError::fail(format!("{error} in\n{lines}")))?;
        let ours = read(&file, LISTS).unwrap().header;
        let ours = ours.entries.iter().map(|it| (it.key.to_string(), super::yaml::of(it.value.as_ref().unwrap())));
        let clipped = |(key, value)| (key, super::yaml::clipped(value));
        let (found, ours): (Vec<_>, Vec<_>) = (found.into_iter().map(clipped).collect(), ours.map(clipped).collect());
        prop_assert_eq!(found, ours, "{}", lines);
    }

    #[test]
    fn removing_and_adding_a_key_leaves_every_other_line(text in hostile(), value in any_value()) {
        let set = patch(&text, &[("new.key".to_owned(), Some(value))], LISTS, None);
        if let Ok(set) = set {
            let back = patch(&set, &[("new.key".to_owned(), None)], LISTS, None).unwrap();
            let lines = |text: &str| text.lines().map(|it| it.trim_end().to_owned()).collect::<Vec<_>>();
            prop_assert_eq!(lines(&back), lines(&text));
        }
    }

    #[test]
    fn a_head_never_contradicts_the_whole_file(text in hostile(), cut in 0_usize..400) {
        let whole = read(&text, LISTS);
        match read_head(&text.as_bytes()[..cut.min(text.len())], LISTS) {
            Head::Header(header) => prop_assert_eq!(Ok(header), whole.map(|document| document.header)),
            Head::NotARecord(why) => prop_assert_eq!(whole.unwrap_err(), why),
            Head::Unfinished => prop_assert!(
                cut < text.len() || whole.is_err() || !whole.unwrap().prefix.ends_with('\n')
            ),
        }
    }

    #[test]
    fn a_new_body_leaves_the_header_alone(text in hostile(), body in any_text()) {
        if let Ok(out) = with_body(&text, &body) {
            prop_assert!(out.starts_with(read(&text, LISTS).unwrap().prefix));
            prop_assert_eq!(&read(&out, LISTS).unwrap().header, &read(&text, LISTS).unwrap().header);
        }
    }

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), text in any::<String>()) {
        let _ = read_head(&bytes, LISTS);
        let _ = read_head(&[b"---\n", bytes.as_slice()].concat(), LISTS);
        if let Ok(text) = decode(&bytes) {
            let _ = read(text, LISTS);
        }
        let file = format!("---\n{text}\n---\n{text}");
        let _ = read(&file, LISTS);
        let _ = patch(&file, &[(text.clone(), Some(Value::Text(text.clone())))], LISTS, None);
        let _ = append_under_heading(&text, &text, &text);
        let _ = (is_trail_line(&text), id::sequence(&text, "T"), id::is_valid(&text, "T"));
    }
}
