//! Loom tries every order of the accesses of two threads, on the real count and on three with one defect each.

use super::{Got, Rcuref, UNDECIDED};
use crate::primitive::AtomicU32;
use crate::primitive::threads::{Checked, caught};
use loom::sync::Arc;
use loom::thread;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// A count, correct or broken.
trait Protocol: Send + Sync + 'static {
    fn with(stored: u32) -> Self;
    fn get(&self) -> Got;
    fn put(&self) -> bool;
    fn revive(&self);
    fn is_dead(&self) -> bool;
}

impl Protocol for Rcuref {
    fn with(stored: u32) -> Self {
        Self(AtomicU32::new(stored))
    }
    fn get(&self) -> Got {
        self.get()
    }
    fn put(&self) -> bool {
        self.put()
    }
    fn revive(&self) {
        self.revive();
    }
    fn is_dead(&self) -> bool {
        self.read() == 0
    }
}

/// The last put does not check whether another thread has taken a reference since.
const FREES_AT_ONCE: u8 = 1;
/// As in the kernel, where a grace period passes before the memory is reused.
const STORES_DEAD: u8 = 2;
const RELAXED_GET: u8 = 3;

/// The protocol of `Rcuref`, with the defect `WRONG`.
struct Twin<const WRONG: u8>(Rcuref);

impl<const WRONG: u8> Protocol for Twin<WRONG> {
    fn with(stored: u32) -> Self {
        Self(Rcuref::with(stored))
    }
    fn get(&self) -> Got {
        match WRONG {
            STORES_DEAD if self.0.0.fetch_add(1, Acquire).wrapping_add(1).cast_signed() < 0 => {
                self.0.0.store(super::DEAD, Relaxed);
                Got::Dead
            }
            RELAXED_GET if self.0.0.fetch_add(1, Relaxed).wrapping_add(1).cast_signed() < 0 => self.0.get_slow(),
            STORES_DEAD | RELAXED_GET => Got::Reference,
            _ => self.0.get(),
        }
    }
    fn put(&self) -> bool {
        match WRONG {
            FREES_AT_ONCE => {
                let last = self.0.0.fetch_sub(1, Release) == 0;
                if last {
                    let _ = self.0.0.load(Acquire);
                }
                last
            }
            _ => self.0.put(),
        }
    }
    fn revive(&self) {
        self.0.revive();
    }
    fn is_dead(&self) -> bool {
        self.0.read() == 0
    }
}

struct Slot<P> {
    count: P,
    value: Checked<bool>,
    /// Values created minus values freed.
    live: std::sync::atomic::AtomicU32,
}

impl<P: Protocol> Slot<P> {
    fn new(stored: u32, filled: bool) -> [Arc<Self>; 2] {
        let slot = Arc::new(Self {
            count: P::with(stored),
            value: Checked::new(filled),
            live: u32::from(filled).into(),
        });
        [Arc::clone(&slot), slot]
    }

    fn write(&self, filled: bool) {
        assert_ne!(self.value.replace(filled), filled, "freed twice");
        self.live.store(filled.into(), Relaxed);
    }

    fn visit(&self) {
        match self.count.get() {
            Got::Dead => {}
            Got::Last => self.write(false),
            Got::Reference => {
                assert!(self.value.get(), "freed early");
                self.put();
            }
        }
    }

    fn put(&self) {
        if self.count.put() {
            self.write(false);
        }
    }

    fn is_over(&self) {
        assert_eq!(self.live.load(Relaxed), 0, "never freed");
        assert!(self.count.is_dead(), "dead");
    }
}

/// The last reference is given up while another is asked for.
fn a_get_meets_the_last_put<P: Protocol>() {
    loom::model(|| {
        let [here, there] = Slot::<P>::new(0, true);
        let thread = thread::spawn(move || there.visit());
        here.put();
        thread.join().unwrap();
        here.is_over();
    });
}

/// A dead slot is reused while another thread comes with a stale key.
fn a_get_meets_a_new_life<P: Protocol>() {
    loom::model(|| {
        let [here, there] = Slot::<P>::new(super::DEAD, false);
        let thread = thread::spawn(move || there.visit());
        here.write(true);
        here.count.revive();
        here.put();
        thread.join().unwrap();
        here.is_over();
    });
}

#[test]
fn rcuref_frees_once_and_never_early() {
    a_get_meets_the_last_put::<Rcuref>();
    a_get_meets_a_new_life::<Rcuref>();
    a_get_meets_the_last_put::<Twin<0>>();
    a_get_meets_a_new_life::<Twin<0>>();
}

/// The maximum and one more, which is given up at once: every `get` has to return a reference, since it is counted.
#[test]
fn a_get_past_the_maximum_never_finds_it_dead() {
    loom::model(|| {
        let [here, there] = Slot::<Rcuref>::new(Rcuref::MAX - 1, true);
        let thread = thread::spawn(move || there.count.put());
        assert_eq!(here.count.get(), Got::Reference);
        assert!(!thread.join().unwrap());
        // Exact again, or saturated.
        assert!(here.count.read() >= Rcuref::MAX);
    });
}

#[test]
fn failed_gets_do_not_move_a_dead_count() {
    loom::model(|| {
        let [here, there] = Slot::<Rcuref>::new(super::DEAD, false);
        let thread = thread::spawn(move || there.count.get());
        assert_eq!(here.count.get(), Got::Dead);
        assert_eq!(thread.join().unwrap(), Got::Dead);
        assert_eq!(here.count.0.fetch_add(0, Relaxed), super::DEAD);
        assert_ne!(super::DEAD, UNDECIDED);
    });
}

caught! {
    a_put_that_frees_at_once_is_caught: "Causality violation" by a_get_meets_the_last_put::<Twin<FREES_AT_ONCE>>();
    a_get_that_stores_the_dead_mark_is_caught: "never freed" by a_get_meets_a_new_life::<Twin<STORES_DEAD>>();
    a_relaxed_get_is_caught: "Causality violation" by a_get_meets_a_new_life::<Twin<RELAXED_GET>>();
}
