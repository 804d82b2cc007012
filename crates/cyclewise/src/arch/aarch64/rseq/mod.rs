//! Restartable sequences of one word: operations on the current CPU's copy, without exclusives.
//!
//! ```text
//! 770:    adrp t, descriptor
//!         add  t, t, :lo12:descriptor
//!         str  t, [area, 8]               rseq_cs: from here to 773 an interruption goes to 774
//! 772:    ldr  w, [area, id]              cpu_id or mm_cid, read inside: nothing to compare
//!         add  t, p, t, lsl 16
//!         ldr  r, [t]
//!         add  r, r, v
//!         str  r, [t]                     the commit, one instruction; STLR for a release
//! 773:
//! 774:    b    770b                       out of line, after the signature
//! ```
//!
//! Assembly, because the kernel must know where a sequence begins and ends, and nothing may be spilled inside it.
//!
//! # Invariants
//! As in the x86-64 counterpart. Here a read-modify-write is a load and a store, and the store commits.
//!
//! # Memory ordering
//! Loads and stores are relaxed, except stores documented as releases.
//!
//! # References
//! Linux include/uapi/linux/rseq.h, kernel/rseq.c; ELF for the Arm 64-bit Architecture, thread pointer.
//!
//! # Safety
//! The contract of every function here: the area is the calling thread's registered one, `at + (id << SHIFT)` is a
//! valid and aligned word for every id that the kernel may publish there, and it is written meanwhile only by such
//! sequences with the same id.
#![expect(unsafe_code, reason = "sequences that the kernel restarts")]

pub(crate) mod array;
pub(crate) mod by_cpu;
pub(crate) mod free_list;
pub(crate) mod placement;
pub(crate) mod trial;

use crate::arch::{Id, SHIFT};
use core::arch::asm;
use core::ptr::NonNull;

/// The four bytes that the kernel expects before an abort handler: glibc's registration value, a BRK. Instructions are
/// always little-endian, but the kernel reads it as data.
pub(crate) const SIGNATURE: u32 = u32::from_le(0xd428_bc00); // RSEQ_SIG_CODE in glibc's <sys/rseq.h>

/// A registered `struct rseq`, as a distance from the thread pointer. Never zero: the C library's block begins there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Area(pub(crate) isize);

impl Area {
    /// The area at an address, for the calling thread.
    pub(crate) fn at(address: NonNull<u8>) -> Self {
        Self((address.as_ptr().expose_provenance() as isize).wrapping_sub(thread_pointer() as isize))
    }

    /// The area's address, for the calling thread.
    #[inline(always)]
    pub(super) fn address(self) -> usize {
        thread_pointer().wrapping_add_signed(self.0)
    }

    /// Reads `cpu_id` or `mm_cid`. `cpu_id` is `u32::MAX` or `u32::MAX - 1` if the area is not registered.
    ///
    /// # Safety
    /// The module's contract.
    #[inline(always)]
    pub(crate) unsafe fn id<I: Id>(self) -> u32 {
        let id;
        // SAFETY: a field of the area. Not pure: the kernel changes it.
        unsafe {
            asm!("ldr {0:w}, [{1}, {2}]", out(reg) id, in(reg) self.address(), const I::AT,
                options(nostack, readonly, preserves_flags))
        };
        id
    }
}

#[inline(always)]
fn thread_pointer() -> usize {
    let at;
    // SAFETY: reads a register that is constant for the thread.
    unsafe { asm!("mrs {}, tpidr_el0", out(reg) at, options(nostack, pure, nomem, preserves_flags)) };
    at
}

/// A sequence: the steps up to and including the commit, the instructions after it, then the operands. The sequence
/// overwrites the register `{t}`; `{area}` is the area.
macro_rules! section {
    ([$($step:expr),* $(,)?], [$($after:expr),*], $area:expr, $($operands:tt)*) => {
        asm!(
            // struct rseq_cs: version, flags, start_ip, post_commit_offset, abort_ip. The section has the name that tools look for:
            // newer versions of BOLT leave the functions alone that it names.
            ".pushsection __rseq_cs, \"aw\", @progbits",
            ".balign 32",
            "771:",
            ".word 0, 0",
            ".xword 772f, 773f - 772f, 774f",
            ".popsection",
            ".pushsection .text.unlikely.cyclewise_rseq, \"ax\", @progbits",
            ".balign 4",
            ".inst 0xd428bc00",
            "774:",
            "b 770f",
            ".popsection",
            "770:",
            "adrp {t}, 771b",
            "add {t}, {t}, :lo12:771b",
            "str {t}, [{area}, #8]",
            "772:",
            $($step,)*
            "773:",
            $($after,)*
            area = in(reg) $area.address(),
            $($operands)*
        )
    };
}
pub(super) use section;

/// A sequence that ends with its commit and uses `{t}` as scratch.
macro_rules! sequence {
    ([$($step:expr),* $(,)?], $area:expr, $($operands:tt)*) => {
        section!([$($step),*], [], $area, t = out(reg) _, $($operands)*)
    };
}
pub(super) use sequence;

/// The prologue of every sequence of one word: `{t}` becomes the address of the CPU's copy.
macro_rules! on_this_cpu {
    ([$($step:expr),* $(,)?], $area:expr, $at:expr, $($operands:tt)*) => {
        sequence!([
            "ldr {t:w}, [{area}, {id}]",
            "add {t}, {p}, {t}, lsl {shift}",
            $($step,)*
        ], $area, id = const I::AT, shift = const SHIFT, p = in(reg) $at, $($operands)*)
    };
}

/// Operations on the current CPU's copy of a word, as in the x86-64 counterpart.
pub(crate) trait Sections: Copy {
    unsafe fn read<I: Id>(area: Area, at: *mut Self) -> Self;
    unsafe fn write<I: Id, const RELEASE: bool>(area: Area, at: *mut Self, value: Self);
    unsafe fn add<I: Id, const RELEASE: bool>(area: Area, at: *mut Self, value: Self);
    unsafe fn and<I: Id>(area: Area, at: *mut Self, value: Self);
    unsafe fn or<I: Id>(area: Area, at: *mut Self, value: Self);
    unsafe fn xchg<I: Id>(area: Area, at: *mut Self, value: Self) -> Self;
    unsafe fn cmpxchg<I: Id>(area: Area, at: *mut Self, old: Self, new: Self) -> Self;
    unsafe fn add_return<I: Id>(area: Area, at: *mut Self, value: Self) -> Self;
}

/// A load, an operation and a store: `$found` receives the previous value, and `{r}` is stored.
macro_rules! modify {
    ($suffix:literal, $m:literal, $store:literal, $op:literal, $area:ident, $at:ident, $value:ident) => {
        // SAFETY: the caller guarantees the area and the words; the last instruction is the commit, and both
        // registers are scratch.
        unsafe {
            on_this_cpu!([
                concat!("ldr", $suffix, " {r:", $m, "}, [{t}]"),
                concat!($op, " {r:", $m, "}, {r:", $m, "}, {v:", $m, "}"),
                concat!($store, $suffix, " {r:", $m, "}, [{t}]"),
            ], $area, $at, v = in(reg) $value, r = out(reg) _, options(nostack))
        }
    };
}

macro_rules! words {
    ($($value:ty, $suffix:literal, $m:literal, $extend:literal;)*) => { $(
        impl Sections for $value {
            #[inline(always)]
            unsafe fn read<I: Id>(area: Area, at: *mut Self) -> Self {
                let value: $value;
                // SAFETY: the caller guarantees the area and the words; a load.
                unsafe {
                    on_this_cpu!([concat!("ldr", $suffix, " {r:", $m, "}, [{t}]")], area, at,
                        r = out(reg) value, options(nostack))
                };
                value
            }
            #[inline(always)]
            unsafe fn write<I: Id, const RELEASE: bool>(area: Area, at: *mut Self, value: Self) {
                if RELEASE {
                    // SAFETY: the caller guarantees the area and the words; the last instruction is the commit.
                    unsafe {
                        on_this_cpu!([concat!("stlr", $suffix, " {v:", $m, "}, [{t}]")], area, at,
                            v = in(reg) value, options(nostack))
                    }
                } else {
                    // SAFETY: the caller guarantees the area and the words; the last store is the commit.
                    unsafe {
                        on_this_cpu!([concat!("str", $suffix, " {v:", $m, "}, [{t}]")], area, at,
                            v = in(reg) value, options(nostack))
                    }
                }
            }
            #[inline(always)]
            unsafe fn add<I: Id, const RELEASE: bool>(area: Area, at: *mut Self, value: Self) {
                if RELEASE {
                    modify!($suffix, $m, "stlr", "add", area, at, value)
                } else {
                    modify!($suffix, $m, "str", "add", area, at, value)
                }
            }
            #[inline(always)]
            unsafe fn and<I: Id>(area: Area, at: *mut Self, value: Self) {
                modify!($suffix, $m, "str", "and", area, at, value)
            }
            #[inline(always)]
            unsafe fn or<I: Id>(area: Area, at: *mut Self, value: Self) {
                modify!($suffix, $m, "str", "orr", area, at, value)
            }
            #[inline(always)]
            unsafe fn xchg<I: Id>(area: Area, at: *mut Self, value: Self) -> Self {
                let found: $value;
                // SAFETY: the caller guarantees the area and the words; the last instruction is the commit.
                unsafe {
                    on_this_cpu!([
                        concat!("ldr", $suffix, " {r:", $m, "}, [{t}]"),
                        concat!("str", $suffix, " {v:", $m, "}, [{t}]"),
                    ], area, at, v = in(reg) value, r = out(reg) found, options(nostack))
                };
                found
            }
            #[inline(always)]
            unsafe fn cmpxchg<I: Id>(area: Area, at: *mut Self, old: Self, new: Self) -> Self {
                let found: $value;
                // SAFETY: the caller guarantees the area and the words; the store is the commit, and an exit before
                // it stores nothing. The register's bits above a narrow `old` are not part of it, hence the extension.
                unsafe {
                    on_this_cpu!([
                        concat!("ldr", $suffix, " {r:", $m, "}, [{t}]"),
                        concat!("cmp {r:", $m, "}, {old:", $m, "}", $extend),
                        "b.ne 775f",
                        concat!("str", $suffix, " {v:", $m, "}, [{t}]"),
                        "775:",
                    ], area, at, v = in(reg) new, old = in(reg) old, r = out(reg) found, options(nostack))
                };
                found
            }
            #[inline(always)]
            unsafe fn add_return<I: Id>(area: Area, at: *mut Self, value: Self) -> Self {
                let sum: $value;
                // SAFETY: the caller guarantees the area and the words; the last instruction is the commit.
                unsafe {
                    on_this_cpu!([
                        concat!("ldr", $suffix, " {r:", $m, "}, [{t}]"),
                        concat!("add {r:", $m, "}, {r:", $m, "}, {v:", $m, "}"),
                        concat!("str", $suffix, " {r:", $m, "}, [{t}]"),
                    ], area, at, v = in(reg) value, r = out(reg) sum, options(nostack))
                };
                sum
            }
        }
    )* };
}

words! {
    u8, "b", "w", ", uxtb";
    u16, "h", "w", ", uxth";
    u32, "", "w", "";
    u64, "", "x", "";
}
