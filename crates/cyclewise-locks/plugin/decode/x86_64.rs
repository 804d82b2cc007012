//! x86-64: LOCK prefixes, XCHG with memory, MFENCE, and repeated string instructions.
//!
//! # References
//! Intel's manual, volume 2: 2.1 (prefixes), 2.2.1 (REX), appendix A (opcode maps).

use super::{Decoded, Flow, Form, Step};

/// Prefixes before REX, then what follows them.
struct Prefixed<'a> {
    lock: bool,
    operand_size: bool,
    repeated: bool,
    opcode: &'a [u8],
}

fn prefixes(mut code: &[u8]) -> Prefixed<'_> {
    let (mut lock, mut operand_size, mut repeated) = (false, false, false);
    while let [first, rest @ ..] = code {
        match first {
            0xf0 => lock = true,
            0x66 => operand_size = true,
            0xf2 | 0xf3 => repeated = true,
            0x26 | 0x2e | 0x36 | 0x3e | 0x64 | 0x65 | 0x67 => {}
            // A REX prefix is the last one, or it is none.
            0x40..=0x4f => {
                code = rest;
                break;
            }
            _ => break,
        }
        code = rest;
    }
    Prefixed {
        lock,
        operand_size,
        repeated,
        opcode: code,
    }
}

/// Whether the instruction is a site.
pub fn site(code: &[u8]) -> Option<Decoded> {
    let p = prefixes(code);
    if p.lock {
        let form = if changes_nothing_on_the_stack(&p) {
            Form::Fence
        } else {
            Form::Lock
        };
        return Some(Decoded { form, step: step(&p) });
    }
    let found = |form| Some(Decoded { form, step: Step::None });
    match p.opcode {
        [0x86 | 0x87, modrm, ..] if *modrm < 0xc0 => found(Form::Xchg),
        // With a prefix these bytes are UMONITOR, UMWAIT and TPAUSE.
        [0x0f, 0xae, 0xf0..=0xf7, ..] if !p.repeated && !p.operand_size => found(Form::Fence),
        _ => None,
    }
}

/// Whether the instruction is a string instruction that repeats itself.
pub fn repeats(code: &[u8]) -> bool {
    let p = prefixes(code);
    p.repeated && matches!(p.opcode, [0x6c..=0x6f | 0xa4..=0xa7 | 0xaa..=0xaf, ..])
}

/// Whether the instruction calls, or goes back from a call.
pub fn flow(code: &[u8], address: u64) -> Flow {
    match prefixes(code).opcode {
        [0xe8, ..] => Flow::Call(address.wrapping_add(code.len() as u64)),
        [0xff, modrm, ..] if modrm >> 3 & 7 == 2 => Flow::Call(address.wrapping_add(code.len() as u64)),
        [0xc2 | 0xc3, ..] => Flow::Return,
        _ => Flow::Next,
    }
}

/// OR and ADD of zero to a word of the stack: compilers' fence.
fn changes_nothing_on_the_stack(p: &Prefixed<'_>) -> bool {
    let [0x80 | 0x81 | 0x83, modrm, sib, rest @ ..] = p.opcode else {
        return false;
    };
    // The base is RSP, and there is no index.
    let is_stack = modrm & 7 == 4 && *sib == 0x24;
    let adds_or_ors = matches!(modrm >> 3 & 7, 0 | 1);
    let displacement = match modrm >> 6 {
        0 => 0,
        1 => 1,
        2 => 4,
        _ => return false,
    };
    is_stack && adds_or_ors && rest.get(displacement..).is_some_and(|i| i.iter().all(|b| *b == 0))
}

fn step(p: &Prefixed<'_>) -> Step {
    match p.opcode {
        // ADD and SUB of a register.
        [0x00 | 0x01 | 0x28 | 0x29, ..] => Step::Register,
        // XADD.
        [0x0f, 0xc0 | 0xc1, ..] => Step::Register,
        [0xfe | 0xff, modrm, ..] => match modrm >> 3 & 7 {
            0 => Step::By(1),
            1 => Step::By(-1),
            _ => Step::None,
        },
        [opcode @ (0x80 | 0x81 | 0x83), modrm, ..] => {
            let by = immediate(*opcode, p);
            match modrm >> 3 & 7 {
                0 => by.map_or(Step::Register, Step::By),
                5 => by.map_or(Step::Register, |by| Step::By(-by)),
                _ => Step::None,
            }
        }
        _ => Step::None,
    }
}

/// The immediate, which ends the instruction.
fn immediate(opcode: u8, p: &Prefixed<'_>) -> Option<i64> {
    match (opcode, p.operand_size) {
        (0x81, false) => p.opcode.last_chunk().map(|b| i64::from(i32::from_le_bytes(*b))),
        (0x81, true) => p.opcode.last_chunk().map(|b| i64::from(i16::from_le_bytes(*b))),
        _ => p.opcode.last().map(|b| i64::from(b.cast_signed())),
    }
}

#[cfg(test)]
mod tests {
    use super::{repeats, site};
    use crate::decode::{Flow, Form, Step};

    #[test]
    fn sites() {
        let table: &[(&[u8], Form, Step)] = &[
            (b"\xf0\xff\x00", Form::Lock, Step::By(1)),      // lock inc dword [rax]
            (b"\xf0\x48\xff\x0f", Form::Lock, Step::By(-1)), // lock dec qword [rdi]
            (b"\xf0\x83\x07\x02", Form::Lock, Step::By(2)),  // lock add dword [rdi], 2
            (b"\xf0\x83\x2f\x01", Form::Lock, Step::By(-1)), // lock sub dword [rdi], 1
            (b"\xf0\x48\x81\x07\x00\x01\x00\x00", Form::Lock, Step::By(256)), // lock add qword [rdi], 256
            (b"\x66\xf0\x81\x07\x00\x01", Form::Lock, Step::By(256)), // lock add word [rdi], 256
            (b"\xf0\x48\x0f\xc1\x07", Form::Lock, Step::Register), // lock xadd [rdi], rax
            (b"\xf0\x01\x07", Form::Lock, Step::Register),   // lock add [rdi], eax
            (b"\xf0\x48\x0f\xb1\x0f", Form::Lock, Step::None), // lock cmpxchg [rdi], rcx
            (b"\xf0\x48\x0f\xc7\x0f", Form::Lock, Step::None), // lock cmpxchg16b [rdi]
            (b"\x64\xf0\x0f\xb1\x0c\x25\x10\x00\x00\x00", Form::Lock, Step::None), // lock cmpxchg fs:[16], ecx
            (b"\xf2\xf0\xff\x00", Form::Lock, Step::By(1)),  // xacquire lock inc
            (b"\xf0\x83\x0c\x24\x00", Form::Fence, Step::None), // lock or dword [rsp], 0
            (b"\xf0\x48\x83\x4c\x24\xc0\x00", Form::Fence, Step::None), // lock or qword [rsp-64], 0
            (b"\xf0\x83\x0c\x24\x01", Form::Lock, Step::None), // lock or dword [rsp], 1
            (b"\x87\x07", Form::Xchg, Step::None),           // xchg [rdi], eax
            (b"\x48\x86\x07", Form::Xchg, Step::None),       // xchg [rdi], al
            (b"\x0f\xae\xf0", Form::Fence, Step::None),      // mfence
        ];
        for (code, form, step) in table {
            let found = site(code).unwrap_or_else(|| panic!("{code:02x?} is a site"));
            assert_eq!((found.form, found.step), (*form, *step), "{code:02x?}");
        }
    }

    #[test]
    fn calls_and_returns() {
        let call = Flow::Call(0x1000);
        let table: &[(&[u8], Flow)] = &[
            (b"\xe8\x00\x00\x00\x00", call),     // call 0x1000
            (b"\xff\xd0", call),                 // call rax
            (b"\x41\xff\xd4", call),             // call r12
            (b"\x3e\xff\x50\x10", call),         // notrack call [rax+16]
            (b"\xff\x15\x00\x00\x00\x00", call), // call [rip]
            (b"\xc3", Flow::Return),
            (b"\xf3\xc3", Flow::Return), // rep ret
            (b"\xc2\x08\x00", Flow::Return),
            (b"\xff\xe0", Flow::Next), // jmp rax
            (b"\xeb\x00", Flow::Next),
        ];
        for (code, flow) in table {
            assert_eq!(super::flow(code, 0x1000 - code.len() as u64), *flow, "{code:02x?}");
        }
    }

    #[test]
    fn no_sites() {
        let table: &[&[u8]] = &[
            b"",
            b"\x87\xc7",             // xchg edi, eax
            b"\x90",                 // xchg eax, eax
            b"\x0f\xae\xe8",         // lfence
            b"\x0f\xae\xf8",         // sfence
            b"\xf3\x0f\xae\xf0",     // umonitor
            b"\x66\x0f\xae\xf1",     // tpause
            b"\x48\xff\x00",         // inc qword [rax]
            b"\xb8\xf0\xff\x00\x00", // mov eax, 0xfff0
            b"\xc5\xf0\x57\xc0",     // vxorps
            b"\x48\x0f\xb1\x0f",     // cmpxchg without LOCK
        ];
        for code in table {
            assert_eq!(site(code), None, "{code:02x?}");
        }
    }

    #[test]
    fn repeated() {
        for code in [
            b"\xf3\xa4".as_slice(),
            b"\xf3\x48\xab",
            b"\xf2\xae",
            b"\x67\xf3\xa6",
            b"\xf3\x6d",
        ] {
            assert!(repeats(code), "{code:02x?}");
        }
        for code in [
            b"\xa4".as_slice(),
            b"\xf3\x90",
            b"\xf3\x0f\xb8\xc0",
            b"\xf3\xc3",
            b"\xf2\x0f\x58\xc0",
        ] {
            assert!(!repeats(code), "{code:02x?}");
        }
    }
}
