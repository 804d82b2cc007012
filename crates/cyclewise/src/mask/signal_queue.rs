//! A queue of signals that a handler fills and the program empties later.
//!
//! # Safety
//! 1. The handler copies an [`Info`] under the lock of a [`Masked`]. Every owner of that lock holds signals, and the
//!    handler waits for it with bare system calls and a limit.
#![expect(unsafe_code, reason = "an unsafe trait: its lock is never waited for forever")]

use super::handler::Handler;
use super::siginfo::WORDS;
use super::{Hold, Info, Masked};
use core::time::Duration;

/// Up to `N` signals, oldest first.
#[derive(Debug)]
pub struct Queue<const N: usize> {
    signals: [Info; N],
    head: usize,
    len: usize,
    refused: u64,
}

impl<const N: usize> Queue<N> {
    /// An empty one.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            signals: [Info([0; WORDS]); N],
            head: 0,
            len: 0,
            refused: 0,
        }
    }

    /// Appends a signal, or counts it as refused if there is no room.
    pub fn push(&mut self, info: Info) {
        if self.len < N {
            self.signals[(self.head + self.len) % N] = info;
            self.len += 1;
        } else {
            self.refused += 1;
        }
    }

    /// Removes the oldest.
    pub fn pop(&mut self) -> Option<Info> {
        if self.len == 0 {
            return None;
        }
        let info = self.signals[self.head];
        self.head = (self.head + 1) % N;
        self.len -= 1;
        Some(info)
    }

    /// Signals for which there was no room. Those that arrived while another thread owned the queue for too long are in
    /// [`Masked::refused`].
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.refused
    }
}

impl<const N: usize> Default for Queue<N> {
    fn default() -> Self {
        Self::new()
    }
}

/// How long a handler waits for the queue.
const PATIENCE: Duration = Duration::from_secs(1); // A guess: longer than any runnable owner waits for a CPU.

// SAFETY: Invariant 1.
unsafe impl<const N: usize> Handler for Masked<Queue<N>> {
    /// Appends the signal. If the queue cannot be taken within a second, the signal is [`refused`](Masked::refused).
    fn handle(&self, info: &Info, hold: &Hold) {
        if let Some(mut queue) = self.try_lock_for(hold, PATIENCE) {
            queue.push(*info);
        }
    }
}
