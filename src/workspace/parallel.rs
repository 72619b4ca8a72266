//! Work on more than one core when that pays: the same for many items, the answers in the order of the items, or two
//! pieces side by side.

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// So many items are one piece of work: less is not worth a thread.
const BLOCK: usize = 256;
/// More threads than this wait for the same memory.
const MOST_THREADS: usize = 8;

/// What `each` makes of every item.
pub fn map<T: Send, R: Send>(items: Vec<T>, each: impl Fn(T) -> R + Sync) -> Vec<R> {
    fold(items, || (), |(), item| each(item))
}

/// [`map`] with something that each thread makes once and keeps.
pub fn fold<T: Send, S, R: Send>(
    mut items: Vec<T>,
    start: impl Fn() -> S + Sync,
    each: impl Fn(&mut S, T) -> R + Sync,
) -> Vec<R> {
    if items.len() <= BLOCK {
        let mut state = start();
        return items.into_iter().map(|item| each(&mut state, item)).collect();
    }
    let mut blocks = Vec::with_capacity(items.len().div_ceil(BLOCK));
    while !items.is_empty() {
        // From the end, so that nothing is moved twice.
        let rest = items.split_off((items.len() - 1) / BLOCK * BLOCK);
        blocks.push(Mutex::new((rest, Vec::new())));
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut state = start();
        while let Some(block) = blocks.get(next.fetch_add(1, Ordering::Relaxed)) {
            let Ok(mut block) = block.lock() else { continue };
            let items = std::mem::take(&mut block.0);
            block.1 = items.into_iter().map(|item| each(&mut state, item)).collect();
        }
    };
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    thread::scope(|scope| {
        for _ in 1..threads.min(MOST_THREADS).min(blocks.len()) {
            // A thread that cannot be had is one less: whoever is there does the work.
            let _ = thread::Builder::new().spawn_scoped(scope, || {
                make_room();
                work();
            });
        }
        work();
    });
    let done = blocks.into_iter().rev().filter_map(|block| block.into_inner().ok());
    done.flat_map(|(_, answers)| answers).collect()
}

/// How much a thread that makes many small things is given at once.
const ROOM: usize = 4 << 20;

/// Lets the allocator of this thread take its memory in one piece. glibc takes it page by page otherwise, each by a call that
/// all threads of the process wait for; what is given back stays with it, and pages that nobody touches cost nothing.
fn make_room() {
    // A piece as large as this comes from elsewhere until one has been given back.
    for size in [2 * ROOM, ROOM] {
        drop(std::hint::black_box(Vec::<u8>::with_capacity(size)));
    }
}

/// What two pieces of work make, done at the same time.
pub fn both<A: Send, B>(one: impl FnOnce() -> A + Send, other: impl FnOnce() -> B) -> (A, B) {
    // Whoever takes it does it: a thread that cannot be had leaves it to this one.
    let waiting = Mutex::new(Some(one));
    let take = || waiting.lock().ok().and_then(|mut one| one.take());
    thread::scope(|scope| {
        let thread = thread::Builder::new().spawn_scoped(scope, || {
            make_room();
            take().map(|one| one())
        });
        let other = other();
        let done = thread.ok().and_then(|thread| match thread.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        let one = done.or_else(|| take().map(|one| one()));
        (one.expect("whoever takes the work returns what it makes"), other)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_in_the_order_of_the_items() {
        for count in [0, 1, BLOCK, BLOCK + 1, 10 * BLOCK - 1] {
            let items: Vec<usize> = (0..count).collect();
            assert_eq!(
                map(items.clone(), |item| item * 2),
                items.iter().map(|item| item * 2).collect::<Vec<_>>()
            );
        }
    }
    #[test]
    fn both_are_done() {
        let text = "a".to_owned();
        assert_eq!(both(|| text.len(), || text.as_str()), (1, "a"));
    }
}
