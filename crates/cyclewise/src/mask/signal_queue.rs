//! Signals that a handler puts aside for the program to look at when it likes.
//!
//! # Safety
//! 1. Putting a signal aside copies six words under the lock of a [`Masked`], which whoever takes it holds signals for,
//!    and which is waited for by bare system calls and not for ever.
#![expect(
    unsafe_code,
    reason = "an unsafe trait: what is promised is that no lock can be waited for in vain"
)]

use super::handler::Handler;
use super::{Hold, Info, Masked};
use core::time::Duration;

/// The last signals, oldest first: up to `N` of them.
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
            signals: [Info([0; 6]); N],
            head: 0,
            len: 0,
            refused: 0,
        }
    }

    /// Appends. Where there is no room it is counted as refused.
    pub fn push(&mut self, info: Info) {
        if self.len < N {
            self.signals[(self.head + self.len) % N] = info;
            self.len += 1;
        } else {
            self.refused += 1;
        }
    }

    /// Takes the oldest.
    pub fn pop(&mut self) -> Option<Info> {
        if self.len == 0 {
            return None;
        }
        let info = self.signals[self.head];
        self.head = (self.head + 1) % N;
        self.len -= 1;
        Some(info)
    }

    /// Signals for which there was no room. Those that came while somebody had the queue for too long are
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

/// How long a handler waits for who has the queue.
const PATIENCE: Duration = Duration::from_secs(1); // A guess: longer than any holder that runs is kept off its CPU.

// SAFETY: Invariant 1.
unsafe impl<const N: usize> Handler for Masked<Queue<N>> {
    /// Appends the signal. Where the queue cannot be had for a second, or not at all, the signal is
    /// [`refused`](Masked::refused).
    fn handle(&self, info: &Info, hold: &Hold) {
        if let Some(mut queue) = self.try_lock_for(hold, PATIENCE) {
            queue.push(*info);
        }
    }
}
