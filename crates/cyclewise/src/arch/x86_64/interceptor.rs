//! The functions that a sanitizer's runtime puts before the C library's, where the program is linked to one.
//!
//! AddressSanitizer and ThreadSanitizer have to see each thread's start. Their definition of `pthread_create` is weak and
//! gives way to a definition in the program, such as a hook's; under the name asked for here it stays within reach.
//! Clang and rustc link the runtime into the program and export none of these names, so the dynamic linker does not know
//! them. Where the runtime is a library of its own, the same reference is bound to it.
//!
//! # References
//! LLVM compiler-rt/lib/interception/interception.h; gABI, STB_WEAK; System V ABI, AMD64, 4.4 (GOTPCREL).
//!
//! # Safety
//! 1. The addresses are read and not followed here: who calls one has the C library's contract for it.
#![expect(unsafe_code, reason = "stable Rust has no weak symbols")]

use core::arch::asm;
use core::ffi::{CStr, c_void};

macro_rules! weak {
    ($symbol:literal) => {{
        let at: *mut c_void;
        // SAFETY: reads an address that the linker has filled in, null for a symbol that nobody defines (Invariant 1).
        unsafe {
            asm!(
                concat!(".weak ", $symbol),
                concat!("mov {at}, qword ptr [rip + ", $symbol, "@GOTPCREL]"),
                at = out(reg) at,
                options(pure, nomem, nostack, preserves_flags),
            )
        };
        at
    }};
}

/// The function of a sanitizer that has to be called in place of the C library's `name`; null where there is none. Of the
/// functions that create threads, runtimes intercept these two.
pub(crate) fn interceptor(name: &CStr) -> *mut c_void {
    match name.to_bytes() {
        b"pthread_create" => weak!("__interceptor_pthread_create"),
        b"timer_create" => weak!("__interceptor_timer_create"),
        _ => core::ptr::null_mut(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runtime_that_checks_joins_has_the_function_that_creates() {
        let joins = weak!("__interceptor_pthread_join");
        assert_eq!(interceptor(c"pthread_create").is_null(), joins.is_null());
        assert!(interceptor(c"thrd_create").is_null());
    }
}
