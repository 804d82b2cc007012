//! Each loop has its surroundings' instructions and, between each repetition and the next, its operation's: no compiler
//! has dropped, merged or moved one.
//!
//! The tests read the functions that the lab times, compiled with its optimizations (`Cargo.toml` of the workspace).

use crate::Matrix;
use crate::cell::{COPIES, Loop, Op, Surrounding};
use crate::surroundings::{CacheSizes, Surroundings};
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register};
use std::io::{Read, Seek, SeekFrom};

fn decode(at: usize) -> Vec<Instruction> {
    let mut bytes = vec![0; 64 << 10];
    let mut memory = std::fs::File::open("/proc/self/mem").unwrap();
    memory.seek(SeekFrom::Start(at as u64)).unwrap();
    let n = memory.read(&mut bytes).unwrap();
    Decoder::with_ip(64, &bytes[..n], at as u64, DecoderOptions::NONE)
        .into_iter()
        .collect()
}

/// The loop of the function at this address: up to the return, from the target of the jump furthest back.
fn looped(at: usize) -> Result<Vec<Instruction>, String> {
    let mut all = decode(at);
    let end = all.iter().position(|i| i.flow_control() == FlowControl::Return);
    all.truncate(end.ok_or("no return")?);
    let jumps = |i: &Instruction| {
        matches!(
            i.flow_control(),
            FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch
        ) && (at as u64..i.ip()).contains(&i.near_branch_target())
    };
    let back = all.iter().filter(|i| jumps(i)).min_by_key(|i| i.near_branch_target());
    let back = *back.ok_or("no loop")?;
    all.retain(|i| (back.near_branch_target()..=back.ip()).contains(&i.ip()));
    Ok(all)
}

/// Operands: a register and a register, a load, a store.
fn shape(i: &Instruction, mnemonic: Mnemonic, kinds: [OpKind; 2]) -> bool {
    i.mnemonic() == mnemonic && [i.op0_kind(), i.op1_kind()] == kinds
}

fn is_add(i: &Instruction) -> bool {
    shape(i, Mnemonic::Add, [OpKind::Register; 2]) && i.op0_register().is_gpr64()
}

fn is_load(i: &Instruction) -> bool {
    shape(i, Mnemonic::Mov, [OpKind::Register, OpKind::Memory]) && i.memory_segment() != Register::FS
}

fn is_store(i: &Instruction) -> bool {
    shape(i, Mnemonic::Mov, [OpKind::Memory, OpKind::Register])
}

/// Whether a repetition of the surroundings begins here, and its length.
fn repetition(column: &str, code: &[Instruction]) -> Option<usize> {
    let same_register = |code: &[Instruction]| {
        code.iter()
            .all(|i| i.op0_register() == code[0].op0_register() && i.op1_register() == code[0].op1_register())
    };
    let followed = |i: &Instruction| {
        is_load(i)
            && i.memory_base() == i.op0_register()
            && i.memory_displacement64() == 0
            && i.memory_index() == Register::None
    };
    type Found<'a> = &'a dyn Fn(&[Instruction]) -> bool;
    let (length, found): (usize, Found) = match column {
        "adds-30" => (30, &|c| c.iter().all(is_add) && same_register(c)),
        "adds-120" => (120, &|c| c.iter().all(is_add) && same_register(c)),
        "adds-4x30" => (120, &|c| {
            c.iter().all(is_add)
                && (0..4).all(|i| {
                    c.iter()
                        .skip(i)
                        .step_by(4)
                        .all(|add| add.op0_register() == c[i].op0_register())
                })
        }),
        "load-chain-8" => (8, &|c| c.iter().all(followed)),
        "loads-32" => (32, &|c| {
            (0..)
                .zip(c)
                .all(|(k, i)| is_load(i) && i.memory_displacement64() == 8 * k)
        }),
        "stores-16" => (16, &|c| {
            (0..)
                .zip(c)
                .all(|(k, i)| is_store(i) && i.memory_displacement64() == 64 * (k % 4) + 8 * (k / 4))
        }),
        "load-add-store-8" => (48, &|c| {
            c.chunks(6)
                .all(|c| is_load(&c[0]) && is_add(&c[1]) && is_store(&c[2]) && c[3..].iter().all(is_add))
        }),
        "l2-miss" | "l3-miss" => (1, &|c| followed(&c[0])),
        "mispredict" => (6, &|c| {
            use Mnemonic::{Add, And, Je, Movzx, Test};
            [Movzx, Add, And, Test, Je, Add]
                .iter()
                .zip(c)
                .all(|(m, i)| i.mnemonic() == *m)
        }),
        other => panic!("{other}: what are its instructions?"),
    };
    code.get(..length).is_some_and(found).then_some(length)
}

/// What is an operation's instruction, and how many each has.
fn signature(operation: &str) -> (fn(&Instruction) -> bool, std::ops::RangeInclusive<usize>) {
    fn locked(i: &Instruction, mnemonic: Mnemonic) -> bool {
        i.mnemonic() == mnemonic && i.has_lock_prefix()
    }
    fn bare(i: &Instruction, mnemonic: Mnemonic) -> bool {
        i.mnemonic() == mnemonic && i.op0_kind() == OpKind::Memory && !i.has_lock_prefix()
    }
    let is: fn(&Instruction) -> bool = match operation {
        "plain-inc64" => |i| bare(i, Mnemonic::Inc),
        "plain-xadd" => |i| bare(i, Mnemonic::Xadd),
        "plain-cmpxchg" => |i| bare(i, Mnemonic::Cmpxchg),
        // Elided rows are patched when they are timed.
        "lock-inc64" | "inc-elided" => |i| locked(i, Mnemonic::Inc),
        "lock-xadd64" | "xadd-elided" => |i| locked(i, Mnemonic::Xadd),
        "lock-cmpxchg64" | "cmpxchg-elided" | "lockref" | "lockref-elided" | "spinlock" | "spinlock-elided" => {
            |i| locked(i, Mnemonic::Cmpxchg)
        }
        "lock-inc-dec" | "std-arc" | "arc-locked" | "arc-elided" | "refcount" | "refcount-elided" => |i| {
            locked(i, Mnemonic::Inc) || locked(i, Mnemonic::Dec) || locked(i, Mnemonic::Add) || locked(i, Mnemonic::Sub)
        },
        // Without a second register of the loop's counter, which is decremented as well.
        "rc" => |i| i.mnemonic() == Mnemonic::Inc || bare(i, Mnemonic::Dec),
        "pushf-pop" => |i| i.mnemonic() == Mnemonic::Pushfq,
        "push-popf" => |i| i.mnemonic() == Mnemonic::Popfq,
        "test-branch" => |i| i.mnemonic() == Mnemonic::Test && i.op1_kind() == OpKind::Immediate32,
        "rdtsc" | "now" => |i| i.mnemonic() == Mnemonic::Rdtsc || i.mnemonic() == Mnemonic::Rdtscp,
        "rdtscp" => |i| i.mnemonic() == Mnemonic::Rdtscp,
        "lfence-rdtsc" => |i| i.mnemonic() == Mnemonic::Lfence || i.mnemonic() == Mnemonic::Rdtsc,
        // The thread enters the sequence by a store to its area.
        "percpu-add" => |i| is_store(i) && i.memory_segment() == Register::FS,
        // Raised and lowered.
        "soft-mask" => {
            |i| shape(i, Mnemonic::Mov, [OpKind::Memory, OpKind::Immediate32]) && i.memory_displacement64() == 0
        }
        other => panic!("{other}: what are its instructions?"),
    };
    let count = match operation {
        "lock-inc-dec" | "rc" | "std-arc" | "lfence-rdtsc" | "soft-mask" => 2..=2,
        other
            if ["arc-", "refcount", "lockref"]
                .iter()
                .any(|name| other.starts_with(name)) =>
        {
            2..=2
        }
        // One for each way of reading the counter, of which it takes one.
        "now" => 1..=4,
        _ => 1..=1,
    };
    (is, count)
}

/// Calls that no branch leads past.
fn calls(code: &[Instruction]) -> usize {
    let always = |(at, call): (usize, &Instruction)| {
        let is_call = matches!(call.flow_control(), FlowControl::Call | FlowControl::IndirectCall);
        let past =
            |i: &Instruction| i.flow_control() == FlowControl::ConditionalBranch && i.near_branch_target() > call.ip();
        is_call && !code[..at].iter().any(past)
    };
    code.iter().enumerate().filter(|i| always(*i)).count()
}

/// Whether the loop at this address is surroundings, operation, surroundings, operation and so on.
fn check(at: usize, column: &str, operation: &str) -> Result<(), String> {
    let code = looped(at)?;
    let gaps = if column == "nothing" {
        vec![code]
    } else {
        between(column, &code)?
    };
    let each = if gaps.len() == 1 { COPIES as usize } else { 1 };
    let (is, count) = signature(operation);
    for (n, gap) in gaps.iter().enumerate() {
        let found = gap.iter().filter(|i| is(i)).count();
        if !(each * count.start()..=each * count.end()).contains(&found) {
            return Err(format!("{found} of its instructions after repetition {n}"));
        }
        // The library asserts in builds for debugging that what is unlocked is locked.
        let asserts = cfg!(debug_assertions) && operation.starts_with("spinlock");
        if calls(gap) > 0 && !asserts {
            return Err(format!("a call after repetition {n}"));
        }
    }
    Ok(())
}

/// The code after each repetition; after the last one, up to the loop's end and from its start.
fn between(column: &str, code: &[Instruction]) -> Result<Vec<Vec<Instruction>>, String> {
    let mut gaps = vec![Vec::new()];
    let mut at = 0;
    while at < code.len() {
        if let Some(length) = repetition(column, &code[at..]) {
            gaps.push(Vec::new());
            at += length;
        } else {
            gaps.last_mut().unwrap().push(code[at]);
            at += 1;
        }
    }
    let first = gaps.remove(0);
    if gaps.len() != COPIES as usize {
        return Err(format!("{} repetitions of the surroundings", gaps.len()));
    }
    gaps.last_mut().unwrap().extend(first);
    Ok(gaps)
}

#[test]
fn every_loop_is_surroundings_and_operation_in_turn() {
    let matrix = Matrix::new(CacheSizes::default());
    let mut wrong = Vec::new();
    for operation in &matrix.operations {
        for (column, cell) in matrix.columns.iter().zip(&operation.loops) {
            if let Err(why) = check(cell.code(), column.name, operation.name) {
                wrong.push(format!("{} in {}: {why}", operation.name, column.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn surroundings_alone_have_nothing_between() {
    for column in Matrix::new(CacheSizes::default()).columns.iter().skip(1) {
        let code = looped(column.alone[0].code()).unwrap();
        for gap in &between(column.name, &code).unwrap()[..COPIES as usize - 1] {
            assert!(gap.is_empty(), "{}: {}", column.name, gap[0]);
        }
    }
}

/// Additions that the compiler may merge.
struct Merged;

impl Surrounding for Merged {
    type Registers = (u64, u64);
    fn begin(&self, _: u64) -> (u64, u64) {
        (std::hint::black_box(0), std::hint::black_box(1))
    }
    #[inline(always)]
    fn step((x, one): &mut (u64, u64)) {
        for _ in 0..30 {
            *x = x.wrapping_add(*one);
        }
    }
}

#[test]
fn surroundings_that_the_compiler_merges_are_caught() {
    let operation = Matrix::new(CacheSizes::default()).operations.swap_remove(0);
    let sound = operation.loops[1].code();
    assert_eq!(check(sound, "adds-30", operation.name), Ok(()));
    let merged = crate::cell::Cell {
        surrounding: std::rc::Rc::new(Merged),
        operation: crate::cell::alone,
    };
    let error = check(merged.code(), "adds-30", operation.name).unwrap_err();
    assert!(
        error.contains("repetitions of the surroundings") || error == "no loop",
        "{error}"
    );
}

#[test]
fn operations_that_are_merged_are_caught() {
    let count: &'static std::cell::Cell<u64> = Box::leak(Box::new(std::cell::Cell::new(0)));
    // No address that the surroundings might use is known to the compiler, so nothing keeps these apart.
    let merged = || {
        let mut sum = count.get();
        sum += 1;
        sum -= 1;
        count.set(sum);
    };
    let cells = Surroundings::new(CacheSizes::default()).around(merged);
    let error = check(cells[1].code(), "adds-30", "plain-inc64").unwrap_err();
    assert!(error.starts_with("0 of its instructions"), "{error}");
}

/// The loop with all operations behind all surroundings.
#[inline(never)]
fn behind<S: Surrounding, O: Op>(iterations: u64, mut registers: S::Registers, operation: O) -> S::Registers {
    let mut left = iterations;
    while left > 0 {
        left = crate::arch::opaque(left) - 1;
        S::step(&mut registers);
        S::step(&mut registers);
        S::step(&mut registers);
        S::step(&mut registers);
        S::step(&mut registers);
        S::step(&mut registers);
        S::step(&mut registers);
        S::step(&mut registers);
        for _ in 0..COPIES {
            operation();
        }
    }
    registers
}

fn address<S: Surrounding, O: Op>(_: O) -> usize {
    behind::<S, O> as *const () as usize
}

#[test]
fn operations_that_are_not_between_are_caught() {
    let word = crate::arch::Word::new(0);
    let operation = move || crate::arch::operations::inc(word);
    let at = address::<crate::surroundings::Adds<30>, _>(operation);
    let error = check(at, "adds-30", "plain-inc64").unwrap_err();
    assert!(error.starts_with("0 of its instructions after repetition 0"), "{error}");
}
