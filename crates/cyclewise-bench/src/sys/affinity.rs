//! sched_getaffinity(2), sched_setaffinity(2), getcpu(2): the CPUs of the calling thread.

use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
use std::io;

/// The CPUs the calling thread may run on, ascending.
///
/// # Errors
/// EINVAL on machines with more than 1024 possible CPUs.
pub fn allowed() -> io::Result<Vec<u32>> {
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU as u32)
        .filter(|&cpu| set.is_set(cpu as usize))
        .collect())
}

/// Confines the calling thread to `cpus`. When this returns, the thread runs on one of them.
///
/// # Errors
/// EINVAL where none of `cpus` exists and is allowed by the cpuset; the mask is then unchanged.
pub fn confine(cpus: &[u32]) -> io::Result<()> {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        if cpu as usize >= CpuSet::MAX_CPU {
            return Err(rustix::io::Errno::INVAL.into());
        }
        set.set(cpu as usize);
    }
    Ok(sched_setaffinity(None, &set)?)
}

/// The CPU the calling thread runs on.
#[inline]
pub fn current_cpu() -> u32 {
    sched_getcpu() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confining_to_each_allowed_cpu_moves_the_thread_there() {
        // On its own thread: the mask must not leak into other tests.
        std::thread::spawn(|| {
            let cpus = allowed().unwrap();
            assert!(!cpus.is_empty());
            for &cpu in &cpus {
                confine(&[cpu]).unwrap();
                assert_eq!(allowed().unwrap(), [cpu]);
                assert_eq!(current_cpu(), cpu);
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
