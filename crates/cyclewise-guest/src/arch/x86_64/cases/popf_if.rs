//! The meaning of POPF_IF, flag by flag: the popped word differs from the flags in one bit, and what the flags differ in after it is
//! the result of that bit.
//!
//! # Safety
//! The code is copied into a guest and runs there only.
#![expect(unsafe_code, reason = "naked functions whose bytes are copied")]

use super::super::popf_if::{BREAKPOINT, BREAKPOINT_HANDLER, UD, UD_HANDLER};
use super::{case, fault};
use crate::arch::case::{Case, Expect};
use crate::arch::code::{Code, code64};
use crate::arch::payload::{Mode, Payload, Ring, payload};
use crate::layout::mailbox;

/// Results by bit: 1 << 9 for IF, nothing for every other; then 0 for a stack that is balanced.
const ONLY_IF: Expect = Expect::Words(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0x200, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
/// In ring 3 not even IF.
const NOTHING: Expect = Expect::Words(&[0; 23]);
/// What F3 9D does as POPF in ring 0: it changes every flag but the reserved ones, RF and VM, and it leaves VIF and VIP alone. TF is not
/// tried, since it traps.
const POPF: Expect = Expect::Words(&[
    1, 0, 4, 0, 0x10, 0, 0x40, 0x80, 0, 0x200, 0x400, 0x800, 0x1000, 0x2000, 0x4000, 0, 0, 0, 0x4_0000, 0, 0,
    0x20_0000, 0,
]);

/// For each bit up to ID: flags r12, popped r12 with the bit flipped, flags r14; what differs is the result. `$first` puts IF in the
/// state to start from, and `$restore` is the instruction.
macro_rules! each_bit {
    ($base:literal, $skip:literal, $($restore:literal),+) => {
        code64!(
            [
                "mov rbp, rsp",
                "xor ecx, ecx",
                "2:",
                "cmp ecx, {skip}",
                "je 3f",
                "mov r12d, {base}",
                "mov eax, 1",
                "shl eax, cl",
                "mov r13, r12",
                "xor r13, rax",
                "push r13",
                "push r12",
                "popfq",
                $($restore,)+
                "pushfq",
                "push 2",
                "popfq",
                "pop r14",
                "xor r14, r12",
                "mov [rbx + rcx * 8 + {r}], r14",
                "3:",
                "inc ecx",
                "cmp ecx, 22",
                "jb 2b",
                "sub rbp, rsp",
                "mov [rbx + {r} + 176], rbp",
            ],
            base = $base,
            skip = $skip,
            r = mailbox::RESULTS
        )
    };
}

/// The instruction is emulated, by either of its handlers.
macro_rules! emulated {
    ($name:literal, $claim:literal, $code:expr, $expect:expr $(, $field:ident: $value:expr)*) => {
        case! { Long $name, $claim, $code, $expect,
            gates: &[(UD, UD_HANDLER), (BREAKPOINT, BREAKPOINT_HANDLER)] $(, $field: $value)* }
    };
}

/// The cases. Bit 63 is never tried: nothing is skipped.
pub(crate) static POPF_IF: [Case; 9] = [
    emulated! { "popf-if-by-ud-clear", "From IF clear, POPF_IF by UD2 sets IF where the popped word has it, and changes no other flag",
        each_bit!(2, 63, "ud2"), ONLY_IF
    },
    emulated! { "popf-if-by-ud-set", "From IF and the arithmetic flags set, POPF_IF by UD2 clears IF, and changes no other flag",
        each_bit!(0xad7, 63, "ud2"), ONLY_IF
    },
    emulated! { "popf-if-by-int3-clear", "The same by INT3, from IF clear", each_bit!(2, 63, ".byte 0xcc, 0x9d"), ONLY_IF },
    emulated! { "popf-if-by-int3-set", "The same by INT3, from IF set", each_bit!(0xad7, 63, ".byte 0xcc, 0x9d"), ONLY_IF },
    emulated! { "popf-if-in-ring-3", "In ring 3 with IOPL 0, POPF_IF by UD2 changes nothing and does not fault",
        each_bit!(2, 63, "ud2"), NOTHING, ring: Ring::User
    },
    emulated! { "popf-if-by-int3-in-ring-3", "In ring 3 with IOPL 0, POPF_IF by INT3 changes nothing and does not fault",
        each_bit!(2, 63, ".byte 0xcc, 0x9d"), NOTHING, ring: Ring::User
    },
    emulated! { "rep-popf-by-flag", "F3 9D itself changes the other flags too: the proposed meaning is not that of today's CPUs",
        each_bit!(2, 8, ".byte 0xf3, 0x9d"), POPF
    },
    emulated! { "another-breakpoint", "A breakpoint that is not over F3 9D is reported, and not emulated",
        code64!(["int3; nop"]), fault(BREAKPOINT, 0, 0)
    },
    emulated! { "another-invalid-opcode", "An invalid opcode that is not UD2 is reported, and not emulated",
        code64!([".byte 0x0f, 0xff, 0xc0"]), fault(UD, 0, 0)
    },
];
