//! The recorded command lines, each in a workspace of its own. What the parts of a case mean is in `golden/README.md`.

use crate::compare::{Entry, Kind, Placeholders, Tree, equal, tree};
use crate::golden::{Archive, Findings, run_all};
use crate::process::{Ended, call};
use crate::world::{ACTIVITY, World};
use serde_json::{Map, Value as Json};
use std::path::Path;

/// Cases for commands that are not there yet.
const LATER: &[&str] = &[];

#[test]
fn every_recorded_command_line_does_what_was_recorded() {
    run_all("records", LATER, |_, archive| {
        let case: Json = serde_json::from_str(archive.text("case.json")).unwrap();
        RecordCase::new(archive, &case).run()
    });
}

struct RecordCase<'a> {
    archive: &'a Archive,
    case: &'a Json,
    world: World,
    placeholders: Placeholders<'static>,
}

impl<'a> RecordCase<'a> {
    fn new(archive: &'a Archive, case: &'a Json) -> Self {
        let mut world = World::bare().env("WORKFILE_CLOCK", case["clock"].as_str().unwrap());
        for (path, bytes) in archive.below("before") {
            if path.ends_with('/') {
                std::fs::create_dir_all(world.root.join(path)).unwrap();
            } else {
                world = world.file(path, bytes);
            }
        }
        let commit = case.get("git").map(|_| commit(&world));
        let placeholders = Placeholders(vec![
            ("<MESSAGE>", Kind::Text),
            ("<ROOT>", Kind::Exactly(world.root.display().to_string())),
            ("<MS>", Kind::Number),
            ("<TIMESTAMP>", Kind::Time),
            ("<COMMIT>", Kind::Exactly(commit.unwrap_or_else(|| "no commit here".to_owned()))),
            ("<REVISION>", Kind::Revision),
        ]);
        Self { archive, case, world, placeholders }
    }

    fn run(&self) -> Findings {
        let mut found = Findings::new();
        for (index, step) in self.case["steps"].as_array().unwrap().iter().enumerate() {
            let argv: Vec<&str> =
                step["argv"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
            let at = format!("step {} ({})", index + 1, argv[..argv.len().min(3)].join(" "));
            let ended = self.step(&argv, step);
            equal(&format!("{at} exit"), &step["exit"].as_i64(), &ended.code.map(i64::from), &mut found);
            self.check_output(&at, step, &argv, &ended, &mut found);
        }
        self.check_after(&mut found);
        found
    }

    fn step(&self, argv: &[&str], step: &Json) -> Ended {
        let nothing = Map::new();
        let mut env = self.case["env"].as_object().unwrap().clone();
        env.extend(step.get("env").map_or(&nothing, |env| env.as_object().unwrap()).clone());
        let mut asked =
            call([]).words(argv).stdin(step.get("stdin").map_or("", |text| text.as_str().unwrap()));
        for (name, value) in env.iter().filter_map(|(name, value)| Some((name, value.as_str()?))) {
            asked = asked.env(name, value);
        }
        self.world.run(asked).ended
    }

    fn check_output(&self, at: &str, step: &Json, argv: &[&str], ended: &Ended, found: &mut Findings) {
        for (stream, bytes) in [("stdout", &ended.stdout), ("stderr", &ended.stderr)] {
            let Some(file) = step.get(stream).map(|file| file.as_str().unwrap()) else { continue };
            let at = format!("{at} {stream}");
            let text = String::from_utf8_lossy(bytes);
            let want = self.archive.text(file);
            if Path::new(file).extension().is_none_or(|end| end != "json") {
                self.placeholders.text(&at, want, &text, found);
                continue;
            }
            let Ok(got) = serde_json::from_str::<Json>(&text) else {
                found.push(format!("{at}: one JSON value is due, got {text:?}"));
                continue;
            };
            if stream == "stdout" {
                equal(
                    &at,
                    &format!("{}\n", serde_json::to_string_pretty(&got).unwrap()),
                    &text.to_string(),
                    found,
                );
            }
            self.placeholders.json(&at, &serde_json::from_str(want).unwrap(), &got, found);
        }
        if step["exit"] != 0 && argv.contains(&"--json") && step.get("stderr").is_some() {
            equal(&format!("{at} stdout"), &"", &&*String::from_utf8_lossy(&ended.stdout), found);
        }
    }

    /// Every recorded file stands there byte for byte, and nothing else does; the cache counts where it is recorded.
    fn check_after(&self, found: &mut Findings) {
        let unchanged = self.case["after"] == "unchanged";
        let recorded = self.archive.below(if unchanged { "before" } else { "after" });
        let mut want: Tree = recorded
            .filter(|(path, _)| !(unchanged && is_cache(path)))
            .map(|(path, bytes)| (path.to_owned(), Entry::File(bytes.to_vec())))
            .collect();
        let mut got = tree(&self.world.root);
        got.retain(|path, entry| {
            let counts = want.contains_key(path) || !is_cache(path) && !path.starts_with(".git/");
            counts && *entry != Entry::Directory
        });
        let board = format!("{ACTIVITY}/board.json");
        if let (Some(Entry::File(wanted)), Some(Entry::File(gotten))) = (want.get(&board), got.get(&board)) {
            let wanted = serde_json::from_slice(wanted).unwrap();
            let mut gotten: Json = serde_json::from_slice(gotten).unwrap();
            // What `hooks.md` 6.2 adds to the board that was recorded.
            for key in ["v", "cardsMtimeNs", "aliases"] {
                gotten.as_object_mut().unwrap().shift_remove(key);
            }
            self.placeholders.json(&board, &wanted, &gotten, found);
            want.remove(&board);
            got.remove(&board);
        }
        self.placeholders.tree("", &want, &got, found);
    }
}

fn is_cache(path: &str) -> bool {
    path.starts_with(".project/.cache/")
}

/// Makes the workspace a repository with one commit and returns its id.
fn commit(world: &World) -> String {
    let git = |args: &[&str]| {
        let output = world.process("git").args(["-c", "core.autocrlf=false"]).args(args).output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "before"]);
    git(&["rev-parse", "HEAD"])
}
