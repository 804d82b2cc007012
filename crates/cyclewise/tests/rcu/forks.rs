//! Children of fork have one reader, the thread that forked, whatever the parent's other threads were doing.

use crate::common::call;
use crate::common::child::{bare_fork, fork, in_child, wait_for};
use crate::common::harness::{Check, checks};
use crate::common::until;
use cyclewise::rcu::{self, Domain, DomainGuard, Rcu};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

pub(crate) const CHECKS: &[Check] = checks![
    a_child_does_not_wait_for_the_parents_readers,
    a_child_has_the_section_that_it_was_forked_in,
    closures_that_wait_are_run_in_both,
    forks_beside_readers_and_writers,
    a_child_without_handlers_settles,
    children_of_children_have_one_reader,
    a_closure_may_fork,
    a_child_counts_what_waits_there,
    a_child_that_has_not_settled_keeps_new_sections,
    a_child_that_has_not_settled_keeps_its_first_threads_section,
    a_child_of_a_destructor_keeps_its_section,
];

/// Runs `body` while another thread is in sections of both kinds.
fn beside_a_reader(domain: &Domain, body: impl FnOnce()) {
    let [inside, over] = [const { AtomicBool::new(false) }; 2];
    thread::scope(|scope| {
        scope.spawn(|| {
            let _guards = (rcu::read(), rcu::read(), domain.read());
            inside.store(true, SeqCst);
            until(|| over.load(SeqCst));
        });
        until(|| inside.load(SeqCst));
        body();
        over.store(true, SeqCst);
    });
}

fn a_child_does_not_wait_for_the_parents_readers() {
    let domain = Domain::new();
    beside_a_reader(&domain, || {
        in_child(|| {
            rcu::synchronize();
            rcu::barrier();
            domain.synchronize();
        })
        .unwrap();
    });
}

fn a_child_has_the_section_that_it_was_forked_in() {
    let value = Rcu::new(AtomicU64::new(5));
    let guard = rcu::read();
    let found = value.load(&guard);
    in_child(|| {
        let (done, ended) = channel();
        thread::spawn(move || {
            rcu::synchronize();
            done.send(()).unwrap();
        });
        assert!(ended.recv_timeout(Duration::from_millis(50)).is_err());
        assert_eq!(found.load(SeqCst), 5);
    })
    .unwrap();
    drop(guard);
    rcu::synchronize();
}

static RAN: AtomicU64 = AtomicU64::new(0);

fn closures_that_wait_are_run_in_both() {
    for _ in 0..10 {
        rcu::defer(|| {
            RAN.fetch_add(1, SeqCst);
        });
    }
    let run = || {
        rcu::barrier();
        assert_eq!(RAN.load(SeqCst), 10);
    };
    in_child(run).unwrap();
    run();
}

/// Fork interrupts threads anywhere: in a batch, in a section, while they register.
fn forks_beside_readers_and_writers() {
    let value = Rcu::new(vec![7; 10]);
    let domain = Domain::new();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(SeqCst) {
                value.replace(vec![7; 10]);
                domain.drop_later(vec![7; 10]);
                drop(domain.read());
            }
        });
        scope.spawn(|| {
            while !over.load(SeqCst) {
                thread::scope(|scope| {
                    scope.spawn(|| assert_eq!(value.load(&rcu::read())[9], 7));
                });
            }
        });
        for _ in 0..100 {
            in_child(|| {
                assert_eq!(value.load(&rcu::read())[9], 7);
                value.replace(vec![8; 10]);
                rcu::barrier();
                domain.barrier();
            })
            .unwrap();
        }
        over.store(true, SeqCst);
    });
}

fn in_bare_child(body: impl FnOnce()) {
    wait_for(bare_fork(body)).unwrap();
}

fn a_child_without_handlers_settles() {
    let domain = Domain::new();
    beside_a_reader(&domain, || {
        in_bare_child(|| {
            rcu::synchronize();
            domain.synchronize();
        });
    });
}

fn children_of_children_have_one_reader() {
    let domain = Domain::new();
    beside_a_reader(&domain, || {
        let child = fork(|| {
            let guard = domain.read();
            in_child(|| {
                drop(guard);
                domain.synchronize();
                rcu::synchronize();
            })
            .unwrap();
        });
        wait_for(child).unwrap();
    });
}

/// The child returns from the closure, too: its queue is in use by no thread, and every closure is run once.
fn a_closure_may_fork() {
    static CHILD: AtomicI32 = AtomicI32::new(-1);
    // SAFETY: the child uses only what the C library keeps usable after fork, and leaves by _exit.
    rcu::defer(|| CHILD.store(unsafe { libc::fork() }, SeqCst));
    rcu::barrier();
    let run = || {
        let ran = Arc::new(AtomicU64::new(0));
        let defer = || {
            for _ in 0..1000 {
                let ran = Arc::clone(&ran);
                rcu::defer(move || {
                    ran.fetch_add(1, SeqCst);
                });
            }
            rcu::barrier();
        };
        thread::scope(|scope| {
            scope.spawn(defer);
            defer();
        });
        assert_eq!(ran.load(SeqCst), 2000);
    };
    match CHILD.load(SeqCst) {
        0 => {
            let outcome = std::panic::catch_unwind(run);
            call::_exit(if outcome.is_ok() { 0 } else { 101 });
        }
        child => {
            run();
            wait_for(child).unwrap();
        }
    }
}

/// Another thread was running more closures than may wait. They are the parent's.
fn a_child_counts_what_waits_there() {
    static INSIDE: AtomicBool = AtomicBool::new(false);
    static OVER: AtomicBool = AtomicBool::new(false);
    let writer = thread::spawn(|| {
        let guard = rcu::read();
        rcu::defer(|| {
            INSIDE.store(true, SeqCst);
            until(|| OVER.load(SeqCst));
        });
        (0..10_000).for_each(|_| rcu::defer(|| ()));
        drop(guard);
    });
    until(|| INSIDE.load(SeqCst));
    in_child(|| {
        for _ in 0..1000 {
            rcu::defer(|| {
                RAN.fetch_add(1, SeqCst);
            });
        }
        rcu::barrier();
        assert_eq!((RAN.load(SeqCst), rcu::pending()), (1000, 0));
    })
    .unwrap();
    OVER.store(true, SeqCst);
    writer.join().unwrap();
    rcu::barrier();
    assert_eq!(rcu::pending(), 0);
}

/// A thread of a bare clone's child reads before the child's first thread has settled.
fn a_child_that_has_not_settled_keeps_new_sections() {
    static DOMAIN: Domain = Domain::new();
    fn keeps<G>(read: fn() -> G, synchronize: fn()) {
        let [inside, over] = [const { AtomicBool::new(false) }; 2];
        thread::scope(|scope| {
            scope.spawn(|| {
                let guard = read();
                inside.store(true, SeqCst);
                thread::sleep(Duration::from_millis(50));
                over.store(true, SeqCst);
                drop(guard);
            });
            until(|| inside.load(SeqCst));
            synchronize();
            assert!(over.load(SeqCst), "the section is open");
        });
    }
    let of_threads: fn() = || keeps(rcu::read, rcu::synchronize);
    let of_a_domain: fn() = || keeps(|| DOMAIN.read(), || DOMAIN.synchronize());
    beside_a_reader(&DOMAIN, || {
        for check in [of_threads, of_a_domain] {
            in_bare_child(check);
        }
    });
}

/// Another thread of the child waits for the section in which the first was forked.
fn a_child_that_has_not_settled_keeps_its_first_threads_section() {
    let domain = Domain::new();
    beside_a_reader(&domain, || {
        let guard = domain.read();
        in_bare_child(|| {
            thread::scope(|scope| {
                let writer = scope.spawn(|| domain.synchronize());
                thread::sleep(Duration::from_millis(50));
                assert!(!writer.is_finished(), "the section is open");
                drop(guard);
                domain.synchronize();
            });
        });
    });
}

/// A destructor forks whose thread-local variable still has a section, before and after the library's own destructor.
fn a_child_of_a_destructor_keeps_its_section() {
    static DOMAIN: Domain = Domain::new();
    struct Kept(Cell<Option<DomainGuard<'static>>>);
    impl Drop for Kept {
        fn drop(&mut self) {
            in_child(|| {
                let (done, ended) = channel();
                thread::spawn(move || {
                    DOMAIN.synchronize();
                    done.send(()).unwrap();
                });
                assert!(ended.recv_timeout(Duration::from_millis(50)).is_err());
                drop(self.0.take());
                ended.recv().unwrap();
            })
            .unwrap();
        }
    }
    thread_local! {
        static KEPT: Kept = const { Kept(Cell::new(None)) };
    }
    for registers_first in [false, true] {
        thread::spawn(move || {
            if registers_first {
                rcu::register();
            }
            KEPT.with(|kept| kept.0.set(Some(DOMAIN.read())));
        })
        .join()
        .unwrap();
    }
    DOMAIN.synchronize();
}
