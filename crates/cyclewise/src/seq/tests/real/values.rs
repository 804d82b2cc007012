//! Values of every shape, writers that stop half way, and the ways out.

use crate::seq::{SeqCount, SeqLatch, SeqLock};
use core::cell::Cell;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::string::ToString;
use std::{format, thread};

/// Padding inside and at the end, a pointer, and more than a word's alignment.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(32))]
struct Odd {
    byte: u8,
    word: u64,
    text: &'static str,
    maybe: Option<char>,
}

const ODD: Odd = Odd {
    byte: 7,
    word: u64::MAX,
    text: "seven",
    maybe: Some('7'),
};

fn survives<T: Copy + PartialEq + core::fmt::Debug>(one: T, other: T) {
    let lock = SeqLock::new(one);
    assert_eq!((lock.try_read(), lock.read()), (Some(one), one));
    lock.write(other);
    assert_eq!(lock.read(), other);
    assert_eq!(lock.update(|_| one), other);
    assert_eq!((lock.try_write(other), lock.into_inner()), (Ok(()), other));
    let latch = SeqLatch::new(one);
    assert_eq!(latch.read(), one);
    for value in [other, one, other] {
        latch.write(value);
        assert_eq!(latch.read(), value);
    }
}

#[test]
fn values_of_every_shape_survive() {
    survives((), ());
    survives(1_u8, 2);
    survives([1_u8; 13], [2; 13]);
    survives((1_u8, 2_u32), (3, 4));
    survives([u64::MAX; 4], [1; 4]);
    survives(Some(&1_u32), None);
    survives(
        ODD,
        Odd {
            maybe: None,
            text: "",
            ..ODD
        },
    );
}

#[test]
fn the_first_use_of_a_static_is_a_reading_an_attempt_or_a_write() {
    static READ: SeqLock<Odd> = SeqLock::new(ODD);
    static TRIED: SeqLock<Odd> = SeqLock::new(ODD);
    static WRITTEN: SeqLock<Odd> = SeqLock::new(ODD);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(READ.read(), ODD));
        }
    });
    assert_eq!(TRIED.try_read(), Some(ODD));
    let next = Odd { word: 1, ..ODD };
    assert_eq!((WRITTEN.try_write(next), WRITTEN.read()), (Ok(()), next));
}

/// A lock that moves before its first use.
#[test]
fn a_new_lock_may_move() {
    let moved = std::boxed::Box::new(SeqLock::new(ODD));
    assert_eq!(moved.read(), ODD);
    assert_eq!(format!("{:?}", SeqLock::new(1_u8)), "SeqLock(1)");
    assert_eq!(SeqLock::<u16>::default().read(), SeqLock::from(0).read());
}

#[test]
fn beside_a_preempted_writer_readers_and_writers_have_a_way_out() {
    let lock = SeqLock::new(5_u64);
    let number = lock.begin();
    assert_eq!((lock.try_read(), lock.try_write(6)), (None, Err(6)));
    assert_eq!(format!("{lock:?}"), "SeqLock(<locked>)");
    // One that waits gets the value when the writer goes on.
    let read = thread::scope(|scope| {
        let reader = scope.spawn(|| lock.read());
        thread::sleep(core::time::Duration::from_millis(5));
        lock.end(number);
        reader.join().unwrap()
    });
    assert_eq!(read, 5);

    let (count, mut guard) = (SeqCount::default(), ());
    let writer = count.write(&mut guard);
    assert_eq!(count.read(|| ()), None);
    drop(writer);
    assert_eq!(count.read(|| 1), Some(1));
}

#[test]
fn a_change_that_panics_changes_nothing() {
    let lock = SeqLock::new(1_u64);
    let result = catch_unwind(AssertUnwindSafe(|| lock.update(|_| panic!("no"))));
    assert!(result.is_err());
    assert_eq!(
        (lock.read(), lock.update(|old| old + lock.read()), lock.read()),
        (1, 1, 2)
    );
}

/// As a signal handler would, between any two stores of the writer.
#[test]
fn a_latch_is_read_at_every_step_of_its_writer() {
    let latch = SeqLatch::new([0_u64; 4]);
    for n in 1..5 {
        let steps = Cell::new(0);
        let step = || {
            steps.set(steps.get() + 1);
            let found = latch.read();
            assert!(found == [n; 4] || found == [n - 1; 4], "{found:?}");
            assert_eq!(latch.try_write([9; 4]), Err([9; 4]), "two writers");
        };
        latch.write_in_steps([n; 4], step).unwrap();
        assert_eq!(steps.get(), 5);
    }
    assert_eq!(format!("{latch:?}"), "SeqLatch([4, 4, 4, 4])".to_string());
}

/// The twin: a lock cannot be read at those.
#[test]
fn twin_a_lock_is_not_read_at_a_step_of_its_writer() {
    let lock = SeqLock::new([0_u64; 4]);
    lock.begin();
    assert_eq!(lock.try_read(), None);
}

#[test]
fn a_count_sees_a_writer_between() {
    let (count, word, mut guard) = (SeqCount::new(), AtomicU64::new(0), ());
    let begun = count.read_begin();
    assert!(!count.read_retry(begun));
    let writer = count.write(&mut guard);
    word.store(1, Relaxed);
    assert!(count.read_retry(begun) && count.read_retry(count.read_begin()));
    drop(writer);
    assert!(count.read_retry(begun) && !count.read_retry(count.read_begin()));
}
