//! The instructions of a light fence: none with the proof, and no fence of the CPU on the path of an asymmetric process.

use crate::common::harness::{Check, checks};
use cyclewise::fence::{self, Asymmetric};
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

pub(crate) const CHECKS: &[Check] = checks![
    with_the_proof_a_light_fence_is_no_instruction,
    twin_a_whole_fence_is_seen,
    without_it_the_path_has_no_fence,
];

pub(crate) fn missing() -> Option<&'static str> {
    cfg!(not(any(target_arch = "x86_64", target_arch = "aarch64"))).then_some("the code of this CPU is not known here")
}

macro_rules! accesses {
    ($($name:ident: $fence:expr;)*) => { $(
        /// A store, the fence, a load.
        #[inline(never)]
        #[unsafe(no_mangle)]
        extern "C" fn $name(mine: &AtomicU32, theirs: &AtomicU32, proof: &Asymmetric) -> u32 {
            mine.store(1, Relaxed);
            ($fence)(proof);
            theirs.load(Relaxed)
        }
    )* };
}

accesses! {
    bare: |_: &Asymmetric| ();
    proven: |proof: &Asymmetric| proof.light();
    checked: |_: &Asymmetric| fence::light();
    whole: |_: &Asymmetric| std::sync::atomic::fence(SeqCst);
}

/// The function's bytes up to its first return.
#[cfg(target_arch = "x86_64")]
fn code(function: *const ()) -> Vec<u8> {
    use iced_x86::{Decoder, DecoderOptions, Mnemonic};
    // SAFETY: readable text: the functions here are not the last of the program's.
    let code = unsafe { std::slice::from_raw_parts(function.cast::<u8>(), 256) };
    let mut end = 0;
    for instruction in &mut Decoder::new(64, code, DecoderOptions::NONE) {
        end += instruction.len();
        if instruction.mnemonic() == Mnemonic::Ret {
            break;
        }
    }
    code[..end].to_vec()
}

#[cfg(not(target_arch = "x86_64"))]
fn code(function: *const ()) -> Vec<u8> {
    const RET: [u8; 4] = 0xd65f_03c0_u32.to_le_bytes();
    // SAFETY: readable text: the functions here are not the last of the program's.
    let code = unsafe { std::slice::from_raw_parts(function.cast::<u8>(), 256) };
    let words: Vec<_> = code.chunks(4).take_while(|word| **word != RET).collect();
    words.concat()
}

fn with_the_proof_a_light_fence_is_no_instruction() {
    assert_eq!(code(proven as *const ()), code(bare as *const ()));
}

fn twin_a_whole_fence_is_seen() {
    assert_ne!(code(whole as *const ()), code(bare as *const ()));
    assert!(is_fenced(&code(whole as *const ())));
}

fn without_it_the_path_has_no_fence() {
    assert!(!is_fenced(&code(checked as *const ())));
}

/// Whether the code has MFENCE, a LOCK prefix or an exchange; on AArch64, DMB.
fn is_fenced(code: &[u8]) -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        use iced_x86::{Decoder, DecoderOptions, Mnemonic};
        Decoder::new(64, code, DecoderOptions::NONE)
            .iter()
            .any(|i| i.has_lock_prefix() || [Mnemonic::Mfence, Mnemonic::Xchg].contains(&i.mnemonic()))
    }
    #[cfg(not(target_arch = "x86_64"))]
    code.chunks(4)
        .any(|word| word.starts_with(&[0xbf]) && word.ends_with(&[0x03, 0xd5]))
}
