//! Crowds that run, and broken locks that are detected.

use super::*;
use crate::error::Status;
use std::sync::Mutex;

fn crowd(threads: usize) -> Crowd {
    Crowd {
        pinned: false,
        ..Crowd::brief(threads)
    }
}

#[test]
fn every_lock_keeps_every_count() {
    fn check<L: Lock>() {
        let run = contend::<L>(&crowd(3)).unwrap();
        assert_eq!(run.operations.len(), 3);
        assert!(run.operations.iter().all(|n| *n > 0));
        assert!(run.ticks_per_op() > 0.0 && run.longest_ms > 0.0);
        assert!((1.0 / 3.0..=1.0 + 1e-9).contains(&run.fairness()));
    }
    check::<Cyclewise>();
    check::<CyclewiseSpinOnly>();
    check::<ParkingLot>();
    check::<StdMutex>();
    check::<Spin>();
    check::<SpinTicket>();
    check::<Mcs>();
}

/// Runs all sections but one.
struct LosesOne(Mutex<bool>);

impl Lock for LosesOne {
    const NAME: &str = "loses-one";

    fn new(_: usize) -> Self {
        Self(Mutex::new(false))
    }

    fn section(&self, _: usize, section: impl FnOnce()) {
        let mut lost = self.0.lock().unwrap();
        if std::mem::replace(&mut *lost, true) {
            section();
        }
    }
}

#[test]
fn a_count_that_is_lost_is_found() {
    let error = contend::<LosesOne>(&crowd(2)).unwrap_err();
    assert_eq!(error.status, Status::CheckFailed);
    assert!(error.message.contains("two threads in"), "{}", error.message);
}

#[test]
fn jain_s_index_is_between_one_share_and_all_alike() {
    let run = |operations: &[u64]| contention::LockRun {
        ticks: 1,
        operations: operations.to_vec(),
        longest_ms: 0.0,
    };
    assert!((run(&[5, 5, 5, 5]).fairness() - 1.0).abs() < 1e-12);
    assert!((run(&[8, 0, 0, 0]).fairness() - 0.25).abs() < 1e-12);
}

#[test]
fn a_cpu_that_cannot_be_used_is_named_and_ends_the_run() {
    let crowd = Crowd {
        cpus: vec![1023],
        ..Crowd::brief(2)
    };
    let error = contend::<Cyclewise>(&crowd).unwrap_err();
    assert_eq!(error.status, Status::Unsupported);
    assert!(error.message.contains("cannot run 2 threads"), "{}", error.message);
}

#[test]
fn every_comparison_has_its_rows() {
    let setup = |mode| {
        let options = Options {
            mode,
            ..Options::default()
        };
        // Its rows do not depend on how long a crowd runs.
        with_span(&options, Duration::from_micros(200)).unwrap()
    };
    let missing = |setup: &Setup| {
        let has = |name: &String| super::super::index(&setup.samplers, name).is_some();
        let mut lacks = comparisons().to_vec();
        lacks.retain(|(a, b)| !has(a) || !has(b));
        // Without single mode there is no elided row.
        lacks.retain(|(_, ours)| ours != "cyclewise-elided");
        lacks.into_iter().map(|(reference, _)| reference).collect::<Vec<_>>()
    };
    assert_eq!(missing(&setup(Mode::Normal)), [""; 0]);
    assert_eq!(missing(&setup(Mode::Quick)), ["spin-8x", "spin-ticket-8x"]);
}
