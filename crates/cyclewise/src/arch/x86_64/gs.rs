//! Single-instruction operations on one CPU's copy, whose distance from CPU 0's is in the base of GS, as in the kernel.
//!
//! Assembly, because stable Rust has no address space for GS. A single instruction is atomic with respect to everything
//! else on its CPU: other threads, signal handlers, restartable sequences.
//!
//! # References
//! Intel SDM vol. 2, WRGSBASE, RDGSBASE; Linux Documentation/arch/x86/x86_64/fsgs.rst (HWCAP2 bit 1).
//!
//! # Safety
//! The contract of `rseq`, with the base of GS in place of `id << SHIFT`.
#![expect(unsafe_code, reason = "instructions that the compiler has no address space for")]

use core::arch::asm;

/// Proof that the base of GS is set for these instructions. It does not exist on other architectures.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Base(());

impl Base {
    /// `Some` where GS exists.
    ///
    /// # Safety
    /// The module's contract, for as long as the value is used.
    pub(crate) unsafe fn new() -> Option<Self> {
        Some(Self(()))
    }
}

/// The base of GS, by RDGSBASE.
///
/// # Safety
/// The kernel allows the instruction (HWCAP2 bit 1); it is #UD otherwise.
pub(crate) unsafe fn rdgsbase() -> usize {
    let base;
    // SAFETY: the caller guarantees that the kernel allows it. Not pure: the base changes.
    unsafe { asm!("rdgsbase {}", out(reg) base, options(nostack, nomem, preserves_flags)) };
    base
}

/// Sets the base of GS, by WRGSBASE.
///
/// # Safety
/// The kernel allows the instruction (HWCAP2 bit 1), and nothing else in this thread uses GS.
pub(crate) unsafe fn wrgsbase(base: usize) {
    // SAFETY: the caller guarantees that the kernel allows it and that nothing else uses GS. No nomem: accesses through
    // GS must not be reordered with it.
    unsafe { asm!("wrgsbase {}", in(reg) base, options(nostack, preserves_flags)) }
}

/// Operations on the copy of this CPU. `at` is the copy of CPU 0.
pub(crate) trait Gs: Copy {
    /// Loads.
    ///
    /// # Safety
    /// The module's contract; the same for all below.
    unsafe fn gs_read(_: Base, at: *mut Self) -> Self;
    unsafe fn gs_write(_: Base, at: *mut Self, value: Self);
    unsafe fn gs_add(_: Base, at: *mut Self, value: Self);
    unsafe fn gs_inc(_: Base, at: *mut Self);
    unsafe fn gs_and(_: Base, at: *mut Self, value: Self);
    unsafe fn gs_or(_: Base, at: *mut Self, value: Self);
    /// Stores `new` if the word is `old`; returns the previous value.
    unsafe fn gs_cmpxchg(_: Base, at: *mut Self, old: Self, new: Self) -> Self;
    /// Adds; returns the sum.
    unsafe fn gs_add_return(_: Base, at: *mut Self, value: Self) -> Self;
}

macro_rules! words {
    ($($value:ty, $size:literal, $class:ident, $v:literal, $acc:tt, $load:literal;)*) => { $(
        impl Gs for $value {
            #[inline(always)]
            unsafe fn gs_read(_: Base, at: *mut Self) -> Self {
                let value: $value;
                // SAFETY: `Base` proves that GS is set; the caller guarantees that `at` is a word of each copy; a load.
                unsafe {
                    asm!(concat!($load, ", ", $size, " ptr gs:[{p}]"), p = in(reg) at, v = out($class) value,
                        options(nostack, readonly, preserves_flags))
                };
                value
            }
            #[inline(always)]
            unsafe fn gs_write(_: Base, at: *mut Self, value: Self) {
                // SAFETY: `Base` proves that GS is set; the caller guarantees that `at` is a word of each copy.
                unsafe {
                    asm!(concat!("mov ", $size, " ptr gs:[{p}], ", $v), p = in(reg) at, v = in($class) value,
                        options(nostack, preserves_flags))
                }
            }
            #[inline(always)]
            unsafe fn gs_add(_: Base, at: *mut Self, value: Self) {
                // SAFETY: `Base` proves that GS is set; the caller guarantees that `at` is a word of each copy.
                unsafe {
                    asm!(concat!("add ", $size, " ptr gs:[{p}], ", $v), p = in(reg) at, v = in($class) value,
                        options(nostack))
                }
            }
            #[inline(always)]
            unsafe fn gs_inc(_: Base, at: *mut Self) {
                // SAFETY: `Base` proves that GS is set; the caller guarantees that `at` is a word of each copy.
                unsafe { asm!(concat!("inc ", $size, " ptr gs:[{p}]"), p = in(reg) at, options(nostack)) }
            }
            #[inline(always)]
            unsafe fn gs_and(_: Base, at: *mut Self, value: Self) {
                // SAFETY: `Base` proves that GS is set; the caller guarantees that `at` is a word of each copy.
                unsafe {
                    asm!(concat!("and ", $size, " ptr gs:[{p}], ", $v), p = in(reg) at, v = in($class) value,
                        options(nostack))
                }
            }
            #[inline(always)]
            unsafe fn gs_or(_: Base, at: *mut Self, value: Self) {
                // SAFETY: `Base` proves that GS is set; the caller guarantees that `at` is a word of each copy.
                unsafe {
                    asm!(concat!("or ", $size, " ptr gs:[{p}], ", $v), p = in(reg) at, v = in($class) value,
                        options(nostack))
                }
            }
            #[inline(always)]
            unsafe fn gs_cmpxchg(_: Base, at: *mut Self, old: Self, new: Self) -> Self {
                let found: $value;
                // SAFETY: `Base` proves that GS is set; the caller guarantees that `at` is a word of each copy.
                unsafe {
                    asm!(concat!("cmpxchg ", $size, " ptr gs:[{p}], ", $v), p = in(reg) at, v = in($class) new,
                        inout($acc) old => found, options(nostack))
                };
                found
            }
            #[inline(always)]
            unsafe fn gs_add_return(_: Base, at: *mut Self, value: Self) -> Self {
                let found: $value;
                // SAFETY: `Base` proves that GS is set; the caller guarantees that `at` is a word of each copy.
                unsafe {
                    asm!(concat!("xadd ", $size, " ptr gs:[{p}], ", $v), p = in(reg) at,
                        v = inout($class) value => found, options(nostack))
                };
                found.wrapping_add(value)
            }
        }
    )* };
}

words! {
    u8, "byte", reg_byte, "{v}", "al", "mov {v}";
    u16, "word", reg, "{v:x}", "ax", "movzx {v:e}";
    u32, "dword", reg, "{v:e}", "eax", "mov {v:e}";
    u64, "qword", reg, "{v:r}", "rax", "mov {v:r}";
}
