//! What strangers, careless hands and full disks do to the command line.

use crate::world::World;
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
