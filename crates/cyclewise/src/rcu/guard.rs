//! A section of reads.
//!
//! # Safety
//! 1. Each guard that was made is dropped once, or its section stays open.
#![expect(unsafe_code, reason = "a section's end by the caller's word")]

use super::global::{PERIOD, light};
use super::record::{self, Record};
use core::marker::PhantomData;

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
