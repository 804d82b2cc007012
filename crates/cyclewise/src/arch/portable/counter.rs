//! The counterpart without a counter. The clock checks [`AVAILABLE`] first, and uses the kernel's clock for its ticks too.

pub(crate) const AVAILABLE: bool = false;

pub(crate) const CLOCKSOURCES: &[&str] = &[];

pub(crate) fn choose(_has_ecv: impl FnOnce() -> bool) {}

pub(crate) fn is_stable_under_kvm() -> bool {
    false
}

pub(crate) fn is_invariant() -> bool {
    AVAILABLE
}

/// A fence. Whether the kernel's clock is read after the stores are seen by others is not known here.
pub(crate) fn wait_for_stores() {
    core::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst);
}

pub(crate) fn bare() -> u64 {
    0
}

pub(crate) fn load_ordered() -> u64 {
    0
}

/// `word`, because the result is never less.
pub(crate) fn dependent_load(word: &u64) -> u64 {
    *word
}

pub(crate) fn bracketed() -> u64 {
    0
}
