//! A program as the leader of a process group of its own.

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process_group, test_kill_process_group, waitid,
};
use signal_hook::low_level::signal_name;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};

pub(super) fn lead_a_group(command: &mut Command) {
    command.process_group(0);
}

/// The group is called like its leader.
fn group(child: &Child) -> Option<Pid> {
    Pid::from_raw(i32::try_from(child.id()).ok()?)
}

/// Whether the leader has ended. It is not reaped: as long as it is there, nobody else gets its number.
pub(super) fn has_ended(child: &mut Child) -> bool {
    let Some(id) = group(child) else { return true };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    match waitid(WaitId::Pid(id), options) {
        Ok(found) => found.is_some(),
        Err(Errno::INTR) => false,
        // Whoever started us has children reaped by the system.
        Err(_) => true,
    }
}

pub(super) fn terminate(child: &mut Child) {
    signal_group(child, Signal::TERM);
}

pub(super) fn kill(child: &mut Child) {
    signal_group(child, Signal::KILL);
}

fn signal_group(child: &Child, signal: Signal) {
    if let Some(group) = group(child) {
        let _ = kill_process_group(group, signal);
    }
}

/// Whether any process of the group is left. The leader is reaped, for as long as it is not the group seems to be
/// there; a number is not given again while it is that of a group.
pub(super) fn is_anybody_left(child: &mut Child) -> bool {
    match child.try_wait() {
        Ok(None) => true,
        _ => group(child).is_some_and(|group| test_kill_process_group(group) != Err(Errno::SRCH)),
    }
}

pub(super) fn signal(status: ExitStatus) -> Option<String> {
    let number = status.signal()?;
    Some(signal_name(number).map_or_else(|| number.to_string(), str::to_owned))
}
