//! The soft mask in a child of fork: values owned by a thread that the child lacks, handlers registered meanwhile, and
//! other libraries' atfork handlers that run before and after ours.

use crate::common::call;
use crate::common::child::{End, in_child};
use crate::common::harness::{Check, checks};
use crate::common::until;
use crate::masking::{COUNT, FLAG, SEEN, kernel_mask, queue, raise, seen};
use cyclewise::mask::{self, Hold, Info, Masked, MaskedGuard, Signals};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::time::Duration;

pub(crate) const CHECKS: &[Check] = checks![
    a_handler_gives_up_what_no_thread_of_the_child_has,
    a_handler_that_waits_for_it_never_ends,
    a_childs_handler_of_others_does_not_wait_for_it_either,
    a_child_with_its_parents_pid_does_not_wait_either,
    a_child_64_forks_below_the_owner_does_not_wait_either,
    a_child_without_fork_handlers_does_not_wait_either,
    mainline_is_told_of_a_value_that_no_thread_has,
    what_the_forking_thread_has_stays_its_own,
    fork_handlers_may_register_handlers,
    signals_in_fork_handlers_are_the_childs_own,
    a_child_takes_over_what_a_thread_was_registering,
    a_child_takes_over_from_a_thread_with_its_own_id,
];

/// The exit status of a twin that is caught.
const CAUGHT: i32 = 99;

/// Runs `check` in a child, forked while another thread owns the value that `take` takes.
fn forked_inside<G>(take: impl FnOnce(&'static Hold) -> G + Send, check: impl FnOnce()) -> Result<(), End> {
    forked_inside_after(take, || (), check)
}

/// The same; this thread calls `before` when the value is taken.
fn forked_inside_after<G>(
    take: impl FnOnce(&'static Hold) -> G + Send,
    before: impl FnOnce(),
    check: impl FnOnce(),
) -> Result<(), End> {
    let (held, done) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let guard = take(Box::leak(Box::new(mask::hold())));
            held.store(true, SeqCst);
            until(|| done.load(SeqCst));
            drop(guard);
        });
        until(|| held.load(SeqCst));
        before();
        let outcome = in_child(check);
        done.store(true, SeqCst);
        outcome
    })
}

fn take_seen(hold: &'static Hold) -> MaskedGuard<'static, mask::Queue<64>> {
    SEEN.lock(hold)
}

/// The signal arrives while every other one is blocked, so nothing can interrupt a handler that waits for ever.
fn a_handler_gives_up_what_no_thread_of_the_child_has() {
    Signals::on(libc::SIGUSR1, &SEEN).unwrap();
    let outcome = forked_inside(take_seen, || {
        for round in 1..4 {
            raise(libc::SIGUSR1);
            assert_eq!(SEEN.refused(), round);
        }
        let hold = mask::hold();
        raise(libc::SIGUSR1);
        assert!(SEEN.try_lock(&hold).is_none());
        drop(hold);
        assert_eq!(SEEN.refused(), 4, "at a release too");
        // A new thread, which may get the memory of the missing one.
        std::thread::spawn(|| raise(libc::SIGUSR1)).join().unwrap();
        assert_eq!(SEEN.refused(), 5);
        // A grandchild knows it too.
        in_child(|| raise(libc::SIGUSR1)).unwrap();
    });
    outcome.unwrap();
    raise(libc::SIGUSR1);
    assert_eq!(
        (seen(), SEEN.refused()),
        (vec![(libc::SIGUSR1, 0)], 0),
        "the parent has lost nothing"
    );
}

static TWIN: AtomicBool = AtomicBool::new(false);

/// The twin: a lock that does not record its owner.
fn a_handler_that_waits_for_it_never_ends() {
    let handler = |_: &Info, _: &Hold| {
        for _ in 0..100_000 {
            if !TWIN.swap(true, SeqCst) {
                return TWIN.store(false, SeqCst);
            }
            std::thread::yield_now();
        }
        call::_exit(CAUGHT);
    };
    // SAFETY: atomic operations, sched_yield and _exit.
    unsafe { Signals::call(libc::SIGUSR1, handler) }.unwrap();
    raise(libc::SIGUSR1);
    let outcome = forked_inside(|_| TWIN.store(true, SeqCst), || raise(libc::SIGUSR1));
    assert_eq!(outcome, Err(End::Exit(CAUGHT)));
}

static GAVE_UP: AtomicU32 = AtomicU32::new(0);

extern "C" fn asks() {
    let hold = mask::hold();
    let given_up = SEEN.try_lock_for(&hold, Duration::MAX).is_none();
    GAVE_UP.fetch_add(u32::from(given_up), SeqCst);
}

/// Before our atfork handler has run, and after it.
fn a_childs_handler_of_others_does_not_wait_for_it_either() {
    atfork(None, None, Some(asks));
    Signals::on(libc::SIGUSR1, &SEEN).unwrap();
    atfork(None, None, Some(asks));
    forked_inside(take_seen, || assert_eq!(GAVE_UP.load(SeqCst), 2)).unwrap();
    in_child(|| assert_eq!(GAVE_UP.load(SeqCst), 0, "no thread of the child owns it")).unwrap();
}

/// The calling thread's next child is process 1 of a new namespace.
fn unshare() -> bool {
    // SAFETY: takes a number.
    unsafe { libc::unshare(libc::CLONE_NEWPID) == 0 }
}

/// Whether there are namespaces; prints why not. This process has one thread.
fn may_unshare() -> bool {
    let may = in_child(|| {
        let _ = call::unshare(libc::CLONE_NEWUSER);
        assert!(unshare());
    });
    if may.is_err() {
        println!("skipped: no namespaces of process ids here");
        return false;
    }
    let _ = call::unshare(libc::CLONE_NEWUSER);
    unshare()
}

/// Both are process 1 of a namespace. The early handler is in a child of which ours do not know yet.
fn a_child_with_its_parents_pid_does_not_wait_either() {
    if !may_unshare() {
        return;
    }
    let pid = || call::getpid();
    in_child(|| {
        atfork(None, None, Some(asks));
        Signals::on(libc::SIGUSR1, &SEEN).unwrap();
        assert_eq!(pid(), 1);
        let outcome = forked_inside_after(
            take_seen,
            || assert!(unshare()),
            || {
                // The twin: a comparison of these would not tell the processes apart.
                assert_eq!((pid(), GAVE_UP.load(SeqCst)), (1, 1));
                // Nor do the kernel's ids of threads.
                assert_eq!(crate::masking::this_thread(), 1);
                raise(libc::SIGUSR1);
                assert_eq!(SEEN.refused(), 2);
            },
        );
        outcome.unwrap();
    })
    .unwrap();
}

/// A generation that is counted modulo 64 is the owner's again there.
fn a_child_64_forks_below_the_owner_does_not_wait_either() {
    fn below(forks: u32) {
        if forks > 0 {
            return in_child(|| below(forks - 1)).unwrap();
        }
        let hold = mask::hold();
        assert!(SEEN.try_lock_for(&hold, Duration::MAX).is_none());
        // A value of this process's own thread is not lost.
        let free = VALUE.lock(&hold);
        assert!(!VALUE.__is_lost());
        drop(free);
    }
    Signals::on(libc::SIGUSR1, &SEEN).unwrap();
    for forks in [63, 64, 65] {
        forked_inside(take_seen, || below(forks - 1)).unwrap();
    }
}

/// Nobody registers a handler of a signal.
fn a_child_without_fork_handlers_does_not_wait_either() {
    let outcome = forked_inside(take_seen, || {
        let hold = mask::hold();
        assert!(SEEN.try_lock_for(&hold, Duration::MAX).is_none());
        assert!(SEEN.__is_lost() && !VALUE.__is_lost());
    });
    outcome.unwrap();
    assert!(!SEEN.__is_lost());
}

fn mainline_is_told_of_a_value_that_no_thread_has() {
    Signals::on(libc::SIGUSR1, &SEEN).unwrap();
    let outcome = forked_inside(take_seen, || {
        let hold = mask::hold();
        assert!(SEEN.try_lock_for(&hold, Duration::MAX).is_none());
        let told = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(SEEN.lock(&hold))));
        let message = told.unwrap_err();
        let message = message.downcast_ref::<&str>().unwrap();
        assert!(message.contains("forked"), "{message}");
    });
    outcome.unwrap();
}

static VALUE: Masked<u32> = Masked::new(0);

fn what_the_forking_thread_has_stays_its_own() {
    Signals::on(libc::SIGUSR1, &COUNT).unwrap();
    let hold = mask::hold();
    let mut value = VALUE.lock(&hold);
    let outcome = in_child(|| {
        // Still ours: another thread of the child waits for it and gets it.
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                let hold = mask::hold();
                assert!(VALUE.try_lock(&hold).is_none());
                FLAG.store(true, SeqCst);
                *VALUE.lock(&hold)
            });
            until(|| FLAG.load(SeqCst));
            assert!(VALUE.try_lock_for(&hold, Duration::MAX).is_none(), "had by this thread");
            *value = 7;
            // The copy of the parent's guard, which the closure only borrows.
            // SAFETY: the guard in the parent's frame is not dropped in this child.
            drop(unsafe { std::ptr::read(&raw const value) });
            assert_eq!(other.join().unwrap(), 7);
        });
    });
    outcome.unwrap();
    assert!(VALUE.try_lock(&hold).is_none());
    drop(value);
    assert!(VALUE.try_lock(&hold).is_some());
}

fn atfork(prepare: Option<extern "C" fn()>, parent: Option<extern "C" fn()>, child: Option<extern "C" fn()>) {
    unsafe extern "C" {
        fn pthread_atfork(
            prepare: Option<extern "C" fn()>,
            parent: Option<extern "C" fn()>,
            child: Option<extern "C" fn()>,
        ) -> libc::c_int;
    }
    // SAFETY: functions of this program.
    assert_eq!(unsafe { pthread_atfork(prepare, parent, child) }, 0);
}

static REGISTERED: AtomicU32 = AtomicU32::new(0);

extern "C" fn registers() {
    Signals::on(libc::SIGUSR2, &COUNT).unwrap();
    Signals::off(libc::SIGUSR2).unwrap();
    REGISTERED.fetch_add(1, SeqCst);
}

/// The atfork handlers of libraries loaded before ours and of one loaded later.
fn fork_handlers_may_register_handlers() {
    atfork(Some(registers), Some(registers), Some(registers));
    Signals::on(libc::SIGUSR1, &FLAG).unwrap();
    atfork(Some(registers), Some(registers), Some(registers));
    let before = kernel_mask();
    for round in 0..3 {
        let outcome = in_child(|| {
            assert_eq!(REGISTERED.load(SeqCst), 4 * round + 4);
            registers();
            raise(libc::SIGUSR1);
            assert!(FLAG.load(SeqCst));
            assert_eq!(kernel_mask(), before);
        });
        outcome.unwrap();
        assert_eq!(REGISTERED.load(SeqCst), 4 * round + 4);
    }
    assert!(!FLAG.load(SeqCst));
    assert_eq!(kernel_mask(), before);
}

static VALUE_OF: AtomicU32 = AtomicU32::new(0);

extern "C" fn raises() {
    queue(libc::SIGRTMIN(), VALUE_OF.fetch_add(1, SeqCst) as usize);
}

/// Signals that other atfork handlers raise are blocked once ours have begun, and then belong to each process alone.
fn signals_in_fork_handlers_are_the_childs_own() {
    let signal = libc::SIGRTMIN();
    Signals::on(signal, &SEEN).unwrap();
    atfork(Some(raises), Some(raises), Some(raises));
    let hold = mask::hold();
    in_child(|| {
        // Only the child's own: the prepare handler's signal is recorded and belongs to the parent.
        let flags = mask::save();
        mask::restore(flags);
        assert!(mask::is_pending());
        release_the_parents_hold();
        assert_eq!(seen(), [(signal, 1)]);
    })
    .unwrap();
    drop(hold);
    assert_eq!(seen(), [(signal, 0), (signal, 1)]);
}

/// Forks at any step of another thread's registration and removal: each child can register, receive, and remove.
fn a_child_takes_over_what_a_thread_was_registering() {
    // Counts the children's findings: chance decides whether a fork fell into a change, and every child must be right.
    let done = AtomicBool::new(false);
    Signals::on(libc::SIGUSR1, &FLAG).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(SeqCst) {
                Signals::on(libc::SIGUSR2, &COUNT).unwrap();
                Signals::off(libc::SIGUSR2).unwrap();
            }
        });
        for _ in 0..200 {
            let outcome = in_child(|| {
                let _ = Signals::off(libc::SIGUSR2);
                let before = COUNT.load(SeqCst);
                Signals::on(libc::SIGUSR2, &COUNT).unwrap();
                raise(libc::SIGUSR2);
                assert_eq!(COUNT.load(SeqCst), before + 1);
                Signals::off(libc::SIGUSR2).unwrap();
            });
            if outcome.is_err() {
                done.store(true, SeqCst);
            }
            outcome.unwrap();
        }
        done.store(true, SeqCst);
    });
}

/// The thread that registers is the first of a namespace, and so is each child of the threads that fork.
fn a_child_takes_over_from_a_thread_with_its_own_id() {
    fn register(rounds: u32) {
        for _ in 0..rounds {
            Signals::on(libc::SIGUSR2, &COUNT).unwrap();
            Signals::off(libc::SIGUSR2).unwrap();
        }
    }
    fn fork_into_a_namespace() -> bool {
        let outcome = unshare().then(|| {
            in_child(|| {
                assert_eq!(crate::masking::this_thread(), 1);
                let _ = Signals::off(libc::SIGUSR2);
                register(1);
            })
        });
        outcome == Some(Ok(()))
    }
    if !may_unshare() {
        return;
    }
    in_child(|| {
        assert_eq!(crate::masking::this_thread(), 1);
        Signals::on(libc::SIGUSR1, &FLAG).unwrap();
        for _ in 0..20 {
            let forks = std::thread::spawn(fork_into_a_namespace);
            while !forks.is_finished() {
                register(1);
            }
            assert!(forks.join().unwrap());
        }
    })
    .unwrap();
}

/// Does what dropping the copy of the parent's guard does; the child's closure cannot move it out.
fn release_the_parents_hold() {
    let guard = mask::hold();
    // SAFETY: a guard has no size; the copy stands for the one in the parent's frame, which the child never drops.
    let copy: Hold = unsafe { std::mem::transmute_copy(&guard) };
    drop(guard);
    drop(copy);
}
