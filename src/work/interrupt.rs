//! Ctrl-C and its like while a program runs in a process group of its own: they reach us alone, and whoever runs the
//! program ends it before this process ends as it would have ended at once.

#[cfg(unix)]
pub(super) use unix::{catch, die};

#[cfg(unix)]
mod unix {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    use signal_hook::{flag, low_level};
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::sync::{Arc, LazyLock};

    struct Signals {
        /// Whether a signal does what it always does.
        idle: Arc<AtomicBool>,
        /// The last one that came; 0 for none.
        came: Arc<AtomicUsize>,
    }

    static SIGNALS: LazyLock<Signals> = LazyLock::new(|| {
        let signals = Signals { idle: Arc::new(AtomicBool::new(true)), came: Arc::new(AtomicUsize::new(0)) };
        let ignored = ignored();
        for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
            if ignored & (1 << (signal - 1)) == 0 {
                // One that cannot be caught ends this process as before.
                let _ = flag::register_conditional_default(signal, Arc::clone(&signals.idle));
                let _ = flag::register_usize(signal, Arc::clone(&signals.came), signal as usize);
            }
        }
        signals
    });

    /// The signals that this process was started to ignore, by `nohup` for one, one bit each; they stay ignored. None
    /// where the system does not say.
    fn ignored() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
    }

    /// As long as it lives, signals are kept; one that nobody has taken ends this process with it.
    pub(in super::super) struct Caught(());

    /// Keeps signals from now on. One caller at a time.
    pub(in super::super) fn catch() -> Caught {
        SIGNALS.idle.store(false, Ordering::SeqCst);
        Caught(())
    }

    impl Caught {
        /// A signal that has come since the last look.
        #[allow(clippy::unused_self, reason = "signals are kept only while somebody has this")]
        pub(in super::super) fn take(&self) -> Option<i32> {
            let came = SIGNALS.came.swap(0, Ordering::SeqCst);
            i32::try_from(came).ok().filter(|signal| *signal > 0)
        }
    }

    impl Drop for Caught {
        fn drop(&mut self) {
            SIGNALS.idle.store(true, Ordering::SeqCst);
            if let Some(signal) = self.take() {
                die(signal);
            }
        }
    }

    /// Ends this process the way the signal does.
    pub(in super::super) fn die(signal: i32) -> ! {
        let _ = low_level::emulate_default_handler(signal);
        std::process::exit(128 + signal)
    }
}

#[cfg(not(unix))]
mod other {
    /// Elsewhere a console tells the program too.
    pub(in super::super) struct Caught;

    pub(in super::super) fn catch() -> Caught {
        Caught
    }

    impl Caught {
        #[allow(clippy::unused_self, reason = "as on Unix")]
        pub(in super::super) fn take(&self) -> Option<i32> {
            None
        }
    }

    pub(in super::super) fn die(signal: i32) -> ! {
        std::process::exit(128 + signal)
    }
}

#[cfg(not(unix))]
pub(super) use other::{catch, die};
