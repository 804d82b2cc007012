//! What an instruction with LOCK, or an exchange without it, is: by its bytes alone.

use iced_x86::{Instruction, Mnemonic, OpKind, Register};
use std::fmt;

/// LOCK, as a byte before an instruction.
pub(super) const LOCK: u8 = 0xf0;

/// What LOCK is replaced by: a segment override of DS, which 64-bit mode ignores where no other override is there.
pub(super) const DS: u8 = 0x3e;

/// What a site is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SiteKind {
    /// A read-modify-write of up to 8 bytes.
    Narrow,
    /// CMPXCHG8B or CMPXCHG16B. Either is one instruction without LOCK too, so that no interrupt divides it.
    Wide,
    /// `lock or [rsp-n], 0` and its like change nothing: they are there to order accesses, as MFENCE is.
    Fence,
    /// There is another segment override, which DS would be in doubt with.
    Segment,
    /// XACQUIRE or XRELEASE, which mean nothing without LOCK.
    Elision,
    /// LOCK is there more than once.
    Repeated,
    /// XCHG with memory locks whether it has the prefix or not.
    Exchange,
}

impl SiteKind {
    /// What a site of this kind is called in lists.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Narrow => "narrow",
            Self::Wide => "wide",
            Self::Fence => "fence",
            Self::Segment => "segment",
            Self::Elision => "elision",
            Self::Repeated => "repeated",
            Self::Exchange => "exchange",
        }
    }

    /// Whether the prefix can be replaced, where the site is proven.
    pub(super) fn is_replaceable(self) -> bool {
        matches!(self, Self::Narrow | Self::Wide)
    }
}

impl fmt::Display for SiteKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// An instruction that locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Site {
    pub(super) address: u64,
    pub(super) length: usize,
    pub(super) mnemonic: Mnemonic,
    pub(super) kind: SiteKind,
    /// Where LOCK is, from the instruction's start; an exchange need not have it.
    pub(super) prefix: Option<usize>,
}

impl Site {
    /// The site that `instruction`, whose bytes these are, is; none where it does not lock.
    pub(super) fn of(instruction: &Instruction, bytes: &[u8]) -> Option<Self> {
        let is_exchange = instruction.mnemonic() == Mnemonic::Xchg && has_memory(instruction);
        if !instruction.has_lock_prefix() && !is_exchange {
            return None;
        }
        let prefixes = &bytes[..bytes.iter().take_while(|byte| is_prefix(**byte)).count()];
        Some(Self {
            address: instruction.ip(),
            length: instruction.len(),
            mnemonic: instruction.mnemonic(),
            kind: kind(instruction, prefixes, is_exchange),
            prefix: prefixes.iter().position(|byte| *byte == LOCK),
        })
    }
}

fn kind(instruction: &Instruction, prefixes: &[u8], is_exchange: bool) -> SiteKind {
    let has = |wanted: &[u8]| prefixes.iter().any(|byte| wanted.contains(byte));
    if is_exchange {
        SiteKind::Exchange
    } else if prefixes.iter().filter(|byte| **byte == LOCK).count() != 1 {
        SiteKind::Repeated
    } else if has(&[0x26, 0x2e, 0x36, DS, 0x64, 0x65]) {
        SiteKind::Segment
    } else if has(&[0xf2, 0xf3]) {
        SiteKind::Elision
    } else if is_fence(instruction) {
        SiteKind::Fence
    } else if matches!(instruction.mnemonic(), Mnemonic::Cmpxchg8b | Mnemonic::Cmpxchg16b) {
        SiteKind::Wide
    } else {
        SiteKind::Narrow
    }
}

/// Whether it writes a word of the stack back as it was.
fn is_fence(instruction: &Instruction) -> bool {
    let is_immediate = |kind| {
        matches!(
            kind,
            OpKind::Immediate8
                | OpKind::Immediate16
                | OpKind::Immediate32
                | OpKind::Immediate8to16
                | OpKind::Immediate8to32
                | OpKind::Immediate8to64
                | OpKind::Immediate32to64
        )
    };
    let keeps = match instruction.mnemonic() {
        Mnemonic::Or | Mnemonic::Add | Mnemonic::Sub | Mnemonic::Xor => 0,
        Mnemonic::And => u64::MAX,
        _ => return false,
    };
    let on_stack = matches!(
        instruction.memory_base(),
        Register::RSP | Register::ESP | Register::RBP | Register::EBP
    );
    on_stack && instruction.op_count() == 2 && is_immediate(instruction.op1_kind()) && instruction.immediate(1) == keeps
}

fn has_memory(instruction: &Instruction) -> bool {
    instruction.op_kinds().any(|kind| kind == OpKind::Memory)
}

/// Whether the byte is one of the legacy prefixes: LOCK may be anywhere among them.
fn is_prefix(byte: u8) -> bool {
    matches!(byte, 0x26 | 0x2e | 0x36 | 0x3e | 0x64..=0x67 | LOCK | 0xf2 | 0xf3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use iced_x86::{Decoder, DecoderOptions};

    fn site(bytes: &[u8]) -> Option<(SiteKind, Option<usize>)> {
        let instruction = Decoder::with_ip(64, bytes, 0x1000, DecoderOptions::NONE).decode();
        assert_eq!(instruction.len(), bytes.len(), "{bytes:02x?}");
        Site::of(&instruction, bytes).map(|site| (site.kind, site.prefix))
    }

    #[test]
    fn a_read_modify_write_is_replaceable_and_what_is_not_one_is_told_apart() {
        // lock inc qword [rdi], lock xadd [rdi], ax: LOCK is not always the first prefix.
        assert_eq!(site(&[0xf0, 0x48, 0xff, 0x07]), Some((SiteKind::Narrow, Some(0))));
        assert_eq!(site(&[0x66, 0xf0, 0x0f, 0xc1, 0x07]), Some((SiteKind::Narrow, Some(1))));
        // lock cmpxchg16b [rdi]
        assert_eq!(site(&[0xf0, 0x48, 0x0f, 0xc7, 0x0f]), Some((SiteKind::Wide, Some(0))));
        // lock cmpxchg fs:[rdi], eax
        assert_eq!(
            site(&[0x64, 0xf0, 0x0f, 0xb1, 0x07]),
            Some((SiteKind::Segment, Some(1)))
        );
        // xacquire lock inc dword [rdi]
        assert_eq!(site(&[0xf2, 0xf0, 0xff, 0x07]), Some((SiteKind::Elision, Some(1))));
        assert_eq!(site(&[0xf0, 0xf0, 0xff, 0x07]), Some((SiteKind::Repeated, Some(0))));
        // xchg [rdi], rax without and with LOCK; xchg rdi, rax is of registers.
        assert_eq!(site(&[0x48, 0x87, 0x07]), Some((SiteKind::Exchange, None)));
        assert_eq!(site(&[0xf0, 0x48, 0x87, 0x07]), Some((SiteKind::Exchange, Some(0))));
        assert_eq!(site(&[0x48, 0x87, 0xf8]), None);
        // inc qword [rdi]
        assert_eq!(site(&[0x48, 0xff, 0x07]), None);
    }

    #[test]
    fn a_fence_writes_the_stack_back_as_it_was() {
        // lock or qword [rsp], 0; lock or dword [rsp-64], 0
        assert_eq!(
            site(&[0xf0, 0x48, 0x83, 0x0c, 0x24, 0x00]),
            Some((SiteKind::Fence, Some(0)))
        );
        assert_eq!(
            site(&[0xf0, 0x83, 0x4c, 0x24, 0xc0, 0x00]),
            Some((SiteKind::Fence, Some(0)))
        );
        // lock or qword [rsp], 1 and lock or qword [rdi], 0 are a program's own.
        assert_eq!(
            site(&[0xf0, 0x48, 0x83, 0x0c, 0x24, 0x01]),
            Some((SiteKind::Narrow, Some(0)))
        );
        assert_eq!(site(&[0xf0, 0x48, 0x83, 0x0f, 0x00]), Some((SiteKind::Narrow, Some(0))));
    }
}
