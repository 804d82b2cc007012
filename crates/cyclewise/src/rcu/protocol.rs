//! A reader's word, and what it tells a writer: the whole order of reads and grace periods, which loom checks.
//!
//! # States
//! The word: [`NOBODY`], no thread's; [`IDLE`] and [`IDLE_FENCED`], outside of sections; an even number from 2 on: inside a section that began
//! when this was the number of the newest grace period. `IDLE_FENCED` stands for `IDLE` where light fences are whole: then the fast path
//! does not apply, and the slow one makes the fence.
//!
//! `nest`: how many sections are open beside the first, and flags that send the end of the outermost one to its slow path.
//!
//! # Memory ordering
//! A reader stores its word, makes a light fence and loads the pointer. A writer replaces the pointer, makes a heavy fence, then numbers the
//! new period, and looks at the words. A reader whose word has an older number may have the old pointer: the writer waits. One whose
//! word the writer sees idle has ended its section, which the Release and the Acquire of the word order, or has not begun one that
//! misses the new pointer, by the fences. One that has the new number loaded it after the heavy fence had ended, so its load of the
//! pointer, which is later, sees the new one.
//!
//! A writer that finds the new number does not see the Release of the section before, which the number has overwritten. Nor does it need to:
//! what that section read before the heavy fence is read, and what it read afterwards is not old. Where no kernel's barrier says so, the
//! number is stored with Release.
//!
//! A handler on the reader's thread leaves `word` and `nest` as it found them. It may have interrupted the beginning of the outermost section
//! between the word and the fence, so its own section makes a fence too.

use crate::primitive::unpatched::AtomicU64;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

pub(super) const NOBODY: u64 = 0;
pub(super) const IDLE: u64 = 1;
pub(super) const IDLE_FENCED: u64 = 3;
/// The number of the first period, and the distance to the next.
pub(super) const STEP: u64 = 2;

/// The bits of `nest` that count.
pub(super) const COUNT: u64 = (1 << 32) - 1;
/// The section began with a whole fence.
pub(super) const FENCED: u64 = 1 << 32;
/// Its thread has ended, or is in the last of its destructors.
pub(super) const ORPHAN: u64 = 1 << 33;
/// Closures are waiting for the end of the section.
pub(super) const HELP: u64 = 1 << 34;

/// A reader's two words.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) word: AtomicU64,
    pub(super) nest: AtomicU64,
}

impl Reader {
    /// The fast path of a section's beginning: a load, a comparison, a store. False where it does not apply.
    #[inline(always)]
    pub(super) fn enter(&self, period: &AtomicU64, light: impl Fn()) -> bool {
        // Relaxed, here and below: this thread's own words, and a number whose order the fences make.
        let is_idle = self.word.load(Relaxed) == IDLE;
        if is_idle {
            self.word.store(period.load(Relaxed), Relaxed);
            light();
        }
        is_idle
    }

    /// The same with a whole fence, out of `IDLE_FENCED`.
    pub(super) fn enter_fenced(&self, period: &AtomicU64, fence: impl Fn()) {
        // Release: as in `leave`, whose store a writer that finds this number does not see.
        self.word.store(period.load(Relaxed), Release);
        // After the word: a handler between the two finds a section that is open.
        self.nest.store(self.nest.load(Relaxed) | FENCED, Relaxed);
        fence();
    }

    /// Begins a section inside another, which may not have made its fence yet: see the module.
    pub(super) fn enter_nested(&self, light: impl Fn()) {
        let nest = self.nest.load(Relaxed);
        assert!(nest & COUNT < COUNT, "more than 2^32 guards of one thread");
        self.nest.store(nest + 1, Relaxed);
        light();
    }

    /// The fast path of a section's end: a load, a comparison, a store. False where it does not apply.
    #[inline(always)]
    pub(super) fn leave(&self) -> bool {
        let is_plain = self.nest.load(Relaxed) == 0;
        if is_plain {
            // Release: pairs with the Acquire in `holds_up`; what the section read is read.
            self.word.store(IDLE, Release);
        }
        is_plain
    }

    /// Whether a section that may have begun before the period is open.
    pub(super) fn holds_up(&self, period: u64) -> bool {
        // Acquire: pairs with the Release in `leave`.
        is_older(self.word.load(Acquire), period)
    }

    pub(super) fn is_inside(&self) -> bool {
        is_older(self.word.load(Relaxed), u64::MAX)
    }
}

/// Whether the word is of a section that began before the period.
pub(super) fn is_older(word: u64, period: u64) -> bool {
    word != NOBODY && word.is_multiple_of(2) && word < period
}
