//! The counts, and what a snapshot says of them.

use crate::percpu::Histogram;
use crate::percpu::histogram::{Bucket, Range, Snapshot};
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use proptest::prelude::*;
use std::string::ToString;
use std::thread;
use std::vec::Vec;

fn recorded(values: impl IntoIterator<Item = f64>) -> Snapshot {
    let histogram = Histogram::new();
    values.into_iter().for_each(|value| histogram.record(value));
    histogram.snapshot()
}

fn contains(range: Range, value: f64) -> bool {
    range.lower < value && value <= range.upper
}

#[test]
fn nothing_has_no_quantile() {
    let nothing = Histogram::default().snapshot();
    assert_eq!((nothing.count(), nothing.quantile(0.5)), (0, None));
    assert_eq!((nothing.buckets().count(), nothing.exponential(3)), (0, Vec::new()));
    assert_eq!(nothing.sum(), Range { lower: 0.0, upper: 0.0 });
}

proptest! {
    /// The quantile's bounds are around the value that sorting finds, and its middle is close.
    #[test]
    fn quantiles_are_around_those_of_the_sorted_values(mut values in prop::collection::vec(-3.0f64..1e21, 1..200), q in 0.0f64..=1.0) {
        // Most inside of the cells, over many octaves.
        values.iter_mut().for_each(|value| if *value > 1e20 { *value = (*value / 1e21 - 0.1).abs().powi(9) });
        let taken = recorded(values.iter().copied());
        values.sort_by(f64::total_cmp);
        let place = q * values.len() as f64;
        let rank = (place.ceil() as usize).max(1);
        let range = taken.quantile(q).unwrap();
        let value = values[rank - 1];
        prop_assert!(contains(range, value), "{range:?} {value}");
        let is_inside = range.lower.is_finite() && range.upper.is_finite();
        prop_assert!(!is_inside || (range.middle() / value - 1.0).abs() <= 1.0 / 64.0 + 1e-12);
        prop_assert_eq!(taken.count(), values.len() as u64);
    }

    /// The sum of what is inside of the cells is within its bounds.
    #[test]
    fn sums_are_within_their_bounds(values in prop::collection::vec(1e-9f64..1e19, 1..200)) {
        let (taken, sum) = (recorded(values.iter().copied()), values.iter().sum::<f64>());
        let range = taken.sum();
        prop_assert!(range.lower <= sum && sum <= range.upper * (1.0 + 1e-12), "{range:?} {sum}");
        prop_assert!((range.middle() / sum - 1.0).abs() <= 1.0 / 64.0 + 1e-12);
    }

    /// A whole number is where the number of double precision is.
    #[test]
    fn whole_numbers_are_counted_as_numbers(value: u64, shift in 0u32..64) {
        let value = value >> shift;
        let histogram = Histogram::new();
        histogram.record_u64(value);
        prop_assert_eq!(histogram.snapshot(), recorded([value as f64]));
    }
}

#[test]
fn what_is_outside_of_the_cells_is_counted() {
    let taken = recorded([0.0, -7.0, 1e-12, f64::NAN, f64::INFINITY, 1e20, 3.0]);
    assert_eq!((taken.count(), taken.below(), taken.above()), (7, 3, 3));
    let quantiles = [0.0, 0.5, 1.0, f64::NAN].map(|q| taken.quantile(q).unwrap().middle());
    assert_eq!(quantiles, [2f64.powi(-32), 2.96875, 2f64.powi(64), 2f64.powi(-32)]);
    let three = Bucket {
        lower: 2.9375,
        upper: 3.0,
        count: 1,
    };
    assert_eq!(taken.buckets().collect::<Vec<_>>(), [three]);
}

#[test]
fn snapshots_merge_and_differ() {
    let histogram = Histogram::new();
    histogram.record(1.5);
    let before = histogram.snapshot();
    histogram.record(1.5);
    histogram.record(0.0);
    let since = histogram.snapshot().since(&before);
    assert_eq!(since, recorded([0.0, 1.5]));
    let mut both = before;
    both.merge(&since);
    assert_eq!(both, histogram.snapshot());
}

/// Snapshots that are merged again and again. From 2^53 on a count is no number of double precision.
#[test]
fn counts_that_are_too_many_stay_the_most_there_can_be() {
    let mut taken = recorded([0.0, 1.5, 1.75, 1e20]);
    let few = taken.clone();
    for doublings in 1..=62 {
        taken.merge(&taken.clone());
        assert_eq!(taken.quantile(0.5).unwrap().upper, 1.5, "{doublings}");
        let mut more = taken.clone();
        more.merge(&recorded([1e20; 3]));
        assert_eq!(more.quantile(1.0).unwrap().upper, f64::INFINITY, "{doublings}");
    }
    (0..9).for_each(|_| taken.merge(&taken.clone()));
    assert_eq!((taken.count(), taken.below()), (u64::MAX, u64::MAX));
    assert_eq!(taken.exponential(0), [(0, u64::MAX)]);
    assert_eq!((taken.up_to(0), taken.up_to(1)), (u64::MAX, u64::MAX));
    assert_eq!(few.since(&taken).count(), 0);
}

#[test]
fn exponential_buckets_have_the_indices_of_opentelemetry() {
    // 1 is in the bucket that ends there; 2^(1/8) is 1.09.
    let taken = recorded([1.0, 1.01, 1.04, 1.8, 2.0, 1024.0]);
    assert_eq!(taken.exponential(0), [(-1, 1), (0, 4), (9, 1)]);
    assert_eq!(taken.exponential(3), [(-1, 1), (0, 2), (6, 1), (7, 1), (79, 1)]);
    assert_eq!(taken.exponential(3), taken.exponential(20));
}

#[test]
fn the_text_is_that_of_a_histogram() {
    let taken = recorded([0.0, 0.5, 0.75, 1.0, 3.0, f64::INFINITY]);
    let labels = [("path", "a\"b\\c\nd"), ("code", "200")];
    let text = taken.open_metrics("wait_seconds", &labels, -1..=1).to_string();
    let expected = "# TYPE wait_seconds histogram\n\
        wait_seconds_bucket{path=\"a\\\"b\\\\c\\nd\",code=\"200\",le=\"0.5\"} 2\n\
        wait_seconds_bucket{path=\"a\\\"b\\\\c\\nd\",code=\"200\",le=\"1.0\"} 4\n\
        wait_seconds_bucket{path=\"a\\\"b\\\\c\\nd\",code=\"200\",le=\"2.0\"} 4\n\
        wait_seconds_bucket{path=\"a\\\"b\\\\c\\nd\",code=\"200\",le=\"+Inf\"} 6\n\
        wait_seconds_count{path=\"a\\\"b\\\\c\\nd\",code=\"200\"} 6\n\
        wait_seconds_sum{path=\"a\\\"b\\\\c\\nd\",code=\"200\"} 5.19921875\n";
    assert_eq!(text, expected);
    let plain = taken.open_metrics("wait_seconds", &[], -99..=99).to_string();
    assert_eq!(
        (plain.lines().count(), plain.contains("wait_seconds_count 6\n")),
        (1 + 97 + 3, true)
    );
}

#[test]
fn the_words_can_be_allocated_before_the_first_record() {
    let histogram = Histogram::new();
    assert_eq!(histogram.try_allocate(), Ok(()));
    assert_eq!(histogram.snapshot().count(), 0);
}

/// Records of a histogram, or of the twin, whose words all threads change by a load and a store.
fn storm(record: impl Fn(u64) + Sync, taken: impl Fn() -> u64 + Sync, each: u64) -> Result<(), (u64, u64)> {
    const THREADS: u64 = 4;
    let is_over = AtomicBool::new(false);
    let fell = thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut last = 0;
            let mut fell = 0;
            while !is_over.load(Relaxed) {
                let now = taken();
                fell += u64::from(now < last);
                last = now;
            }
            fell
        });
        let record = &record;
        let writers: Vec<_> = (0..THREADS)
            .map(|thread| scope.spawn(move || (0..each).for_each(|n| record(n % 64 + thread))))
            .collect();
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        is_over.store(true, Relaxed);
        reader.join().unwrap()
    });
    let missing = (THREADS * each).abs_diff(taken());
    if (fell, missing) == (0, 0) {
        Ok(())
    } else {
        Err((fell, missing))
    }
}

fn records() -> u64 {
    if std::env::var_os("CYCLEWISE_LONG").is_some() {
        100_000_000
    } else {
        200_000
    }
}

#[test]
fn no_record_is_lost_and_no_count_falls() {
    let histogram = Histogram::new();
    let result = storm(
        |value| histogram.record_u64(value),
        || histogram.snapshot().count(),
        records(),
    );
    assert_eq!(result, Ok(()));
}

#[test]
fn the_twin_whose_words_are_shared_loses_records() {
    let words = [const { AtomicU64::new(0) }; 4];
    let record = |value: u64| {
        let word = &words[(value % 4) as usize];
        let found = word.load(Relaxed);
        if value.is_multiple_of(64) {
            // Others run, if this is the only CPU.
            thread::yield_now();
        }
        word.store(found + 1, Relaxed);
    };
    let taken = || words.iter().map(|word| word.load(Relaxed)).sum();
    assert!((0..100).any(|_| {
        words.iter().for_each(|word| word.store(0, Relaxed));
        storm(record, taken, 20_000).is_err()
    }));
}
