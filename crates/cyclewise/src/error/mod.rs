//! The library's one error type: what was refused and why. Its message says what to do next.

mod advice;
mod message;

/// Why an operation was refused. Nothing was done and the text is unchanged, except as
/// [`HalfWritten`](Refusal::HalfWritten) and [`StillWritable`](Refusal::StillWritable) say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The process has threads besides the caller.
    OtherThreads {
        /// The number of threads, the caller included.
        threads: u32,
    },
    /// The call comes from a signal handler that interrupted a change of the text on the same thread.
    Busy,
    /// A breakpoint (0xCC) is on a site: a debugger's, or a uprobe.
    Breakpoint {
        /// The address.
        at: usize,
    },
    /// A byte of the text is neither the old value nor the new one. 0xE8 is a CALL: of a uprobe, since Linux 6.18.
    UnexpectedByte {
        /// The address.
        at: usize,
        /// The byte found.
        found: u8,
    },
    /// The address is not in a mapping that is readable, executable, not writable and private to the process. Text that is shared with
    /// other processes (memfd, libhugetlbfs) is theirs too, and execute-only text cannot be looked at.
    NotText {
        /// The address.
        at: usize,
    },
    /// The edit crosses a page, is empty or too long, or overlaps the one before it.
    Misshapen {
        /// The address.
        at: usize,
    },
    /// Other threads run, and the edit cannot be made by one aligned store.
    NotOneStore {
        /// The address.
        at: usize,
    },
    /// The text did not read back as written, and was rolled back.
    NotVerified {
        /// The address.
        at: usize,
    },
    /// Writing failed, and so did rolling back: some sites are old and some new. Each is a whole instruction.
    HalfWritten {
        /// A site that could not be rolled back.
        at: usize,
    },
    /// The text is unchanged, but its pages could not be made read-only again.
    StillWritable {
        /// The errno of mprotect.
        errno: i32,
    },
    /// One instruction tests two keys: the linker folded identical code.
    SharedSite {
        /// The address.
        at: usize,
    },
    /// The key is in a different executable or shared object from this crate.
    OtherUnit,
    /// The descriptor of a link unit is another version's, not writable, or describes no table of that unit's own text.
    BadUnit {
        /// The address; 0 for a null pointer.
        at: usize,
    },
    /// What is written at the address is not what runs: a tool has moved or copied the program's code after it was linked (llvm-bolt, a
    /// code cache).
    MovedText {
        /// The address of the link unit's canary.
        at: usize,
    },
    /// `dec` was called more often than `inc`.
    NoUsers,
    /// The key has `u32::MAX` users.
    TooManyUsers,
    /// There is no LOCK prefix to patch: another architecture, or a build for loom.
    NoLockPrefix,
    /// Thread creation cannot be hooked in this build: no `std` feature, no glibc, or a static link.
    Unwatched,
    /// `enable_single!` has not run, or not in this copy of the crate.
    NotEnabled,
    /// The dynamic linker binds the process to a function other than this program's hook.
    NotInForce {
        /// The function.
        hook: &'static str,
    },
    /// This program's hook has no function to forward to: the dynamic linker finds none behind it.
    NothingBehind {
        /// The function.
        hook: &'static str,
    },
    /// A thread is being created.
    Creating,
    /// The C library may have helper threads that create others, which no hook sees.
    HelperThreads,
    /// A thread was created without a hook: by the calling thread, or, for confined mode, by any thread.
    Unhooked,
    /// Another mode is in force.
    WrongMode,
    /// Threads started and ended faster than they could be listed.
    Unstable,
    /// `/proc` belongs to another pid namespace.
    ForeignProc,
    /// A thread's affinity did not read back as set.
    AffinityNotKept {
        /// The kernel's id of the thread.
        thread: i32,
    },
    /// A thread could run on another CPU while LOCK was elided: confined mode's contract was broken, from inside the
    /// process or outside, and updates may be lost.
    LetOut {
        /// The kernel's id of the thread.
        thread: i32,
    },
    /// The base of GS cannot be set: another architecture, or a system call that reports success without effect.
    NoGs,
    /// The base of GS is in use.
    GsInUse {
        /// Its value.
        base: usize,
    },
    /// Out of memory, for a list of edits or for per-CPU areas.
    NoMemory,
    /// A thread holds a locked slot of per-CPU data and makes no progress.
    SlotHeld,
    /// sigaction refused a handler for this signal.
    Signal {
        /// Its number.
        signal: i32,
        /// The errno of sigaction.
        errno: i32,
    },
    /// The signal is a fault. It cannot be held: the thread cannot continue past a fault.
    Fault {
        /// Its number.
        signal: i32,
    },
    /// This crate already has a handler for the signal.
    SignalTaken {
        /// Its number.
        signal: i32,
    },
    /// This crate has no handler for the signal, or another was installed over it.
    SignalNotOurs {
        /// Its number.
        signal: i32,
    },
    /// Another thread has been registering or removing a handler for a second, or the call comes from a foreign handler that
    /// interrupted such a change on the same thread.
    SignalsBusy,
    /// A system call failed.
    System {
        /// The call, with the argument that matters.
        call: &'static str,
        /// The errno.
        errno: i32,
    },
}

impl core::error::Error for Refusal {}
