//! POPF_IF as the mail of 2016 proposes it, by an emulator in the guest's exception handlers: semantics, and no cost.
//!
//! CPUs of today execute F3 9D as POPF, so an exception has to stand in its place. UD2 is as long as F3 9D, and INT3 as its prefix:
//! a kernel that wants to try the meaning patches one of them over the instruction.
//!
//! # The meaning
//! 1. A flags word is popped off the stack.
//! 2. IF becomes what its bit 9 says, and no other flag changes: "looks only at IF bit and changes only that bit in EFLAGS".
//! 3. Where POPF leaves IF alone (CPL above IOPL), so does this; then it changes nothing, and does not fault.
//! 4. TF, IOPL, VIP, VIF and RF in the popped word are not looked at: no single step begins, and nothing is checked.
//!
//! # References
//! D. Vlasenko, "RFC: Petition Intel/AMD to add POPF_IF insn", 2016; Intel SDM vol. 2, POPF (the table of what it changes by CPL and
//! IOPL).
//!
//! # Safety
//! The code is copied into a guest and runs there only.
#![expect(unsafe_code, reason = "naked functions whose bytes are copied")]

use crate::arch::code::{Code, code64};
use crate::layout;

/// The vector of UD2.
pub const UD: u8 = 6;
/// The vector of INT3.
pub const BREAKPOINT: u8 = 3;

/// A handler of `$vector`, which steps `$length` bytes on; what is not `$check`ed to be the pattern is reported as a fault.
///
/// Frame, above rax, rcx and rdx: RIP, CS, RFLAGS, RSP, SS of what was interrupted.
macro_rules! handler {
    ($check:literal, $vector:expr, $length:expr) => {
        code64!(
            [
                "push rax",
                "push rcx",
                "push rdx",
                "mov rax, [rsp + 24]",
                $check,
                "jne 3f",
                "add qword ptr [rsp + 24], {length}",
                // The popped word is on the stack that was interrupted.
                "mov rax, [rsp + 48]",
                "mov rcx, [rax]",
                "add qword ptr [rsp + 48], 8",
                // CPL above IOPL: nothing changes.
                "mov eax, [rsp + 32]",
                "and eax, 3",
                "mov edx, [rsp + 40]",
                "shr edx, 12",
                "and edx, 3",
                "cmp eax, edx",
                "ja 2f",
                "and ecx, 0x200",
                "and dword ptr [rsp + 40], -0x201",
                "or dword ptr [rsp + 40], ecx",
                "2:",
                "pop rdx",
                "pop rcx",
                "pop rax",
                "iretq",
                // Another reason for the exception.
                "3:",
                "pop rdx",
                "pop rcx",
                "pop rax",
                "push 0",
                "push {vector}",
                "push {fault}",
                "ret",
            ],
            length = $length,
            vector = $vector,
            fault = layout::FAULT,
        )
    };
}

/// The handler of UD2: the address is that of the instruction, which is 2 bytes long.
pub const UD_HANDLER: Code = handler!("cmp word ptr [rax], 0x0b0f", UD, 2);
/// The handler of INT3: the address is that of the byte behind it, 9D.
pub const BREAKPOINT_HANDLER: Code = handler!("cmp byte ptr [rax], 0x9d", BREAKPOINT, 1);
