//! One program run to its end: within a time, with a bounded part of its output, and with all that it started.
//!
//! On Unix the program leads a process group of its own, so that what ends it ends its children too. Its pipes are
//! drained while it runs, so that it never waits for us; and we never wait for a pipe that a process which outlived it
//! still holds.

#[cfg(unix)]
#[path = "process/unix.rs"]
mod system;
#[cfg(not(unix))]
#[path = "process/portable.rs"]
mod system;

use std::io::{self, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// Shortest and longest time between two looks at the program. A pipe that closes ends the time at once.
const PAUSE: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(50)];
/// How long we wait for what must be over at once: the pipes of a program that has ended, a group that was killed.
const DRAIN: Duration = Duration::from_millis(500);
/// Most that is read at once.
const CHUNK: usize = 64 * 1024;
/// How many chunks may wait.
const WAITING: usize = 4;

/// What a program may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// How long it may run.
    pub(super) time: Duration,
    /// How long it has to end once it is told to.
    pub(super) grace: Duration,
    /// How many of the last bytes of each stream are kept.
    pub(super) keep: usize,
}

/// Whether a program may run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Go {
    /// It may.
    On,
    /// It is told to end; said again, it is killed.
    Stop,
}

/// What ended a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// Itself, or somebody else's signal.
    Itself,
    /// Its time.
    Time,
    /// [`Go::Stop`].
    Stop,
}

/// A program that has ended.
#[derive(Debug)]
pub(super) struct Ended {
    /// What ended it.
    pub(super) by: By,
    /// Its exit number, when it had one.
    pub(super) code: Option<i32>,
    /// The name of the signal that killed it.
    pub(super) signal: Option<String>,
    /// How long it ran.
    pub(super) took: Duration,
    /// What it printed.
    pub(super) stdout: Tail,
    /// What it complained about.
    pub(super) stderr: Tail,
}

/// Runs a program with nothing on its stdin; the error is why it did not start. `watch` is asked many times a second,
/// with the time since the start.
pub(super) fn run(
    command: &mut Command,
    limits: Limits,
    watch: &mut dyn FnMut(Duration) -> Go,
) -> io::Result<Ended> {
    system::lead_a_group(command);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let start = Instant::now();
    let mut running = Running::new(command.spawn()?, limits.keep);
    let by = loop {
        let so_far = start.elapsed();
        if watch(so_far) == Go::Stop {
            break By::Stop;
        }
        if system::has_ended(&mut running.child) {
            break By::Itself;
        }
        let Some(left) = limits.time.checked_sub(so_far).filter(|left| !left.is_zero()) else {
            break By::Time;
        };
        running.turn(left);
    };
    if by != By::Itself {
        running.end(limits.grace, &mut || watch(start.elapsed()));
    }
    let status = running.child.wait();
    let took = start.elapsed();
    running.drain();
    let Running { tails: [stdout, stderr], .. } = running;
    let (code, signal) = status.map_or((None, None), |status| (status.code(), system::signal(status)));
    Ok(Ended { by, code, signal, took, stdout, stderr })
}

/// The last bytes of a stream.
#[derive(Debug)]
pub(super) struct Tail {
    bytes: Vec<u8>,
    keep: usize,
    cut: bool,
}

impl Tail {
    fn new(keep: usize) -> Self {
        Self { bytes: Vec::new(), keep, cut: false }
    }

    fn push(&mut self, chunk: &[u8]) {
        self.bytes.extend_from_slice(chunk);
        // Not at every chunk: moving the rest to the front costs as much as is kept.
        if self.bytes.len() > self.keep.saturating_mul(2) {
            self.trim();
        }
    }

    fn trim(&mut self) {
        let over = self.bytes.len().saturating_sub(self.keep);
        self.cut |= over > 0;
        self.bytes.drain(..over);
    }

    /// The bytes, and whether there were more.
    pub(super) fn take(mut self) -> (Vec<u8>, bool) {
        self.trim();
        (self.bytes, self.cut)
    }

    /// The same as text; a character that the cut went through is left out.
    pub(super) fn text(self) -> (String, bool) {
        let (bytes, cut) = self.take();
        let whole = bytes.iter().take(3).take_while(|byte| cut && (**byte & 0xc0) == 0x80).count();
        (String::from_utf8_lossy(&bytes[whole..]).into_owned(), cut)
    }
}

/// What comes from the pipes.
enum Event {
    Bytes(usize, Vec<u8>),
    Closed,
}

struct Running {
    child: Child,
    events: Receiver<Event>,
    open: usize,
    tails: [Tail; 2],
    pause: Duration,
}

impl Running {
    fn new(mut child: Child, keep: usize) -> Self {
        let (sender, events) = sync_channel(WAITING);
        let mut open = 0;
        if let Some(stdout) = child.stdout.take() {
            forward(0, stdout, sender.clone());
            open += 1;
        }
        if let Some(stderr) = child.stderr.take() {
            forward(1, stderr, sender);
            open += 1;
        }
        Self { child, events, open, tails: [Tail::new(keep), Tail::new(keep)], pause: PAUSE[0] }
    }

    /// Waits for something to happen, and not longer than `most`.
    fn turn(&mut self, most: Duration) {
        let wait = self.pause.min(most);
        match self.events.recv_timeout(wait) {
            Ok(Event::Bytes(stream, bytes)) => self.tails[stream].push(&bytes),
            Ok(Event::Closed) => {
                self.open -= 1;
                self.pause = PAUSE[0];
            }
            Err(error) => {
                if error == RecvTimeoutError::Disconnected {
                    std::thread::sleep(wait);
                }
                self.pause = (self.pause * 2).min(PAUSE[1]);
            }
        }
    }

    /// Ends the program and its children: politely, and after the grace, or when `watch` insists, by force.
    fn end(&mut self, grace: Duration, watch: &mut dyn FnMut() -> Go) {
        system::terminate(&mut self.child);
        self.pause = PAUSE[0];
        if !self.all_end_within(grace, watch) {
            system::kill(&mut self.child);
            self.all_end_within(DRAIN, &mut || Go::On);
        }
    }

    /// Whether nobody of the group is left after this time at the latest.
    fn all_end_within(&mut self, time: Duration, watch: &mut dyn FnMut() -> Go) -> bool {
        let until = Instant::now() + time;
        while system::is_anybody_left(&mut self.child) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || watch() == Go::Stop {
                return false;
            }
            self.turn(left);
        }
        true
    }

    /// Takes what is still in the pipes.
    fn drain(&mut self) {
        let until = Instant::now() + DRAIN;
        while self.open > 0 {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            self.turn(left);
        }
    }
}

/// Reads a pipe until it closes, or until nobody listens any more.
fn forward(stream: usize, mut pipe: impl Read + Send + 'static, to: SyncSender<Event>) {
    std::thread::spawn(move || {
        let mut buffer = vec![0; CHUNK];
        loop {
            match pipe.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) if to.send(Event::Bytes(stream, buffer[..read].to_vec())).is_err() => return,
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        let _ = to.send(Event::Closed);
    });
}

#[cfg(all(test, unix))]
mod tests;
