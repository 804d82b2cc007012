//! The modes and the keys in programs whose libraries register their own atfork handlers, before and after this crate's:
//! handlers that create threads, flip keys and take locks.

use crate::common::call;
use crate::common::child::{HANG_S, bare_fork, in_child, wait_for};
use crate::common::dl;
use crate::common::filter;
use crate::common::harness::{Check, checks};
use crate::common::signal;
use crate::common::text::all;
use crate::common::until;
use cyclewise::error::Refusal;
use cyclewise::patch::{self, Mode, Prefix, confined, state};
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

pub(crate) const CHECKS: &[Check] = checks![
    a_child_handler_that_runs_before_ours_creates_threads_with_lock,
    twin_a_creator_that_nothing_sees_fails_the_same_check,
    a_child_without_handlers_is_alone,
    a_childs_guard_never_widens_elided_threads,
    handlers_of_every_kind_create_threads,
    handlers_of_every_kind_flip_keys,
    a_fork_does_not_wait_for_who_flips_under_a_lock_of_its_own,
    a_fork_inside_a_change_leaves_the_child_in_it,
];

cyclewise::static_key! {
    static KEY: StaticKey = false;
}

static COUNTER: cyclewise::atomic::AtomicUsize = cyclewise::atomic::AtomicUsize::new(0);

fn enable() -> Result<(), Refusal> {
    COUNTER.inc(SeqCst);
    assert!(state().sites > 0);
    crate::enable()
}

fn enter() -> Result<confined::Guard, Refusal> {
    // SAFETY: only the library sets affinities in the mode, and no atomics are shared with other processes.
    unsafe { confined::enter(None) }
}

fn at_fork(prepare: Option<extern "C" fn()>, parent: Option<extern "C" fn()>, child: Option<extern "C" fn()>) {
    let to_c = |handler: Option<extern "C" fn()>| {
        // SAFETY: the types differ only in `unsafe`.
        handler.map(|f| unsafe { std::mem::transmute::<extern "C" fn(), unsafe extern "C" fn()>(f) })
    };
    // SAFETY: functions without arguments that live as long as the program.
    let rc = unsafe { libc::pthread_atfork(to_c(prepare), to_c(parent), to_c(child)) };
    assert_eq!(rc, 0);
}

/// The thread that a handler created waits here until the check ends.
static OVER: AtomicBool = AtomicBool::new(false);
/// The result of the handler's pthread_create.
static CREATED: AtomicI32 = AtomicI32::new(-1);
/// Whether the thread ran with LOCK at every site: 0 not yet, 1 yes, 2 no.
static WITH_LOCK: AtomicUsize = AtomicUsize::new(0);

extern "C" fn looks_at_the_sites(_: *mut c_void) -> *mut c_void {
    WITH_LOCK.store(if all(Prefix::Lock) { 1 } else { 2 }, SeqCst);
    while !OVER.load(SeqCst) {
        // The thread may belong to another copy of the C library: it uses only a system call that sets no errno.
        // SAFETY: takes nothing.
        unsafe { libc::syscall(libc::SYS_sched_yield) };
    }
    std::ptr::null_mut()
}

type Creator = unsafe extern "C" fn(
    *mut libc::pthread_t,
    *const libc::pthread_attr_t,
    extern "C" fn(*mut c_void) -> *mut c_void,
    *mut c_void,
) -> i32;

fn create_by(creator: Creator) {
    let mut id = 0;
    // SAFETY: room for an id, and a function of the type that it takes.
    let rc = unsafe { creator(&raw mut id, std::ptr::null(), looks_at_the_sites, std::ptr::null_mut()) };
    CREATED.store(rc, SeqCst);
}

extern "C" fn creates_a_thread() {
    create_by(libc::pthread_create);
}

/// `pthread_create` of a second C library in its own namespace, which our hooks cannot see: it breaks the contract.
static UNSEEN: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

fn load_a_second_c_library() {
    let library = dl::open_apart("libc.so.6");
    assert!(!library.is_null());
    UNSEEN.store(dl::symbol(library, c"pthread_create"), SeqCst);
}

extern "C" fn creates_a_thread_that_nothing_sees() {
    let found = UNSEEN.load(SeqCst);
    // SAFETY: a C library's function of this name.
    create_by(unsafe { std::mem::transmute::<*mut c_void, Creator>(found) });
}

fn what_the_thread_saw() -> usize {
    until(|| WITH_LOCK.load(SeqCst) != 0);
    WITH_LOCK.load(SeqCst)
}

/// The C library runs child handlers in the order of registration: this one before any of ours. The child inherits
/// confined mode's text, and perhaps an older affinity.
fn a_child_handler_that_runs_before_ours_creates_threads_with_lock() {
    at_fork(None, None, Some(creates_a_thread));
    enable().unwrap();
    let mut guard = Some(enter().unwrap());
    in_child(|| {
        assert_eq!(CREATED.load(SeqCst), 0);
        assert_eq!(what_the_thread_saw(), 1, "a second thread runs without LOCK");
        assert_eq!((state().mode, state().elided), (Mode::Locked, 0));
        guard.take().unwrap().leave().unwrap();
        assert_eq!((state().mode, state().elided), (Mode::Locked, 0));
        OVER.store(true, SeqCst);
    })
    .unwrap();
    assert!(all(Prefix::Elided));
    guard.unwrap().leave().unwrap();
}

fn twin_a_creator_that_nothing_sees_fails_the_same_check() {
    load_a_second_c_library();
    at_fork(None, None, Some(creates_a_thread_that_nothing_sees));
    enable().unwrap();
    let guard = enter().unwrap();
    in_child(|| {
        assert_eq!(CREATED.load(SeqCst), 0);
        assert_eq!(what_the_thread_saw(), 2, "the check does not see a thread without LOCK");
        OVER.store(true, SeqCst);
    })
    .unwrap();
    guard.leave().unwrap();
}

fn a_child_without_handlers_is_alone() {
    enable().unwrap();
    let guard = enter().unwrap();
    let child = bare_fork(|| assert!(state().mode == Mode::Single && patch::lock().is_ok() && all(Prefix::Lock)));
    wait_for(child).unwrap();
    guard.leave().unwrap();
}

/// The guard that a child inherits: LOCK is restored before any of its threads may run on another CPU.
fn a_childs_guard_never_widens_elided_threads() {
    load_a_second_c_library();
    at_fork(None, None, Some(creates_a_thread_that_nothing_sees));
    enable().unwrap();
    let mut guard = Some(enter().unwrap());
    in_child(|| {
        guard.take().unwrap().leave().unwrap();
        assert_eq!((state().mode, state().elided), (Mode::Locked, 0));
        OVER.store(true, SeqCst);
    })
    .unwrap();
    guard.unwrap().leave().unwrap();
}

extern "C" fn creates_and_joins() {
    std::thread::spawn(|| {}).join().unwrap();
}

fn handlers_of_every_kind_create_threads() {
    for late in [false, true] {
        in_child(|| {
            let handlers = || {
                at_fork(
                    Some(creates_and_joins),
                    Some(creates_and_joins),
                    Some(creates_and_joins),
                )
            };
            if !late {
                handlers();
            }
            enable().unwrap();
            if late {
                handlers();
            }
            for _ in 0..20 {
                let outcome = in_child(|| {
                    std::thread::spawn(|| assert!(all(Prefix::Lock))).join().unwrap();
                });
                assert_eq!(outcome, Ok(()), "handlers registered late: {late}");
            }
        })
        .unwrap();
    }
}

/// Whether the flips of the handlers succeeded.
static FLIPS: AtomicUsize = AtomicUsize::new(0);

extern "C" fn flips() {
    for on in [true, false] {
        let done = if on { KEY.enable() } else { KEY.disable() };
        assert_eq!((done, KEY.is_enabled()), (Ok(()), on));
        FLIPS.fetch_add(1, SeqCst);
    }
}

fn handlers_of_every_kind_flip_keys() {
    at_fork(Some(flips), Some(flips), Some(flips));
    KEY.enable().unwrap();
    KEY.disable().unwrap();
    at_fork(Some(flips), Some(flips), Some(flips));
    for round in 1..=20 {
        in_child(|| {
            flips();
            std::thread::spawn(|| flips()).join().unwrap();
        })
        .unwrap();
        // On and off: twice before and twice after the fork.
        assert_eq!(FLIPS.load(SeqCst), round * 8);
    }
}

/// A library that holds its own lock across forks, as allocators do, and flips keys under it.
static THEIRS: AtomicBool = AtomicBool::new(false);

extern "C" fn take_theirs() {
    while THEIRS.swap(true, SeqCst) {
        std::thread::sleep(Duration::from_micros(20));
    }
}

extern "C" fn give_theirs() {
    THEIRS.store(false, SeqCst);
}

fn a_fork_does_not_wait_for_who_flips_under_a_lock_of_its_own() {
    static STOP: AtomicBool = AtomicBool::new(false);
    at_fork(Some(take_theirs), Some(give_theirs), Some(give_theirs));
    let flipper = std::thread::spawn(|| {
        while !STOP.load(SeqCst) {
            take_theirs();
            flips();
            give_theirs();
            // The lock is not fair.
            std::thread::sleep(Duration::from_micros(100));
        }
    });
    for _ in 0..300 {
        in_child(|| flips()).unwrap();
    }
    STOP.store(true, SeqCst);
    flipper.join().unwrap();
}

/// A signal handler forks inside a change of the text: the child is in the same change, and completes it.
fn a_fork_inside_a_change_leaves_the_child_in_it() {
    static PID: AtomicI32 = AtomicI32::new(-1);
    extern "C" fn forks(_: i32) {
        if PID.load(SeqCst) < 0 {
            // SAFETY: the child makes a few calls and leaves.
            PID.store(unsafe { libc::fork() }, SeqCst);
        }
        assert_eq!(KEY.disable(), Err(Refusal::Busy));
    }
    // With a second thread the change calls membarrier, which the filter traps.
    let idle = std::thread::spawn(std::thread::park);
    KEY.enable().unwrap();
    KEY.disable().unwrap();
    signal::handle(libc::SIGSYS, forks);
    // PRIVATE_EXPEDITED_SYNC_CORE, without flags.
    filter::trap(libc::SYS_membarrier, &[filter::If::is(0, 1 << 5), filter::If::is(1, 0)]);
    // The trapped call does not happen, so the change is refused and rolled back in parent and child.
    KEY.enable().unwrap_err();
    assert!(!KEY.is_enabled());
    match PID.load(SeqCst) {
        0 => {
            call::alarm(HANG_S);
            flips();
            call::_exit(0);
        }
        pid => {
            wait_for(pid).unwrap();
        }
    }
    idle.thread().unpark();
    idle.join().unwrap();
}
