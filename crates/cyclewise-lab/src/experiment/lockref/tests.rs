//! Rows that run, and wrong counts that are detected.

use super::counts::Count;
use super::retries::{Counted, Retries, taken};
use super::*;
use crate::error::Status;
use crate::sys::affinity;
use cyclewise::refs::lockref::Policy;
use std::sync::atomic::Ordering::Relaxed;

#[test]
fn every_row_keeps_its_count_and_says_how_it_tried() {
    for mut row in by_threads(&Crowd::brief(3)) {
        let sample = row.sample().unwrap();
        assert!(sample.value > 0.0 && sample.value.is_finite(), "{}", row.name());
        assert_eq!(sample.metrics.len(), 2);
        assert!(sample.metrics.iter().all(|m| m.2 >= 0.0));
    }
}

#[test]
fn a_thread_alone_tries_nothing_in_vain() {
    for mut row in by_threads(&Crowd::brief(1)) {
        let sample = row.sample().unwrap();
        assert!(sample.metrics.iter().all(|m| m.2 == 0.0), "{}: {sample:?}", row.name());
    }
}

#[test]
fn a_count_that_loses_updates_is_an_error() {
    struct Lossy(AtomicU64);
    impl Count for Lossy {
        fn pair(&self) {
            self.0.fetch_add(1, Relaxed);
        }
        fn left(&self) -> i64 {
            self.0.load(Relaxed).cast_signed()
        }
    }
    let error = CountRow::sampler("lossy".to_string(), &Crowd::brief(2), || Lossy(AtomicU64::new(0)))
        .sample()
        .unwrap_err();
    assert_eq!(error.status, Status::CheckFailed);
    assert!(error.message.contains("updates were lost"), "{}", error.message);
}

#[test]
fn tries_in_vain_and_turns_are_counted_one_by_one() {
    let policy = Counted(Limit::<NoRelax>::new(3));
    taken();
    assert_eq!(policy.limit(), 3);
    assert_eq!(policy.limit(), 3);
    policy.queueing();
    policy.lock_acquired(true);
    assert_eq!(taken(), Retries { failed: 2, queued: 1 });
    assert_eq!(taken(), Retries::default());
}

#[test]
fn counts_of_threads_end_with_all_cpus_and_more() {
    assert_eq!(counts(1), [1, 4]);
    assert_eq!(counts(2), [1, 2, 8]);
    assert_eq!(counts(12), [1, 2, 4, 8, 12, 48]);
}

#[test]
fn every_comparison_has_its_rows() {
    for mode in [Mode::Quick, Mode::Full] {
        let setup = setup(&Options {
            mode,
            ..Options::default()
        })
        .unwrap();
        let limits = if mode == Mode::Full { LIMITS.len() } else { 6 };
        let swept = setup.samplers.iter().filter(|s| s.name().starts_with("limit-")).count();
        assert_eq!(swept, limits);
        let by_threads = PEERS.len() * counts(affinity::allowed().unwrap().len()).len();
        // Without single mode there is no elided row, and only x86-64 has bare instructions.
        let alone = setup.compare.len() - by_threads - (limits - 1) - 2;
        assert!((3..=5).contains(&alone), "{alone}");
    }
}
