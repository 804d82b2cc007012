//! The journal: the batch in progress, for a child that another thread forks in the middle of it.
//!
//! Fork copies memory while other threads run and does not wait for a change (see `patch::text_lock`). The child takes
//! the lock over, completes or reverses a key's change according to the key's state, and makes the pages read-only
//! again. LOCK sites are left as they are: until LOCK is restored everywhere, the mode in force does not need it.
//!
//! # Invariants
//! 1. A batch is recorded before it writes, and the record is cleared before the lock is released. So a record that a
//!    new owner of the lock finds was made by a thread that exists only in the parent. The record's edits are on the
//!    heap, and only that thread would use or free them.
//! 2. Fork copies page by page while it holds the kernel's lock of the address space. Text is written by the kernel,
//!    which takes that lock, or between two calls of mprotect, which take it too. So a child with changed text was
//!    copied after the record was complete, and a child with a cleared record has the whole change.
//! 3. A child whose record was copied in part has unchanged text. Checksums detect this: one over the record, which
//!    guards the pointer to the edits, and one over the edits. A mapping that the record points into existed before it.
//!
//! # Safety
//! Edits are read through the record only in the cases of Invariants 1 and 3.
#![expect(unsafe_code, reason = "edits that another thread left, by their address")]

use super::{Edit, Goal};
use crate::patch::text_guard::TextGuard;
use core::ptr::null_mut;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU64, AtomicUsize};

impl Goal {
    /// The goal of the batch that reverses this one.
    pub(super) fn reversed(self) -> Self {
        let value = !self.value;
        Self { value, ..self }
    }
}

// Relaxed, all of them: the text lock orders their writers, and a child reads what fork copied.
static EDITS: AtomicPtr<Edit> = AtomicPtr::new(null_mut());
static COUNT: AtomicUsize = AtomicUsize::new(0);
static STATE: AtomicPtr<AtomicU8> = AtomicPtr::new(null_mut());
static VALUE: AtomicBool = AtomicBool::new(false);
/// The checksum of the edits.
static CONTENT: AtomicU64 = AtomicU64::new(0);
/// The checksum of all of the above; 0 while nothing is recorded.
static RECORD: AtomicU64 = AtomicU64::new(0);

/// Records a batch before it is written.
pub(super) fn record(_: &TextGuard, edits: &mut [Edit], goal: Option<Goal>) {
    RECORD.store(0, Relaxed);
    EDITS.store(edits.as_mut_ptr(), Relaxed);
    COUNT.store(edits.len(), Relaxed);
    STATE.store(
        goal.map_or(null_mut(), |goal| core::ptr::from_ref(goal.state).cast_mut()),
        Relaxed,
    );
    VALUE.store(goal.is_some_and(|goal| goal.value), Relaxed);
    CONTENT.store(content(edits), Relaxed);
    RECORD.store(sum_of_record(), Relaxed);
}

/// Clears the record: the batch is written, and so is its state.
pub(crate) fn forget(_: &TextGuard) {
    RECORD.store(0, Relaxed);
}

pub(crate) fn any() -> bool {
    RECORD.load(Relaxed) != 0
}

/// Takes the batch that a lost thread left, and whether its state already has the new value; `None` if the batch has no
/// state.
///
/// # Safety
/// The calling thread has just taken the lock, and calls this once (Invariant 1).
pub(super) unsafe fn left(_: &TextGuard) -> Option<(&'static mut [Edit], Option<bool>)> {
    let recorded = RECORD.swap(0, Relaxed);
    if recorded == 0 || recorded != sum_of_record() {
        return None;
    }
    // SAFETY: the record is whole, so these are the edits of a thread that is not here (Invariants 1 and 3).
    let edits = unsafe { core::slice::from_raw_parts_mut(EDITS.load(Relaxed), COUNT.load(Relaxed)) };
    if CONTENT.load(Relaxed) != content(edits) {
        return None;
    }
    // SAFETY: null, or a key (`Goal`). Its link unit was loaded when fork copied the record, so it is here.
    let state = unsafe { STATE.load(Relaxed).as_ref() };
    let has_followed = state.map(|state| (state.load(Relaxed) != 0) == VALUE.load(Relaxed));
    Some((edits, has_followed))
}

fn sum_of_record() -> u64 {
    let words = [
        EDITS.load(Relaxed).addr() as u64,
        COUNT.load(Relaxed) as u64,
        STATE.load(Relaxed).addr() as u64,
        u64::from(VALUE.load(Relaxed)),
        CONTENT.load(Relaxed),
    ];
    sum(words)
}

fn content(edits: &[Edit]) -> u64 {
    // One word an edit: the sum waits for one multiplication an edit, not for four. These do not wait for each other.
    sum(edits.iter().map(|edit| {
        let (expect, new) = (u64::from_ne_bytes(edit.expect), u64::from_ne_bytes(edit.new));
        let place = (edit.start() as u64).wrapping_mul(FACTORS[0]) ^ u64::from(edit.len);
        place ^ expect.wrapping_mul(FACTORS[1]) ^ new.wrapping_mul(FACTORS[2])
    }))
}

/// Odd, so that a change of one field always changes the word: the constants of splitmix64 (Steele and others, 2014).
const FACTORS: [u64; 3] = [0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb];

/// Never 0. A different word gives the same sum with a chance of one in 2^63.
fn sum(words: impl IntoIterator<Item = u64>) -> u64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325; // FNV-1a, by words: draft-eastlake-fnv
    const PRIME: u64 = 0x0000_0100_0000_01b3; // the same
    let mix = |sum: u64, word: u64| (sum ^ word).wrapping_mul(PRIME).rotate_left(29);
    words.into_iter().fold(OFFSET, mix) | 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::text_lock;

    #[test]
    fn a_record_that_is_torn_or_stale_is_none() {
        static STATE_OF_TEST: AtomicU8 = AtomicU8::new(0);
        let held = text_lock::lock().unwrap();
        let edit = Edit {
            at: core::ptr::without_provenance_mut(0x1000),
            len: 1,
            expect: [1; 8],
            new: [2; 8],
        };
        let edits = alloc::boxed::Box::leak(alloc::boxed::Box::new([edit; 3]));
        let goal = Goal {
            state: &STATE_OF_TEST,
            value: true,
        };
        // SAFETY: this thread has the lock, and made each record itself.
        let left = || unsafe { super::left(&held) }.map(|(edits, has_followed)| (edits.len(), has_followed));
        assert_eq!(left(), None);

        record(&held, edits, Some(goal));
        assert!(any());
        assert_eq!(left(), Some((3, Some(false))), "it has not followed");
        assert_eq!(left(), None, "found once");

        STATE_OF_TEST.store(1, Relaxed);
        record(&held, edits, Some(goal));
        assert_eq!(left(), Some((3, Some(true))), "it has followed");
        record(&held, edits, None);
        assert_eq!(left(), Some((3, None)), "there is no state");

        record(&held, edits, Some(goal));
        COUNT.store(1 << 40, Relaxed);
        assert_eq!(left(), None, "the record is torn");
        record(&held, edits, Some(goal));
        CONTENT.store(CONTENT.load(Relaxed) ^ 1, Relaxed);
        RECORD.store(sum_of_record(), Relaxed);
        assert_eq!(left(), None, "the edits are not those of the record");

        record(&held, edits, Some(goal));
        drop(held);
        assert!(!any(), "who gives the lock back has forgotten it");
    }
}
