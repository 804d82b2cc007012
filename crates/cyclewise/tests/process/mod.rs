//! Checks that patch their process: each runs in a child of its own, forked from a main with one thread.
#![allow(dead_code, reason = "each test program uses a part")]

use std::os::unix::fs::FileExt;

/// A check and its name.
pub(crate) type Check = (&'static str, fn());

/// Runs each check in a child, or those whose name contains the first argument. Exits 1 where any fails.
pub(crate) fn run(checks: &[Check]) {
    let filter = std::env::args()
        .skip(1)
        .find(|a| !a.starts_with('-'))
        .unwrap_or_default();
    let ignored = std::env::args().any(|a| a == "--ignored" || a == "--list");
    let mut failed = 0;
    for (name, check) in checks.iter().filter(|(n, _)| !ignored && n.contains(&filter)) {
        let outcome = in_child(*check);
        println!("test {name} ... {}", if outcome == 0 { "ok" } else { "FAILED" });
        failed += i32::from(outcome != 0);
    }
    std::process::exit(i32::from(failed > 0));
}

/// Runs `check` in a forked child; its exit status, or 128 and the signal that ended it.
pub(crate) fn in_child(check: impl FnOnce()) -> i32 {
    // SAFETY: the caller has one thread, so the child may do anything.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "fork: {}", std::io::Error::last_os_error());
    if child == 0 {
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(check));
        // SAFETY: ends the child without the parent's exit handlers.
        unsafe { libc::_exit(if outcome.is_ok() { 0 } else { 101 }) };
    }
    let mut status = 0;
    // SAFETY: the child is ours and waited for once.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    if libc::WIFEXITED(status) {
        libc::WEXITSTATUS(status)
    } else {
        128 + libc::WTERMSIG(status)
    }
}

/// Writes a byte of this process's text, whatever it does to who executes it.
pub(crate) fn poke(at: usize, byte: u8) {
    let memory = std::fs::OpenOptions::new().write(true).open("/proc/self/mem").unwrap();
    memory.write_all_at(&[byte], at as u64).unwrap();
}

/// CPUs that this process may run on.
pub(crate) fn cpus() -> Vec<usize> {
    let mut set = std::mem::MaybeUninit::<libc::cpu_set_t>::zeroed();
    // SAFETY: one set of the size that is passed.
    let rc = unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), set.as_mut_ptr()) };
    assert_eq!(rc, 0);
    // SAFETY: filled by the kernel.
    let set = unsafe { set.assume_init() };
    // SAFETY: below CPU_SETSIZE.
    (0..1024).filter(|&cpu| unsafe { libc::CPU_ISSET(cpu, &set) }).collect()
}

/// Confines the calling thread to one CPU.
pub(crate) fn pin(cpu: usize) {
    let set = std::mem::MaybeUninit::<libc::cpu_set_t>::zeroed();
    // SAFETY: all zeroes is an empty set.
    let mut set = unsafe { set.assume_init() };
    // SAFETY: below CPU_SETSIZE.
    unsafe { libc::CPU_SET(cpu, &mut set) };
    // SAFETY: one set of the size that is passed.
    let rc = unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set) };
    assert_eq!(rc, 0);
}

/// Lets the calling thread run as soon as it can, whatever else runs: SCHED_FIFO. False where that is not allowed.
///
/// Kernels that preempt lazily let a woken thread of the usual policy wait for the next tick, which is milliseconds.
pub(crate) fn hurry() -> bool {
    // SAFETY: all zeroes is a valid parameter block. Its fields are not the same in every C library.
    let mut parameter: libc::sched_param = unsafe { std::mem::zeroed() };
    parameter.sched_priority = 1;
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // The system call: musl's function only refuses.
    // SAFETY: one parameter block.
    unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const parameter) == 0 }
}
