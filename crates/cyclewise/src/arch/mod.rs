//! The code that differs by CPU, and the library's only assembly. Each file has a counterpart with the same signatures in
//! `portable`, which needs no assembly. An architecture re-exports `portable` and replaces what it implements itself.
//!
//! On x86-64 Linux text is patched: LOCK prefixes, static keys, alternatives. Elsewhere a read-modify-write is std's, a
//! static key is an atomic flag, and an alternative is its default. AArch64 has its own reads of the counter, thread
//! block and restartable sequences, but does not patch text. Its B and NOP may be exchanged while another core executes
//! them (Arm ARM, B2.2.5), but each core's instruction cache must be invalidated afterwards. An emulator cannot test
//! this, because it caches translated code by its own rules.

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod portable;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
pub use aarch64::*;
#[cfg(not(any(target_arch = "aarch64", target_arch = "x86_64")))]
pub use portable::*;
#[cfg(target_arch = "x86_64")]
pub use x86_64::*;

pub(crate) use rmw_offset::{dec_negative_at, inc_negative_at};
pub(crate) use site_table::{HAS_SITES, Record, records};

use core::cmp;
use core::sync::atomic::Ordering;

/// Bytes of a thread's block, used by [`mask`](crate::mask). Small, because all objects that are loaded late share
/// glibc's surplus of static TLS, and an object that uses this block has all of its thread-local words there, std's too.
#[allow(dead_code, reason = "`mask` is not in every build")]
pub(crate) const THREAD_BLOCK: usize = 160;
/// The log2 of the distance between two CPUs' copies of a per-CPU word: 64 KiB, computed by one shift.
pub(crate) const SHIFT: u32 = 16;

/// Which of the kernel's ids selects the calling thread's copy.
pub(crate) trait Id {
    /// Its offset in `struct rseq` (include/uapi/linux/rseq.h).
    #[allow(dead_code, reason = "some builds have no sequences")]
    const AT: usize;
}

/// `cpu_id`: the CPU's number.
#[derive(Clone, Copy, Debug)]
pub enum Cpu {}

/// `mm_cid`: the kernel's per-process CPU numbers, small and without holes.
#[derive(Clone, Copy, Debug)]
pub enum Cid {}

impl Id for Cpu {
    const AT: usize = 4;
}

impl Id for Cid {
    const AT: usize = 24;
}

/// How a restartable sequence of several steps ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Outcome {
    /// It committed.
    Done,
    /// A comparison failed; nothing was committed.
    Ne,
    /// The thread runs on another CPU now; nothing was committed.
    Moved,
    /// The guard is set: another thread is about to change this CPU's words. Nothing was committed.
    Stopped,
}

/// Returned in place of a node's address where the guard is set: the guard's value, never an address.
pub(crate) const STOPPED: u64 = 1;
/// Returned in place of a number where there is nothing to take.
pub(crate) const EMPTY: i64 = -1;
/// Returned in place of a number where the guard is set.
#[allow(dead_code, reason = "nothing restarts on some targets")]
pub(crate) const AWAY: i64 = -2;

/// The prefix in force (Intel SDM vol. 2, LOCK).
pub(crate) const LOCK: u8 = 0xf0;
/// The prefix that replaces it while elided: DS override, ignored in 64-bit mode (AMD APM vol. 3, 1.2.4). A NOP would
/// be a separate instruction, and a thread could be preempted after it.
pub(crate) const ELIDED: u8 = 0x3e;

/// Read-modify-writes of one word, implemented for std's atomic types and named after the kernel's.
///
/// Every operation is ordered at least as strongly as `order`; on x86-64 each is a full barrier while LOCK is in force,
/// and a compiler barrier always. "Negative" reads the result as signed, whatever the type.
pub(crate) trait Rmw {
    type Value: Copy;

    /// Adds; returns the previous value.
    fn xadd(&self, value: Self::Value, order: Ordering) -> Self::Value;
    fn add(&self, value: Self::Value, order: Ordering);
    fn sub(&self, value: Self::Value, order: Ordering);
    fn inc(&self, order: Ordering);
    fn dec(&self, order: Ordering);
    /// Adds; true where the result is negative.
    fn add_negative(&self, value: Self::Value, order: Ordering) -> bool;
    /// Subtracts; true where the result is zero.
    fn sub_and_test(&self, value: Self::Value, order: Ordering) -> bool;
    /// Adds one; true where the result is negative.
    fn inc_negative(&self, order: Ordering) -> bool;
    /// Subtracts one; true where the result is negative.
    fn dec_negative(&self, order: Ordering) -> bool;
    /// Subtracts one; true where the result is zero.
    fn dec_and_test(&self, order: Ordering) -> bool;
    /// Subtracts one; true where the result is zero or negative.
    fn dec_not_positive(&self, order: Ordering) -> bool;
    /// Adds one; compares the previous value, read as signed, with minus one.
    fn fetch_inc_cmp(&self, order: Ordering) -> cmp::Ordering;
    /// Subtracts one; compares the result, read as signed, with minus one.
    fn dec_cmp(&self, order: Ordering) -> cmp::Ordering;
}

/// Bitwise read-modify-writes of a word, or of a bool's byte.
pub(crate) trait Bits {
    type Value: Copy;

    fn and(&self, value: Self::Value, order: Ordering);
    fn or(&self, value: Self::Value, order: Ordering);
    fn xor(&self, value: Self::Value, order: Ordering);
}

/// Compare-and-exchange of a word, a bool or a pointer.
pub(crate) trait Exchange {
    type Value: Copy;

    /// Stores `new` if the word is `old`; returns the previous value. Never fails spuriously.
    ///
    /// `failure` is `Relaxed`, `Acquire` or `SeqCst`.
    fn cmpxchg(&self, old: Self::Value, new: Self::Value, success: Ordering, failure: Ordering) -> Self::Value;

    /// The same; returns whether `new` was stored, from the instruction's flag where there is one.
    #[inline(always)]
    fn cmpxchg_and_test(&self, old: Self::Value, new: Self::Value, success: Ordering, failure: Ordering) -> bool
    where
        Self::Value: PartialEq,
    {
        self.cmpxchg(old, new, success, failure) == old
    }
}
