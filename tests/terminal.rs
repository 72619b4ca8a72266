//! What stands on a terminal: columns that fit it, colour where it is wanted, nothing that moves the cursor.

use crate::process::{Run, run_process};
use crate::world::World;

/// Runs a command line on a terminal of so many columns; stdout and stderr are what it shows.
pub(crate) fn shown(world: &World, columns: usize, args: &[&str]) -> Run {
    typed(world, columns, args, "")
}

/// The same with keys that are typed.
pub(crate) fn typed(world: &World, columns: usize, args: &[&str], keys: &str) -> Run {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/terminal.py");
    let mut command = world.process("python3");
    command.args([script, &columns.to_string(), env!("CARGO_BIN_EXE_workfile")]).args(args);
    Run { ended: run_process(&mut command, keys.as_bytes()), what: format!("workfile {}", args.join(" ")) }
}

/// Three cards, one of them claimed.
fn world() -> World {
    World::new()
        .card("T-0001", |card| card.doing().claimed_as("ana@desk").title("Rework the rates of every berth"))
        .card("T-0002", |card| card.status("next").title("\u{1b}[2J\u{202e}x"))
        .card("T-0003", |card| card.status("done").title("漢字の題名"))
        .env("TERM", "xterm")
}

#[test]
fn a_terminal_gets_columns_and_a_pipe_tabs() {
    let world = world().env("NO_COLOR", "1");
    let title = "Rework the rates of every berth";
    let list = format!(
        "T-0001  doing  medium  ana@desk  {title}\n\
         T-0002  next   medium            \\u{{1b}}[2J\\u{{202e}}x\n\
         T-0003  done   medium            漢字の題名\n"
    );
    shown(&world, 80, &["card", "list"]).success(&list);
    let tabs = format!(
        "T-0001\tdoing\tmedium\t{title}\nT-0002\tnext\tmedium\t\u{1b}[2J\u{202e}x\nT-0003\tdone\tmedium\t漢字の題名\n"
    );
    world.run(["card", "list"]).success(&tabs);
    shown(&world, 80, &["next"])
        .success("T-0002  next  medium  \\u{1b}[2J\\u{202e}x  (queued next; priority medium)\n");
    let unclaimed = "T-0003  done  medium  漢字の題名\n";
    shown(&world, 80, &["card", "list", "--status", "done"]).success(unclaimed);
}

#[test]
fn a_row_fits_the_window_or_what_the_environment_says() {
    let world = world().env("NO_COLOR", "1").env("COLUMNS", "50");
    let wide = "T-0001  doing  medium  ana@desk  Rework the rates…\n";
    let narrow = "T-0003  done  medium  漢字の題…\n";
    shown(&world, 0, &["card", "list", "--status", "doing"]).success(wide);
    shown(&world, 31, &["card", "list", "--status", "done"]).success(narrow);
}

#[test]
fn colour_is_for_terminals_that_want_it() {
    let world = world();
    let list = ["card", "list", "--status", "doing"];
    let painted = shown(&world, 80, &list).text();
    assert!(
        painted.starts_with("\x1b[1mT-0001\x1b[0m  \x1b[36mdoing\x1b[0m  medium  ana@desk  R"),
        "{painted}"
    );
    let failed = shown(&world, 80, &["card", "show", "T-9"]).ended;
    let expected =
        "\x1b[31mCARD_NOT_FOUND\x1b[0m: there is no card T-9\n  try  \x1b[1mworkfile card list\x1b[0m\n";
    assert_eq!((failed.code, crate::process::text(&failed.stdout)), (Some(1), expected));
    assert!(!world.run(list).text().contains('\x1b'));
    let json = shown(&world, 80, &["card", "list", "--json", "--fields", "id,title"]).text();
    assert_eq!(json, world.run(["card", "list", "--json", "--fields", "id,title"]).text());
    for plain in [world.env("NO_COLOR", "1"), self::world().env("TERM", "dumb")] {
        let list = shown(&plain, 80, &list).text();
        assert!(!list.contains('\x1b') && list.starts_with("T-0001  doing  "), "{list}");
    }
}

#[test]
fn a_colour_that_is_switched_off_by_nothing_stays() {
    let world = world().env("NO_COLOR", "");
    assert!(shown(&world, 80, &["card", "list"]).text().contains("\x1b[1mT-0001"));
}

#[test]
fn init_asks_for_what_it_detected_and_writes_after_the_last_yes_only() {
    let world = || World::bare().file("apps/web/x", "").file("README.md", "").env("NO_COLOR", "1");
    let fresh = world();
    // The name as it is, an area that stands twice and then two, the documents as they are, both adapters, no CI, yes.
    let asked = typed(
        &fresh,
        100,
        &["init", "--docs", "README.md"],
        "\napi,api\napi, web\nagents-md,claude\nnone\ny\n",
    );
    let text = asked.text();
    for part in [
        "The project's name [workspace]: ",
        "Areas of cards, the default one first [web]: ",
        "--areas takes one or more areas, each once, not `api,api`",
        "Agent instructions: agents-md, claude, cursor, copilot, or none [agents-md]: ",
        "Continuous integration: github, gitlab, generic, or none [none]: ",
        "This makes a workspace in ",
        "Proceed? [Y/n] ",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("Patterns of documents ["), "what a flag says is not asked for: {text}");
    let schema = fresh.run(["schema", "--json"]).json();
    assert_eq!(schema["cards"]["areas"], serde_json::json!(["api", "web"]));
    assert!(
        fresh.read("CLAUDE.md").contains("kind=adapter-claude")
            && fresh.read("AGENTS.md").contains("kind=adapter")
    );
    fresh.run(["agents", "check"]).text();
    // No, and a terminal that closes at the first question and at the last.
    for keys in ["\n\n\n\n\nn\n", "\u{4}", "\n\n\n\n\n\u{4}"] {
        let world = world();
        let before = crate::compare::tree(&world.root);
        let ended = typed(&world, 100, &["init"], keys).ended;
        let shown = crate::process::text(&ended.stdout);
        assert_eq!(ended.code, Some(1), "{shown}");
        assert!(shown.contains("INIT_CANCELLED: cancelled; nothing was written"), "{shown}");
        assert_eq!(crate::compare::tree(&world.root), before);
    }
    // What is given or wanted without a question is not asked for.
    for args in [&["init", "--yes"][..], &["init", "--dry-run"]] {
        assert!(!typed(&world(), 100, args, "").text().contains("[Y/n]"));
    }
}
