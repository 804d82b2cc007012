//! The machine's clock compared with the kernel's and with itself, from outside: readings, stamps, and destructors.

use crate::common::harness::{Check, checks};
use cyclewise::clock::{Bracketed, Clock, Instant, LoadOrdered, PerTask, Reading, Ticks};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

pub(crate) const CHECKS: &[Check] = checks![
    readings_are_between_the_kernels,
    stamps_become_the_time_between_them,
    times_are_keys,
    a_destructor_reads_no_earlier_time,
];

/// CLOCK_MONOTONIC.
fn kernel() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes one timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Whatever interrupts a thread between the readings, the clock's is between the kernel's, but for the error it names.
fn readings_are_between_the_kernels() {
    std::thread::scope(|scope| {
        for pause in [Duration::ZERO, Duration::from_micros(300), Duration::from_millis(7)] {
            scope.spawn(move || {
                let rounds = if pause.is_zero() { 50_000 } else { 100 };
                for _ in 0..rounds {
                    let before = kernel();
                    let Reading { instant, error } = Clock::process().reading::<Bracketed>();
                    let after = kernel();
                    let (ns, error) = (instant.as_nanos(), error.as_nanos() as u64);
                    assert!(
                        ns + error >= before && ns <= after + error,
                        "{before} {ns} {after}, said {error}"
                    );
                    if !pause.is_zero() {
                        std::thread::sleep(pause);
                    }
                }
            });
        }
    });
}

/// Two stamps of the counter become a time that is between those of readings inside and outside of them.
fn stamps_become_the_time_between_them() {
    let clock = Clock::process();
    // Until a rate is known, if one ever is.
    let start = Instant::now();
    while clock.between(Ticks::now(), Ticks::now()).is_none() {
        if start.elapsed() > Duration::from_secs(600) || clock.status().mode == cyclewise::clock::Mode::Kernel {
            println!("skipped: no rate is known: {:?}", clock.status());
            return;
        }
    }
    for _ in 0..50 {
        let outer = Instant::<Bracketed>::read();
        let from = Ticks::<Bracketed>::read();
        let inner = Instant::<Bracketed>::read();
        std::thread::sleep(Duration::from_millis(2));
        let inner = Instant::<Bracketed>::read() - inner;
        let to = Ticks::<Bracketed>::read();
        let outer = Instant::<Bracketed>::read() - outer;
        let between = clock.between(from, to).unwrap();
        // A rate is not used where it may be off by an eighth, and that is soon a millionth.
        assert!(
            between + between / 4 >= inner && between <= outer + outer / 4,
            "{inner:?} {between:?} {outer:?}"
        );
        assert_eq!(clock.between(to, from), Some(Duration::ZERO));
    }
}

fn times_are_keys() {
    let times: Vec<Instant> = (0..100).map(|_| Instant::now()).collect();
    assert!(times.is_sorted());
    let (sorted, hashed): (BTreeSet<_>, HashSet<_>) = (times.iter().collect(), times.iter().collect());
    assert_eq!(sorted.len(), hashed.len());
    assert_eq!(sorted.first(), times.iter().min().as_ref());
}

/// The last time that a thread has seen is kept for as long as it reads any, destructors included.
fn a_destructor_reads_no_earlier_time() {
    struct Late(Option<Instant<PerTask>>, std::sync::mpsc::Sender<bool>);
    impl Drop for Late {
        fn drop(&mut self) {
            let went_on = self.0.is_none_or(|last| Instant::<PerTask>::read() >= last);
            let ordered = Instant::<LoadOrdered>::read() <= Instant::<LoadOrdered>::read();
            self.1.send(went_on && ordered).unwrap();
        }
    }
    thread_local! {
        static LATE: RefCell<Option<Late>> = const { RefCell::new(None) };
    }
    for reads_before in [false, true] {
        let (sender, receiver) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let last = reads_before.then(Instant::<PerTask>::read);
            LATE.set(Some(Late(last, sender)));
        });
        thread.join().unwrap();
        assert_eq!(receiver.recv(), Ok(true));
    }
}
