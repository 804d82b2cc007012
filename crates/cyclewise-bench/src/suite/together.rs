//! A user's function that threads call on one shared value, for a while, all at once.
//!
//! # References
//! Jain, Chiu, Hawe, "A Quantitative Measure of Fairness and Discrimination", DEC TR-301, 1984 (the index).

use super::caught::caught;
use crate::error::{Error, Result};
use crate::runner::crowd::Crowd;
use crate::runner::{Sample, metrics};
use std::cell::Cell;
use std::hint::black_box;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// Calls between two looks at the flag that ends them.
const STRIDE: u64 = 16;

/// Bytes of a thread's stack, as std's threads have.
const STACK: usize = 2 << 20;

/// A function that several threads call at once.
pub(super) trait Together {
    fn once(&self);

    /// Operations a second of this crowd, and how fairly its threads shared them.
    ///
    /// # Errors
    /// A thread cannot be started, or a call panicked.
    fn run(&self, name: &str, crowd: &Crowd) -> Result<Sample>;
}

/// The function and what its threads share.
pub(super) struct OnShared<T, F> {
    pub(super) shared: T,
    pub(super) run: F,
}

impl<T: Sync, O, F: Fn(&T) -> O + Sync> Together for OnShared<T, F> {
    fn once(&self) {
        black_box((self.run)(&self.shared));
    }

    fn run(&self, name: &str, crowd: &Crowd) -> Result<Sample> {
        let done = crowd.run_on_stacks(STACK, name, |_, stop| {
            // One word a thread, which no other reads before the end.
            let calls = Cell::new(0u64);
            let worked = caught(|| self.repeat(stop, &calls));
            if worked.is_err() {
                // The others need not work to the end for nothing.
                stop.store(true, Relaxed);
            }
            worked.map(|()| calls.get())
        })?;
        let calls: std::result::Result<Vec<u64>, &String> = done.results().map(|r| r.as_ref().copied()).collect();
        let calls = calls.map_err(|why| Error::check(why.clone()))?;
        let [jain, slowest] = fairness(&calls);
        Ok(Sample {
            metrics: metrics([("fairness", "1", jain), ("slowest-share", "1", slowest)]),
            ..Sample::new(calls.iter().sum::<u64>() as f64 / done.seconds())
        })
    }
}

impl<T: Sync, O, F: Fn(&T) -> O + Sync> OnShared<T, F> {
    fn repeat(&self, stop: &AtomicBool, calls: &Cell<u64>) {
        // Relaxed: a flag and nothing else.
        while !stop.load(Relaxed) {
            for _ in 0..STRIDE {
                black_box((self.run)(&self.shared));
            }
            calls.set(calls.get() + STRIDE);
        }
    }
}

/// Jain's index, 1 where all threads did as much and 1/n where one did all, and the slowest thread's part of a fair share.
fn fairness(calls: &[u64]) -> [f64; 2] {
    let all: f64 = calls.iter().map(|&n| n as f64).sum();
    let squares: f64 = calls.iter().map(|&n| (n as f64).powi(2)).sum();
    let threads = calls.len() as f64;
    let least = calls.iter().min().map_or(0.0, |&n| n as f64);
    match all > 0.0 {
        true => [all * all / (threads * squares), least * threads / all],
        false => [1.0, 1.0],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::affinity;
    use std::sync::atomic::AtomicU64;
    use std::time::Duration;

    fn crowd(threads: usize) -> Crowd {
        Crowd {
            cpus: affinity::allowed().unwrap(),
            threads,
            pinned: false,
            span: Duration::from_millis(2),
        }
    }

    #[test]
    fn jains_index_is_one_for_equals_and_a_share_where_one_has_all() {
        assert_eq!(fairness(&[5, 5, 5, 5]), [1.0, 1.0]);
        assert_eq!(fairness(&[8, 0, 0, 0]), [0.25, 0.0]);
        // Jain, Chiu, Hawe: two of three get all, so the index is two thirds.
        assert!((fairness(&[1, 1, 0])[0] - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!(fairness(&[]), [1.0, 1.0]);
    }

    #[test]
    fn every_call_is_counted() {
        let body = OnShared {
            shared: AtomicU64::new(0),
            run: |n: &AtomicU64| n.fetch_add(1, Relaxed),
        };
        let sample = body.run("count", &crowd(2)).unwrap();
        let calls = body.shared.load(Relaxed);
        assert!(
            calls > 0 && sample.value > 0.0 && sample.value <= calls as f64 / 0.002,
            "{calls} {sample:?}"
        );
        assert_eq!(sample.metrics.len(), 2);
    }

    #[test]
    fn a_panic_of_one_thread_is_the_rows_error() {
        let body = OnShared {
            shared: (),
            run: |(): &()| panic!("at once"),
        };
        let error = body.run("bad", &crowd(2)).unwrap_err();
        assert!(error.message.contains("at once"), "{error}");
    }
}
