//! Where sequences run, and where their descriptors say that they are. The linker makes these equal. A tool that moves text
//! afterwards (BOLT) may move a sequence and leave its descriptor, and then the kernel restarts nothing.
//!
//! # References
//! Intel SDM, volume 2, LEA and MOV; LLVM bolt/lib/Rewrite/RSeqRewriter.cpp, which leaves functions alone that section `__rseq_cs` names.
//!
//! # Safety
//! The contract of `rseq`, of which the sequence here needs the area only.
#![expect(unsafe_code, reason = "a sequence that tells where it is")]

use super::injection::inject;
use super::{Area, section};
use core::arch::asm;
use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// Whether `registered` recognises code.
pub(crate) const RECOGNISES: bool = true;

/// Whether a sequence of this link unit runs where its descriptor says.
///
/// # Safety
/// The area is the calling thread's.
#[cold]
#[inline(never)]
pub(crate) unsafe fn is_in_place(area: Area) -> bool {
    let (said, here): (usize, usize);
    // SAFETY: the caller guarantees the area. The sequence writes registers only; then the descriptor's start is loaded.
    unsafe {
        section!(
            ["lea {here}, [rip + 772b]"],
            ["mov {t}, qword ptr [{t} + 8]"],
            area,
            here = out(reg) here,
            t = out(reg) said,
            options(nostack)
        )
    };
    said == here
}

/// The descriptor that the code at `at` registers, and where the sequence begins that follows; `None` where `code` does not begin with
/// such code: LEA of an address near by, and MOV of it to 8 bytes past an area, at FS.
pub(crate) fn registered(code: &[AtomicU8], at: usize) -> Option<(usize, usize)> {
    const REX_W: u8 = 0x48;
    let byte = |n: usize| code.get(n).map(|byte| byte.load(Relaxed));
    // REX.W with or without R, 8D, ModRM 00 reg 101.
    let (rex, modrm) = (byte(0)?, byte(2)?);
    if rex & 0xfb != REX_W || byte(1)? != 0x8d || modrm & 0xc7 != 5 {
        return None;
    }
    let register = |rex: u8, modrm: u8| (rex & 4) << 1 | modrm >> 3 & 7;
    let distance = i32::from_le_bytes([byte(3)?, byte(4)?, byte(5)?, byte(6)?]);
    // FS, REX.W with R and B as they may be, 89, ModRM 01 reg base, a SIB byte after base 100, the displacement 8.
    let (store_rex, store_modrm) = (byte(8)?, byte(10)?);
    let sib = usize::from(store_modrm & 7 == 4);
    let is_store = byte(7)? == 0x64 && store_rex & 0xfa == REX_W && byte(9)? == 0x89 && store_modrm & 0xc0 == 0x40;
    if !is_store || byte(11 + sib)? != 8 || register(rex, modrm) != register(store_rex, store_modrm) {
        return None;
    }
    Some((at.wrapping_add(7).wrapping_add_signed(distance as isize), at + 12 + sib))
}
