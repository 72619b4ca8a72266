//! `card ac` and `card verify`: boxes set by hand and by what a command proves.

use crate::compare::{Tree, tree};
use crate::process::{Call, Ended, call, run_process, text};
use crate::terminal::shown;
use crate::world::World;
use serde_json::{Value as Json, json};
use workfile::work::criteria::digest;

const NOW: &str = "2026-03-04T05:06:07.089Z";
const CARD: &str = ".project/cards/T-0001-card.md";

/// A workspace where cards may run `sh check.sh …`, one second long.
fn world(script: &str) -> World {
    let verification = json!({"commands": [["sh", "check.sh"], ["./none"]], "timeoutSeconds": 1});
    let config = json!({"schemaVersion": 2, "cards": {"verification": verification}});
    World::new()
        .clock(NOW)
        .file("project.config.json", config.to_string())
        .file("check.sh", script)
        .env("USER", "ann")
}

/// The lines of a verify entry that runs `run` and is bound to these criteria.
fn entry(id: &str, run: &str, criteria: &[&str]) -> String {
    let digests: Vec<String> = criteria.iter().map(|text| json!(digest(text)).to_string()).collect();
    let bound =
        if digests.is_empty() { String::new() } else { format!("\n    criteria: [{}]", digests.join(", ")) };
    format!("  - id: {id}\n    run: [{run}]{bound}")
}

/// T-0001 with these entries and this body.
fn proved(world: World, entries: &[String], body: &str) -> World {
    let block = format!("verify:\n{}", entries.join("\n"));
    world.card("T-0001", |card| card.status("review").line(&block).body(body))
}

fn ac(words: &[&str]) -> Call {
    call(["card", "ac", "T-0001", "--json"]).words(words)
}

fn verify(words: &[&str]) -> Call {
    call(["card", "verify", "T-0001", "--json"]).words(words)
}

/// The report of a run that is not in order.
#[track_caller]
fn report(world: &World, words: &[&str]) -> Json {
    let Ended { code, stdout, stderr } = world.run(verify(words)).ended;
    assert_eq!((code, text(&stderr)), (Some(1), ""), "{}", text(&stdout));
    serde_json::from_slice(&stdout).unwrap()
}

/// The files of a world without the cache.
fn records(world: &World) -> Tree {
    let mut files = tree(&world.root);
    files.retain(|path, _| !path.starts_with(".project/.cache"));
    files
}

fn trail(world: &World) -> Vec<String> {
    let text = world.read(CARD);
    let lines = text.lines().filter_map(|line| line.strip_prefix("- 2026-03-04 05:06Z ann@local · "));
    lines.map(str::to_owned).collect()
}

#[test]
fn h26_boxes_are_set_by_their_number_and_nothing_else_changes() {
    let crlf = "---\r\nid: T-0001\r\ntitle: A\r\nstatus: next\r\ntype: task\r\npriority: low\r\narea: general\r\n---\r\n\
        \r\n \r\n## Acceptance\n- [ ] one  \r\n\t* [X]  two\r\n- [x] three\r\n- [ ] four\n\r\n\r\n";
    let world = World::new().clock(NOW).file(CARD, crlf);
    let done = world.run(ac(&["--check=1,4", "--uncheck", "3", "--check", "2,3", "--uncheck", "4"])).json();
    assert_eq!(done["changed"], json!([1, 3]), "ticked first; what is both ticked and emptied is emptied");
    assert_eq!(
        (&done["id"], &done["file"], &done["path"]),
        (&json!("T-0001"), &json!("T-0001-card.md"), &json!(CARD))
    );
    assert_eq!(done["acceptance"]["unchecked"].as_array().unwrap().len(), 2);
    assert_eq!((&done["revision"], &done["card"]["id"]), (&done["card"]["revision"], &json!("T-0001")));
    let expected = crlf
        .replace("---\r\n\r\n", "updated: 2026-03-04\r\n---\r\n\r\n")
        .replace("[ ] one", "[x] one")
        .replace("[x] three", "[ ] three");
    assert_eq!(world.read(CARD), expected);

    let again = world.run(ac(&["--check", "1,1", "--uncheck", "3"])).json();
    assert_eq!((&again["changed"], &again["revision"]), (&json!([]), &done["revision"]));
    world.run(["card", "ac", "T-0001", "--check", "4"]).success("T-0001 1 changed, 1 of 4 open\n");
    let list = "1\t[x]\tone\t\n2\t[x]\ttwo\t\n3\t[ ]\tthree\t\n4\t[x]\tfour\t\n";
    world.run(["card", "ac", "T-0001"]).success(list);
}

#[test]
fn a_number_that_is_none_changes_nothing() {
    let world = World::new().card("T-0001", |card| card.body("## Acceptance\n\n- [ ] a\n- [ ] b"));
    let before = records(&world);
    for given in ["0", "1,x", "+1", "-1", "1.0", "", ",", "99999999999999999999999"] {
        let flag = format!("--check={given}");
        world.run(ac(&[&flag])).fails(1, "CLI_ARGUMENT_INVALID");
    }
    world.run(ac(&["--check", "1", "--uncheck", "3"])).fails(1, "CARD_ACCEPTANCE_INDEX_UNKNOWN");
    world.run(ac(&["--check", "1", "--expected-revision", "sha256:0"])).fails(3, "CARD_WRITE_CONFLICT");
    world.run(ac(&["--expected-revision", "sha256:0"])).fails(1, "CLI_ARGUMENT_INVALID");
    world.run(["card", "ac", "T-0002"]).fails(1, "CARD_NOT_FOUND");
    assert_eq!(records(&world), before);
    let world = World::new().card("T-0001", |card| card.body("- [ ] nowhere"));
    let details =
        world.run(ac(&["--check", "1"])).fails(1, "CARD_ACCEPTANCE_INDEX_UNKNOWN")["details"].clone();
    assert_eq!(details, json!({"index": 1, "available": 0}));
    let note = "workfile: T-0001 has no criteria: no heading `## Acceptance` opens a list of them\n";
    world.run(["card", "ac", "T-0001"]).check(0, "", note);
}

#[test]
fn equal_criteria_are_all_bound_and_the_last_entry_that_lists_them_sets_them() {
    let entries =
        [entry("a", "sh, check.sh, 1", &["it holds"]), entry("b", "sh, check.sh, 0", &["it  holds"])];
    let world =
        proved(world("exit $1"), &entries, "## Acceptance\n\n- [ ] it holds\n- [ ] free\n- [ ] it  holds");
    for index in ["1", "3"] {
        let error = world.run(ac(&["--check", index])).fails(1, "CARD_ACCEPTANCE_MACHINE_OWNED");
        assert_eq!(error["details"], json!({"index": index.parse::<u8>().unwrap(), "entry": "b"}));
        let uncheck = world.run(ac(&["--uncheck", index])).fails(1, "CARD_ACCEPTANCE_MACHINE_OWNED");
        assert_eq!(uncheck["details"], error["details"], "bound whatever its box says");
    }
    let report = report(&world, &[]);
    let of = |at: usize, key: &str| report["entries"][at][key].clone();
    assert_eq!(
        (of(0, "outcome"), of(0, "criteria"), of(0, "unchecked")),
        (json!("failed"), json!([]), json!([]))
    );
    assert_eq!(
        (of(1, "outcome"), of(1, "criteria"), of(1, "checked")),
        (json!("passed"), json!([1, 3]), json!([1, 3]))
    );
    assert_eq!(trail(&world), ["verify b: sh check.sh 0 passed, checked #1, #3"]);
    world
        .run(["card", "ac", "T-0001"])
        .success("1\t[x]\tit holds\tb\n2\t[ ]\tfree\t\n3\t[x]\tit  holds\tb\n");
}

#[test]
fn what_changes_nothing_leaves_no_line() {
    let entries = [entry("a", "sh, check.sh", &["it holds"]), entry("b", "sh, check.sh", &[])];
    let world = proved(world(""), &entries, "## Acceptance\n\n- [x] it holds");
    let before = records(&world);
    assert_eq!(world.run(verify(&[])).json()["ok"], true);
    assert_eq!(records(&world), before);
    let only = world.run(verify(&["--only", "b"])).json();
    assert_eq!(only["entries"].as_array().unwrap().len(), 1);
    assert_eq!((&only["entries"][0]["id"], &only["timeoutSeconds"]), (&json!("b"), &json!(1)));
}

#[test]
fn a_card_of_another_world_keeps_its_line_ends() {
    let world = world("");
    let entries = entry("a", "sh, check.sh", &["it holds"]);
    let card = format!(
        "---\nid: T-0001\ntitle: A\nstatus: next\ntype: task\npriority: low\narea: general\nverify:\n{entries}\n---\n\
        \nText.\n\n## Acceptance\n\n- [ ] it holds\n"
    );
    world.write(CARD, card.replace('\n', "\r\n"));
    world.run(verify(&[])).json();
    let expected = card.replace("[ ]", "[x]").replace("\n---\n\n", "\nupdated: 2026-03-04\n---\n\n")
        + "\n## Activity\n\n- 2026-03-04 05:06Z ann@local · verify a: sh check.sh passed, checked #1\n";
    assert_eq!(world.read(CARD), expected.replace('\n', "\r\n"));
}

#[test]
fn commands_that_end_in_odd_ways_are_told_apart() {
    let script = "case $1 in
        shut) exec >&- 2>&-; exit 3 ;;
        kill) kill -9 $$ ;;
        flood) head -c 200000 /dev/zero | tr '\\0' x; echo end; echo small >&2 ;;
        stdin) cat; pwd ;;
    esac";
    let ids = ["shut", "kill", "flood", "stdin"];
    let mut entries: Vec<String> = ids.map(|id| entry(id, &format!("sh, check.sh, {id}"), &[id])).into();
    entries.push(entry("none", "./none", &["none"]));
    let body = "## Acceptance\n\n- [x] shut\n- [x] kill\n- [ ] flood\n- [ ] stdin\n- [x] none";
    let world = proved(world(script), &entries, body);
    let report = report(&world, &[]);
    let of = |at: usize| {
        let entry = &report["entries"][at];
        (entry["outcome"].as_str().unwrap(), entry["code"].as_i64(), entry["signal"].as_str())
    };
    assert_eq!(of(0), ("failed", Some(3), None));
    assert_eq!(of(1), ("failed", None, Some("SIGKILL")));
    assert_eq!(of(2), ("passed", Some(0), None));
    assert_eq!(of(3), ("passed", Some(0), None));
    assert_eq!(of(4), ("errored", None, None));
    let flood = &report["entries"][2];
    let out = flood["stdout"].as_str().unwrap();
    assert!(out.len() == 65_536 && out.ends_with("xend\n") && flood["truncated"] == true);
    assert_eq!((&flood["stderr"], &report["entries"][0]["truncated"]), (&json!("small\n"), &json!(false)));
    assert_eq!(report["entries"][3]["stdout"], format!("{}\n", world.root.display()));
    assert!(report["entries"][4]["reason"].as_str().unwrap().starts_with("`./none` does not start: "));
    let lines = [
        "verify shut: sh check.sh shut failed (exit 3), unchecked #1",
        "verify kill: sh check.sh kill failed (exit none), unchecked #2",
        "verify flood: sh check.sh flood passed, checked #3",
        "verify stdin: sh check.sh stdin passed, checked #4",
    ];
    assert_eq!(trail(&world), lines);
    assert!(world.read(CARD).contains("- [x] none"), "what did not start says nothing");
}

#[test]
fn h29_a_command_that_sleeps_is_gone_with_all_its_children_when_its_time_is_over() {
    let script = "sleep 600 & echo $! > child; echo before; sleep 600";
    let entries = [entry("slow", "sh, check.sh", &["it holds"])];
    let world = proved(world(script), &entries, "## Acceptance\n\n- [x] it holds");
    let card = world.read(CARD);
    let report = report(&world, &[]);
    let run = &report["entries"][0];
    assert_eq!(
        (&run["outcome"], &run["code"], &run["signal"]),
        (&json!("timed-out"), &Json::Null, &json!("SIGTERM"))
    );
    assert_eq!((&run["reason"], &run["stdout"]), (&json!("no end within 1 s"), &json!("before\n")));
    assert_eq!((&run["criteria"], &run["unchecked"]), (&json!([1]), &json!([])));
    assert!(is_gone(&world.read("child")));
    assert_eq!(world.read(CARD), card);
}

/// Whether no process runs under this number.
fn is_gone(number: &str) -> bool {
    let number = number.trim();
    let stat = std::fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
    let pid = rustix::process::Pid::from_raw(number.parse().unwrap()).unwrap();
    stat.contains(") Z") || rustix::process::test_kill_process(pid).is_err()
}

#[test]
fn a_criterion_that_is_reworded_while_the_command_runs_is_refused_by_name() {
    let script = "sed -i.old 's/bolts hold/bolts are pretty/; s/- \\[ \\] floor/- [ ] above\\n&/' $2; rm $2.old; exit $1";
    let entries = [
        entry("bolts", &format!("sh, check.sh, 0, {CARD}"), &["bolts hold", "nuts hold"]),
        entry("floor", &format!("sh, check.sh, 0, {CARD}"), &["floor is dry"]),
    ];
    let body = "## Acceptance\n\n- [ ] bolts hold\n- [ ] nuts hold\n- [ ] floor is dry";
    let world = proved(world(script), &entries, body);
    let reworded = |world: &World| {
        world
            .read(CARD)
            .replace("bolts hold", "bolts are pretty")
            .replace("- [ ] floor", "- [ ] above\n- [ ] floor")
    };
    let expected = reworded(&world);
    let only_bolts = report(&world, &["--only", "bolts"]);
    let run = &only_bolts["entries"][0];
    assert_eq!(
        (&run["outcome"], &run["checked"], &run["criteria"]),
        (&json!("passed"), &json!([]), &json!([2]))
    );
    assert_eq!(run["writeError"]["code"], "CARD_ACCEPTANCE_NOT_BOUND");
    assert!(run["writeError"]["message"].as_str().unwrap().contains("`bolts hold`"), "{run}");
    assert_eq!(world.read(CARD), expected, "not one box of the entry");

    let moved = world.run(verify(&["--only", "floor"])).json();
    assert_eq!(
        moved["entries"][0]["checked"],
        json!([5]),
        "it follows its criterion, two lines further down"
    );
    assert!(world.read(CARD).contains("- [x] floor is dry"));
}

#[test]
fn a_proof_is_not_for_another_command_or_another_card() {
    let entries = [entry("a", &format!("sh, check.sh, {CARD}, x"), &["it holds"])];
    let body = "## Acceptance\n\n- [ ] it holds";
    for (script, code) in [
        ("sed -i.old 's/, x\\]/, y]/' $1; rm $1.old", "CARD_ACCEPTANCE_NOT_BOUND"),
        ("sed -i.old 's/id: a/id: b/' $1; rm $1.old", "CARD_ACCEPTANCE_NOT_BOUND"),
        ("rm $1", "CARD_NOT_FOUND"),
        ("sed -i.old 's/type: task/type: chair/' $1; rm $1.old", "CARD_ENUM_INVALID"),
    ] {
        let world = proved(world(script), &entries, body);
        let report = report(&world, &[]);
        assert_eq!(report["entries"][0]["writeError"]["code"], code, "{script}");
        assert_eq!(report["entries"][0]["checked"], json!([]));
        assert!(!std::fs::read_to_string(world.root.join(CARD)).unwrap_or_default().contains("[x]"));
    }
}

#[test]
fn a_binding_without_its_criterion_blocks_changes_of_verify_alone() {
    let entries = [entry("a", "sh, check.sh", &["gone", "it holds"])];
    let world = proved(world(""), &entries, "## Acceptance\n\n- [ ] it holds\n- [ ] free");
    world.run(ac(&["--check", "2"])).json();
    world.run(["card", "note", "T-0001", "--text", "still open", "--json"]).json();
    let run = world.run(verify(&[])).json()["entries"][0].clone();
    assert_eq!(
        (&run["checked"], &run["criteria"], &run["writeError"]),
        (&json!([1]), &json!([1]), &Json::Null)
    );
    let same = world.run(["card", "show", "T-0001"]).json()["verify"].clone();
    let patch = call(["card", "patch", "T-0001", "--json-input", "-", "--json"]);
    let error =
        world.run(patch.stdin(json!({"verify": same}).to_string())).fails(1, "CARD_VERIFY_CRITERION_UNKNOWN");
    assert_eq!(error["details"]["bindings"], json!([{"entry": "a", "digest": digest("gone")}]));
}

#[test]
fn what_the_configuration_does_not_declare_never_runs() {
    let body = "## Acceptance\n\n- [ ] it holds";
    let good = entry("good", "sh, check.sh", &["it holds"]);
    for (bad, code, details) in [
        (
            entry("bad", "sh, -c, touch ran", &[]),
            "CARD_VERIFY_COMMAND_NOT_ALLOWED",
            json!({"id": "T-0001", "entry": "bad", "run": ["sh", "-c", "touch ran"], "declared": [["sh", "check.sh"], ["./none"]]}),
        ),
        (
            "  - id: bad\n    run: sh check.sh".to_owned(),
            "CARD_VERIFY_RUN_INVALID",
            json!({"id": "T-0001", "entry": "bad", "run": "sh check.sh"}),
        ),
        (
            "  - id: bad\n    shell: [\"yes\"]".to_owned(),
            "CARD_VERIFY_KEY_UNKNOWN",
            json!({"id": "T-0001", "keys": ["shell"]}),
        ),
    ] {
        let world = proved(world("touch ran"), &[good.clone(), bad], body);
        let before = records(&world);
        for words in [&[][..], &["--only", "good"]] {
            let error = world.run(verify(words)).fails(1, code);
            assert_eq!(error["details"], details);
        }
        assert_eq!(records(&world), before);
    }
    let nothing_declared = World::new().file("check.sh", "touch ran");
    let world = proved(nothing_declared, &[good], body);
    world.run(verify(&[])).fails(1, "CARD_VERIFY_COMMAND_NOT_ALLOWED");
    assert!(!world.root.join("ran").exists());
}

#[test]
fn what_cannot_be_meant_is_refused_before_anything_runs() {
    let world = proved(world("touch ran"), &[entry("a", "sh, check.sh", &[])], "Body.");
    for (words, code) in [
        (&["--dry-run"][..], "CLI_FLAG_UNSUPPORTED"),
        (&["--only", ""], "CLI_ARGUMENT_INVALID"),
        (&["--only", "a,b"], "CARD_VERIFY_ENTRY_UNKNOWN"),
        (&["--base", "main"], "CLI_ARGUMENT_INVALID"),
        (&["--changed", "--base", "main"], "CLI_ARGUMENT_CONFLICT"),
    ] {
        world.run(verify(words)).fails(1, code);
    }
    let changed = |words: &[&str]| call(["card", "verify", "--changed", "--json"]).words(words);
    world.run(changed(&[])).fails(1, "CARD_VERIFY_NO_BASE");
    world.run(changed(&["--base", ""])).fails(1, "CARD_VERIFY_NO_BASE");
    world.run(changed(&["--base", "main", "--only", "a"])).fails(1, "CLI_ARGUMENT_CONFLICT");
    world.run(["card", "verify"]).fails(1, "CLI_ARGUMENT_REQUIRED");
    let twin = world.read(CARD);
    let world = world.file(".project/cards/T-0001-twin.md", twin);
    world.run(verify(&[])).fails(3, "CARD_ID_AMBIGUOUS");
    assert!(!world.root.join("ran").exists());
}

#[test]
fn people_see_what_ran_and_the_end_of_what_it_said() {
    let script = "if [ $1 = bad ]; then seq 1 20; echo puddle >&2; exit 4; fi";
    let entries =
        [entry("good", "sh, check.sh, good", &["it holds"]), entry("bad", "sh, check.sh, bad", &["dry"])];
    let world = proved(world(script), &entries, "## Acceptance\n\n- [ ] it holds\n- [x] dry");
    let ended = world.run(["card", "verify", "T-0001"]).ended;
    let stdout = text(&ended.stdout);
    let rows: Vec<&str> = stdout.lines().collect();
    assert!(rows[0].starts_with("good\tpassed\t") && rows[0].ends_with(" s\tchecked #1"), "{stdout}");
    assert!(
        rows[1].starts_with("bad\tfailed\t") && rows[1].ends_with(" s\texit 4, unchecked #2"),
        "{stdout}"
    );
    assert_eq!((rows[2], rows[3]), ("stdout of bad:", "  9"));
    assert!(
        stdout.ends_with("  20\nstderr of bad:\n  puddle\nT-0001: 1 of 2 criteria checked\n"),
        "{stdout}"
    );
    assert_eq!((ended.code, text(&ended.stderr)), (Some(1), ""), "a pipe sees nothing of what runs");
}

#[test]
fn a_terminal_sees_what_runs_and_then_nothing_of_it() {
    let world = proved(world("exit 0"), &[entry("quick", "sh, check.sh", &[])], "Body.").env("NO_COLOR", "1");
    let line = "T-0001: quick runs, 0 s";
    let blank = " ".repeat(line.len());
    let seen = shown(&world, 80, &["card", "verify", "T-0001"]).text();
    let rest = seen.strip_prefix(&format!("\r{line}\r{blank}\r")).unwrap_or_else(|| panic!("{seen:?}"));
    assert!(rest.starts_with("quick  passed  "), "{seen:?}");
    let json = shown(&world, 80, &["card", "verify", "T-0001", "--json"]).text();
    assert!(json.starts_with("{\n"), "{json:?}");
}

#[test]
fn an_interrupt_ends_the_command_and_its_children_first() {
    use rustix::process::{Pid, Signal, kill_process};
    // The pipe is what the test waits at: the number comes once everything runs.
    let script = "sleep 600 & echo $! > started; sleep 600";
    let verification = json!({"commands": [["sh", "check.sh"]], "timeoutSeconds": 600});
    let config = json!({"schemaVersion": 2, "cards": {"verification": verification}});
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let world = proved(world(script), &[entry("slow", "sh, check.sh", &[])], "Body.")
            .file("project.config.json", config.to_string());
        let pipe = world.root.join("started");
        assert!(world.process("mkfifo").arg(&pipe).status().unwrap().success());
        let mut command = world.process(env!("CARGO_BIN_EXE_workfile"));
        command.args(["card", "verify", "T-0001", "--json"]);
        let mut running = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
        let child = std::fs::read_to_string(&pipe).unwrap();
        kill_process(Pid::from_raw(i32::try_from(running.id()).unwrap()).unwrap(), signal).unwrap();
        let status = running.wait().unwrap();
        let ended_by = std::os::unix::process::ExitStatusExt::signal(&status);
        assert_eq!(ended_by, Some(signal.as_raw()), "{status:?}");
        assert!(is_gone(&child));
    }
}

#[test]
fn who_is_started_to_ignore_a_signal_goes_on_ignoring_it() {
    // What `nohup` does: the parent, which outlives its own signal, sends one to the program that started it.
    let script = "kill -HUP $PPID; exit 0";
    let world = proved(world(script), &[entry("quick", "sh, check.sh", &[])], "Body.");
    let mut command = world.process("sh");
    command.args([
        "-c",
        "trap '' HUP; exec \"$0\" card verify T-0001 --json",
        env!("CARGO_BIN_EXE_workfile"),
    ]);
    let ended = run_process(&mut command, b"");
    assert_eq!(ended.code, Some(0), "{ended:?}");
}
