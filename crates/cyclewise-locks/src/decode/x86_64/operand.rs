//! Operands as iced-x86 gives them: registers, numbers, memory.

use crate::decode::step::{Memory, Operand, Reg, SP};
use iced_x86::{Instruction, OpKind, Register};

/// A general register's number.
pub(super) fn register(register: Register) -> Option<Reg> {
    if !register.is_gpr() {
        return None;
    }
    match register.full_register() {
        Register::RSP => Some(SP),
        full => u8::try_from(full.number()).ok(),
    }
}

pub(super) fn operand(i: &Instruction, n: u32) -> Operand {
    match i.op_kind(n) {
        OpKind::Register => register(i.op_register(n)).map_or(Operand::Unknown, Operand::Reg),
        OpKind::Memory => Operand::Mem(memory(i)),
        OpKind::Immediate8
        | OpKind::Immediate16
        | OpKind::Immediate32
        | OpKind::Immediate64
        | OpKind::Immediate8to16
        | OpKind::Immediate8to32
        | OpKind::Immediate8to64
        | OpKind::Immediate32to64 => Operand::Imm(immediate(i, n)),
        _ => Operand::Unknown,
    }
}

/// An immediate, as a signed number of the operation's width.
fn immediate(i: &Instruction, n: u32) -> i64 {
    let raw = i.immediate(n);
    let width = match i.op0_kind() {
        OpKind::Memory => i.memory_size().size(),
        OpKind::Register => i.op0_register().size(),
        _ => 8,
    };
    signed(raw, width)
}

/// The number that the low `width` bytes are in two's complement.
pub(super) fn signed(raw: u64, width: usize) -> i64 {
    let shift = 64 - 8 * u32::try_from(width.clamp(1, 8)).unwrap_or(8);
    (raw << shift).cast_signed() >> shift
}

pub(super) fn memory(i: &Instruction) -> Memory {
    let base = i.memory_base();
    let is_relative = matches!(base, Register::RIP | Register::EIP);
    Memory {
        base: if is_relative { None } else { register(base) },
        index: register(i.memory_index()),
        scale: u8::try_from(i.memory_index_scale()).unwrap_or(1),
        // iced adds the address of the next instruction where the operand is relative to that.
        displacement: i.memory_displacement64().cast_signed(),
        thread_local: matches!(i.memory_segment(), Register::FS | Register::GS),
    }
}
