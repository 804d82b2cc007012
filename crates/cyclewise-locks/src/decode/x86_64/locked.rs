//! Locked instructions of x86-64: what counts as one, and as which.
//!
//! A LOCK prefix on a fence idiom (`lock or dword ptr [rsp],0`) orders memory and is no read-modify-write of anything, so it
//! is a [`Form::Fence`]. XCHG with memory locks with or without a prefix, and is [`Form::Xchg`] either way.

use super::operand::{memory, operand, register, signed};
use crate::decode::step::{Form, Locked, Operand, Operation};
use iced_x86::{Instruction, Mnemonic, OpKind, Register};

/// The instruction, if it locks or is a fence.
pub(super) fn locked(i: &Instruction) -> Option<Locked> {
    if i.mnemonic() == Mnemonic::Mfence {
        return Some(fence(None));
    }
    let has_memory = (0..i.op_count()).any(|n| i.op_kind(n) == OpKind::Memory);
    if i.mnemonic() == Mnemonic::Xchg && has_memory {
        return Some(exchange(i));
    }
    if !i.has_lock_prefix() || !has_memory {
        return None;
    }
    let operation = operation(i.mnemonic())?;
    if is_fence(i) {
        return Some(fence(Some(i)));
    }
    let mnemonic = i.mnemonic();
    let source = match mnemonic {
        Mnemonic::Inc => Operand::Imm(1),
        Mnemonic::Dec => Operand::Imm(-1),
        Mnemonic::Sub | Mnemonic::Sbb => match operand(i, 1) {
            Operand::Imm(n) => Operand::Imm(n.wrapping_neg()),
            other => other,
        },
        Mnemonic::Not | Mnemonic::Neg => Operand::Imm(-1),
        // The new value is in RBX, and in RCX above it.
        Mnemonic::Cmpxchg8b | Mnemonic::Cmpxchg16b => Operand::Reg(3),
        _ => operand(i, 1),
    };
    let old = match mnemonic {
        Mnemonic::Xadd => register(i.op1_register()),
        Mnemonic::Cmpxchg | Mnemonic::Cmpxchg8b | Mnemonic::Cmpxchg16b => Some(0),
        _ => None,
    };
    Some(Locked {
        form: Form::Lock,
        operation,
        width: width(i),
        place: Some(memory(i)),
        operand: source,
        subtracts: matches!(mnemonic, Mnemonic::Sub | Mnemonic::Sbb) && !matches!(source, Operand::Imm(_)),
        clears: matches!(mnemonic, Mnemonic::And | Mnemonic::Btr),
        old,
        flags: mnemonic != Mnemonic::Not,
        status: None,
    })
}

fn operation(mnemonic: Mnemonic) -> Option<Operation> {
    use Mnemonic as M;
    Some(match mnemonic {
        M::Add | M::Sub | M::Inc | M::Dec | M::Adc | M::Sbb | M::Neg => Operation::Add,
        M::Xadd => Operation::FetchAdd,
        M::Cmpxchg | M::Cmpxchg8b | M::Cmpxchg16b => Operation::CompareExchange,
        M::And | M::Or | M::Xor | M::Not => Operation::Logic,
        M::Bts | M::Btr | M::Btc => Operation::Bit,
        _ => return None,
    })
}

fn exchange(i: &Instruction) -> Locked {
    let source = (0..2).find_map(|n| register_operand(i, n));
    Locked {
        form: Form::Xchg,
        operation: Operation::Exchange,
        width: width(i),
        place: Some(memory(i)),
        operand: source.map_or(Operand::Unknown, Operand::Reg),
        subtracts: false,
        clears: false,
        old: source,
        flags: false,
        status: None,
    }
}

fn register_operand(i: &Instruction, n: u32) -> Option<u8> {
    (i.op_kind(n) == OpKind::Register)
        .then(|| register(i.op_register(n)))
        .flatten()
}

/// A read-modify-write near the stack pointer that writes back what it read.
fn is_fence(i: &Instruction) -> bool {
    if i.memory_base() != Register::RSP || i.memory_index() != Register::None {
        return false;
    }
    let Operand::Imm(n) = operand(i, 1) else {
        return false;
    };
    match i.mnemonic() {
        Mnemonic::Or | Mnemonic::Add | Mnemonic::Sub | Mnemonic::Xor => n == 0,
        Mnemonic::And => n == -1 || signed(n.cast_unsigned(), i.memory_size().size()) == -1,
        _ => false,
    }
}

fn fence(of: Option<&Instruction>) -> Locked {
    Locked {
        form: Form::Fence,
        operation: Operation::Fence,
        width: of.map_or(0, width),
        place: of.map(memory),
        operand: Operand::Unknown,
        subtracts: false,
        clears: false,
        old: None,
        flags: of.is_some(),
        status: None,
    }
}

fn width(i: &Instruction) -> u8 {
    u8::try_from(i.memory_size().size()).unwrap_or(0)
}
