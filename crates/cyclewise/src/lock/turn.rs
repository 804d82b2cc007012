//! Turns: how long the head of the queue has been passed, and the release that ends it.
//!
//! Running threads pass the head while it spins, and while it is awake but has no CPU: the latter is up to the scheduler, and
//! takes milliseconds where threads share CPUs. So the holders count: at every [`PASSES`]th release with a queue the holder reads
//! the clock, and once the last head has taken the lock [`TURN_NS`] ago it hands the lock to the head. A thread that is handed the lock
//! is the only one to take it; the others queue, sleep, and leave their CPUs to it.
//!
//! The record is 16 bits of the lock's word, which only the holder reads and writes.
//!
//! # Invariants
//! 1. Between two turns of heads, the lock is released to newcomers for at most [`TURN_NS`], and for [`PASSES`] times more; for twice as
//!    many where [`PASSES`] sections take so long that the record's time begins again. The clock is read after [`PASSES`] releases, and
//!    then after each [`PASSES`] - 1 more, since sections of one length could otherwise end soon after each beginning of the record's time.
//!    There is no bound where they do so all the same: where all sections take 0.53 ms, or two to four times that, to within one per cent.
//!
//! # Cost
//! A release with a queue: a load and a store of the line that it has anyway. Every [`PASSES`]th, and every turn of a head: the clock. With 8
//! threads a CPU, 3 % (quick runs) to 7 % (longer ones) of an operation on a Zen 5 (`design/library.md`).

use super::lock_word::{HANDOFF, LockWord};
use super::nodes::is_waited_for;
use super::park::Park;
use super::sleepers::released;
use crate::primitive::AtomicU16;
use core::marker::PhantomData;
use core::mem::forget;
use core::sync::atomic::Ordering::Relaxed;

/// Releases with a queue between two reads of the clock.
pub(super) const PASSES: u16 = 1 << COUNT_BITS;
const COUNT_BITS: u32 = 8;
/// The unit of a record's time, as a shift of nanoseconds: its 8 bits begin again after 134 ms.
const UNIT_SHIFT: u32 = 19;
/// How long the head may be passed: 2.1 ms. The time slices of Linux are 2.8 ms and more, so a longer one would seldom end; a shorter one
/// costs throughput (`design/library.md`).
pub(super) const TURN_NS: u64 = 4 << UNIT_SHIFT;

/// A record: the time of the last head's turn above, the releases since below.
const fn record(now_ns: u64) -> u16 {
    ((now_ns >> UNIT_SHIFT) << COUNT_BITS) as u16
}

/// Called by a head that has just taken the lock.
pub(super) fn begin<W: LockWord, P: Park>(word: &W) {
    if let Some(turn) = word.turn()
        && let Some(now_ns) = P::now_ns()
    {
        // Relaxed: only holders access it.
        turn.store(record(now_ns), Relaxed);
    }
}

/// Releases what the caller holds, where there is a queue.
#[inline]
pub(super) fn release<W: LockWord, P: Park>(word: &W) {
    if P::SLEEPS
        && let Some(turn) = word.turn()
    {
        // Relaxed: only holders access it.
        let next = turn.load(Relaxed).wrapping_add(1);
        turn.store(next, Relaxed);
        if next & (PASSES - 1) == 0 {
            return release_slow::<W, P>(word, turn);
        }
    }
    word.release();
}

#[cold]
#[inline(never)]
fn release_slow<W: LockWord, P: Park>(word: &W, turn: &AtomicU16) {
    // Relaxed, here and below: only holders access it. The count is back at zero; its carry is taken from the time.
    let began = turn.load(Relaxed).wrapping_sub(PASSES);
    turn.store(began, Relaxed);
    let unwinds = ReleaseOnUnwind::<W, P>(word, PhantomData);
    let now_ns = P::now_ns();
    forget(unwinds);
    if now_ns.is_some_and(|now_ns| is_over(began, now_ns)) && is_waited_for(word) {
        word.release_to_head(HANDOFF);
    } else {
        turn.store(began | 1, Relaxed);
        word.release();
    }
}

/// A head's own view of its turn, from its first sleep on.
#[derive(Default)]
pub(super) enum HeadTurn {
    #[default]
    Awake,
    /// Has slept, first at this time.
    Slept(Option<u64>),
}

impl HeadTurn {
    /// Called before each sleep: whether the lock has to be handed over. Without a clock: from the second sleep on.
    pub(super) fn is_over<P: Park>(&mut self) -> bool {
        let now_ns = P::now_ns();
        match *self {
            Self::Awake => {
                *self = Self::Slept(now_ns);
                false
            }
            Self::Slept(since_ns) => since_ns
                .zip(now_ns)
                .is_none_or(|(since, now)| now.saturating_sub(since) >= TURN_NS),
        }
    }
}

fn is_over(began: u16, now_ns: u64) -> bool {
    record(now_ns).wrapping_sub(began) >= record(TURN_NS)
}

/// Releases the lock where the program's clock unwinds.
struct ReleaseOnUnwind<'w, W: LockWord, P: Park>(&'w W, PhantomData<P>);

impl<W: LockWord, P: Park> Drop for ReleaseOnUnwind<'_, W, P> {
    fn drop(&mut self) {
        let key = self.0.address();
        self.0.release();
        released::<P>(key);
    }
}
