//! Which CPUs a thread of this process may run on.
//!
//! # Safety
//! 1. The kernel reads or writes one `cpu_set_t` whose size is passed with it.
#![expect(unsafe_code, reason = "sched_getaffinity, sched_setaffinity, sched_getcpu")]

use super::failed;
use crate::error::Refusal;
use core::mem::MaybeUninit;

/// A set of CPUs, up to number 1023: what the C library's type holds.
#[derive(Clone, Copy)]
pub(crate) struct CpuSet(libc::cpu_set_t);

impl CpuSet {
    /// The set of one CPU.
    ///
    /// # Errors
    /// EINVAL past the last number.
    pub(crate) fn one(cpu: u32) -> Result<Self, Refusal> {
        if cpu >= libc::CPU_SETSIZE as u32 {
            return Err(Refusal::System {
                call: "CPU_SET",
                errno: libc::EINVAL,
            });
        }
        let set = MaybeUninit::<libc::cpu_set_t>::zeroed();
        // SAFETY: all zeroes is a valid, empty set.
        let mut set = unsafe { set.assume_init() };
        // SAFETY: the number is below CPU_SETSIZE.
        unsafe { libc::CPU_SET(cpu as usize, &mut set) };
        Ok(Self(set))
    }
}

impl PartialEq for CpuSet {
    fn eq(&self, other: &Self) -> bool {
        // SAFETY: compares two sets.
        unsafe { libc::CPU_EQUAL(&self.0, &other.0) }
    }
}

/// The CPUs that `tid` may run on; 0 is the caller. `None` where the thread is gone.
///
/// # Errors
/// EINVAL on machines with more than 1024 possible CPUs; ENOSYS where a filter says that it went well.
pub(crate) fn get(tid: i32) -> Result<Option<CpuSet>, Refusal> {
    let mut set = MaybeUninit::<libc::cpu_set_t>::zeroed();
    // SAFETY: the kernel writes at most the size of `set`, which is passed (Invariant 1).
    let rc = unsafe { libc::sched_getaffinity(tid, size_of::<libc::cpu_set_t>(), set.as_mut_ptr()) };
    if rc != 0 {
        return gone(failed("sched_getaffinity"));
    }
    // SAFETY: all zeroes is a valid set, whether or not the kernel has filled it.
    let set = unsafe { set.assume_init() };
    // SAFETY: counts a set.
    if unsafe { libc::CPU_COUNT(&set) } == 0 {
        // No thread may run nowhere: a filter has answered.
        return Err(Refusal::System {
            call: "sched_getaffinity",
            errno: libc::ENOSYS,
        });
    }
    Ok(Some(CpuSet(set)))
}

/// Whether setting an affinity reaches the kernel, or a filter refuses it: then it fails for a number that no thread has.
///
/// # Errors
/// ENOSYS where a filter says that it went well.
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

/// Lets `tid` run on `cpus` only. When this returns, it runs on none but those. `None` where the thread is gone.
///
/// # Errors
/// EINVAL where none of `cpus` is there for the thread; EPERM where it may not be asked.
pub(crate) fn set(tid: i32, cpus: &CpuSet) -> Result<Option<()>, Refusal> {
    // SAFETY: the kernel reads the size of `cpus`, which is passed (Invariant 1).
    match unsafe { libc::sched_setaffinity(tid, size_of::<libc::cpu_set_t>(), &cpus.0) } {
        0 => Ok(Some(())),
        _ => gone(failed("sched_setaffinity")),
    }
}

/// The CPU the caller is on.
///
/// # Errors
/// Where the kernel does not say.
pub(crate) fn current() -> Result<u32, Refusal> {
    // SAFETY: takes nothing and writes nothing.
    let cpu = unsafe { libc::sched_getcpu() };
    u32::try_from(cpu).map_err(|_| failed("sched_getcpu"))
}

fn gone<T>(refusal: Refusal) -> Result<Option<T>, Refusal> {
    if matches!(refusal, Refusal::System { errno: libc::ESRCH, .. }) {
        Ok(None)
    } else {
        Err(refusal)
    }
}
