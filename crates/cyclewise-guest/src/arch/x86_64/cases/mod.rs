//! What the instructions do, in cases that are run once: flags, segments, system calls, interrupts.
//!
//! rbx, or ebx, is the mailbox: results are stored from there.

mod counter;
mod flags;
mod interrupts;
mod popf_if;
mod segments32;
mod segments64;

pub(crate) use counter::{COUNTER, LOCK};
pub(crate) use flags::FLAGS;
pub(crate) use interrupts::INTERRUPTS;
pub(crate) use popf_if::POPF_IF;
pub(crate) use segments32::SEGMENTS32;
pub(crate) use segments64::SEGMENTS64;

use crate::arch::case::{Case, Expect};
use crate::arch::code::Code;
use crate::arch::payload::{Mode, Payload, Ring};

/// A case in ring 0.
const fn case(mode: Mode, name: &'static str, claim: &'static str, code: Code, expect: Expect) -> Case {
    Case {
        claim,
        payload: Payload::new(name, mode, 1, Code::NOTHING, code),
        expect,
    }
}

/// The same in ring 3.
const fn user(case: Case) -> Case {
    Case {
        payload: Payload {
            ring: Ring::User,
            ..case.payload
        },
        ..case
    }
}

/// A general protection fault without a selector.
const GP: u8 = 13;
/// An invalid opcode.
const UD: u8 = 6;

/// An exception in a ring.
const fn fault(vector: u8, error: u32, ring: u8) -> Expect {
    Expect::Fault { vector, error, ring }
}
