//! The bits of the word, and what each operation makes of each count.
//!
//! Only functions of numbers; `update` and `guard` store what they return.
//!
//! # States
//! The high half is the lock, zero while nobody holds it or waits for it. The low half is the count, a signed number:
//!
//! | count | state |
//! |---|---|
//! | [`DEAD`], −128 | dead: being retired; nobody gets a reference any more |
//! | 0 | idle: alive, without references |
//! | 1 to [`MAX`] | that many references |
//! | [`SATURATED`] | more than can be counted, or miscounted: alive until `mark_dead` |
//!
//! No other number is ever stored.

use crate::lock::HighHalfWord;
use crate::refs::refcount::Event;
use core::sync::atomic::Ordering::{self, Acquire, Relaxed, Release};

/// A dead count: the kernel's number.
pub(super) const DEAD: i32 = -128; // Linux lib/lockref.c, lockref_mark_dead

/// The largest exact count.
pub(super) const MAX: i32 = SATURATED - 1;

/// A saturated count. The largest number is safe here, where Refcount needs the middle of the negative ones: no
/// operation stores a count before it has checked it, so none is ever one too far.
pub(super) const SATURATED: i32 = i32::MAX;

/// The word of an unlocked count.
pub(super) const fn word(count: i32) -> u64 {
    count.cast_unsigned() as u64
}

#[inline(always)]
pub(super) const fn count(word: u64) -> i32 {
    (word as u32).cast_signed()
}

/// Whether nobody holds the lock or waits for it.
#[inline(always)]
pub(super) const fn is_unlocked(word: u64) -> bool {
    word <= HighHalfWord::FREE
}

/// The number to add to a word to change its count from `old` to `new`. The lock's half stays: the sum is of that half
/// and `new`, without a carry.
pub(super) const fn difference(old: i32, new: i32) -> u64 {
    word(new).wrapping_sub(word(old))
}

/// What an operation does with a count outside its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edge {
    /// The count becomes this, which is misuse. The operation succeeds.
    Becomes(i32, Event),
    /// The count stays, and the operation succeeds.
    Stays,
    /// The count stays, which is misuse.
    Faulty(Event),
    /// The count stays: the operation is refused.
    Refused,
    /// The count stays, the lock stays held, and the caller decides.
    Lock(Option<Event>),
}

pub(super) trait Operation {
    /// The counts that it adds [`Self::DELTA`] to: from the first up to, not including, the second.
    const RANGE: (i32, i32);
    /// One or minus one.
    const DELTA: i32;
    /// The ordering with which it stores a count.
    const ORDER: Ordering;
    /// Whether it takes the lock if the count cannot be changed without it; otherwise it is refused.
    const QUEUES: bool = true;

    /// What it does with a count outside the range.
    fn edge(count: i32) -> Edge;

    /// The new word, if the word is unlocked and its count in the range.
    #[inline(always)]
    fn simple(word: u64) -> Option<u64> {
        // The lock is the upper half, and a negative count is a large number: one comparison detects a lock that is not
        // free and both ends of the range.
        let offset = word.wrapping_sub(Self::RANGE.0 as u64);
        (offset < (Self::RANGE.1 - Self::RANGE.0) as u64).then(|| word.wrapping_add_signed(Self::DELTA.into()))
    }
}

/// `lockref_get`: the caller holds a reference.
pub(super) struct Get;

impl Operation for Get {
    const RANGE: (i32, i32) = (1, MAX);
    const DELTA: i32 = 1;
    // Relaxed: the caller already holds a reference, and whatever hands the new one on orders the two.
    const ORDER: Ordering = Relaxed;

    fn edge(count: i32) -> Edge {
        match count {
            // Others may hold uncounted references, so the object must never die.
            0 => Edge::Becomes(SATURATED, Event::AddUseAfterFree),
            MAX => Edge::Becomes(SATURATED, Event::AddOverflow),
            SATURATED => Edge::Stays,
            _ => Edge::Faulty(Event::AddUseAfterFree),
        }
    }
}

/// `lockref_get_not_zero`.
pub(super) struct GetNotZero;

impl Operation for GetNotZero {
    const RANGE: (i32, i32) = (1, MAX);
    const DELTA: i32 = 1;
    // Acquire: pairs with the Release of puts and of the unlock, so that what earlier holders did is visible.
    const ORDER: Ordering = Acquire;

    fn edge(count: i32) -> Edge {
        match count {
            MAX => Edge::Becomes(SATURATED, Event::AddNotZeroOverflow),
            SATURATED => Edge::Stays,
            _ => Edge::Refused,
        }
    }
}

/// `lockref_get_not_dead`.
pub(super) struct GetNotDead;

impl Operation for GetNotDead {
    const RANGE: (i32, i32) = (0, MAX);
    const DELTA: i32 = 1;
    // Acquire: as for GetNotZero.
    const ORDER: Ordering = Acquire;

    fn edge(count: i32) -> Edge {
        GetNotZero::edge(count)
    }
}

/// `lockref_put_return`.
pub(super) struct PutReturn;

impl Operation for PutReturn {
    const RANGE: (i32, i32) = (1, SATURATED);
    const DELTA: i32 = -1;
    // Release: pairs with the Acquire of the last put, and of later gets.
    const ORDER: Ordering = Release;
    const QUEUES: bool = false;

    fn edge(count: i32) -> Edge {
        match count {
            SATURATED => Edge::Stays,
            // The caller takes the lock and checks; this is no misuse yet.
            _ => Edge::Refused,
        }
    }
}

/// `lockref_put_or_lock`.
pub(super) struct PutOrLock;

impl Operation for PutOrLock {
    const RANGE: (i32, i32) = (2, SATURATED);
    const DELTA: i32 = -1;
    // Release: pairs with the Acquire of the lock by the thread that gives up the last reference.
    const ORDER: Ordering = Release;

    fn edge(count: i32) -> Edge {
        match count {
            SATURATED => Edge::Stays,
            1 => Edge::Lock(None),
            _ => Edge::Lock(Some(Event::SubUseAfterFree)),
        }
    }
}

/// Adds a reference under the lock: `count++` in the kernel. Revives an idle object.
pub(super) struct LockedGet;

impl Operation for LockedGet {
    const RANGE: (i32, i32) = (0, MAX);
    const DELTA: i32 = 1;
    // Relaxed: the unlock orders it.
    const ORDER: Ordering = Relaxed;

    fn edge(count: i32) -> Edge {
        match count {
            MAX => Edge::Becomes(SATURATED, Event::AddOverflow),
            SATURATED => Edge::Stays,
            _ => Edge::Faulty(Event::AddUseAfterFree),
        }
    }
}

/// Removes a reference under the lock: `count--` in the kernel.
pub(super) struct LockedPut;

impl Operation for LockedPut {
    const RANGE: (i32, i32) = (1, SATURATED);
    const DELTA: i32 = -1;
    // Relaxed: the unlock orders it.
    const ORDER: Ordering = Relaxed;

    fn edge(count: i32) -> Edge {
        match count {
            // The missing reference may still be in use, so the object never dies.
            0 => Edge::Becomes(SATURATED, Event::SubUseAfterFree),
            SATURATED => Edge::Stays,
            _ => Edge::Faulty(Event::SubUseAfterFree),
        }
    }
}
