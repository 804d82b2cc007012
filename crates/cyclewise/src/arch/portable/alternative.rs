//! Alternatives where text is not patched: there are none, and defaults stay.

/// Whether this CPU has the feature with that number: none is known here.
pub fn has(_feature: u8) -> bool {
    false
}
