//! The two pipes, and what interrupts waiting for one: a signal, or a client that reads no more.
//!
//! Nothing here buffers: what was read is handed on, what is written is out.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Write as _};

#[cfg(not(unix))]
pub(super) use portable::{Input, Output, Wake};
#[cfg(unix)]
pub(super) use unix::{Input, Output, Wake};

/// Writes a whole line; `again` waits until a pipe that does not block takes more.
fn write_line(out: &mut File, line: &str, again: impl Fn(&File)) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(line.len() + 1);
    bytes.extend_from_slice(line.as_bytes());
    bytes.push(b'\n');
    let mut rest = bytes.as_slice();
    while !rest.is_empty() {
        match out.write(rest) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => rest = &rest[count..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => again(out),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads once; an input that fails has ended.
fn read_once(from: &mut File, into: &mut [u8]) -> Option<usize> {
    match from.read(into) {
        Ok(count) => Some(count),
        Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => None,
        Err(_) => Some(0),
    }
}

#[cfg(unix)]
mod unix {
    use super::{File, io, read_once, write_line};
    use rustix::event::{PollFd, PollFlags, poll};
    use std::ffi::c_int;
    use std::io::{PipeReader, PipeWriter, pipe};
    use std::os::fd::AsFd;
    use std::sync::atomic::{AtomicI32, Ordering};
    use std::sync::{Arc, OnceLock};

    /// The signal that came, or 0.
    static SIGNAL: AtomicI32 = AtomicI32::new(0);
    /// What the handler writes to.
    static BELL: OnceLock<PipeWriter> = OnceLock::new();

    /// Signals that end a server, by their numbers on every Unix.
    const HUP: c_int = 1;
    const INT: c_int = 2;
    const TERM: c_int = 15;

    /// Says that a signal came.
    extern "C" fn heard(number: c_int) {
        SIGNAL.store(number, Ordering::Relaxed);
        ring();
    }

    /// A write to a pipe is all that a signal handler may do.
    fn ring() {
        if let Some(bell) = BELL.get() {
            let _ = rustix::io::write(bell, b"!");
        }
    }

    #[allow(unsafe_code, reason = "the standard library has no way to hear a signal")]
    fn listen() {
        unsafe extern "C" {
            fn signal(number: c_int, handler: usize) -> usize;
        }
        const IGNORED: usize = 1;
        for number in [HUP, INT, TERM] {
            // SAFETY: the declaration is C's, and the handler only stores a number and writes to a pipe.
            let before = unsafe { signal(number, heard as *const () as usize) };
            if before == IGNORED {
                // SAFETY: the same; whoever started this process wants the signal ignored.
                unsafe { signal(number, before) };
            }
        }
    }

    /// Ends waiting for input.
    #[derive(Clone)]
    pub(in crate::mcp) struct Wake(Arc<Option<PipeReader>>);

    impl Wake {
        /// Listens to signals from now on.
        pub(in crate::mcp) fn new() -> Self {
            let Ok((reader, writer)) = pipe() else { return Self(Arc::new(None)) };
            if BELL.set(writer).is_ok() {
                listen();
            }
            Self(Arc::new(Some(reader)))
        }

        /// Ends waiting once.
        pub(in crate::mcp) fn up() {
            ring();
        }

        /// The signal that came.
        pub(in crate::mcp) fn signal() -> Option<u8> {
            u8::try_from(SIGNAL.load(Ordering::Relaxed)).ok().filter(|number| *number > 0)
        }

        /// Waits until something comes, which may have come already.
        pub(in crate::mcp) fn wait(&self) {
            match self.0.as_ref() {
                Some(bell) => drop(rustix::io::read(bell, &mut [0; 1])),
                None => std::thread::yield_now(),
            }
        }
    }

    /// Standard input.
    pub(in crate::mcp) struct Input {
        file: File,
        wake: Wake,
    }

    impl Input {
        pub(in crate::mcp) fn open(wake: &Wake) -> io::Result<Self> {
            let file = File::from(io::stdin().as_fd().try_clone_to_owned()?);
            Ok(Self { file, wake: wake.clone() })
        }

        /// The next bytes, 0 at the end; `None` when waiting was interrupted.
        pub(in crate::mcp) fn read(&mut self, into: &mut [u8]) -> Option<usize> {
            let Some(bell) = self.wake.0.as_ref() else { return read_once(&mut self.file, into) };
            let mut waited = [PollFd::new(&self.file, PollFlags::IN), PollFd::new(bell, PollFlags::IN)];
            if poll(&mut waited, None).is_err() || !waited[1].revents().is_empty() {
                return None;
            }
            read_once(&mut self.file, into)
        }
    }

    /// Standard output.
    pub(in crate::mcp) struct Output(File);

    impl Output {
        pub(in crate::mcp) fn open() -> io::Result<Self> {
            Ok(Self(File::from(io::stdout().as_fd().try_clone_to_owned()?)))
        }

        /// Writes one line.
        pub(in crate::mcp) fn send(&mut self, line: &str) -> io::Result<()> {
            write_line(&mut self.0, line, |out| {
                let _ = poll(&mut [PollFd::new(out, PollFlags::OUT)], None);
            })
        }
    }
}

#[cfg(not(unix))]
mod portable {
    use super::{File, io, read_once, write_line};
    use std::os::windows::io::AsHandle as _;

    /// Nothing interrupts waiting here: the process ends when nobody reads it.
    #[derive(Clone)]
    pub(in crate::mcp) struct Wake;

    impl Wake {
        pub(in crate::mcp) fn new() -> Self {
            Self
        }

        pub(in crate::mcp) fn up() {
            std::process::exit(0);
        }

        pub(in crate::mcp) fn signal() -> Option<u8> {
            None
        }

        pub(in crate::mcp) fn wait(&self) {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
    }

    /// Standard input.
    pub(in crate::mcp) struct Input(File);

    impl Input {
        pub(in crate::mcp) fn open(_: &Wake) -> io::Result<Self> {
            Ok(Self(File::from(io::stdin().as_handle().try_clone_to_owned()?)))
        }

        pub(in crate::mcp) fn read(&mut self, into: &mut [u8]) -> Option<usize> {
            read_once(&mut self.0, into)
        }
    }

    /// Standard output.
    pub(in crate::mcp) struct Output(File);

    impl Output {
        pub(in crate::mcp) fn open() -> io::Result<Self> {
            Ok(Self(File::from(io::stdout().as_handle().try_clone_to_owned()?)))
        }

        pub(in crate::mcp) fn send(&mut self, line: &str) -> io::Result<()> {
            write_line(&mut self.0, line, |_| std::thread::yield_now())
        }
    }
}
