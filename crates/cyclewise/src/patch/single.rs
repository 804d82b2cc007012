//! Single mode: LOCK is gone while the process has one thread, and back before a second one can run.
//!
//! The final program opts in with [`enable_single!`](crate::enable_single) at the start of `main`. The macro defines the
//! C library's functions that create threads in the program itself: each restores LOCK and hands the call on. Whether
//! the process is bound to these hooks is asked of the dynamic linker, and whether there is one thread of the kernel,
//! before anything is elided.
//!
//! ```no_run
//! // SAFETY: this program and its libraries create threads through the C library only.
//! if let Err(refusal) = unsafe { cyclewise::enable_single!() } {
//!     eprintln!("LOCK stays: {refusal}");
//! }
//! ```
//!
//! When the threads have ended, [`reelide`] elides again; [`lock`] restores LOCK at any time. A child of fork has one
//! thread and its own copy of the text: it inherits the mode, and it holds.
//!
//! # Sandboxes
//! A seccomp filter, Landlock, chroot or a limit of open files that comes after LOCK was taken away does not keep it from
//! coming back: single mode holds a descriptor of `/proc/self/mem` until LOCK is back, and writes through it by pread(2),
//! pwrite(2) and rt_sigprocmask(2), which creating a thread calls as well, alone. Where the sandbox refuses one of those, or
//! somebody has closed the descriptor, a new one and mprotect(2) are tried. Where all is refused, functions that create threads fail with EAGAIN, and the process goes on with one thread.
//! So is a child whose parent was in the sandbox when it forked: it can have no descriptor of its own memory.
//!
//! A program calls [`lock`] before it enters such a sandbox, or one that is to hold against its own code: the descriptor
//! lets whoever controls the arguments of pwrite(2) write its text. `lock` closes it.
//!
//! # Memory ordering
//! One thread sees its own accesses in program order. LOCK is back, and fetched by this CPU, before the system call
//! that creates a thread; the new thread reaches its first instruction by IRET, which serializes, so it fetches LOCK
//! too. No other CPU runs this process, so no barrier has to be sent.
//!
//! # Safety
//! Nothing here is unsafe by itself: the keyword on [`refuse`] keeps the macro's callers alike.
//!
//! # Cost
//! A change of all sites on the first thread after eliding; later threads cost the hook's two additions.

#![expect(unsafe_code, reason = "a function whose callers write `unsafe` in every build")]

use crate::error::Refusal;

#[cfg(all(feature = "std", target_os = "linux", target_env = "gnu"))]
mod elide;
#[cfg(all(feature = "std", target_os = "linux", target_env = "gnu"))]
pub use elide::enable;
#[cfg(all(feature = "std", target_os = "linux", target_env = "gnu"))]
pub(super) use elide::{before_thread, enabled};

/// Elides again, after [`enable_single!`](crate::enable_single) and after other threads have ended.
///
/// A thread that was joined may be in the kernel's list for some microseconds more; try again then.
///
/// # Errors
/// Says why LOCK stays.
pub fn reelide() -> Result<(), Refusal> {
    #[cfg(all(feature = "std", target_os = "linux", target_env = "gnu"))]
    return elide::reelide();
    #[cfg(not(all(feature = "std", target_os = "linux", target_env = "gnu")))]
    Err(unsupported())
}

/// Restores LOCK, and keeps it until [`reelide`] is called. Nothing is left to be done to the text, and no descriptor is
/// held: call it [before a sandbox](self#sandboxes) that may refuse what restoring needs.
///
/// # Errors
/// Where the text cannot be written; single mode is still in force then, and threads are refused. [`Refusal::WrongMode`] in
/// confined mode, whose guard is the way out.
pub fn lock() -> Result<(), Refusal> {
    #[cfg(all(feature = "std", target_os = "linux", target_env = "gnu"))]
    return elide::lock();
    #[cfg(not(all(feature = "std", target_os = "linux", target_env = "gnu")))]
    Ok(())
}

/// What `enable_single!` calls where the program cannot have hooks. Unsafe only so that the caller's block is needed.
///
/// # Safety
/// None is needed.
///
/// # Errors
/// Always.
#[doc(hidden)]
pub unsafe fn refuse() -> Result<(), Refusal> {
    Err(unsupported())
}

/// Why neither mode can be had in this build.
pub(super) fn unsupported() -> Refusal {
    if crate::arch::HAS_SITES {
        Refusal::Unwatched
    } else {
        Refusal::NoLockPrefix
    }
}

/// Opts the final program into [single mode](crate::patch::single): one call, at the start of `main`.
///
/// Defines hooks for every function of the C library that creates threads, under their own names, and elides LOCK if
/// they are in force and the process has one thread. Expands to a call of an unsafe function that returns
/// `Result<(), Refusal>`. A second use in one program does not link.
///
/// # Safety
/// For the rest of the process:
/// 1. Threads are created by the C library's functions only: not by clone(2) with CLONE_VM, nor by another copy of the C
///    library (dlmopen, a library that contains one). Who is bound past the hooks (dlsym with RTLD_NEXT or of the C library's
///    handle, RTLD_DEEPBIND) is seen: LOCK is back before such a thread, and the thread that created it never elides again.
/// 2. Values of [`atomic`](crate::atomic)'s types are in memory that only this process accesses, and nothing
///    counts on their read-modify-writes to order what other processes, the kernel or devices access: while elided they are
///    no barriers. [`fence`](crate::atomic::fence) is one, and so are std's.
#[cfg(all(
    feature = "std",
    target_arch = "x86_64",
    target_os = "linux",
    target_env = "gnu",
    not(loom)
))]
#[macro_export]
macro_rules! enable_single {
    () => {{
        // Decided where this is expanded: the program's crate alone may be linked statically. What is decided by names
        // that only this crate knows, as `loom`, is in the attributes of the macro.
        #[cfg(not(target_feature = "crt-static"))]
        $crate::__thread_creators!($crate::__export_hooks);
        #[cfg(not(target_feature = "crt-static"))]
        let outcome = $crate::patch::single::enable(&HOOKS);
        #[cfg(target_feature = "crt-static")]
        let outcome = $crate::patch::single::refuse();
        outcome
    }};
}

/// Opts the final program into single mode, which this build does not have: expands to a refusal.
#[cfg(not(all(
    feature = "std",
    target_arch = "x86_64",
    target_os = "linux",
    target_env = "gnu",
    not(loom)
)))]
#[macro_export]
macro_rules! enable_single {
    () => {
        $crate::patch::single::refuse()
    };
}
