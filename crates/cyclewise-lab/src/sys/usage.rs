//! How often this thread was taken off its CPU.
//!
//! # Safety
//! The kernel writes one `rusage`, which is ours.
#![expect(unsafe_code, reason = "getrusage")]

use std::mem::MaybeUninit;

/// Context switches of the calling thread since it began, voluntary and not.
pub(crate) fn context_switches() -> u64 {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: writes one rusage; RUSAGE_THREAD cannot fail.
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) };
    // SAFETY: zeroed is valid, and the kernel filled it.
    let usage = unsafe { usage.assume_init() };
    usage.ru_nvcsw as u64 + usage.ru_nivcsw as u64
}

#[cfg(test)]
mod tests {
    #[test]
    fn sleeping_counts_as_a_switch() {
        let before = super::context_switches();
        std::thread::sleep(std::time::Duration::from_millis(2));
        assert!(super::context_switches() > before);
    }
}
