//! What a program may have or not: a sanitizer's interceptors of C library functions, and the hooks of a program in C.
//!
//! AddressSanitizer and ThreadSanitizer must see each thread's start. Their `pthread_create` is weak, so a definition
//! in the program, such as a hook, replaces it; the name used here still reaches it. Clang and rustc link the runtime
//! into the program and export none of these names, so the dynamic linker cannot find them. Where the runtime is a
//! shared library, the same reference is bound to it.
//!
//! The reference to the hooks' table makes linkers export it from the program, and is bound before any initializer runs.
//!
//! # References
//! LLVM compiler-rt/lib/interception/interception.h.
//!
//! # Safety
//! 1. The addresses are read and not called here. A caller follows the C library's contract.
#![expect(unsafe_code, reason = "stable Rust has no weak symbols")]

use super::weak::weak;
use core::ffi::{CStr, c_void};

/// The sanitizer's function to call in place of the C library's `name`, or null. Runtimes intercept only these two of
/// the functions that create threads.
pub(crate) fn interceptor(name: &CStr) -> *mut c_void {
    match name.to_bytes() {
        b"pthread_create" => weak!("__interceptor_pthread_create" as c_void),
        b"timer_create" => weak!("__interceptor_timer_create" as c_void),
        _ => core::ptr::null_mut(),
    }
}

/// The table in `cyclewise-hooks.o`, or null.
pub(crate) fn hooks_of_c_program() -> *const c_void {
    weak!("cw_hooks_table" as c_void)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runtime_that_intercepts_join_intercepts_create() {
        let joins = weak!("__interceptor_pthread_join" as c_void);
        assert_eq!(interceptor(c"pthread_create").is_null(), joins.is_null());
        assert!(interceptor(c"thrd_create").is_null());
    }
}
