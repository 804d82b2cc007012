//! Steps of AArch64 code, by masks of the encodings in the Arm Architecture Reference Manual, section C4.1.
//!
//! Half and whole registers count as the same one. Vector registers are not followed.

mod field;
mod locked;

use super::step::{Cond, Memory, Op, Operand, Reg, RegTest, Step, What};
use field::{at, base, bits, destination, reg, source};
use locked::{locked, operand_text};

/// The instruction at the start of `code`; none where fewer than four bytes are left.
pub fn decode(code: &[u8], address: u64) -> Step {
    let what = word(code).map_or(What::Invalid, |w| what(w, address));
    Step {
        address,
        length: 4,
        what,
    }
}

/// A locked instruction as the manual writes it; another one by its word.
pub fn text(code: &[u8]) -> String {
    word(code).map_or_else(String::new, |w| {
        operand_text(w).unwrap_or_else(|| format!(".inst {w:#010x}"))
    })
}

fn word(code: &[u8]) -> Option<u32> {
    code.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

fn what(w: u32, address: u64) -> What {
    if let Some(what) = locked(w) {
        return what;
    }
    if let Some(what) = control(w, address) {
        return what;
    }
    if bits(w, 27, 1) == 1 && bits(w, 25, 1) == 0 {
        return load_or_store(w);
    }
    arithmetic(w)
}

/// A branch's distance in instructions, as bytes.
fn target(address: u64, field: u32, width: u32) -> u64 {
    address.wrapping_add_signed(sign_extend(field, width) * 4)
}

fn sign_extend(field: u32, width: u32) -> i64 {
    let shift = 64 - width;
    (u64::from(field) << shift).cast_signed() >> shift
}

fn control(w: u32, address: u64) -> Option<What> {
    let what = match w {
        0xd503_203f | 0xd503_205f | 0xd503_3fdf => What::Pause, // YIELD, WFE, ISB
        _ if w & 0xfc00_0000 == 0x1400_0000 => What::Jump(Some(target(address, bits(w, 0, 26), 26))),
        _ if w & 0xfc00_0000 == 0x9400_0000 => What::Call(Some(target(address, bits(w, 0, 26), 26))),
        _ if w & 0xff00_0010 == 0x5400_0000 => What::Branch {
            cond: cond(bits(w, 0, 4)),
            target: target(address, bits(w, 5, 19), 19),
        },
        _ if w & 0x7e00_0000 == 0x3400_0000 => What::BranchOn {
            reg: reg(w),
            test: if bits(w, 24, 1) == 0 {
                RegTest::Zero
            } else {
                RegTest::NotZero
            },
            target: target(address, bits(w, 5, 19), 19),
        },
        _ if w & 0x7e00_0000 == 0x3600_0000 => What::BranchOn {
            reg: reg(w),
            test: if bits(w, 24, 1) == 0 {
                RegTest::BitClear
            } else {
                RegTest::BitSet
            },
            target: target(address, bits(w, 5, 14), 14),
        },
        // BR, BLR and RET, with and without pointer authentication.
        _ if w & 0xfe00_0000 == 0xd600_0000 => match bits(w, 21, 3) {
            0 => What::Jump(None),
            1 => What::Call(None),
            2 => What::Return,
            _ => What::Trap,
        },
        _ if w & 0xffe0_001f == 0xd400_0001 => What::SystemCall,
        _ if w & 0xff00_0000 == 0xd400_0000 || w & 0xffff_0000 == 0 => What::Trap, // BRK, HLT, UDF
        _ => return None,
    };
    Some(what)
}

fn load_or_store(w: u32) -> What {
    let is_vector = bits(w, 26, 1) == 1;
    let size = bits(w, 30, 2);
    // Load-acquire and store-release, and LDAPR.
    if w & 0x3fff_fc00 == 0x08df_fc00 || w & 0x3fff_fc00 == 0x38bf_c000 {
        return load(w, at(w >> 5, 0));
    }
    if w & 0x3fff_fc00 == 0x089f_fc00 {
        return store(w, at(w >> 5, 0));
    }
    let place = if w & 0x3b00_0000 == 0x3900_0000 {
        at(w >> 5, i64::from(bits(w, 10, 12)) << size)
    } else if w & 0x3b20_0000 == 0x3800_0000 {
        at(w >> 5, sign_extend(bits(w, 12, 9), 9))
    } else if w & 0x3b20_0c00 == 0x3820_0800 {
        Memory {
            index: Some(reg(w >> 16)),
            ..at(w >> 5, 0)
        }
    } else {
        let is_pair = w & 0x3a00_0000 == 0x2800_0000;
        let is_literal = w & 0x3b00_0000 == 0x1800_0000;
        let loads = is_literal || bits(w, 22, 1) == 1;
        return What::Other {
            writes: if loads && !is_vector && (is_pair || is_literal) {
                destination(w)
            } else {
                None
            },
            flags: false,
            loads,
            stores: !loads,
        };
    };
    let loads = bits(w, 22, 2) != 0;
    match (is_vector, loads) {
        (false, true) => load(w, place),
        (false, false) => store(w, place),
        (true, _) => What::Other {
            writes: None,
            flags: false,
            loads: bits(w, 22, 1) == 1,
            stores: bits(w, 22, 1) == 0,
        },
    }
}

fn load(w: u32, from: Memory) -> What {
    match destination(w) {
        Some(to) => What::Move {
            to,
            from: Operand::Mem(from),
        },
        None => What::Other {
            writes: None,
            flags: false,
            loads: true,
            stores: false,
        },
    }
}

fn store(w: u32, to: Memory) -> What {
    What::Store { to, from: source(w) }
}

fn arithmetic(w: u32) -> What {
    let (rd, rn, rm) = (w, w >> 5, w >> 16);
    let immediate = i64::from(bits(w, 10, 12)) << (12 * bits(w, 22, 1));
    if w & 0x1f80_0000 == 0x1100_0000 {
        let flags = bits(w, 29, 1) == 1;
        let to = if flags { destination(rd) } else { Some(base(rd)) };
        return compute(
            add_or_sub(w),
            to,
            Operand::Reg(base(rn)),
            Operand::Imm(immediate),
            flags,
        );
    }
    if w & 0x1f00_0000 == 0x0b00_0000 {
        let plain = bits(w, 10, 6) == 0 || bits(w, 21, 1) == 1;
        let b = if plain { source(rm) } else { Operand::Unknown };
        return compute(add_or_sub(w), destination(rd), source(rn), b, bits(w, 29, 1) == 1);
    }
    if w & 0x1f80_0000 == 0x1200_0000 {
        let mask = logical_immediate(w).map_or(Operand::Unknown, Operand::Imm);
        return logical(w, mask);
    }
    if w & 0x1f00_0000 == 0x0a00_0000 {
        let is_plain = bits(w, 10, 6) == 0 && bits(w, 21, 1) == 0;
        return logical(w, if is_plain { source(rm) } else { Operand::Unknown });
    }
    if w & 0x1f80_0000 == 0x1280_0000 {
        return move_wide(w);
    }
    if w & 0x1fe0_0000 == 0x1a80_0000 {
        return select(w);
    }
    let writes_flags = w & 0x1fe0_0000 == 0x1a40_0000; // CCMP
    let is_general = bits(w, 26, 3) == 4 || bits(w, 25, 3) == 5;
    if is_general && !writes_flags {
        // Extensions (SXTW, UXTB) keep the number; the rest computes another one.
        let is_extension = w & 0x1f80_0000 == 0x1300_0000 && bits(w, 16, 6) == 0 && bits(w, 10, 6) >= 7;
        return match destination(rd) {
            Some(to) if is_extension => What::Move { to, from: source(rn) },
            to => compute(Op::Mixed, to, source(rn), Operand::Unknown, false),
        };
    }
    What::Other {
        writes: None,
        flags: writes_flags,
        loads: false,
        stores: false,
    }
}

fn add_or_sub(w: u32) -> Op {
    if bits(w, 30, 1) == 0 { Op::Add } else { Op::Sub }
}

fn compute(op: Op, to: Option<Reg>, a: Operand, b: Operand, flags: bool) -> What {
    What::Compute { op, to, a, b, flags }
}

fn logical(w: u32, b: Operand) -> What {
    let (a, opc) = (source(w >> 5), bits(w, 29, 2));
    let is_immediate = w & 0x1f80_0000 == 0x1200_0000;
    let to = if is_immediate && opc != 3 {
        Some(base(w))
    } else {
        destination(w)
    };
    match (opc, to, a) {
        (1, Some(to), Operand::Imm(0)) => What::Move { to, from: b },
        (0, ..) => compute(Op::And, to, a, b, false),
        (1, ..) => compute(Op::Or, to, a, b, false),
        (2, ..) => compute(Op::Xor, to, a, b, false),
        _ => compute(Op::And, to, a, b, true),
    }
}

/// The number of a logical immediate, by the manual's `DecodeBitMasks`.
fn logical_immediate(w: u32) -> Option<i64> {
    let (n, immr, imms) = (bits(w, 22, 1), bits(w, 16, 6), bits(w, 10, 6));
    let length = 31u32.checked_sub(((n << 6) | (!imms & 0x3f)).leading_zeros())?;
    let size = 1u32.checked_shl(length).filter(|s| (2..=64).contains(s))?;
    let (ones, rotate) = ((imms & (size - 1)) + 1, immr & (size - 1));
    if ones == size {
        return None;
    }
    let full = u64::MAX >> (64 - size);
    let run = (1u64 << ones) - 1;
    let element = if rotate == 0 {
        run
    } else {
        ((run >> rotate) | (run << (size - rotate))) & full
    };
    let mut value = 0;
    for i in 0..64 / size {
        value |= element << (i * size);
    }
    let is_wide = bits(w, 31, 1) == 1;
    Some(if is_wide {
        value.cast_signed()
    } else {
        i64::from((value as u32).cast_signed())
    })
}

fn move_wide(w: u32) -> What {
    let value = u64::from(bits(w, 5, 16)) << (16 * bits(w, 21, 2));
    let is_wide = bits(w, 31, 1) == 1;
    let narrow = |v: u64| {
        if is_wide {
            v.cast_signed()
        } else {
            i64::from((v as u32).cast_signed())
        }
    };
    let from = match bits(w, 29, 2) {
        0 => Operand::Imm(narrow(!value)),
        2 => Operand::Imm(narrow(value)),
        // MOVK keeps the rest of the register.
        _ => Operand::Unknown,
    };
    match destination(w) {
        Some(to) => What::Move { to, from },
        None => compute(Op::Mixed, None, Operand::Unknown, Operand::Unknown, false),
    }
}

/// CSEL and its relatives; CSET is an increment of zero by the opposite condition.
fn select(w: u32) -> What {
    let Some(to) = destination(w) else {
        return compute(Op::Mixed, None, Operand::Unknown, Operand::Unknown, false);
    };
    let (a, b, condition) = (source(w >> 5), source(w >> 16), bits(w, 12, 4));
    let is_plain = bits(w, 30, 1) == 0 && bits(w, 10, 1) == 0;
    let (zeros, increments) = (
        a == Operand::Imm(0) && b == Operand::Imm(0),
        bits(w, 30, 1) == 0 && bits(w, 10, 1) == 1,
    );
    if zeros && increments {
        return What::Set {
            to,
            cond: cond(condition ^ 1),
        };
    }
    What::Select {
        to,
        cond: cond(condition),
        a,
        b: if is_plain { b } else { Operand::Unknown },
    }
}

fn cond(code: u32) -> Cond {
    match code {
        0 => Cond::Equal,
        1 => Cond::NotEqual,
        2 | 3 => Cond::Carry,
        4 | 5 => Cond::Sign,
        8..=13 => Cond::Ordered,
        _ => Cond::Other,
    }
}
