//! A barrier for threads or processes: the last to arrive releases all of them.
//!
//! The parent does not take part: it would need a CPU while every CPU has a waiter.
//!
//! # States of `gate`
//! `SHUT` until the last party arrives, then `OPEN` for good; `BROKEN` as soon as one gives up.

use crate::sys::futex;
use std::io;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::time::Duration;

const SHUT: u32 = 0; // not all have arrived
const OPEN: u32 = 1; // all have arrived
const BROKEN: u32 = 2; // one will never arrive

/// Polls before sleeping: some 10 to 100 µs, about the cost of a wake-up.
const SPINS: u32 = 2000;

/// Longer than starting and pinning ever take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A single-use barrier of `parties`, on two shared words that are 0 at first.
pub struct Barrier<'a> {
    pub gate: &'a AtomicU32,
    pub arrived: &'a AtomicU32,
    /// How many are to arrive.
    pub parties: u32,
}

impl Barrier<'_> {
    /// Waits until all have arrived. Async-signal-safe.
    ///
    /// # Errors
    /// `Interrupted` if another party broke the barrier; ETIMEDOUT, which breaks it.
    pub fn wait(&self) -> io::Result<()> {
        // AcqRel: each party sees what the others did before they arrived.
        if self.arrived.fetch_add(1, AcqRel) + 1 == self.parties {
            self.turn(OPEN);
        }
        for _ in 0..SPINS {
            // Acquire: pairs with the Release in `turn`.
            if self.gate.load(Acquire) != SHUT {
                break;
            }
            std::hint::spin_loop();
        }
        while self.gate.load(Acquire) == SHUT {
            if let Err(e) = futex::wait(self.gate, SHUT, TIMEOUT) {
                self.break_it();
                return Err(e);
            }
        }
        match self.gate.load(Acquire) {
            OPEN => Ok(()),
            _ => Err(io::ErrorKind::Interrupted.into()),
        }
    }

    /// Makes all waiters give up: one party will never arrive.
    pub fn break_it(&self) {
        self.turn(BROKEN);
    }

    pub fn is_broken(&self) -> bool {
        // Relaxed: only the state itself is read.
        self.gate.load(Relaxed) == BROKEN
    }

    fn turn(&self, to: u32) {
        // Release: pairs with the Acquires in `wait`. Only from SHUT: a barrier that has opened stays open.
        let _ = self.gate.compare_exchange(SHUT, to, Release, Relaxed);
        futex::wake_all(self.gate);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    #[test]
    fn nobody_leaves_before_the_last_arrives() {
        let words = [const { AtomicU32::new(0) }; 3];
        let barrier = Barrier {
            gate: &words[0],
            arrived: &words[1],
            parties: 3,
        };
        std::thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| {
                    words[2].fetch_add(1, Relaxed);
                    barrier.wait().unwrap();
                    assert_eq!(words[2].load(Relaxed), 3);
                });
            }
        });
    }

    #[test]
    fn a_broken_barrier_makes_all_waiters_give_up() {
        let words = [const { AtomicU32::new(0) }; 2];
        let barrier = Barrier {
            gate: &words[0],
            arrived: &words[1],
            parties: 2,
        };
        std::thread::scope(|s| {
            let waiter = s.spawn(|| barrier.wait().is_err());
            std::thread::sleep(Duration::from_millis(5));
            barrier.break_it();
            assert!(waiter.join().unwrap());
        });
    }
}
