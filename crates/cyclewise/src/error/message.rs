//! The message of a refusal: one line that says what failed, how that is known, and what to do.

use super::Refusal;
use super::advice::for_call;
use core::fmt;

/// The first byte of a CALL, which the kernel writes over a 5-byte NOP with a uprobe (arch/x86/kernel/uprobes.c, since Linux 6.18).
const CALL: u8 = 0xe8;

/// Each refusal with its line, in which its fields may stand.
macro_rules! messages {
    ($($refusal:ident $({ $($field:ident $(: $pattern:pat)?),* })?: $text:literal $(, $argument:expr)*;)*) => {
        impl fmt::Display for Refusal {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match *self {
                    $(Self::$refusal $({ $($field $(: $pattern)?),* })? => write!(f, $text $(, $argument)*),)*
                }
            }
        }
    };
}

messages! {
    OtherThreads { threads }: "the process has {threads} threads, by /proc/self/task; join the others and try again";
    Busy: "this thread is already changing the text; retry outside the signal handler";
    Breakpoint { at }: "there is a breakpoint at {at:#x}; remove it, or the uprobe, and try again";
    UnexpectedByte { at, found: CALL }:
        "there is a CALL at {at:#x}, as Linux 6.18 and later write for a uprobe; remove it, or find what else patches this program";
    UnexpectedByte { at, found }:
        "the byte {found:#04x} at {at:#x} was not written by cyclewise; find what else patches this program";
    NotText { at }:
        "{at:#x} is not in text that is readable, read-only and private to this process; map it so, or leave it as it is";
    Misshapen { at }: "the edit at {at:#x} crosses a page or overlaps another; split it";
    NotOneStore { at }: "the edit at {at:#x} is not one aligned store; make it before the second thread starts";
    NotVerified { at }: "the text at {at:#x} did not read back as written and was restored; allow the process to write its text";
    HalfWritten { at }:
        "the text at {at:#x} could be neither written nor restored; each site is whole, but restart the program soon";
    StillWritable { errno }:
        "mprotect failed with errno {errno}, so pages of text stay writable; allow mprotect with PROT_READ and PROT_EXEC";
    SharedSite { at }: "the instruction at {at:#x} tests two keys; link without folding of identical code (--icf=all)";
    OtherUnit: "the key and cyclewise are in different executables or shared objects; link both into one, or move the key";
    BadUnit { at }:
        "the descriptor of a link unit at {at:#x} is not one that this version knows; build that object with this version's header or crate";
    MovedText { at }:
        "code was moved or copied after linking, so what is written at {at:#x} is not what runs; leave the text as it is, or run the program that the linker made";
    NoUsers: "the key has no users; pair each dec with an inc";
    TooManyUsers: "the key has too many users; pair each inc with a dec";
    NoLockPrefix: "this build has no LOCK prefix to patch; nothing to do, its atomics are std's";
    Unwatched: "thread creation cannot be watched; link glibc dynamically and keep the `std` feature";
    NotEnabled: "no hooks are installed; call enable_single!() at the start of main";
    NotInForce { hook }:
        "{hook} is bound to another definition than this program's hook; have the hooks in the executable, or preloaded before that one, and export the name without a version";
    NothingBehind { hook }:
        "the dynamic linker finds no {hook} behind this program's hook; find what replaces dlsym, or leave the hooks out";
    Creating: "a thread is being created; try again when it has ended";
    HelperThreads:
        "the C library may have helper threads that create others; use signals instead of SIGEV_THREAD, and no aio or getaddrinfo_a";
    Unhooked: "a thread was created without this program's hooks; have libraries call pthread_create by name, not through dlsym";
    WrongMode: "another mode is in force; leave it first";
    ForeignProc: "/proc belongs to another pid namespace; mount one for this namespace";
    Unstable: "threads start and end faster than they can be listed; try again when fewer do";
    AffinityNotKept { thread }: "the affinity of thread {thread} did not read back as set; find what else sets it";
    LetOut { thread }:
        "thread {thread} could leave confined mode's CPU, so updates may be lost; find what set its affinity (taskset, a cpuset) and recompute";
    Signal { signal, errno }:
        "sigaction for signal {signal} failed with errno {errno}; use a signal that a program may handle, such as SIGUSR1";
    Fault { signal }: "signal {signal} is a fault and cannot be held; install its handler with sigaction";
    SignalTaken { signal }: "signal {signal} already has a handler; remove it first, or combine the two";
    SignalNotOurs { signal: signal @ (..1 | 65..) }: "there is no signal {signal}; name one from 1 to 64";
    SignalNotOurs { signal }:
        "signal {signal} has no handler of cyclewise's, or another was installed over it; remove that one first";
    SignalsBusy: "another call is changing signal handlers; try again when it has returned";
    NoGs: "the base of GS cannot be set; use the operations that do not need it";
    GsInUse { base }: "GS is in use, its base is {base:#x}; drop what set it, and enter only once per thread";
    NoMemory: "out of memory; free some and try again";
    SlotHeld:
        "the holder of a per-CPU slot makes no progress; try again, but not in a signal handler or in a child without atfork handlers";
    System { call, errno }: "{call} failed with errno {errno}; {}", for_call(call, errno);
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
