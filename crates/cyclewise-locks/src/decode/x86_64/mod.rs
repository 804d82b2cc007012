//! Steps of x86-64 code, by iced-x86.
//!
//! Parts of registers count as the whole: rules ask what a register was last set to, and compilers do not mix widths there.

mod locked;
mod operand;

use super::step::{Cond, Op, Operand, SP, Step, What};
use iced_x86::{
    ConditionCode, Decoder, DecoderOptions, FlowControl, Formatter, Instruction, InstructionInfo,
    InstructionInfoFactory, IntelFormatter, MemorySizeOptions, Mnemonic, OpAccess, OpKind,
};
use locked::locked;
use operand::{memory, operand, register};
use std::cell::RefCell;

/// The instruction at the start of `code`.
pub fn decode(code: &[u8], address: u64) -> Step {
    let mut decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
    let instruction = decoder.decode();
    if instruction.is_invalid() {
        return Step {
            address,
            length: 1,
            what: What::Invalid,
        };
    }
    Step {
        address,
        length: u8::try_from(instruction.len()).unwrap_or(1),
        what: what(&instruction),
    }
}

/// The instruction as Intel's manual writes it, with the width of memory operands.
pub fn text(code: &[u8], address: u64) -> String {
    let mut decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
    let instruction = decoder.decode();
    let mut formatter = IntelFormatter::new();
    let options = formatter.options_mut();
    options.set_memory_size_options(MemorySizeOptions::Always);
    options.set_hex_prefix("0x");
    options.set_hex_suffix("");
    options.set_uppercase_hex(false);
    let mut text = String::new();
    formatter.format(&instruction, &mut text);
    text
}

fn what(i: &Instruction) -> What {
    if let Some(locked) = locked(i) {
        return What::Locked(locked);
    }
    match i.flow_control() {
        FlowControl::ConditionalBranch => {
            return What::Branch {
                cond: cond(i.condition_code()),
                target: i.near_branch_target(),
            };
        }
        FlowControl::UnconditionalBranch => return What::Jump(Some(i.near_branch_target())),
        FlowControl::IndirectBranch => return What::Jump(fixed_place(i)),
        FlowControl::Call if i.mnemonic() == Mnemonic::Syscall => return What::SystemCall,
        FlowControl::Call => return What::Call(Some(i.near_branch_target())),
        FlowControl::IndirectCall => return What::Call(fixed_place(i)),
        FlowControl::Return => return What::Return,
        FlowControl::Exception | FlowControl::Interrupt => return What::Trap,
        _ => {}
    }
    plain(i)
}

/// The place that holds the target of an indirect call or jump, where no register has part in it: the dynamic linker writes it.
fn fixed_place(i: &Instruction) -> Option<u64> {
    i.is_ip_rel_memory_operand().then(|| i.ip_rel_memory_address())
}

/// Instructions that fall through and lock nothing.
fn plain(i: &Instruction) -> What {
    use Mnemonic as M;
    let condition = i.condition_code();
    match i.mnemonic() {
        M::Pause => What::Pause,
        M::Hlt => What::Trap,
        M::Mov | M::Movzx | M::Movsx | M::Movsxd => movement(i),
        M::Lea => lea(i),
        M::Xor | M::Sub if same_registers(i) => What::Move {
            to: register(i.op0_register()).unwrap_or(0),
            from: Operand::Imm(0),
        },
        M::Add => compute(i, Op::Add, true),
        M::Sub => compute(i, Op::Sub, true),
        M::And => compute(i, Op::And, true),
        M::Or => compute(i, Op::Or, true),
        M::Xor => compute(i, Op::Xor, true),
        M::Inc => unary(i, Op::Add, Operand::Imm(1)),
        M::Dec => unary(i, Op::Sub, Operand::Imm(1)),
        M::Neg => match register(i.op0_register()) {
            Some(to) => What::Compute {
                op: Op::Sub,
                to: Some(to),
                a: Operand::Imm(0),
                b: Operand::Reg(to),
                flags: true,
            },
            None => other(i),
        },
        M::Not => unary(i, Op::Xor, Operand::Imm(-1)),
        M::Cmp => comparison(i, Op::Sub),
        M::Test => comparison(i, Op::And),
        M::Shl | M::Shr | M::Sar | M::Imul | M::Rol | M::Ror => compute(i, Op::Mixed, true),
        M::Bt => comparison(i, Op::Mixed),
        _ if condition != ConditionCode::None && i.op_count() == 1 && i.op0_kind() == OpKind::Register => What::Set {
            to: register(i.op0_register()).unwrap_or(0),
            cond: cond(condition),
        },
        _ if condition != ConditionCode::None && i.op_count() == 2 && i.op0_kind() == OpKind::Register => {
            let to = register(i.op0_register()).unwrap_or(0);
            What::Select {
                to,
                cond: cond(condition),
                a: Operand::Reg(to),
                b: operand(i, 1),
            }
        }
        _ => other(i),
    }
}

fn movement(i: &Instruction) -> What {
    let from = operand(i, 1);
    match (i.op0_kind(), register(i.op0_register())) {
        (OpKind::Register, Some(to)) => What::Move { to, from },
        (OpKind::Memory, _) => What::Store { to: memory(i), from },
        _ => other(i),
    }
}

/// An address computation: an addition where it adds a number to a register.
fn lea(i: &Instruction) -> What {
    let Some(to) = register(i.op0_register()) else {
        return other(i);
    };
    let place = memory(i);
    match (place.base, place.index) {
        (Some(base), None) => What::Compute {
            op: Op::Add,
            to: Some(to),
            a: Operand::Reg(base),
            b: Operand::Imm(place.displacement),
            flags: false,
        },
        (Some(base), Some(index)) => What::Compute {
            op: Op::Mixed,
            to: Some(to),
            a: Operand::Reg(base),
            b: Operand::Reg(index),
            flags: false,
        },
        (None, Some(index)) => What::Compute {
            op: Op::Mixed,
            to: Some(to),
            a: Operand::Reg(index),
            b: Operand::Unknown,
            flags: false,
        },
        (None, None) => What::Move {
            to,
            from: Operand::Imm(place.displacement),
        },
    }
}

fn compute(i: &Instruction, op: Op, flags: bool) -> What {
    match (i.op0_kind(), register(i.op0_register())) {
        (OpKind::Memory, _) => What::Modify { place: memory(i) },
        (OpKind::Register, Some(to)) => {
            // IMUL of three operands does not read the first one.
            let (a, b) = match i.op_count() {
                1 => (Operand::Reg(to), Operand::Unknown),
                2 => (Operand::Reg(to), operand(i, 1)),
                _ => (operand(i, 1), operand(i, 2)),
            };
            What::Compute {
                op,
                to: Some(to),
                a,
                b,
                flags,
            }
        }
        _ => other(i),
    }
}

fn unary(i: &Instruction, op: Op, b: Operand) -> What {
    match register(i.op0_register()) {
        Some(to) if i.op0_kind() == OpKind::Register => What::Compute {
            op,
            to: Some(to),
            a: Operand::Reg(to),
            b,
            flags: i.mnemonic() != Mnemonic::Not,
        },
        _ => What::Modify { place: memory(i) },
    }
}

fn comparison(i: &Instruction, op: Op) -> What {
    What::Compute {
        op,
        to: None,
        a: operand(i, 0),
        b: operand(i, 1),
        flags: true,
    }
}

/// What is not looked at: which register it writes, and whether it uses memory.
fn other(i: &Instruction) -> What {
    FACTORY.with_borrow_mut(|factory| other_by(factory.info(i), i))
}

thread_local! {
    // It has buffers of its own, and is asked for every instruction.
    static FACTORY: RefCell<InstructionInfoFactory> = RefCell::new(InstructionInfoFactory::new());
}

fn other_by(info: &InstructionInfo, i: &Instruction) -> What {
    let writes = info
        .used_registers()
        .iter()
        .filter(|r| writes(r.access()))
        .find_map(|r| register(r.register()).filter(|r| *r != SP));
    let (mut loads, mut stores) = (false, false);
    for used in info.used_memory() {
        loads |= reads(used.access());
        stores |= self::writes(used.access());
    }
    What::Other {
        writes,
        flags: i.rflags_modified() != 0,
        loads,
        stores,
    }
}

fn writes(access: OpAccess) -> bool {
    matches!(
        access,
        OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite
    )
}

fn reads(access: OpAccess) -> bool {
    matches!(
        access,
        OpAccess::Read | OpAccess::CondRead | OpAccess::ReadWrite | OpAccess::ReadCondWrite
    )
}

fn same_registers(i: &Instruction) -> bool {
    i.op0_kind() == OpKind::Register
        && i.op1_kind() == OpKind::Register
        && i.op0_register() == i.op1_register()
        && i.op0_register().is_gpr()
}

fn cond(code: ConditionCode) -> Cond {
    match code {
        ConditionCode::e => Cond::Equal,
        ConditionCode::ne => Cond::NotEqual,
        ConditionCode::s | ConditionCode::ns => Cond::Sign,
        ConditionCode::b | ConditionCode::ae => Cond::Carry,
        ConditionCode::a
        | ConditionCode::be
        | ConditionCode::l
        | ConditionCode::le
        | ConditionCode::g
        | ConditionCode::ge => Cond::Ordered,
        _ => Cond::Other,
    }
}
