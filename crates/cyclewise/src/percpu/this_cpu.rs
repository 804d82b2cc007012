//! Operations on the current CPU's copy of a word, by the kernel's names.
//!
//! [`PerCpu`](super::PerCpu) has them as safe methods. These take the address of slot 0's copy, and so also work on
//! fields of a larger type.
//!
//! ```
//! use cyclewise::percpu::{Cpu, PerCpu, this_cpu};
//!
//! let words = PerCpu::<u64>::new();
//! let at = words.as_ptr();
//! // SAFETY (of each call): the copy of slot 0 of a variable by `Cpu`, which lives on and is changed by these calls only.
//! unsafe {
//!     this_cpu::write::<Cpu, u64>(at, 0);
//!     this_cpu::add::<Cpu, u64>(at, 6);
//!     this_cpu::or::<Cpu, u64>(at, 1);
//!     this_cpu::and::<Cpu, u64>(at, !2);
//!     // Another CPU's copy is found here if the thread was migrated since.
//!     println!("{}", this_cpu::read::<Cpu, u64>(at));
//!     println!("{}", this_cpu::add_return::<Cpu, u64>(at, 1));
//!     println!("{}", this_cpu::xchg::<Cpu, u64>(at, 5));
//!     println!("{}", this_cpu::cmpxchg::<Cpu, u64>(at, 5, 0));
//!     // Releases: what was written before is seen by who loads the word with acquire.
//!     this_cpu::add_release::<Cpu, u64>(at, 1);
//!     this_cpu::write_release::<Cpu, u64>(at, 0);
//! }
//! ```
//!
//! # Memory ordering
//! Relaxed; the stores of `write_release` and `add_release` are releases.
//!
//! # Cost
//! If the C library has registered the thread: a load, a branch and 5 instructions. If this crate has, one
//! call more.
//!
//! # Safety
//! The contract of every function: `at` is the copy of slot 0 of a word that a [`PerCpu`](super::PerCpu) or
//! [`StaticPerCpu`](super::StaticPerCpu) with this index holds, and that lives meanwhile. The word is changed only
//! through this module, by any thread, or by a thread that has stopped its slot.
//!
//! 1. So it is valid and aligned in every slot, and its changes exclude each other (Invariants 1 to 4 of `percpu`).
#![expect(unsafe_code, reason = "words by address")]

use super::index::Index;
use super::registration::{self, RseqArea};
use super::slots::{LockedSlot, copy_in};
use super::word::{Bits, Integer, Word};
use crate::arch::rseq::Sections;
use crate::arch::{Cid, Cpu};

/// An operation: the fast path for threads that the C library has registered, and `slow` for others.
macro_rules! operation {
    ($(#[$doc:meta])* $name:ident<$bound:ident>($($arg:ident),*) -> [$($ret:tt)*], $slow:ident, $section:ident $([$release:literal])?, $out:expr,
        portable: |$old:ident| $new:expr => $result:expr) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// As of the module.
        #[inline(always)]
        pub unsafe fn $name<I: Index, W: $bound>(at: *mut W, $($arg: W),*) $($ret)* {
            if let Some(area) = registration::libc_area::<I>() {
                // SAFETY: the area is the thread's; Invariant 1.
                return $out(unsafe { <W::Bits as Sections>::$section::<I $(, $release)?>(area, at.cast(), $($arg.bits()),*) });
            }
            // SAFETY: the caller vouches for the word and its index.
            unsafe { $slow::<I, W>(at, $($arg),*) }
        }

        #[cold]
        #[inline(never)]
        unsafe fn $slow<I: Index, W: $bound>(at: *mut W, $($arg: W),*) $($ret)* {
            match registration::thread_area::<I>() {
                // SAFETY: the area is the thread's; Invariant 1.
                Some(RseqArea::Cpu(area)) => $out(unsafe {
                    <W::Bits as Sections>::$section::<Cpu $(, $release)?>(area, at.cast(), $($arg.bits()),*)
                }),
                // SAFETY: the area is the thread's; Invariant 1.
                Some(RseqArea::Cid(area)) => $out(unsafe {
                    <W::Bits as Sections>::$section::<Cid $(, $release)?>(area, at.cast(), $($arg.bits()),*)
                }),
                None => {
                    let locked = LockedSlot::any();
                    let at = copy_in(at.cast::<W::Bits>(), locked.slot());
                    $(let $arg = $arg.bits();)*
                    // SAFETY: Invariant 1.
                    let $old = unsafe { W::Bits::load(at) };
                    let new: Option<W::Bits> = $new;
                    if let Some(new) = new {
                        // SAFETY: Invariant 1; the slot is locked.
                        unsafe { W::Bits::store(at, new) };
                    }
                    $out($result)
                }
            }
        }
    };
}

/// The result of an operation without one.
#[inline(always)]
fn nothing(_: ()) {}

operation! {
    /// Loads.
    #[doc(alias = "this_cpu_read")]
    read<Word>() -> [-> W], read_slow, read, W::of_bits, portable: |old| None => old
}
operation! {
    /// Stores.
    #[doc(alias = "this_cpu_write")]
    write<Word>(value) -> [], write_slow, write[false], nothing, portable: |_old| Some(value) => ()
}
operation! {
    /// Stores, as a release.
    write_release<Word>(value) -> [], write_release_slow, write[true], nothing, portable: |_old| Some(value) => ()
}
operation! {
    /// Adds, and wraps around.
    #[doc(alias = "this_cpu_add")]
    add<Integer>(value) -> [], add_slow, add[false], nothing, portable: |old| Some(old.sum(value)) => ()
}
operation! {
    /// Adds, and wraps around; a release.
    add_release<Integer>(value) -> [], add_release_slow, add[true], nothing, portable: |old| Some(old.sum(value)) => ()
}
operation! {
    /// Ands.
    #[doc(alias = "this_cpu_and")]
    and<Integer>(value) -> [], and_slow, and, nothing, portable: |old| Some(old & value) => ()
}
operation! {
    /// Ors.
    #[doc(alias = "this_cpu_or")]
    or<Integer>(value) -> [], or_slow, or, nothing, portable: |old| Some(old | value) => ()
}
operation! {
    /// Stores, and returns the old value.
    #[doc(alias = "this_cpu_xchg")]
    xchg<Word>(value) -> [-> W], xchg_slow, xchg, W::of_bits, portable: |old| Some(value) => old
}
operation! {
    /// Stores `new` if the word is `old`; returns the value found.
    #[doc(alias = "this_cpu_cmpxchg")]
    cmpxchg<Word>(old, new) -> [-> W], cmpxchg_slow, cmpxchg, W::of_bits,
        portable: |found| (found == old).then_some(new) => found
}
operation! {
    /// Adds, wraps around, and returns the sum.
    #[doc(alias = "this_cpu_add_return")]
    add_return<Integer>(value) -> [-> W], add_return_slow, add_return, W::of_bits,
        portable: |old| Some(old.sum(value)) => old.sum(value)
}

/// The operations as methods of a type whose `as_ptr` is the word, there for as long as the type is borrowed (Safety 1 of its module).
macro_rules! methods {
    ($type:ident, $life:lifetime $this:ident) => {
        this_cpu::methods! { @ $type, Word, $life $this;
            /// Loads the current CPU's copy. The thread may be on another when this returns.
            read() -> W;
            /// Stores to the current CPU's copy.
            write(value);
            /// Stores to the current CPU's copy, as a release.
            write_release(value);
            /// Stores to the current CPU's copy, and returns the old value.
            xchg(value) -> W;
            /// Stores `new` to the current CPU's copy if that is `old`; returns the value found.
            cmpxchg(old, new) -> W;
        }
        this_cpu::methods! { @ $type, Integer, $life $this;
            /// Adds to the current CPU's copy, and wraps around.
            add(value);
            /// Adds to the current CPU's copy, and wraps around; a release.
            add_release(value);
            /// Ands the current CPU's copy.
            and(value);
            /// Ors the current CPU's copy.
            or(value);
            /// Adds to the current CPU's copy, wraps around, and returns the sum.
            add_return(value) -> W;
        }
    };
    (@ $type:ident, $bound:ident, $life:lifetime $this:ident; $($(#[$doc:meta])* $name:ident($($arg:ident),*) $(-> $ret:ty)?;)*) => {
        impl<W: $bound, I: Index> $type<W, I> { $(
            $(#[$doc])*
            #[inline(always)]
            pub fn $name(&$life $this, $($arg: W),*) $(-> $ret)? {
                // SAFETY: a word for as long as the receiver is borrowed (Safety 1 of its module), whose index is `I` by its type.
                unsafe { this_cpu::$name::<I, W>($this.as_ptr(), $($arg),*) }
            }
        )* }
    };
}
pub(super) use methods;
