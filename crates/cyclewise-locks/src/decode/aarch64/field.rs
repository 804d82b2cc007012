//! Fields of an instruction word: bits, registers, memory at a base register.

use crate::decode::step::{Memory, Operand, Reg, SP};

/// Register 31 where it means zero.
pub(super) const ZERO: u32 = 31;

/// The bits from `low` on, `width` of them.
pub(super) fn bits(w: u32, low: u32, width: u32) -> u32 {
    (w >> low) & ((1 << width) - 1)
}

/// A register's number, where 31 is the zero register.
pub(super) fn source(n: u32) -> Operand {
    match n & 31 {
        ZERO => Operand::Imm(0),
        n => Operand::Reg(reg(n)),
    }
}

/// A destination, where 31 is nowhere.
pub(super) fn destination(n: u32) -> Option<Reg> {
    match n & 31 {
        ZERO => None,
        n => Some(reg(n)),
    }
}

/// A register's number.
pub(super) fn reg(n: u32) -> Reg {
    (n & 31) as Reg
}

/// A base register, where 31 is the stack pointer.
pub(super) fn base(n: u32) -> Reg {
    match n & 31 {
        ZERO => SP,
        n => reg(n),
    }
}

/// Memory at a base register.
pub(super) fn at(n: u32, displacement: i64) -> Memory {
    Memory {
        base: Some(base(n)),
        index: None,
        scale: 1,
        displacement,
        thread_local: false,
    }
}
