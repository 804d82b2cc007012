//! The registers that a vCPU starts with: what the boot code would leave, set at once.

use crate::arch::boot;
use crate::arch::payload::Mode;
use crate::image::idt_limit;
use crate::layout;
use kvm_bindings::{kvm_regs, kvm_segment, kvm_sregs};

/// Flags: bit 1 is always set.
const NO_FLAGS: u64 = 2;
/// EFER: system calls by instruction, long mode enabled and active.
const EFER_LONG: u64 = 0x501;
/// CR4: physical addresses of 64-bit tables.
const CR4_PAE: u64 = 0x20;
/// CR4: SSE, and its exceptions.
const CR4_SSE: u64 = 0x600;
/// CR4: RDGSBASE and WRGSBASE.
const CR4_FSGSBASE: u64 = 1 << 16;

/// The runtime's start, with a stack.
pub(super) fn general() -> kvm_regs {
    kvm_regs {
        rip: layout::START,
        rsp: layout::STACK_TOP,
        rflags: NO_FLAGS,
        ..kvm_regs::default()
    }
}

/// The state that the boot code would set, on top of a vCPU's reset state.
pub(super) fn special(reset: kvm_sregs, mode: Mode) -> kvm_sregs {
    let mut s = reset;
    let (code, stack, data, task) = match mode {
        Mode::Long => {
            let data = segment(layout::KERNEL_DS, 3);
            (
                segment(layout::KERNEL_CS, 11),
                data,
                data,
                (layout::TSS64_SELECTOR, layout::TSS64),
            )
        }
        Mode::Protected => {
            let (stack, data) = (segment(layout::KERNEL_DS32, 3), segment(layout::USER_DS, 3));
            (
                segment(layout::KERNEL_CS32, 11),
                stack,
                data,
                (layout::TSS32_SELECTOR, layout::TSS32),
            )
        }
    };
    let null = kvm_segment {
        unusable: 1,
        ..kvm_segment::default()
    };
    (s.cs, s.ss, s.ds, s.es, s.fs, s.gs, s.ldt) = (code, stack, data, data, null, null, null);
    s.tr = kvm_segment {
        base: task.1,
        limit: 0x67,
        selector: task.0,
        type_: 11, // busy task state
        present: 1,
        ..kvm_segment::default()
    };
    (s.gdt.base, s.gdt.limit) = (layout::GDT, layout::GDT_BYTES - 1);
    (s.idt.base, s.idt.limit) = (layout::IDT, idt_limit(mode));
    (s.cr2, s.cr8) = (0, 0);
    match mode {
        Mode::Long => {
            s.cs.l = 1;
            s.cs.db = 0;
            s.cr3 = layout::PML4;
            s.cr4 = CR4_PAE | CR4_SSE | if has_fsgsbase() { CR4_FSGSBASE } else { 0 };
            s.cr0 = boot::CR0_LONG.into();
            s.efer = EFER_LONG;
        }
        Mode::Protected => {
            (s.cr3, s.efer) = (0, 0);
            s.cr4 = CR4_SSE;
            s.cr0 = boot::CR0_PROTECTED.into();
        }
    }
    s.interrupt_bitmap = [0; 4];
    s
}

/// Whether the CPU has RDGSBASE: CPUID 7, EBX bit 0.
fn has_fsgsbase() -> bool {
    use core::arch::x86_64::{__cpuid, __cpuid_count};
    __cpuid(0).eax >= 7 && __cpuid_count(7, 0).ebx & 1 != 0
}

/// A flat segment, as the descriptor of the selector says.
fn segment(selector: u16, kind: u8) -> kvm_segment {
    kvm_segment {
        base: 0,
        limit: u32::MAX,
        selector,
        type_: kind,
        present: 1,
        dpl: (selector & 3) as u8,
        db: 1,
        s: 1,
        l: 0,
        g: 1,
        avl: 0,
        unusable: 0,
        padding: 0,
    }
}
