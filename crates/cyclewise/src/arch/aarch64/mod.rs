//! AArch64: the generic timer's counter. Everything else is `portable`'s for now.

pub(crate) mod ticks;
