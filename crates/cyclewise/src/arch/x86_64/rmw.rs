//! Read-modify-writes of 1, 2, 4 and 8 bytes, each with one LOCK prefix that is a site.
//!
//! Not intrinsics: the compiler does not report where it emits the prefix. Loads, stores and XCHG, which locks without
//! a prefix, are the compiler's.
//!
//! # Cost
//! Locked, as std's atomics. Elided, the forms without a result (ADD, INC, DEC, AND ..) cost a plain instruction on
//! memory; XADD and CMPXCHG are microcoded and cost more.
//!
//! # References
//! Intel SDM vol. 2: ADD, AND, CMPXCHG, DEC, INC, LOCK, OR, SUB, XADD, XOR. SDM vol. 3, 8.2.3.9: locked instructions
//! are ordered with everything.
//!
//! # Safety
//! 1. The operand is a std atomic: mapped, writable, aligned to its size, and shared with atomic accesses only.
//! 2. With LOCK in force an instruction is one sequentially consistent access. With the prefix elided it is still one
//!    instruction: nothing on the same CPU can interrupt it in the middle, and `patch` elides only while nothing on
//!    another CPU can access the operand.
//! 3. Options left out: `nomem` and `readonly`, because memory changes and the order of other accesses matters to other
//!    threads; `preserves_flags`, because each instruction sets flags.
#![expect(unsafe_code, reason = "instructions with a patchable prefix")]

use super::lock_prefix::lock;
use crate::arch::{Bits, Exchange, Rmw};
use core::arch::asm;
use core::cmp;
use core::sync::atomic::{self, AtomicU8, Ordering};

/// An instruction on `[p]`, and on a register if there is a value, without a result.
macro_rules! effect {
    ($instruction:literal, $size:literal, $self:ident $(, $value:ident: $class:ident $reg:literal)?) => {
        // SAFETY: a borrowed atomic (1), changed by one instruction (2).
        unsafe {
            asm!(
                lock!(),
                concat!($instruction, " ", $size, " ptr [{p}]" $(, ", ", $reg)?),
                p = in(reg) $self.as_ptr(),
                $(v = in($class) $value,)?
                options(nostack),
            )
        }
    };
}

/// The same, and whether a condition of the flags holds. A jump tests it, so that the caller's branch is that jump.
macro_rules! test {
    ($instruction:literal, $jump:literal, $size:literal, $self:ident $(, $value:ident: $class:ident $reg:literal)?) => {{
        // SAFETY: a borrowed atomic (1), changed by one instruction (2); the jump leads to the block.
        unsafe {
            asm!(
                lock!(),
                concat!($instruction, " ", $size, " ptr [{p}]" $(, ", ", $reg)?),
                concat!($jump, " {yes}"),
                p = in(reg) $self.as_ptr(),
                $(v = in($class) $value,)?
                yes = label { return true },
                options(nostack),
            )
        }
        false
    }};
}

/// The same, and one jump where the comparison is not `Greater`. The same flags distinguish the other two results, out
/// of line: a second jump next to the first would cost what this macro saves. The two jumps there have no unwind
/// information, so a profiler that stops a thread on one sees no callers. Nothing can be called or panic there.
macro_rules! compare {
    ($instruction:literal, $size:literal, $operand:literal, $either:literal, $equal:literal, $self:ident) => {{
        // SAFETY: a borrowed atomic (1), changed by one instruction (2); the jumps lead to the blocks.
        unsafe {
            asm!(
                lock!(),
                concat!($instruction, " ", $size, " ptr [{p}]", $operand),
                concat!($either, " 2f"),
                ".subsection 1",
                "2:",
                concat!($equal, " {equal}"),
                "jmp {less}",
                ".subsection 0",
                p = in(reg) $self.as_ptr(),
                equal = label { return cmp::Ordering::Equal },
                less = label { return cmp::Ordering::Less },
                options(nostack),
            )
        }
        cmp::Ordering::Greater
    }};
}

macro_rules! words {
    ($($atomic:ident: $value:ident, $size:literal, $class:ident, $reg:literal, $acc:tt;)*) => { $(
        impl Rmw for atomic::$atomic {
            type Value = $value;

            #[inline(always)]
            fn xadd(&self, value: $value, _: Ordering) -> $value {
                let found;
                // SAFETY: a borrowed atomic (1), changed by one instruction (2).
                unsafe {
                    asm!(
                        lock!(),
                        concat!("xadd ", $size, " ptr [{p}], ", $reg),
                        p = in(reg) self.as_ptr(),
                        v = inout($class) value => found,
                        options(nostack),
                    );
                }
                found
            }
            #[inline(always)]
            fn add(&self, value: $value, _: Ordering) {
                effect!("add", $size, self, value: $class $reg);
            }
            #[inline(always)]
            fn sub(&self, value: $value, _: Ordering) {
                effect!("sub", $size, self, value: $class $reg);
            }
            #[inline(always)]
            fn inc(&self, _: Ordering) {
                effect!("inc", $size, self);
            }
            #[inline(always)]
            fn dec(&self, _: Ordering) {
                effect!("dec", $size, self);
            }
            #[inline(always)]
            fn add_negative(&self, value: $value, _: Ordering) -> bool {
                test!("add", "js", $size, self, value: $class $reg)
            }
            #[inline(always)]
            fn sub_and_test(&self, value: $value, _: Ordering) -> bool {
                test!("sub", "jz", $size, self, value: $class $reg)
            }
            #[inline(always)]
            fn inc_negative(&self, _: Ordering) -> bool {
                test!("inc", "js", $size, self)
            }
            #[inline(always)]
            fn dec_negative(&self, _: Ordering) -> bool {
                test!("dec", "js", $size, self)
            }
            #[inline(always)]
            fn dec_and_test(&self, _: Ordering) -> bool {
                test!("dec", "jz", $size, self)
            }
            // LE takes the overflow flag into account: the smallest value minus one counts as negative.
            #[inline(always)]
            fn dec_not_positive(&self, _: Ordering) -> bool {
                test!("dec", "jle", $size, self)
            }
            // LE takes the overflow flag into account: the largest value plus one does not count as negative.
            #[inline(always)]
            fn fetch_inc_cmp(&self, _: Ordering) -> cmp::Ordering {
                compare!("inc", $size, "", "jle", "jz", self)
            }
            // SUB, because DEC does not change the carry flag: zero minus one sets it.
            #[inline(always)]
            fn dec_cmp(&self, _: Ordering) -> cmp::Ordering {
                compare!("sub", $size, ", 1", "js", "jc", self)
            }
        }

        impl Bits for atomic::$atomic {
            type Value = $value;

            #[inline(always)]
            fn and(&self, value: $value, _: Ordering) {
                effect!("and", $size, self, value: $class $reg);
            }
            #[inline(always)]
            fn or(&self, value: $value, _: Ordering) {
                effect!("or", $size, self, value: $class $reg);
            }
            #[inline(always)]
            fn xor(&self, value: $value, _: Ordering) {
                effect!("xor", $size, self, value: $class $reg);
            }
        }

        impl Exchange for atomic::$atomic {
            type Value = $value;

            #[inline(always)]
            fn cmpxchg(&self, old: $value, new: $value, _: Ordering, _: Ordering) -> $value {
                let found;
                // SAFETY: a borrowed atomic (1), changed by one instruction (2).
                unsafe {
                    asm!(
                        lock!(),
                        concat!("cmpxchg ", $size, " ptr [{p}], ", $reg),
                        p = in(reg) self.as_ptr(),
                        v = in($class) new,
                        inout($acc) old => found,
                        options(nostack),
                    );
                }
                found
            }
            #[inline(always)]
            fn cmpxchg_and_test(&self, old: $value, new: $value, _: Ordering, _: Ordering) -> bool {
                // SAFETY: a borrowed atomic (1), changed by one instruction (2); the jump leads to the block.
                unsafe {
                    asm!(
                        lock!(),
                        concat!("cmpxchg ", $size, " ptr [{p}], ", $reg),
                        "jne {no}",
                        p = in(reg) self.as_ptr(),
                        v = in($class) new,
                        inout($acc) old => _,
                        no = label { return false },
                        options(nostack),
                    );
                }
                true
            }
        }
    )* };
}

words! {
    AtomicU8: u8, "byte", reg_byte, "{v}", "al";
    AtomicI8: i8, "byte", reg_byte, "{v}", "al";
    AtomicU16: u16, "word", reg, "{v:x}", "ax";
    AtomicI16: i16, "word", reg, "{v:x}", "ax";
    AtomicU32: u32, "dword", reg, "{v:e}", "eax";
    AtomicI32: i32, "dword", reg, "{v:e}", "eax";
    AtomicU64: u64, "qword", reg, "{v:r}", "rax";
    AtomicI64: i64, "qword", reg, "{v:r}", "rax";
    AtomicUsize: usize, "qword", reg, "{v:r}", "rax";
    AtomicIsize: isize, "qword", reg, "{v:r}", "rax";
}

/// A bool's byte. It stays 0 or 1 under every operation below, because both operands are.
#[inline(always)]
fn byte(value: &atomic::AtomicBool) -> &AtomicU8 {
    // SAFETY: the byte is valid as long as the bool is borrowed, and its accesses are atomic (Invariant 1).
    unsafe { AtomicU8::from_ptr(value.as_ptr().cast()) }
}

impl Bits for atomic::AtomicBool {
    type Value = bool;

    #[inline(always)]
    fn and(&self, value: bool, order: Ordering) {
        byte(self).and(u8::from(value), order);
    }
    #[inline(always)]
    fn or(&self, value: bool, order: Ordering) {
        byte(self).or(u8::from(value), order);
    }
    #[inline(always)]
    fn xor(&self, value: bool, order: Ordering) {
        byte(self).xor(u8::from(value), order);
    }
}

impl Exchange for atomic::AtomicBool {
    type Value = bool;

    #[inline(always)]
    fn cmpxchg(&self, old: bool, new: bool, success: Ordering, failure: Ordering) -> bool {
        byte(self).cmpxchg(u8::from(old), u8::from(new), success, failure) != 0
    }
}

impl<T> Exchange for atomic::AtomicPtr<T> {
    type Value = *mut T;

    /// Keeps pointers as pointers, so that the previous value keeps its provenance.
    #[inline(always)]
    fn cmpxchg(&self, old: *mut T, new: *mut T, _: Ordering, _: Ordering) -> *mut T {
        let found;
        // SAFETY: a borrowed atomic (1), changed by one instruction (2).
        unsafe {
            asm!(
                lock!(),
                "cmpxchg qword ptr [{p}], {v}",
                p = in(reg) self.as_ptr(),
                v = in(reg) new,
                inout("rax") old => found,
                options(nostack),
            );
        }
        found
    }
}
