//! Holds and values with unusual owners: kept by a handler, in destroyed thread-locals, forgotten. Also handlers that
//! register and remove handlers, and forks in a storm of signals.

use crate::common::child::in_child;
use crate::common::harness::{Check, checks};
use crate::common::signal;
use crate::common::until;
use crate::masking::{COUNT, FLAG, SEEN, queue, raise, seen};
use cyclewise::error::Refusal;
use cyclewise::mask::{self, Hold, Info, Masked, Signals};
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};

pub(crate) const CHECKS: &[Check] = checks![
    a_hold_that_a_handler_keeps_holds,
    a_hold_in_a_thread_local_ends_with_its_thread,
    a_destructor_holds_where_nobody_has_before,
    a_queue_whose_guard_was_forgotten_refuses,
    a_value_whose_owner_has_ended_is_told,
    a_value_whose_owner_unwinds_is_free,
    a_handler_takes_itself_off,
    forks_in_a_storm_lose_nothing,
];

thread_local! {
    static KEPT: Cell<Option<Hold>> = const { Cell::new(None) };
}

/// Delivered in a signal frame, and at a release: in both cases later signals wait for the hold that the handler keeps.
fn a_hold_that_a_handler_keeps_holds() {
    let keeps = |_: &Info, _: &Hold| {
        COUNT.fetch_add(1, SeqCst);
        KEPT.set(Some(mask::hold()));
    };
    // SAFETY: a thread-local that exists from the start, and whose old value needs no drop when it is changed.
    unsafe { Signals::call(libc::SIGUSR1, keeps) }.unwrap();
    Signals::on(libc::SIGUSR2, &FLAG).unwrap();
    for held in [false, true] {
        let before = COUNT.load(SeqCst);
        FLAG.store(false, SeqCst);
        let hold = held.then(mask::hold);
        raise(libc::SIGUSR1);
        raise(libc::SIGUSR2);
        drop(hold);
        assert_eq!(COUNT.load(SeqCst), before + 1);
        assert!(mask::is_held() && !FLAG.load(SeqCst), "released: {held}");
        let inner = mask::hold();
        drop(KEPT.take());
        assert!(mask::is_held() && mask::is_pending() && !FLAG.load(SeqCst));
        drop(inner);
        assert!(!mask::is_held() && !mask::is_pending() && FLAG.load(SeqCst));
    }
}

/// Drops a hold, and records the thread's state before and after.
struct Ends(Option<Hold>);

static STATES: AtomicU32 = AtomicU32::new(0);

impl Drop for Ends {
    fn drop(&mut self) {
        raise(libc::SIGUSR1);
        let (was_held, before) = (mask::is_held(), COUNT.load(SeqCst));
        self.0 = None;
        let (is_held, after) = (mask::is_held(), COUNT.load(SeqCst));
        if (was_held, is_held, after - before) == (true, false, 1) {
            STATES.fetch_add(1, SeqCst);
        }
    }
}

fn a_hold_in_a_thread_local_ends_with_its_thread() {
    thread_local! {
        static ENDS: RefCell<Option<Ends>> = const { RefCell::new(None) };
    }
    Signals::on(libc::SIGUSR1, &COUNT).unwrap();
    for round in 1..4 {
        let thread = std::thread::spawn(|| ENDS.set(Some(Ends(Some(mask::hold())))));
        thread.join().unwrap();
        assert_eq!((STATES.load(SeqCst), COUNT.load(SeqCst)), (round, round));
    }
}

/// The mask and a queue in a destructor of a thread that has used neither: their state needs no initialization.
fn a_destructor_holds_where_nobody_has_before() {
    struct Late;
    impl Drop for Late {
        fn drop(&mut self) {
            let hold = mask::hold();
            raise(libc::SIGUSR1);
            assert!(mask::is_pending() && SEEN.lock(&hold).pop().is_none());
            drop(hold);
            // Its value is not checked: an emulator invents one for a signal sent without a value.
            FLAG.store(seen().iter().map(|seen| seen.0).eq([libc::SIGUSR1]), SeqCst);
        }
    }
    thread_local! {
        static LATE: RefCell<Option<Late>> = const { RefCell::new(None) };
    }
    Signals::on(libc::SIGUSR1, &SEEN).unwrap();
    std::thread::spawn(|| LATE.set(Some(Late))).join().unwrap();
    assert!(FLAG.load(SeqCst));
}

/// This thread owns it for ever: its handler neither waits for itself nor ends the process.
fn a_queue_whose_guard_was_forgotten_refuses() {
    Signals::on(libc::SIGUSR1, &SEEN).unwrap();
    let hold = mask::hold();
    std::mem::forget(SEEN.lock(&hold));
    drop(hold);
    for round in 1..4 {
        raise(libc::SIGUSR1);
        assert_eq!(SEEN.refused(), round);
    }
}

/// Its guard was forgotten. The thread that asks may have the memory of the one that has ended.
fn a_value_whose_owner_has_ended_is_told() {
    static VALUE: Masked<u32> = Masked::new(0);
    std::thread::spawn(|| {
        let hold = mask::hold();
        std::mem::forget(VALUE.lock(&hold));
        assert!(!VALUE.__is_lost(), "its owner lives");
        std::thread::scope(|scope| scope.spawn(|| assert!(!VALUE.__is_lost())).join().unwrap());
    })
    .join()
    .unwrap();
    let told = std::thread::spawn(|| {
        let hold = mask::hold();
        assert!(VALUE.try_lock(&hold).is_none());
        drop(VALUE.lock(&hold));
    });
    let message = told.join().unwrap_err();
    let message = message.downcast_ref::<&str>().unwrap();
    assert!(message.contains("a thread that has ended"), "{message}");
    let hold = mask::hold();
    // SAFETY: its guard was forgotten, in a thread that has ended.
    unsafe { VALUE.force_unlock() };
    assert!(VALUE.try_lock(&hold).is_some() && !VALUE.__is_lost());
}

fn a_value_whose_owner_unwinds_is_free() {
    static VALUE: Masked<Vec<u32>> = Masked::new(Vec::new());
    Signals::on(libc::SIGUSR1, &COUNT).unwrap();
    let unwound = std::panic::catch_unwind(|| {
        let hold = mask::hold();
        let mut value = VALUE.lock(&hold);
        value.push(1);
        raise(libc::SIGUSR1);
        std::panic::resume_unwind(Box::new(()));
    });
    assert!(unwound.is_err() && !mask::is_held());
    assert_eq!(COUNT.load(SeqCst), 1, "the hold ended");
    let hold = mask::hold();
    assert_eq!(*VALUE.try_lock(&hold).unwrap(), [1]);
    // The twin: unwinding does not drop this guard.
    let unwound = std::panic::catch_unwind(|| {
        let hold = mask::hold();
        let _value = std::mem::ManuallyDrop::new(VALUE.lock(&hold));
        std::panic::resume_unwind(Box::new(()));
    });
    assert!(unwound.is_err() && VALUE.try_lock(&hold).is_none());
}

static ANSWERS: AtomicU32 = AtomicU32::new(0);

/// In a signal frame and at a release.
fn a_handler_takes_itself_off() {
    let handler = |info: &Info, _: &Hold| {
        let signal = info.signal();
        let off = Signals::off(signal);
        let again = Signals::off(signal);
        let right = off.is_ok() && again == Err(Refusal::SignalNotOurs { signal });
        ANSWERS.fetch_add(u32::from(right), SeqCst);
    };
    for (round, held) in [(1, false), (2, true)] {
        // SAFETY: removal consists of system calls and atomic operations.
        unsafe { Signals::call(libc::SIGRTMIN(), handler) }.unwrap();
        let hold = held.then(mask::hold);
        queue(libc::SIGRTMIN(), 1);
        if held {
            // The second signal's handler is removed when its turn comes.
            queue(libc::SIGRTMIN(), 2);
        }
        drop(hold);
        assert_eq!(ANSWERS.load(SeqCst), round);
    }
}

/// Signals from another thread, at any point of forks under holds: the parent receives each once and in order, the
/// children receive none.
fn forks_in_a_storm_lose_nothing() {
    if !cfg!(target_arch = "x86_64") {
        println!("skipped: this may be an emulator, whose children hang if it had other threads");
        return;
    }
    static NEXT: AtomicU32 = AtomicU32::new(0);
    static WRONG: AtomicBool = AtomicBool::new(false);
    const FORKS: u32 = 100;
    let handler = |info: &Info, _: &Hold| {
        let next = NEXT.fetch_add(1, SeqCst);
        WRONG.fetch_or(info.value() != next as usize, SeqCst);
    };
    let signal = libc::SIGRTMIN();
    // SAFETY: atomic operations.
    unsafe { Signals::call(signal, handler) }.unwrap();
    let (target, done) = (crate::masking::this_thread(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let sender = scope.spawn(|| {
            let mut sent = 0;
            while !done.load(SeqCst) {
                // At most the user's limit of queued signals.
                if sent < NEXT.load(SeqCst) + 100 && signal::queue(target, signal, sent as usize).is_ok() {
                    sent += 1;
                } else {
                    std::thread::yield_now();
                }
            }
            sent
        });
        for fork in 0..FORKS {
            let overflows = mask::overflows();
            let hold = (fork % 2 == 0).then(mask::hold);
            let outcome = in_child(|| {
                let before = NEXT.load(SeqCst);
                // The records are gone. If they had filled the ring under the hold, signals stay blocked until it is released.
                assert!(!mask::is_pending() || hold.is_some() && mask::overflows() > overflows);
                if hold.is_some() {
                    // Releases the copy of the parent's guard, which this child never drops.
                    // SAFETY: a guard has no size, and this stands for that one.
                    drop(unsafe { std::mem::transmute_copy::<_, Option<Hold>>(&hold) });
                }
                drop(mask::hold());
                assert!(!mask::is_held() && !mask::is_pending() && NEXT.load(SeqCst) == before);
            });
            drop(hold);
            // The scope waits for the sender, also where this fails.
            done.store(outcome.is_err(), SeqCst);
            outcome.unwrap();
        }
        done.store(true, SeqCst);
        let sent = sender.join().unwrap();
        until(|| NEXT.load(SeqCst) >= sent);
        assert!(!WRONG.load(SeqCst) && NEXT.load(SeqCst) == sent && sent > 0);
    });
}
