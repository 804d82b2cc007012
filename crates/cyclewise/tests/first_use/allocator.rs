//! The C library's allocator under its own names, where it can be interrupted and can be empty.

use super::{EMPTY, INSIDE, INTERRUPT, SeqCst, raise};
use std::ffi::c_void;
use std::ptr::null_mut;

/// False where there is no memory.
fn enter() -> bool {
    if INSIDE.get() {
        const SAYS: &[u8] = b"the allocator is used in a handler that interrupted it\n";
        // SAFETY: reads as many bytes as there are.
        unsafe { libc::write(2, SAYS.as_ptr().cast(), SAYS.len()) };
        // SAFETY: ends the process.
        unsafe { libc::abort() };
    }
    if INTERRUPT.replace(false) {
        INSIDE.set(true);
        raise(libc::SIGUSR1);
        INSIDE.set(false);
    }
    !EMPTY.load(SeqCst)
}

macro_rules! forward {
    ($($name:ident($($arg:ident: $type:ty),*) -> $real:ident;)*) => {
        unsafe extern "C" { $(fn $real($($arg: $type),*) -> *mut c_void;)* }
        $(
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name($($arg: $type),*) -> *mut c_void {
                // SAFETY: the caller's arguments.
                if enter() { unsafe { $real($($arg),*) } } else { null_mut() }
            }
        )*
    };
}

forward! {
    malloc(size: usize) -> __libc_malloc;
    calloc(count: usize, size: usize) -> __libc_calloc;
    realloc(at: *mut c_void, size: usize) -> __libc_realloc;
    memalign(align: usize, size: usize) -> __libc_memalign;
}

#[unsafe(no_mangle)]
unsafe extern "C" fn aligned_alloc(align: usize, size: usize) -> *mut c_void {
    // SAFETY: the caller's arguments.
    unsafe { memalign(align, size) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn posix_memalign(to: *mut *mut c_void, align: usize, size: usize) -> i32 {
    // SAFETY: the caller's arguments.
    let at = unsafe { memalign(align, size) };
    if at.is_null() {
        return libc::ENOMEM;
    }
    // SAFETY: the caller's place.
    unsafe { to.write(at) };
    0
}

unsafe extern "C" {
    fn __libc_free(at: *mut c_void);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn free(at: *mut c_void) {
    if !at.is_null() {
        enter();
    }
    // SAFETY: the caller's memory.
    unsafe { __libc_free(at) };
}
