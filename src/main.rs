//! The fork in the road: a hook goes straight to its room, everything else is the command line.
//!
//! On Linux with glibc the standard library's own start-up (a look at `/proc/self/maps`, signal stacks, thread names: 19
//! system calls) costs a tenth of a hook, so `main` is C's there. What of it matters is done here: closed standard streams
//! are opened, and a reader that has gone away is an error and not a signal.

#![cfg_attr(all(target_os = "linux", target_env = "gnu"), no_main)]

/// The exit number.
fn run() -> u8 {
    let mut args = std::env::args_os().skip(1);
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

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn main() -> std::process::ExitCode {
    run().into()
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod start {
    use std::ffi::c_int;

    /// C's entry point. The arguments reach `std::env` by themselves with glibc.
    #[allow(
        unsafe_code,
        reason = "an entry point without the standard library's start-up has to be C's `main`"
    )]
    #[unsafe(no_mangle)]
    extern "C" fn main() -> c_int {
        workfile::fs::open_standard_streams();
        ignore_broken_pipes();
        std::panic::catch_unwind(super::run).unwrap_or(101).into()
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
