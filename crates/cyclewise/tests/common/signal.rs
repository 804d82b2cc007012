//! Signals to one thread of this process, by its kernel thread id.
//!
//! Direct system calls, because `raise` and `pthread_kill` of musl and older glibc block every signal meanwhile. They
//! block SIGTRAP too, which kills a thread that is stepped. musl also lacks `pthread_sigqueue`.

/// The calling thread.
pub fn this_thread() -> i32 {
    // SAFETY: takes nothing.
    unsafe { libc::syscall(libc::SYS_gettid) as i32 }
}

fn process() -> i32 {
    // SAFETY: takes nothing.
    unsafe { libc::getpid() }
}

/// Sends a signal.
pub fn send(thread: i32, signal: i32) {
    // SAFETY: takes numbers.
    let rc = unsafe { libc::syscall(libc::SYS_tgkill, process(), thread, signal) };
    assert_eq!(rc, 0);
}

/// Sends a signal to the calling thread. Unless it is blocked, it is handled when this returns.
pub fn raise(signal: i32) {
    send(this_thread(), signal);
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
    // SAFETY: takes nothing.
    let user = unsafe { libc::getuid() };
    let process = process();
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
