//! Each clock goes forward, and one that is refused is none.

use crate::sys::clock_gettime::*;
use crate::sys::errno;
use crate::sys::for_tests::thread_cpu_ns;

#[test]
fn each_clock_goes_forward() {
    for clock in [monotonic_ns, raw_ns, boottime_ns, thread_cpu_ns] {
        let first = clock();
        assert!(first > 0 && clock() >= first);
    }
}

const NONE: libc::clockid_t = 1 << 20;

#[test]
fn a_clock_that_is_refused_is_not_known_and_leaves_errno() {
    errno::set(libc::EDOM);
    assert_eq!(known(NONE), None);
    assert_eq!(errno::get(), libc::EDOM);
    assert!(known_monotonic_ns() > Some(0));
}

/// The twin: the plain reading is a time, and sets errno.
#[test]
fn the_twin_that_does_not_check_is_a_time() {
    errno::set(libc::EDOM);
    assert_eq!((read(NONE), errno::get()), (0, libc::EINVAL));
}
