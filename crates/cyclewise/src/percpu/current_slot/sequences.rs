//! The sequences of [`CurrentSlot`], each in two forms: by the thread's area, and as steps under a portable slot's lock.
//!
//! # Safety
//! The contract of every sequence is that of `current_slot`.
#![expect(unsafe_code, reason = "words by address")]

use super::CurrentSlot;
use crate::arch::rseq::by_cpu;
use crate::arch::{Cid, Cpu, Outcome};
use crate::percpu::guard::Guard;
use crate::percpu::index::Index;
use crate::percpu::registration::RseqArea;
use crate::percpu::word::Bits;
use core::ptr::with_exposed_provenance_mut;

/// A method: its sequence, with `RELEASE` if there are two forms, and its steps.
macro_rules! sequence {
    ($(#[$meta:meta])* $name:ident($($arg:ident: $type:ty),*), $section:ident $([$release:literal])?, $steps:expr) => {
        $(#[$meta])*
        #[inline(always)]
        pub unsafe fn $name(&self, guard: &Guard, $($arg: $type),*) -> Outcome {
            let (cpu, stop) = (self.slot.0, guard.word().as_ptr().cast_const());
            match self.own {
                // SAFETY: the area is the thread's; the caller vouches for words, index and guard.
                Some(RseqArea::Cpu(area)) => unsafe { by_cpu::$section::<Cpu $(, $release)?>(area, cpu, stop, $($arg),*) },
                // SAFETY: the area is the thread's; the caller vouches for the words and the guard.
                Some(RseqArea::Cid(area)) => unsafe { by_cpu::$section::<Cid $(, $release)?>(area, cpu, stop, $($arg),*) },
                None => self.portable(guard, || $steps),
            }
        }
    };
}

impl<I: Index> CurrentSlot<I> {
    sequence! {
        /// If `*v == expect`, `*v = new`.
        ///
        /// # Safety
        /// As of the module.
        load_cbne_store(v: *mut u64, expect: u64, new: u64), load_cbne_store[false], compare(v, expect, || store(v, new))
    }

    sequence! {
        /// If `*v == expect`, `*v = new`. The last store is a release.
        ///
        /// # Safety
        /// As of the module.
        load_cbne_store_release(v: *mut u64, expect: u64, new: u64), load_cbne_store[true],
            compare(v, expect, || store(v, new))
    }

    sequence! {
        /// `*v += count`.
        ///
        /// # Safety
        /// As of the module.
        load_add_store(v: *mut u64, count: u64), load_add_store, {
            store(v, load(v).wrapping_add(count));
            Outcome::Done
        }
    }

    sequence! {
        /// Pops: if `*v != not`, `*load_to = *v`, and `*v` becomes the word at `*v + offset`.
        ///
        /// # Safety
        /// As of the module. Where `*v` is not `not`, it is the exposed address of a node with a word at `offset`.
        /// `load_to` is the caller's; it may be written whatever the outcome.
        load_cbeq_store_add_load_store(v: *mut u64, not: u64, offset: isize, load_to: *mut u64),
            load_cbeq_store_add_load_store, {
            let found = load(v);
            if found == not {
                return Outcome::Ne;
            }
            store(load_to, found);
            store(v, load(with_exposed_provenance_mut::<u64>(found as usize).wrapping_byte_offset(offset)));
            Outcome::Done
        }
    }

    sequence! {
        /// `*(*(*at + offset)) += count`: through a table of pointers.
        ///
        /// # Safety
        /// As of the module. `*at + offset` is the exposed address of a word that holds the exposed address of a word of
        /// the slot.
        load_add_load_load_add_store(at: *const u64, offset: isize, count: u64), load_add_load_load_add_store, {
            let table = load(at.cast_mut()) as usize;
            let entry = with_exposed_provenance_mut::<u64>(table).wrapping_byte_offset(offset);
            let word = with_exposed_provenance_mut::<u64>(load(entry) as usize);
            store(word, load(word).wrapping_add(count));
            Outcome::Done
        }
    }

    sequence! {
        /// If `*v == expect`, `*v2 = new2`, then `*v = new`.
        ///
        /// # Safety
        /// As of the module. `*v2` may be written whatever the outcome.
        load_cbne_store_store(v: *mut u64, expect: u64, v2: *mut u64, new2: u64, new: u64), load_cbne_store_store[false],
            compare(v, expect, || {
                store(v2, new2);
                store(v, new);
            })
    }

    sequence! {
        /// If `*v == expect`, `*v2 = new2`, then `*v = new`. The last store is a release.
        ///
        /// # Safety
        /// As of the module. `*v2` may be written whatever the outcome.
        load_cbne_store_store_release(v: *mut u64, expect: u64, v2: *mut u64, new2: u64, new: u64),
            load_cbne_store_store[true], compare(v, expect, || {
                store(v2, new2);
                store(v, new);
            })
    }

    sequence! {
        /// If `*v == expect` and `*v2 == expect2`, `*v = new`.
        ///
        /// # Safety
        /// As of the module.
        load_cbne_load_cbne_store(v: *mut u64, expect: u64, v2: *const u64, expect2: u64, new: u64),
            load_cbne_load_cbne_store, {
            if load(v2.cast_mut()) != expect2 {
                return Outcome::Ne;
            }
            compare(v, expect, || store(v, new))
        }
    }

    sequence! {
        /// If `*v == expect`, copies `len` words from `src` to `dst`, then `*v = new`.
        ///
        /// # Safety
        /// As of the module. The ranges do not overlap, and either may be the caller's. `*dst` may be written whatever
        /// the outcome.
        #[expect(clippy::too_many_arguments, reason = "the operands of the sequence")]
        load_cbne_memcpy_store(v: *mut u64, expect: u64, dst: *mut u64, src: *const u64, len: usize, new: u64),
            load_cbne_memcpy_store[false], compare(v, expect, || {
                copy(dst, src, len);
                store(v, new);
            })
    }

    sequence! {
        /// If `*v == expect`, copies `len` words from `src` to `dst`, then `*v = new`. The last store is a release.
        ///
        /// # Safety
        /// As of the module. The ranges do not overlap, and either may be the caller's. `*dst` may be written whatever
        /// the outcome.
        #[expect(clippy::too_many_arguments, reason = "the operands of the sequence")]
        load_cbne_memcpy_store_release(v: *mut u64, expect: u64, dst: *mut u64, src: *const u64, len: usize, new: u64),
            load_cbne_memcpy_store[true], compare(v, expect, || {
                copy(dst, src, len);
                store(v, new);
            })
    }
}

/// The steps of a sequence that begins with a comparison.
fn compare(v: *mut u64, expect: u64, steps: impl FnOnce()) -> Outcome {
    if load(v) != expect {
        return Outcome::Ne;
    }
    steps();
    Outcome::Done
}

fn copy(dst: *mut u64, src: *const u64, len: usize) {
    for n in 0..len {
        store(dst.wrapping_add(n), load(src.cast_mut().wrapping_add(n)));
    }
}

/// A load in a locked slot.
fn load(at: *mut u64) -> u64 {
    // SAFETY: a word of the slot or of the sequence's caller, who vouches for it (Safety 1 of `current_slot`).
    unsafe { <u64 as Bits>::load(at) }
}

/// A store in a locked slot.
fn store(at: *mut u64, value: u64) {
    // SAFETY: a word of the slot or of the sequence's caller, who vouches for it (Safety 1 of `current_slot`).
    unsafe { <u64 as Bits>::store(at, value) }
}
