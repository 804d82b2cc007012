//! A lock in a child of fork: held by the thread that forks, and waited for by threads that the child has not got.

mod process;

fn main() {
    #[cfg(target_arch = "x86_64")]
    process::run(&[
        ("a_child_takes_turns_at_a_lock_of_its_parents", checks::turns),
        (
            "a_lock_kept_for_a_waiter_that_is_not_there_is_free",
            checks::kept_for_nobody,
        ),
        ("a_lockref_is_taken_and_given_as_before", checks::lockref),
    ]);
    #[cfg(not(target_arch = "x86_64"))]
    println!("skipped: this may be an emulator, whose children hang if it had other threads");
}

#[cfg(target_arch = "x86_64")]
mod checks {
    use super::process::in_child;
    use cyclewise::atomic::AtomicU32;
    use cyclewise::lock::{Futex, Moment, Park, RawSpinLock};
    use cyclewise::refs::LockRef;
    use lock_api::{RawMutex, RawMutexFair};
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::thread;
    use std::time::Duration;

    static SLEEPS: AtomicUsize = AtomicUsize::new(0);

    /// A futex that counts who sleeps.
    struct Counting;

    impl Park for Counting {
        type Deadline = Moment;
        const SLEEPS: bool = true;

        fn wait(word: &AtomicU32, expected: u32, until: Option<Moment>) {
            SLEEPS.fetch_add(1, SeqCst);
            Futex::wait(word, expected, until);
        }

        fn nap(word: &AtomicU32, expected: u32, until: Option<Moment>) {
            SLEEPS.fetch_add(1, SeqCst);
            Futex::nap(word, expected, until);
        }

        fn wake(word: &AtomicU32) {
            Futex::wake(word);
        }

        fn is_past(until: Moment) -> bool {
            Futex::is_past(until)
        }

        fn light() {
            Futex::light();
        }

        fn heavy() -> bool {
            Futex::heavy()
        }
    }

    static LOCK: RawSpinLock<Counting> = RawSpinLock::INIT;

    fn lock_and_unlock() {
        LOCK.lock();
        unlock();
    }

    fn unlock() {
        // SAFETY: each caller holds it.
        unsafe { LOCK.unlock() };
    }

    /// Until so many have gone to sleep.
    fn asleep(count: usize) {
        while SLEEPS.load(SeqCst) < count {
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Runs it in a child whose one thread holds the lock, which two threads of the parent's wait for. The child is killed
    /// where it hangs.
    fn beside_waiters(check: fn()) {
        LOCK.lock();
        thread::scope(|scope| {
            for count in 1..=2 {
                scope.spawn(lock_and_unlock);
                asleep(count);
            }
            let outcome = in_child(|| {
                // SAFETY: takes a number; the default action of SIGALRM is to kill. The machine may be frozen for a while.
                unsafe { libc::alarm(600) };
                check();
            });
            unlock();
            assert_eq!(outcome, 0);
        });
    }

    pub(super) fn turns() {
        beside_waiters(|| {
            for _ in 0..3 {
                let before = SLEEPS.load(SeqCst);
                thread::scope(|scope| {
                    scope.spawn(lock_and_unlock);
                    asleep(before + 1);
                    unlock();
                });
                assert!(LOCK.try_lock(), "nobody is left");
            }
        });
    }

    pub(super) fn kept_for_nobody() {
        beside_waiters(|| {
            // SAFETY: held by the thread that forked, which is this one.
            unsafe { LOCK.unlock_fair() };
            assert!(LOCK.try_lock());
            unlock();
        });
    }

    static ENTRY: LockRef<()> = LockRef::new(());

    /// A waiter that nobody here can count is given time to queue; where it needs more, the check passes without one.
    fn another_queues<'scope>(scope: &'scope thread::Scope<'scope, '_>) {
        scope.spawn(|| drop(ENTRY.lock()));
        thread::sleep(Duration::from_millis(50));
    }

    pub(super) fn lockref() {
        let mut guard = Some(ENTRY.lock());
        thread::scope(|scope| {
            another_queues(scope);
            let outcome = in_child(|| {
                // SAFETY: as above.
                unsafe { libc::alarm(600) };
                thread::scope(|scope| {
                    another_queues(scope);
                    drop(guard.take());
                });
                ENTRY.get();
                assert!(ENTRY.put_or_lock().is_none());
                assert_eq!(ENTRY.count(), 1);
            });
            drop(guard);
            assert_eq!(outcome, 0);
        });
    }
}
