//! Whether this program is one of `.ci/asan`: AddressSanitizer's runtime has frames, threads and an allocator of its own.

#![allow(unreachable_pub, reason = "a program may include this file alone")]

pub fn is_asan() -> bool {
    // SAFETY: a C string.
    !unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__asan_init".as_ptr()) }.is_null()
}
