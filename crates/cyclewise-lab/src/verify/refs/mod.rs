//! Do reference counts keep their promises on this machine? Misuse saturates, saturation is permanent, and exactly one put
//! is the last.
//!
//! Each check takes any counter, so that its test can pass one that breaks the promise. Threads are not pinned: one for
//! each CPU, and at least two.

mod counter;
mod misuse;

use self::counter::Counter;
use self::misuse::misuse;
use super::{Check, SCHEMA, Verification, is_over, no_thread};
use crate::error::Result;
use crate::runner::Progress;
use cyclewise::refs::{Refcount, Refcount64};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

/// Verifies within about `time`, in quarters: two races, two widths.
///
/// # Errors
/// Exit 3 if no thread can be created.
pub(crate) fn verify(progress: &dyn Progress, time: Duration) -> Result<Verification> {
    let share = time / 4;
    let step = |done: f64, what: &str| progress.step(done, &format!("verify refs: {what}"));
    step(0.0, "saturation, 32 bits");
    let narrow = for_good::<Refcount>("saturation-is-permanent-32", share)?;
    step(0.25, "saturation, 64 bits");
    let wide = for_good::<Refcount64>("saturation-is-permanent-64", share)?;
    step(0.5, "the last put, 32 bits");
    let last = told_once::<Refcount>("last-put-is-unique-32", share)?;
    step(0.75, "the last put, 64 bits");
    let last_wide = told_once::<Refcount64>("last-put-is-unique-64", share)?;
    Ok(Verification {
        schema: SCHEMA,
        what: "refs",
        checks: vec![
            misuse::<Refcount>("misuse-saturates-32"),
            misuse::<Refcount64>("misuse-saturates-64"),
            narrow,
            wide,
            last,
            last_wide,
        ],
        notes: Vec::new(),
    })
}

/// Threads take and put references to a saturated count: no put is the last, and the count stays saturated.
fn for_good<C: Counter>(name: &'static str, time: Duration) -> Result<Check> {
    let count = C::new(C::MAX);
    count.inc();
    let (operations, escapes) = together(time, |i| {
        let mut escapes = 0;
        for round in 0..1_000 {
            match (round + i) % 5 {
                0 => count.inc(),
                1 => count.add(60),
                2 => count.dec(),
                3 => escapes += usize::from(count.dec_and_test()),
                _ => escapes += usize::from(!count.inc_not_zero()) + usize::from(count.sub_and_test(60)),
            }
            escapes += usize::from(count.read() <= C::MAX);
        }
        (1_200, escapes)
    })?;
    let escapes = escapes + usize::from(count.read() != C::SATURATED);
    Ok(Check {
        name,
        promise: "a saturated count stays saturated, whatever threads do to it",
        seen: format!("{escapes} escapes in {operations} operations"),
        tries: operations,
        events: escapes,
        holds: Some(escapes == 0),
    })
}

/// Threads put references while others try to get one: exactly one put is the last, and no get succeeds after it.
fn told_once<C: Counter>(name: &'static str, time: Duration) -> Result<Check> {
    let begun = Instant::now();
    let (mut rounds, mut wrong) = (0, 0);
    while rounds == 0 || !is_over(begun, time) {
        let count = C::new(threads() as u64);
        let (told, early, alive) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(true));
        let put = || {
            if count.dec_and_test() {
                alive.store(false, SeqCst);
                told.fetch_add(1, SeqCst);
            }
        };
        let (visits, _) = together(Duration::ZERO, |_| {
            put();
            let mut visits = 1;
            // Gets succeed while another thread still holds a reference.
            while visits < 2_000 && count.inc_not_zero() {
                early.fetch_add(usize::from(!alive.load(SeqCst)), SeqCst);
                put();
                visits += 1;
            }
            (visits, 0)
        })?;
        rounds += visits;
        wrong += early.into_inner() + told.into_inner().abs_diff(1) + usize::from(count.read() != 0);
    }
    Ok(Check {
        name,
        promise: "exactly one put returns that it was the last, and no get succeeds after it",
        seen: format!("{wrong} wrong in {rounds} puts"),
        tries: rounds,
        events: wrong,
        holds: Some(wrong == 0),
    })
}

/// One thread for each CPU, and at least two, for a race.
fn threads() -> usize {
    thread::available_parallelism().map_or(2, |n| n.get().max(2))
}

/// Repeats `run` on every thread for `time`, at least once; sums operations and events.
///
/// # Errors
/// Exit 3 if a thread cannot be created; the others finish first.
fn together(time: Duration, run: impl Fn(usize) -> (usize, usize) + Sync) -> Result<(usize, usize)> {
    let begun = Instant::now();
    thread::scope(|scope| {
        let run = &run;
        let work = move |i| {
            let mut sum = (0, 0);
            loop {
                let (operations, events) = run(i);
                sum = (sum.0 + operations, sum.1 + events);
                if is_over(begun, time) {
                    return sum;
                }
            }
        };
        let spawn = |i| Builder::new().spawn_scoped(scope, move || work(i));
        let started: io::Result<Vec<_>> = (0..threads()).map(spawn).collect();
        let sum = started
            .map_err(|e| no_thread("refs", &e))?
            .into_iter()
            .map(|t| t.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        Ok(sum)
    })
}

#[cfg(test)]
mod tests {
    use super::counter::counters;
    use super::*;
    use crate::experiment::refcount::unchecked::{Unchecked, Unchecked64};

    counters! {
        Unchecked: u32, Refcount::MAX, Refcount::SATURATED;
        Unchecked64: u64, Refcount64::MAX, Refcount64::SATURATED;
        Generous: u64, Refcount64::MAX, Refcount64::SATURATED;
    }

    /// Also reports the last put but one as the last.
    struct Generous(Refcount64);

    impl Generous {
        fn new(references: u64) -> Self {
            Self(Refcount64::new(references))
        }
        fn read(&self) -> u64 {
            self.0.read()
        }
        fn inc(&self) {
            self.0.inc();
        }
        fn add(&self, n: u64) {
            self.0.add(n);
        }
        fn inc_not_zero(&self) -> bool {
            self.0.inc_not_zero()
        }
        fn add_not_zero(&self, n: u64) -> bool {
            self.0.add_not_zero(n)
        }
        fn dec(&self) {
            self.0.dec();
        }
        fn dec_and_test(&self) -> bool {
            self.0.dec_and_test_old().old <= 2
        }
        fn sub_and_test(&self, n: u64) -> bool {
            self.0.sub_and_test(n)
        }
    }

    #[test]
    fn an_unchecked_count_is_found_out() {
        for check in [misuse::<Unchecked>("misuse"), misuse::<Unchecked64>("misuse")] {
            assert!(check.holds == Some(false));
            assert_eq!(check.events, 18, "{}", check.seen);
        }
        assert!(for_good::<Unchecked>("saturation", Duration::ZERO).unwrap().holds == Some(false));
        assert!(for_good::<Unchecked64>("saturation", Duration::ZERO).unwrap().holds == Some(false));
    }

    #[test]
    fn a_count_that_tells_twice_is_found_out() {
        let check = told_once::<Generous>("last", Duration::ZERO).unwrap();
        assert!(check.holds == Some(false), "{}", check.seen);
    }
}
