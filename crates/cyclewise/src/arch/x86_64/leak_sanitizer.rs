//! LeakSanitizer's functions that tell it of memory with references that no allocator gave out, where its runtime is linked.
//!
//! The references are weak: null without the runtime.
//!
//! # References
//! compiler-rt, include/sanitizer/lsan_interface.h; System V ABI, AMD64, 4.4 (GOTPCREL).
//!
//! # Safety
//! 1. Where the symbols are defined, they have the types of that header.
#![expect(unsafe_code, reason = "stable Rust has no weak symbols")]

use core::arch::asm;

/// Registers a region, or takes it back.
type Function = unsafe extern "C" fn(*const u8, usize);

/// `__lsan_register_root_region` and `__lsan_unregister_root_region`, if they are linked.
#[inline(never)]
pub(crate) fn root_region() -> Option<[Function; 2]> {
    let (register, unregister): (*const (), *const ());
    // SAFETY: computes two addresses, null for an undefined symbol.
    unsafe {
        asm!(
            ".weak __lsan_register_root_region",
            ".weak __lsan_unregister_root_region",
            "mov {register}, qword ptr [rip + __lsan_register_root_region@GOTPCREL]",
            "mov {unregister}, qword ptr [rip + __lsan_unregister_root_region@GOTPCREL]",
            register = out(reg) register,
            unregister = out(reg) unregister,
            options(pure, nomem, nostack, preserves_flags),
        )
    };
    if register.is_null() || unregister.is_null() {
        return None;
    }
    // SAFETY: not null, so it is the runtime's function (Invariant 1).
    let function = |at| unsafe { core::mem::transmute::<*const (), Function>(at) };
    Some([function(register), function(unregister)])
}
