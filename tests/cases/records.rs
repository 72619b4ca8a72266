//! Records on disk.

use crate::payload::{pre_edit, start};
use crate::process::call;
use crate::world::World;
use serde_json::{Value as Json, json};

#[test]
fn f1_a_card_without_an_id_hides_no_other() {
    let world = World::new()
        .card("T-0001", |c| c.doing().claimed_by("ben").scope("src"))
        .file(".project/cards/T-0002-x.md", "---\ntitle: No id\nstatus: next\n---\n")
        .file(".project/cards/T-0003-x.md", "---\nid: T-0003\ntitle: Not closed\n")
        .file(".project/cards/T-0004-x.md", b"---\nid: T-0004\ntitle: \xff\n---\n");
    let list = world.run(["card", "list", "--json"]).json();
    assert_eq!((&list["total"], &list["records"][0]["id"]), (&json!(1), &json!("T-0001")));
    world.hook(pre_edit("src/a.rs")).asks("T-0001", "ben");
    for id in ["T-0002", "T-0003", "T-0004"] {
        world.run(["card", "note", id, "--text", "x", "--json"]).fails(1, "CARD_NOT_FOUND");
    }
    let file = ".project/cards/T-0004-x.md";
    assert_eq!(std::fs::read(world.root.join(file)).unwrap(), b"---\nid: T-0004\ntitle: \xff\n---\n");
}

#[test]
fn f2_a_scope_in_any_spelling_is_a_list() {
    for (line, entries) in [
        ("scope: src/a", json!(["src/a"])),
        ("scope: src/a, lib", json!(["src/a", "lib"])),
        ("scope: [src/a, \"b,c\"]", json!(["src/a", "b,c"])),
        ("scope:\n  - src/a\n  - lib", json!(["src/a", "lib"])),
        ("scope:\n- src/a", json!(["src/a"])),
    ] {
        let world = World::new().card("T-0001", |c| c.doing().claimed_by("ben").line(line));
        assert_eq!(world.run(["card", "show", "T-0001"]).json()["scope"], entries, "{line}");
        world.hook(pre_edit("src/a/x.rs")).asks("T-0001", "ben");
    }
}

#[test]
fn f4_a_patch_touches_its_lines_and_no_others() {
    let header = "---\r\nid: T-0001\r\ntitle: Old\r\nstatus: next\r\ntype: task\r\npriority: medium\r\n\
        # a comment\r\narea: general\r\nodd:   kept   as is \r\ncreated: 2026-01-02\r\nupdated: 2026-01-02\r\n---\r\n";
    for body in ["\r\n\r\nBody.\r\n  indented\r\nlast line without an end", "\r\n\r\n\r\nBody.\r\n\r\n", ""] {
        let before = format!("{header}{body}");
        let world =
            World::new().clock("2026-03-04T05:06:07.089Z").file(".project/cards/T-0001-old.md", &before);
        let patch = call(["card", "patch", "T-0001", "--json-input", "-", "--json"]).by("ann");
        world.run(patch.stdin(json!({"title": "New: title"}).to_string())).json();
        let after = before.replace("title: Old", "title: \"New: title\"");
        let after = after.replace("updated: 2026-01-02", "updated: 2026-03-04");
        assert_eq!(world.read(".project/cards/T-0001-old.md"), after);
    }
}

#[test]
fn f4_a_note_keeps_the_line_ends_of_the_file() {
    let before = "---\r\nid: T-0001\r\ntitle: Old\r\nstatus: next\r\ntype: task\r\npriority: medium\r\narea: general\r\n\
        created: 2026-01-02\r\nupdated: 2026-03-04\r\n---\r\n\r\nBody.\r\n\r\n## Notes\r\n\r\n- first\r\n";
    let world = World::new().clock("2026-03-04T05:06:07.089Z").file(".project/cards/T-0001-old.md", before);
    world.run(call(["card", "note", "T-0001", "--text", "two\nlines", "--json"]).by("ann")).json();
    let after = world.read(".project/cards/T-0001-old.md");
    assert!(!after.replace("\r\n", "").contains(['\r', '\n']), "{after:?}");
    let note = "- first\r\n- 2026-03-04 05:06Z ann@local#ann00000 — two\r\n  lines\r\n";
    assert!(after.ends_with(note), "{after:?}");
}

#[test]
fn f5_a_title_reads_back_as_it_was_given() {
    let plain = ["yes", "1e3", "emoji 🦀 and é", "it's", "a \"quoted\" word", "back\\slash", "~"];
    let quoted = [
        "Finish: verify, record",
        "[T-0042] x",
        "# not a comment",
        "\"quoted\"",
        "'single'",
        "{braces}",
        "- dash",
        "? mark",
        "& and",
        "* star",
        "! bang",
        "| bar",
        "> more",
        "% percent",
        "@ at",
        "`tick`",
        "no-break\u{2028}line",
    ];
    let world = World::new();
    for (number, title) in plain.iter().chain(&quoted).enumerate() {
        let id = format!("T-{:04}", number + 1);
        let created = world.run(call(["card", "create", "--title", title, "--json"]).by("ann")).json();
        assert_eq!((&created["id"], &created["title"]), (&json!(id), &json!(title)));
        assert_eq!(world.run(["card", "show", &id]).json()["title"], *title);
        let file = created["file"].as_str().unwrap();
        let text = world.read(&format!(".project/cards/{file}"));
        let line = text.lines().find_map(|line| line.strip_prefix("title: ")).unwrap();
        if plain.contains(title) {
            assert_eq!(line, *title);
        } else {
            assert!(!line.contains('\u{2028}'), "{line:?}");
            assert_eq!(serde_json::from_str::<String>(line).unwrap(), *title);
        }
    }
    let long = "x".repeat(300);
    world.run(call(["card", "create", "--title", &long, "--json"])).fails(1, "CARD_TITLE_TOO_LONG");
}

#[test]
fn f6_what_a_killed_write_left_is_no_record() {
    let world = World::new()
        .card("T-0001", |c| c.doing().claimed_by("ben").scope("src"))
        .file(".project/cards/T-0001-card.md.tmp", "---\nid: T-0001\nti")
        .file(".project/cards/.4k2j1.tmp", "---\nid: T-0009\ntitle: Half\n---\n")
        .file(".project/cards/.hidden/T-0008-x.md", "---\nid: T-0008\ntitle: Hidden\n---\n");
    let list = world.run(["card", "list", "--json"]).json();
    assert_eq!(list["total"], 1, "{list}");
    world.run(call(["card", "note", "T-0001", "--text", "x", "--json"]).by("ben")).json();
    world.hook(pre_edit("src/a.rs")).asks("T-0001", "ben");
    world.hook(start("startup")).tells(&["1 card is claimed"]);
    let created = world.run(call(["card", "create", "--title", "x", "--json"]).by("ben")).json();
    assert_eq!(created["id"], "T-0002");
}

#[test]
fn f6_a_reader_sees_the_old_card_or_the_new_one() {
    let world =
        World::new().card("T-0001", |c| c.status("next").body(&"A long line of body.\n".repeat(2_000)));
    let patch = |number: u32| {
        let patch = call(["card", "patch", "T-0001", "--json-input", "-", "--json"]).by("ann");
        patch.stdin(json!({"milestone": format!("m{number}")}).to_string())
    };
    let show = || call(["card", "show", "T-0001"]);
    for round in 0..10 {
        let runs = world.run_together(vec![patch(2 * round), show(), show(), patch(2 * round + 1), show()]);
        for run in runs {
            let card = run.json();
            assert_eq!(card["body"].as_str().unwrap().lines().count(), 2_000);
        }
    }
    let tree = crate::compare::tree(&world.root);
    assert_eq!(crate::compare::temporary(&tree), Vec::<&str>::new());
}

#[test]
fn f8_a_date_is_a_day_or_a_timestamp() {
    let world = World::new().card("T-0001", |c| c.status("next"));
    let list = |since: &str| world.run(["card", "list", "--updated-since", since, "--json"]);
    for (since, total) in [
        ("2026-01-02", 1),
        ("2026-01-03", 0),
        ("2026-01-02T23:00:00+02:00", 1),
        ("2026-01-02T23:59:59Z", 1),
        ("2026-01-03T00:00:00Z", 0),
    ] {
        assert_eq!(list(since).json()["total"], total, "{since}");
    }
    for wrong in ["yesterday", "2026-13-01", "2026-02-30", "2026-1-2", "2026-01-02T25:00:00Z"] {
        let error = list(wrong).fails(1, "CLI_OPTION_INVALID");
        assert_eq!(error["details"]["value"], wrong);
    }
}

#[test]
fn f9_control_characters_stay_data() {
    let title = "\u{1b}]0;x\u{7}one\u{202e}two\rthree\nfour";
    let world = World::new()
        .card("T-0001", |c| c.doing().claimed_by("ben").scope("src").title(&json!(title).to_string()));
    assert_eq!(world.run(["card", "show", "T-0001"]).json()["title"], title);
    assert_eq!(world.run(["card", "list", "--json"]).json()["records"][0]["title"], title);
    let context = world.hook(start("startup")).tells(&[]);
    let lines: Vec<_> = context.lines().filter(|line| line.contains("T-0001")).collect();
    let expected = "- T-0001 \"]0;x onetwo three four\" held by ben@local#ben00000; scope: src";
    assert_eq!(lines, [expected]);
    let created = call(["card", "create", "--json-input", "-", "--json"]).by("ann");
    let error = world.run(created.stdin(json!({"title": title}).to_string())).fails(1, "CARD_FIELD_INVALID");
    assert_eq!(error["details"], json!({"field": "title", "reason": "control-character"}));
}

#[test]
fn f9_a_list_is_one_line_a_card() {
    let world = World::new()
        .card("T-0001", |c| c.title(&json!("one\nT-0009\tdoing\thigh\tforged").to_string()))
        .card("T-0002", |c| c.title("Plain"));
    let list = world.run(["card", "list"]).text();
    assert_eq!(list.lines().count(), 2, "{list:?}");
    let json: Json = world.run(["card", "list", "--fields", "id", "--json"]).json();
    assert_eq!(json["records"], json!([{"id": "T-0001"}, {"id": "T-0002"}]));
}

#[test]
fn a_note_keeps_the_indentation_of_the_first_line() {
    let before = "---\nid: T-0001\ntitle: A\nstatus: next\ntype: task\npriority: medium\narea: general\n\
        created: 2026-01-02\nupdated: 2026-03-04\n---\n\n    code, indented\n\ntext\n";
    let world = World::new().clock("2026-03-04T05:06:07.089Z").file(".project/cards/T-0001-a.md", before);
    world.run(call(["card", "note", "T-0001", "--text", "x", "--json"]).by("ann")).json();
    let after = world.read(".project/cards/T-0001-a.md");
    assert!(after.starts_with(before.trim_end()), "{after}");
}
