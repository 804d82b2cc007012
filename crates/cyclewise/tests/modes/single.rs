//! Single mode, each check in its own process: what elides, what restores LOCK, and what is refused.

use crate::common::child::in_child;
use crate::common::harness::{Check, checks};
use crate::common::signal;
use crate::common::text::{all, poke};
use crate::enable;
use cyclewise::atomic::{AtomicUsize, Ordering};
use cyclewise::error::Refusal;
use cyclewise::patch::{self, Mode, Prefix, sites, state};
use std::ffi::c_void;
use std::time::{Duration, Instant};

static COUNTER: AtomicUsize = AtomicUsize::new(0);

/// Timeout for events that must happen, long enough for a busy machine.
const PATIENCE: Duration = Duration::from_secs(600);

pub(crate) const CHECKS: &[Check] = checks![
    one_thread_is_elided,
    elided_answers_are_stds,
    a_thread_of_std_runs_with_lock,
    every_other_creator_restores_lock,
    a_timer_that_signals_creates_no_thread,
    reeliding_waits_for_the_last_thread,
    lock_and_reelide_take_turns,
    a_second_thread_is_refused,
    a_breakpoint_on_a_site_is_refused,
    a_site_that_cannot_be_restored_refuses_threads,
    a_site_elided_by_another_is_refused,
    a_forked_child_has_its_own_text,
    a_spawned_program_changes_nothing,
    a_signal_handler_may_use_sites,
    no_hooks_no_mode,
];

fn why(outcome: Result<(), Refusal>) -> Refusal {
    outcome.unwrap_err()
}

fn one_thread_is_elided() {
    assert_eq!(state().mode, Mode::Locked);
    assert!(all(Prefix::Lock));
    enable().unwrap();
    let now = state();
    assert_eq!((now.mode, now.elided), (Mode::Single, now.sites));
    assert!(now.sites > 0 && all(Prefix::Elided));
    COUNTER.inc(Ordering::Relaxed);
    assert_eq!(COUNTER.fetch_add(2, Ordering::SeqCst), 1);
    assert_eq!(
        COUNTER.compare_exchange(3, 1, Ordering::SeqCst, Ordering::Relaxed),
        Ok(3)
    );
    assert!(COUNTER.dec_and_test(Ordering::AcqRel));
}

fn elided_answers_are_stds() {
    enable().unwrap();
    crate::oracle::check_all(&crate::oracle::every_step());
    assert_eq!(state().mode, Mode::Single);
}

fn a_thread_of_std_runs_with_lock() {
    enable().unwrap();
    for _ in 0..100 {
        assert_eq!(state().mode, Mode::Single);
        let seen = std::thread::spawn(|| (state().mode, all(Prefix::Lock))).join().unwrap();
        assert_eq!(seen, (Mode::Locked, true));
        assert_eq!(state().mode, Mode::Locked, "only a call elides again");
        patch::reelide().unwrap();
    }
}

pub(crate) type Start = unsafe extern "C" fn(*mut c_void) -> i32;
unsafe extern "C" {
    pub(crate) fn thrd_create(id: *mut libc::pthread_t, start: Start, argument: *mut c_void) -> i32;
    fn thrd_join(id: libc::pthread_t, result: *mut i32) -> i32;
    fn mq_notify(queue: i32, event: *const libc::sigevent) -> i32;
    fn getaddrinfo_a(mode: i32, list: *mut *mut c_void, length: i32, event: *mut c_void) -> i32;
}

unsafe extern "C" fn all_locked(_: *mut c_void) -> i32 {
    i32::from(all(Prefix::Lock))
}

extern "C" fn note_locked(_: libc::sigval) {
    COUNTER.store(1 + usize::from(all(Prefix::Lock)), Ordering::SeqCst);
}

/// A sigevent that notifies by a new thread, which runs `note_locked`.
fn by_thread() -> libc::sigevent {
    // SAFETY: all zeroes is a valid sigevent.
    let mut event = unsafe { std::mem::zeroed::<libc::sigevent>() };
    event.sigev_notify = libc::SIGEV_THREAD;
    // The function to call is the union's first member; the libc crate has only the last.
    let function = (&raw mut event.sigev_notify_thread_id).cast::<extern "C" fn(libc::sigval)>();
    // SAFETY: the union is in the event, 8-aligned and large enough for a pointer.
    unsafe { function.write_unaligned(note_locked) };
    event
}

fn every_other_creator_restores_lock() {
    let checks: [(&str, fn()); 6] = [
        ("thrd_create", || {
            let (mut id, mut seen) = (0, 0);
            // SAFETY: a function of the right type, and a place for the id.
            assert_eq!(unsafe { thrd_create(&mut id, all_locked, std::ptr::null_mut()) }, 0);
            // SAFETY: joined once.
            assert_eq!(unsafe { thrd_join(id, &mut seen) }, 0);
            assert_eq!(seen, 1);
        }),
        ("timer_create", || {
            let (mut event, mut timer) = (by_thread(), std::ptr::null_mut());
            // SAFETY: an event and a place for the timer.
            let rc = unsafe { libc::timer_create(libc::CLOCK_MONOTONIC, &mut event, &mut timer) };
            assert_eq!(rc, 0);
            let soon = libc::timespec {
                tv_sec: 0,
                tv_nsec: 1_000_000,
            };
            let never = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            let when = libc::itimerspec {
                it_interval: never,
                it_value: soon,
            };
            // SAFETY: the timer is there.
            assert_eq!(unsafe { libc::timer_settime(timer, 0, &when, std::ptr::null_mut()) }, 0);
            let start = Instant::now();
            while COUNTER.load(Ordering::SeqCst) == 0 && start.elapsed() < PATIENCE {
                std::thread::sleep(Duration::from_millis(1));
            }
            assert_eq!(
                COUNTER.load(Ordering::SeqCst),
                2,
                "1: notified while elided; 0: not notified"
            );
        }),
        ("mq_notify", || {
            let event = by_thread();
            // SAFETY: an event; the queue does not exist, which is found out after the thread is made.
            assert_eq!(unsafe { mq_notify(-1, &event) }, -1);
        }),
        ("aio_read", || {
            let mut byte = 0_u8;
            let file = std::fs::File::open("/dev/zero").unwrap();
            // SAFETY: all zeroes is a valid aiocb.
            let mut control = unsafe { std::mem::zeroed::<libc::aiocb>() };
            control.aio_fildes = std::os::fd::AsRawFd::as_raw_fd(&file);
            control.aio_buf = (&raw mut byte).cast();
            control.aio_nbytes = 1;
            // SAFETY: the buffer and the control block outlive the request, which is waited for below.
            assert_eq!(unsafe { libc::aio_read(&mut control) }, 0);
            // SAFETY: the same block.
            while unsafe { libc::aio_error(&control) } == libc::EINPROGRESS {
                std::thread::sleep(Duration::from_millis(1));
            }
        }),
        ("lio_listio", || {
            // SAFETY: an empty list.
            unsafe { libc::lio_listio(libc::LIO_NOWAIT, std::ptr::null_mut(), 0, std::ptr::null_mut()) };
        }),
        ("getaddrinfo_a", || {
            // SAFETY: an empty list.
            unsafe { getaddrinfo_a(1, std::ptr::null_mut(), 0, std::ptr::null_mut()) };
        }),
    ];
    enable().unwrap();
    for (name, check) in checks {
        let outcome = in_child(|| {
            assert_eq!(state().mode, Mode::Single);
            check();
            assert_eq!((state().mode, state().elided), (Mode::Locked, 0));
        });
        assert_eq!(outcome, Ok(()), "{name}");
    }
}

fn a_timer_that_signals_creates_no_thread() {
    enable().unwrap();
    let mut timer = std::ptr::null_mut();
    // SAFETY: no event means a signal; a place for the timer.
    let rc = unsafe { libc::timer_create(libc::CLOCK_MONOTONIC, std::ptr::null_mut(), &mut timer) };
    assert_eq!((rc, state().mode), (0, Mode::Single));
}

fn reeliding_waits_for_the_last_thread() {
    enable().unwrap();
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let thread = std::thread::spawn(move || stopped.recv());
    assert!(matches!(why(patch::reelide()), Refusal::OtherThreads { .. }));
    assert_eq!((state().mode, state().elided), (Mode::Locked, 0));
    drop(stop);
    let _ = thread.join();
    patch::reelide().unwrap();
    assert_eq!(state().mode, Mode::Single);
}

fn lock_and_reelide_take_turns() {
    enable().unwrap();
    for _ in 0..1000 {
        patch::lock().unwrap();
        assert!(all(Prefix::Lock));
        COUNTER.inc(Ordering::Relaxed);
        patch::reelide().unwrap();
        assert!(all(Prefix::Elided));
        COUNTER.inc(Ordering::Relaxed);
    }
    assert_eq!(COUNTER.load(Ordering::Relaxed), 2000);
}

fn a_second_thread_is_refused() {
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let thread = std::thread::spawn(move || stopped.recv());
    assert!(matches!(why(enable()), Refusal::OtherThreads { .. }));
    assert!(all(Prefix::Lock));
    drop(stop);
    let _ = thread.join();
    patch::reelide().unwrap();
}

fn a_breakpoint_on_a_site_is_refused() {
    let at = sites().next().unwrap().address();
    poke(at, &[0xcc]);
    assert!(matches!(why(enable()), Refusal::Breakpoint { .. }));
    assert_eq!((state().mode, state().elided), (Mode::Locked, 0));
    poke(at, &[0xf0]);
    patch::reelide().unwrap();
}

fn a_site_that_cannot_be_restored_refuses_threads() {
    enable().unwrap();
    let at = sites().next().unwrap().address();
    poke(at, &[0xcc]);
    let refused = std::thread::Builder::new().spawn(|| ()).unwrap_err();
    assert_eq!(refused.raw_os_error(), Some(libc::EAGAIN));
    assert_eq!(state().mode, Mode::Single);
    assert!(matches!(
        why(patch::lock()),
        Refusal::Breakpoint { .. } | Refusal::UnexpectedByte { .. }
    ));
    poke(at, &[0x3e]);
    std::thread::spawn(|| assert!(all(Prefix::Lock))).join().unwrap();
}

fn a_site_elided_by_another_is_refused() {
    let at = sites().next().unwrap().address();
    poke(at, &[0x3e]);
    assert!(matches!(why(enable()), Refusal::UnexpectedByte { .. }));
    assert_eq!((state().mode, state().elided), (Mode::Locked, 1), "not ours to undo");
}

fn a_forked_child_has_its_own_text() {
    enable().unwrap();
    let outcome = in_child(|| {
        assert_eq!((state().mode, state().elided), (Mode::Single, state().sites));
        std::thread::spawn(|| assert!(all(Prefix::Lock))).join().unwrap();
        patch::reelide().unwrap();
        patch::lock().unwrap();
    });
    outcome.unwrap();
    assert!(all(Prefix::Elided), "the child wrote its parent's text");
    assert_eq!(state().mode, Mode::Single);
}

fn a_spawned_program_changes_nothing() {
    enable().unwrap();
    assert!(std::process::Command::new("true").status().unwrap().success());
    assert_eq!((state().mode, state().elided), (Mode::Single, state().sites));
}

fn a_signal_handler_may_use_sites() {
    /// The same, counted by what has no site.
    static HANDLED: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    extern "C" fn handler(_: i32) {
        COUNTER.inc(Ordering::Relaxed);
        HANDLED.fetch_add(1, Ordering::Relaxed);
    }
    enable().unwrap();
    signal::handle(libc::SIGALRM, handler);
    signal::every(libc::SIGALRM, 100);
    while HANDLED.load(Ordering::Relaxed) < 2000 {
        COUNTER.inc(Ordering::Relaxed);
        COUNTER.fetch_sub(1, Ordering::Relaxed);
    }
    signal::every(libc::SIGALRM, 0);
    assert_eq!(
        COUNTER.load(Ordering::Relaxed),
        HANDLED.load(Ordering::Relaxed),
        "updates were lost"
    );
    assert_eq!(state().mode, Mode::Single);
}

fn no_hooks_no_mode() {
    assert!(matches!(why(patch::reelide()), Refusal::NotEnabled));
    assert_eq!(patch::lock(), Ok(()));
    assert!(all(Prefix::Lock));
}
