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

use crate::arch::case::Expect;

/// A case of `$mode` by its name, claim, code and outcome, and the fields in which its payload differs from `Payload::new`'s.
macro_rules! case {
    ($mode:ident $name:literal, $claim:literal, $code:expr, $expect:expr $(, $field:ident: $value:expr)* $(,)?) => {
        Case {
            claim: $claim,
            payload: payload!($mode $name, 1, Code::NOTHING, $code $(, $field: $value)*),
            expect: $expect,
        }
    };
}
use case;

/// A general protection fault without a selector.
const GP: u8 = 13;
/// An invalid opcode.
const UD: u8 = 6;

const fn fault(vector: u8, error: u32, ring: u8) -> Expect {
    Expect::Fault { vector, error, ring }
}
