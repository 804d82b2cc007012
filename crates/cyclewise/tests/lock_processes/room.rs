//! The data under the lock, and a random generator for the visitors.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// The guarded data, and whether two visitors were inside at once.
#[derive(Default)]
pub(crate) struct Room {
    pub(crate) inside: AtomicUsize,
    pub(crate) visits: AtomicU64,
    pub(crate) trespass: AtomicBool,
}

impl Room {
    /// A visit that lasts as long as `stay`.
    pub(crate) fn visit(&self, stay: impl FnOnce()) {
        if self.inside.fetch_add(1, SeqCst) != 0 {
            self.trespass.store(true, SeqCst);
        }
        // Two steps: an addition is lost if two visitors do this at once.
        let visits = self.visits.load(Relaxed);
        stay();
        self.visits.store(visits + 1, Relaxed);
        self.inside.fetch_sub(1, SeqCst);
    }
}

/// xorshift: a sequence for each thread.
pub(crate) fn random(state: &Cell<u64>) -> u64 {
    let mut x = state.get();
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    state.set(x);
    x
}

pub(crate) fn spin_for(time: Duration) {
    let until = Instant::now() + time;
    while Instant::now() < until {
        std::hint::spin_loop();
    }
}
