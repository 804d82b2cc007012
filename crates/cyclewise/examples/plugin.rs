//! A shared object with its own copy of the crate and its own hooks, for a program to load.
//!
//! Its hooks are not the ones in force in a program that has hooks of its own. Its sites are elided with the program's, and what it asks
//! of its copy the program's copy does.

use cyclewise::atomic::{AtomicUsize, Ordering};
use cyclewise::error::Refusal;
use cyclewise::patch;
use std::ffi::c_void;

static COUNTER: AtomicUsize = AtomicUsize::new(0);

/// Asks for single mode: 0 where it is in force, 1 where neither these hooks nor a program's are, 2 for another refusal.
#[unsafe(no_mangle)]
pub extern "C" fn plugin_enable() -> i32 {
    // SAFETY: this object creates threads through the C library only, and shares no atomics with other processes.
    match unsafe { cyclewise::enable_single!() } {
        Ok(()) => 0,
        Err(Refusal::NotInForce { .. } | Refusal::NoLockPrefix) => 1,
        Err(refusal) => {
            eprintln!("the plugin: {refusal}");
            2
        }
    }
}

/// Elides again: 0 where that is done, 1 where no hooks are in force, 2 for another refusal.
#[unsafe(no_mangle)]
pub extern "C" fn plugin_reelide() -> i32 {
    match patch::reelide() {
        Ok(()) => 0,
        Err(Refusal::NotEnabled | Refusal::NoLockPrefix) => 1,
        Err(_) => 2,
    }
}

/// Restores LOCK: 0 where it is in force.
#[unsafe(no_mangle)]
pub extern "C" fn plugin_lock() -> i32 {
    i32::from(patch::lock().is_err())
}

/// The mode in force: 0 for LOCK, 1 for single mode, 2 for confined mode.
#[unsafe(no_mangle)]
pub extern "C" fn plugin_mode() -> u32 {
    match patch::state().mode {
        patch::Mode::Locked => 0,
        patch::Mode::Single => 1,
        patch::Mode::Confined => 2,
    }
}

/// How many link units are patched with the program.
#[unsafe(no_mangle)]
pub extern "C" fn plugin_units() -> usize {
    patch::state().units
}

/// Adds one to a word, by a site of this object.
///
/// # Safety
/// The word lives until this returns, and is changed by atomic operations only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plugin_load(word: *mut u64, times: u64) {
    // SAFETY: the caller's promise.
    let word = unsafe { cyclewise::atomic::AtomicU64::from_ptr(word) };
    for _ in 0..times {
        word.inc(Ordering::Relaxed);
    }
}

/// Sites of this object.
#[unsafe(no_mangle)]
pub extern "C" fn plugin_sites() -> usize {
    COUNTER.inc(Ordering::Relaxed);
    patch::state().sites
}

/// Those that have no LOCK.
#[unsafe(no_mangle)]
pub extern "C" fn plugin_elided() -> usize {
    patch::state().elided
}

/// Creates a thread and waits for its end, with this object's copy of std.
#[unsafe(no_mangle)]
pub extern "C" fn plugin_spawn() -> i32 {
    let thread = std::thread::spawn(|| COUNTER.fetch_add(1, Ordering::Relaxed));
    thread.join().map_or(1, |_| 0)
}

type Start = extern "C" fn(*mut c_void) -> *mut c_void;
type Create = unsafe extern "C" fn(*mut libc::pthread_t, *const c_void, Start, *mut c_void) -> i32;

fn joined(create: Create, start: Start) -> *mut c_void {
    let (mut id, mut result) = (0, std::ptr::null_mut());
    // SAFETY: a place for the id, no attributes, and a function that takes anything.
    let rc = unsafe { create(&mut id, std::ptr::null(), start, std::ptr::null_mut()) };
    assert_eq!(rc, 0);
    // SAFETY: created above, joined once.
    assert_eq!(unsafe { libc::pthread_join(id, &mut result) }, 0);
    result
}

/// Runs `start` in a thread, created by the definition behind this object's in the search order; what it returns.
#[unsafe(no_mangle)]
pub extern "C" fn plugin_spawn_past_hooks(start: Start) -> *mut c_void {
    // SAFETY: a C string.
    let create = unsafe { libc::dlsym(libc::RTLD_NEXT, c"pthread_create".as_ptr()) };
    // SAFETY: the C library's function of that name.
    joined(unsafe { std::mem::transmute::<*mut c_void, Create>(create) }, start)
}

/// The same by the definition that this object is bound to.
#[unsafe(no_mangle)]
pub extern "C" fn plugin_spawn_bound(start: Start) -> *mut c_void {
    unsafe extern "C" {
        fn pthread_create(
            id: *mut libc::pthread_t,
            attributes: *const c_void,
            start: Start,
            argument: *mut c_void,
        ) -> i32;
    }
    joined(pthread_create, start)
}

cyclewise::static_key! {
    static KEY: StaticKey = false;
}

/// Flips this object's key: its refusal's text is printed; else how many tests it has, where all say that it is on.
#[unsafe(no_mangle)]
pub extern "C" fn plugin_flip() -> i32 {
    match KEY.enable() {
        Err(refusal) => {
            eprintln!("the plugin's key: {refusal}");
            -1
        }
        Ok(()) if KEY.is_enabled() => KEY.sites().count() as i32,
        Ok(()) => 0,
    }
}

cyclewise::percpu! {
    static CALLS: u64;
}

/// Counts a call in this object's own per-CPU words; how many there have been.
#[unsafe(no_mangle)]
pub extern "C" fn plugin_count() -> u64 {
    CALLS.add(1);
    CALLS.sum()
}

static SIGNALS: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

/// Registers this object's handler of SIGUSR1, unless it has; how many signals it has handled.
#[unsafe(no_mangle)]
pub extern "C" fn plugin_signals() -> u64 {
    let _ = cyclewise::mask::Signals::on(10, &SIGNALS);
    SIGNALS.load(std::sync::atomic::Ordering::Acquire)
}

/// Whether this object's copy uses restartable sequences.
#[unsafe(no_mangle)]
pub extern "C" fn plugin_restarts() -> i32 {
    i32::from(cyclewise::percpu::backend().backend == cyclewise::percpu::Backend::Rseq)
}
