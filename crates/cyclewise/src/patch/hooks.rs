//! The C library's functions that create threads, with LOCK restored before each.
//!
//! glibc creates threads in the functions of `__thread_creators!`, each of which calls an internal function and not its
//! exported neighbour, so each has its own hook. The functions here are not exported: `enable_single!` defines the
//! exported ones in the final program, and they lead here. A library that uses only the types defines no hook.
//!
//! Who creates threads by another way than these names, inside the C library, comes to `tls_hooks`.
//!
//! Not hooked are what runs no code of this program beside it: fork (another process, its own text), vfork, posix_spawn,
//! system and popen (the caller waits until the child has called exec or has ended), and threads of the kernel.
//!
//! # Invariants
//! 1. A hook is counted as creating until the real function has returned, and looks at the mode after it is counted.
//! 2. Where LOCK cannot be restored, the real function is not called, and the caller is told to try again.
//! 3. A name that nothing in the process defines needs no hook, while `pthread_create` is hooked and the C library's is
//!    there behind it. It is so in glibc before 2.34, whose timers, queues, asynchronous I/O and name look-ups are in
//!    libraries of their own, and before 2.28, which has no `thrd_create`. A library that is loaded later and defines the
//!    name creates its threads by the name `pthread_create`, as they all do: it is the only one that it could be bound to.
//!
//! # Cost
//! With LOCK in force: two locked additions and two loads per call.
//!
//! # References
//! glibc 2.36: nptl/pthread_create.c, nptl/thrd_create.c, sysdeps/unix/sysv/linux/timer_create.c and mq_notify.c,
//! rt/aio_misc.c, rt/lio_listio-common.c, resolv/gai_misc.c. glibc 2.31: librt and libanl need `pthread_create` of others.
//!
//! # Sanitizers
//! A hook displaces the interceptor that AddressSanitizer and ThreadSanitizer define under its name, and they go wrong where
//! a thread starts that they did not see. So a hook calls the interceptor, which calls the C library's function.
//!
//! # Safety
//! 1. A function that dlsym finds under one of these names is the C library's, or one of the same type in its place, and
//!    so is the interceptor that the linker finds.
//! 2. Arguments are handed on as they came; the contract is the C library's.
#![expect(unsafe_code, reason = "hands calls on to functions that dlsym found")]

use super::mode_lock::{HELPER_THREADS, ThreadCreation};
use super::single::before_thread;
use super::tls_hooks::{InHook, TlsHooks};
use crate::arch::interceptor::interceptor;
use crate::error::Refusal;
use crate::sys::{dl, symbol_versions, thread};
use core::ffi::{CStr, c_int, c_void};
use core::sync::atomic::{AtomicPtr, Ordering};

/// The table: a function's parameters; when it creates a thread; what it says where it could not.
#[doc(hidden)]
#[macro_export]
macro_rules! __thread_creators {
    ($($then:tt)*) => {
        $($then)*! {
            pthread_create(
                id: *mut ::core::ffi::c_void, attributes: *const ::core::ffi::c_void,
                start: ::core::option::Option<unsafe extern "C" fn(*mut ::core::ffi::c_void) -> *mut ::core::ffi::c_void>,
                argument: *mut ::core::ffi::c_void
            ) if true, else libc::EAGAIN;
            thrd_create(
                id: *mut ::core::ffi::c_void,
                start: ::core::option::Option<unsafe extern "C" fn(*mut ::core::ffi::c_void) -> ::core::ffi::c_int>,
                argument: *mut ::core::ffi::c_void
            ) if true, else THRD_ERROR;
            timer_create(
                clock: ::core::ffi::c_int, event: *mut ::core::ffi::c_void, timer: *mut ::core::ffi::c_void
            ) if by_thread(event), else try_again();
            mq_notify(
                queue: ::core::ffi::c_int, event: *const ::core::ffi::c_void
            ) if by_thread(event), else try_again();
            aio_read(control: *mut ::core::ffi::c_void) if true, else try_again();
            aio_read64(control: *mut ::core::ffi::c_void) if true, else try_again();
            aio_write(control: *mut ::core::ffi::c_void) if true, else try_again();
            aio_write64(control: *mut ::core::ffi::c_void) if true, else try_again();
            aio_fsync(
                operation: ::core::ffi::c_int, control: *mut ::core::ffi::c_void
            ) if true, else try_again();
            aio_fsync64(
                operation: ::core::ffi::c_int, control: *mut ::core::ffi::c_void
            ) if true, else try_again();
            lio_listio(
                mode: ::core::ffi::c_int, list: *const *mut ::core::ffi::c_void, length: ::core::ffi::c_int,
                event: *mut ::core::ffi::c_void
            ) if true, else try_again();
            lio_listio64(
                mode: ::core::ffi::c_int, list: *const *mut ::core::ffi::c_void, length: ::core::ffi::c_int,
                event: *mut ::core::ffi::c_void
            ) if true, else try_again();
            getaddrinfo_a(
                mode: ::core::ffi::c_int, list: *mut *mut ::core::ffi::c_void, length: ::core::ffi::c_int,
                event: *mut ::core::ffi::c_void
            ) if true, else libc::EAI_AGAIN;
        }
    };
}

/// `thrd_error` of C11, in glibc's threads.h.
const THRD_ERROR: c_int = 2;

/// Whether the `struct sigevent` asks for a thread.
fn by_thread(event: *const c_void) -> bool {
    // SAFETY: the hooks that ask are given null or a `struct sigevent` (Invariant 2).
    unsafe { thread::notifies_by_thread(event) }
}

/// The failure of functions that set errno.
fn try_again() -> c_int {
    thread::set_errno(libc::EAGAIN);
    -1
}

/// Whether threads that come by this name come through a hook, where the process is bound to `bound` (Invariant 3).
fn watched(name: &str, bound: *const c_void, is_ours: bool) -> bool {
    is_ours || bound.is_null() && name != "pthread_create"
}

/// The function behind a hook, found when it is first called: a sanitizer's, which hands on to the C library's, or that.
struct Real(AtomicPtr<c_void>);

impl Real {
    fn find(&self, name: &CStr) -> *mut c_void {
        // Relaxed: every thread finds the same address, and nothing else is published with it.
        let mut real = self.0.load(Ordering::Relaxed);
        if real.is_null() {
            real = interceptor(name);
            if real.is_null() {
                real = dl::next(name);
            }
            self.0.store(real, Ordering::Relaxed);
        }
        real
    }
}

const fn c_name(name: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(name.as_bytes()) {
        Ok(name) => name,
        Err(_) => c"",
    }
}

macro_rules! forward {
    ($($name:ident($($argument:ident: $type:ty),*) if $creates:expr, else $failure:expr;)*) => {
        /// The hooks that a program exports.
        #[derive(Debug)]
        pub struct Hooks {
            /// What sees threads that come past the others.
            pub tls: TlsHooks,
            $(
                #[doc = concat!("Its `", stringify!($name), "`.")]
                pub $name: unsafe extern "C" fn($($type),*) -> c_int,
            )*
        }

        impl Hooks {
            /// Whether the process is bound to each of these.
            ///
            /// In a shared object the linker binds `self`'s fields as it binds every use of the names: to the first
            /// definition, which may be another unit's. So a definition has to be in this link unit as well, which has
            /// room for one of each name.
            pub(super) fn in_force(&self) -> Result<(), Refusal> {
                // Libraries ask for the C library's version, and would pass by one of the program's own.
                let versioned = symbol_versions::defined_with(self.pthread_create as *const c_void);
                if versioned || dl::next(c"pthread_create").is_null() {
                    return Err(Refusal::NotInForce { hook: "pthread_create" });
                }
                $(
                    let bound = dl::bound(c_name(concat!(stringify!($name), "\0"))).cast_const();
                    let is_ours = bound == self.$name as *const c_void && dl::is_ours(bound);
                    if !watched(stringify!($name), bound, is_ours) {
                        return Err(Refusal::NotInForce { hook: stringify!($name) });
                    }
                )*
                self.tls.in_force()
            }
        }

        $(
            #[doc = concat!("Restores LOCK, then calls the C library's `", stringify!($name), "`.")]
            ///
            /// # Safety
            /// The C library's contract.
            pub unsafe fn $name($($argument: $type),*) -> c_int {
                static REAL: Real = Real(AtomicPtr::new(core::ptr::null_mut()));
                let (creating, in_hook) = (ThreadCreation::begin(), InHook::new());
                if $creates && !matches!(stringify!($name), "pthread_create" | "thrd_create") {
                    // SeqCst: seen by who looks after the count of creators has come to zero.
                    HELPER_THREADS.store(true, Ordering::SeqCst);
                }
                if $creates && before_thread().is_err() {
                    return $failure;
                }
                let real = REAL.find(c_name(concat!(stringify!($name), "\0")));
                if real.is_null() {
                    return $failure;
                }
                // SAFETY: Invariant 1.
                let real = unsafe {
                    core::mem::transmute::<*mut c_void, unsafe extern "C" fn($($type),*) -> c_int>(real)
                };
                // SAFETY: Invariant 2.
                let answer = unsafe { real($($argument),*) };
                drop((in_hook, creating));
                answer
            }
        )*
    };
}
__thread_creators!(forward);

/// Defines and exports the hooks and the net behind them, and the static `HOOKS` that lists them.
#[doc(hidden)]
#[macro_export]
macro_rules! __export_hooks {
    ($($name:ident($($argument:ident: $type:ty),*) if $creates:expr, else $failure:expr;)*) => {
        $(
            // Not inlined: in a shared object a call of this name goes to the process's hook, which may be another.
            #[inline(never)]
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name($($argument: $type),*) -> ::core::ffi::c_int {
                // SAFETY: the contract is the C library's, and passes through.
                unsafe { $crate::patch::hooks::$name($($argument),*) }
            }
        )*
        #[inline(never)]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn _dl_allocate_tls(memory: *mut ::core::ffi::c_void) -> *mut ::core::ffi::c_void {
            // SAFETY: the contract is the dynamic linker's, and passes through.
            unsafe { $crate::patch::tls_hooks::allocate(memory) }
        }
        #[inline(never)]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn _dl_allocate_tls_init(
            block: *mut ::core::ffi::c_void, is_main: usize
        ) -> *mut ::core::ffi::c_void {
            // SAFETY: the contract is the dynamic linker's, and passes through.
            unsafe { $crate::patch::tls_hooks::init(block, is_main) }
        }
        static HOOKS: $crate::patch::hooks::Hooks = $crate::patch::hooks::Hooks {
            tls: $crate::patch::tls_hooks::TlsHooks { allocate: _dl_allocate_tls, init: _dl_allocate_tls_init },
            $($name),*
        };
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_nobody_defines_needs_no_hook_but_for_pthread_create() {
        let (theirs, none) = (core::ptr::dangling(), core::ptr::null());
        for name in ["timer_create", "getaddrinfo_a", "thrd_create"] {
            assert!(watched(name, theirs, true) && watched(name, none, false), "{name}");
            assert!(!watched(name, theirs, false), "{name} of somebody else");
        }
        assert!(watched("pthread_create", theirs, true));
        assert!(!watched("pthread_create", theirs, false) && !watched("pthread_create", none, false));
    }
}
