//! What Git is asked: the commit that is checked out, the files of a branch.

use crate::world::World;
use workfile::work::git::{changed, head};

/// Runs Git in a folder of the world and returns what it prints.
pub(crate) fn git(world: &World, folder: &str, args: &[&str]) -> String {
    let output = world.process("git").current_dir(world.root.join(folder)).args(args).output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A repository on the branch `main`, one commit with what is there.
pub(crate) fn repository(world: World) -> World {
    git(&world, "", &["init", "-q", "-b", "main"]);
    commit(&world);
    world
}

pub(crate) fn commit(world: &World) {
    git(world, "", &["add", "-A"]);
    git(world, "", &["commit", "-q", "--allow-empty", "-m", "change"]);
}

#[test]
fn the_head_is_a_full_id_or_nothing() {
    let world = World::new();
    assert_eq!(head(&world.root), None, "no repository");
    git(&world, "", &["init", "-q"]);
    assert_eq!(head(&world.root), None, "no commit");
    commit(&world);
    assert_eq!(head(&world.root).unwrap(), git(&world, "", &["rev-parse", "HEAD"]));
    assert_eq!(head(&world.root).unwrap().len(), 40);
    assert_eq!(head(&world.root.join("nowhere")), None);
}

#[test]
fn a_repository_with_longer_ids_has_a_head() {
    let world = World::new();
    git(&world, "", &["init", "-q", "--object-format=sha256"]);
    commit(&world);
    assert_eq!(head(&world.root).unwrap().len(), 64);
}

#[test]
fn h31_the_files_of_a_branch_are_named_from_the_workspace_root() {
    let world =
        repository(World::new().file("sub/a.md", "a\n").file("sub/gone.md", "a\n").file("top.md", "a\n"));
    git(&world, "", &["switch", "-q", "-c", "work"]);
    std::fs::remove_file(world.root.join("sub/gone.md")).unwrap();
    let world = world.file("sub/a.md", "b\n").file("sub/é \"x\"\n.md", "b\n").file("top.md", "b\n");
    commit(&world);
    git(&world, "", &["switch", "-q", "main"]);
    let world = world.file("sub/theirs.md", "b\n");
    commit(&world);
    git(&world, "", &["switch", "-q", "work"]);
    assert_eq!(changed(&world.root.join("sub"), "main").unwrap(), ["a.md", "é \"x\"\n.md"]);
    assert_eq!(changed(&world.root, "refs/heads/main").unwrap().len(), 3);
    assert_eq!(changed(&world.root, "HEAD").unwrap(), [""; 0]);
}

#[test]
fn no_answer_is_never_an_empty_one() {
    let world = World::new();
    assert!(
        changed(&world.root, "main")
            .unwrap_err()
            .starts_with("git cannot answer: fatal: not a git repository")
    );
    let world = repository(world);
    let tree = git(&world, "", &["rev-parse", "HEAD^{tree}"]);
    for base in ["nowhere", &tree, "--output=x", "-", "", "main~1", "main..main", "a b", &"x".repeat(256)] {
        assert!(changed(&world.root, base).is_err(), "{base:?}");
    }
    assert!(!world.root.join("x").exists());

    git(&world, "", &["switch", "-q", "--orphan", "other"]);
    commit(&world);
    let no_base = changed(&world.root, "main").unwrap_err();
    assert!(no_base.contains("no merge base"), "{no_base}");
}

#[test]
fn a_clone_without_history_gives_no_answer() {
    let world = repository(World::new().file("repo/a.md", "a\n"));
    git(&world, "", &["switch", "-q", "-c", "work"]);
    let world = world.file("repo/a.md", "b\n");
    commit(&world);
    git(&world, "", &["switch", "-q", "main"]);
    let world = world.file("repo/b.md", "b\n");
    commit(&world);
    let from = format!("file://{}", world.root.display());
    git(&world, "..", &["clone", "-q", "--depth=1", "--no-single-branch", "-b", "work", &from, "clone"]);
    let clone = world.base().join("clone");
    assert!(head(&clone).is_some());
    assert!(changed(&clone, "origin/main").is_err());
}
