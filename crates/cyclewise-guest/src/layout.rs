//! Where things are in the guest: addresses of its memory, selectors of its segments, offsets in its mailbox.
//!
//! Addresses are physical and linear at once: the page tables map the guest's memory where it is. The memory starts at 2 MiB
//! because a PC's firmware owns what is below 1 MiB, and the same image boots under one.

/// The first byte of the guest's memory.
pub const BASE: u64 = 0x20_0000;
/// Bytes of the guest's memory: what one page-directory entry maps.
pub const SIZE: usize = 0x20_0000;
/// Bytes of a page.
pub const PAGE: usize = 0x1000;

/// The boot header and the code that enters the mode; a boot loader jumps here.
pub const BOOT: u64 = BASE;
/// The page tables: the root, then the tables below it, a page each.
pub const PML4: u64 = BASE + 0x1000;
/// Entry 0 covers the guest's memory, entry 3 the local APIC.
pub const PDPT: u64 = BASE + 0x2000;
/// The directory of the first gigabyte.
pub const PD_LOW: u64 = BASE + 0x3000;
/// The pages of the guest's memory.
pub const PT_LOW: u64 = BASE + 0x4000;
/// The directory of the fourth gigabyte.
pub const PD_HIGH: u64 = BASE + 0x5000;
/// The page of the local APIC.
pub const PT_HIGH: u64 = BASE + 0x6000;
/// Segment descriptors.
pub const GDT: u64 = BASE + 0x7000;
/// The task state of long mode.
pub const TSS64: u64 = BASE + 0x7800;
/// The task state of 32-bit mode.
pub const TSS32: u64 = BASE + 0x7a00;
/// The pointers that LGDT and LIDT read: the GDT's, the IDT's.
pub const POINTERS: u64 = BASE + 0x7c00;
/// 256 gates of 16 bytes, or of 8 in 32-bit mode.
pub const IDT: u64 = BASE + 0x8000;
/// 256 stubs that push their vector.
pub const STUBS: u64 = BASE + 0xa000;
/// Bytes of a stub.
pub const STUB_BYTES: u64 = 16;
/// The runtime's routines, each in a slot.
pub const START: u64 = BASE + 0xb000;
/// Writes the mailbox to the debug console where that is asked, and leaves the guest.
pub const FINISH: u64 = BASE + 0xb200;
/// Enters what an exception pushed into the mailbox.
pub const FAULT: u64 = BASE + 0xb400;
/// Enters ring 3 at `TARGET`.
pub const ENTER_USER: u64 = BASE + 0xb600;
/// What ring 3 returns to: an instruction that faults there, and the report of faults knows its address.
pub const USER_RETURN: u64 = BASE + 0xba00;
/// What a payload's system calls go through, in 32-bit mode: SYSENTER, and where SYSEXIT returns.
pub const SYSENTER_STUB: u64 = BASE + 0xbc00;
/// Words that the host and the guest exchange.
pub const MAILBOX: u64 = BASE + 0xe000;
/// A page for payloads to work on.
pub const ARENA: u64 = BASE + 0xf000;
/// The data of the current CPU, which %gs points to.
pub const PERCPU: u64 = BASE + 0x1_0000;
/// The data of a user's thread, which a user's %gs points to.
pub const USER_TLS: u64 = BASE + 0x1_1000;
/// A table of the addresses of CPUs' data, as a kernel without a segment has it.
pub const PERCPU_TABLE: u64 = BASE + 0x1_2000;
/// The stack of ring 0, in a block of 8 KiB whose first word is the CPU's number, as in Linux's `thread_info` of 2006.
pub const STACK: u64 = BASE + 0x1_4000;
/// Where that stack begins. It grows downwards.
pub const STACK_TOP: u64 = STACK + 0x2000;
/// Where the stack of entries from ring 3 begins.
pub const ENTRY_STACK_TOP: u64 = BASE + 0x1_8000;
/// Where the stack of exceptions begins, in long mode.
pub const FAULT_STACK_TOP: u64 = BASE + 0x1_a000;
/// Where the stack of ring 3 begins.
pub const USER_STACK_TOP: u64 = BASE + 0x1_c000;
/// Where the payload's own code begins.
pub const PAYLOAD: u64 = BASE + 0x2_0000;
/// Bytes that are left for it.
pub const PAYLOAD_BYTES: usize = SIZE - 0x2_0000;

/// The local APIC, where every PC has it after reset.
pub const LAPIC: u64 = 0xfee0_0000;

/// Ring 0, 64 bits.
pub const KERNEL_CS: u16 = 0x08;
/// Ring 0's data.
pub const KERNEL_DS: u16 = 0x10;
/// The base of SYSRET's selectors: 32-bit code, data, 64-bit code.
pub const SYSRET_BASE: u16 = 0x18;
/// Ring 3's data.
pub const USER_DS: u16 = 0x20 | 3;
/// Ring 3, 64 bits.
pub const USER_CS: u16 = 0x28 | 3;
/// Ring 0, 32 bits; SYSENTER's and SYSEXIT's other selectors follow it.
pub const KERNEL_CS32: u16 = 0x30;
/// Ring 0's data beside that code.
pub const KERNEL_DS32: u16 = 0x38;
/// Ring 3, 32 bits.
pub const USER_CS32: u16 = 0x40 | 3;
/// Ring 3's data beside that code.
pub const USER_DS32: u16 = 0x48 | 3;
/// A segment of ring 0 whose base is [`PERCPU`].
pub const PERCPU_SELECTOR: u16 = 0x50;
/// A segment of ring 3 whose base is [`USER_TLS`].
pub const TLS_SELECTOR: u16 = 0x58 | 3;
/// The task state of long mode.
pub const TSS64_SELECTOR: u16 = 0x60;
/// The task state of 32-bit mode.
pub const TSS32_SELECTOR: u16 = 0x70;
/// Bytes of the GDT.
pub const GDT_BYTES: u16 = 0x78;

/// Linux's system call of 32-bit programs.
pub const SYSTEM_CALL_VECTOR: u8 = 0x80;
/// A vector for interrupts of the local APIC and for INT.
pub const INTERRUPT_VECTOR: u8 = 0x40;

/// Port whose write ends a run. QEMU's `isa-debug-exit` has it; KVM hands any port to us.
pub const EXIT_PORT: u16 = 0xf4;
/// Port of QEMU's debug console.
pub const CONSOLE_PORT: u16 = 0xe9;

/// Offsets of the mailbox's words, each of 8 bytes.
pub mod mailbox {
    /// One of the constants below.
    pub const STATUS: u64 = 0;
    /// The vector of the exception.
    pub const VECTOR: u64 = 8;
    /// Its error code; 0 where it has none.
    pub const ERROR: u64 = 16;
    /// The address of the instruction.
    pub const ADDRESS: u64 = 24;
    /// CS at the exception.
    pub const CS: u64 = 32;
    /// The flags at the exception.
    pub const FLAGS: u64 = 40;
    /// CR2 at the exception: what a page fault could not reach.
    pub const CR2: u64 = 48;
    /// What the runtime calls between the stamps.
    pub const ENTRY: u64 = 56;
    /// What the runtime calls before them; 0 for nothing.
    pub const PREPARE: u64 = 64;
    /// Where ring 3 is entered.
    pub const TARGET: u64 = 72;
    /// Iterations of the loop.
    pub const ITERATIONS: u64 = 80;
    /// The counter before the batch.
    pub const BEGIN: u64 = 88;
    /// The counter after it.
    pub const END: u64 = 96;
    /// The stack pointer of ring 0 while ring 3 runs.
    pub const KERNEL_STACK: u64 = 104;
    /// Whether the mailbox is written to the debug console.
    pub const DUMP: u64 = 112;
    /// The payload's handler of system calls by instruction.
    pub const HANDLER: u64 = 120;
    /// What a payload has to say, in words.
    pub const RESULTS: u64 = 256;
    /// How many words those are.
    pub const RESULT_WORDS: usize = 48;
    /// Bytes that are written to the debug console.
    pub const BYTES: usize = RESULTS as usize + 8 * RESULT_WORDS;

    /// STATUS: the payload has not come back.
    pub const RUNNING: u64 = 0;
    /// STATUS: the payload has returned.
    pub const DONE: u64 = 1;
    /// STATUS: an exception that the payload does not handle.
    pub const FAULTED: u64 = 2;
}
