//! Helpers of the soft mask's checks: send signals, install foreign handlers, and read what arrived.
#![allow(dead_code, reason = "each test program uses a part")]

use crate::common::signal;
pub(crate) use crate::common::signal::{raise, this_thread};
use crate::common::until;

use cyclewise::mask::{self, Masked, Queue};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};

pub(crate) static COUNT: AtomicU32 = AtomicU32::new(0);
pub(crate) static FLAG: AtomicBool = AtomicBool::new(false);
pub(crate) static SEEN: Masked<Queue<64>> = Masked::new(Queue::new());
/// Count of the foreign handlers; [`plain`] adds 100.
pub(crate) static CONTEXTS: AtomicU32 = AtomicU32::new(0);

/// A real-time signal with a value to this thread.
pub(crate) fn queue(number: i32, value: usize) {
    queue_to(this_thread(), number, value);
}

pub(crate) fn queue_to(thread: i32, number: i32, value: usize) {
    loop {
        match signal::queue(thread, number, value) {
            Ok(()) => break,
            // The limit of queued signals is per user: another program may exhaust it for a while.
            Err(libc::EAGAIN) => std::thread::yield_now(),
            Err(errno) => panic!("rt_tgsigqueueinfo: errno {errno}"),
        }
    }
}

pub(crate) fn seen() -> Vec<(i32, usize)> {
    let hold = mask::hold();
    let mut seen = SEEN.lock(&hold);
    std::iter::from_fn(|| seen.pop())
        .map(|info| (info.signal(), info.value()))
        .collect()
}

pub(crate) fn kernel_mask() -> Vec<i32> {
    let mut set = signal::set_of([]);
    // SAFETY: null only queries; writes one set.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &raw mut set) };
    // SAFETY: a set and a number.
    (1..=64)
        .filter(|&s| unsafe { libc::sigismember(&raw const set, s) } == 1)
        .collect()
}

pub(crate) fn install(signal: i32, function: usize, flags: i32) {
    signal::install(signal, function, signal::set_of([]), flags);
}

pub(crate) fn installed(signal: i32) -> libc::sigaction {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: null only queries; writes one action.
    let rc = unsafe { libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) };
    assert_eq!(rc, 0);
    // SAFETY: written.
    unsafe { action.assume_init() }
}

pub(crate) extern "C" fn plain(_: i32) {
    CONTEXTS.fetch_add(100, SeqCst);
}

/// Signals the thread once it sleeps in the call it waits in, and not earlier on a lock of the allocator.
pub(crate) fn signal_when_asleep(thread: i32, number: i32) {
    let read = |name: &str| std::fs::read_to_string(format!("/proc/self/task/{thread}/{name}"));
    // The state follows the name in brackets.
    let is_asleep = || read("stat").unwrap().rsplit_once(')').unwrap().1.starts_with(" S");
    // The call's number comes first: futex(2) of x86-64 or AArch64. Not every kernel reports it.
    let is_locking = || read("syscall").is_ok_and(|call| call.starts_with("202 ") || call.starts_with("98 "));
    until(|| is_asleep() && !is_locking());
    signal::send(thread, number);
}

/// The kernel's frame on an alternate stack. Kernels before 5.14 do not say, nor do emulators; it is less than 16 KiB everywhere.
pub(crate) fn frame_size() -> usize {
    // SAFETY: takes a number.
    match unsafe { libc::getauxval(libc::AT_MINSIGSTKSZ) } as usize {
        0 => 16384,
        size => size,
    }
}

/// The calling thread's alternate stack, above a page that nobody may touch. It stays mapped: it may be in use at any time.
pub(crate) fn use_alternate_stack(size: usize) {
    const PAGE: usize = 65536; // the largest
    let whole = size.next_multiple_of(PAGE) + PAGE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new mapping.
    let guard = unsafe { libc::mmap(std::ptr::null_mut(), whole, libc::PROT_NONE, flags, -1, 0) };
    assert_ne!(guard, libc::MAP_FAILED);
    let stack = guard.wrapping_byte_add(PAGE);
    let open = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: mapped above, behind the guard.
    assert_eq!(unsafe { libc::mprotect(stack, whole - PAGE, open) }, 0);
    let stack = libc::stack_t {
        ss_sp: stack,
        ss_flags: 0,
        ss_size: size,
    };
    // SAFETY: memory that nobody else uses and that is never unmapped.
    assert_eq!(unsafe { libc::sigaltstack(&raw const stack, std::ptr::null_mut()) }, 0);
}

pub(crate) fn is_on_alternate_stack() -> bool {
    let mut stack = std::mem::MaybeUninit::<libc::stack_t>::zeroed();
    // SAFETY: null only queries; writes one structure.
    unsafe { libc::sigaltstack(std::ptr::null(), stack.as_mut_ptr()) };
    // SAFETY: zeroes are valid, and it was written.
    unsafe { stack.assume_init() }.ss_flags & libc::SS_ONSTACK != 0
}
