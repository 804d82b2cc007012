//! The pairs of `width` do what their names say: the locked and stored bits, and the words that are left.

use super::*;
use crate::arch::width::{BODIES, lacks};

/// An access in a name: its instruction and its bits.
type Access<'a> = (&'a str, usize);

/// The first and the last access of a name, and whether the last is of the word behind. `None` for company without a lock.
fn parse(name: &str) -> Option<([Access<'_>; 2], bool)> {
    let mut accesses = Vec::new();
    let mut second = false;
    for part in name.split('-') {
        let digits = part.trim_start_matches(|c: char| !c.is_ascii_digit());
        let mnemonic = &part[..part.len() - digits.len()];
        match mnemonic {
            "second" => second = true,
            "word" | "lock" | "adds" | "loads" | "load" => {}
            _ => accesses.push((mnemonic, digits.parse().unwrap())),
        }
    }
    Some((accesses.try_into().ok()?, second))
}

/// Runs the loop of U copies, whose first bytes are these, once; what it leaves.
fn run(body: &Body, before: &[u8]) -> Vec<u8> {
    let mut arena = Arena::new();
    let bytes = before.chunks(8).map(|word| {
        let mut whole = [0; 8];
        whole[..word.len()].copy_from_slice(word);
        u64::from_le_bytes(whole)
    });
    arena.0.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
    body.run(Length::Once, 1, &mut arena);
    assert!(
        arena.0[8..].iter().all(|w| *w == 0),
        "{} wrote past its line",
        body.name
    );
    arena.0[..8].iter().flat_map(|w| w.to_le_bytes()).collect()
}

#[test]
fn a_pair_leaves_its_lock_free_and_its_neighbours_alone() {
    for body in BODIES.iter().filter(|b| lacks(b.name).is_none()) {
        let Some(([take, release], second)) = parse(body.name) else {
            assert!(run(body, &[]).iter().all(|b| *b == 0), "{}", body.name);
            continue;
        };
        let both = (take.1.max(release.1) + if second { take.1.max(release.1) } else { 0 }) / 8;
        // Behind the lock, bytes that only a wider access would change.
        let mut before = vec![0u8; both];
        before.resize(64, 0xa5);
        let after = run(body, &before);
        assert_eq!(after[both..], before[both..], "{} is wider than its name", body.name);
        let copies = body.copies as u8;
        let counts = ["xadd", "ldadd"].contains(&take.0);
        let mut left = vec![0u8; both];
        match (counts, second) {
            // Both tickets are one more by each pair.
            (true, true) => (left[0], left[take.1 / 8]) = (copies, copies),
            (true, false) => (left[0], left[2]) = (copies, copies),
            // A CLH lock's tail stays with the last node.
            (false, true) => left[0] = 1,
            (false, false) => {}
        }
        assert_eq!(after[..both], left, "{}", body.name);
    }
}

#[test]
fn a_release_stores_the_bits_of_its_name() {
    for body in BODIES.iter().filter(|b| lacks(b.name).is_none()) {
        let Some(([take, release], false)) = parse(body.name) else {
            continue;
        };
        // An exchange or an addition writes what it takes in any case.
        let writes = ["xchg", "swp", "xadd", "ldadd"].contains(&take.0);
        if writes || !["mov", "stlr"].contains(&release.0) {
            continue;
        }
        // Of a lock that another holds: the take changes nothing, or a bit that is set.
        let after = run(body, &[0xff; 64]);
        let stored = after.iter().take_while(|b| **b == 0).count();
        assert_eq!(8 * stored, release.1, "{}: {after:x?}", body.name);
    }
}

#[cfg(target_arch = "x86_64")]
mod decoded {
    use super::*;
    use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind};
    use std::io::{Read, Seek, SeekFrom};

    /// The accesses of memory of each copy in the loop of U copies; they are the same in all.
    fn accesses(body: &Body) -> Vec<Instruction> {
        let at = body.function(Length::Once) as usize as u64;
        let mut bytes = vec![0; 8 << 10];
        let mut memory = std::fs::File::open("/proc/self/mem").unwrap();
        memory.seek(SeekFrom::Start(at)).unwrap();
        let n = memory.read(&mut bytes).unwrap();
        let code = Decoder::with_ip(64, &bytes[..n], at, DecoderOptions::NONE);
        let code: Vec<Instruction> = code
            .into_iter()
            .take_while(|i| i.flow_control() != FlowControl::Return)
            .collect();
        let back = code.last().unwrap();
        assert_eq!(back.mnemonic(), Mnemonic::Jne, "{}", body.name);
        let of_loop = code.iter().filter(|i| i.ip() >= back.near_branch_target());
        let in_memory = |i: &&Instruction| i.op_kinds().any(|kind| kind == OpKind::Memory);
        let all: Vec<Instruction> = of_loop.filter(in_memory).copied().collect();
        let copies = body.copies as usize;
        assert_eq!(all.len() % copies, 0, "{}", body.name);
        let copy = &all[..all.len() / copies];
        let same = |(a, b): (&Instruction, &Instruction)| {
            a.code() == b.code() && a.memory_displacement64() == b.memory_displacement64()
        };
        assert!(
            all.chunks(copy.len().max(1)).all(|c| c.iter().zip(copy).all(same)),
            "{}",
            body.name
        );
        copy.to_vec()
    }

    /// What is wrong with the accesses of a copy under this name; `None` if nothing is.
    fn fault(name: &str, copy: &[Instruction]) -> Option<String> {
        let mut lock = copy
            .iter()
            .filter(|i| i.memory_displacement64() < 64)
            .collect::<Vec<_>>();
        let loads = copy.len() - lock.len();
        if loads != if name.ends_with("loads8") { 8 } else { 0 } {
            return Some(format!("{loads} loads beside the lock"));
        }
        let Some((named, second)) = parse(name) else {
            return (!lock.is_empty()).then(|| "a lock".to_owned());
        };
        // A load between the two, of the word that is taken.
        let looks = |i: &&&Instruction| {
            [Mnemonic::Mov, Mnemonic::Movzx].contains(&i.mnemonic()) && i.op0_kind() == OpKind::Register
        };
        let between: Vec<usize> = lock.iter().filter(looks).map(|i| 8 * i.memory_size().size()).collect();
        let asked = name
            .contains("-load")
            .then_some(named[0].1)
            .filter(|_| !name.ends_with("-loads8"));
        if between != Vec::from_iter(asked) {
            return Some(format!("loads of {between:?} bits between"));
        }
        lock.retain(|i| !looks(&i));
        if lock.len() != 2 {
            return Some(format!("{} accesses of the lock", lock.len()));
        }
        for (i, (instruction, (mnemonic, bits))) in lock.iter().zip(named).enumerate() {
            let found = format!("{:?}", instruction.mnemonic()).to_lowercase();
            let size = 8 * instruction.memory_size().size();
            let at = instruction.memory_displacement64() as usize;
            let place = if i == 1 && second { named[0].1 / 8 } else { 0 };
            let swaps = instruction.mnemonic() == Mnemonic::Xchg;
            let locked = instruction.has_lock_prefix() || swaps;
            let asked = i == 0 || name.contains("-lock-") || ["cmpxchg", "xchg"].contains(&mnemonic);
            if (found.as_str(), size, at, locked) != (mnemonic, bits, place, asked) {
                return Some(format!("{found} of {size} bits at {at}, locked: {locked}"));
            }
        }
        None
    }

    #[test]
    fn the_instructions_are_those_of_the_name() {
        for body in &BODIES {
            let fault = fault(body.name, &accesses(body));
            assert_eq!(fault, None, "{}", body.name);
        }
    }

    /// The twin: under any other name there is a fault, so the test would see a row with another's instructions.
    #[test]
    fn no_row_passes_under_the_name_of_another() {
        for body in &BODIES {
            let copy = accesses(body);
            for other in BODIES.iter().filter(|o| o.name != body.name) {
                // Additions are no accesses of memory.
                let same = |name: &str| name.replace("-adds30", "");
                if same(body.name) == same(other.name) {
                    continue;
                }
                assert!(
                    fault(other.name, &copy).is_some(),
                    "{} passes as {}",
                    body.name,
                    other.name
                );
            }
        }
    }
}

#[cfg(target_arch = "aarch64")]
mod decoded {
    use super::*;
    use std::io::{Read, Seek, SeekFrom};

    /// The widths, in bits, of exclusive and LSE accesses and of STLR in the first copy (Arm ARM, C4.1.94: bits 31 and 30).
    fn widths(body: &Body) -> Vec<usize> {
        let all = body.run(Length::Once, 0, &mut Arena::new()) as usize;
        let mut memory = std::fs::File::open("/proc/self/mem").unwrap();
        memory
            .seek(SeekFrom::Start(body.function(Length::Once) as usize as u64))
            .unwrap();
        let mut bytes = vec![0; all + 256];
        let n = memory.read(&mut bytes).unwrap();
        let code = bytes[..n]
            .chunks_exact(4)
            .map(|c| u32::from_le_bytes(c.try_into().unwrap()));
        let is_access = |word: &u32| word & 0x3f00_0000 == 0x0800_0000 || word & 0x3f20_0c00 == 0x3820_0000;
        let ret = |word: &u32| word & 0xffff_fc1f == 0xd65f_0000;
        let all: Vec<usize> = code
            .take_while(|w| !ret(w))
            .filter(is_access)
            .map(|w| 8 << (w >> 30))
            .collect();
        let copies = body.copies as usize;
        assert_eq!(all.len() % copies, 0, "{}", body.name);
        all[..all.len() / copies].to_vec()
    }

    #[test]
    fn the_widths_are_those_of_the_name() {
        for body in &BODIES {
            let named = match parse(body.name) {
                None => Vec::new(),
                // The load, the store and the release.
                Some(([("exclusive", take), (_, release)], _)) => vec![take, take, release],
                Some(([take, release], _)) => vec![take.1, release.1],
            };
            assert_eq!(widths(body), named, "{}", body.name);
        }
    }
}
