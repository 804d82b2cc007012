//! Which CPUs a thread may run on, and which one it is on.
//!
//! # References
//! Linux kernel/sched/syscalls.c; sched_setaffinity(2).
//!
//! # Safety
//! 1. The kernel reads or writes at most the size that is passed with a set.
#![expect(unsafe_code, reason = "sched_getaffinity, sched_setaffinity, sched_getcpu")]

use super::{errno, failed};
use crate::error::Refusal;

const MOST_CPUS: usize = 8192; // NR_CPUS of the largest configuration, arch/x86/Kconfig
const WORD_BITS: usize = usize::BITS as usize;
const WORDS: usize = MOST_CPUS / WORD_BITS;

/// A set of CPUs, for every number that Linux can have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct CpuSet(pub(super) [usize; WORDS]);

impl CpuSet {
    /// The set of one CPU.
    ///
    /// # Errors
    /// EINVAL for a number that no kernel has.
    pub(crate) fn one(cpu: u32) -> Result<Self, Refusal> {
        let mut words = [0; WORDS];
        let word = words.get_mut(cpu as usize / WORD_BITS).ok_or(Refusal::System {
            call: "sched_setaffinity",
            errno: libc::EINVAL,
        })?;
        *word = 1 << (cpu as usize % WORD_BITS);
        Ok(Self(words))
    }

    /// How many CPUs are in the set.
    pub(crate) fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The CPUs that the calling thread may run on.
    ///
    /// # Errors
    /// EPERM and others from a filter; ENOSYS where it answers 0.
    pub(crate) fn current() -> Result<Self, Refusal> {
        read(0)
    }

    /// Lets the calling thread run on these CPUs only. When this returns, it runs on one of them.
    ///
    /// # Errors
    /// EINVAL where the thread may use none of them.
    pub(crate) fn apply(&self) -> Result<(), Refusal> {
        write(0, self)
    }

    /// Whether this is the calling thread's set.
    pub(crate) fn is_current(&self) -> bool {
        Self::current().is_ok_and(|now| now == *self)
    }
}

/// The CPUs that `tid` may run on; 0 is the caller. `None` where the thread has ended.
///
/// # Errors
/// As [`CpuSet::current`].
pub(crate) fn get(tid: i32) -> Result<Option<CpuSet>, Refusal> {
    unless_gone(read(tid))
}

/// Lets `tid` run on `cpus` only. When this returns, it runs on one of them. `None` where the thread has ended.
///
/// # Errors
/// EINVAL where the thread may use none of `cpus`; EPERM for a thread of another user.
pub(crate) fn set(tid: i32, cpus: &CpuSet) -> Result<Option<()>, Refusal> {
    unless_gone(write(tid, cpus))
}

/// Tests whether setting an affinity reaches the kernel: for a thread that cannot exist, it fails there.
///
/// # Errors
/// ENOSYS where a filter answers 0.
pub(crate) fn is_set_by_the_kernel() -> Result<(), Refusal> {
    // The kernel's limit is 2^22, include/linux/threads.h.
    match set(i32::MAX, &CpuSet::one(0)?) {
        Ok(Some(())) => Err(Refusal::System {
            call: "sched_setaffinity",
            errno: libc::ENOSYS,
        }),
        _ => Ok(()),
    }
}

/// The CPU that the calling thread is on.
///
/// # Errors
/// Where the kernel refuses.
pub(crate) fn current_cpu() -> Result<u32, Refusal> {
    // SAFETY: takes nothing and writes nothing.
    let cpu = unsafe { libc::sched_getcpu() };
    u32::try_from(cpu).map_err(|_| failed("sched_getcpu"))
}

/// A number that every CPU id of this kernel, and so every mm_cid, is below: the bits of the shortest set that it takes.
/// It refuses a shorter one with EINVAL (kernel/sched, sched_getaffinity: `len * BITS_PER_BYTE < nr_cpu_ids`), whatever
/// CPUs the thread may use, and whatever a container shows of /sys.
///
/// Preserves errno.
pub(crate) fn cpu_id_limit() -> usize {
    errno::preserve(find_cpu_id_limit)
}

fn find_cpu_id_limit() -> usize {
    let mut words = [0; WORDS];
    for length in 1..WORDS {
        if read_words(0, &mut words[..length]) > 0 {
            return length * WORD_BITS;
        }
        // A filter's errno does not tell the number of CPUs.
        if errno::get() != libc::EINVAL {
            break;
        }
    }
    MOST_CPUS
}

fn read(tid: i32) -> Result<CpuSet, Refusal> {
    let mut words = [0; WORDS];
    match read_words(tid, &mut words) {
        // The kernel writes at least one word, so a filter has answered.
        0 => Err(Refusal::System {
            call: "sched_getaffinity",
            errno: libc::ENOSYS,
        }),
        written if written > 0 => Ok(CpuSet(words)),
        _ => Err(failed("sched_getaffinity")),
    }
}

/// How many bytes the kernel has written; negative where it refuses. By number, as C's function does not return the count.
fn read_words(tid: i32, words: &mut [usize]) -> libc::c_long {
    // SAFETY: the kernel writes at most the size of `words`, which is passed (Invariant 1).
    unsafe { libc::syscall(libc::SYS_sched_getaffinity, tid, size_of_val(words), words.as_mut_ptr()) }
}

fn write(tid: i32, cpus: &CpuSet) -> Result<(), Refusal> {
    // SAFETY: the kernel reads at most the size of `cpus`, which is passed (Invariant 1).
    match unsafe { libc::syscall(libc::SYS_sched_setaffinity, tid, size_of_val(&cpus.0), cpus.0.as_ptr()) } {
        0 => Ok(()),
        _ => Err(failed("sched_setaffinity")),
    }
}

fn unless_gone<T>(result: Result<T, Refusal>) -> Result<Option<T>, Refusal> {
    match result {
        Err(Refusal::System { errno: libc::ESRCH, .. }) => Ok(None),
        result => result.map(Some),
    }
}
