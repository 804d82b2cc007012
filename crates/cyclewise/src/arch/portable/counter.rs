//! The twin without a counter. The clock checks [`AVAILABLE`] first, and uses the kernel's clock for its ticks too.

/// Whether there is a counter to read.
pub(crate) const AVAILABLE: bool = false;

/// False: there is no counter.
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

/// No ticks; `word`, because the result is never less.
pub(crate) fn dependent_load(word: &u64) -> u64 {
    *word
}

/// No ticks.
pub(crate) fn bracketed() -> u64 {
    0
}
