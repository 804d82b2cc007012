//! What ThreadSanitizer says of the library: nothing. `.ci/tsan` builds this program with it.
//!
//! Threads are joined, and nothing of std's is between them: the std of a toolchain is not built for ThreadSanitizer.

mod common;

use common::child::{End, in_child};
use common::harness::{self, checks};
use cyclewise::clock::{Clock, Instant, Upkeep};
use cyclewise::lock::SpinLock;
use cyclewise::percpu::{Counter, Stack};
use cyclewise::refs::rcuref::Pool;
use cyclewise::refs::{Arc, LockRef};
use std::cell::UnsafeCell;
use std::os::fd::AsRawFd;
use std::thread;
use std::time::Duration;

const TURNS: u64 = 3_000;

fn main() {
    if !cfg!(cyclewise_tsan) {
        harness::skip("a build without ThreadSanitizer; run .ci/tsan");
    }
    harness::run(checks![
        a_race_is_caught,
        text_is_written,
        locks_order_what_they_protect,
        the_last_reference_sees_what_others_did,
        a_sole_owner_sees_what_others_did,
        slots_hand_over_values,
        pools_hand_over_slots,
        clocks_are_read_while_they_are_updated,
    ]);
}

/// Two threads, until both are joined.
fn twice(body: fn()) {
    let threads = [(); 2].map(|()| thread::spawn(body));
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// The status with which ThreadSanitizer ends a program that has a race.
const RACE: End = End::Exit(66);

/// The twin of all others.
fn a_race_is_caught() {
    struct Word(UnsafeCell<u64>);
    // SAFETY: none; the race is the test, and the child has nothing else to do.
    unsafe impl Sync for Word {}
    static WORD: Word = Word(UnsafeCell::new(0));
    let raced = in_child(|| {
        // Who reads the report of a race here looks for one.
        let nowhere = std::fs::OpenOptions::new().write(true).open("/dev/null").unwrap();
        // SAFETY: descriptors.
        unsafe { libc::dup2(nowhere.as_raw_fd(), libc::STDERR_FILENO) };
        // SAFETY: none, as above.
        twice(|| (0..TURNS).for_each(|turn| unsafe { WORD.0.get().write_volatile(turn) }));
    });
    assert_eq!(raced, Err(RACE));
}

cyclewise::static_key! { static KEY: StaticKey = false; }

fn text_is_written() {
    assert!(!KEY.is_enabled());
    KEY.enable().unwrap();
    assert!(KEY.is_enabled());
    KEY.disable().unwrap();
    assert!(!KEY.is_enabled());
}

fn locks_order_what_they_protect() {
    static LOCK: SpinLock<u64> = SpinLock::new(0);
    static ENTRY: LockRef<u64> = LockRef::new(0);
    twice(|| {
        for _ in 0..TURNS {
            *LOCK.lock() += 1;
            *ENTRY.lock() += 1;
        }
    });
    assert_eq!((*LOCK.lock(), *ENTRY.lock()), (2 * TURNS, 2 * TURNS));
}

fn the_last_reference_sees_what_others_did() {
    for turn in 0..TURNS / 10 {
        let shared = Arc::new(vec![turn]);
        let observer = Arc::downgrade(&shared);
        let threads = [(); 2].map(|()| {
            let shared = shared.clone();
            thread::spawn(move || assert_eq!(shared[0], turn))
        });
        drop(shared);
        drop(observer.upgrade());
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
}

fn a_sole_owner_sees_what_others_did() {
    for turn in 0..TURNS / 10 {
        let mut owned = Arc::new(turn);
        let shared = owned.clone();
        let reader = thread::spawn(move || assert_eq!(*shared, turn));
        loop {
            match Arc::get_mut(&mut owned) {
                Some(value) => break *value += 1,
                None => thread::yield_now(),
            }
        }
        assert_eq!(*Arc::make_mut(&mut owned), turn + 1);
        reader.join().unwrap();
    }
}

fn slots_hand_over_values() {
    static COUNTER: Counter = Counter::new(0);
    static STACK: std::sync::OnceLock<Stack<Box<u64>, 64>> = std::sync::OnceLock::new();
    // Before there are threads, which then only read what std keeps.
    STACK.set(Stack::new()).ok().unwrap();
    twice(|| {
        let stack = STACK.get().unwrap();
        for turn in 0..TURNS {
            COUNTER.inc();
            // What does not fit is dropped here.
            drop(stack.push(Box::new(turn)));
            assert!(stack.pop().is_none_or(|value| *value < TURNS));
        }
    });
    assert_eq!(COUNTER.sum(), 2 * TURNS as i64);
}

fn pools_hand_over_slots() {
    let pool = Arc::new(Pool::new(4));
    let threads = [(); 2].map(|()| {
        let pool = pool.clone();
        thread::spawn(move || {
            for turn in 0..TURNS {
                let Ok(entry) = pool.insert(Box::new(turn)) else {
                    continue;
                };
                let key = entry.key();
                assert_eq!(pool.get(key).as_deref().map(|value| **value), Some(turn));
                drop(entry);
                // The other thread may hold it for a moment, if its old key is of the same slot.
                drop(pool.get(key));
            }
        })
    });
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

fn clocks_are_read_while_they_are_updated() {
    let _upkeep = Upkeep::start(Clock::process()).unwrap();
    twice(|| {
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(50) {
            Clock::process().recent();
        }
    });
}
