//! Deferred closures: batches, their bound, panics, what they may do, and what waits for itself.

use crate::common::call;
use crate::common::child::{End, in_child};
use crate::common::harness::{Check, checks};
use crate::common::until;
use cyclewise::rcu::{self, Rcu};
use std::panic::catch_unwind;
use std::sync::Mutex;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::thread;

pub(crate) const CHECKS: &[Check] = checks![
    closures_run_in_order,
    one_thread_runs_closures_at_a_time,
    a_panic_ends_with_its_closure,
    closures_may_defer_and_synchronize,
    the_end_of_a_section_helps,
    a_writer_that_runs_ahead_is_held_up,
    what_waits_for_itself_panics,
    dropping_a_cell_drops_its_value_once,
    exit_runs_no_closure,
];

static RAN: AtomicU64 = AtomicU64::new(0);

fn count() {
    RAN.fetch_add(1, SeqCst);
}

fn closures_run_in_order() {
    static ORDER: Mutex<Vec<u32>> = Mutex::new(Vec::new());
    for n in 0..1000 {
        rcu::defer(move || ORDER.lock().unwrap().push(n));
    }
    rcu::barrier();
    assert!(ORDER.lock().unwrap().iter().copied().eq(0..1000));
}

fn one_thread_runs_closures_at_a_time() {
    static INSIDE: AtomicBool = AtomicBool::new(false);
    static WRONG: AtomicU64 = AtomicU64::new(0);
    let closure = || {
        count();
        WRONG.fetch_add(u64::from(INSIDE.swap(true, SeqCst)), SeqCst);
        (0..100).for_each(|_| std::hint::spin_loop());
        INSIDE.store(false, SeqCst);
    };
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(move || (0..2000).for_each(|_| rcu::defer(closure)));
        }
    });
    rcu::barrier();
    assert_eq!((WRONG.load(SeqCst), RAN.load(SeqCst)), (0, 8000));
}

fn a_panic_ends_with_its_closure() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("a destructor's");
        }
    }
    std::panic::set_hook(Box::new(|_| count()));
    for _ in 0..100 {
        rcu::defer(|| panic!("a closure's"));
        rcu::drop_later(Bomb);
        rcu::defer(|| std::panic::panic_any(Bomb));
        rcu::defer(count);
    }
    rcu::barrier();
    assert_eq!((RAN.load(SeqCst), rcu::pending()), (400, 0));
}

fn closures_may_defer_and_synchronize() {
    for _ in 0..100 {
        rcu::defer(|| {
            rcu::synchronize();
            drop(rcu::read());
            (0..10).for_each(|_| rcu::defer(count));
        });
    }
    rcu::barrier();
    rcu::barrier();
    assert_eq!(RAN.load(SeqCst), 1000);
    rcu::defer(|| {
        count();
        rcu::barrier();
    });
    std::panic::set_hook(Box::new(|_| count()));
    rcu::barrier();
    assert_eq!(RAN.load(SeqCst), 1002, "a barrier in a closure panics");
}

/// A thread that defers inside sections only.
fn the_end_of_a_section_helps() {
    for _ in 0..100 {
        let guard = rcu::read();
        (0..100).for_each(|_| rcu::defer(count));
        let before = RAN.load(SeqCst);
        assert!(
            rcu::pending() >= 100 && before.is_multiple_of(100),
            "run inside a section"
        );
        drop(guard);
    }
    assert!(RAN.load(SeqCst) >= 9000);
}

fn a_writer_that_runs_ahead_is_held_up() {
    const BOUND: usize = 4096 + 64;
    let guard = rcu::read();
    let writer = thread::spawn(|| {
        for _ in 0..3 * BOUND {
            rcu::defer(count);
        }
    });
    until(|| rcu::pending() > 4096);
    thread::sleep(std::time::Duration::from_millis(50));
    assert!(rcu::pending() <= BOUND && !writer.is_finished() && RAN.load(SeqCst) == 0);
    drop(guard);
    writer.join().unwrap();
    rcu::barrier();
    assert_eq!(RAN.load(SeqCst), 3 * BOUND as u64);
}

fn what_waits_for_itself_panics() {
    for waits in [rcu::synchronize, rcu::barrier] {
        let guard = rcu::read();
        let payload = catch_unwind(waits).unwrap_err();
        let said = payload.downcast_ref::<&str>().unwrap();
        assert!(said.contains("wait for itself"), "{said}");
        drop(guard);
        waits();
    }
}

fn dropping_a_cell_drops_its_value_once() {
    struct Counted;
    impl Drop for Counted {
        fn drop(&mut self) {
            count();
        }
    }
    let cell = Rcu::new(Counted);
    cell.replace(Counted);
    cell.update(|_| Box::new(Counted));
    drop(cell);
    drop(Rcu::new(Counted).into_inner());
    rcu::barrier();
    assert_eq!(RAN.load(SeqCst), 4);
}

fn exit_runs_no_closure() {
    const RAN: i32 = 9;
    let child = |before: fn()| {
        in_child(|| {
            rcu::defer(|| call::_exit(RAN));
            before();
            std::process::exit(0);
        })
    };
    child(|| ()).unwrap();
    // The twin, which also shows that a barrier runs them.
    assert!(matches!(child(rcu::barrier), Err(End::Exit(RAN))));
}
