//! A reference count that is killed and reinitialized while threads and signal handlers get and put.

use super::Tried;
use crate::error::Result;
use crate::sys::percpu::storm::StormTarget;
use crate::sys::percpu::unprotected::{Words, between};
use cyclewise::percpu::Ref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::SeqCst};

/// The oracle: a count's references, kept apart from it.
#[derive(Default)]
struct Known {
    /// References that are certainly held.
    held: AtomicI64,
    kills: AtomicU64,
    releases: AtomicU64,
    early: AtomicU64,
}

impl Known {
    fn release(&self) {
        self.early.fetch_add(u64::from(self.held.load(SeqCst) != 0), SeqCst);
        // Last: until then no new life begins, whose references would be counted above.
        self.releases.fetch_add(1, SeqCst);
    }

    /// Whether every kill has been followed by a release.
    fn is_over(&self) -> bool {
        self.releases.load(SeqCst) == self.kills.load(SeqCst)
    }

    /// The errors, after the last kill and the last put.
    fn wrong(&self, is_zero: bool) -> u64 {
        self.early.load(SeqCst) + u64::from(!is_zero) + self.releases.load(SeqCst).abs_diff(self.kills.load(SeqCst))
    }
}

struct Counts {
    users: Ref<Box<dyn Fn() + Send + Sync>>,
    known: Arc<Known>,
    twin: Twin,
}

pub(super) fn tried(_: usize) -> Result<Box<dyn Tried>> {
    Ok(Box::new(Counts::new()))
}

impl Counts {
    fn new() -> Self {
        let known = Arc::new(Known::default());
        let of = known.clone();
        Self {
            users: Ref::new(Box::new(move || of.release())),
            known,
            twin: Twin::new(),
        }
    }

    /// Kills it, or reinitializes it if it has been released.
    fn turn(&self) {
        if self.users.is_dying() {
            let _ = self.known.is_over() && self.users.reinit();
        } else {
            self.end();
        }
    }

    fn end(&self) {
        // First, so that a life that is being killed is never taken for one that is over.
        self.known.kills.fetch_add(1, SeqCst);
        if self.users.kill() != Ok(true) {
            self.known.kills.fetch_sub(1, SeqCst);
        }
    }

    fn visit(&self, meanwhile: impl FnOnce()) {
        if self.users.try_get_live() {
            self.known.held.fetch_add(1, SeqCst);
            meanwhile();
            self.known.held.fetch_sub(1, SeqCst);
            self.users.put();
        }
    }
}

impl StormTarget for Counts {
    fn step(&self, chance: u64) {
        // A life lasts for many visits; a dead count is revived soon.
        if chance.is_multiple_of(if self.users.is_dying() { 16 } else { 512 }) {
            self.turn();
        }
        if chance.is_multiple_of(if self.twin.shut.load(SeqCst) { 16 } else { 512 }) {
            self.twin.turn();
        }
        self.visit(|| between(chance >> 9));
        self.twin.visit(|| between(chance >> 13));
    }

    fn interrupt(&self) {
        self.visit(|| ());
        self.twin.visit(|| ());
    }

    fn in_child(&self) -> bool {
        // References of threads that the child lacks are never put, so only this much can be checked.
        let releases = self.known.releases.load(SeqCst);
        let live = self.users.try_get_live();
        let held = self.users.try_get();
        let same = self.known.releases.load(SeqCst) == releases;
        if held {
            self.users.put();
        }
        if live {
            self.users.put();
        }
        same && (!live || held)
    }
}

impl Tried for Counts {
    fn wrong(self: Box<Self>) -> (u64, u64) {
        // Ends the last life, unless it is over.
        self.end();
        self.twin.end();
        (self.known.wrong(self.users.is_zero()), self.twin.wrong())
    }
}

/// The twin: finds the word, loads it, stores it; a kill does not wait for counts in progress.
struct Twin {
    shut: AtomicBool,
    /// While it is live: 1 plus the bias.
    shared: AtomicI64,
    slots: Words<1>,
    known: Known,
}

/// Keeps the shared count above 0 until the slots' counts are added to it.
const BIAS: i64 = 1 << 40;

impl Twin {
    fn new() -> Self {
        Self {
            shut: AtomicBool::new(false),
            shared: AtomicI64::new(BIAS + 1),
            slots: Words::new(),
            known: Known::default(),
        }
    }

    fn count(&self, amount: i64, meanwhile: impl FnOnce()) {
        if self.shut.load(SeqCst) {
            if self.shared.fetch_add(amount, SeqCst) + amount == 0 {
                self.known.release();
            }
            return;
        }
        let [word] = self.slots.here();
        let found = word.load(SeqCst);
        meanwhile();
        word.store(found.wrapping_add(amount as u64), SeqCst);
    }

    fn visit(&self, meanwhile: impl FnOnce()) {
        if !self.shut.load(SeqCst) {
            self.count(1, meanwhile);
            self.known.held.fetch_add(1, SeqCst);
            self.known.held.fetch_sub(1, SeqCst);
            self.count(-1, || ());
        }
    }

    /// Kills it, or makes it live again if it reached 0.
    fn turn(&self) {
        if !self.shut.load(SeqCst) {
            self.end();
        } else if self.known.is_over() && self.shared.compare_exchange(0, BIAS + 1, SeqCst, SeqCst).is_ok() {
            self.shut.store(false, SeqCst);
        }
    }

    fn wrong(&self) -> u64 {
        self.known.wrong(self.shared.load(SeqCst) == 0)
    }

    fn end(&self) {
        if !self.shut.swap(true, SeqCst) {
            self.known.kills.fetch_add(1, SeqCst);
            let sum = self
                .slots
                .all()
                .map(|[word]| word.swap(0, SeqCst))
                .fold(0, u64::wrapping_add);
            self.shared.fetch_add(sum as i64 - BIAS, SeqCst);
            self.count(-1, || ());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kill_between_the_look_and_the_count_is_seen() {
        let counts = Box::new(Counts::new());
        counts.twin.count(1, || counts.twin.end());
        assert!(
            counts.twin.known.is_over(),
            "released although the reference above is held"
        );
        counts.twin.count(-1, || ());
        counts.visit(|| {
            counts.turn();
            assert!(!counts.known.is_over());
            counts.turn();
        });
        assert!(counts.known.is_over());
        assert_eq!(counts.wrong(), (0, 1));
    }

    #[test]
    fn a_put_that_is_lost_is_seen() {
        let counts = Box::new(Counts::new());
        counts.twin.count(1, || ());
        counts.turn();
        counts.turn();
        counts.visit(|| ());
        // One life ended, the other never does.
        assert_eq!((counts.known.releases.load(SeqCst), counts.wrong()), (1, (0, 2)));
    }
}
