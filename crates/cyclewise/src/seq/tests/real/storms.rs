//! Readers beside writers: no value is half of one and half of another.

use crate::seq::{SeqCount, SeqLatch, SeqLock};
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

type Value = [u64; 8];

fn value(n: u64) -> Value {
    core::array::from_fn(|word| n ^ (word as u64) << 56)
}

/// Whether these are words of one value, and which.
fn whole(found: Value) -> Option<u64> {
    (found == value(found[0])).then_some(found[0])
}

/// How many readings of two readers are torn or older than the one before, while one thread writes; ends at the first.
fn torn(write: impl Fn(u64) + Sync, read: impl Fn() -> Option<Value> + Sync, time: Duration) -> u64 {
    let (over, torn, readings) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut last = 0;
                while !over.load(Relaxed) {
                    let Some(found) = read() else { continue };
                    readings.fetch_add(1, Relaxed);
                    match whole(found) {
                        Some(n) if n >= last => last = n,
                        _ => {
                            torn.fetch_add(1, Relaxed);
                        }
                    }
                }
            });
        }
        let begin = Instant::now();
        let mut n = 0;
        while torn.load(Relaxed) == 0 && (begin.elapsed() < time || readings.load(Relaxed) < 10_000) {
            for _ in 0..100 {
                n += 1;
                write(n);
            }
        }
        over.store(true, Relaxed);
    });
    torn.into_inner()
}

/// For so many milliseconds as CYCLEWISE_SEQ_MS says.
fn short() -> Duration {
    let is_long = std::env::var_os("CYCLEWISE_LONG").is_some();
    let given = std::env::var("CYCLEWISE_SEQ_MS").map(|text| text.parse().expect("CYCLEWISE_SEQ_MS is a number"));
    Duration::from_millis(given.unwrap_or(if is_long { 3_000 } else { 200 }))
}

/// Long enough for a twin to be caught on any machine; it ends when it is.
const PATIENCE: Duration = Duration::from_secs(60);

fn skipped() -> bool {
    let one_cpu = thread::available_parallelism().is_ok_and(|n| n.get() == 1);
    if one_cpu {
        std::println!("skipped: on one CPU a twin is caught by chance only");
    }
    one_cpu
}

#[test]
fn no_reading_of_a_lock_is_torn() {
    let lock = SeqLock::new(value(0));
    assert_eq!(torn(|n| lock.write(value(n)), || Some(lock.read()), short()), 0);
    let lock = SeqLock::new(value(0));
    let advance = |_| {
        lock.update(|old| value(old[0] + 1));
    };
    assert_eq!(torn(advance, || lock.try_read(), short()), 0);
}

#[test]
fn twin_a_reader_that_does_not_look_at_the_number_is_caught() {
    let lock = SeqLock::new(value(0));
    let torn = || torn(|n| lock.write(value(n)), || Some(lock.read_unchecked()), PATIENCE);
    assert!(skipped() || torn() > 0);
}

#[test]
fn no_reading_of_a_latch_is_torn() {
    let latch = SeqLatch::new(value(0));
    assert_eq!(torn(|n| latch.write(value(n)), || Some(latch.read()), short()), 0);
}

#[test]
fn no_section_under_a_count_is_torn() {
    let (count, lock) = (SeqCount::new(), Mutex::new(()));
    let words: [AtomicU64; 8] = value(0).map(AtomicU64::new);
    let load = || core::array::from_fn(|n| words[n].load(Relaxed));
    let write = |n| {
        let mut guard = lock.lock().unwrap();
        let _writer = count.write(&mut guard);
        words
            .iter()
            .zip(value(n))
            .for_each(|(word, value)| word.store(value, Relaxed));
    };
    let read = || {
        count.read(load).or_else(|| {
            let _no_writer = lock.lock().unwrap();
            Some(load())
        })
    };
    assert_eq!(torn(write, read, short()), 0);
    // The twin: without the count.
    assert!(skipped() || torn(write, || Some(load()), PATIENCE) > 0);
}

/// Updates of several writers are all made.
#[test]
fn no_update_is_lost() {
    const EACH: u64 = 10_000;
    let lock = SeqLock::new(value(0));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..EACH {
                    lock.update(|old| value(old[0] + 1));
                }
            });
        }
    });
    assert_eq!(whole(lock.read()), Some(4 * EACH));
}
