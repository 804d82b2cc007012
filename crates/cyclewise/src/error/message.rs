//! The message of a refusal: one line that says what failed, how that is known, and what to do.

use super::Refusal;
use super::advice::for_call;
use core::fmt;

/// The first byte of a CALL, which the kernel writes over a 5-byte NOP with a uprobe (arch/x86/kernel/uprobes.c, since Linux 6.18).
const CALL: u8 = 0xe8;

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::OtherThreads { threads } => write!(
                f,
                "the process has {threads} threads, by /proc/self/task; join the others and try again"
            ),
            Self::Busy => f.write_str("this thread is already changing the text; retry outside the signal handler"),
            Self::Breakpoint { at } => write!(f, "there is a breakpoint at {at:#x}; remove it, or the uprobe, and try again"),
            Self::UnexpectedByte { at, found: CALL } => write!(
                f,
                "there is a CALL at {at:#x}, as Linux 6.18 and later write for a uprobe; remove it, or find what else patches this program"
            ),
            Self::UnexpectedByte { at, found } => write!(
                f,
                "the byte {found:#04x} at {at:#x} was not written by cyclewise; find what else patches this program"
            ),
            Self::NotText { at } => write!(
                f,
                "{at:#x} is not in text that is readable, read-only and private to this process; map it so, or leave it as it is"
            ),
            Self::Misshapen { at } => write!(f, "the edit at {at:#x} crosses a page or overlaps another; split it"),
            Self::NotOneStore { at } => write!(
                f,
                "the edit at {at:#x} is not one aligned store; make it before the second thread starts"
            ),
            Self::NotVerified { at } => write!(
                f,
                "the text at {at:#x} did not read back as written and was restored; allow the process to write its text"
            ),
            Self::HalfWritten { at } => write!(
                f,
                "the text at {at:#x} could be neither written nor restored; each site is whole, but restart the program soon"
            ),
            Self::StillWritable { errno } => write!(
                f,
                "mprotect failed with errno {errno}, so pages of text stay writable; allow mprotect with PROT_READ and PROT_EXEC"
            ),
            Self::SharedSite { at } => write!(
                f,
                "the instruction at {at:#x} tests two keys; link without folding of identical code (--icf=all)"
            ),
            Self::OtherUnit => f.write_str(
                "the key and cyclewise are in different executables or shared objects; link both into one, or move the key",
            ),
            Self::BadUnit { at } => write!(
                f,
                "the descriptor of a link unit at {at:#x} is not one that this version knows; build that object with this version's header or crate"
            ),
            Self::MovedText { at } => write!(
                f,
                "code was moved or copied after linking, so what is written at {at:#x} is not what runs; leave the text as it is, or run the program that the linker made"
            ),
            Self::NoUsers => f.write_str("the key has no users; pair each dec with an inc"),
            Self::TooManyUsers => f.write_str("the key has too many users; pair each inc with a dec"),
            Self::NoLockPrefix => {
                f.write_str("this build has no LOCK prefix to patch; nothing to do, its atomics are std's")
            }
            Self::Unwatched => {
                f.write_str("thread creation cannot be watched; link glibc dynamically and keep the `std` feature")
            }
            Self::NotEnabled => f.write_str("no hooks are installed; call enable_single!() at the start of main"),
            Self::NotInForce { hook } => write!(
                f,
                "{hook} is bound to another definition than this program's hook; have the hooks in the executable, or preloaded before that one, and export the name without a version"
            ),
            Self::NothingBehind { hook } => write!(
                f,
                "the dynamic linker finds no {hook} behind this program's hook; find what replaces dlsym, or leave the hooks out"
            ),
            Self::Creating => f.write_str("a thread is being created; try again when it has ended"),
            Self::HelperThreads => f.write_str(
                "the C library may have helper threads that create others; use signals instead of SIGEV_THREAD, and no aio or getaddrinfo_a",
            ),
            Self::Unhooked => f.write_str(
                "a thread was created without this program's hooks; have libraries call pthread_create by name, not through dlsym",
            ),
            Self::WrongMode => f.write_str("another mode is in force; leave it first"),
            Self::ForeignProc => f.write_str("/proc belongs to another pid namespace; mount one for this namespace"),
            Self::Unstable => {
                f.write_str("threads start and end faster than they can be listed; try again when fewer do")
            }
            Self::AffinityNotKept { thread } => write!(
                f,
                "the affinity of thread {thread} did not read back as set; find what else sets it"
            ),
            Self::LetOut { thread } => write!(
                f,
                "thread {thread} could leave confined mode's CPU, so updates may be lost; find what set its affinity (taskset, a cpuset) and recompute"
            ),
            Self::Signal { signal, errno } => write!(
                f,
                "sigaction for signal {signal} failed with errno {errno}; use a signal that a program may handle, such as SIGUSR1"
            ),
            Self::Fault { signal } => write!(
                f,
                "signal {signal} is a fault and cannot be held; install its handler with sigaction"
            ),
            Self::SignalTaken { signal } => write!(
                f,
                "signal {signal} already has a handler; remove it first, or combine the two"
            ),
            Self::SignalNotOurs { signal: signal @ (..1 | 65..) } => {
                write!(f, "there is no signal {signal}; name one from 1 to 64")
            }
            Self::SignalNotOurs { signal } => write!(
                f,
                "signal {signal} has no handler of cyclewise's, or another was installed over it; remove that one first"
            ),
            Self::SignalsBusy => f.write_str("another call is changing signal handlers; try again when it has returned"),
            Self::NoGs => f.write_str("the base of GS cannot be set; use the operations that do not need it"),
            Self::GsInUse { base } => write!(
                f,
                "GS is in use, its base is {base:#x}; drop what set it, and enter only once per thread"
            ),
            Self::NoMemory => f.write_str("out of memory; free some and try again"),
            Self::SlotHeld => f.write_str(
                "the holder of a per-CPU slot makes no progress; try again, but not in a signal handler or in a child without atfork handlers",
            ),
            Self::System { call, errno } => write!(f, "{call} failed with errno {errno}; {}", for_call(call, errno)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn a_message_says_what_failed_why_and_what_to_do() {
        let call = "mprotect";
        assert_eq!(
            Refusal::System { call, errno: 1 }.to_string(),
            "mprotect failed with errno 1; allow this call, or leave the text as it is"
        );
        assert_eq!(
            [-1, 10].map(|signal| Refusal::SignalNotOurs { signal }.to_string()),
            [
                "there is no signal -1; name one from 1 to 64",
                "signal 10 has no handler of cyclewise's, or another was installed over it; remove that one first"
            ]
        );
        assert_eq!(
            Refusal::Breakpoint { at: 0x1000 }.to_string(),
            "there is a breakpoint at 0x1000; remove it, or the uprobe, and try again"
        );
    }
}
