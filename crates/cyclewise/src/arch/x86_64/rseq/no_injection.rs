//! Nothing interrupts a sequence.

macro_rules! inject {
    ($point:literal) => {
        ""
    };
}
pub(in super::super) use inject;
