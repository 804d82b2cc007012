//! Restartable sequences of one word: operations on the current CPU's copy, without LOCK.
//!
//! ```text
//! 770:    lea  t, [rip + descriptor]
//!         mov  fs:[area + 8], t           rseq_cs: from here to 773 an interruption goes to 774
//! 772:    mov  t, fs:[area + id]          cpu_id or mm_cid, read inside: nothing to compare
//!         shl  t, 16
//!         add  [p + t], v                 the commit, one instruction
//! 773:
//! 774:    jmp  770b                       out of line, after the signature
//! ```
//!
//! Assembly, because the kernel must know where a sequence begins and ends, and nothing may be spilled inside it.
//!
//! # Invariants
//! 1. Before its last instruction a sequence writes only its registers and `rseq_cs` (in `sequence`, also words that
//!    its caller names). The last instruction is the only other store. So a sequence can restart from its first
//!    instruction until the last has executed.
//! 2. No register that a sequence reads is written before the commit: scratch registers are `out`, never `lateout`.
//! 3. A descriptor lives as long as the text it describes. `rseq_cs` may point to it long after the sequence has ended,
//!    so the link unit is never unmapped while a thread may have used it; `sys::rseq` ensures that.
//! 4. No sequence makes a system call.
//!
//! # Cost
//! Two stores, to the area and to the word, in different cache lines; a load and a store are hidden behind them. To compare
//! `rseq_cs` instead of storing to it is sound if the sequence begins before the comparison, and slower: see
//! design/library.md.
//!
//! # Memory ordering
//! Every store of x86-64 is a release, every load an acquire. No sequence is a full barrier.
//!
//! # References
//! Linux include/uapi/linux/rseq.h, kernel/rseq.c; M. Desnoyers, "The 5-year journey to bring restartable sequences to
//! Linux", 2019, for the layout of sequences.
//!
//! # Safety
//! The contract of every function here: the area is the calling thread's registered one, `at + (id << SHIFT)` is a
//! valid and aligned word for every id that the kernel may publish there, and it is written meanwhile only by such
//! sequences with the same id, or instructions of `gs`.
#![expect(unsafe_code, reason = "sequences that the kernel restarts")]

pub(crate) mod array;
pub(crate) mod by_cpu;
pub(crate) mod free_list;
#[cfg_attr(not(all(test, feature = "std", not(loom))), path = "no_injection.rs")]
pub(crate) mod injection;
pub(crate) mod placement;
pub(crate) mod trial;

use crate::arch::{Id, SHIFT};
use core::arch::asm;
use core::ptr::NonNull;
use injection::inject;

/// The four bytes that the kernel expects before an abort handler: glibc's registration value.
pub(crate) const SIGNATURE: u32 = 0x5305_3053; // include/uapi/linux/rseq.h by way of glibc's <sys/rseq.h>

/// A registered `struct rseq`, as a distance from the thread pointer. Never zero: the C library's block begins there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Area(pub(crate) isize);

impl Area {
    /// The area at an address, for the calling thread.
    pub(crate) fn at(address: NonNull<u8>) -> Self {
        Self((address.as_ptr().expose_provenance() as isize).wrapping_sub(thread_pointer() as isize))
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
            asm!("mov {0:e}, dword ptr fs:[{1} + {2}]", out(reg) id, in(reg) self.0, const I::AT,
                options(nostack, readonly, preserves_flags))
        };
        id
    }
}

/// The base address of FS.
fn thread_pointer() -> usize {
    let at;
    // SAFETY: the first word of the thread's control block is its own address (ELF TLS ABI, variant II).
    unsafe { asm!("mov {}, qword ptr fs:[0]", out(reg) at, options(nostack, pure, readonly, preserves_flags)) };
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
            ".long 0, 0",
            ".quad 772f, 773f - 772f, 774f",
            ".popsection",
            // UD1 with the signature as its displacement, so that a disassembler stays in sync.
            ".pushsection .text.unlikely.cyclewise_rseq, \"ax\", @progbits",
            ".byte 0x0f, 0xb9, 0x3d",
            ".long 0x53053053",
            "774:",
            "jmp 770f",
            ".popsection",
            "770:",
            "lea {t}, [rip + 771b]",
            "mov qword ptr fs:[{area} + 8], {t}",
            "772:",
            inject!("1"),
            $($step,)*
            "773:",
            $($after,)*
            area = in(reg) $area.0,
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

/// The prologue of every sequence of one word: `{t}` becomes the distance to the CPU's copy.
macro_rules! on_this_cpu {
    ([$($step:expr),* $(,)?], $area:expr, $($operands:tt)*) => {
        sequence!([
            "mov {t:e}, dword ptr fs:[{area} + {id}]",
            inject!("2"),
            "shl {t}, {shift}",
            inject!("3"),
            $($step,)*
        ], $area, id = const I::AT, shift = const SHIFT, $($operands)*)
    };
}
pub(super) use on_this_cpu;

/// Operations on the current CPU's copy of a word. `at` is the copy of id 0.
pub(crate) trait Sections: Copy {
    /// Loads.
    ///
    /// # Safety
    /// The module's contract; the same for all below.
    unsafe fn read<I: Id>(area: Area, at: *mut Self) -> Self;
    /// Stores; a release if `RELEASE`.
    unsafe fn write<I: Id, const RELEASE: bool>(area: Area, at: *mut Self, value: Self);
    /// Adds; a release if `RELEASE`.
    unsafe fn add<I: Id, const RELEASE: bool>(area: Area, at: *mut Self, value: Self);
    unsafe fn and<I: Id>(area: Area, at: *mut Self, value: Self);
    unsafe fn or<I: Id>(area: Area, at: *mut Self, value: Self);
    /// Stores; returns the previous value.
    unsafe fn xchg<I: Id>(area: Area, at: *mut Self, value: Self) -> Self;
    /// Stores `new` if the word is `old`; returns the previous value.
    unsafe fn cmpxchg<I: Id>(area: Area, at: *mut Self, old: Self, new: Self) -> Self;
    /// Adds; returns the sum.
    unsafe fn add_return<I: Id>(area: Area, at: *mut Self, value: Self) -> Self;
}

/// An operation of one instruction that returns nothing.
macro_rules! stores {
    ($name:ident[$($generic:tt)*] $instruction:literal, $size:literal, $class:ident, $v:literal) => {
        #[inline(always)]
        unsafe fn $name<$($generic)*>(area: Area, at: *mut Self, value: Self) {
            // SAFETY: the caller guarantees the area and the words; the last instruction is the commit.
            unsafe {
                on_this_cpu!([concat!($instruction, $size, " ptr [{p} + {t}], ", $v)], area,
                    p = in(reg) at, v = in($class) value, options(nostack))
            }
        }
    };
}

macro_rules! words {
    ($($value:ty, $size:literal, $class:ident, $v:literal, $old:literal, $acc:tt, $load:literal;)*) => { $(
        impl Sections for $value {
            #[inline(always)]
            unsafe fn read<I: Id>(area: Area, at: *mut Self) -> Self {
                let value: $value;
                // SAFETY: the caller guarantees the area and the words; a load.
                unsafe {
                    on_this_cpu!([concat!($load, ", ", $size, " ptr [{p} + {t}]")], area,
                        p = in(reg) at, old = out($class) value, options(nostack))
                };
                value
            }
            stores!(write[I: Id, const RELEASE: bool] "mov ", $size, $class, $v);
            stores!(add[I: Id, const RELEASE: bool] "add ", $size, $class, $v);
            stores!(and[I: Id] "and ", $size, $class, $v);
            stores!(or[I: Id] "or ", $size, $class, $v);
            // A load and a store, because XCHG with memory always locks.
            #[inline(always)]
            unsafe fn xchg<I: Id>(area: Area, at: *mut Self, value: Self) -> Self {
                let found: $value;
                // SAFETY: the caller guarantees the area and the words; the last instruction is the commit.
                unsafe {
                    on_this_cpu!([
                        concat!("mov ", $old, ", ", $size, " ptr [{p} + {t}]"),
                        inject!("4"),
                        concat!("mov ", $size, " ptr [{p} + {t}], ", $v),
                    ], area, p = in(reg) at, v = in($class) value, old = out($class) found, options(nostack))
                };
                found
            }
            #[inline(always)]
            unsafe fn cmpxchg<I: Id>(area: Area, at: *mut Self, old: Self, new: Self) -> Self {
                let found: $value;
                // SAFETY: the caller guarantees the area and the words; CMPXCHG writes its accumulator only when it
                // executes, and that ends the sequence.
                unsafe {
                    on_this_cpu!([concat!("cmpxchg ", $size, " ptr [{p} + {t}], ", $v)], area,
                        p = in(reg) at, v = in($class) new, inout($acc) old => found, options(nostack))
                };
                found
            }
            #[inline(always)]
            unsafe fn add_return<I: Id>(area: Area, at: *mut Self, value: Self) -> Self {
                let found: $value;
                // SAFETY: the caller guarantees the area and the words; XADD writes its register only when it
                // executes.
                unsafe {
                    on_this_cpu!([concat!("xadd ", $size, " ptr [{p} + {t}], ", $v)], area,
                        p = in(reg) at, v = inout($class) value => found, options(nostack))
                };
                found.wrapping_add(value)
            }
        }
    )* };
}

words! {
    u8, "byte", reg_byte, "{v}", "{old}", "al", "mov {old}";
    u16, "word", reg, "{v:x}", "{old:x}", "ax", "movzx {old:e}";
    u32, "dword", reg, "{v:e}", "{old:e}", "eax", "mov {old:e}";
    u64, "qword", reg, "{v:r}", "{old:r}", "rax", "mov {old:r}";
}
