//! Whether sequences are where the linker has put them. A tool that moves text later, and not their descriptors, leaves sequences that
//! the kernel does not restart: updates would be lost without a word.
//!
//! One sequence runs and says where it is. A tool may move some functions only, as BOLT does with a profile, but puts them in a segment
//! of their own. So where there are several segments of text, each sequence in them is compared with its descriptor.
//!
//! # What it does not see
//! Sequences in other link units than this copy of the crate: those of a Rust dylib's users. Text that is copied while the program
//! runs. Translators such as rr know of rseq, and Valgrind refuses it; who maps text on huge pages keeps its addresses.
//!
//! # Safety
//! 1. The area that is passed is the calling thread's.
#![expect(unsafe_code, reason = "runs a sequence")]

use crate::arch::rseq::{Area, placement};
use crate::sys::loaded_objects::{self, Object};
use core::mem::offset_of;
use core::sync::atomic::AtomicU8;

/// `struct rseq_cs` (include/uapi/linux/rseq.h).
#[repr(C)]
struct Descriptor {
    version: u32,
    flags: u32,
    start: u64,
    length: u64,
    abort: u64,
}

/// Whether sequences are in place; false also where that is not found out.
///
/// # Safety
/// The area is the calling thread's.
pub(super) unsafe fn are_in_place(area: Area) -> bool {
    // SAFETY: the caller vouches for the area (Invariant 1).
    if !unsafe { placement::is_in_place(area) } {
        return false;
    }
    let own = (placement::is_in_place as *const ()).addr();
    let mut in_place = false;
    let listed = loaded_objects::each(|object| {
        let is_own = object.bounds().contains(&own);
        if is_own {
            in_place = object.text().count() == 1 || placement::RECOGNISES && all_in_place(object);
        }
        !is_own
    });
    listed && in_place
}

fn all_in_place(object: &Object<'_>) -> bool {
    let start_of = |descriptor: usize| object.word(descriptor + offset_of!(Descriptor, start));
    object
        .text()
        .all(|text| text.is_some_and(|(at, code)| as_said(at, code, start_of)))
}

/// Whether each sequence in `code`, which is at `at`, begins where its descriptor says.
fn as_said(at: usize, code: &[AtomicU8], start_of: impl Fn(usize) -> Option<u64>) -> bool {
    (0..code.len())
        .filter_map(|n| placement::registered(&code[n..], at + n))
        // Other code that stores an address beside the thread pointer looks alike; a descriptor is aligned.
        .filter(|(descriptor, _)| descriptor.is_multiple_of(32))
        .all(|(descriptor, start)| start_of(descriptor) == Some(start as u64))
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use std::vec::Vec;

    /// LEA of what is 0xf8 after its end, and its store to an area, by each pair of registers of 16; the code at 0x1000.
    fn code(register: u8, base: u8) -> Vec<AtomicU8> {
        let high = |register: u8| register >> 3;
        let mut bytes = Vec::from([
            0x90,
            0x48 | high(register) << 2,
            0x8d,
            5 | (register & 7) << 3,
            0xf8,
            0,
            0,
            0,
        ]);
        bytes.extend([
            0x64,
            0x48 | high(register) << 2 | high(base),
            0x89,
            0x40 | (register & 7) << 3 | base & 7,
        ]);
        if base & 7 == 4 {
            bytes.push(0x24);
        }
        bytes.extend([8, 0xc3]);
        bytes.into_iter().map(AtomicU8::new).collect()
    }

    #[test]
    fn a_sequence_that_is_not_where_its_descriptor_says_is_found() {
        for (register, base) in (0..16).flat_map(|register| (0..16).map(move |base| (register, base))) {
            let code = code(register, base);
            let (descriptor, start) = (0x1100, 0x1000 + code.len() as u64 - 1);
            let says = |start: Option<u64>| as_said(0x1000, &code, |at| (at == descriptor).then_some(start).flatten());
            assert!(says(Some(start)), "{register} {base}");
            // The twins: another address, and one that cannot be read.
            assert!(!says(Some(start + 1)) && !says(None), "{register} {base}");
        }
    }

    #[test]
    fn other_code_is_passed_over() {
        // Another opcode, a stack address, another segment, a load, another displacement.
        for (n, byte) in [(2, 0x8b), (3, 0x45), (8, 0x65), (10, 0x8b), (12, 16)] {
            let code = code(0, 1);
            code[n].store(byte, core::sync::atomic::Ordering::Relaxed);
            assert!(as_said(0, &code, |_| None), "{n}");
        }
    }

    #[test]
    fn this_programs_sequences_are_in_place() {
        let mut looked = false;
        let listed = loaded_objects::each(|object| {
            let is_own = object.bounds().contains(&(placement::is_in_place as *const ()).addr());
            if is_own {
                looked = true;
                assert!(all_in_place(object));
            }
            !is_own
        });
        assert!(looked && listed);
    }
}
