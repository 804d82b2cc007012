//! The clock of a process that is out of descriptors when the machine is examined first: it is examined again later.
//!
//! The limit is the process's, so the check has one of its own.

use crate::common::harness::{Check, checks};
use cyclewise::clock::{Clock, Instant, Mode, Reason};

pub(crate) const CHECKS: &[Check] = checks![no_descriptor_is_no_verdict,];

/// The limit of descriptors, which are numbers below it.
fn limit(descriptors: u64) {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: writes one limit.
    assert_eq!(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) }, 0);
    limit.rlim_cur = descriptors.min(limit.rlim_max);
    // SAFETY: reads one limit.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) }, 0);
}

fn no_descriptor_is_no_verdict() {
    limit(0);
    let clock = Clock::process();
    while clock.status().reason.is_none() {
        Instant::now();
    }
    let status = clock.status();
    if status.reason != Some(Reason::NotExamined) {
        println!("skipped: the counter is not asked about here: {:?}", status.reason);
        return;
    }
    assert_eq!(status.mode, Mode::Starting);
    limit(256);
    // The next look says what the machine's clock is: the counter's, or the kernel's with a reason.
    while clock.status().mode == Mode::Starting {
        Instant::now();
    }
    if clock.status().mode == Mode::Kernel {
        assert_ne!(clock.status().reason, Some(Reason::NotExamined));
    }
}
