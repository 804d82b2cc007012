//! The tables that the CPU reads: pages, segments, gates, task states.
//!
//! # References
//! Intel SDM vol. 3, 4.5 (4-level paging), 3.4.5 (segment descriptors), 7.14 (64-bit gates), 8.2 and 8.7 (task states).

use super::Memory;
use crate::arch::payload::Mode;
use crate::layout::{self, SYSTEM_CALL_VECTOR};

/// A page entry: present, writable, user.
const PRESENT: u64 = 0b111;
/// A page entry: no caching, for the local APIC.
const UNCACHED: u64 = 1 << 4;
/// Entries of a page table.
const ENTRIES: u64 = 512;

/// Exceptions for which the CPU pushes an error code: Intel SDM vol. 3, table 6-1, and AMD's 29 and 30.
const WITH_ERROR_CODE: [u8; 10] = [8, 10, 11, 12, 13, 14, 17, 21, 29, 30];

/// Code and data that cover 4 GiB, by the access byte (present, ring, type) and the flags (granularity, size).
const fn flat(access: u8, flags: u8) -> u64 {
    descriptor(0, 0xf_ffff, access, flags)
}

const fn descriptor(base: u32, limit: u32, access: u8, flags: u8) -> u64 {
    let (base, limit) = (base as u64, limit as u64);
    limit & 0xffff
        | (base & 0xff_ffff) << 16
        | (access as u64) << 40
        | (limit >> 16 & 0xf) << 48
        | (flags as u64 & 0xf) << 52
        | (base >> 24) << 56
}

const CODE: u8 = 0x9b; // present, ring 0, code, readable, accessed
const DATA: u8 = 0x93; // present, ring 0, data, writable, accessed
const RING3: u8 = 0x60;
const TASK: u8 = 0x89; // present, ring 0, available task state
const FLAT32: u8 = 0xc; // pages, 32 bits
const FLAT64: u8 = 0xa; // pages, 64 bits

/// Maps the guest's memory and the local APIC where they are.
pub(super) fn pages(memory: &mut Memory) {
    let mut entry = |table: u64, index: u64, value: u64| memory.put(table + 8 * index, &value.to_le_bytes());
    entry(layout::PML4, 0, layout::PDPT | PRESENT);
    entry(layout::PDPT, 0, layout::PD_LOW | PRESENT);
    entry(layout::PD_LOW, layout::BASE >> 21, layout::PT_LOW | PRESENT);
    for page in 0..ENTRIES {
        let address = layout::BASE + page * layout::PAGE as u64;
        entry(layout::PT_LOW, page, address | PRESENT);
    }
    entry(layout::PDPT, layout::LAPIC >> 30, layout::PD_HIGH | PRESENT);
    entry(
        layout::PD_HIGH,
        layout::LAPIC >> 21 & (ENTRIES - 1),
        layout::PT_HIGH | PRESENT,
    );
    let apic = layout::LAPIC | PRESENT | UNCACHED;
    entry(layout::PT_HIGH, layout::LAPIC >> 12 & (ENTRIES - 1), apic);
}

/// The segments of both modes, and both task states.
pub(super) fn segments(memory: &mut Memory, mode: Mode) {
    let tss64 = descriptor(layout::TSS64 as u32, 0x67, TASK, 0);
    let rows = [
        (layout::KERNEL_CS, flat(CODE, FLAT64)),
        (layout::KERNEL_DS, flat(DATA, FLAT32)),
        (layout::SYSRET_BASE, flat(CODE | RING3, FLAT32)),
        (layout::USER_DS, flat(DATA | RING3, FLAT32)),
        (layout::USER_CS, flat(CODE | RING3, FLAT64)),
        (layout::KERNEL_CS32, flat(CODE, FLAT32)),
        (layout::KERNEL_DS32, flat(DATA, FLAT32)),
        (layout::USER_CS32, flat(CODE | RING3, FLAT32)),
        (layout::USER_DS32, flat(DATA | RING3, FLAT32)),
        // A page of data, in bytes: what lies behind it is out of reach.
        (
            layout::PERCPU_SELECTOR,
            descriptor(layout::PERCPU as u32, 0xfff, DATA, 4),
        ),
        (
            layout::TLS_SELECTOR,
            descriptor(layout::USER_TLS as u32, 0xfff, DATA | RING3, 4),
        ),
        (layout::TSS64_SELECTOR, tss64),
        (layout::TSS32_SELECTOR, descriptor(layout::TSS32 as u32, 0x67, TASK, 0)),
    ];
    for (selector, descriptor) in rows {
        memory.put(layout::GDT + u64::from(selector & !7), &descriptor.to_le_bytes());
    }
    // Long mode: the stack of entries from ring 3, and that of exceptions.
    memory.put(layout::TSS64 + 4, &layout::ENTRY_STACK_TOP.to_le_bytes());
    memory.put(layout::TSS64 + 36, &layout::FAULT_STACK_TOP.to_le_bytes());
    memory.put(layout::TSS64 + 102, &0x68u16.to_le_bytes());
    memory.put(layout::TSS32 + 4, &(layout::ENTRY_STACK_TOP as u32).to_le_bytes());
    memory.put(layout::TSS32 + 8, &u32::from(layout::KERNEL_DS32).to_le_bytes());
    memory.put(layout::TSS32 + 102, &0x68u16.to_le_bytes());
    let table = |memory: &mut Memory, at: u64, limit: u16, base: u64| {
        memory.put(at, &limit.to_le_bytes());
        memory.put(at + 2, &base.to_le_bytes());
    };
    table(memory, layout::POINTERS, layout::GDT_BYTES - 1, layout::GDT);
    table(memory, layout::POINTERS + 16, idt_limit(mode), layout::IDT);
}

/// The last byte of the gates.
pub(crate) fn idt_limit(mode: Mode) -> u16 {
    256 * gate_bytes(mode) as u16 - 1
}

fn gate_bytes(mode: Mode) -> u64 {
    match mode {
        Mode::Long => 16,
        Mode::Protected => 8,
    }
}

/// A gate for each vector, to a stub that pushes what the CPU did not and the vector.
pub(super) fn gates(memory: &mut Memory, mode: Mode) {
    for vector in 0..=u8::MAX {
        let at = layout::STUBS + u64::from(vector) * layout::STUB_BYTES;
        stub(memory, at, vector);
        // Exceptions get a stack of their own, so that a broken one is reported too.
        gate(
            memory,
            mode,
            vector,
            at,
            Entry {
                ring3: false,
                own_stack: true,
            },
        );
    }
}

/// A handler of the payload's own.
pub(super) fn own_gate(memory: &mut Memory, mode: Mode, vector: u8, handler: u64) {
    let ring3 = vector == SYSTEM_CALL_VECTOR || vector == 3;
    gate(
        memory,
        mode,
        vector,
        handler,
        Entry {
            ring3,
            own_stack: false,
        },
    );
}

/// How a gate is entered.
#[derive(Clone, Copy)]
struct Entry {
    /// By INT from ring 3.
    ring3: bool,
    /// On the stack of exceptions; 32-bit mode has none.
    own_stack: bool,
}

fn gate(memory: &mut Memory, mode: Mode, vector: u8, handler: u64, entry: Entry) {
    let access: u64 = if entry.ring3 { 0xee } else { 0x8e }; // present, interrupt gate
    let selector = match mode {
        Mode::Long => layout::KERNEL_CS,
        Mode::Protected => layout::KERNEL_CS32,
    };
    let stack = u64::from(entry.own_stack && mode == Mode::Long);
    let low =
        handler & 0xffff | u64::from(selector) << 16 | stack << 32 | access << 40 | (handler >> 16 & 0xffff) << 48;
    let at = layout::IDT + u64::from(vector) * gate_bytes(mode);
    memory.put(at, &low.to_le_bytes());
    if mode == Mode::Long {
        memory.put(at + 8, &(handler >> 32).to_le_bytes());
    }
}

/// PUSH 0 where the CPU pushes no error code; PUSH of the vector; JMP to the report. The bytes are the same in both modes.
fn stub(memory: &mut Memory, at: u64, vector: u8) {
    let mut bytes = Vec::new();
    if !WITH_ERROR_CODE.contains(&vector) {
        bytes.extend([0x6a, 0]);
    }
    bytes.push(0x68);
    bytes.extend(u32::from(vector).to_le_bytes());
    let next = at + bytes.len() as u64 + 5;
    bytes.push(0xe9);
    bytes.extend((layout::FAULT as i32).wrapping_sub(next as i32).to_le_bytes());
    memory.put(at, &bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_are_those_of_the_manual() {
        assert_eq!(flat(CODE, FLAT64), 0x00af_9b00_0000_ffff);
        assert_eq!(flat(DATA | RING3, FLAT32), 0x00cf_f300_0000_ffff);
        assert_eq!(descriptor(0x1234_5678, 0xfff, DATA, 4), 0x1240_9334_5678_0fff);
    }

    #[test]
    fn the_pages_are_mapped_where_they_are() {
        let mut memory = Memory::new();
        pages(&mut memory);
        assert_eq!(memory.walk(layout::PAYLOAD + 0x123), Some(layout::PAYLOAD + 0x123));
        assert_eq!(memory.walk(layout::LAPIC + 0x300), Some(layout::LAPIC + 0x300));
        assert_eq!(memory.walk(0), None, "null pointers fault");
        assert_eq!(memory.walk(layout::BASE + layout::SIZE as u64), None);
        assert_eq!(memory.walk(layout::LAPIC + 0x1000), None);
    }

    #[test]
    fn a_stub_ends_at_the_report_whatever_it_pushes() {
        for vector in [3u8, 13] {
            let mut memory = Memory::new();
            let at = layout::STUBS + u64::from(vector) * layout::STUB_BYTES;
            stub(&mut memory, at, vector);
            let bytes = memory.get(at, layout::STUB_BYTES as usize);
            let pushes = if vector == 3 { 7 } else { 5 };
            let jump = i32::from_le_bytes(bytes[pushes + 1..pushes + 5].try_into().unwrap());
            assert_eq!(bytes[pushes], 0xe9);
            assert_eq!(at as i64 + pushes as i64 + 5 + i64::from(jump), layout::FAULT as i64);
        }
    }
}
