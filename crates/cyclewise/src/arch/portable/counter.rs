//! The twin without a counter. The clock checks [`AVAILABLE`] first, and uses the kernel's clock for its ticks too.

/// Whether there is a counter to read.
pub(crate) const AVAILABLE: bool = false;

/// The kernel's clock sources that read this counter (/sys/devices/system/clocksource).
pub(crate) const CLOCKSOURCES: &[&str] = &[];

/// Chooses how the counter is read; `has_ecv` says whether an AArch64 CPU has FEAT_ECV.
pub(crate) fn choose(_has_ecv: impl FnOnce() -> bool) {}

/// Whether the hypervisor declares that the counters of all CPUs agree, for the clock source `kvm-clock`.
pub(crate) fn is_stable_under_kvm() -> bool {
    false
}

/// False: there is no counter.
pub(crate) fn is_invariant() -> bool {
    AVAILABLE
}

/// A fence. Whether the kernel's clock is read after the stores are seen by others is not known here.
pub(crate) fn wait_for_stores() {
    core::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst);
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
