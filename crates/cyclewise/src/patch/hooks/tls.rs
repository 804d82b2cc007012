//! Hooks on thread-local storage: they catch threads whose creators bypass the hooks of thread creation.
//!
//! Some callers are not bound to a hook by name: an allocator that looks up the next definition behind its own
//! (`dlsym(RTLD_NEXT, ..)`, as jemalloc does for `pthread_create`), a library that uses the C library's handle or is
//! loaded with RTLD_DEEPBIND, glibc's helper threads that create others. But each thread of glibc gets its thread-local
//! storage from one of two functions of the dynamic linker, and libc.so is bound to those by name. So the program
//! defines both: they restore LOCK and forward the call.
//!
//! # Invariants
//! 1. The creating thread calls one of them before it blocks signals for clone, and before clone.
//! 2. A call from inside a hook is counted by that hook until the thread exists. Any other is an unhooked creation.
//!    Either restores LOCK.
//! 3. An unhooked creation is not counted until the thread exists. So its creator never elides again: a signal handler
//!    on it might elide between here and clone. No other thread can elide meanwhile, because the creator is
//!    listed and does not have PF_EXITING; once there was one, a list of one thread is needed. Confined mode needs to know when no thread is being created, so it is refused from then on.
//!
//! # What they do not see
//! clone(2) without the C library, and a second C library in its own namespace (dlmopen). The contract of
//! `enable_single!` excludes both.
//!
//! # Cost
//! Two reads of thread-local words per thread created.
//!
//! # References
//! glibc nptl/allocatestack.c. Both names are exported as GLIBC_PRIVATE, and libc.so (libpthread.so before 2.34) calls
//! them through its PLT; checked in 2.17 to 2.41. `_dl_allocate_tls_init` has its second parameter since 2.35.
//!
//! # Safety
//! 1. A function that dlsym finds behind ours under one of these names is the dynamic linker's.
//! 2. Arguments are forwarded unchanged, under the dynamic linker's contract.
#![expect(unsafe_code, reason = "hands calls on to functions that dlsym found")]

use super::Behind;
use super::before_thread::before_thread;
use crate::error::Refusal;
use crate::patch::mode_lock::unhooked;
use crate::sys::{dl, errno, process};
use core::cell::Cell;
use core::ffi::{CStr, c_void};
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::Relaxed;

/// `_dl_allocate_tls`: thread-local storage for a new stack.
type Allocate = unsafe extern "C" fn(*mut c_void) -> *mut c_void;
/// `_dl_allocate_tls_init`: the same for a reused stack.
type Init = unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void;

/// The two hooks that a program exports.
#[derive(Debug)]
pub struct TlsHooks {
    /// Its `_dl_allocate_tls`.
    pub allocate: Allocate,
    /// Its `_dl_allocate_tls_init`.
    pub init: Init,
}

pub(super) const ALLOCATE: &CStr = c"_dl_allocate_tls";
pub(super) const INIT: &CStr = c"_dl_allocate_tls_init";

/// Whether any thread was ever created.
static CALLED: AtomicBool = AtomicBool::new(false);

std::thread_local! {
    /// How many hooks the thread is in. Hooks nest when a signal handler interrupts one.
    static HOOKS: Cell<u32> = const { Cell::new(0) };
    /// Whether this thread has created one without a hook.
    static CREATOR: Cell<bool> = const { Cell::new(false) };
}

impl TlsHooks {
    /// Whether the process is bound to both; `owns` tells whether a definition is in the link unit that has these hooks.
    ///
    /// # Errors
    /// [`Refusal::NotInForce`], also where the C library created threads without calling either.
    pub(in crate::patch) fn in_force(&self, owns: impl Fn(*const c_void) -> bool) -> Result<(), Refusal> {
        let names = [
            ("_dl_allocate_tls", ALLOCATE, self.allocate as *const c_void),
            ("_dl_allocate_tls_init", INIT, self.init as *const c_void),
        ];
        for (hook, name, ours) in names {
            let bound = dl::bound_by_program(name).cast_const();
            if bound != ours || !owns(bound) {
                return Err(Refusal::NotInForce { hook });
            }
        }
        if !CALLED.load(Relaxed) && dl::has_had_threads() {
            return Err(Refusal::NotInForce {
                hook: "_dl_allocate_tls",
            });
        }
        Ok(())
    }
}

/// Whether the calling thread may elide (Invariant 3).
pub(in crate::patch) fn may_elide() -> Result<(), Refusal> {
    if CREATOR.get() { Err(Refusal::Unhooked) } else { Ok(()) }
}

/// Marks the calling thread as inside a hook.
pub(super) struct InHook(());

impl InHook {
    pub(in crate::patch) fn new() -> Self {
        HOOKS.set(HOOKS.get() + 1);
        Self(())
    }
}

impl Drop for InHook {
    fn drop(&mut self) {
        HOOKS.set(HOOKS.get() - 1);
    }
}

/// Restores LOCK, and records an unhooked creation.
fn before_any_thread() -> Result<(), Refusal> {
    CALLED.store(true, Relaxed); // Relaxed: read by threads created later, or by this one.
    if HOOKS.get() > 0 {
        // Counted until the hook returns (Invariant 2). LOCK may still be elided: a hook leaves it so for a call that
        // creates no thread, and the forwarded function may create one anyway. A signal handler may create one before
        // the hook restores LOCK.
        return before_thread(false);
    }
    CREATOR.set(true);
    unhooked();
    // Its attributes are not seen here, and may have an affinity.
    before_thread(true)
}

/// Restores LOCK, then calls the dynamic linker's `_dl_allocate_tls`.
///
/// # Safety
/// The dynamic linker's contract, and `behind` is of the hook of this name alone.
pub unsafe fn allocate(behind: &Behind, memory: *mut c_void) -> *mut c_void {
    let real = behind.find(ALLOCATE);
    if before_any_thread().is_err() || real.is_null() {
        // The one failure that glibc expects; its caller gets EAGAIN.
        errno::set(libc::ENOMEM);
        return core::ptr::null_mut();
    }
    // SAFETY: Invariant 1.
    let real = unsafe { core::mem::transmute::<*mut c_void, Allocate>(real) };
    // SAFETY: Invariant 2.
    unsafe { real(memory) }
}

/// Restores LOCK, then calls the dynamic linker's `_dl_allocate_tls_init`. Aborts where LOCK cannot be restored: glibc
/// does not check this function for failure, and the thread would run.
///
/// # Safety
/// The dynamic linker's contract, and `behind` is of the hook of this name alone.
pub unsafe fn init(behind: &Behind, block: *mut c_void, is_main: usize) -> *mut c_void {
    let real = behind.find(INIT);
    if real.is_null() {
        process::abort_saying(b"cyclewise: without that function a thread's storage cannot be made\n");
    }
    if before_any_thread().is_err() {
        process::abort_saying(
            b"cyclewise: a thread is being created without a hook, and LOCK cannot be restored; call patch::lock() before text is \
              made unwritable\n",
        );
    }
    // SAFETY: Invariant 1.
    let real = unsafe { core::mem::transmute::<*mut c_void, Init>(real) };
    // SAFETY: Invariant 2.
    unsafe { real(block, is_main) }
}
