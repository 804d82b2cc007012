//! The protocol under loom, or under threads; and a twin that does not wait for the slots.

use super::protocol::{self, BIAS, OPEN, Parts};
use crate::error::Refusal;
use crate::primitive::threads::{Arc, AtomicI64, AtomicU64, Mutex, caught, model, thread};
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// One slot with a lock, as in the portable backend. Without `LOCKED` the check of the guard and the addition are two steps, and
/// a kill does not wait for them: the twin.
pub(in crate::percpu) struct Model<const LOCKED: bool> {
    guard: AtomicU64,
    pub(in crate::percpu) shared: AtomicU64,
    slot: AtomicI64,
    lock: Mutex<()>,
    released: AtomicU64,
}

impl<const LOCKED: bool> Model<LOCKED> {
    pub(in crate::percpu) fn new() -> Arc<Self> {
        Arc::new(Self {
            guard: AtomicU64::new(OPEN),
            shared: AtomicU64::new(BIAS + 1),
            slot: AtomicI64::new(0),
            lock: Mutex::new(()),
            released: AtomicU64::new(0),
        })
    }

    fn put(&self) {
        if protocol::put(self) {
            self.released.fetch_add(1, Relaxed);
        }
    }

    fn kill(&self) -> bool {
        let killed = protocol::kill(self).unwrap();
        self.released
            .fetch_add(u64::from(killed && protocol::put_shared(self)), Relaxed);
        killed
    }
}

impl<const LOCKED: bool> Parts for Model<LOCKED> {
    fn add_in_slot(&self, amount: i64) -> bool {
        let _lock = LOCKED.then(|| self.lock.lock().unwrap());
        if self.guard.load(Acquire) != OPEN {
            return false;
        }
        self.slot.fetch_add(amount, Relaxed);
        true
    }
    fn set_guard(&self, guard: u64) {
        self.guard.store(guard, Release);
    }
    fn wait_for_slots(&self) -> Result<(), Refusal> {
        drop(LOCKED.then(|| self.lock.lock().unwrap()));
        Ok(())
    }
    fn take_slots(&self) -> i64 {
        self.slot.swap(0, Relaxed)
    }
    fn shared(&self) -> u64 {
        self.shared.load(Acquire)
    }
    fn exchange(&self, from: u64, to: u64) -> Result<(), u64> {
        self.shared.compare_exchange(from, to, AcqRel, Acquire).map(|_| ())
    }
}

/// A thread gets and puts while another kills. The object is not released while a reference is held, it is released in the end,
/// and no live reference can be had after the kill.
fn users_and_a_kill<const LOCKED: bool>() {
    model(|| {
        let it = Model::<LOCKED>::new();
        let user = {
            let it = it.clone();
            thread::spawn(move || {
                if protocol::try_get_live(&*it) {
                    assert_eq!(it.released.load(Relaxed), 0, "released while it is held");
                    it.put();
                }
            })
        };
        assert!(it.kill());
        assert!(!protocol::try_get_live(&*it), "a live reference after the kill");
        user.join().unwrap();
        assert_eq!(it.released.load(Relaxed), 1);
        assert!(!protocol::try_get(&*it));
    });
}

#[test]
fn nothing_is_released_while_it_is_held() {
    users_and_a_kill::<true>();
}

caught! {
    the_twin_that_does_not_wait_is_caught: "released while it is held" by users_and_a_kill::<false>();
}

#[test]
fn one_of_two_kills_wins() {
    model(|| {
        let it = Model::<true>::new();
        let other = {
            let it = it.clone();
            thread::spawn(move || it.kill())
        };
        let mine = it.kill();
        assert!(mine ^ other.join().unwrap());
        assert_eq!(it.released.load(Relaxed), 1);
    });
}

#[test]
fn a_revived_reference_is_like_a_new_one() {
    model(|| {
        let it = Model::<true>::new();
        assert!(it.kill());
        let other = {
            let it = it.clone();
            thread::spawn(move || {
                let again = protocol::reinit(&*it, true);
                if protocol::try_get_live(&*it) {
                    it.put();
                }
                again
            })
        };
        let mine = protocol::reinit(&*it, true);
        assert!(mine ^ other.join().unwrap(), "exactly one call makes it live again");
        assert!(it.kill());
        assert_eq!(it.released.load(Relaxed), 2);
    });
}

#[cfg(not(loom))]
mod real {
    use crate::percpu::Ref;
    use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use std::thread;

    #[test]
    fn the_last_put_releases_once_per_life() {
        let released = AtomicUsize::new(0);
        let users = Ref::new(|| {
            released.fetch_add(1, Relaxed);
        });
        for life in 0..3 {
            assert!(!users.reinit());
            assert!(users.try_get_live() && users.try_get() && !users.is_dying());
            let mut confirmed = 0;
            assert_eq!(
                users.kill_and_confirm(|| confirmed = 1 + released.load(Relaxed)),
                Ok(true)
            );
            assert_eq!(confirmed, 1 + life);
            assert!(users.is_dying() && !users.is_zero() && !users.try_get_live());
            assert_eq!(users.kill(), Ok(false));
            assert!(users.try_get(), "references remain");
            (0..3).for_each(|n| {
                assert_eq!(released.load(Relaxed), life, "{n}");
                users.put();
            });
            assert_eq!(released.load(Relaxed), life + 1);
            assert!(users.is_zero() && !users.try_get());
            assert!(users.reinit());
        }
    }

    #[cfg(panic = "unwind")]
    mod unwinding {
        use super::*;

        /// If `confirm` unwinds, the kill is still completed: the first reference is put, and the release runs.
        #[test]
        fn a_confirm_that_panics_still_completes_the_kill() {
            use std::panic::{AssertUnwindSafe, catch_unwind};
            for held in [false, true] {
                let released = AtomicUsize::new(0);
                let users = Ref::new(|| {
                    released.fetch_add(1, Relaxed);
                });
                assert!(!held || users.try_get_live());
                let killed = catch_unwind(AssertUnwindSafe(|| users.kill_and_confirm(|| panic!("in confirm"))));
                assert!(killed.is_err() && users.is_dying() && !users.try_get_live());
                assert_eq!(released.load(Relaxed), usize::from(!held));
                if held {
                    users.put();
                }
                assert_eq!(
                    (released.load(Relaxed), users.is_zero(), users.reinit()),
                    (1, true, true)
                );
                assert_eq!((users.kill(), released.load(Relaxed)), (Ok(true), 2));
            }
        }

        /// The twin puts the first reference after `confirm`, so not at all if that unwinds: the object is never released.
        #[test]
        fn the_twin_that_puts_the_first_reference_afterwards_never_releases() {
            use crate::percpu::reference::tests::{Model, protocol};
            let it = Model::<true>::new();
            let twin = || {
                assert_eq!(protocol::kill(&*it), Ok(true));
                let confirm = || panic!("in confirm");
                confirm();
                it.put();
            };
            assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(twin)).is_err());
            assert!(!protocol::reinit(&*it, true), "one reference is never put");
            assert_eq!(it.released.load(Relaxed), 0);
        }

        /// A release that unwinds counts as run: the object can be made live again.
        #[test]
        fn a_release_that_panics_has_run() {
            use std::panic::{AssertUnwindSafe, catch_unwind};
            let released = AtomicUsize::new(0);
            let users = Ref::new(|| assert!(released.fetch_add(1, Relaxed) > 0, "the first time"));
            assert!(catch_unwind(AssertUnwindSafe(|| users.kill())).is_err());
            assert!(users.is_zero() && users.reinit());
            assert!(users.try_get_live());
            assert_eq!(users.kill(), Ok(true));
            users.put();
            assert_eq!((released.load(Relaxed), users.is_zero()), (2, true));
        }
    }

    /// A release may use its own reference, which is dead by then: it can be made live and killed again.
    #[test]
    fn a_release_may_revive_its_reference() {
        static USERS: std::sync::OnceLock<Ref<fn()>> = std::sync::OnceLock::new();
        static LIVES: AtomicUsize = AtomicUsize::new(3);
        fn release() {
            let users = USERS.get().unwrap();
            assert!(users.is_zero() && !users.try_get());
            if LIVES.fetch_sub(1, Relaxed) > 1 {
                assert!(users.reinit());
                assert_eq!(users.kill_and_confirm(|| assert!(!users.try_get_live())), Ok(true));
            }
        }
        let users = USERS.get_or_init(|| Ref::new(release));
        assert_eq!(users.kill(), Ok(true));
        assert_eq!(LIVES.load(Relaxed), 0);
    }

    #[test]
    fn an_extra_put_releases_nothing() {
        let users = Ref::new(|| panic!("released"));
        users.put();
        assert_eq!(users.kill(), Ok(true));
        (0..4).for_each(|_| users.put());
        assert!(!users.is_zero());
    }

    /// Threads get and put on every CPU while one kills.
    #[test]
    fn concurrent_gets_and_puts_are_exact() {
        const ROUNDS: usize = 40;
        let threads = 8 * thread::available_parallelism().map_or(1, usize::from).min(4);
        let (released, held) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let users = Ref::new(|| {
            assert_eq!(held.load(Relaxed), 0, "released while it is held");
            released.fetch_add(1, Relaxed);
        });
        for round in 0..ROUNDS {
            thread::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(|| {
                        while users.try_get_live() {
                            held.fetch_add(1, Relaxed);
                            thread::yield_now();
                            held.fetch_sub(1, Relaxed);
                            users.put();
                        }
                    });
                }
                assert_eq!(users.kill(), Ok(true));
            });
            assert_eq!(released.load(Relaxed), round + 1);
            assert!(users.reinit());
        }
    }
}
