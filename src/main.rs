//! The fork in the road: a hook goes straight to its room, everything else is the command line.
//!
//! On Linux the standard library's own start-up (a look at `/proc/self/maps`, signal stacks, thread names: 19 system calls)
//! costs a tenth of a hook, so `main` is C's there. What of it matters is done here: closed standard streams are opened, and
//! a reader that has gone away is an error and not a signal.

#![cfg_attr(all(target_os = "linux", any(target_env = "gnu", target_env = "musl")), no_main)]

use std::ffi::OsString;

/// The exit number of a call with these words; the first is the program's own name.
fn run(words: impl Iterator<Item = OsString>) -> u8 {
    let mut args = words.skip(1);
    match args.next() {
        Some(word) if word == "hook" => match args.next() {
            Some(event) if event == "--help" || event == "-h" => workfile::cli::run(Some(word), args),
            event => workfile::hook::run(event.as_deref()),
        },
        Some(word) if word == "mcp" => {
            let mut args = args.peekable();
            match args.peek() {
                Some(asked) if asked == "--help" || asked == "-h" => workfile::cli::run(Some(word), args),
                _ => workfile::mcp::run(args),
            }
        }
        None => workfile::hook::run_bare().unwrap_or_else(|| workfile::cli::run(None, args)),
        word => workfile::cli::run(word, args),
    }
}

#[cfg(not(all(target_os = "linux", any(target_env = "gnu", target_env = "musl"))))]
fn main() -> std::process::ExitCode {
    run(std::env::args_os()).into()
}

#[cfg(all(target_os = "linux", any(target_env = "gnu", target_env = "musl")))]
mod start {
    use std::ffi::{CStr, OsStr, c_char, c_int};
    use std::os::unix::ffi::OsStrExt;

    /// C's entry point. With musl the arguments come here and nowhere else; `std::env` stays without them.
    #[allow(
        unsafe_code,
        reason = "an entry point without the standard library's start-up has to be C's `main`"
    )]
    #[unsafe(no_mangle)]
    extern "C" fn main(count: c_int, words: *const *const c_char) -> c_int {
        workfile::fs::open_standard_streams();
        ignore_broken_pipes();
        // SAFETY: C's `main` gets as many strings as it is told, each ended by a zero and there to the end.
        let word = |place| unsafe { CStr::from_ptr(*words.add(place)) };
        let count = usize::try_from(count).unwrap_or(0);
        let words = (0..count).map(|place| OsStr::from_bytes(word(place).to_bytes()).to_owned());
        std::panic::catch_unwind(|| super::run(words)).unwrap_or(101).into()
    }

    #[allow(unsafe_code, reason = "without it a closed stdout ends the process by a signal")]
    fn ignore_broken_pipes() {
        unsafe extern "C" {
            fn signal(number: c_int, handler: usize) -> usize;
        }
        const SIGPIPE: c_int = 13;
        const IGNORE: usize = 1;
        // SAFETY: the declaration is C's, and ignoring a signal installs no handler.
        unsafe { signal(SIGPIPE, IGNORE) };
    }
}
