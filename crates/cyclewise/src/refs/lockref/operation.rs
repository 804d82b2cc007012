//! The word: which of its bits mean what, and what each operation makes of each count.
//!
//! Everything here is a function of numbers; who stores what they return, and when, is `update`'s and `guard`'s business.
//!
//! # States
//! The high half is the lock's and zero while nobody holds it or waits for it. The low half is the count, a signed number:
//!
//! | count | state |
//! |---|---|
//! | [`DEAD`], −128 | dead: it is going away, and nobody gets a reference any more |
//! | 0 | idle: alive, and nobody holds a reference |
//! | 1 to [`MAX`] | so many references |
//! | [`SATURATED`] | more than can be counted, or miscounted: alive for ever |
//!
//! No other number is ever stored.

use crate::lock::HighHalfWord;
use crate::refs::refcount::Event;
use core::sync::atomic::Ordering::{self, Acquire, Relaxed, Release};

/// What a dead one's count reads as: the kernel's number.
pub(super) const DEAD: i32 = -128; // Linux lib/lockref.c, lockref_mark_dead

/// The largest that is exact.
pub(super) const MAX: i32 = SATURATED - 1;

/// The count of one that is never given up. The top is safe, where Refcount takes the middle of the negative numbers:
/// no operation stores a count before it has looked at it, so none is ever one too far.
pub(super) const SATURATED: i32 = i32::MAX;

/// The word of an unlocked count.
pub(super) const fn word(count: i32) -> u64 {
    count.cast_unsigned() as u64
}

/// The count in a word.
#[inline(always)]
pub(super) const fn count(word: u64) -> i32 {
    (word as u32).cast_signed()
}

/// Whether nobody holds the lock or waits for it.
#[inline(always)]
pub(super) const fn is_unlocked(word: u64) -> bool {
    word <= HighHalfWord::FREE
}

/// What to add to a word to take its count from `old` to `new`; the lock's half stays as it is: the sum is of
/// that half and `new`, without a carry.
pub(super) const fn difference(old: i32, new: i32) -> u64 {
    word(new).wrapping_sub(word(old))
}

/// What becomes of a count that is outside an operation's range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edge {
    /// It is this now, and that is misuse. The operation has done what it is for.
    Becomes(i32, Event),
    /// It stays, and that is as good as done.
    Stays,
    /// It stays, and that is misuse.
    Faulty(Event),
    /// It stays: the operation is refused.
    Refused,
    /// It stays, the lock is kept, and the caller decides.
    Lock(Option<Event>),
}

/// An operation on the count.
pub(super) trait Operation {
    /// The counts that it simply adds [`Self::DELTA`] to: from the first up to, not including, the second.
    const RANGE: (i32, i32);
    /// One or minus one.
    const DELTA: i32;
    /// The ordering with which it stores a count.
    const ORDER: Ordering;
    /// Whether it takes the lock where the count cannot be changed without; else it is refused there.
    const QUEUES: bool = true;

    /// What becomes of the counts outside the range.
    fn edge(count: i32) -> Edge;

    /// The word after it, where the word is unlocked and its count in the range.
    #[inline(always)]
    fn simple(word: u64) -> Option<u64> {
        // The lock is the greater half, and a count below zero a large number: one comparison sees a lock that is not free
        // and both ends of the range.
        let offset = word.wrapping_sub(Self::RANGE.0 as u64);
        (offset < (Self::RANGE.1 - Self::RANGE.0) as u64).then(|| word.wrapping_add_signed(Self::DELTA.into()))
    }
}

/// `lockref_get`: the caller holds a reference.
pub(super) struct Get;

impl Operation for Get {
    const RANGE: (i32, i32) = (1, MAX);
    const DELTA: i32 = 1;
    // The new reference is made of one that is held, and handing it on is what orders the two.
    const ORDER: Ordering = Relaxed;

    fn edge(count: i32) -> Edge {
        match count {
            // ScriptedPolicy may hold references that are not counted: what is left is to never let it die.
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
    // Acquire: pairs with the Release of puts and of the unlock, so that what earlier holders did is seen.
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
    // Release: pairs with the Acquire of whoever finds that it was the last, and of later gets.
    const ORDER: Ordering = Release;
    const QUEUES: bool = false;

    fn edge(count: i32) -> Edge {
        match count {
            SATURATED => Edge::Stays,
            // The caller takes the lock and looks; that is no misuse yet.
            _ => Edge::Refused,
        }
    }
}

/// `lockref_put_or_lock`.
pub(super) struct PutOrLock;

impl Operation for PutOrLock {
    const RANGE: (i32, i32) = (2, SATURATED);
    const DELTA: i32 = -1;
    // Release: pairs with the Acquire of the lock by whoever gives up the last one.
    const ORDER: Ordering = Release;

    fn edge(count: i32) -> Edge {
        match count {
            SATURATED => Edge::Stays,
            1 => Edge::Lock(None),
            _ => Edge::Lock(Some(Event::SubUseAfterFree)),
        }
    }
}

/// One more, by the lock's holder: `count++` in the kernel. An idle one may be taken up again.
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

/// One less, by the lock's holder: `count--` in the kernel.
pub(super) struct LockedPut;

impl Operation for LockedPut {
    const RANGE: (i32, i32) = (1, SATURATED);
    const DELTA: i32 = -1;
    // Relaxed: the unlock orders it.
    const ORDER: Ordering = Relaxed;

    fn edge(count: i32) -> Edge {
        match count {
            // Whose reference was it? As it may be in use still, it never dies.
            0 => Edge::Becomes(SATURATED, Event::SubUseAfterFree),
            SATURATED => Edge::Stays,
            _ => Edge::Faulty(Event::SubUseAfterFree),
        }
    }
}
