//! The net behind the hooks: what every thread of glibc's needs before it is created, whoever creates it.
//!
//! A hook is called by who is bound to its name. Some are not: an allocator that asks for the next definition behind its own
//! (`dlsym(RTLD_NEXT, ..)`, as jemalloc does for `pthread_create`), a library that asks the C library's handle or is bound to
//! it first (RTLD_DEEPBIND), glibc's helper threads that create others. But each thread gets its thread-local storage from
//! one of two functions of the dynamic linker, which libc.so is bound to by name as it would be to any other library's. So the
//! program defines these too: they restore LOCK, and hand on.
//!
//! # Invariants
//! 1. Both are called by the creating thread, before signals are blocked for clone, and before clone.
//! 2. A call from within a hook is counted by the hook, until the thread exists. Any other is an unhooked creation. LOCK is
//!    restored in either.
//! 3. An unhooked creation is not counted until the thread exists. So its creator never elides again: a signal handler of it
//!    might, between here and clone. Nobody else can while it is there, for the kernel lists it. And confined mode, which has
//!    to know when nobody is on the way, is refused from then on.
//!
//! # What it does not see
//! clone(2) without the C library, and a second C library in a namespace of its own (dlmopen): the contract of
//! `enable_single!` excludes both.
//!
//! # Cost
//! Two looks at thread-local words per thread created.
//!
//! # References
//! glibc nptl/allocatestack.c; both names are exported as GLIBC_PRIVATE and called by libc.so (libpthread.so before 2.34)
//! through its PLT, looked at in 2.17 to 2.41. `_dl_allocate_tls_init` has its second parameter since 2.35.
//!
//! # Safety
//! 1. A function that dlsym finds behind ours under one of these names is the dynamic linker's.
//! 2. Arguments are handed on as they came; the contract is the dynamic linker's.
#![expect(unsafe_code, reason = "hands calls on to functions that dlsym found")]

use super::single::before_thread;
use crate::error::Refusal;
use crate::sys::{dl, process, thread};
use core::cell::Cell;
use core::ffi::{CStr, c_void};
use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicBool, AtomicPtr};

/// `_dl_allocate_tls`: thread-local storage for a new stack.
type Allocate = unsafe extern "C" fn(*mut c_void) -> *mut c_void;
/// `_dl_allocate_tls_init`: the same for a stack that a thread has left.
type Init = unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void;

/// What a program exports for it.
#[derive(Debug)]
pub struct TlsHooks {
    /// Its `_dl_allocate_tls`.
    pub allocate: Allocate,
    /// Its `_dl_allocate_tls_init`.
    pub init: Init,
}

const ALLOCATE: &CStr = c"_dl_allocate_tls";
const INIT: &CStr = c"_dl_allocate_tls_init";

/// The dynamic linker's functions, found when they are first needed.
static REAL_ALLOCATE: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());
static REAL_INIT: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());

/// Whether any thread was ever created past the hooks.
static UNHOOKED: AtomicBool = AtomicBool::new(false);

/// Whether any thread was ever created.
static CALLED: AtomicBool = AtomicBool::new(false);

std::thread_local! {
    /// How many hooks the thread is in: a handler may interrupt one.
    static HOOKS: Cell<u32> = const { Cell::new(0) };
    /// Whether this thread has created one past the hooks.
    static CREATOR: Cell<bool> = const { Cell::new(false) };
}

impl TlsHooks {
    /// Whether the process is bound to both.
    ///
    /// # Errors
    /// [`Refusal::NotInForce`], also where the C library has created threads without either.
    pub(super) fn in_force(&self) -> Result<(), Refusal> {
        let names = [
            (
                "_dl_allocate_tls",
                ALLOCATE,
                self.allocate as *const c_void,
                &REAL_ALLOCATE,
            ),
            ("_dl_allocate_tls_init", INIT, self.init as *const c_void, &REAL_INIT),
        ];
        for (hook, name, ours, real) in names {
            let bound = dl::bound(name).cast_const();
            if bound != ours || !dl::is_ours(bound) || find(real, name).is_null() {
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
pub(super) fn may_elide() -> Result<(), Refusal> {
    if CREATOR.get() { Err(Refusal::Unhooked) } else { Ok(()) }
}

/// Whether every thread so far came by a hook.
pub(super) fn all_hooked() -> Result<(), Refusal> {
    // SeqCst: with the store in `before_any_thread`, which comes before the thread.
    if UNHOOKED.load(SeqCst) {
        Err(Refusal::Unhooked)
    } else {
        Ok(())
    }
}

/// The calling thread is in a hook while this lives.
pub(super) struct InHook(());

impl InHook {
    pub(super) fn new() -> Self {
        HOOKS.set(HOOKS.get() + 1);
        Self(())
    }
}

impl Drop for InHook {
    fn drop(&mut self) {
        HOOKS.set(HOOKS.get() - 1);
    }
}

/// Restores LOCK where the thread comes past the hooks.
fn before_any_thread() -> Result<(), Refusal> {
    CALLED.store(true, Relaxed); // Looked at by threads that were created later, or by this one.
    if HOOKS.get() > 0 {
        // Counted until the hook returns (Invariant 2). LOCK may be away: the hook of a call that creates no thread leaves it
        // so, and what is behind that hook may create one; a signal handler may, before the hook has restored it.
        return before_thread();
    }
    CREATOR.set(true);
    // SeqCst: pairs with the load in `all_hooked`.
    UNHOOKED.store(true, SeqCst);
    before_thread()
}

fn find(real: &AtomicPtr<c_void>, name: &CStr) -> *mut c_void {
    // Relaxed: every thread finds the same address, and nothing else is published with it.
    let mut found = real.load(Relaxed);
    if found.is_null() {
        found = dl::behind(name);
        real.store(found, Relaxed);
    }
    found
}

/// Restores LOCK, then calls the dynamic linker's `_dl_allocate_tls`.
///
/// # Safety
/// The dynamic linker's contract.
pub unsafe fn allocate(memory: *mut c_void) -> *mut c_void {
    let real = find(&REAL_ALLOCATE, ALLOCATE);
    if before_any_thread().is_err() || real.is_null() {
        // The one failure that glibc expects, and tells its caller as EAGAIN.
        thread::set_errno(libc::ENOMEM);
        return core::ptr::null_mut();
    }
    // SAFETY: Invariant 1.
    let real = unsafe { core::mem::transmute::<*mut c_void, Allocate>(real) };
    // SAFETY: Invariant 2.
    unsafe { real(memory) }
}

/// Restores LOCK, then calls the dynamic linker's `_dl_allocate_tls_init`. Where LOCK cannot be restored the process ends:
/// glibc looks at no failure here, and the thread would run.
///
/// # Safety
/// The dynamic linker's contract.
pub unsafe fn init(block: *mut c_void, is_main: usize) -> *mut c_void {
    let real = find(&REAL_INIT, INIT);
    if before_any_thread().is_err() || real.is_null() {
        process::abort_saying(
            b"cyclewise: a thread is created past the hooks, and LOCK cannot be restored; call patch::lock() before text is \
              made unwritable\n",
        );
    }
    // SAFETY: Invariant 1.
    let real = unsafe { core::mem::transmute::<*mut c_void, Init>(real) };
    // SAFETY: Invariant 2.
    unsafe { real(block, is_main) }
}
