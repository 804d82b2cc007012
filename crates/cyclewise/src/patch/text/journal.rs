//! The change under way, for a child that is forked in the middle of it by another thread than the one that makes it.
//!
//! Fork copies memory while other threads run, and does not wait for a change (see `patch::text_lock`). The child takes the lock
//! over, ends a key's change or undoes it, as the key's state says, and takes write access from the pages again. Sites of LOCK are left as
//! they are: until LOCK is back everywhere, the mode in force is one that needs none.
//!
//! # Invariants
//! 1. A change is recorded before it writes, and forgotten before the lock is given back. So a record that a new owner of
//!    the lock finds was made by a thread that is not here, and nobody else uses its edits: they are on the heap, and whoever
//!    would free them stayed behind.
//! 2. Fork copies page by page while it holds the kernel's lock of the address space. Text is written by the kernel, which
//!    takes that lock, or between two calls of mprotect, which take it too. So a child whose text has changed was copied
//!    after the record was complete, and one that has forgotten the record has all of the change.
//! 3. A child whose record was copied in parts has text that has not changed. The sums tell: one over the record, so that
//!    the edits are where it says, and one over the edits. A mapping that the record points into was there before it.
//!
//! # Safety
//! Edits are read through the record in the cases of Invariants 1 and 3 only.
#![expect(unsafe_code, reason = "edits that another thread left, by their address")]

use super::Edit;
use crate::patch::text_lock::TextGuard;
use core::ptr::null_mut;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize};

/// The state that a batch changes, and what it becomes once the batch is written.
#[derive(Clone, Copy)]
pub(crate) struct Goal {
    /// The state.
    pub(crate) state: &'static AtomicBool,
    /// What it becomes.
    pub(crate) value: bool,
}

impl Goal {
    /// The goal of the batch that undoes this one's.
    pub(super) fn reversed(self) -> Self {
        let value = !self.value;
        Self { value, ..self }
    }
}

// Relaxed, all of them: the lock of the text orders their writers, and a child reads what fork has copied.
static EDITS: AtomicPtr<Edit> = AtomicPtr::new(null_mut());
static COUNT: AtomicUsize = AtomicUsize::new(0);
static STATE: AtomicPtr<AtomicBool> = AtomicPtr::new(null_mut());
static VALUE: AtomicBool = AtomicBool::new(false);
/// Over the edits.
static CONTENT: AtomicU64 = AtomicU64::new(0);
/// Over all of the above; 0 where nothing is recorded.
static RECORD: AtomicU64 = AtomicU64::new(0);

/// Records a batch that is about to be written.
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

/// Forgets it: everything is written, and whatever depends on it too.
pub(crate) fn forget(_: &TextGuard) {
    RECORD.store(0, Relaxed);
}

/// Whether anything is recorded.
pub(crate) fn any() -> bool {
    RECORD.load(Relaxed) != 0
}

/// What a thread that is not here has left, and whether the state has followed, which the sites have to agree with; none
/// where there is no state.
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
    // SAFETY: null, or a static (`Goal`).
    let state = unsafe { STATE.load(Relaxed).as_ref() };
    let has_followed = state.map(|state| state.load(Relaxed) == VALUE.load(Relaxed));
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
    let words = edits.iter().flat_map(|edit| {
        let (expect, new) = (u64::from_ne_bytes(edit.expect), u64::from_ne_bytes(edit.new));
        [edit.start() as u64, u64::from(edit.len), expect, new]
    });
    sum(words)
}

/// Never 0; any word that differs changes it, but for one chance in 2^63.
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
        static STATE_OF_TEST: AtomicBool = AtomicBool::new(false);
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

        STATE_OF_TEST.store(true, Relaxed);
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
