//! Decoding: what locks and what does not, steps of both architectures, and that no bytes make it panic.

use super::{Cond, Locked, Memory, Op, Operand, RegTest, SP, Step, What, decode, locked, mix_around, sweep, text};
use crate::counts::Arch::{self, Aarch64, X86_64};
use crate::decode::Block;
use crate::profile::{Form, Mix, Operation};
use proptest::prelude::*;

fn x86(code: &[u8]) -> Locked {
    locked(X86_64, code, 0x1000).unwrap_or_else(|| panic!("{code:x?}"))
}

#[test]
fn locked_instructions_of_x86_64_have_their_operation_and_width() {
    let cases: [(&[u8], &str, Form, Operation, u8); 12] = [
        (
            &[0xf0, 0x48, 0x0f, 0xc1, 0x07],
            "lock xadd qword ptr [rdi],rax",
            Form::Lock,
            Operation::FetchAdd,
            8,
        ),
        (
            &[0xf0, 0x48, 0xff, 0x07],
            "lock inc qword ptr [rdi]",
            Form::Lock,
            Operation::Add,
            8,
        ),
        (
            &[0xf0, 0xff, 0x4f, 0x08],
            "lock dec dword ptr [rdi+8]",
            Form::Lock,
            Operation::Add,
            4,
        ),
        (
            &[0xf0, 0x83, 0x2f, 0x01],
            "lock sub dword ptr [rdi],1",
            Form::Lock,
            Operation::Add,
            4,
        ),
        (
            &[0xf0, 0x0f, 0xb1, 0x17],
            "lock cmpxchg dword ptr [rdi],edx",
            Form::Lock,
            Operation::CompareExchange,
            4,
        ),
        (
            &[0xf0, 0x48, 0x0f, 0xc7, 0x0f],
            "lock cmpxchg16b xmmword ptr [rdi]",
            Form::Lock,
            Operation::CompareExchange,
            16,
        ),
        (
            &[0xf0, 0x0f, 0xba, 0x2f, 0x03],
            "lock bts dword ptr [rdi],3",
            Form::Lock,
            Operation::Bit,
            4,
        ),
        (
            &[0xf0, 0x80, 0x0f, 0x01],
            "lock or byte ptr [rdi],1",
            Form::Lock,
            Operation::Logic,
            1,
        ),
        (
            &[0x87, 0x07],
            "xchg dword ptr [rdi],eax",
            Form::Xchg,
            Operation::Exchange,
            4,
        ),
        (
            &[0xf0, 0x86, 0x07],
            "lock xchg byte ptr [rdi],al",
            Form::Xchg,
            Operation::Exchange,
            1,
        ),
        (&[0x0f, 0xae, 0xf0], "mfence", Form::Fence, Operation::Fence, 0),
        (
            &[0xf0, 0x83, 0x0c, 0x24, 0x00],
            "lock or dword ptr [rsp],0",
            Form::Fence,
            Operation::Fence,
            4,
        ),
    ];
    for (code, name, form, operation, width) in cases {
        let found = x86(code);
        assert_eq!(
            (found.form, found.operation, found.width),
            (form, operation, width),
            "{name}"
        );
        assert_eq!(text(X86_64, code, 0x1000), name);
    }
}

#[test]
fn fences_by_a_locked_instruction_change_nothing_near_the_stack_pointer() {
    let is_fence = |code: &[u8]| x86(code).form == Form::Fence;
    assert!(
        is_fence(&[0xf0, 0x48, 0x83, 0x4c, 0x24, 0xf8, 0x00]),
        "or qword [rsp-8], 0"
    );
    assert!(is_fence(&[0xf0, 0x83, 0x04, 0x24, 0x00]), "add dword [rsp], 0");
    assert!(is_fence(&[0xf0, 0x83, 0x24, 0x24, 0xff]), "and dword [rsp], -1");
    assert!(is_fence(&[0xf0, 0x83, 0x34, 0x24, 0x00]), "xor dword [rsp], 0");
    assert!(!is_fence(&[0xf0, 0x83, 0x24, 0x24, 0x00]), "and dword [rsp], 0 clears");
    assert!(!is_fence(&[0xf0, 0x83, 0x0c, 0x24, 0x01]), "or dword [rsp], 1 sets");
    assert!(!is_fence(&[0xf0, 0x83, 0x0f, 0x00]), "or dword [rdi], 0 is elsewhere");
    assert!(
        !is_fence(&[0xf0, 0x83, 0x0c, 0x04, 0x00]),
        "or dword [rsp+rax], 0 may be elsewhere"
    );
}

#[test]
fn instructions_without_an_effect_on_shared_memory_do_not_lock() {
    for code in [
        &[0x87, 0xc8][..],   // xchg eax, ecx
        &[0x0f, 0xc1, 0x07], // xadd [rdi], eax
        &[0x90],             // nop
        &[0xf3, 0x90],       // pause
        &[0x0f, 0xae, 0xe8], // lfence
        &[0xf0, 0x89, 0x07], // lock mov is no instruction
        &[0xf0, 0xff, 0xc0], // lock inc eax is none either
        &[0xf0],
    ] {
        assert_eq!(locked(X86_64, code, 0), None, "{code:x?}");
    }
}

#[test]
fn a_subtracted_number_is_a_negative_one() {
    assert_eq!(x86(&[0xf0, 0x83, 0x2f, 0x01]).operand, Operand::Imm(-1));
    assert_eq!(x86(&[0xf0, 0xff, 0x0f]).operand, Operand::Imm(-1));
    assert_eq!(x86(&[0xf0, 0x83, 0x07, 0xff]).operand, Operand::Imm(-1));
    let by_register = x86(&[0xf0, 0x48, 0x29, 0x37]);
    assert_eq!((by_register.operand, by_register.subtracts), (Operand::Reg(6), true));
}

#[test]
fn places_relative_to_the_instruction_are_addresses() {
    // lock inc dword ptr [rip+0x10], 7 bytes long.
    let place = x86(&[0xf0, 0xff, 0x05, 0x10, 0, 0, 0]).place.unwrap();
    assert_eq!((place.base, place.displacement), (None, 0x1017));
    // lock inc qword ptr fs:[0]
    let place = x86(&[0xf0, 0x64, 0x48, 0xff, 0x04, 0x25, 0, 0, 0, 0]).place.unwrap();
    assert!(place.thread_local);
}

/// Words and what an assembler says of them.
fn aarch64() -> Vec<([u8; 4], &'static str)> {
    let lines = include_str!("aarch64.txt").lines().filter(|l| !l.starts_with('#'));
    lines
        .map(|line| {
            let (hex, name) = line.split_once(' ').unwrap();
            (u32::from_str_radix(hex, 16).unwrap().to_be_bytes(), name)
        })
        .collect()
}

fn what(name: &str) -> What {
    let words = aarch64();
    let (code, _) = words
        .iter()
        .find(|(_, n)| *n == name)
        .unwrap_or_else(|| panic!("{name}"));
    decode(Aarch64, code, 0x1000).what
}

#[test]
fn locked_instructions_of_aarch64_read_as_an_assembler_writes_them() {
    let mut all = Vec::new();
    for (code, name) in aarch64() {
        let Some(found) = locked(Aarch64, &code, 0) else {
            continue;
        };
        assert_eq!(text(Aarch64, &code, 0), name);
        all.push(format!(
            "{name:28} {:?} {:?} {}",
            found.form, found.operation, found.width
        ));
    }
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn what_is_no_atomic_of_aarch64_does_not_lock() {
    for name in [
        "ldxr x1, [x2]",
        "ldar x1, [x2]",
        "stlr x1, [x2]",
        "ldapr x1, [x2]",
        "isb",
        "clrex",
    ] {
        assert!(!matches!(what(name), What::Locked(_)), "{name}");
    }
}

fn at(base: u8, displacement: i64) -> Memory {
    Memory {
        base: Some(base),
        index: None,
        scale: 1,
        displacement,
        thread_local: false,
    }
}

#[test]
fn steps_of_aarch64_are_what_the_rules_look_at() {
    let compute = |op, to, a, b, flags| What::Compute { op, to, a, b, flags };
    let (reg, imm) = (Operand::Reg, Operand::Imm);
    let moved = |to, from| What::Move { to, from };
    for (name, step) in [
        ("add x1, x2, #4", compute(Op::Add, Some(1), reg(2), imm(4), false)),
        ("adds w1, w2, w3", compute(Op::Add, Some(1), reg(2), reg(3), true)),
        ("cmp x1, #1", compute(Op::Sub, None, reg(1), imm(1), true)),
        ("subs x1, x2, x3", compute(Op::Sub, Some(1), reg(2), reg(3), true)),
        ("mov x1, x2", moved(1, reg(2))),
        ("mov w1, #-1", moved(1, imm(-1))),
        ("mov x1, #0x10000", moved(1, imm(0x10000))),
        ("movk x1, #5", moved(1, Operand::Unknown)),
        ("orr x1, xzr, #0xff", moved(1, imm(0xff))),
        (
            "and w1, w2, #0xfffffffe",
            compute(Op::And, Some(1), reg(2), imm(-2), false),
        ),
        ("tst x1, #1", compute(Op::And, None, reg(1), imm(1), true)),
        ("ldr x1, [x2, #8]", moved(1, Operand::Mem(at(2, 8)))),
        ("ldrsw x1, [x2, #4]", moved(1, Operand::Mem(at(2, 4)))),
        ("ldur w1, [x2, #-4]", moved(1, Operand::Mem(at(2, -4)))),
        ("ldar x1, [x2]", moved(1, Operand::Mem(at(2, 0)))),
        (
            "str w1, [sp, #12]",
            What::Store {
                to: at(SP, 12),
                from: reg(1),
            },
        ),
        (
            "stlr x1, [x2]",
            What::Store {
                to: at(2, 0),
                from: reg(1),
            },
        ),
        ("ldxr x1, [x2]", What::LoadExclusive { to: 1, from: at(2, 0) }),
        (
            "cset w0, eq",
            What::Set {
                to: 0,
                cond: Cond::Equal,
            },
        ),
        (
            "csel x1, x2, x3, ne",
            What::Select {
                to: 1,
                cond: Cond::NotEqual,
                a: reg(2),
                b: reg(3),
            },
        ),
        ("sxtw x1, w2", moved(1, reg(2))),
        (
            "b.eq .+8",
            What::Branch {
                cond: Cond::Equal,
                target: 0x1008,
            },
        ),
        ("b .-4", What::Jump(Some(0xffc))),
        ("bl .+16", What::Call(Some(0x1010))),
        (
            "cbz x1, .+8",
            What::BranchOn {
                reg: 1,
                test: RegTest::Zero,
                target: 0x1008,
            },
        ),
        (
            "tbnz x1, #63, .+8",
            What::BranchOn {
                reg: 1,
                test: RegTest::BitSet,
                target: 0x1008,
            },
        ),
        ("br x1", What::Jump(None)),
        ("blr x1", What::Call(None)),
        ("ret", What::Return),
        ("svc #0", What::SystemCall),
        ("brk #1", What::Trap),
        ("yield", What::Pause),
        (
            "madd x1, x2, x3, x4",
            compute(Op::Mixed, Some(1), reg(2), Operand::Unknown, false),
        ),
    ] {
        assert_eq!(what(name), step, "{name}");
    }
    assert!(matches!(
        what("ldr q0, [x1]"),
        What::Other {
            loads: true,
            stores: false,
            ..
        }
    ));
    assert!(matches!(
        what("stp x1, x2, [sp, #-16]!"),
        What::Other {
            loads: false,
            stores: true,
            ..
        }
    ));
}

#[test]
fn the_mix_counts_the_site_s_block_and_short_neighbours() {
    // mov rax, [rdi]; add rax, 1; lock inc qword [rdi]; mov [rsi], rax; test rax, rax; je +2; lock dec [rdi]; ret
    let code = [
        0x48, 0x8b, 0x07, 0x48, 0x83, 0xc0, 0x01, 0xf0, 0x48, 0xff, 0x07, 0x48, 0x89, 0x06, 0x48, 0x85, 0xc0, 0x74,
        0x02, 0xf0, 0x48, 0xff, 0x0f, 0xc3, 0x48, 0x8b, 0x07,
    ];
    let steps = sweep(X86_64, &code, 0);
    let site = steps.iter().position(|s| matches!(s.what, What::Locked(_))).unwrap();
    let block = Block {
        before: steps[..site].to_vec(),
        after: steps[site..].to_vec(),
    };
    let expected = Mix {
        arithmetic: 2,
        loads: 1,
        stores: 1,
        locked: 1,
        branches: 2,
    };
    assert_eq!(mix_around(&block), expected, "the load after RET is not reached");
}

fn some_arch() -> impl Strategy<Value = Arch> {
    prop_oneof![Just(X86_64), Just(Aarch64)]
}

proptest! {
    #[test]
    fn any_bytes_decode_to_something(arch in some_arch(), code in prop::collection::vec(any::<u8>(), 0..64), address: u64) {
        let steps: Vec<Step> = sweep(arch, &code, address);
        let length: usize = steps.iter().map(|s| usize::from(s.length)).sum();
        prop_assert!(length <= code.len());
        let _ = text(arch, &code, address);
    }
}
