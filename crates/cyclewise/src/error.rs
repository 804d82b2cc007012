//! Why something was not done: which call said so, why, and what to do about it.

use core::fmt;

/// A refusal. Whatever was asked for has not happened, and the text is as it was, except where
/// [`HalfWritten`](Refusal::HalfWritten) and [`StillWritable`](Refusal::StillWritable) say otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The process has other threads than the caller.
    OtherThreads {
        /// How many threads there are, the caller included.
        threads: u32,
    },
    /// The calling thread is inside another change of the text, which a signal handler has interrupted.
    Busy,
    /// A breakpoint (0xCC) is on a site.
    Breakpoint {
        /// The address.
        at: usize,
    },
    /// A byte that is neither the one that was left there nor the one to be written.
    UnexpectedByte {
        /// The address.
        at: usize,
        /// What stands there.
        found: u8,
    },
    /// The address is in no mapping that is readable, executable and not writable.
    NotText {
        /// The address.
        at: usize,
    },
    /// The edit crosses a page, is empty or too long, or overlaps the one before it.
    Misshapen {
        /// The address.
        at: usize,
    },
    /// Other threads run, and the edit is not one aligned store.
    NotOneStore {
        /// The address.
        at: usize,
    },
    /// The text did not read back as it was written, and was rolled back.
    NotVerified {
        /// The address.
        at: usize,
    },
    /// Writing failed, and so did rolling back: some sites are old and some new, each of them whole.
    HalfWritten {
        /// A site that could not be rolled back.
        at: usize,
    },
    /// The text is as it was, but its pages could not be made read-only again.
    StillWritable {
        /// What mprotect said.
        errno: i32,
    },
    /// Two keys are tested by the same instruction, which the linker made of two that looked alike.
    SharedSite {
        /// The address.
        at: usize,
    },
    /// The key is in another executable or shared object than this crate.
    OtherUnit,
    /// A key's users were taken away more often than added.
    NoUsers,
    /// A key has as many users as can be counted.
    TooManyUsers,
    /// There is no LOCK prefix to patch: another architecture, or the asm-free twin under loom.
    NoLockPrefix,
    /// Thread creation cannot be watched in this build: no `std` feature, no glibc, or a static link.
    Unwatched,
    /// `enable_single!` has not run in this copy of the crate.
    NotEnabled,
    /// The process is bound to another function than this program's hook.
    NotInForce {
        /// The function.
        hook: &'static str,
    },
    /// A thread is being created right now.
    Creating,
    /// The C library has threads that create others, which no hook sees.
    HelperThreads,
    /// A thread was created past the hooks: by the calling thread, or for confined mode by any.
    Unhooked,
    /// Another mode is in force.
    WrongMode,
    /// Threads came and went faster than they could be listed.
    Unstable,
    /// `/proc` lists this process by numbers of another pid namespace.
    ForeignProc,
    /// A thread's affinity did not read back as it was set.
    AffinityNotKept {
        /// The kernel's id of the thread.
        thread: i32,
    },
    /// A thread could run beside others while LOCK was away: confined mode's contract was broken, from this process or from
    /// outside, and updates may be lost.
    LetOut {
        /// The kernel's id of the thread.
        thread: i32,
    },
    /// There is no GS whose base can be set: another architecture, or a kernel that says it did and did not.
    NoGs,
    /// The base of GS is not ours to set.
    GsInUse {
        /// What it is.
        base: usize,
    },
    /// There is no memory: to list the sites in, or for per-CPU areas.
    NoMemory,
    /// A thread has a slot of per-CPU data that no CPU owns, and does not go on.
    SlotHeld,
    /// No handler can be installed for this signal.
    Signal {
        /// Its number.
        signal: i32,
        /// What sigaction said.
        errno: i32,
    },
    /// A fault, which cannot be held: the thread would not get past it.
    Fault {
        /// Its number.
        signal: i32,
    },
    /// The signal has a handler of ours already.
    SignalTaken {
        /// Its number.
        signal: i32,
    },
    /// The signal has no handler of ours, or another was installed over it.
    SignalNotOurs {
        /// Its number.
        signal: i32,
    },
    /// Handlers are being registered or taken off, by a thread that has not ended within a second, or by the calling one,
    /// which another's handler has interrupted.
    SignalsBusy,
    /// A system call failed.
    System {
        /// The call, with the argument that matters.
        call: &'static str,
        /// What it said.
        errno: i32,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::OtherThreads { threads } => {
                write!(
                    f,
                    "/proc/self/task has {threads} threads; join the others and try again"
                )
            }
            Self::Busy => f.write_str("another call changes the text; try again when it is done"),
            Self::Breakpoint { at } => write!(f, "a breakpoint is at {at:#x}; remove the debugger's or the probe"),
            Self::UnexpectedByte { at, found } => write!(
                f,
                "byte {found:#04x} at {at:#x} is not ours; find out what else patches this program"
            ),
            Self::NotText { at } => write!(
                f,
                "{at:#x} is not in read-only executable text; report how this program was linked"
            ),
            Self::Misshapen { at } => write!(f, "the edit at {at:#x} crosses a page or another edit; split it"),
            Self::NotOneStore { at } => write!(
                f,
                "the edit at {at:#x} is not one aligned store; make it before the second thread starts"
            ),
            Self::NotVerified { at } => {
                write!(
                    f,
                    "the text at {at:#x} does not read back as written; allow text to be written"
                )
            }
            Self::HalfWritten { at } => write!(
                f,
                "the text at {at:#x} could be neither written nor rolled back; end the program soon, each site is whole"
            ),
            Self::StillWritable { errno } => write!(
                f,
                "mprotect: errno {errno}, so pages of text stay writable; allow mprotect to read and execute"
            ),
            Self::SharedSite { at } => write!(
                f,
                "two keys share the instruction at {at:#x}; link without folding of identical code (--icf=all)"
            ),
            Self::OtherUnit => f.write_str(
                "the key is in another executable or shared object than cyclewise; link both into one, or declare it there",
            ),
            Self::NoUsers => f.write_str("the key has no users; pair each dec with an inc"),
            Self::TooManyUsers => f.write_str("the key has too many users; pair each inc with a dec"),
            Self::NoLockPrefix => {
                f.write_str("there is no LOCK prefix in this build; nothing to do, the atomics are std's")
            }
            Self::Unwatched => {
                f.write_str("thread creation cannot be watched; link glibc dynamically and keep the `std` feature")
            }
            Self::NotEnabled => f.write_str("no hooks; call enable_single!() at the start of main"),
            Self::NotInForce { hook } => write!(
                f,
                "{hook} is not this program's hook; call enable_single!() in the executable, and let it export this name, without a version"
            ),
            Self::Creating => f.write_str("a thread is being created; try again when it has ended"),
            Self::HelperThreads => {
                f.write_str("the C library has helper threads that create others; be told by signals, not SIGEV_THREAD")
            }
            Self::Unhooked => f.write_str(
                "a thread was created past this program's hooks; have libraries call pthread_create by its name, not by dlsym",
            ),
            Self::WrongMode => f.write_str("another mode is in force; leave it first"),
            Self::ForeignProc => {
                f.write_str("/proc is of another pid namespace than this process; mount one of its own there")
            }
            Self::Unstable => f.write_str("threads come and go while they are listed; try again when fewer do"),
            Self::AffinityNotKept { thread } => write!(
                f,
                "the affinity of thread {thread} does not read back as set; find out what else sets it"
            ),
            Self::LetOut { thread } => write!(
                f,
                "thread {thread} had another CPU than confined mode's in its affinity, so updates may be lost; find out what set it (taskset, a cpuset), and count anew"
            ),
            Self::Signal { signal, errno } => write!(
                f,
                "sigaction of signal {signal}: errno {errno}; take one that a program may handle, such as SIGUSR1"
            ),
            Self::Fault { signal } => write!(
                f,
                "signal {signal} is a fault and cannot be held; install its handler with sigaction"
            ),
            Self::SignalTaken { signal } => write!(
                f,
                "signal {signal} has a handler already; take it off first, or do both in one"
            ),
            Self::SignalNotOurs { signal } => write!(
                f,
                "the handler of signal {signal} is not this crate's; take off first what was installed over it"
            ),
            Self::SignalsBusy => {
                f.write_str("handlers are being registered by another call; try again when it is done")
            }
            Self::NoGs => f.write_str("the base of GS cannot be set here; use the operations that need none"),
            Self::GsInUse { base } => write!(
                f,
                "the base of GS is {base:#x}, or set by this thread already; drop what sets it, and enter once"
            ),
            Self::NoMemory => f.write_str("no memory; try again later"),
            Self::SlotHeld => f.write_str(
                "a thread holds a per-CPU slot and does not run; try again, and not in a handler or a child without fork handlers",
            ),
            Self::System { call, errno } => {
                write!(f, "{call}: errno {errno}; {}", instead(call))
            }
        }
    }
}

/// What to do about a call that failed: each serves one purpose, which its name tells.
fn instead(call: &str) -> &'static str {
    let name = call.split([' ', ',']).next().unwrap_or(call);
    match name {
        "open" | "read" | "reading" | "getdents64" if call.ends_with("/proc/self/task") => {
            "mount /proc and allow reading it, or go on with LOCK as it is"
        }
        "mprotect" | "open" | "read" | "pread" | "pwrite" => "allow this call, or go on with the text as it is",
        "membarrier" if call.ends_with("RSEQ") => "allow this call, or stop no slot and kill no per-CPU reference",
        "membarrier" => "allow this call, or change the text before the second thread starts",
        "pthread_atfork" => "free some memory and try again",
        "mmap" => "raise the limits of address space and of mappings",
        "sched_getaffinity" | "sched_getcpu" => "allow this call, or confine no thread",
        "sched_setaffinity" | "CPU_SET" => "name a CPU that the thread may run on, and allow sched_setaffinity",
        "arch_prctl" => "allow this call, or use the operations that need no GS",
        "rt_sigprocmask" => "allow this call: without it no handler can be kept out",
        "ppoll" => "wait for fewer descriptors, or until there is memory",
        _ => "allow this call, or do without what needs it",
    }
}

impl core::error::Error for Refusal {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    /// The calls that `sys` and `percpu` name, found in their sources: each is told what it is for, and only those that serve
    /// the text speak of it.
    #[test]
    fn every_call_has_advice_that_fits_it() {
        let mut calls = std::vec::Vec::new();
        gather(
            &std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
            &mut calls,
        );
        assert!(calls.len() >= 12, "{calls:?}");
        for call in &calls {
            let advice = instead(call);
            assert!(!advice.contains("do without"), "{call} has no advice of its own");
            let is_of_text = call.contains("/proc/self/m") || call.starts_with("mprotect");
            assert_eq!(advice.contains("the text as it is"), is_of_text, "{call}: {advice}");
        }
        // The twin: a name that is not known is seen.
        assert!(instead("frobnicate").contains("do without"));
    }

    /// What follows `failed("` and `call: "` in a folder's files, up to the quote.
    fn gather(folder: &std::path::Path, calls: &mut std::vec::Vec<std::string::String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                gather(&path, calls);
            } else if !path.ends_with("error.rs") {
                let text = std::fs::read_to_string(path).unwrap();
                for start in ["failed(\"", "call: \""] {
                    let found = text.split(start).skip(1);
                    calls.extend(found.map(|rest| rest.split('"').next().unwrap().to_string()));
                }
            }
        }
    }

    #[test]
    fn a_refusal_says_what_why_and_what_to_do() {
        let call = "mprotect";
        assert_eq!(
            Refusal::System { call, errno: 13 }.to_string(),
            "mprotect: errno 13; allow this call, or go on with the text as it is"
        );
        let system = |call| Refusal::System { call, errno: 12 }.to_string();
        assert_eq!(
            system("mmap"),
            "mmap: errno 12; raise the limits of address space and of mappings"
        );
        assert_eq!(
            system("membarrier PRIVATE_EXPEDITED_RSEQ"),
            "membarrier PRIVATE_EXPEDITED_RSEQ: errno 12; allow this call, or stop no slot and kill no per-CPU reference"
        );
        assert_eq!(
            system("open /proc/self/task"),
            "open /proc/self/task: errno 12; mount /proc and allow reading it, or go on with LOCK as it is"
        );
        assert_eq!(
            Refusal::Breakpoint { at: 0x1000 }.to_string(),
            "a breakpoint is at 0x1000; remove the debugger's or the probe"
        );
    }
}
