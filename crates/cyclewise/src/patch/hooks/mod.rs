//! Hooks on the C library's functions that create threads: each restores LOCK first.
//!
//! glibc creates threads in the functions of `__thread_creators!`. Each calls an internal function, not its exported
//! neighbour, so each has its own hook. The functions here are not exported: `enable_single!` defines the exported ones
//! in the final program, and they call these. A library that uses only the types defines no hook. Threads that the C
//! library creates by another path are caught by `tls`.
//!
//! Functions that run none of this program's code in parallel are not hooked: fork (another process with its own text),
//! vfork, posix_spawn, system and popen (the caller waits until the child has called exec or has ended). Nor are
//! threads of the kernel.
//!
//! A hook forwards to the definition that comes next in the search order: the C library's, or the wrapper of a tracing tool, which
//! is preloaded or linked between them and sees every thread as it does without hooks.
//!
//! # Invariants
//! 1. A hook is counted as creating until the real function has returned, and reads the mode after it is counted.
//! 2. Where LOCK cannot be restored, the real function is not called, and the caller gets an error that means "try
//!    again".
//! 3. A name that nothing in the process defines needs no hook, while `pthread_create` is hooked and forwards to the C
//!    library's. This is so in glibc before 2.34, whose timers, queues, asynchronous I/O and name look-ups are in
//!    separate libraries, and before 2.28, which has no `thrd_create`. A library loaded later that defines such a name
//!    creates its threads by the name `pthread_create`, the only one it can be bound to.
//!
//! # Cost
//! With LOCK in force: two locked additions and two loads per call.
//!
//! # References
//! glibc 2.36: nptl/pthread_create.c, nptl/thrd_create.c, sysdeps/unix/sysv/linux/timer_create.c and mq_notify.c,
//! rt/aio_misc.c, rt/lio_listio-common.c, resolv/gai_misc.c. glibc 2.31: librt and libanl import `pthread_create`.
//!
//! # Sanitizers
//! A hook displaces the interceptor that AddressSanitizer and ThreadSanitizer define under its name, and they fail when
//! a thread starts that they did not see. So a hook calls the interceptor, which calls the C library's function.
//!
//! # Safety
//! 1. A function that dlsym finds under one of these names is the C library's or a replacement of the same type. So is
//!    the interceptor that the linker finds.
//! 2. Arguments are forwarded unchanged, under the C library's contract.
#![expect(unsafe_code, reason = "forwards calls to functions that dlsym found")]

mod before_thread;
pub mod tls;

use super::mode_lock::{HELPER_THREADS, OWN_AFFINITIES, ThreadCreation};
use crate::arch::weak_symbol::{self, interceptor};
use crate::error::Refusal;
use crate::sys::{dl, errno, process, sigevent, symbol_versions, thread_attributes};
use before_thread::before_thread;
use core::ffi::{CStr, c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use tls::{InHook, TlsHooks};

/// The table: a function's parameters, which thread it creates, and what it returns on failure.
#[doc(hidden)]
#[macro_export]
macro_rules! __thread_creators {
    ($($then:tt)*) => {
        $($then)*! {
            pthread_create(
                id: *mut ::core::ffi::c_void, attributes: *const ::core::ffi::c_void,
                start: ::core::option::Option<unsafe extern "C" fn(*mut ::core::ffi::c_void) -> *mut ::core::ffi::c_void>,
                argument: *mut ::core::ffi::c_void
            ) if with(attributes), else libc::EAGAIN;
            thrd_create(
                id: *mut ::core::ffi::c_void,
                start: ::core::option::Option<unsafe extern "C" fn(*mut ::core::ffi::c_void) -> ::core::ffi::c_int>,
                argument: *mut ::core::ffi::c_void
            ) if with(core::ptr::null()), else THRD_ERROR;
            timer_create(
                clock: ::core::ffi::c_int, event: *mut ::core::ffi::c_void, timer: *mut ::core::ffi::c_void
            ) if by_thread(event), else try_again();
            mq_notify(
                queue: ::core::ffi::c_int, event: *const ::core::ffi::c_void
            ) if by_thread(event), else try_again();
            aio_read(control: *mut ::core::ffi::c_void) if Creates::Helper, else try_again();
            aio_read64(control: *mut ::core::ffi::c_void) if Creates::Helper, else try_again();
            aio_write(control: *mut ::core::ffi::c_void) if Creates::Helper, else try_again();
            aio_write64(control: *mut ::core::ffi::c_void) if Creates::Helper, else try_again();
            aio_fsync(
                operation: ::core::ffi::c_int, control: *mut ::core::ffi::c_void
            ) if Creates::Helper, else try_again();
            aio_fsync64(
                operation: ::core::ffi::c_int, control: *mut ::core::ffi::c_void
            ) if Creates::Helper, else try_again();
            lio_listio(
                mode: ::core::ffi::c_int, list: *const *mut ::core::ffi::c_void, length: ::core::ffi::c_int,
                event: *mut ::core::ffi::c_void
            ) if Creates::Helper, else try_again();
            lio_listio64(
                mode: ::core::ffi::c_int, list: *const *mut ::core::ffi::c_void, length: ::core::ffi::c_int,
                event: *mut ::core::ffi::c_void
            ) if Creates::Helper, else try_again();
            getaddrinfo_a(
                mode: ::core::ffi::c_int, list: *mut *mut ::core::ffi::c_void, length: ::core::ffi::c_int,
                event: *mut ::core::ffi::c_void
            ) if Creates::Helper, else libc::EAI_AGAIN;
        }
    };
}

/// `thrd_error` of C11, in glibc's threads.h.
const THRD_ERROR: c_int = 2;

/// Which thread a call creates.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Creates {
    None,
    /// One of the C library's own, which creates others for the program.
    Helper,
    /// One with its creator's affinity.
    Thread,
    /// One with another affinity.
    ThreadElsewhere,
}

/// What the `struct sigevent` asks for.
fn by_thread(event: *const c_void) -> Creates {
    // SAFETY: the hooks that call this receive null or a `struct sigevent` (Invariant 2).
    if unsafe { sigevent::notifies_by_thread(event) } {
        Creates::Helper
    } else {
        Creates::None
    }
}

/// A thread with these attributes, or the default ones if null.
fn with(attributes: *const c_void) -> Creates {
    // SAFETY: the hooks that call this receive null or a `pthread_attr_t` (Invariant 2).
    if unsafe { thread_attributes::own_affinity(attributes) } {
        // SeqCst: before the mode is read; pairs with `confined`, which writes the mode first.
        OWN_AFFINITIES.fetch_add(1, Ordering::SeqCst);
        Creates::ThreadElsewhere
    } else {
        Creates::Thread
    }
}

/// The failure of functions that set errno.
fn try_again() -> c_int {
    errno::set(libc::EAGAIN);
    -1
}

/// Whether threads created by this name pass through a hook, if the process binds the name to `bound` (Invariant 3).
fn watched(name: &str, bound: *const c_void, is_ours: bool) -> bool {
    is_ours || bound.is_null() && name != "pthread_create"
}

/// Whether a dynamic linker has loaded this program: without one, nothing tells whether hooks are in force.
pub fn has_dynamic_linker() -> bool {
    !dl::is_static()
}

/// The table of the hooks that a C program has, whether its constructors have run or not; null without one.
pub fn table_of_c_program() -> *const c_void {
    weak_symbol::hooks_of_c_program()
}

pub use crate::sys::dl::{Next, next_from_here};

/// What a hook forwards to, found at its first call. Each hook has one of its own, since another link unit may have hooks too:
/// then one hook is behind the other.
#[repr(C)]
#[derive(Debug)]
pub struct Behind {
    /// Of the hook's link unit.
    next: Next,
    /// A sanitizer's interceptor if there is one, else the next definition; null before the first call.
    function: AtomicPtr<c_void>,
}

impl Behind {
    /// Of a hook in the link unit of `next`.
    pub const fn new(next: Next) -> Self {
        Self {
            next,
            function: AtomicPtr::new(core::ptr::null_mut()),
        }
    }

    /// The function; null, which is said once, where there is none.
    pub(super) fn find(&self, name: &CStr) -> *mut c_void {
        // Relaxed: every thread finds the same address, and nothing else is published with it.
        let mut found = self.function.load(Ordering::Relaxed);
        if found.is_null() {
            found = interceptor(name);
            if found.is_null() {
                found = dl::behind(self.next, name);
            }
            if found.is_null() {
                static SAID: AtomicBool = AtomicBool::new(false);
                // Relaxed: a flag of its own.
                if !SAID.swap(true, Ordering::Relaxed) {
                    let name = name.to_str().unwrap_or_default();
                    process::say(format_args!(
                        "cyclewise: no thread can be created: the dynamic linker finds no function behind the hook {name}\n"
                    ));
                }
            }
            self.function.store(found, Ordering::Relaxed);
        }
        found
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
            /// Catches threads that bypass the other hooks.
            pub tls: TlsHooks,
            /// Of the link unit that defines these, which is known by its address: the program, or an object that is preloaded,
            /// beside the shared library that it is linked with.
            pub next: Next,
            $(
                #[doc = concat!("The program's `", stringify!($name), "`.")]
                pub $name: unsafe extern "C" fn($($type),*) -> c_int,
            )*
        }

        impl Hooks {
            /// Checks that the process is bound to each of these.
            ///
            /// In a shared object the linker binds `self`'s fields like every use of the names: to the first
            /// definition, which may be in another unit. So this also checks that the definition is in this link unit,
            /// which can have only one of each name.
            pub(super) fn in_force(&self) -> Result<(), Refusal> {
                // Libraries request the C library's symbol version, so a version of the program's own would not match.
                let versioned = symbol_versions::defined_with(self.pthread_create as *const c_void);
                if versioned {
                    return Err(Refusal::NotInForce { hook: "pthread_create" });
                }
                for (hook, name) in [
                    ("pthread_create", c"pthread_create"),
                    ("_dl_allocate_tls", tls::ALLOCATE),
                    ("_dl_allocate_tls_init", tls::INIT),
                ] {
                    if dl::behind(self.next, name).is_null() {
                        return Err(Refusal::NothingBehind { hook });
                    }
                }
                $(
                    let bound = dl::bound_by_program(c_name(concat!(stringify!($name), "\0"))).cast_const();
                    let is_ours = bound == self.$name as *const c_void && self.owns(bound);
                    if !watched(stringify!($name), bound, is_ours) {
                        return Err(Refusal::NotInForce { hook: stringify!($name) });
                    }
                )*
                self.tls.in_force(|bound| self.owns(bound))
            }

            /// Whether a definition is in the link unit that has these hooks.
            fn owns(&self, definition: *const c_void) -> bool {
                dl::are_in_one_unit(self.next as *const c_void, definition)
            }
        }

        $(
            #[doc = concat!("Restores LOCK, then calls the `", stringify!($name), "` behind the hook.")]
            ///
            /// # Safety
            /// The C library's contract, and `behind` is of the hook of this name alone.
            pub unsafe fn $name(behind: &Behind, $($argument: $type),*) -> c_int {
                // Before it is counted: this waits for the dynamic linker, and confined mode waits for who is counted.
                let real = behind.find(c_name(concat!(stringify!($name), "\0")));
                let (creating, in_hook) = (ThreadCreation::begin(), InHook::new());
                let creates = $creates;
                if creates == Creates::Helper {
                    // SeqCst: visible to a thread that reads it after the count of creators has reached zero.
                    HELPER_THREADS.store(true, Ordering::SeqCst);
                }
                if creates != Creates::None && before_thread(creates == Creates::ThreadElsewhere).is_err() {
                    return $failure;
                }
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

/// Defines and exports all hooks, and the static `HOOKS` that lists them.
#[doc(hidden)]
#[macro_export]
macro_rules! __export_hooks {
    ($($name:ident($($argument:ident: $type:ty),*) if $creates:expr, else $failure:expr;)*) => {
        // In this link unit, so not inlined elsewhere.
        #[inline(never)]
        unsafe extern "C" fn next(name: *const $crate::__core::ffi::c_char) -> *mut $crate::__core::ffi::c_void {
            // SAFETY: the caller's C string.
            unsafe { $crate::patch::hooks::next_from_here(name) }
        }
        $(
            // Not inlined: in a shared object a call by this name goes to the process's hook, which may be another one.
            #[inline(never)]
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name($($argument: $type),*) -> ::core::ffi::c_int {
                static BEHIND: $crate::patch::hooks::Behind = $crate::patch::hooks::Behind::new(next);
                // SAFETY: the caller's contract is the C library's.
                unsafe { $crate::patch::hooks::$name(&BEHIND, $($argument),*) }
            }
        )*
        #[inline(never)]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn _dl_allocate_tls(memory: *mut ::core::ffi::c_void) -> *mut ::core::ffi::c_void {
            static BEHIND: $crate::patch::hooks::Behind = $crate::patch::hooks::Behind::new(next);
            // SAFETY: the caller's contract is the dynamic linker's.
            unsafe { $crate::patch::hooks::tls::allocate(&BEHIND, memory) }
        }
        #[inline(never)]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn _dl_allocate_tls_init(
            block: *mut ::core::ffi::c_void, is_main: usize
        ) -> *mut ::core::ffi::c_void {
            static BEHIND: $crate::patch::hooks::Behind = $crate::patch::hooks::Behind::new(next);
            // SAFETY: the caller's contract is the dynamic linker's.
            unsafe { $crate::patch::hooks::tls::init(&BEHIND, block, is_main) }
        }
        static HOOKS: $crate::patch::hooks::Hooks = $crate::patch::hooks::Hooks {
            tls: $crate::patch::hooks::tls::TlsHooks { allocate: _dl_allocate_tls, init: _dl_allocate_tls_init },
            next,
            $($name),*
        };
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undefined_names_except_pthread_create_need_no_hook() {
        let (theirs, none) = (core::ptr::dangling(), core::ptr::null());
        for name in ["timer_create", "getaddrinfo_a", "thrd_create"] {
            assert!(watched(name, theirs, true) && watched(name, none, false), "{name}");
            assert!(!watched(name, theirs, false), "{name} from another unit");
        }
        assert!(watched("pthread_create", theirs, true));
        assert!(!watched("pthread_create", theirs, false) && !watched("pthread_create", none, false));
    }
}
