//! Rings of io_uring whose submissions a thread of the kernel polls for, in the process that has the ring.

use std::os::fd::{FromRawFd, OwnedFd};

/// Flags of io_uring_setup(2), and their places in its parameters.
const SETUP_SQPOLL: u32 = 1 << 1;
const SETUP_SQ_AFF: u32 = 1 << 2;
const FLAGS: usize = 2;
const THREAD_CPU: usize = 3;

/// A ring whose thread is on `cpu`. `None`, with a reason that is printed, where there are none.
pub fn polled(cpu: Option<usize>) -> Option<OwnedFd> {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let numbers: Vec<u32> = release
        .split(['.', '-'])
        .map_while(|number| number.parse().ok())
        .collect();
    if numbers.as_slice() < [5, 12].as_slice() {
        println!("skipped: before Linux 5.12 io_uring's threads are not of this process");
        return None;
    }
    let mut parameters = [0_u32; 30]; // struct io_uring_params
    parameters[FLAGS] = SETUP_SQPOLL;
    if let Some(cpu) = cpu {
        parameters[FLAGS] |= SETUP_SQ_AFF;
        parameters[THREAD_CPU] = cpu as u32;
    }
    // SAFETY: the kernel reads and writes one `struct io_uring_params`.
    let number = unsafe { libc::syscall(libc::SYS_io_uring_setup, 1, parameters.as_mut_ptr()) };
    if number < 0 {
        println!("skipped: io_uring_setup: {}", std::io::Error::last_os_error());
        return None;
    }
    // SAFETY: made above.
    Some(unsafe { OwnedFd::from_raw_fd(number as i32) })
}
