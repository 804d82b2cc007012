//! A futex for the loom models: a waiter that is not woken blocks forever, and loom fails the model.

use super::super::park::Park;
use crate::primitive::{AtomicU32, fence};
use core::cell::Cell;
use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use loom::sync::{Condvar, Mutex};

loom::lazy_static! {
    static ref KERNEL: (Mutex<()>, Condvar) = (Mutex::new(()), Condvar::new());
}

loom::thread_local! {
    static LOOKS: Cell<u32> = Cell::new(0);
}

/// A deadline that passes after this many checks by its thread. A wait in between ends as if it had passed.
#[derive(Clone, Copy)]
pub(super) struct Looks(pub(super) u32);

pub(super) const NOTHING: u8 = 0;
pub(super) const NO_WAKE: u8 = 1;
pub(super) const NO_LIGHT: u8 = 2;
pub(super) const NO_HEAVY: u8 = 3;
pub(super) const REFUSED: u8 = 4;

pub(super) struct Kernel<const WRONG: u8 = NOTHING>;

impl<const WRONG: u8> Park for Kernel<WRONG> {
    type Deadline = Looks;
    const SLEEPS: bool = true;

    fn wait(word: &AtomicU32, expected: u32, until: Option<Looks>) {
        if until.is_some() {
            return loom::thread::yield_now();
        }
        let guard = KERNEL.0.lock().unwrap();
        // Relaxed: a waker has changed the word before it takes the mutex. It comes first, or it finds the sleeper.
        if word.load(Relaxed) == expected {
            drop(KERNEL.1.wait(guard).unwrap());
        }
    }

    fn nap(_: &AtomicU32, _: u32, _: Option<Looks>) {
        loom::thread::yield_now();
    }

    fn wake(_: &AtomicU32) {
        if WRONG != NO_WAKE {
            let _guard = KERNEL.0.lock().unwrap();
            KERNEL.1.notify_all();
        }
    }

    fn is_past(until: Looks) -> bool {
        LOOKS.with(|looks| {
            looks.set(looks.get() + 1);
            looks.get() > until.0
        })
    }

    fn light() {
        if WRONG != NO_LIGHT {
            fence(SeqCst);
        }
    }

    fn heavy() -> bool {
        if WRONG != NO_HEAVY {
            fence(SeqCst);
        }
        WRONG != REFUSED
    }
}
