//! What the kernel says of a signal: the part of `siginfo_t` that it fills.
//!
//! The kernel's own structure has 48 bytes; the 80 behind them, in C's, are zero for every signal there is. So six words
//! are a whole record.
//!
//! # References
//! Linux include/uapi/asm-generic/siginfo.h, `SI_EXPANSION_SIZE` in include/linux/signal.h; sigaction(2).

/// Words of a record.
pub(super) const WORDS: usize = 6;

/// A signal: its number, where it came from, and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Info(pub(super) [u64; WORDS]);

impl Info {
    /// Its number, as C's constants have it: `SIGUSR1`, ..
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

    /// The process that sent it, where a process did (kill, sigqueue, tgkill, SIGCHLD).
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

    /// Whether the kernel keeps at most one of it: the numbers below SIGRTMIN.
    pub(super) fn is_standard(&self) -> bool {
        self.signal() < FIRST_REAL_TIME
    }
}

/// The kernel's SIGRTMIN. C's libraries keep the first two or three for themselves, and have a higher one.
const FIRST_REAL_TIME: i32 = 32;

/// A signal's bit in a set: bit 0 is signal 1. None for numbers that are no signal's.
pub(super) const fn bit(signal: i32) -> u64 {
    if 1 <= signal && signal <= 64 {
        1 << (signal - 1)
    } else {
        0
    }
}
