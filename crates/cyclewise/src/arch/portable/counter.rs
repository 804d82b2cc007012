//! No counter is read here. The clock asks [`AVAILABLE`] first, and takes the kernel's clock for its ticks as well.

/// There is no counter to read.
pub(crate) const AVAILABLE: bool = false;

/// Nothing is known of a counter that is not there.
pub(crate) fn is_invariant() -> bool {
    AVAILABLE
}

/// No ticks.
pub(crate) fn bare() -> u64 {
    0
}

/// No ticks.
pub(crate) fn load_ordered() -> u64 {
    0
}

/// No ticks, and never less than `word`.
pub(crate) fn dependent_load(word: &u64) -> u64 {
    *word
}

/// No ticks.
pub(crate) fn bracketed() -> u64 {
    0
}
