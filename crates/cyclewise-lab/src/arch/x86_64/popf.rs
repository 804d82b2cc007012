//! Restoring the flags register: POPF, POPF with the F3 prefix that was proposed for POPF_IF, and what it could be instead.
//!
//! The flags restored are those just saved, so nothing changes: the case a lock's `irqrestore` is in. At CPL 3 POPF
//! leaves IF alone; the cost is the instruction's all the same.
//!
//! # References
//! D. Vlasenko, "RFC: Petition Intel/AMD to add POPF_IF insn", 2016; Intel SDM vol. 2, POPF.
//!
//! # Safety
//! Pushes and pops are balanced; the direction and trap flags are restored to what they were on entry. `two-stores` writes
//! the arena's first word.
#![allow(unsafe_code, reason = "inline assembly of its tests")]

use crate::arch::Body;
#[cfg(test)]
use core::arch::asm;
use cyclewise_bench::body;

/// The variants in the order of the table.
pub const BODIES: [Body; 9] = [
    body!("push-pop", 64, ["mov r8d, 1"], ["push r8", "pop r9"]),
    // What a soft mask cannot be below: a word that says "held", and then that it is not.
    body!(
        "two-stores",
        64,
        ["mov r8d, 1", "xor r9d, r9d"],
        ["mov qword ptr [rsi], r8", "mov qword ptr [rsi], r9"]
    ),
    body!("push-popf", 32, ["pushfq", "pop r8"], ["push r8", "popfq"]),
    body!(
        "push-rep-popf",
        32,
        ["pushfq", "pop r8"],
        ["push r8", ".byte 0xf3, 0x9d"]
    ),
    body!("pushf-pop", 32, [], ["pushfq", "pop r9"]),
    // IF is bit 9 and set in user mode: the branch past the restore is not taken.
    body!(
        "test-branch",
        64,
        ["pushfq", "pop r8"],
        ["test r8d, 0x200", "jz 7f", "7:"]
    ),
    // What a lock does as a whole: the flags saved, and restored in one of the three ways.
    body!("save-popf", 32, [], ["pushfq", "pop r8", "push r8", "popfq"]),
    body!("popf-if", 32, [], ["pushfq", "pop r8", "push r8", ".byte 0xf3, 0x9d"]),
    body!(
        "save-branch",
        32,
        [],
        ["pushfq", "pop r8", "test r8d, 0x200", "jz 7f", "7:"]
    ),
];

/// The arithmetic flags, which POPF may set freely: CF, PF, AF, ZF, SF, OF.
#[cfg(test)]
const ARITHMETIC: u64 = 0x8d5;

/// Loads `flags` with POPF (9D), or with F3 9D, and reads back the arithmetic flags that resulted.
#[cfg(test)]
pub(crate) fn popped(flags: u64, rep: bool) -> u64 {
    let flags = flags & ARITHMETIC;
    let mut result: u64;
    // The bits outside ARITHMETIC are kept as they are. The red zone is in use, so no nostack.
    if rep {
        // SAFETY: balanced pushes; writes only arithmetic flags and the two registers.
        unsafe {
            asm!("pushfq", "and qword ptr [rsp], {keep}", "or qword ptr [rsp], {f}", ".byte 0xf3, 0x9d", "pushfq", "pop {r}",
                keep = const !(ARITHMETIC as i32), f = in(reg) flags, r = lateout(reg) result)
        };
    } else {
        // SAFETY: balanced pushes; writes only arithmetic flags and the two registers.
        unsafe {
            asm!("pushfq", "and qword ptr [rsp], {keep}", "or qword ptr [rsp], {f}", ".byte 0x9d", "pushfq", "pop {r}",
                keep = const !(ARITHMETIC as i32), f = in(reg) flags, r = lateout(reg) result)
        };
    }
    result & ARITHMETIC
}
