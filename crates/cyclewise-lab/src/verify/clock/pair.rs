//! Two threads, each pinned to a CPU, that compare their times.
//!
//! - *warp*: under a lock each thread reads the time, compares it with the last one read under the lock, and stores its
//!   own. The lock itself orders the reads, so this is the weaker test.
//! - *now*: one thread reads the time and stores it; the other loads it, then reads the time, which must not be less.
//! - *load*: one thread stores a number, waits until every CPU sees it, and notes the time; the other reads the time and
//!   loads the number. If its time is later than the one noted for a number, it must not load a lower number.
//! - *store*: the same without waiting. A clock that is ordered like a load rightly fails it, and one that is ordered after
//!   stores must pass it.
//! - *fence*: the same with the compiler's fence, which orders memory and not the counter: some CPUs fail it with any
//!   clock, and it is only reported.
//!
//! # References
//! I. Molnar's time-warp-test (2006); A. Lutomirski's evil-clock-test (2011), which has the tests without a lock under
//! these names.

use crate::arch::store::store_and_wait;
use crate::sys::{affinity, interrupt};
use std::io;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, fence};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// Two CPUs: in *now*, *load* and *store* the first one's thread stores and the second one's loads.
pub(super) type Pair = [u32; 2];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    /// Comparisons of two times.
    pub(super) tries: usize,
    /// Comparisons in the wrong order.
    pub(super) events: usize,
    /// The largest difference, in the clock's unit; for *load* and *store* in numbers.
    pub(super) worst: u64,
}

impl Outcome {
    pub(super) fn add(&mut self, other: Self) {
        self.tries += other.tries;
        self.events += other.events;
        self.worst = self.worst.max(other.worst);
    }

    /// `later` was read after `earlier`.
    pub(super) fn compare(&mut self, earlier: u64, later: u64) {
        self.tries += 1;
        if later < earlier {
            self.events += 1;
            self.worst = self.worst.max(earlier - later);
        }
    }
}

/// A value alone on two cache lines, because adjacent lines are fetched together.
#[repr(align(128))]
#[derive(Default)]
struct Line<T>(T);

/// Comparisons between two checks of the time.
const BATCH: usize = 256;
/// Times that each thread of *load* or *store* records in a round.
const ROUND: usize = 8_192;

/// Added to the count of ready threads if one will never be ready: the other must not begin.
const NEVER: usize = 1 << 8;

/// Runs both on their CPUs once both threads are there; `None` if one could not be moved to its CPU.
fn both<A: Send, B: Send>(
    pair: Pair,
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> io::Result<Option<(A, B)>> {
    let there = AtomicUsize::new(0);
    let meet = |cpu: u32| {
        there.fetch_add(affinity::confine(&[cpu]).map_or(NEVER, |()| 1), SeqCst);
        while there.load(SeqCst) < 2 {
            std::thread::yield_now();
        }
        // Begun alone, one would wait for the other for ever.
        there.load(SeqCst) == 2
    };
    std::thread::scope(|scope| {
        let a = Builder::new().spawn_scoped(scope, || meet(pair[0]).then(a))?;
        let b = Builder::new().spawn_scoped(scope, || meet(pair[1]).then(b));
        if b.is_err() {
            there.fetch_add(NEVER, SeqCst);
        }
        let b = joined(b?);
        Ok(joined(a).zip(b))
    })
}

fn joined<T>(thread: std::thread::ScopedJoinHandle<'_, Option<T>>) -> Option<T> {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// The time-warp-test.
pub(super) fn warp(pair: Pair, time: Duration, read: impl Fn() -> u64 + Sync) -> io::Result<Outcome> {
    let (held, last) = (Line(AtomicBool::new(false)), Line(AtomicU64::new(0)));
    let run = || {
        let mut seen = Outcome::default();
        let end = Instant::now() + time;
        loop {
            for _ in 0..BATCH {
                // Acquire: pairs with the Release below.
                while held.0.swap(true, Acquire) {
                    std::hint::spin_loop();
                }
                let now = read();
                seen.compare(last.0.load(Relaxed), now);
                last.0.store(now, Relaxed);
                // Release: pairs with the Acquire above.
                held.0.store(false, Release);
            }
            // Checked after the batch, so that a thread delayed past `end` still tries one.
            if Instant::now() >= end || interrupt::asked() {
                break seen;
            }
        }
    };
    let mut seen = Outcome::default();
    if let Some((a, b)) = both(pair, run, run)? {
        seen.add(a);
        seen.add(b);
    }
    Ok(seen)
}

/// The *now* test. `hear` takes the word to load, and returns the loaded time and its own.
pub(super) fn now(
    pair: Pair,
    time: Duration,
    tell: impl Fn() -> u64 + Sync,
    hear: impl Fn(&AtomicU64) -> (u64, u64) + Sync,
) -> io::Result<Outcome> {
    let (told, over) = (Line(AtomicU64::new(0)), Line(AtomicBool::new(false)));
    let teller = || {
        while !over.0.load(Relaxed) {
            for _ in 0..BATCH {
                // Release: pairs with the Acquire of `hear`.
                told.0.store(tell(), Release);
            }
        }
    };
    let hearer = || {
        let mut seen = Outcome::default();
        let end = Instant::now() + time;
        loop {
            for _ in 0..BATCH {
                let (earlier, later) = hear(&told.0);
                seen.compare(earlier, later);
            }
            // After the batch, as in `warp`.
            if Instant::now() >= end || interrupt::asked() {
                break;
            }
        }
        over.0.store(true, Relaxed);
        seen
    };
    let both = both(pair, teller, hearer)?;
    Ok(both.map_or(Outcome::default(), |(_, seen)| seen))
}

/// Loads, then reads the clock, ordered only as the clock itself orders its reading.
pub(super) fn hear(told: &AtomicU64, read: impl Fn() -> u64) -> (u64, u64) {
    // Acquire: pairs with the Release in `now`.
    let earlier = told.load(Acquire);
    (earlier, read())
}

/// The twin of [`hear`]: reads the clock too early, by as long as the other thread takes for a store. Every test must catch
/// it, also on a busy machine where the two threads seldom run at once.
pub(super) fn hear_too_late(told: &AtomicU64, read: impl Fn() -> u64) -> (u64, u64) {
    /// Loads until the other thread counts as not running.
    const PATIENCE: u32 = 200;
    let later = read();
    // Acquire, twice: pairs with the Release in `now`.
    let before = told.load(Acquire);
    let changed = (0..PATIENCE)
        .map(|_| told.load(Acquire))
        .find(|&earlier| earlier != before);
    (changed.unwrap_or(before), later)
}

/// How *load*, *fence* and *store* store a number.
pub(super) type Store = fn(&AtomicU64, u64);

/// Stores, and waits until every CPU sees it.
pub(super) const LOAD: Store = store_and_wait;

/// Stores, and executes what the compiler makes of a full fence.
pub(super) const FENCE: Store = |word, value| {
    word.store(value, Relaxed);
    fence(SeqCst);
};

pub(super) const STORE: Store = |word, value| word.store(value, Relaxed);

/// *load*, *fence* or *store*. `note` reads the storing thread's time, `read` the loading thread's.
pub(super) fn numbers(
    pair: Pair,
    time: Duration,
    store: Store,
    note: impl Fn() -> u64 + Sync,
    read: impl Fn() -> u64 + Sync,
) -> io::Result<Outcome> {
    let mut outcome = Outcome::default();
    let end = Instant::now() + time;
    loop {
        let number = Line(AtomicU64::new(0));
        let storer = || {
            let mut noted = Vec::with_capacity(ROUND);
            for i in 1..=ROUND as u64 {
                store(&number.0, i);
                noted.push(note());
            }
            noted
        };
        let loader = || {
            let mut found = Vec::with_capacity(ROUND);
            for _ in 0..ROUND {
                let time = read();
                found.push((time, number.0.load(Relaxed)));
            }
            found
        };
        let Some((noted, found)) = both(pair, storer, loader)? else {
            break;
        };
        outcome.add(judge(&noted, &found));
        if Instant::now() >= end || interrupt::asked() {
            break;
        }
    }
    Ok(outcome)
}

/// `noted[i]` is the time after number i + 1 was stored; `found` holds times and the number loaded after each.
fn judge(noted: &[u64], found: &[(u64, u64)]) -> Outcome {
    let mut outcome = Outcome::default();
    for &(time, number) in found {
        let stored = noted.partition_point(|&t| t < time) as u64;
        outcome.compare(stored, number);
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_was_stored_before_must_be_found() {
        let noted = [10, 20, 30];
        assert_eq!(judge(&noted, &[(5, 0), (11, 1), (31, 3), (12, 3)]).events, 0);
        let late = judge(&noted, &[(31, 1), (11, 0)]);
        assert_eq!((late.tries, late.events, late.worst), (2, 2, 2));
    }

    #[test]
    fn times_the_wrong_way_round_are_counted() {
        let mut seen = Outcome::default();
        seen.compare(5, 5);
        seen.compare(9, 4);
        assert_eq!(
            seen,
            Outcome {
                tries: 2,
                events: 1,
                worst: 5
            }
        );
    }

    /// What every way to store has in common; how they differ only another CPU sees.
    #[test]
    fn each_way_stores() {
        let word = AtomicU64::new(0);
        for (i, store) in (1..).zip([LOAD, FENCE, STORE]) {
            store(&word, i);
            assert_eq!(word.load(Relaxed), i);
        }
    }

    /// Whether the compiler's fence does not do is up to the CPU: on most none of these is ever seen to be late.
    #[test]
    fn a_store_that_is_waited_for_is_found_after_a_later_time() {
        use cyclewise::clock::{AfterStores, Bracketed, DependentLoad, Instant, Order};
        fn time<O: Order>() -> u64 {
            Instant::<O>::read().as_nanos()
        }
        let cpus = affinity::allowed().unwrap();
        let &[first, second, ..] = &cpus[..] else {
            return println!("skipped: one CPU");
        };
        // Where the kernel's clock is read, or an emulator's, no instruction of ours stands behind the reading.
        let mode = || {
            time::<Bracketed>();
            cyclewise::clock::Clock::process().status().mode
        };
        let begun = std::time::Instant::now();
        while mode() == cyclewise::clock::Mode::Starting && begun.elapsed() < Duration::from_secs(2) {}
        if mode() != cyclewise::clock::Mode::Counter || cfg!(not(target_arch = "x86_64")) {
            return println!("skipped: the counter may not be what is read ({:?})", mode());
        }
        let slice = Duration::from_millis(100);
        let seen =
            |store, note: fn() -> u64| numbers([first, second], slice, store, note, time::<DependentLoad>).unwrap();
        for (name, seen) in [
            ("stored and waited for", seen(LOAD, time::<Bracketed>)),
            ("a reading after stores", seen(STORE, time::<AfterStores>)),
        ] {
            if seen.tries == 0 {
                return println!("skipped: the threads could not be pinned");
            }
            assert_eq!(seen.events, 0, "{name}: {seen:?}");
        }
        for (name, seen) in [
            ("the compiler's fence", seen(FENCE, time::<Bracketed>)),
            ("no fence", seen(STORE, time::<Bracketed>)),
        ] {
            println!("{name}: late in {} of {}", seen.events, seen.tries);
        }
    }

    /// The kernel's clock passes every test on one CPU, and the twin is caught.
    #[test]
    fn a_clock_read_too_early_is_caught() {
        let cpu = affinity::allowed().unwrap()[0];
        let (pair, time) = ([cpu; 2], Duration::from_millis(30));
        let read = crate::sys::clock::monotonic_ns;
        for seen in [
            warp(pair, time, read),
            now(pair, time, read, |told| hear(told, read)),
            numbers(pair, time, LOAD, read, read),
        ] {
            let seen = seen.unwrap();
            assert!(seen.tries > 0 && seen.events == 0, "{seen:?}");
        }
        // If one thread's CPU does not exist, the other must not begin: it would wait for ever.
        for gone in [[cpu, 1023], [1023, cpu]] {
            let seen = now(gone, time, read, |told| hear(told, read)).unwrap();
            assert_eq!(seen, Outcome::default());
        }
        // In one thread: whether two threads interleave is up to the scheduler.
        let told = AtomicU64::new(0);
        let (earlier, later) = hear_too_late(&told, || {
            told.store(7, Release);
            3
        });
        assert_eq!((earlier, later), (7, 3));
        let (earlier, later) = hear(&told, || 8);
        assert_eq!((earlier, later), (7, 8));
    }
}
