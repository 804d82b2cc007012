//! A futex that counts its calls, so that a check knows when a thread sleeps.

use cyclewise::atomic::AtomicU32;
use cyclewise::lock::{Futex, Moment, Park};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// Calls of `wait`, `nap` and `wake`.
pub static WAITS: AtomicUsize = AtomicUsize::new(0);
pub static NAPS: AtomicUsize = AtomicUsize::new(0);
pub static WAKES: AtomicUsize = AtomicUsize::new(0);

/// A futex that counts its calls.
pub struct Counting;

impl Park for Counting {
    type Deadline = Moment;
    const SLEEPS: bool = true;

    fn wait(word: &AtomicU32, expected: u32, until: Option<Moment>) {
        WAITS.fetch_add(1, SeqCst);
        Futex::wait(word, expected, until);
    }

    fn nap(word: &AtomicU32, expected: u32, until: Option<Moment>) {
        NAPS.fetch_add(1, SeqCst);
        Futex::nap(word, expected, until);
    }

    fn wake(word: &AtomicU32) {
        WAKES.fetch_add(1, SeqCst);
        Futex::wake(word);
    }

    fn is_past(until: Moment) -> bool {
        Futex::is_past(until)
    }

    fn light() {
        Futex::light();
    }

    fn heavy() -> bool {
        Futex::heavy()
    }
}
