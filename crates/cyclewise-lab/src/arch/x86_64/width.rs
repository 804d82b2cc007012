//! A free lock taken and given back, by accesses of 8, 16, 32 and 64 bits.
//!
//! A name is its instructions and their widths in bits: `cmpxchg32-mov8` takes by LOCK CMPXCHG of 32 bits and gives back by
//! a MOV of 8 bits, at the same address. The first is always locked; of the others those are that say `lock`, CMPXCHG and
//! XCHG. `load32` between them loads the word before the release. `second-word` is the word behind the first, which only the holder writes: of a ticket lock, or of a CLH lock. After
//! these a name says what runs between two pairs: `adds30` is 30 dependent additions, `loads8` 8 dependent loads that hit L1.
//!
//! Every take succeeds, and the branch of one that fails is left out. Only assembly can do this: accesses of different
//! widths to one atomic are undefined in the memory models of Rust and of C.
//!
//! # References
//! Intel Optimization Reference Manual, "Store Forwarding"; AMD's Software Optimization Guides, "Store to Load Forwarding";
//! T. Anderson, 1990 (locks by test-and-set and by tickets).
//!
//! # Safety
//! Each body writes the arena's first 16 bytes only; `loads8` reads the word behind its first cache line.
use crate::arch::Body;
use cyclewise_bench::body;

/// A [`Body`] of pairs, with what runs between them. Registers: ecx = 1 is a lock that is held; r8 = 0 is one that is free, since
/// a MOV of an immediate of 16 bits would stall some decoders.
macro_rules! pair {
    ($name:literal: $($op:literal),*) => { pair!($name, 16, [$($op),*]) };
    ($name:literal: $($op:literal),*; adds 30) => { pair!($name, 4, [$($op,)* ".rept 30", "add r10, r9", ".endr"]) };
    // The word that is loaded is 0, so that each load has its address from the one before.
    ($name:literal: $($op:literal),*; loads 8) => {
        pair!($name, 8, [$($op,)* ".rept 8", "mov r10, [rsi + r10 + 64]", ".endr"])
    };
    ($name:literal, $copies:literal, [$($op:literal),*]) => {
        body!($name, $copies, ["mov ecx, 1", "xor r8d, r8d", "mov r9d, 1", "xor r10d, r10d"], [$($op),*])
    };
}

/// The variants in the order of the table.
pub(crate) const BODIES: [Body; 44] = [
    pair!("cmpxchg8-mov8": "xor eax, eax", "lock cmpxchg byte ptr [rsi], cl", "mov byte ptr [rsi], r8b"),
    pair!("cmpxchg16-mov16": "xor eax, eax", "lock cmpxchg word ptr [rsi], cx", "mov word ptr [rsi], r8w"),
    pair!("cmpxchg32-mov32": "xor eax, eax", "lock cmpxchg dword ptr [rsi], ecx", "mov dword ptr [rsi], r8d"),
    pair!("cmpxchg64-mov64": "xor eax, eax", "lock cmpxchg qword ptr [rsi], rcx", "mov qword ptr [rsi], r8"),
    pair!("xchg8-mov8": "mov eax, 1", "xchg byte ptr [rsi], al", "mov byte ptr [rsi], r8b"),
    pair!("xchg16-mov16": "mov eax, 1", "xchg word ptr [rsi], ax", "mov word ptr [rsi], r8w"),
    pair!("xchg32-mov32": "mov eax, 1", "xchg dword ptr [rsi], eax", "mov dword ptr [rsi], r8d"),
    pair!("xchg64-mov64": "mov eax, 1", "xchg qword ptr [rsi], rax", "mov qword ptr [rsi], r8"),
    // BTS has no form of 8 bits.
    pair!("bts16-mov16": "lock bts word ptr [rsi], 0", "mov word ptr [rsi], r8w"),
    pair!("bts32-mov32": "lock bts dword ptr [rsi], 0", "mov dword ptr [rsi], r8d"),
    pair!("bts64-mov64": "lock bts qword ptr [rsi], 0", "mov qword ptr [rsi], r8"),
    pair!("or8-mov8": "lock or byte ptr [rsi], 1", "mov byte ptr [rsi], r8b"),
    pair!("or32-mov32": "lock or dword ptr [rsi], 1", "mov dword ptr [rsi], r8d"),
    // Ticket locks: the next ticket, and behind it the one that is served.
    pair!("xadd8-add8-second-word": "mov eax, 1", "lock xadd byte ptr [rsi], al", "add byte ptr [rsi + 1], 1"),
    pair!("xadd16-add16-second-word": "mov eax, 1", "lock xadd word ptr [rsi], ax", "add word ptr [rsi + 2], 1"),
    pair!("xadd32-add32-second-word": "mov eax, 1", "lock xadd dword ptr [rsi], eax", "add dword ptr [rsi + 4], 1"),
    pair!("xadd64-add64-second-word": "mov eax, 1", "lock xadd qword ptr [rsi], rax", "add qword ptr [rsi + 8], 1"),
    // The holder's own ticket and one, as crate spin gives back.
    pair!("xadd64-mov64-second-word": "mov eax, 1", "lock xadd qword ptr [rsi], rax", "inc rax", "mov qword ptr [rsi + 8], rax"),
    // A CLH lock: the queue's tail, and the flag of the node.
    pair!("xchg64-mov32-second-word": "mov eax, 1", "xchg qword ptr [rsi], rax", "mov dword ptr [rsi + 8], r8d"),
    pair!("cmpxchg8-cmpxchg8": "xor eax, eax", "lock cmpxchg byte ptr [rsi], cl", "mov eax, 1", "lock cmpxchg byte ptr [rsi], r8b"),
    pair!("cmpxchg32-cmpxchg32": "xor eax, eax", "lock cmpxchg dword ptr [rsi], ecx", "mov eax, 1", "lock cmpxchg dword ptr [rsi], r8d"),
    pair!("cmpxchg32-xchg32": "xor eax, eax", "lock cmpxchg dword ptr [rsi], ecx", "xor r9d, r9d", "xchg dword ptr [rsi], r9d"),
    pair!("cmpxchg32-lock-dec32": "xor eax, eax", "lock cmpxchg dword ptr [rsi], ecx", "lock dec dword ptr [rsi]"),
    pair!("xchg64-cmpxchg64": "mov eax, 1", "xchg qword ptr [rsi], rax", "mov eax, 1", "lock cmpxchg qword ptr [rsi], r8"),
    // A store narrower than the next locked access, and two that are wider.
    pair!("cmpxchg64-mov32": "xor eax, eax", "lock cmpxchg qword ptr [rsi], rcx", "mov dword ptr [rsi], r8d"),
    pair!("cmpxchg64-mov8": "xor eax, eax", "lock cmpxchg qword ptr [rsi], rcx", "mov byte ptr [rsi], r8b"),
    pair!("cmpxchg32-mov16": "xor eax, eax", "lock cmpxchg dword ptr [rsi], ecx", "mov word ptr [rsi], r8w"),
    pair!("cmpxchg32-mov8": "xor eax, eax", "lock cmpxchg dword ptr [rsi], ecx", "mov byte ptr [rsi], r8b"),
    pair!("cmpxchg16-mov8": "xor eax, eax", "lock cmpxchg word ptr [rsi], cx", "mov byte ptr [rsi], r8b"),
    pair!("xchg32-mov8": "mov eax, 1", "xchg dword ptr [rsi], eax", "mov byte ptr [rsi], r8b"),
    // One word of 32 bits with both tickets, the lower half that is served.
    pair!("xadd32-inc16": "mov eax, 0x10000", "lock xadd dword ptr [rsi], eax", "inc word ptr [rsi]"),
    pair!("cmpxchg8-mov32": "xor eax, eax", "lock cmpxchg byte ptr [rsi], cl", "mov dword ptr [rsi], r8d"),
    // A release that looks at the word first, as one does that has waiters to find there.
    pair!("cmpxchg8-load8-mov8": "xor eax, eax", "lock cmpxchg byte ptr [rsi], cl", "movzx r11d, byte ptr [rsi]", "mov byte ptr [rsi], r8b"),
    pair!("cmpxchg32-load32-mov32": "xor eax, eax", "lock cmpxchg dword ptr [rsi], ecx", "mov r11d, [rsi]", "mov dword ptr [rsi], r8d"),
    // In company; first the company alone.
    pair!("adds30":; adds 30),
    pair!("cmpxchg8-mov8-adds30": "xor eax, eax", "lock cmpxchg byte ptr [rsi], cl", "mov byte ptr [rsi], r8b"; adds 30),
    pair!("cmpxchg32-mov32-adds30": "xor eax, eax", "lock cmpxchg dword ptr [rsi], ecx", "mov dword ptr [rsi], r8d"; adds 30),
    pair!("cmpxchg64-mov64-adds30": "xor eax, eax", "lock cmpxchg qword ptr [rsi], rcx", "mov qword ptr [rsi], r8"; adds 30),
    pair!("cmpxchg32-mov8-adds30": "xor eax, eax", "lock cmpxchg dword ptr [rsi], ecx", "mov byte ptr [rsi], r8b"; adds 30),
    pair!("loads8":; loads 8),
    pair!("cmpxchg8-mov8-loads8": "xor eax, eax", "lock cmpxchg byte ptr [rsi], cl", "mov byte ptr [rsi], r8b"; loads 8),
    pair!("cmpxchg32-mov32-loads8": "xor eax, eax", "lock cmpxchg dword ptr [rsi], ecx", "mov dword ptr [rsi], r8d"; loads 8),
    pair!("cmpxchg64-mov64-loads8": "xor eax, eax", "lock cmpxchg qword ptr [rsi], rcx", "mov qword ptr [rsi], r8"; loads 8),
    pair!("cmpxchg32-mov8-loads8": "xor eax, eax", "lock cmpxchg dword ptr [rsi], ecx", "mov byte ptr [rsi], r8b"; loads 8),
];

/// Why this machine cannot run a row: each x86-64 CPU runs all.
pub(crate) fn lacks(_: &str) -> Option<&'static str> {
    None
}

/// By reference, what is compared with it; rows that a machine lacks are left out.
pub(crate) const COMPARE: &[(&str, &str)] = &[
    (
        "cmpxchg32-mov32",
        "cmpxchg8-mov8 cmpxchg16-mov16 cmpxchg64-mov64 xchg32-mov32 bts32-mov32 or32-mov32 \
         xadd32-add32-second-word xchg64-mov32-second-word cmpxchg32-cmpxchg32 cmpxchg32-xchg32 \
         cmpxchg32-lock-dec32 cmpxchg64-mov32 cmpxchg64-mov8 cmpxchg32-mov16 cmpxchg32-mov8 cmpxchg16-mov8 \
         cmpxchg8-mov32 cmpxchg32-load32-mov32",
    ),
    ("xchg32-mov32", "xchg8-mov8 xchg16-mov16 xchg64-mov64 xchg32-mov8"),
    ("bts32-mov32", "bts16-mov16 bts64-mov64"),
    ("or32-mov32", "or8-mov8"),
    (
        "xadd32-add32-second-word",
        "xadd8-add8-second-word xadd16-add16-second-word xadd64-add64-second-word xadd64-mov64-second-word \
         xadd32-inc16",
    ),
    ("cmpxchg8-mov8", "cmpxchg8-cmpxchg8 cmpxchg8-load8-mov8"),
    ("xchg64-mov64", "xchg64-cmpxchg64"),
    (
        "adds30",
        "cmpxchg8-mov8-adds30 cmpxchg32-mov32-adds30 cmpxchg64-mov64-adds30 cmpxchg32-mov8-adds30",
    ),
    (
        "loads8",
        "cmpxchg8-mov8-loads8 cmpxchg32-mov32-loads8 cmpxchg64-mov64-loads8 cmpxchg32-mov8-loads8",
    ),
];

/// The rows of a lock of one byte and of one of 32 bits, and the row that gives back a byte of 32 bits.
pub(crate) const BYTE_WORD_MIXED: [&str; 3] = ["cmpxchg8-mov8", "cmpxchg32-mov32", "cmpxchg32-mov8"];

/// The locks of libraries, as Rust compiles them, and the row that each does when it is free.
pub(crate) const LOCKS: [(&str, &str); 6] = [
    ("cyclewise", "cmpxchg32-mov32"),
    ("parking-lot", "cmpxchg8-cmpxchg8"),
    ("std-mutex", "cmpxchg32-xchg32"),
    ("spin", "cmpxchg8-mov8"),
    ("spin-ticket", "xadd64-mov64-second-word"),
    ("mcs", "xchg64-cmpxchg64"),
];
