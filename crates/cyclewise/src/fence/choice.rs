//! Which pair of fences the process has, chosen once.

use crate::sys::membarrier;
use core::sync::atomic::AtomicU8;
use core::sync::atomic::Ordering::Relaxed;

// Relaxed, everywhere: the word changes once, and publishes nothing else.
static CHOICE: AtomicU8 = AtomicU8::new(UNDECIDED);

const UNDECIDED: u8 = 0; // no fence was made
const ASYMMETRIC: u8 = 1; // light fences are for the compiler
const SYMMETRIC: u8 = 2; // both are fences of the CPU

/// Whether the process has chosen asymmetric fences.
#[inline(always)]
pub(super) fn is_known_asymmetric() -> bool {
    CHOICE.load(Relaxed) == ASYMMETRIC
}

/// Whether the process has asymmetric fences.
pub(super) fn is_asymmetric() -> bool {
    match CHOICE.load(Relaxed) {
        UNDECIDED => choose(),
        choice => choice == ASYMMETRIC,
    }
}

#[cold]
fn choose() -> bool {
    // Loom's threads are one thread of the kernel, and ThreadSanitizer knows no barrier of the kernel's.
    let possible = !cfg!(any(loom, cyclewise_tsan)) && membarrier::barrier();
    let choice = if possible { ASYMMETRIC } else { SYMMETRIC };
    match CHOICE.compare_exchange(UNDECIDED, choice, Relaxed, Relaxed) {
        Ok(_) => possible,
        // A filter may be one thread's.
        Err(first) => first == ASYMMETRIC,
    }
}
