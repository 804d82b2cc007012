//! What a boot loader starts: from flat 32-bit protected mode into the mode of the payload.
//!
//! Only qemu needs it; a VM of `/dev/kvm` has its registers set. The loader is one of the Multiboot specification, which leaves
//! the CPU in 32-bit protected mode without paging, and loads an image of any format whose header names the addresses.
//!
//! # References
//! Multiboot Specification 0.6.96, 3.1 (header) and 3.2 (machine state).
//!
//! # Safety
//! The code is copied into a guest and runs there only.
#![expect(unsafe_code, reason = "naked functions whose bytes are copied")]

use crate::arch::code::{Code, code32};
use crate::layout;

const MAGIC: u32 = 0x1bad_b002;
/// The header has addresses, since the image is no ELF file.
const FLAGS: u32 = 1 << 16;
/// Bytes of the header: the code begins behind them.
pub(crate) const HEADER_BYTES: usize = 32;

/// The header, for an image whose memory is loaded as a whole.
pub(crate) fn header() -> [u8; HEADER_BYTES] {
    let base = layout::BASE as u32;
    let end = base + layout::SIZE as u32;
    let entry = base + HEADER_BYTES as u32;
    let words = [
        MAGIC,
        FLAGS,
        0u32.wrapping_sub(MAGIC).wrapping_sub(FLAGS),
        base,
        base,
        end,
        end,
        entry,
    ];
    let mut bytes = [0; HEADER_BYTES];
    for (four, word) in bytes.chunks_exact_mut(4).zip(words) {
        four.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

/// Into 32-bit protected mode with our tables. The PC's interrupt controllers are masked: the firmware's timer ticks.
pub(crate) const PROTECTED: Code = code32!(
    [
        "mov al, 0xff",
        "out 0x21, al",
        "out 0xa1, al",
        "lgdt [{pointers}]",
        "lidt [{pointers} + 16]",
        "mov eax, {kernel_ds}",
        "mov ss, eax",
        "mov eax, {user_ds}",
        "mov ds, eax",
        "mov es, eax",
        "xor eax, eax",
        "mov fs, eax",
        "mov gs, eax",
        "mov esp, {stack}",
        // SSE, as Linux has it: LFENCE needs none of it, but payloads may.
        "mov eax, 0x600",
        "mov cr4, eax",
        "mov eax, {tss}",
        "ltr ax",
        "push {kernel_cs}",
        "push {start}",
        "retf",
    ],
    pointers = layout::POINTERS,
    kernel_ds = layout::KERNEL_DS32,
    user_ds = layout::USER_DS32,
    stack = layout::STACK_TOP,
    tss = layout::TSS32_SELECTOR,
    kernel_cs = layout::KERNEL_CS32,
    start = layout::START,
);

/// Into long mode. FSGSBASE is turned on where CPUID has it.
pub(crate) const LONG: Code = code32!(
    [
        "mov al, 0xff",
        "out 0x21, al",
        "out 0xa1, al",
        "lgdt [{pointers}]",
        "lidt [{pointers} + 16]",
        "mov esp, {stack}",
        "mov eax, 7",
        "xor ecx, ecx",
        "cpuid",
        "and ebx, 1",
        "shl ebx, 16",
        "mov eax, 0x620",
        "or eax, ebx",
        "mov cr4, eax",
        "mov eax, {pml4}",
        "mov cr3, eax",
        // EFER: system calls by instruction, long mode.
        "mov ecx, 0xc0000080",
        "rdmsr",
        "or eax, 0x101",
        "wrmsr",
        "mov eax, {cr0}",
        "mov cr0, eax",
        "mov eax, {kernel_ds}",
        "mov ss, eax",
        "mov ds, eax",
        "mov es, eax",
        "mov fs, eax",
        "mov gs, eax",
        "mov eax, {tss}",
        "ltr ax",
        "push {kernel_cs}",
        "push {start}",
        "retf",
    ],
    pointers = layout::POINTERS,
    stack = layout::STACK_TOP,
    pml4 = layout::PML4,
    cr0 = CR0_LONG,
    kernel_ds = layout::KERNEL_DS,
    tss = layout::TSS64_SELECTOR,
    kernel_cs = layout::KERNEL_CS,
    start = layout::START,
);

/// Protection, numeric errors as exceptions, write protection, paging, as Linux has them.
pub(crate) const CR0_LONG: u32 = 0x8001_0033;
/// The same without paging.
pub(crate) const CR0_PROTECTED: u32 = 0x33;
