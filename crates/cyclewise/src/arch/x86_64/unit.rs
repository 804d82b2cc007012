//! The descriptor of this link unit, and the ELF note by which others find it.
//!
//! ```text
//! .data.cw_unit      cw_unit: size, abi, the bounds of the tables of LOCK sites and of keys, the words of the text lock, and words
//!                    that change while the program runs: 96 bytes
//! .data.cw_canary    cw_canary_record: the address of cw_canary, the distance to its two bytes, and what was found out: 16 bytes
//! .text.cw_canary    cw_canary: returns two bytes of its own code
//! .note.cyclewise    name "cyclewise", type 1, the distance from the descriptor's field to the descriptor
//! ```
//! Descriptor and note are in one COMDAT group, the canary in another. C objects with `cyclewise/atomic.h` have the same groups, and the
//! linker keeps one of each per link unit. The symbols are hidden, so each link unit has its own. Their types are `patch::units::Unit`
//! and `patch::canary::Canary`. The record leads to the canary's bytes as those of sites lead to sites: by a distance, which a tool that
//! moves functions does not know. The address of the function is one that it does.
//!
//! # Invariants
//! 1. The descriptor is writable. The dynamic linker relocates its addresses before the link unit's constructors run.
//! 2. `.ifndef`: link-time optimization may put two copies of this crate into one object.
//!
//! # References
//! gABI: SHT_GROUP and GRP_COMDAT, STV_HIDDEN, note sections, SHF_GNU_RETAIN.
//!
//! # Safety
//! Only an address is computed here.
#![expect(unsafe_code, reason = "a symbol that only the assembler can share")]

use core::arch::asm;
use core::ffi::c_void;

/// The address of this link unit's descriptor. Not inlined: another unit's code would find its own.
#[inline(never)]
#[expect(named_asm_labels, reason = "a symbol of the link unit, defined once (Invariant 2)")]
pub(crate) fn own() -> *mut c_void {
    let at: *mut c_void;
    // SAFETY: computes an address. The directives define the descriptor and the note, and contribute an empty record to each
    // table, since the linker defines the symbols only of sections that are there.
    unsafe {
        asm!(
            ".ifndef cw_unit",
            ".pushsection cyclewise_lock_v1, \"aR\", @progbits",
            ".balign 4",
            ".long 0",
            ".popsection",
            ".pushsection cyclewise_key_v2, \"aR\", @progbits",
            ".p2align 2",
            ".long 0, 0, 0, 0",
            ".popsection",
            ".hidden __start_cyclewise_lock_v1",
            ".hidden __stop_cyclewise_lock_v1",
            ".hidden __start_cyclewise_key_v2",
            ".hidden __stop_cyclewise_key_v2",
            ".comm cyclewise_text_lock_v2, 32, 8",
            ".hidden cyclewise_text_lock_v2",
            ".pushsection .data.cw_unit, \"awGR\", @progbits, cw_unit, comdat",
            ".balign 8",
            ".weak cw_unit",
            ".hidden cw_unit",
            ".type cw_unit, @object",
            ".size cw_unit, 96",
            "cw_unit:",
            ".long 96, 1",
            ".quad __start_cyclewise_lock_v1, __stop_cyclewise_lock_v1",
            ".quad __start_cyclewise_key_v2, __stop_cyclewise_key_v2",
            ".quad 0, 0, 0, 0",
            ".quad cyclewise_text_lock_v2",
            ".quad 0, cw_canary_record",
            ".popsection",
            ".pushsection .note.cyclewise, \"aGR\", @note, cw_unit, comdat",
            ".balign 4",
            ".long 10, 4, 1",
            ".asciz \"cyclewise\"",
            ".balign 4",
            ".long cw_unit - .",
            ".popsection",
            ".pushsection .text.cw_canary, \"axGR\", @progbits, cw_canary, comdat",
            ".balign 16",
            ".weak cw_canary",
            ".hidden cw_canary",
            ".type cw_canary, @function",
            "cw_canary:",
            ".byte 0xf3, 0x0f, 0x1e, 0xfa", // endbr64
            ".byte 0xb8",                   // mov eax, imm32
            "771: .byte 0xf0, 0xf0, 0, 0",
            "ret",
            ".size cw_canary, . - cw_canary",
            ".popsection",
            ".pushsection .data.cw_canary, \"awGR\", @progbits, cw_canary, comdat",
            ".balign 8",
            ".weak cw_canary_record",
            ".hidden cw_canary_record",
            ".type cw_canary_record, @object",
            ".size cw_canary_record, 16",
            "cw_canary_record:",
            ".quad cw_canary",
            ".long 771b - ., 0",
            ".popsection",
            ".endif",
            "lea {at}, [rip + cw_unit]",
            at = out(reg) at,
            options(pure, nomem, nostack, preserves_flags),
        )
    };
    at
}
