//! The part of `siginfo_t` that the kernel fills.
//!
//! The kernel fills 48 bytes, six words; the 80 more of C's are zero. [`Info`] gives out what is in three of them, and of a signal that
//! was deferred these are kept: a thread's ring has no room for more. The rest, such as the times of SIGCHLD, is there only until the
//! signal's frame ends, for the kernel to queue it again. So equality and `Debug` are of what is given out, whichever way it came.
//!
//! # References
//! Linux include/uapi/asm-generic/siginfo.h, `SI_EXPANSION_SIZE` in include/linux/signal.h; sigaction(2).

use core::fmt;

/// Words that the kernel fills.
pub(super) const WORDS: usize = 6;

/// A signal: its number, where it came from, and its value.
#[derive(Clone, Copy)]
pub struct Info(pub(super) [u64; WORDS]);

impl PartialEq for Info {
    fn eq(&self, other: &Self) -> bool {
        let given = |info: &Self| (info.signal(), info.code(), info.0[2], info.0[3]);
        given(self) == given(other)
    }
}

impl Eq for Info {}

impl fmt::Debug for Info {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Info")
            .field("signal", &self.signal())
            .field("code", &self.code())
            .field("sender", &self.sender())
            .field("user", &self.user())
            .field("value", &self.value())
            .finish()
    }
}

impl Info {
    /// Its number, one of C's constants: `SIGUSR1`, ..
    #[must_use]
    pub fn signal(&self) -> i32 {
        self.0[0] as i32
    }

    /// `si_code`: `SI_USER`, `SI_QUEUE`, `SI_TIMER`, ..
    #[must_use]
    #[doc(alias = "si_code")]
    pub fn code(&self) -> i32 {
        self.0[1] as i32
    }

    /// The process that sent it, if a process did (kill, sigqueue, tgkill, SIGCHLD).
    #[must_use]
    #[doc(alias = "si_pid")]
    pub fn sender(&self) -> i32 {
        self.0[2] as i32
    }

    /// The user of that process.
    #[must_use]
    #[doc(alias = "si_uid")]
    pub fn user(&self) -> u32 {
        (self.0[2] >> 32) as u32
    }

    /// The value that came with it, by sigqueue, a timer or a message queue; `si_status` of SIGCHLD is its low half.
    #[must_use]
    #[doc(alias = "si_value")]
    pub fn value(&self) -> usize {
        self.0[3] as usize
    }

    /// Its bit in a set of signals.
    pub(super) fn bit(&self) -> u64 {
        bit(self.signal())
    }

    /// Whether it is a standard signal, of which the kernel queues at most one: numbers below SIGRTMIN.
    pub(super) fn is_standard(&self) -> bool {
        self.signal() < FIRST_REAL_TIME
    }
}

/// The kernel's SIGRTMIN. C libraries reserve the first two or three, so theirs is higher.
const FIRST_REAL_TIME: i32 = 32;

/// A signal's bit in a set: bit 0 is signal 1. 0 for an invalid number.
pub(super) const fn bit(signal: i32) -> u64 {
    if 1 <= signal && signal <= 64 {
        1 << (signal - 1)
    } else {
        0
    }
}
