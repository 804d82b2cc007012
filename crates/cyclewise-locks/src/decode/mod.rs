//! Instructions, as far as the purpose of a locked one depends on them: moves, arithmetic, tests, branches, calls.
//!
//! [`x86_64`] and [`aarch64`] make the same [`Step`]s of machine code, so that the rules that classify sites exist once.
//! What they do not know is [`What::Other`], and the registers that it may write count as unknown from there on.

pub mod aarch64;
mod blocks;
mod step;
#[cfg(test)]
mod tests;
pub mod x86_64;

use crate::counts::Arch;

pub use blocks::{Block, Mix, mix_around};
pub use step::{Cond, Form, Locked, Memory, Op, Operand, Operation, REGS, Reg, RegTest, SP, Step, What};

/// The instruction at the start of `code`, or [`What::Invalid`] of no or too few bytes.
pub fn decode(arch: Arch, code: &[u8], address: u64) -> Step {
    match arch {
        Arch::X86_64 => x86_64::decode(code, address),
        Arch::Aarch64 => aarch64::decode(code, address),
    }
}

/// All instructions of `code` in a row, up to the first that is none.
pub fn sweep(arch: Arch, code: &[u8], address: u64) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut at = 0;
    while at < code.len() {
        let step = decode(arch, &code[at..], address.wrapping_add(at as u64));
        if step.what == What::Invalid {
            break;
        }
        at += usize::from(step.length);
        steps.push(step);
    }
    steps
}

/// The locked instruction at the start of `code`, if there is one.
pub fn locked(arch: Arch, code: &[u8], address: u64) -> Option<Locked> {
    match decode(arch, code, address).what {
        What::Locked(locked) => Some(locked),
        _ => None,
    }
}

/// The instruction at the start of `code` as people write it.
pub fn text(arch: Arch, code: &[u8], address: u64) -> String {
    match arch {
        Arch::X86_64 => x86_64::text(code, address),
        Arch::Aarch64 => aarch64::text(code),
    }
}
