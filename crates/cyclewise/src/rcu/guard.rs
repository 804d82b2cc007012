//! A section of reads.
//!
//! # Safety
//! 1. Each guard that was made is dropped once, or its section stays open.
#![expect(unsafe_code, reason = "ends a section, which the caller guarantees to be its own")]

use super::global::{PERIOD, global_queue, light};
use super::protocol::{COUNT, FENCED, HELP, IDLE, IDLE_FENCED, ORPHAN};
use super::record::{self, Record};
use crate::fence;
use crate::sys::errno;
use core::marker::PhantomData;
use core::sync::atomic;
use core::sync::atomic::Ordering::{Relaxed, Release, SeqCst};

/// A section of reads: while it lives, nothing that is loaded under it is freed.
///
/// Sections nest, and end in any order. A guard stays on its thread. A guard that is forgotten ([`mem::forget`](core::mem::forget)) never ends
/// its section, also when its thread has ended: no grace period ends any more, which the [stall hook](super::set_stall_hook) tells.
#[derive(Debug)]
#[must_use = "the section ends when this is dropped"]
pub struct Guard {
    record: &'static Record,
    of_this_thread: PhantomData<*mut ()>,
}

/// Begins a section of reads.
///
/// # Cost
/// Two stores to the thread's own line with the end of the section, three loads and two branches; where light [`fences`](mod@crate::fence) are
/// whole, such a fence as well. A thread's first section registers it.
#[inline(always)]
#[doc(alias = "rcu_read_lock")]
pub fn read() -> Guard {
    let mut record = record::current();
    if !record.reader.enter(&PERIOD.0, light) {
        record = record.enter_slow();
    }
    Guard {
        record,
        of_this_thread: PhantomData,
    }
}

impl Record {
    /// Begins a section.
    #[cold]
    #[inline(never)]
    fn enter_slow(&'static self) -> &'static Self {
        if self.reader.is_inside() {
            self.reader.enter_nested(fence::light);
            return self;
        }
        let record = record::registered();
        if !record.reader.enter(&PERIOD.0, light) {
            record.reader.enter_fenced(&PERIOD.0, || atomic::fence(SeqCst));
        }
        record
    }

    /// Ends a section.
    #[cold]
    #[inline(never)]
    fn leave_slow(&self) {
        let nest = self.reader.nest.load(Relaxed);
        if nest & COUNT > 0 {
            return self.reader.nest.store(nest - 1, Relaxed);
        }
        if nest & ORPHAN != 0 && self.give_back() {
            return;
        }
        self.reader.nest.store(0, Relaxed);
        let idle = if nest & FENCED == 0 { IDLE } else { IDLE_FENCED };
        // Release: as in `Reader::leave`.
        self.reader.word.store(idle, Release);
        if nest & HELP != 0 {
            errno::preserve(|| global_queue().help());
        }
    }
}

/// Ends a section whose guard was forgotten, for programs that mark both ends by calls.
///
/// # Safety
/// The calling thread forgot a guard of its own, ends its section once, and uses no reference from it any more.
#[inline]
pub unsafe fn force_end() {
    drop(Guard {
        record: record::current(),
        of_this_thread: PhantomData,
    });
}

impl Drop for Guard {
    #[inline(always)]
    #[doc(alias = "rcu_read_unlock")]
    fn drop(&mut self) {
        if !self.record.reader.leave() {
            self.record.leave_slow();
        }
    }
}
