//! What waits, what runs, and in which order answers leave.
//!
//! Jobs start in the order of their requests: readers side by side, a writer alone, after everything before it and before
//! everything behind it. Answers leave in the order of the requests too, unless one of them is slow. The reader of the
//! input never waits for work, so a cancellation is acted on while the call that it means still runs.

use super::message::{Id, Key};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A request that runs longer than this stops holding back the answers behind it.
const PATIENCE: Duration = Duration::from_millis(250);

/// No call runs longer.
const LONGEST: Duration = Duration::from_secs(30);

/// How many bytes may wait on either side before the reader and the workers pause.
const BACKLOG: usize = 64 * 1024 * 1024;

/// Whether a job may run beside others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// It only reads.
    Read,
    /// It writes, alone.
    Write,
}

/// Says whether anybody still waits for a call.
#[derive(Debug)]
pub(super) struct Stop {
    cancelled: AtomicBool,
    until: Mutex<Option<Instant>>,
}

impl Stop {
    fn new() -> Self {
        Self { cancelled: AtomicBool::new(false), until: Mutex::new(None) }
    }

    /// Whether the client has taken the request back.
    pub(super) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Whether work on the answer can end: nobody wants it, or it has taken too long.
    pub(super) fn is_due(&self) -> bool {
        let until = *self.until.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_cancelled() || until.is_some_and(|until| Instant::now() > until)
    }

    /// The clock of a call starts when work on it does.
    fn begin(&self, until: Instant) {
        *self.until.lock().unwrap_or_else(PoisonError::into_inner) = Some(until);
    }

    fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}

/// A request in flight.
#[derive(Clone, Debug)]
pub(super) struct Ticket {
    key: Key,
    /// Whether anybody still waits.
    pub(super) stop: Arc<Stop>,
}

impl Ticket {
    pub(super) fn new(id: &Id) -> Self {
        Self { key: id.key.clone(), stop: Arc::new(Stop::new()) }
    }
}

/// Work for one line of input; the answer is a line of output, or nothing.
pub(super) type Work = Box<dyn FnOnce() -> Option<String> + Send>;

/// Work for the requests of one line.
pub(super) struct Submitted {
    /// Whether it may run beside others.
    pub(super) effect: Effect,
    /// Its requests.
    pub(super) tickets: Vec<Ticket>,
    /// How long the line was.
    pub(super) bytes: usize,
    /// What is answered when reading takes too long.
    pub(super) late: String,
    /// The work.
    pub(super) work: Work,
}

struct Job {
    number: u64,
    effect: Effect,
    bytes: usize,
    work: Work,
}

/// The place of one line's answer.
struct Slot {
    number: u64,
    tickets: Vec<Ticket>,
    /// When work on it began.
    begun: Option<Instant>,
    /// The answer, once there is one.
    answer: Option<String>,
    /// What is answered when reading takes too long; a write is waited for.
    late: Option<String>,
}

#[derive(Default)]
struct State {
    next: u64,
    jobs: VecDeque<Job>,
    slots: VecDeque<Slot>,
    urgent: VecDeque<String>,
    reading: usize,
    writing: bool,
    /// Bytes of jobs that wait.
    waiting: usize,
    /// Bytes of answers that have not left.
    unsent: usize,
    /// A line is being written.
    sending: bool,
    phase: Phase,
}

/// How far the desk is on its way to the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    #[default]
    Open,
    /// No more input.
    Ended,
    /// Nothing new starts.
    Halted,
    /// Nobody reads what is written.
    Gone,
}

/// The desk that reader, workers and writer share.
pub(super) struct Desk {
    state: Mutex<State>,
    changed: Condvar,
    longest: Duration,
}

impl Default for Desk {
    fn default() -> Self {
        Self { state: Mutex::default(), changed: Condvar::new(), longest: LONGEST }
    }
}

impl Desk {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An answer that needs no work, in its place.
    pub(super) fn answer(&self, line: String) {
        let mut state = self.lock();
        let number = state.number();
        state.unsent += line.len();
        let answer = Some(line);
        state.slots.push_back(Slot { number, tickets: Vec::new(), begun: None, answer, late: None });
        self.changed.notify_all();
    }

    /// An answer that waits for nothing.
    pub(super) fn answer_first(&self, line: String) {
        let mut state = self.lock();
        state.unsent += line.len();
        state.urgent.push_back(line);
        self.changed.notify_all();
    }

    /// Work that is to be done in its turn, for the requests of one line.
    pub(super) fn submit(&self, job: Submitted) {
        let Submitted { effect, tickets, bytes, late, work } = job;
        let late = Some(late).filter(|_| effect == Effect::Read);
        let mut state = self.lock();
        let number = state.number();
        state.slots.push_back(Slot { number, tickets, begun: None, answer: None, late });
        state.jobs.push_back(Job { number, effect, bytes, work });
        state.waiting += bytes;
        self.changed.notify_all();
    }

    /// Takes back every request with this id: what has not begun is dropped, what runs ends without an answer.
    pub(super) fn cancel(&self, key: &Key) {
        let mut state = self.lock();
        let mut dropped = Vec::new();
        for slot in &state.slots {
            let mut meant = slot.tickets.iter().filter(|ticket| ticket.key == *key).peekable();
            if meant.peek().is_some() && slot.tickets.len() == 1 {
                dropped.push(slot.number);
            }
            meant.for_each(|ticket| ticket.stop.cancel());
        }
        for number in dropped {
            state.drop_slot(number);
            if let Some(at) = state.jobs.iter().position(|job| job.number == number)
                && let Some(job) = state.jobs.remove(at)
            {
                state.waiting -= job.bytes;
            }
        }
        self.changed.notify_all();
    }

    /// Waits while more is queued than memory should hold; `false` when there is no use in reading on.
    pub(super) fn has_room(&self, interrupted: impl Fn() -> bool) -> bool {
        let mut state = self.lock();
        while state.waiting + state.unsent > BACKLOG && state.phase != Phase::Gone && !interrupted() {
            // A signal does not reach the condition, so it is looked for.
            state = self.wait(state, Some(Duration::from_millis(50)));
        }
        state.phase != Phase::Gone
    }

    /// No more input: what was received is still answered.
    pub(super) fn end(&self) {
        self.lock().reach(Phase::Ended);
        self.changed.notify_all();
    }

    /// Nothing new starts. Waits for a write that runs and for answers that are ready, but not longer than `time`.
    pub(super) fn halt(&self, time: Duration) {
        let until = Instant::now() + time;
        let mut state = self.lock();
        state.reach(Phase::Halted);
        self.changed.notify_all();
        while state.writing || state.phase != Phase::Gone && (state.sending || state.can_send()) {
            let Some(left) = until.checked_duration_since(Instant::now()) else { return };
            state = self.wait(state, Some(left));
        }
    }

    /// Works until there is nothing more to do.
    pub(super) fn work(&self) {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.startable() {
                let begun = Instant::now();
                if let Some(slot) = state.slot(job.number) {
                    slot.begun = Some(begun);
                    slot.tickets.iter().for_each(|ticket| ticket.stop.begin(begun + self.longest));
                }
                match job.effect {
                    Effect::Read => state.reading += 1,
                    Effect::Write => state.writing = true,
                }
                self.changed.notify_all();
                drop(state);
                let answer = (job.work)();
                state = self.lock();
                match job.effect {
                    Effect::Read => state.reading -= 1,
                    Effect::Write => state.writing = false,
                }
                state.settle(job.number, answer);
                self.changed.notify_all();
            } else if state.phase >= Phase::Halted || state.phase == Phase::Ended && state.jobs.is_empty() {
                return;
            } else {
                state = self.wait(state, None);
            }
        }
    }

    /// Hands answers to `send` as they may leave, until there will be no more. When `send` fails, nobody reads.
    pub(super) fn deliver(&self, mut send: impl FnMut(&str) -> std::io::Result<()>) -> std::io::Result<()> {
        let mut state = self.lock();
        loop {
            state.give_up(self.longest);
            if let Some(line) = state.sendable() {
                state.sending = true;
                drop(state);
                let delivered = send(&line);
                state = self.lock();
                state.sending = false;
                state.unsent -= line.len();
                if delivered.is_err() {
                    state.reach(Phase::Gone);
                }
                self.changed.notify_all();
                delivered?;
            } else if state.phase == Phase::Ended && state.slots.is_empty() {
                return Ok(());
            } else {
                let patience = state.patience(self.longest);
                state = self.wait(state, patience);
            }
        }
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>, time: Option<Duration>) -> MutexGuard<'a, State> {
        match time {
            None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            Some(time) => self.changed.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner).0,
        }
    }
}

impl State {
    /// Goes on to a phase; what has not begun is dropped when nothing new starts.
    fn reach(&mut self, phase: Phase) {
        self.phase = self.phase.max(phase);
        if self.phase >= Phase::Halted {
            self.jobs.clear();
            self.waiting = 0;
        }
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn place(&self, number: u64) -> Option<usize> {
        self.slots.binary_search_by_key(&number, |slot| slot.number).ok()
    }

    fn slot(&mut self, number: u64) -> Option<&mut Slot> {
        let at = self.place(number)?;
        self.slots.get_mut(at)
    }

    fn drop_slot(&mut self, number: u64) {
        if let Some(slot) = self.place(number).and_then(|at| self.slots.remove(at)) {
            self.unsent -= slot.answer.map_or(0, |line| line.len());
        }
    }

    /// Files the answer of a job; a slot that is gone was cancelled, one that has an answer was given up.
    fn settle(&mut self, number: u64, answer: Option<String>) {
        match answer {
            None if self.slot(number).is_some_and(|slot| slot.answer.is_some()) => {}
            None => self.drop_slot(number),
            Some(line) => {
                let bytes = line.len();
                if let Some(slot) = self.slot(number).filter(|slot| slot.answer.is_none()) {
                    slot.answer = Some(line);
                    self.unsent += bytes;
                }
            }
        }
    }

    /// The next job, when it may start.
    fn startable(&mut self) -> Option<Job> {
        let free = match self.jobs.front()?.effect {
            Effect::Read => !self.writing,
            Effect::Write => !self.writing && self.reading == 0,
        };
        if !free || self.phase >= Phase::Halted || self.unsent > BACKLOG {
            return None;
        }
        let job = self.jobs.pop_front()?;
        self.waiting -= job.bytes;
        Some(job)
    }

    /// The first slot whose answer may leave: one behind answers that are slow, and behind nothing else.
    fn first_ready(&self) -> Option<usize> {
        let is_slow = |slot: &Slot| slot.begun.is_some_and(|begun| begun.elapsed() >= PATIENCE);
        let held = self.slots.iter().position(|slot| slot.answer.is_some() || !is_slow(slot))?;
        self.slots[held].answer.is_some().then_some(held)
    }

    fn can_send(&self) -> bool {
        !self.urgent.is_empty() || self.first_ready().is_some()
    }

    fn sendable(&mut self) -> Option<String> {
        if let Some(line) = self.urgent.pop_front() {
            return Some(line);
        }
        let at = self.first_ready()?;
        self.slots.remove(at)?.answer
    }

    /// Answers for what has taken too long; its own answer comes too late.
    fn give_up(&mut self, longest: Duration) {
        for slot in &mut self.slots {
            let is_late = slot.answer.is_none() && slot.begun.is_some_and(|begun| begun.elapsed() >= longest);
            if is_late && let Some(line) = slot.late.take() {
                slot.tickets.iter().for_each(|ticket| ticket.stop.cancel());
                self.unsent += line.len();
                slot.answer = Some(line);
            }
        }
    }

    /// How long until time alone changes what may leave; nothing when it never does.
    fn patience(&self, longest: Duration) -> Option<Duration> {
        let holds_back = self.slots.iter().any(|slot| slot.answer.is_some());
        let runs = self.slots.iter().filter(|slot| slot.answer.is_none());
        let lefts = runs.filter_map(|slot| {
            let spent = slot.begun?.elapsed();
            let slow = PATIENCE.checked_sub(spent).filter(|_| holds_back);
            slow.or_else(|| slot.late.as_ref().and_then(|_| longest.checked_sub(spent)))
        });
        lefts.min().map(|left| left + Duration::from_millis(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::message::{Content, Message, read};
    use std::sync::mpsc::{Receiver, Sender, channel};

    fn ticket(id: &str) -> Ticket {
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"x"}}"#);
        match read(line.as_bytes()) {
            Ok(Content::One(Message::Request(request))) => Ticket::new(&request.id),
            other => panic!("{other:?}"),
        }
    }

    /// A desk with workers and a writer whose lines can be received.
    struct Office {
        desk: Arc<Desk>,
        lines: Receiver<String>,
        threads: Vec<std::thread::JoinHandle<()>>,
    }

    impl Office {
        fn new(workers: usize) -> Self {
            Self::patient(workers, LONGEST)
        }

        fn patient(workers: usize, longest: Duration) -> Self {
            let desk = Arc::new(Desk { longest, ..Desk::default() });
            let (send, lines) = channel();
            let mut threads = Vec::new();
            for _ in 0..workers {
                let desk = desk.clone();
                threads.push(std::thread::spawn(move || desk.work()));
            }
            let writer = desk.clone();
            threads.push(std::thread::spawn(move || {
                let deliver = |line: &str| {
                    send.send(line.to_owned()).map_err(|_| std::io::ErrorKind::BrokenPipe.into())
                };
                let _ = writer.deliver(deliver);
            }));
            Self { desk, lines, threads }
        }

        /// A job that says that it runs and waits until it may go on.
        fn submit(&self, id: &str, effect: Effect) -> (Receiver<()>, Sender<()>) {
            let (runs, running) = channel();
            let (go, gone_on) = channel::<()>();
            let line = id.to_owned();
            let work = move || {
                let _ = runs.send(());
                let _ = gone_on.recv();
                Some(line)
            };
            let (tickets, late) = (vec![ticket(id)], format!("{id} is late"));
            self.desk.submit(Submitted { effect, tickets, bytes: 1, late, work: Box::new(work) });
            (running, go)
        }

        fn rest(self) -> Vec<String> {
            self.desk.end();
            self.threads.into_iter().for_each(|thread| thread.join().unwrap());
            self.lines.iter().collect()
        }
    }

    #[test]
    fn answers_leave_in_order_and_a_ping_does_not_wait() {
        let office = Office::new(2);
        let (running, first) = office.submit("1", Effect::Read);
        running.recv().unwrap();
        let (running, second) = office.submit("2", Effect::Read);
        running.recv().unwrap();
        drop(second);
        office.desk.answer("3".to_owned());
        office.desk.answer_first("ping".to_owned());
        assert_eq!(office.lines.recv().unwrap(), "ping");
        drop(first);
        assert_eq!(office.rest(), ["1", "2", "3"]);
    }

    #[test]
    fn a_slow_request_holds_nobody_back() {
        let office = Office::new(2);
        let (running, slow) = office.submit("1", Effect::Read);
        running.recv().unwrap();
        office.desk.answer("2".to_owned());
        assert_eq!(office.lines.recv().unwrap(), "2");
        drop(slow);
        assert_eq!(office.rest(), ["1"]);
    }

    #[test]
    fn reading_that_takes_too_long_is_answered_for_and_a_write_is_waited_for() {
        let office = Office::patient(2, Duration::from_millis(20));
        let (running, read) = office.submit("1", Effect::Read);
        running.recv().unwrap();
        assert_eq!(office.lines.recv().unwrap(), "1 is late");
        drop(read);
        let (running, write) = office.submit("2", Effect::Write);
        running.recv().unwrap();
        assert!(office.lines.recv_timeout(Duration::from_millis(60)).is_err());
        drop(write);
        assert_eq!(office.rest(), ["2"]);
    }

    #[test]
    fn a_writer_is_alone() {
        let office = Office::new(3);
        let (reads, reader) = office.submit("1", Effect::Read);
        let (alone, writer) = office.submit("2", Effect::Write);
        let (reads_again, again) = office.submit("3", Effect::Read);
        reads.recv().unwrap();
        assert!(alone.try_recv().is_err() && reads_again.try_recv().is_err());
        drop(reader);
        alone.recv().unwrap();
        assert!(reads_again.try_recv().is_err());
        drop(writer);
        reads_again.recv().unwrap();
        drop(again);
        assert_eq!(office.rest(), ["1", "2", "3"]);
    }

    #[test]
    fn what_is_cancelled_is_not_answered_at_any_time() {
        let office = Office::new(1);
        let (running, first) = office.submit("1", Effect::Write);
        running.recv().unwrap();
        let (waits, _unused) = office.submit("2", Effect::Read);
        let (_, third) = office.submit("\"2\"", Effect::Read);
        for id in ["1", "2", "99"] {
            office.desk.cancel(&ticket(id).key);
        }
        drop(first);
        drop(third);
        assert_eq!(office.rest(), ["\"2\""]);
        assert!(waits.recv().is_err(), "it never began");
    }

    #[test]
    fn nothing_starts_after_a_halt_and_a_write_that_runs_is_waited_for() {
        let office = Office::new(2);
        let (running, write) = office.submit("1", Effect::Write);
        running.recv().unwrap();
        let (waits, _unused) = office.submit("2", Effect::Read);
        std::thread::scope(|scope| {
            let halted = scope.spawn(|| office.desk.halt(Duration::from_secs(60)));
            while office.desk.lock().phase != Phase::Halted {
                std::thread::yield_now();
            }
            assert!(!halted.is_finished());
            drop(write);
        });
        assert_eq!(office.lines.recv().unwrap(), "1");
        assert!(waits.recv().is_err());
    }

    #[test]
    fn when_nobody_reads_the_work_ends() {
        let office = Office::new(1);
        drop(office.lines);
        office.desk.answer("1".to_owned());
        office.threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(!office.desk.has_room(|| false));
    }
}
