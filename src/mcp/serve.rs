//! One process, one client: bytes in, lines out, until one of the two ends or a signal comes.

use super::desk::{Desk, Effect, Submitted, Ticket};
use super::era::Session;
use super::host::Host;
use super::lines::{Line, Lines};
use super::message::{self, Content, INVALID_REQUEST, Id, Message, Outcome, Response, RpcError, wire};
use super::methods::{self, Step, Task};
use super::streams::{Input, Output, Wake};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long a write that has begun is waited for when a signal comes.
const GRACE: Duration = Duration::from_secs(2);

/// How long a write that was cancelled is waited for at the end of the input.
const LONGEST: Duration = Duration::from_secs(30);

/// Bytes of one read.
const PIECE: usize = 64 * 1024;

/// Serves until the input ends; the answer is the exit number.
pub(super) fn serve(host: Host) -> u8 {
    let wake = Wake::new();
    let (Ok(mut input), Ok(mut output)) = (Input::open(&wake), Output::open()) else {
        // Streams that were never there: nobody can be served, and nobody can be told.
        return 0;
    };
    let desk = Arc::new(Desk::default());
    let host = Arc::new(host);
    let workers = std::thread::available_parallelism().map_or(2, usize::from).min(8);
    for _ in 0..workers {
        let desk = desk.clone();
        std::thread::spawn(move || desk.work());
    }
    let deliver = desk.clone();
    let delivered = Arc::new(AtomicBool::new(false));
    let done = delivered.clone();
    std::thread::spawn(move || {
        // An error says that nobody reads any more, and the desk knows.
        let _ = deliver.deliver(|line| output.send(line));
        done.store(true, Ordering::Release);
        Wake::up();
    });
    let mut reader = Reader { desk: desk.clone(), host: host.clone(), session: Session::default() };
    let mut lines = Lines::new(host.message_bytes);
    let mut piece = vec![0; PIECE];
    loop {
        let goes_on = desk.has_room(|| Wake::signal().is_some());
        if let Some(signal) = Wake::signal() {
            desk.halt(GRACE);
            return 128 + signal;
        }
        if !goes_on {
            desk.halt(GRACE);
            return 0;
        }
        match input.read(&mut piece) {
            // Woken: the loop looks why.
            None => {}
            Some(0) => break,
            Some(count) => lines.feed(&piece[..count], |line| reader.line(line)),
        }
    }
    lines.end(|line| reader.line(line));
    desk.end();
    while !delivered.load(Ordering::Acquire) {
        // A signal still ends the process while the last answers are worked on.
        wake.wait();
        if let Some(signal) = Wake::signal() {
            desk.halt(GRACE);
            return 128 + signal;
        }
    }
    desk.halt(LONGEST);
    0
}

/// The answers to a batch, as one line.
fn answers(done: &[(Option<Id>, Outcome)]) -> String {
    let responses = done.iter().map(|(id, outcome)| Response::new(id.as_ref(), outcome));
    wire(&responses.collect::<Vec<_>>())
}

/// Turns lines into answers and jobs; it never waits for either.
struct Reader {
    desk: Arc<Desk>,
    host: Arc<Host>,
    session: Session,
}

/// The answer to one message of a line, or the way to it.
enum Part {
    Done(Option<Id>, Outcome),
    Job(Id, Ticket, Effect, Task),
}

impl Reader {
    fn line(&mut self, line: Line) {
        let line = match line {
            Line::Text(bytes) => bytes,
            Line::TooLong => {
                let text = format!("the line is longer than {} bytes", self.host.message_bytes);
                return self.refuse(RpcError::new(INVALID_REQUEST, text));
            }
        };
        let bytes = line.len();
        match message::read(&line) {
            Err(refused) => self.refuse(refused),
            Ok(Content::One(message)) => self.one(message, bytes),
            Ok(Content::Many(members)) if self.session.has_batches() && !members.is_empty() => {
                self.batch(members, bytes);
            }
            Ok(Content::Many(_)) => {
                let text = "an array of messages is not understood here; send one object a line";
                self.refuse(RpcError::new(INVALID_REQUEST, text));
            }
        }
    }

    /// An error for what has no id that could be read.
    fn refuse(&self, error: RpcError) {
        self.desk.answer(wire(&Response::new(None, &Err(error))));
    }

    fn one(&mut self, message: Message, bytes: usize) {
        match message {
            Message::Response => {}
            Message::Notification { cancels } => self.cancel(cancels.as_ref()),
            Message::Invalid(id, error) => self.desk.answer(wire(&Response::new(id.as_ref(), &Err(error)))),
            Message::Request(request) => {
                let id = request.id.clone();
                match methods::step(&mut self.session, &self.host, request) {
                    Step::Now(outcome) => self.desk.answer(wire(&Response::new(Some(&id), &outcome))),
                    Step::First(outcome) => self.desk.answer_first(wire(&Response::new(Some(&id), &outcome))),
                    Step::Later(effect, task) => {
                        let ticket = Ticket::new(&id);
                        let (host, stop) = (self.host.clone(), ticket.stop.clone());
                        let late = wire(&Response::new(Some(&id), &Err(methods::late())));
                        let work = move || {
                            let outcome = methods::carry_out(task, &host, &stop);
                            (!stop.is_cancelled()).then(|| wire(&Response::new(Some(&id), &outcome)))
                        };
                        let (tickets, work) = (vec![ticket], Box::new(work));
                        self.desk.submit(Submitted { effect, tickets, bytes, late, work });
                    }
                }
            }
        }
    }

    fn cancel(&self, key: Option<&message::Key>) {
        if let Some(key) = key {
            self.desk.cancel(key);
        }
    }

    /// Members are worked on in order and answered in one array.
    fn batch(&mut self, members: Vec<Message>, bytes: usize) {
        let parts: Vec<Part> = members.into_iter().filter_map(|member| self.part(member)).collect();
        if parts.is_empty() {
            return;
        }
        let tickets = parts.iter().filter_map(|part| match part {
            Part::Job(_, ticket, ..) => Some(ticket.clone()),
            Part::Done(..) => None,
        });
        let tickets: Vec<Ticket> = tickets.collect();
        let writes = parts.iter().any(|part| matches!(part, Part::Job(_, _, Effect::Write, _)));
        let effect = if writes { Effect::Write } else { Effect::Read };
        let host = self.host.clone();
        let late = parts.iter().map(|part| match part {
            Part::Job(id, ..) => (Some(id.clone()), Err(methods::late())),
            Part::Done(id, outcome) => (id.clone(), outcome.clone()),
        });
        let late = answers(&late.collect::<Vec<_>>());
        let work = move || {
            let done = parts.into_iter().filter_map(|part| match part {
                Part::Done(id, outcome) => Some((id, outcome)),
                Part::Job(_, ticket, ..) if ticket.stop.is_cancelled() => None,
                Part::Job(id, ticket, _, task) => {
                    let outcome = methods::carry_out(task, &host, &ticket.stop);
                    (!ticket.stop.is_cancelled()).then_some((Some(id), outcome))
                }
            });
            let done: Vec<(Option<Id>, Outcome)> = done.collect();
            (!done.is_empty()).then(|| answers(&done))
        };
        self.desk.submit(Submitted { effect, tickets, bytes, late, work: Box::new(work) });
    }

    fn part(&mut self, member: Message) -> Option<Part> {
        match member {
            Message::Response => None,
            Message::Notification { cancels } => {
                self.cancel(cancels.as_ref());
                None
            }
            Message::Invalid(id, error) => Some(Part::Done(id, Err(error))),
            Message::Request(request) if request.method == "initialize" => {
                let error = RpcError::new(INVALID_REQUEST, "`initialize` cannot be part of a batch");
                Some(Part::Done(Some(request.id), Err(error)))
            }
            Message::Request(request) => {
                let id = request.id.clone();
                Some(match methods::step(&mut self.session, &self.host, request) {
                    Step::Now(outcome) | Step::First(outcome) => Part::Done(Some(id), outcome),
                    Step::Later(effect, task) => {
                        let ticket = Ticket::new(&id);
                        Part::Job(id, ticket, effect, task)
                    }
                })
            }
        }
    }
}
