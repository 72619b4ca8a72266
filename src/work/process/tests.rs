//! Programs that end well, badly, late, or leave somebody behind.

use super::*;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};

const LIMITS: Limits = Limits { time: Duration::from_secs(60), grace: Duration::from_secs(60), keep: 65_536 };
const SHORT: Limits =
    Limits { time: Duration::from_millis(300), grace: Duration::from_millis(100), ..LIMITS };

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

fn sh(script: &str, limits: Limits) -> Ended {
    run(&mut shell(script), limits, &mut |_| Go::On).unwrap()
}

fn printed(ended: Ended) -> (String, String) {
    (ended.stdout.text().0, ended.stderr.text().0)
}

/// The process whose number a script has printed.
fn pid(ended: Ended) -> Pid {
    let text = printed(ended).0;
    Pid::from_raw(text.trim().parse().unwrap_or_else(|_| panic!("no number: {text:?}"))).unwrap()
}

/// Whether nothing runs under this number; what nobody has reaped yet does not run.
fn is_gone(pid: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    stat.contains(") Z") || test_kill_process(pid).is_err()
}

#[test]
fn a_program_ends_by_itself() {
    let ended = sh("echo out; echo err >&2; exit 4", LIMITS);
    assert_eq!((ended.by, ended.code, ended.signal.as_deref()), (By::Itself, Some(4), None));
    assert_eq!(printed(ended), ("out\n".to_owned(), "err\n".to_owned()));

    let closed = sh("exec >&- 2>&-; exit 3", LIMITS);
    assert_eq!((closed.by, closed.code), (By::Itself, Some(3)));

    let killed = sh("kill -9 $$", LIMITS);
    assert_eq!((killed.by, killed.code, killed.signal.as_deref()), (By::Itself, None, Some("SIGKILL")));
}

#[test]
fn a_program_that_is_not_there_does_not_start() {
    assert!(run(&mut Command::new("./no such program"), LIMITS, &mut |_| Go::On).is_err());
}

#[test]
fn nothing_stands_on_stdin() {
    assert_eq!(printed(sh("cat; echo end", LIMITS)).0, "end\n");
}

#[test]
fn the_time_ends_the_children_too() {
    let ended = sh("sleep 600 & echo $!; sleep 600", SHORT);
    assert_eq!((ended.by, ended.code, ended.signal.as_deref()), (By::Time, None, Some("SIGTERM")));
    assert!(is_gone(pid(ended)));
}

#[test]
fn who_does_not_want_to_end_is_killed() {
    let ended = sh("trap '' TERM; sleep 600 & echo $!; wait", SHORT);
    assert_eq!((ended.by, ended.signal.as_deref()), (By::Time, Some("SIGKILL")));
    assert!(is_gone(pid(ended)));
}

#[test]
fn a_child_that_does_not_want_to_end_is_killed_though_its_parent_has_ended() {
    let ended = sh("(trap '' TERM; while :; do sleep 1; done) & echo $!; wait", SHORT);
    assert_eq!((ended.by, ended.signal.as_deref()), (By::Time, Some("SIGTERM")));
    assert!(is_gone(pid(ended)));
}

#[test]
fn who_is_told_to_stop_ends_and_who_is_told_twice_is_killed() {
    let mut said = [Go::Stop].into_iter();
    let mut once = |_| said.next().unwrap_or(Go::On);
    let ended = run(&mut shell("sleep 600"), LIMITS, &mut once).unwrap();
    assert_eq!((ended.by, ended.signal.as_deref()), (By::Stop, Some("SIGTERM")));

    // It says so once it no longer listens.
    let ready = tempfile::tempdir().unwrap();
    let ready = ready.path().join("ready");
    let script = format!("trap '' TERM; echo > '{}'; while :; do sleep 1; done", ready.display());
    let mut stop = |_| if ready.exists() { Go::Stop } else { Go::On };
    let ended = run(&mut shell(&script), LIMITS, &mut stop).unwrap();
    assert_eq!((ended.by, ended.signal.as_deref()), (By::Stop, Some("SIGKILL")));
}

#[test]
fn a_child_that_stays_and_holds_the_pipes_is_not_waited_for() {
    let ended = sh("sleep 600 & echo $!", LIMITS);
    assert_eq!((ended.by, ended.code), (By::Itself, Some(0)));
    let child = pid(ended);
    assert!(!is_gone(child));
    kill_process(child, Signal::KILL).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn a_child_that_has_left_the_group_is_not_waited_for_either() {
    let ended = sh("setsid sh -c 'echo $$; exec sleep 600' & sleep 600", SHORT);
    assert_eq!((ended.by, ended.signal.as_deref()), (By::Time, Some("SIGTERM")));
    let child = pid(ended);
    assert!(!is_gone(child));
    kill_process(child, Signal::KILL).unwrap();
}

#[test]
fn of_a_flood_the_end_is_kept() {
    let ended = sh("head -c 10000000 /dev/zero | tr '\\0' x; echo end; echo small >&2", LIMITS);
    assert_eq!(ended.code, Some(0));
    let (out, cut) = ended.stdout.text();
    assert!(cut && out.len() == LIMITS.keep && out.ends_with("xxend\n"), "{} bytes", out.len());
    assert_eq!(ended.stderr.text(), ("small\n".to_owned(), false));
}

#[test]
fn a_tail_stays_small_and_begins_at_a_character() {
    let mut tail = Tail::new(10);
    for _ in 0..10_000 {
        tail.push(b"0123456");
    }
    assert!(tail.bytes.capacity() < 100, "{}", tail.bytes.capacity());
    tail.push("é€é".as_bytes());
    tail.push(b"abcdef");
    assert_eq!(tail.text(), ("éabcdef".to_owned(), true));

    let mut whole = Tail::new(10);
    whole.push(b"\x80abcdefghi");
    assert_eq!(whole.text(), ("\u{fffd}abcdefghi".to_owned(), false));
}

#[test]
fn the_watch_sees_the_time_pass() {
    let mut seen = Vec::new();
    let mut watch = |so_far| {
        seen.push(so_far);
        if seen.len() >= 3 { Go::Stop } else { Go::On }
    };
    assert_eq!(run(&mut shell("sleep 600"), LIMITS, &mut watch).unwrap().by, By::Stop);
    assert!(seen.is_sorted() && seen.len() >= 3, "{seen:?}");
}
