//! The numbers of a release.

use crate::sys::uname::*;

#[test]
fn two_numbers_are_read() {
    assert!(release().is_some_and(|release| release > (2, 5)));
    for (release, read) in [
        (c"6.18.44-fc", (6, 18)),
        (c"5.12", (5, 12)),
        (c"6.4-rc1", (6, 4)),
        (c"2.6.78", (2, 6)),
    ] {
        assert_eq!(numbers(release), Some(read));
    }
    for none in [c"", c"6", c"six.4", c"6.x", c"-1.2"] {
        assert_eq!(numbers(none), None);
    }
}
