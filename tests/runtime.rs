//! What a tree of files cannot show about the hooks: open pipes, many at once, what the system is asked for.

use crate::payload::{Payload, post, post_bash, post_edit, pre_edit, pre_write, start};
use crate::process::text;
use crate::world::{ACTIVITY, World};
use serde_json::json;
use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

fn bens_src() -> World {
    World::new().card("T-0001", |c| c.doing().claimed_by("ben").scope("src"))
}

/// Starts a hook without giving it anything.
fn begin(world: &World, payload: &Payload) -> (Child, Vec<u8>) {
    let (mut command, stdin) = world.hook_process(payload);
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    (piped.spawn().unwrap(), stdin)
}

#[test]
fn a_hook_answers_before_its_stdin_is_closed() {
    // Waiting for the end of a pipe that stays open would take the five seconds of silence.
    let patience = Duration::from_secs(5);
    for payload in [pre_edit("src/a.rs"), post_edit("lib/a.rs"), start("startup")] {
        let world = bens_src();
        let (mut child, stdin) = begin(&world, &payload);
        let mut input = child.stdin.take().unwrap();
        let started = Instant::now();
        let (first, second) = stdin.split_at(stdin.len() / 2);
        input.write_all(first).unwrap();
        input.write_all(second).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(started.elapsed() < patience, "{}", payload.event());
        drop(input);
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
        assert_eq!(output.stdout.is_empty(), payload.event() == "post-tool-use");
    }
}

#[test]
fn a_closed_stdout_is_no_error() {
    let world = bens_src();
    let (mut child, stdin) = begin(&world, &pre_edit("src/a.rs"));
    drop(child.stdout.take());
    child.stdin.take().unwrap().write_all(&stdin).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_payload_is_read_to_its_end_whatever_it_says() {
    let content = "x".repeat(1 << 20);
    for (world, tool) in [(bens_src(), "Write"), (bens_src(), "Read"), (World::bare(), "Write")] {
        for event in [crate::payload::pre, post] {
            let payload = event(tool, json!({"file_path": "{ROOT}/lib/a.rs", "content": content}));
            let (mut child, stdin) = begin(&world, &payload);
            child.stdin.take().unwrap().write_all(&stdin).unwrap();
            assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn fifteen_mebibytes_cost_no_memory() {
    let world = bens_src();
    let lines = |bytes: usize| "a line of a large file\\n".repeat(bytes / 24);
    let (large, small) = (lines(15 << 20), lines(1 << 20));
    let peak = |payload: &Payload, content: &str| {
        let (mut child, stdin) = begin(&world, payload);
        let filled = text(&stdin).replace("CONTENT", content);
        let (body, end) = filled.trim_end().split_at(filled.trim_end().len() - 1);
        let mut input = child.stdin.take().unwrap();
        // All but what the pipe holds has been read when this returns.
        input.write_all(body.as_bytes()).unwrap();
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        input.write_all(end.as_bytes()).unwrap();
        let answered = child.wait_with_output().unwrap();
        assert_eq!(answered.status.code(), Some(0));
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().unwrap();
        (kilobytes, answered.stdout.is_empty())
    };
    let write = |path: &str| crate::payload::pre("Write", json!({"content": "CONTENT", "file_path": path}));
    let edit = post_edit("lib/a.rs").with("tool_response", json!({"originalFile": "CONTENT"}));
    for (payload, silent) in
        [(write("{ROOT}/src/a.rs"), false), (write("{ROOT}/lib/a.rs"), true), (edit, true)]
    {
        let (usual, _) = peak(&payload, &small);
        let (most, said_nothing) = peak(&payload, &large);
        assert!(most < usual + 1024, "{most} kB for fifteen mebibytes, {usual} kB for one");
        assert_eq!(said_nothing, silent);
    }
}

#[test]
fn a_payload_over_the_limit_is_no_payload() {
    let content = "x".repeat(17 << 20);
    let payload = crate::payload::pre("Write", json!({"content": content, "file_path": "{ROOT}/src/a.rs"}));
    bens_src().hook(payload).fails_open();
}

#[test]
fn two_hundred_hooks_of_one_session_lose_no_line() {
    let world = World::new();
    let one = |number: usize| {
        let edit = post_edit(&format!("src/f{number:03}.rs")).with("tool_use_id", format!("toolu_{number}"));
        world.hook(edit).silent();
    };
    std::thread::scope(|scope| {
        for number in 0..200 {
            scope.spawn(move || one(number));
        }
    });
    let lines = world.ledger();
    assert_eq!(lines.len(), 200);
    let paths: BTreeSet<_> = lines.iter().map(|line| line["path"].as_str().unwrap()).collect();
    assert_eq!(paths.len(), 200);
    assert_eq!(crate::compare::temporary(&crate::compare::tree(&world.root)), Vec::<&str>::new());
}

#[test]
fn a_claim_that_another_tool_writes_is_seen_by_the_next_edit() {
    let world = World::new().card("T-0001", |c| c.status("next")).settled();
    world.hook(pre_edit("src/a.rs")).silent();
    let other = bens_src().read(".project/cards/T-0001-card.md");
    world.write("new.md", other);
    std::fs::rename(world.root.join("new.md"), world.root.join(".project/cards/T-0001-card.md")).unwrap();
    world.hook(pre_edit("src/a.rs")).asks("T-0001", "ben");
    std::fs::remove_file(world.root.join(".project/cards/T-0001-card.md")).unwrap();
    world.hook(pre_edit("src/a.rs")).silent();
}

/// Fifty claims of ben's, their board built and fresh.
fn fifty_claims() -> World {
    let card = |world: World, number: u32| {
        let scope = format!("packages/part-{number}/src, packages/part-{number}/test");
        world.card(&format!("T-{number:04}"), |c| c.doing().claimed_by("ben").scope(&scope))
    };
    let world = (1..=50).fold(World::new(), card);
    let world = world.file("packages/part-7/src/a.rs", "x\n").file("lib/a.rs", "x\n").settled();
    world.hook(start("startup")).tells(&["50 cards are claimed"]);
    assert!(
        world.read(&format!("{ACTIVITY}/board.json")).contains("\"cardsMtimeNs\":\"1"),
        "the board is fresh"
    );
    world
}

#[cfg(target_os = "linux")]
mod calls {
    //! System calls of one event, counted over those of a process that does nothing.

    use super::*;
    use crate::process::run_process;

    /// What a hook asked the system for.
    struct Traced {
        lines: Vec<String>,
        stdout: Vec<u8>,
    }

    impl Traced {
        fn count(&self, wanted: impl Fn(&str) -> bool) -> usize {
            self.lines.iter().filter(|line| wanted(name(line))).count()
        }

        /// Bytes read from anything but stdin.
        fn bytes_read(&self) -> u64 {
            let reads = self
                .lines
                .iter()
                .filter(|line| matches!(name(line), "read" | "pread64" | "readv") && !line.contains("(0, "));
            reads.filter_map(|line| line.rsplit(" = ").next()?.parse::<u64>().ok()).sum()
        }

        /// Files opened, directories and mere handles aside.
        fn files_opened(&self) -> usize {
            let opens = self.lines.iter().filter(|line| name(line).starts_with("open"));
            opens.filter(|line| !line.contains("O_DIRECTORY") && !line.contains("O_PATH")).count()
        }

        /// Files opened for writing, renamed, removed or made, and writes to anything but stdout and stderr.
        fn changes(&self) -> Vec<&str> {
            let changing = |line: &&str| match name(line) {
                "open" | "openat" => ["O_WRONLY", "O_RDWR", "O_CREAT"].iter().any(|flag| line.contains(flag)),
                "write" | "writev" | "pwrite64" => !line.contains("(1, ") && !line.contains("(2, "),
                other => ["rename", "unlink", "mkdir", "link", "truncate", "chmod"]
                    .iter()
                    .any(|part| other.contains(part)),
            };
            let lines = self.lines.iter().map(String::as_str);
            lines.filter(|line| !name(line).contains("readlink")).filter(changing).collect()
        }
    }

    /// `openat` of `4711 openat(AT_FDCWD, …`.
    fn name(line: &str) -> &str {
        line.split('(').next().unwrap_or_default().rsplit(' ').next().unwrap_or_default()
    }

    /// Runs a hook under strace; `None`, said aloud, where that is not possible.
    fn trace(world: &World, payload: &Payload) -> Option<Traced> {
        let (hook, stdin) = world.hook_process(payload);
        let log = world.base().join("trace");
        let mut strace = world.process("strace");
        strace.args(["-f", "-qq", "-s", "0", "-e", "signal=none", "-o"]).arg(&log);
        strace.arg(hook.get_program()).args(hook.get_args());
        strace.envs(hook.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let works = world.process("strace").args(["-qq", "-o", "/dev/null", "true"]).status();
        if !works.is_ok_and(|status| status.success()) {
            // Not `eprintln`: the test harness would keep that to itself.
            let skipped = b"SKIPPED: system calls are not counted, strace cannot run here\n";
            std::io::stderr().write_all(skipped).unwrap();
            return None;
        }
        let ended = run_process(&mut strace, &stdin);
        assert_eq!((ended.code, text(&ended.stderr)), (Some(0), ""));
        let lines = std::fs::read_to_string(&log).unwrap();
        // Debug builds of the standard library look at every descriptor once more before they close it.
        let counts =
            |line: &&str| line.contains('(') && !(cfg!(debug_assertions) && line.contains(", F_GETFD)"));
        let lines = lines.lines().filter(counts).map(str::to_owned).collect();
        Some(Traced { lines, stdout: ended.stdout })
    }

    /// The same program, doing nothing.
    fn nothing(world: &World) -> Option<Traced> {
        trace(world, &pre_edit("lib/a.rs").env_var("WORKFILE_HOOKS", "off"))
    }

    fn over(traced: &Traced, nothing: &Traced) -> usize {
        traced.lines.len() - nothing.lines.len()
    }

    /// No process, thread, socket or second program, whatever the event.
    #[track_caller]
    fn assert_alone(traced: &Traced) {
        let others = ["clone", "clone3", "fork", "vfork", "socket", "connect"];
        assert_eq!(traced.count(|call| others.contains(&call)), 0);
        assert_eq!(traced.count(|call| call == "execve"), 1);
    }

    #[test]
    fn a_silent_edit_costs_one_small_file() {
        let world = fifty_claims();
        let Some(nothing) = nothing(&world) else { return };
        let traced = trace(&world, &pre_edit("lib/a.rs")).unwrap();
        assert_alone(&traced);
        assert!(traced.stdout.is_empty());
        assert_eq!(
            traced.count(|call| call.starts_with("getdents")),
            0,
            "a listing while the board is fresh"
        );
        assert_eq!(traced.changes(), nothing.changes());
        assert_eq!(traced.files_opened(), nothing.files_opened() + 1);
        assert!(traced.bytes_read() - nothing.bytes_read() <= 64 << 10);
        let (cost, calls) = (over(&traced, &nothing), traced.lines.join("\n"));
        assert!(cost <= 16, "{cost} system calls over nothing:\n{calls}");
    }

    #[test]
    fn an_ask_writes_once_and_to_stdout() {
        let world = fifty_claims();
        let Some(nothing) = nothing(&world) else { return };
        let traced = trace(&world, &pre_edit("packages/part-7/src/a.rs")).unwrap();
        assert_alone(&traced);
        assert!(text(&traced.stdout).contains("T-0007 is held by"));
        assert_eq!(traced.changes(), nothing.changes());
        assert_eq!(traced.lines.iter().filter(|line| name(line).starts_with("write")).count(), 1);
        let cost = over(&traced, &nothing);
        assert!(cost <= 70 - 32, "{cost} system calls over nothing:\n{}", traced.lines.join("\n"));
    }

    #[test]
    fn a_stale_board_costs_five_calls_a_card() {
        let world = fifty_claims();
        let Some(nothing) = nothing(&world) else { return };
        world.age(".project/cards", 3_600_000);
        let traced = trace(&world, &pre_edit("lib/a.rs")).unwrap();
        assert_alone(&traced);
        assert!(traced.bytes_read() - nothing.bytes_read() <= (64 << 10) + 50 * 4096);
        let cost = over(&traced, &nothing);
        assert!(cost <= 70 - 32 + 5 * 50, "{cost} system calls over nothing:\n{}", traced.lines.join("\n"));
    }

    #[test]
    fn a_signal_costs_one_replaced_file() {
        let world = fifty_claims();
        let Some(nothing) = nothing(&world) else { return };
        let read = post("Read", json!({"file_path": "{ROOT}/lib/a.rs"}));
        world.hook(read.clone()).silent();
        for (payload, most, renamed) in [(read, 85 - 32, 1), (post_edit("lib/a.rs"), 95 - 32, 1)] {
            let traced = trace(&world, &payload).unwrap();
            assert_alone(&traced);
            let cost = over(&traced, &nothing);
            assert!(cost <= most, "{cost} system calls over nothing:\n{}", traced.lines.join("\n"));
            assert_eq!(traced.count(|call| call.starts_with("rename")), renamed);
        }
    }

    #[test]
    fn a_scan_asks_once_an_entry() {
        let world = fifty_claims();
        let Some(nothing) = nothing(&world) else { return };
        for number in 0..1000 {
            world.write(&format!("packages/part-1/src/f{number:04}"), "");
        }
        let world = world.settled().session("ann", 60_000, &json!({}));
        world.hook(pre_edit("lib/a.rs")).silent();
        let traced = trace(&world, &post_bash("make")).unwrap();
        assert_alone(&traced);
        let cost = over(&traced, &nothing);
        // Two entries a card, most of which do not exist, and the thousand files.
        assert!(cost <= 85 - 32 + 30 + 100 * 3 + 1000 * 131 / 100, "{cost} system calls over nothing");
    }

    #[test]
    fn a_start_costs_a_few_calls_a_card() {
        let world = fifty_claims();
        let Some(nothing) = nothing(&world) else { return };
        let traced = trace(&world, &start("startup").by("eve")).unwrap();
        assert_alone(&traced);
        let cost = over(&traced, &nothing);
        assert!(
            cost <= 120 - 32 + 5 * 50 + 4 * 2,
            "{cost} system calls over nothing:\n{}",
            traced.lines.join("\n")
        );
    }
}

#[test]
fn a_write_in_a_foreign_scope_is_asked_about_as_an_edit_is() {
    bens_src().hook(pre_write("src/new.rs")).asks("T-0001", "ben");
}
