//! Threads that exchange their readings: none reads less than it has seen from another.

use super::super::{Bracketed, Clock, DependentLoad, LoadOrdered, Mock, Order, Source};
use super::checked_reader::HZ;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;

const THREADS: usize = 3;
const READS: usize = 20_000;

/// Reads the clock on several threads, and checks each reading against the largest so far.
fn check_threads<O: Order, S: Source + Sync>(clock: &Clock<S>, between: impl Fn(usize) + Sync) {
    let latest = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (latest, between) = (&latest, &between);
            scope.spawn(move || {
                for i in 0..READS {
                    // Acquire: pairs with the Release of `fetch_max` below.
                    let seen = latest.load(Ordering::Acquire);
                    let now = clock.now_as::<O>().as_nanos();
                    assert!(now >= seen, "{now} after {seen}");
                    // Release: pairs with the Acquire above.
                    latest.fetch_max(now, Ordering::Release);
                    between(i * THREADS + thread);
                }
            });
        }
    });
}

#[test]
fn the_machines_clock_never_steps_back_between_threads() {
    check_threads::<LoadOrdered, _>(Clock::process(), |_| {});
    check_threads::<DependentLoad, _>(Clock::process(), |_| {});
    check_threads::<Bracketed, _>(Clock::process(), |_| {});
}

#[test]
fn a_mock_clock_never_steps_back_while_it_is_slewed() {
    let mock = Mock::new(HZ);
    mock.reading_takes(Duration::from_nanos(7));
    let clock = Clock::new(mock.clone());
    check_threads::<LoadOrdered, _>(&clock, |i| match i % 1000 {
        0 => mock.slew([400.0, -400.0, 0.0][i / 1000 % 3]),
        1..100 => mock.advance(Duration::from_micros(100)),
        100 => mock.advance(Duration::from_millis(20)),
        500 => clock.refresh(),
        _ => {}
    });
}
