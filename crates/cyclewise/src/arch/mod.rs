//! What differs by CPU: the only assembly of the library, each file with a twin of the same signatures in `portable`.
//!
//! `portable` is the contract without assembly. An architecture takes everything from it and replaces what it has.
//!
//! On x86-64 Linux text is patched: LOCK prefixes, static keys, alternatives. Elsewhere a read-modify-write is std's, a
//! static key is an atomic flag, an alternative its default. AArch64 has its own reads of the counter, thread block and
//! restartable sequences. Its B and NOP may be exchanged while another core executes them (Arm ARM,
//! B2.2.5), but after that each core's instruction cache has to be told, and whether this crate does it right cannot be
//! seen under an emulator, which keeps translated code by rules of its own. Without a machine to prove it on it is not
//! offered.

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

/// Bytes of a thread's block, in [`mask`](crate::mask): little, because objects that are loaded late share what static
/// TLS glibc has left over.
#[allow(dead_code, reason = "`mask` is not in every build")]
pub(crate) const THREAD_BLOCK: usize = 448;
/// A CPU's copies of per-CPU words are this power of two apart: 64 KiB, so that a distance is one shift.
pub(crate) const SHIFT: u32 = 16;

/// Which of the kernel's ids says which copy is the calling thread's.
pub(crate) trait Id {
    /// Where the kernel publishes it in `struct rseq` (include/uapi/linux/rseq.h).
    #[allow(dead_code, reason = "some builds have no sequences")]
    const AT: usize;
}

/// `cpu_id`: the CPU's number.
#[derive(Clone, Copy, Debug)]
pub enum Cpu {}

/// `mm_cid`: the process's own numbers for the CPUs it is on, small and without holes.
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
    /// A comparison said no; nothing was committed.
    Ne,
    /// The thread is on another CPU now; nothing was committed.
    Moved,
    /// The guard is set: somebody is about to change this CPU's words from outside. Nothing was committed.
    Stopped,
}

/// What a sequence returns for a node's address where the guard is set: a guard's value, and no address.
pub(crate) const STOPPED: u64 = 1;
/// What a sequence returns for a number where there is nothing to take.
pub(crate) const EMPTY: i64 = -1;
/// The same where the guard is set.
#[allow(dead_code, reason = "nothing restarts on some targets")]
pub(crate) const AWAY: i64 = -2;

/// The prefix in force (Intel SDM vol. 2, LOCK).
pub(crate) const LOCK: u8 = 0xf0;
/// The prefix in its place while elided: DS override, a null prefix in 64-bit mode (AMD APM vol. 3, 1.2.4). Not a NOP,
/// which would be an instruction of its own, with a place to be preempted behind it.
pub(crate) const ELIDED: u8 = 0x3e;

/// Read-modify-writes of one word that std's atomic types are given, under the kernel's names.
///
/// Every operation is ordered at least as `order` says; on x86-64 each is a full barrier while LOCK is in force, and a
/// compiler barrier always. "Negative" reads the result as signed, whatever the type.
pub(crate) trait Rmw {
    /// What the word holds.
    type Value: Copy;

    /// Adds, and returns what was there.
    fn xadd(&self, value: Self::Value, order: Ordering) -> Self::Value;
    /// Adds.
    fn add(&self, value: Self::Value, order: Ordering);
    /// Subtracts.
    fn sub(&self, value: Self::Value, order: Ordering);
    /// Adds one.
    fn inc(&self, order: Ordering);
    /// Subtracts one.
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
    /// Adds one; how what was there, read as signed, compares with minus one.
    fn fetch_inc_cmp(&self, order: Ordering) -> cmp::Ordering;
    /// Subtracts one; how the result, read as signed, compares with minus one.
    fn dec_cmp(&self, order: Ordering) -> cmp::Ordering;
}

/// Bitwise read-modify-writes of a word, or of a bool's byte.
pub(crate) trait Bits {
    /// What the word holds.
    type Value: Copy;

    /// Ands.
    fn and(&self, value: Self::Value, order: Ordering);
    /// Ors.
    fn or(&self, value: Self::Value, order: Ordering);
    /// Exclusive-ors.
    fn xor(&self, value: Self::Value, order: Ordering);
}

/// Compare-and-exchange of a word, a bool or a pointer.
pub(crate) trait Exchange {
    /// What the word holds.
    type Value: Copy;

    /// Stores `new` where `old` is found; returns what was found. Never fails for any other reason.
    ///
    /// `failure` is `Relaxed`, `Acquire` or `SeqCst`.
    fn cmpxchg(&self, old: Self::Value, new: Self::Value, success: Ordering, failure: Ordering) -> Self::Value;

    /// The same, and true where it was stored, by the instruction's own flag: for who does not ask what was found.
    #[inline(always)]
    fn cmpxchg_and_test(&self, old: Self::Value, new: Self::Value, success: Ordering, failure: Ordering) -> bool
    where
        Self::Value: PartialEq,
    {
        self.cmpxchg(old, new, success, failure) == old
    }
}
