//! Signals to one thread of this process, by its kernel thread id.
//!
//! Direct system calls, because `raise` and `pthread_kill` of musl and older glibc block every signal meanwhile. They
//! block SIGTRAP too, which kills a thread that is stepped. musl also lacks `pthread_sigqueue`.

use super::call;

/// The calling thread.
pub fn this_thread() -> i32 {
    call::gettid()
}

/// Sends a signal.
pub fn send(thread: i32, signal: i32) {
    // SAFETY: takes numbers.
    let rc = unsafe { libc::syscall(libc::SYS_tgkill, call::getpid(), thread, signal) };
    assert_eq!(rc, 0);
}

/// Sends a signal to the calling thread. Unless it is blocked, it is handled when this returns.
pub fn raise(signal: i32) {
    send(this_thread(), signal);
}

/// Has `handler`, which does only what a handler may, handle a signal. Calls that it interrupts are restarted.
pub fn handle(signal: i32, handler: extern "C" fn(i32)) {
    install(signal, handler as *const () as usize, set_of([]), libc::SA_RESTART);
}

/// A handler that is told of the signal, and of what it interrupted.
pub type Informed = extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void);

/// The same of a handler during which every signal is blocked.
pub fn handle_alone(signal: i32, handler: Informed, flags: i32) {
    install(
        signal,
        handler as *const () as usize,
        set_of(EVERY),
        flags | libc::SA_SIGINFO,
    );
}

/// Installs a handler of the kind that the flags say, during which the signals of `mask` are blocked.
pub fn install(signal: i32, handler: usize, mask: libc::sigset_t, flags: i32) {
    let action = libc::sigaction {
        sa_sigaction: handler,
        sa_mask: mask,
        sa_flags: flags,
        sa_restorer: None,
    };
    // SAFETY: one action, of the type its flags select.
    let rc = unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) };
    assert_eq!(rc, 0);
}

pub const EVERY: std::ops::RangeInclusive<i32> = 1..=64;

/// The set of these signals, without those that the C library keeps to itself.
pub fn set_of(signals: impl IntoIterator<Item = i32>) -> libc::sigset_t {
    // SAFETY: all zeroes is an empty set.
    let mut set = unsafe { std::mem::zeroed() };
    for signal in signals {
        // SAFETY: one set and a number.
        unsafe { libc::sigaddset(&raw mut set, signal) };
    }
    set
}

/// Changes which signals the calling thread blocks, by these.
pub fn mask(how: i32, signals: impl IntoIterator<Item = i32>) {
    let set = set_of(signals);
    // SAFETY: reads the set.
    let rc = unsafe { libc::pthread_sigmask(how, &raw const set, std::ptr::null_mut()) };
    assert_eq!(rc, 0);
}

/// Sends SIGALRM by the time, or SIGPROF by the CPU's, to this process every so many microseconds; from now on never if that is 0.
pub fn every(signal: i32, microseconds: i64) {
    let period = libc::timeval {
        tv_sec: 0,
        tv_usec: microseconds,
    };
    let timer = libc::itimerval {
        it_interval: period,
        it_value: period,
    };
    let which = if signal == libc::SIGPROF {
        libc::ITIMER_PROF
    } else {
        libc::ITIMER_REAL
    };
    // SAFETY: reads the timer.
    let rc = unsafe { libc::setitimer(which, &raw const timer, std::ptr::null_mut()) };
    assert_eq!(rc, 0);
}

/// `siginfo_t` as sigqueue(3) fills it: include/uapi/asm-generic/siginfo.h on 64-bit.
#[repr(C)]
struct Information {
    signal: i32,
    errno: i32,
    code: i32,
    padding: i32,
    process: i32,
    user: u32,
    value: usize,
    rest: [u64; 12],
}

/// Sends a signal with a value.
///
/// # Errors
/// The errno: EAGAIN where the user's limit of queued signals is reached.
pub fn queue(thread: i32, signal: i32, value: usize) -> Result<(), i32> {
    let (process, user) = (call::getpid(), call::getuid());
    let information = Information {
        signal,
        errno: 0,
        code: libc::SI_QUEUE,
        padding: 0,
        process,
        user,
        value,
        rest: [0; 12],
    };
    // SAFETY: reads the 128 bytes.
    let rc = unsafe {
        libc::syscall(
            libc::SYS_rt_tgsigqueueinfo,
            process,
            thread,
            signal,
            &raw const information,
        )
    };
    match rc {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error().raw_os_error().unwrap_or(0)),
    }
}
