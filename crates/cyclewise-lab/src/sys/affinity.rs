//! Which CPUs the calling thread may run on.
//!
//! # Safety
//! The kernel reads or writes one `cpu_set_t` whose size is passed with it (Invariant 1).
#![expect(unsafe_code, reason = "sched_getaffinity, sched_setaffinity, sched_getcpu")]

use std::io;
use std::mem::{MaybeUninit, size_of};

/// The CPUs the calling thread may run on, ascending.
///
/// # Errors
/// What sched_getaffinity says: EINVAL on machines with more than 1024 possible CPUs.
pub fn allowed() -> io::Result<Vec<u32>> {
    let mut set = MaybeUninit::<libc::cpu_set_t>::zeroed();
    // SAFETY: Invariant 1.
    let rc = unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), set.as_mut_ptr()) };
    if rc != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: all zeroes is a valid set, and the kernel filled it.
    let set = unsafe { set.assume_init() };
    // SAFETY: the index is below CPU_SETSIZE.
    let has = |cpu: &u32| unsafe { libc::CPU_ISSET(*cpu as usize, &set) };
    Ok((0..libc::CPU_SETSIZE as u32).filter(has).collect())
}

/// Confines the calling thread to `cpus`. When this returns, the thread runs on one of them.
///
/// # Errors
/// EINVAL where none of `cpus` exists and is allowed by the cpuset; nothing is changed then.
pub fn confine(cpus: &[u32]) -> io::Result<()> {
    let mut set = MaybeUninit::<libc::cpu_set_t>::zeroed();
    // SAFETY: all zeroes is a valid, empty set.
    let set = unsafe { set.assume_init_mut() };
    for &cpu in cpus {
        if cpu >= libc::CPU_SETSIZE as u32 {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        }
        // SAFETY: the index is below CPU_SETSIZE.
        unsafe { libc::CPU_SET(cpu as usize, set) };
    }
    // SAFETY: Invariant 1.
    match unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), set) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The CPU the calling thread is on: from rseq where glibc registered it, else from the vDSO.
pub fn current() -> Option<u32> {
    // SAFETY: takes nothing and writes nothing.
    let cpu = unsafe { libc::sched_getcpu() };
    u32::try_from(cpu).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confining_to_each_allowed_cpu_moves_the_thread_there() {
        // On a thread of its own: the mask must not leak into other tests.
        std::thread::spawn(|| {
            let cpus = allowed().unwrap();
            assert!(!cpus.is_empty());
            for &cpu in &cpus {
                confine(&[cpu]).unwrap();
                assert_eq!(allowed().unwrap(), [cpu]);
                assert_eq!(current(), Some(cpu));
            }
            confine(&cpus).unwrap();
            assert_eq!(allowed().unwrap(), cpus);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_cpu_that_does_not_exist_is_refused() {
        assert_eq!(confine(&[1023]).unwrap_err().raw_os_error(), Some(libc::EINVAL));
        assert_eq!(confine(&[1 << 20]).unwrap_err().raw_os_error(), Some(libc::EINVAL));
        assert_eq!(confine(&[]).unwrap_err().raw_os_error(), Some(libc::EINVAL));
    }
}
