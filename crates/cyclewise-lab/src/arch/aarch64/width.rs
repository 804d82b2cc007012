//! A free lock taken and given back, by accesses of 8, 16, 32 and 64 bits.
//!
//! A name is its instructions and their widths in bits: `cas32-stlr8` takes by CASA of 32 bits and gives back by STLR of 8
//! bits, at the same address. CAS, SWP, LDSET and LDADD take with acquire; as the second they give back with release.
//! `exclusive` is LDAXR, CBNZ and STXR. `load32` between them loads the word before the release. `second-word` is the word behind the first, which only the holder writes: of a
//! ticket lock. After these a name says what runs between two pairs: `adds30` is 30 dependent additions, `loads8` 8
//! dependent loads that hit L1.
//!
//! Every take succeeds. Rows of one instruction leave out the branch for a take that fails; rows of `exclusive` have both branches,
//! for a lock that is held and for a store that fails.
//! Only assembly can do this: accesses of different widths to one atomic are undefined in the memory models of Rust and of C.
//!
//! # References
//! Arm ARM DDI 0487, B2.12 (exclusives), C3.2.12 (LSE); T. Anderson, 1990 (locks by test-and-set and by tickets).
//!
//! # Safety
//! Each body writes the arena's first 16 bytes only; `loads8` reads the word 64 bytes on. A CPU without LSE ends rows that
//! [`lacks`] names by SIGILL.
use crate::arch::Body;
use cyclewise_bench::body;

/// A [`Body`] of pairs, with what runs between them. Registers: w9 = 1 is a lock that is held, w8 and w10 are what was found.
macro_rules! pair {
    ($name:literal: $($op:literal),*) => { pair!($name, 16, [$($op),*]) };
    ($name:literal: $($op:literal),*; adds 30) => { pair!($name, 4, [$($op,)* ".rept 30", "add x11, x11, x9", ".endr"]) };
    // The word that is loaded is 0, so that each load has its address from the one before.
    ($name:literal: $($op:literal),*; loads 8) => {
        pair!($name, 8, [$($op,)* ".rept 8", "ldr x12, [x13, x12]", ".endr"])
    };
    ($name:literal, $copies:literal, [$($op:literal),*]) => {
        body!(
            $name,
            $copies,
            [".arch_extension lse", "mov x9, #1", "mov x11, #0", "mov x12, #0", "add x13, x1, #64"],
            [$($op),*]
        )
    };
}

/// The variants in the order of the table.
pub(crate) const BODIES: [Body; 39] = [
    pair!("cas8-stlr8": "mov w8, wzr", "casab w8, w9, [x1]", "stlrb wzr, [x1]"),
    pair!("cas16-stlr16": "mov w8, wzr", "casah w8, w9, [x1]", "stlrh wzr, [x1]"),
    pair!("cas32-stlr32": "mov w8, wzr", "casa w8, w9, [x1]", "stlr wzr, [x1]"),
    pair!("cas64-stlr64": "mov x8, xzr", "casa x8, x9, [x1]", "stlr xzr, [x1]"),
    pair!("swp8-stlr8": "swpab w9, w8, [x1]", "stlrb wzr, [x1]"),
    pair!("swp16-stlr16": "swpah w9, w8, [x1]", "stlrh wzr, [x1]"),
    pair!("swp32-stlr32": "swpa w9, w8, [x1]", "stlr wzr, [x1]"),
    pair!("swp64-stlr64": "swpa x9, x8, [x1]", "stlr xzr, [x1]"),
    pair!("ldset8-stlr8": "ldsetab w9, w8, [x1]", "stlrb wzr, [x1]"),
    pair!("ldset16-stlr16": "ldsetah w9, w8, [x1]", "stlrh wzr, [x1]"),
    pair!("ldset32-stlr32": "ldseta w9, w8, [x1]", "stlr wzr, [x1]"),
    pair!("ldset64-stlr64": "ldseta x9, x8, [x1]", "stlr xzr, [x1]"),
    // Ticket locks: the next ticket, and behind it the one that is served.
    pair!("ldadd16-stlr16-second-word":
        "ldaddah w9, w8, [x1]", "add w8, w8, #1", "add x10, x1, #2", "stlrh w8, [x10]"),
    pair!("ldadd32-stlr32-second-word":
        "ldadda w9, w8, [x1]", "add w8, w8, #1", "add x10, x1, #4", "stlr w8, [x10]"),
    pair!("ldadd64-stlr64-second-word":
        "ldadda x9, x8, [x1]", "add x8, x8, #1", "add x10, x1, #8", "stlr x8, [x10]"),
    pair!("exclusive8-stlr8":
        "6:", "ldaxrb w8, [x1]", "cbnz w8, 7f", "stxrb w10, w9, [x1]", "cbnz w10, 6b", "7:", "stlrb wzr, [x1]"),
    pair!("exclusive16-stlr16":
        "6:", "ldaxrh w8, [x1]", "cbnz w8, 7f", "stxrh w10, w9, [x1]", "cbnz w10, 6b", "7:", "stlrh wzr, [x1]"),
    pair!("exclusive32-stlr32":
        "6:", "ldaxr w8, [x1]", "cbnz w8, 7f", "stxr w10, w9, [x1]", "cbnz w10, 6b", "7:", "stlr wzr, [x1]"),
    pair!("exclusive64-stlr64":
        "6:", "ldaxr x8, [x1]", "cbnz x8, 7f", "stxr w10, x9, [x1]", "cbnz w10, 6b", "7:", "stlr xzr, [x1]"),
    pair!("exclusive32-stlr8":
        "6:", "ldaxr w8, [x1]", "cbnz w8, 7f", "stxr w10, w9, [x1]", "cbnz w10, 6b", "7:", "stlrb wzr, [x1]"),
    pair!("cas8-cas8": "mov w8, wzr", "casab w8, w9, [x1]", "mov w10, #1", "caslb w10, wzr, [x1]"),
    pair!("cas32-cas32": "mov w8, wzr", "casa w8, w9, [x1]", "mov w10, #1", "casl w10, wzr, [x1]"),
    pair!("cas32-swp32": "mov w8, wzr", "casa w8, w9, [x1]", "swpl wzr, w10, [x1]"),
    pair!("swp64-cas64": "swpa x9, x8, [x1]", "mov x10, #1", "casl x10, xzr, [x1]"),
    // A store narrower than the next locked access, and one that is wider.
    pair!("cas64-stlr32": "mov x8, xzr", "casa x8, x9, [x1]", "stlr wzr, [x1]"),
    pair!("cas32-stlr16": "mov w8, wzr", "casa w8, w9, [x1]", "stlrh wzr, [x1]"),
    pair!("cas32-stlr8": "mov w8, wzr", "casa w8, w9, [x1]", "stlrb wzr, [x1]"),
    pair!("cas8-stlr32": "mov w8, wzr", "casab w8, w9, [x1]", "stlr wzr, [x1]"),
    // One word of 32 bits with both tickets, the lower half that is served.
    pair!("ldadd32-stlr16":
        "mov w10, #0x10000", "ldadda w10, w8, [x1]", "add w8, w8, #1", "stlrh w8, [x1]"),
    // A release that looks at the word first, as one does that has waiters to find there.
    pair!("cas8-load8-stlr8": "mov w8, wzr", "casab w8, w9, [x1]", "ldrb w10, [x1]", "stlrb wzr, [x1]"),
    pair!("cas32-load32-stlr32": "mov w8, wzr", "casa w8, w9, [x1]", "ldr w10, [x1]", "stlr wzr, [x1]"),
    // In company; first the company alone.
    pair!("adds30":; adds 30),
    pair!("cas8-stlr8-adds30": "mov w8, wzr", "casab w8, w9, [x1]", "stlrb wzr, [x1]"; adds 30),
    pair!("cas32-stlr32-adds30": "mov w8, wzr", "casa w8, w9, [x1]", "stlr wzr, [x1]"; adds 30),
    pair!("cas32-stlr8-adds30": "mov w8, wzr", "casa w8, w9, [x1]", "stlrb wzr, [x1]"; adds 30),
    pair!("loads8":; loads 8),
    pair!("cas8-stlr8-loads8": "mov w8, wzr", "casab w8, w9, [x1]", "stlrb wzr, [x1]"; loads 8),
    pair!("cas32-stlr32-loads8": "mov w8, wzr", "casa w8, w9, [x1]", "stlr wzr, [x1]"; loads 8),
    pair!("cas32-stlr8-loads8": "mov w8, wzr", "casa w8, w9, [x1]", "stlrb wzr, [x1]"; loads 8),
];

/// Why this machine cannot run a row.
pub(crate) fn lacks(name: &str) -> Option<&'static str> {
    let without = name.starts_with("exclusive") || ["adds30", "loads8"].contains(&name);
    (!without && !std::arch::is_aarch64_feature_detected!("lse")).then_some("this CPU has no LSE (AT_HWCAP, bit 8)")
}

/// By reference, what is compared with it; rows that a machine lacks are left out.
pub(crate) const COMPARE: &[(&str, &str)] = &[
    (
        "cas32-stlr32",
        "cas8-stlr8 cas16-stlr16 cas64-stlr64 swp32-stlr32 ldset32-stlr32 ldadd32-stlr32-second-word \
         exclusive32-stlr32 cas32-cas32 cas32-swp32 cas64-stlr32 cas32-stlr16 cas32-stlr8 cas8-stlr32 \
         cas32-load32-stlr32",
    ),
    ("swp32-stlr32", "swp8-stlr8 swp16-stlr16 swp64-stlr64"),
    ("ldset32-stlr32", "ldset8-stlr8 ldset16-stlr16 ldset64-stlr64"),
    (
        "ldadd32-stlr32-second-word",
        "ldadd16-stlr16-second-word ldadd64-stlr64-second-word ldadd32-stlr16",
    ),
    (
        "exclusive32-stlr32",
        "exclusive8-stlr8 exclusive16-stlr16 exclusive64-stlr64 exclusive32-stlr8",
    ),
    ("cas8-stlr8", "cas8-cas8 cas8-load8-stlr8"),
    ("swp64-stlr64", "swp64-cas64"),
    ("adds30", "cas8-stlr8-adds30 cas32-stlr32-adds30 cas32-stlr8-adds30"),
    ("loads8", "cas8-stlr8-loads8 cas32-stlr32-loads8 cas32-stlr8-loads8"),
];

/// The rows of a lock of one byte and of one of 32 bits, and the row that gives back a byte of 32 bits.
pub(crate) const BYTE_WORD_MIXED: [&str; 3] = ["cas8-stlr8", "cas32-stlr32", "cas32-stlr8"];

/// The locks of libraries, as Rust compiles them, and the row that each does when it is free.
pub(crate) const LOCKS: [(&str, &str); 6] = [
    ("cyclewise", "cas32-stlr32"),
    ("parking-lot", "cas8-cas8"),
    ("std-mutex", "cas32-swp32"),
    ("spin", "cas8-stlr8"),
    ("spin-ticket", "ldadd64-stlr64-second-word"),
    ("mcs", "swp64-cas64"),
];
