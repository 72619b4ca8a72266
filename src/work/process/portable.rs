//! A program where there are no process groups: what it started outlives it.

use std::process::{Child, Command, ExitStatus};

pub(super) fn lead_a_group(_: &mut Command) {}

pub(super) fn has_ended(child: &mut Child) -> bool {
    !matches!(child.try_wait(), Ok(None))
}

pub(super) fn terminate(child: &mut Child) {
    kill(child);
}

pub(super) fn kill(child: &mut Child) {
    let _ = child.kill();
}

pub(super) fn is_anybody_left(child: &mut Child) -> bool {
    !has_ended(child)
}

pub(super) fn signal(_: ExitStatus) -> Option<String> {
    None
}
