//! What strangers, careless hands and full disks do to the command line.

use crate::payload::{pre_edit, start};
use crate::process::call;
use crate::world::{ACTIVITY, World};
use serde_json::json;
use std::process::Stdio;

#[cfg(target_os = "linux")]
#[test]
fn an_answer_that_cannot_be_printed_is_no_success() {
    let world = World::new().card("T-0001", |c| c);
    for args in [&["card", "list"][..], &["card", "list", "--json"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = world.process(env!("CARGO_BIN_EXE_workfile"));
        let ended = command.args(args).stdout(full).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(ended.status.code(), Some(2), "{args:?}");
        let said = String::from_utf8(ended.stderr).unwrap();
        assert!(said.contains("the answer could not be printed"), "{said}");
    }
}

#[test]
fn a_session_from_the_future_is_no_earlier_self() {
    let forged = json!({"hostPid": std::process::id()});
    for (silent_ms, is_earlier) in [(60_000, true), (-3_600_000, false)] {
        let world = World::new().card("T-0001", |c| c.doing().claimed_by("ben").scope("src"));
        let world = world.session("ben", silent_ms, &forged);
        let _ = world.hook(start("clear").by("ann"));
        let answered = world.hook(pre_edit("src/a.rs").by("ann"));
        if is_earlier { answered.silent() } else { drop(answered.asks("T-0001", "ben")) }
    }
}

#[test]
fn an_answer_does_not_depend_on_who_read_the_cards_last() {
    let entries: Vec<String> = (0..300).map(|number| format!("d{number}")).collect();
    let world =
        World::new().card("T-0001", |c| c.doing().claimed_by("ben").scope(&entries.join(", "))).settled();
    for path in ["d255/x", "d256/x"] {
        let asked = || !world.hook(pre_edit(path).by("ann")).ended.stdout.is_empty();
        std::fs::remove_file(world.root.join(ACTIVITY).join("board.json")).ok();
        let rebuilt = asked();
        assert_eq!((rebuilt, asked()), (path == "d255/x", rebuilt), "{path}");
    }
}

#[cfg(unix)]
#[test]
fn rules_without_an_end_are_not_read() {
    // A pipe that nobody writes to stands for every device that a committed link may lead to.
    for (rules, exit) in [(".gitignore", 3), (".ignore", 0), ("docs/.gitignore", 0), ("docs/deep/.ignore", 0)]
    {
        let world = World::bare().file("docs/deep/a.md", "a").file("docs/deep/down/b.md", "b");
        let made = world.process("mkfifo").arg(world.root.join(rules)).status().unwrap();
        assert!(made.success());
        let run = world.run(call(["init", "--dry-run", "--json"]));
        assert_eq!(run.ended.code, Some(exit), "{rules}: {:?}", run.ended);
    }
}
