//! Valgrind, where the library does not ask for it.

/// Whether this runs under Valgrind: as far as is known, it does not.
pub(crate) fn is_running() -> bool {
    false
}
