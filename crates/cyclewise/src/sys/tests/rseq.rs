//! What the C library registered, and the shape of an area.

use crate::sys::rseq::*;

#[test]
fn an_old_libc_and_another_one_have_registered_nothing() {
    // glibc before 2.35, and musl.
    assert_eq!(registered(None, None), None);
    // By the tunable, or where the kernel refused.
    assert_eq!(registered(Some(0), Some(-160)), None);
    assert_eq!(registered(Some(32), None), None);
    assert_eq!(registered(Some(32), Some(0)), None);
}

#[test]
fn what_libc_registered_is_as_long_as_it_means() {
    for (says, length) in [(20, 32), (32, 32), (28, 28), (33, 33), (40, 40), (64, 64)] {
        assert_eq!(registered(Some(says), Some(-160)), Some((-160, length)), "{says}");
    }
}

#[test]
fn our_areas_are_what_the_kernel_wants() {
    // Before Linux 6.3 there are no entries; then 28 and 32; "V2" has 33 and 64; and there may be more.
    for (feature_size, align, shape) in [
        (0, 0, (32, 32)),
        (20, 32, (32, 32)),
        (28, 32, (32, 32)),
        (33, 64, (33, 64)),
        (40, 64, (40, 64)),
        (300, 512, (300, 512)),
    ] {
        assert_eq!(shaped(feature_size, align), shape, "{feature_size} {align}");
    }
}
