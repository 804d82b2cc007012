//! A minimal sanitizer runtime: it must see every thread's start, although a hook takes the place of its own function.
#![cfg_attr(
    not(all(target_arch = "x86_64", target_env = "gnu", not(target_feature = "crt-static"))),
    allow(dead_code, unused_imports, reason = "no hooks there")
)]

mod common;

use common::dl;
use common::harness::{self, checks};
use cyclewise::atomic;
use cyclewise::patch::{self, Mode, Prefix, sites, state};
use std::cell::Cell;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

#[cfg(all(target_arch = "x86_64", target_env = "gnu", not(target_feature = "crt-static")))]
fn main() {
    harness::run(checks![
        a_thread_is_seen_and_has_lock,
        a_thread_is_seen_without_the_mode,
        a_timer_is_seen_and_has_lock,
        a_thread_of_the_runtimes_own_has_lock,
        twin_a_thread_past_the_runtime,
    ]);
}

#[cfg(not(all(target_arch = "x86_64", target_env = "gnu", not(target_feature = "crt-static"))))]
fn main() {
    harness::skip("no hooks on this architecture or in this C library");
}

/// So that there is a site.
static SITE: atomic::AtomicUsize = atomic::AtomicUsize::new(0);

fn enable() {
    SITE.inc(Ordering::Relaxed);
    assert!(state().sites > 0);
    // SAFETY: these checks create threads through the C library only, and share no atomics with other processes.
    unsafe { cyclewise::enable_single!() }.unwrap();
}

type Start = extern "C" fn(*mut c_void) -> *mut c_void;
type Create = unsafe extern "C" fn(*mut usize, *const c_void, Start, *mut c_void) -> i32;
type CreateTimer = unsafe extern "C" fn(i32, *mut libc::sigevent, *mut *mut c_void) -> i32;

/// Calls that the runtime saw, and sites without LOCK at that time.
static SEEN: AtomicUsize = AtomicUsize::new(0);
static ELIDED: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Whether the runtime knows this thread.
    static KNOWN: Cell<bool> = const { Cell::new(false) };
}

/// The runtime's wrapper of a thread's function.
struct Wrapped {
    start: Start,
    argument: *mut c_void,
}

extern "C" fn start_known(wrapped: *mut c_void) -> *mut c_void {
    KNOWN.set(true);
    // SAFETY: made by `__interceptor_pthread_create`, for this thread alone.
    let wrapped = unsafe { Box::from_raw(wrapped.cast::<Wrapped>()) };
    (wrapped.start)(wrapped.argument)
}

fn saw() {
    ELIDED.fetch_add(
        sites().filter(|site| site.prefix() != Prefix::Lock).count(),
        Ordering::SeqCst,
    );
    SEEN.fetch_add(1, Ordering::SeqCst);
}

fn create_past_the_runtime() -> Create {
    // SAFETY: the C library's function of that name.
    unsafe { std::mem::transmute::<*mut c_void, Create>(dl::symbol(libc::RTLD_NEXT, c"pthread_create")) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __interceptor_pthread_create(
    id: *mut usize,
    attributes: *const c_void,
    start: Start,
    argument: *mut c_void,
) -> i32 {
    saw();
    let wrapped = Box::into_raw(Box::new(Wrapped { start, argument }));
    // SAFETY: the caller's arguments, except the function, which calls the caller's.
    unsafe { create_past_the_runtime()(id, attributes, start_known, wrapped.cast()) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __interceptor_timer_create(
    clock: i32,
    event: *mut libc::sigevent,
    timer: *mut *mut c_void,
) -> i32 {
    saw();
    if BUSY.load(Ordering::SeqCst) {
        create_for_the_runtime();
    }
    // SAFETY: the C library's function of that name.
    let create =
        unsafe { std::mem::transmute::<*mut c_void, CreateTimer>(dl::symbol(libc::RTLD_NEXT, c"timer_create")) };
    // SAFETY: the caller's arguments.
    unsafe { create(clock, event, timer) }
}

fn a_thread_is_seen_and_has_lock() {
    enable();
    for thread in 1..=3 {
        assert_eq!((state().mode, state().elided), (Mode::Single, state().sites));
        assert!(
            std::thread::spawn(|| KNOWN.get()).join().unwrap(),
            "the runtime did not see its creation"
        );
        assert_eq!(
            (SEEN.load(Ordering::SeqCst), ELIDED.load(Ordering::SeqCst)),
            (thread, 0)
        );
        patch::reelide().unwrap();
    }
}

fn a_thread_is_seen_without_the_mode() {
    assert!(std::thread::spawn(|| KNOWN.get()).join().unwrap());
    assert_eq!(SEEN.load(Ordering::SeqCst), 1);
}

fn a_timer_is_seen_and_has_lock() {
    enable();
    // SAFETY: all zeroes is a valid event.
    let mut event = unsafe { std::mem::zeroed::<libc::sigevent>() };
    event.sigev_notify = libc::SIGEV_THREAD;
    let mut timer = std::ptr::null_mut();
    // SAFETY: an event and a place for the timer, which is never set.
    let rc = unsafe { libc::timer_create(libc::CLOCK_MONOTONIC, &mut event, &mut timer) };
    assert_eq!(rc, 0);
    assert_eq!((SEEN.load(Ordering::SeqCst), ELIDED.load(Ordering::SeqCst)), (1, 0));
    assert_eq!((state().mode, state().elided), (Mode::Locked, 0));
}

/// Whether the runtime starts its own thread when a timer is created.
static BUSY: AtomicBool = AtomicBool::new(false);

/// Creates a thread inside a hook and past all hooks. The thread counts sites without LOCK.
fn create_for_the_runtime() {
    extern "C" fn look(_: *mut c_void) -> *mut c_void {
        ELIDED.fetch_add(state().elided, Ordering::SeqCst);
        std::ptr::null_mut()
    }
    let mut id = 0;
    // SAFETY: a place for the id, no attributes, a function that takes anything.
    let rc = unsafe { create_past_the_runtime()(&mut id, std::ptr::null(), look, std::ptr::null_mut()) };
    assert_eq!(rc, 0);
    // SAFETY: created above, joined once.
    let rc = unsafe { libc::pthread_join(id as libc::pthread_t, std::ptr::null_mut()) };
    assert_eq!(rc, 0);
}

/// A timer that signals creates no thread, so its hook does not restore LOCK. A function behind the hook may still create
/// one.
fn a_thread_of_the_runtimes_own_has_lock() {
    enable();
    BUSY.store(true, Ordering::SeqCst);
    let mut timer = std::ptr::null_mut();
    // SAFETY: no event means a signal; a place for the timer, which is never set.
    let rc = unsafe { libc::timer_create(libc::CLOCK_MONOTONIC, std::ptr::null_mut(), &mut timer) };
    assert_eq!(rc, 0);
    // The runtime counted once and found every site without LOCK. The thread counted once and must find none.
    assert_eq!(
        ELIDED.load(Ordering::SeqCst),
        state().sites,
        "the thread ran beside elided sites"
    );
}

/// What the hooks did before they looked up the interceptor; AddressSanitizer aborts at the join after that.
fn twin_a_thread_past_the_runtime() {
    extern "C" fn is_known(_: *mut c_void) -> *mut c_void {
        std::ptr::without_provenance_mut(usize::from(KNOWN.get()))
    }
    let (mut id, mut known) = (0, std::ptr::null_mut());
    // SAFETY: a place for the id, no attributes, a function that takes anything.
    let rc = unsafe { create_past_the_runtime()(&mut id, std::ptr::null(), is_known, std::ptr::null_mut()) };
    assert_eq!(rc, 0);
    // SAFETY: created above, joined once.
    assert_eq!(unsafe { libc::pthread_join(id as libc::pthread_t, &mut known) }, 0);
    assert!(
        known.is_null() && SEEN.load(Ordering::SeqCst) == 0,
        "the runtime saw it"
    );
}
