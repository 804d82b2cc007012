//! How often this thread was taken off its CPU, and the CPU time of this process and of its children.
//!
//! # Safety
//! The kernel writes one `rusage`, which is ours.
#![expect(unsafe_code, reason = "getrusage")]

use std::mem::MaybeUninit;

/// Context switches of the calling thread since it began, voluntary and not.
pub fn context_switches() -> u64 {
    let usage = getrusage(libc::RUSAGE_THREAD);
    usage.ru_nvcsw as u64 + usage.ru_nivcsw as u64
}

/// How often the calling thread has waited for something off its CPU since it began.
pub fn voluntary_switches() -> u64 {
    getrusage(libc::RUSAGE_THREAD).ru_nvcsw as u64
}

/// CPU time in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuTime {
    pub user_s: f64,
    /// In the kernel.
    pub system_s: f64,
}

impl CpuTime {
    /// Of all threads of this process, those that have ended too, and of all children that were waited for, with theirs.
    pub fn of_all() -> Self {
        let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 * 1e-6;
        let [own, children] = [libc::RUSAGE_SELF, libc::RUSAGE_CHILDREN].map(getrusage);
        Self {
            user_s: seconds(own.ru_utime) + seconds(children.ru_utime),
            system_s: seconds(own.ru_stime) + seconds(children.ru_stime),
        }
    }

    /// What was used since `earlier`. Never below zero: the kernel divides a total into the two, and may correct one of them.
    pub fn since(self, earlier: Self) -> Self {
        Self {
            user_s: (self.user_s - earlier.user_s).max(0.0),
            system_s: (self.system_s - earlier.system_s).max(0.0),
        }
    }
}

fn getrusage(who: libc::c_int) -> libc::rusage {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: writes one rusage; the constants above cannot fail.
    unsafe { libc::getrusage(who, usage.as_mut_ptr()) };
    // SAFETY: zeroed is valid, and the kernel filled it.
    unsafe { usage.assume_init() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_child_counts_once_it_was_waited_for() {
        let before = CpuTime::of_all();
        let busy = "i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done";
        let status = std::process::Command::new("sh").args(["-c", busy]).status().unwrap();
        assert!(status.success());
        let used = CpuTime::of_all().since(before);
        // The kernel may count by ticks: the sum of both is above zero in any case.
        assert!(used.user_s + used.system_s > 0.0, "{used:?}");
        assert_eq!(before.since(CpuTime::of_all()), CpuTime::default(), "never below zero");
    }

    #[test]
    fn sleeping_counts_as_a_switch() {
        let before = (context_switches(), voluntary_switches());
        std::thread::sleep(std::time::Duration::from_millis(2));
        assert!(context_switches() > before.0 && voluntary_switches() > before.1);
    }
}
