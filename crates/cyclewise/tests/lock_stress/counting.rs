//! A futex that counts its calls, so that a check knows when a thread sleeps.

use cyclewise::atomic::AtomicU32;
use cyclewise::lock::{Futex, Moment, Park};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

pub(crate) static WAITS: AtomicUsize = AtomicUsize::new(0);
pub(crate) static WAKES: AtomicUsize = AtomicUsize::new(0);

/// A futex that counts its calls.
pub(crate) struct Counting;

impl Park for Counting {
    type Deadline = Moment;
    const SLEEPS: bool = true;

    fn wait(word: &AtomicU32, expected: u32, until: Option<Moment>) {
        WAITS.fetch_add(1, Relaxed);
        Futex::wait(word, expected, until);
    }

    fn nap(word: &AtomicU32, expected: u32, until: Option<Moment>) {
        Futex::nap(word, expected, until);
    }

    fn wake(word: &AtomicU32) {
        WAKES.fetch_add(1, Relaxed);
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
