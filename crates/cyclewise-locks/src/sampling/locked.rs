//! Which instruction a sample means, and the basic block around it.
//!
//! An exact sample (Intel PEBS with its instruction's address, AMD IBS) has the address of the instruction. Any other comes late: the
//! counter overflows, and the interrupt is taken some instructions on. The rule for these: **the nearest locked instruction at or before
//! the sample's address, within the function**. A sample that was taken after the end of the function, or after a jump back to before the
//! instruction, finds none, or a wrong one where a function has several. What finds none is left out and counted.
//!
//! # References
//! x86-64: Intel SDM volume 2, "LOCK" and "XCHG". AArch64: Arm ARM (DDI 0487) C4.1 "A64 instruction set encoding".

use crate::counts::Arch;
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind};
use std::ops::Range;

/// Bytes behind a block that are kept with it: what follows an instruction tells what it is for.
const BEHIND: u64 = 32;

/// Bytes of the longest instruction.
const LONGEST: usize = 15;

/// A function's bytes, and the address of the first.
#[derive(Clone, Copy)]
pub(super) struct Function<'a> {
    pub(super) arch: Arch,
    pub(super) start: u64,
    pub(super) bytes: &'a [u8],
}

/// An instruction, as far as it matters here.
#[derive(Clone, Copy)]
struct Step {
    ip: u64,
    next: u64,
    locked: bool,
    /// It may go elsewhere, so a block ends with it.
    branches: bool,
    target: Option<u64>,
}

impl Function<'_> {
    fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }

    fn steps(&self) -> Vec<Step> {
        match self.arch {
            Arch::X86_64 => self.x86_steps(),
            Arch::Aarch64 => self.arm_steps(),
        }
    }

    fn x86_steps(&self) -> Vec<Step> {
        let mut decoder = Decoder::with_ip(64, self.bytes, self.start, DecoderOptions::NONE);
        let mut steps = Vec::new();
        while decoder.can_decode() {
            let instruction = decoder.decode();
            let near = matches!(
                instruction.op0_kind(),
                OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64
            );
            steps.push(Step {
                ip: instruction.ip(),
                next: instruction.next_ip(),
                locked: is_locked(&instruction),
                branches: instruction.flow_control() != FlowControl::Next,
                target: near.then(|| instruction.near_branch_target()),
            });
        }
        steps
    }

    fn arm_steps(&self) -> Vec<Step> {
        let words = self.bytes.chunks_exact(4);
        words
            .zip((self.start..).step_by(4))
            .map(|(bytes, ip)| {
                let word = bytes.iter().rev().fold(0u32, |word, &b| word << 8 | u32::from(b));
                let (branches, target) = arm_branch(word, ip);
                Step {
                    ip,
                    next: ip + 4,
                    locked: arm_is_locked(word),
                    branches,
                    target,
                }
            })
            .collect()
    }

    /// The locked instruction that a sample at `ip` means.
    pub(super) fn meant(&self, ip: u64, exact: bool) -> Option<u64> {
        if exact {
            // Decoded from there: data between instructions may have led the others astray.
            let bytes = self.bytes.get(usize::try_from(ip.checked_sub(self.start)?).ok()?..)?;
            let there = Self {
                start: ip,
                bytes: &bytes[..bytes.len().min(LONGEST)],
                ..*self
            };
            return there.steps().first().filter(|s| s.locked).map(|_| ip);
        }
        self.steps().iter().rfind(|s| s.ip <= ip && s.locked).map(|s| s.ip)
    }

    /// From the start of the basic block of the instruction at `site` to its end and some bytes more.
    pub(super) fn block(&self, site: u64) -> Range<u64> {
        let steps = self.steps();
        let starts = steps.iter().filter(|s| s.branches);
        let starts = starts.flat_map(|s| [Some(s.next), s.target]).flatten();
        let start = starts
            .filter(|start| (self.start..=site).contains(start))
            .max()
            .unwrap_or(self.start);
        let end = steps
            .iter()
            .find(|s| s.ip >= site && s.branches)
            .map_or(self.end(), |s| s.next);
        start..(end + BEHIND).min(self.end())
    }
}

fn is_locked(instruction: &Instruction) -> bool {
    let exchanges_memory = || {
        instruction.mnemonic() == Mnemonic::Xchg
            && (instruction.op0_kind() == OpKind::Memory || instruction.op1_kind() == OpKind::Memory)
    };
    instruction.has_lock_prefix() || exchanges_memory()
}

/// LSE atomics, compare and swap of one word and of two, and store-exclusives.
fn arm_is_locked(word: u32) -> bool {
    let is = |mask: u32, value: u32| word & mask == value;
    // With bit 15 only SWP is one: the others there load or store, as LDAPR does.
    let atomic = is(0x3f20_0c00, 0x3820_0000) && (is(0x8000, 0) || is(0x7000, 0));
    let cas = is(0x3fa0_7c00, 0x08a0_7c00);
    let casp = is(0xbfa0_7c00, 0x0820_7c00);
    let store_exclusive = is(0x3fc0_0000, 0x0800_0000) && !casp;
    atomic || cas || casp || store_exclusive
}

/// Whether an instruction branches, and where to if it says.
fn arm_branch(word: u32, ip: u64) -> (bool, Option<u64>) {
    let to = |bits: u32, shift: u32| {
        let field = word >> shift & ((1 << bits) - 1);
        let signed = i64::from((field << (32 - bits)) as i32 >> (32 - bits));
        (true, Some(ip.wrapping_add_signed(signed * 4)))
    };
    if word & 0x7c00_0000 == 0x1400_0000 {
        to(26, 0) // B, BL
    } else if word & 0xff00_0000 == 0x5400_0000 || word & 0x7e00_0000 == 0x3400_0000 {
        to(19, 5) // B.cond, CBZ, CBNZ
    } else if word & 0x7e00_0000 == 0x3600_0000 {
        to(14, 5) // TBZ, TBNZ
    } else {
        // BR, BLR, RET, and what traps.
        (
            word & 0xfe00_0000 == 0xd600_0000 || word & 0xff00_0000 == 0xd400_0000,
            None,
        )
    }
}

#[cfg(test)]
#[path = "locked_tests.rs"]
mod tests;
