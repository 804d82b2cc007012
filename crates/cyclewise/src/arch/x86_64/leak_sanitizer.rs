//! LeakSanitizer's functions that tell it of memory with references that no allocator gave out, where its runtime is linked.
//!
//! The references are weak: null without the runtime.
//!
//! # References
//! compiler-rt, include/sanitizer/lsan_interface.h.
//!
//! # Safety
//! 1. Where the symbols are defined, they have the types of that header.
#![expect(unsafe_code, reason = "stable Rust has no weak symbols")]

use super::weak::weak;

/// Registers a region, or takes it back.
type Function = unsafe extern "C" fn(*const u8, usize);

/// `__lsan_register_root_region` and `__lsan_unregister_root_region`, if they are linked.
#[inline(never)]
pub(crate) fn root_region() -> Option<[Function; 2]> {
    let register = weak!("__lsan_register_root_region" as ());
    let unregister = weak!("__lsan_unregister_root_region" as ());
    if register.is_null() || unregister.is_null() {
        return None;
    }
    // SAFETY: not null, so it is the runtime's function (Invariant 1).
    let function = |at| unsafe { core::mem::transmute::<*mut (), Function>(at) };
    Some([function(register), function(unregister)])
}
