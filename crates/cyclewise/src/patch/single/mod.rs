//! Single mode: LOCK is elided while one thread of the process can run, and restored before a second one can run.
//!
//! The final program opts in with [`enable_single!`](crate::enable_single) at the start of `main`. The macro defines,
//! in the program itself, the C library's functions that create threads: each restores LOCK and forwards the call.
//! Before anything is elided, the dynamic linker is asked whether the process is bound to these hooks, and the kernel
//! whether any other thread can run.
//!
//! ```no_run
//! // SAFETY: this program and its libraries create threads through the C library only.
//! if let Err(refusal) = unsafe { cyclewise::enable_single!() } {
//!     eprintln!("LOCK stays: {refusal}");
//! }
//! ```
//!
//! When the other threads were joined, [`reelide`] elides again. [`lock`] restores LOCK at any time. A child of fork has
//! one thread and its own copy of the text, so it inherits the mode.
//!
//! # Which threads have ended?
//! One whose join has returned, and one that is in the kernel's exit and will not come back, though the kernel may still
//! list both. Not one whose work is done: [`std::thread::scope`] returns when the closures of its threads have, and
//! those threads still run destructors and leave the C library. Join each of their handles. The same holds for a thread
//! that is detached, or has sent its result through a channel: try again when it has ended.
//!
//! # Sandboxes
//! A seccomp filter, Landlock, chroot or a limit on open files that is installed while LOCK is elided does not prevent
//! restoring it. Single mode holds a descriptor of `/proc/self/mem` until LOCK is restored, and writes through it with
//! pread(2), pwrite(2) and rt_sigprocmask(2) only; creating a thread calls the last one as well. Where the sandbox
//! refuses one of those, or the descriptor was closed, a new descriptor and then mprotect(2) are tried. Where all are
//! refused, functions that create threads fail with EAGAIN, and the process continues with one thread. The same holds
//! for a child whose parent was in the sandbox when it forked: it cannot get a descriptor of its own memory.
//!
//! At exit, and where it is closed, a shared library or C program whose sites another link unit's copy of this crate has elided gets LOCK
//! back by the same calls: a filter that kills for them kills there.
//!
//! Call [`lock`] before entering such a sandbox, or one that must contain this program's own code: with the descriptor,
//! code that controls the arguments of pwrite(2) can write the program's text. `lock` closes it.
//!
//! # Memory ordering
//! One thread sees its own accesses in program order. LOCK is restored, and fetched by this CPU, before the system call
//! that creates a thread. The new thread reaches its first instruction by IRET, which serializes, so it fetches LOCK
//! too. No other CPU runs this process, so no barrier is needed.
//!
//! # Safety
//! Nothing here is unsafe: the keyword on [`refuse`] keeps the macro's callers the same in every build.
//!
//! # Cost
//! The first thread created after eliding changes all sites. Later threads cost the hook's two additions.

#![expect(unsafe_code, reason = "a function whose callers write `unsafe` in every build")]

use crate::error::Refusal;

#[cfg_attr(not(all(feature = "std", target_env = "gnu")), path = "unsupported.rs")]
mod elide;

#[allow(unused_imports, unreachable_pub, reason = "builds without the mode export nothing")]
pub use elide::*;

/// Elides again, after [`enable_single!`](crate::enable_single) and after other threads [have
/// ended](self#which-threads-have-ended). A thread that was joined is no reason to refuse.
///
/// # Errors
/// Says why LOCK stays. Once a thread was created [past the hooks](crate::enable_single#safety), a joined thread is
/// [`Refusal::OtherThreads`] until the kernel lists it no more, some microseconds later. So it is where a sandbox allows to
/// list `/proc/self/task` and not to read the files in it.
///
/// # Examples
/// ```standalone_crate
/// // SAFETY: threads are created by the C library only, and no atomics are shared with other processes.
/// let single = unsafe { cyclewise::enable_single!() };
/// std::thread::spawn(|| {}).join().unwrap(); // Restores LOCK.
/// match single.and_then(|()| cyclewise::patch::single::reelide()) {
///     Ok(()) => println!("without LOCK again"),
///     Err(refusal) => println!("LOCK stays: {refusal}"),
/// }
/// ```
pub fn reelide() -> Result<(), Refusal> {
    elide::reelide()
}

/// Restores LOCK until [`reelide`] is called, and closes the descriptor. Call it [before entering a
/// sandbox](self#sandboxes).
///
/// # Errors
/// Where the text cannot be written: then single mode stays in force and threads are refused. [`Refusal::WrongMode`] in
/// confined mode, which [`Guard::leave`](super::confined::Guard::leave) leaves.
///
/// # Examples
/// ```
/// // Before the program enters a sandbox; nothing is done where nothing is elided.
/// cyclewise::patch::single::lock()?;
/// # Ok::<(), cyclewise::error::Refusal>(())
/// ```
pub fn lock() -> Result<(), Refusal> {
    elide::lock()
}

/// `enable_single!` where the program cannot have hooks. Unsafe only so that the caller writes `unsafe`.
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

/// Why this build has neither mode.
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
/// they are in force and no other thread can run. Expands to a call of an unsafe function that returns
/// `Result<(), Refusal>`. A second use in one program does not link.
///
/// # Safety
/// For the rest of the process:
/// 1. Threads are created by the C library's functions only: not by clone(2) with CLONE_VM, nor by another copy of the
///    C library (dlmopen, a library that contains one). Libraries that bypass the hooks (dlsym with RTLD_NEXT or on the
///    C library's handle, RTLD_DEEPBIND) are allowed: LOCK is restored before such a thread exists, and the thread that
///    created it never elides again.
/// 2. Values of [`atomic`](crate::atomic)'s types are in memory that only this process accesses, and nothing relies on
///    their read-modify-writes to order accesses of other processes, the kernel or devices: while elided they are not
///    barriers. [`fence`](crate::atomic::fence) is one, and so are std's. Nor does the kernel change them when a thread
///    ends, as it does the words of set_robust_list(2), of set_tid_address(2) and of futexes with priority inheritance:
///    the C library uses those for its own.
///
/// # Examples
/// ```standalone_crate
/// // SAFETY: threads are created by the C library only, and no atomics are shared with other processes.
/// if let Err(refusal) = unsafe { cyclewise::enable_single!() } {
///     eprintln!("LOCK stays: {refusal}");
/// }
/// ```
#[cfg(all(feature = "std", target_arch = "x86_64", target_env = "gnu"))]
#[macro_export]
macro_rules! enable_single {
    () => {{
        // `crt-static` is tested where the macro expands: only the program's crate may be linked statically. Features
        // of this crate are in the macro's attributes.
        #[cfg(not(target_feature = "crt-static"))]
        let outcome = {
            $crate::__thread_creators!($crate::__export_hooks);
            $crate::patch::single::enable(&HOOKS)
        };
        #[cfg(target_feature = "crt-static")]
        let outcome = $crate::patch::single::refuse();
        outcome
    }};
}

/// Single mode's macro in a build without the mode: expands to a refusal.
#[cfg(not(all(feature = "std", target_arch = "x86_64", target_env = "gnu")))]
#[macro_export]
macro_rules! enable_single {
    () => {
        $crate::patch::single::refuse()
    };
}
