//! Whether what a link unit's records lead to is what runs: its canary.
//!
//! llvm-bolt moves functions of linked programs and leaves the records of sites at the old copies, which nobody executes. A code cache
//! executes copies that it has made before. What is written to a site then changes nothing, or something else than what is read back. So
//! each link unit has a function that only this module calls, and that returns two bytes of its own code. Before the unit's first change
//! those are changed through a record of theirs, as sites are, and the function has to return what was written, there and back.
//!
//! A tool that has a profile moves the functions that run often, and may leave the canary where it is. It puts them into a segment of
//! text of their own, into which no record leads. So each segment of text has to have a site, a test of a key or the canary
//! ([`unit`](super::unit)).
//!
//! # Limits
//! A unit of an older header has none, and is believed. So is a tool that comes later, and one that sees writes of one kind only.
//!
//! # Safety
//! 1. A canary is made by the assembler (`arch::x86_64::unit`), or was checked to be in data and text of its own object. The two bytes are
//!    the operand of a move to EAX: any value is right at any time.
#![expect(unsafe_code, reason = "a function and bytes of text, by their address")]
#![allow(dead_code, reason = "where no text is patched, nothing asks")]

use super::text_edit::Edit;
use crate::arch;
use crate::error::Refusal;
use core::ffi::c_void;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering::Relaxed};

/// The record of a canary: `cw_canary_record` of `cyclewise/unit.h`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Canary {
    run: AtomicPtr<c_void>,
    /// The distance from here to the two bytes.
    distance: i32,
    /// What was found out, as bits; 0 at first.
    found: AtomicU32,
}

/// Sites of one byte take effect.
const BYTES: u32 = 1;
/// Sites of several bytes do.
const WORDS: u32 = 2;
/// Each segment of text has a record.
pub(super) const WHOLE: u32 = 4;
/// One has none.
pub(super) const MOVED: u32 = 8;

impl Canary {
    pub(super) fn function(&self) -> usize {
        self.run.load(Relaxed).addr()
    }

    pub(super) fn bytes(&self) -> usize {
        (&raw const self.distance)
            .addr()
            .wrapping_add_signed(self.distance as isize)
    }

    /// Whether any of these was found out.
    pub(super) fn knows(&self, what: u32) -> bool {
        // Relaxed: says something of what does not change.
        self.found.load(Relaxed) & what != 0
    }

    /// Keeps what was found out.
    pub(super) fn learn(&self, what: u32) {
        self.found.fetch_or(what, Relaxed); // As above.
    }
}

/// What sites are written like.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SiteKind {
    /// LOCK prefixes.
    OneByte,
    /// Tests of keys.
    Several,
}

impl Canary {
    /// What it returns now: its two bytes.
    ///
    /// # Safety
    /// It is as Invariant 1 says.
    unsafe fn run(&self) -> [u8; 2] {
        let function = self.run.load(Relaxed);
        // SAFETY: the address of a function of this type (Invariant 1).
        let function = unsafe { core::mem::transmute::<*mut c_void, extern "C" fn() -> u32>(function) };
        let [first, second, ..] = function().to_le_bytes();
        [first, second]
    }
}

/// Checks once that changes of the sites of the unit with this canary take effect. `apply` writes an edit as sites of this kind are written.
///
/// # Errors
/// [`Refusal::MovedText`]; as `apply`.
///
/// # Safety
/// The unit is loaded, `canary` null or as Invariant 1 says, and the caller holds its text lock.
pub(super) unsafe fn check(
    canary: *const Canary,
    kind: SiteKind,
    mut apply: impl FnMut(&mut [Edit]) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    // SAFETY: the caller's promise.
    let Some(canary) = (unsafe { canary.as_ref() }) else {
        return Ok(());
    };
    let at = canary.bytes();
    let (len, known) = match kind {
        SiteKind::OneByte => (1, BYTES),
        SiteKind::Several => (2, WORDS),
    };
    if canary.knows(MOVED) {
        return Err(Refusal::MovedText { at });
    }
    if canary.knows(known) {
        return Ok(());
    }
    // A code cache has it from here on.
    // SAFETY: the caller's promise.
    let _ = unsafe { canary.run() };
    let mut obeys = |from: u8, to: u8| {
        let bytes = |byte| [byte, byte, 0, 0, 0, 0, 0, 0];
        let edit = Edit {
            at: core::ptr::with_exposed_provenance_mut(at),
            len,
            expect: bytes(from),
            new: bytes(to),
        };
        match apply(&mut [edit]) {
            // Something else was put there.
            Err(Refusal::UnexpectedByte { .. }) => return Ok(false),
            applied => applied?,
        }
        // SAFETY: the caller's promise.
        let returned = unsafe { canary.run() };
        Ok(returned[..usize::from(len)].iter().all(|byte| *byte == to))
    };
    let there = obeys(arch::LOCK, arch::ELIDED)?;
    let back = obeys(arch::ELIDED, arch::LOCK)?;
    if !(there && back) {
        return Err(Refusal::MovedText { at });
    }
    canary.learn(known);
    Ok(())
}
