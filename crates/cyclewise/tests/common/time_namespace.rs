//! Time namespaces, in which CLOCK_MONOTONIC has an offset.

use super::call;

/// Absent from libc; include/uapi/linux/sched.h.
const CLONE_NEWTIME: i32 = 0x80;

/// Children from here on are in a time namespace whose clocks are ahead by so many seconds. False where that is not allowed.
pub fn of_children(seconds: i64) -> bool {
    let unshare = |flags| call::unshare(flags) == 0;
    let offsets = format!("monotonic {seconds} 0\nboottime {seconds} 0\n");
    (unshare(CLONE_NEWTIME) || unshare(libc::CLONE_NEWUSER | CLONE_NEWTIME))
        && std::fs::write("/proc/self/timens_offsets", offsets).is_ok()
}

/// Enters the namespace of the children. False where that is not allowed, or the process has other threads.
pub fn enter() -> bool {
    let of_children = std::fs::File::open("/proc/self/ns/time_for_children").unwrap();
    // SAFETY: a descriptor and a number.
    unsafe { libc::setns(std::os::fd::AsRawFd::as_raw_fd(&of_children), CLONE_NEWTIME) == 0 }
}
