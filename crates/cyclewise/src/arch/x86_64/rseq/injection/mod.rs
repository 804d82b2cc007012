//! Points in a sequence where a test interrupts it, and sequences without protection for its twins.

pub(crate) mod unprotected;

/// A point where a test can interrupt: `cyclewise_point` holds the number of the active point.
macro_rules! inject {
    ($point:literal) => {
        concat!(
            "cmp dword ptr [rip + cyclewise_point], ",
            $point,
            "\njne 779f\nint3\n779:"
        )
    };
}
pub(in super::super) use inject;
