//! Where and how the calling thread runs.

/// CPUs that the calling thread may run on. The first need not be 0.
pub fn allowed_cpus() -> Vec<usize> {
    cpus_of(0)
}

/// CPUs that a thread may run on.
pub fn cpus_of(thread: i32) -> Vec<usize> {
    let mut set = std::mem::MaybeUninit::<libc::cpu_set_t>::zeroed();
    // SAFETY: one set of the given size.
    let rc = unsafe { libc::sched_getaffinity(thread, size_of::<libc::cpu_set_t>(), set.as_mut_ptr()) };
    assert_eq!(rc, 0);
    // SAFETY: filled by the kernel.
    let set = unsafe { set.assume_init() };
    // SAFETY: below CPU_SETSIZE.
    (0..1024).filter(|&cpu| unsafe { libc::CPU_ISSET(cpu, &set) }).collect()
}

/// Confines the calling thread to one CPU.
pub fn pin(cpu: usize) {
    set_affinity(0, &[cpu]).unwrap();
}

/// Sets the CPUs of a thread; 0 is the calling thread.
pub fn set_affinity(thread: i32, cpus: &[usize]) -> std::io::Result<()> {
    // SAFETY: all zeroes is an empty set.
    let mut set = unsafe { std::mem::zeroed::<libc::cpu_set_t>() };
    for &cpu in cpus {
        // SAFETY: below CPU_SETSIZE.
        unsafe { libc::CPU_SET(cpu, &mut set) };
    }
    // SAFETY: one set of the size that is passed.
    match unsafe { libc::sched_setaffinity(thread, size_of_val(&set), &set) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Gives the calling thread SCHED_FIFO, so that it runs before others. Returns false where that is not allowed.
///
/// Kernels with lazy preemption make a woken SCHED_OTHER thread wait milliseconds, until the next tick.
pub fn run_before_others() -> bool {
    // SAFETY: all zeroes is a valid parameter block. Its fields are not the same in every C library.
    let mut parameter: libc::sched_param = unsafe { std::mem::zeroed() };
    parameter.sched_priority = 1;
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // The system call, because musl's function always fails.
    // SAFETY: one parameter block.
    unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const parameter) == 0 }
}
