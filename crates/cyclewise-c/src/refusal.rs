//! Why a call was refused, as data and as a line: `enum cw_refused` and `struct cw_refusal`.
//!
//! # Safety
//! 1. Where a function takes a `struct cw_refusal *`, it is null, or the caller lets the function write to it.
#![expect(unsafe_code, reason = "writes to where the caller says")]

use core::ffi::{c_char, c_int};
use core::fmt::{self, Write};
use cyclewise::error::Refusal;

/// What functions return that can be refused: 0, or one of these. Nothing was done then, except as
/// CW_REFUSED_HALF_WRITTEN and CW_REFUSED_STILL_WRITABLE say.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the message of each says what it means")]
pub enum cw_refused {
    CW_OK = 0,
    /// The process has threads besides the caller: `number` of them, the caller included.
    CW_REFUSED_OTHER_THREADS = 1,
    /// The call comes from a signal handler that interrupted a change of the text on the same thread.
    CW_REFUSED_BUSY = 2,
    /// A breakpoint is on the site at `address`.
    CW_REFUSED_BREAKPOINT = 3,
    /// The byte at `address` is `number`, which is neither the old value nor the new one.
    CW_REFUSED_UNEXPECTED_BYTE = 4,
    /// `address` is not in a mapping that is readable, executable, not writable and private to the process.
    CW_REFUSED_NOT_TEXT = 5,
    /// The edit at `address` crosses a page or overlaps another.
    CW_REFUSED_MISSHAPEN = 6,
    /// Other threads run, and the edit at `address` is not one aligned store.
    CW_REFUSED_NOT_ONE_STORE = 7,
    /// The text at `address` did not read back as written, and was rolled back.
    CW_REFUSED_NOT_VERIFIED = 8,
    /// Writing failed, and so did rolling back at `address`: some sites are old and some new.
    CW_REFUSED_HALF_WRITTEN = 9,
    /// The text is unchanged, but its pages could not be made read-only again.
    CW_REFUSED_STILL_WRITABLE = 10,
    /// The instruction at `address` tests two keys: the linker folded identical code.
    CW_REFUSED_SHARED_SITE = 11,
    /// The key or the site is in another executable or shared object.
    CW_REFUSED_OTHER_UNIT = 12,
    /// A key was released more often than it was taken.
    CW_REFUSED_NO_USERS = 13,
    /// The key has as many users as can be counted.
    CW_REFUSED_TOO_MANY_USERS = 14,
    /// There is no LOCK prefix to patch on this architecture.
    CW_REFUSED_NO_LOCK_PREFIX = 15,
    /// Thread creation cannot be hooked: no glibc, or a static program.
    CW_REFUSED_UNWATCHED = 16,
    /// cw_enable_single has not succeeded in finding its hooks in force.
    CW_REFUSED_NOT_ENABLED = 17,
    /// The process is bound to another definition than the program's hook.
    CW_REFUSED_NOT_IN_FORCE = 18,
    /// A thread is being created.
    CW_REFUSED_CREATING = 19,
    /// The C library may have helper threads that create others.
    CW_REFUSED_HELPER_THREADS = 20,
    /// A thread was created without a hook.
    CW_REFUSED_UNHOOKED = 21,
    /// Another mode is in force.
    CW_REFUSED_WRONG_MODE = 22,
    /// Threads started and ended faster than they could be listed.
    CW_REFUSED_UNSTABLE = 23,
    /// /proc belongs to another pid namespace.
    CW_REFUSED_FOREIGN_PROC = 24,
    /// The affinity of thread `number` did not read back as set.
    CW_REFUSED_AFFINITY_NOT_KEPT = 25,
    /// Thread `number` could run on another CPU while LOCK was elided: updates may be lost.
    CW_REFUSED_LET_OUT = 26,
    /// The base of GS cannot be set.
    CW_REFUSED_NO_GS = 27,
    /// The base of GS is in use: `address`.
    CW_REFUSED_GS_IN_USE = 28,
    /// Out of memory.
    CW_REFUSED_NO_MEMORY = 29,
    /// A thread holds a locked slot of per-CPU data and makes no progress.
    CW_REFUSED_SLOT_HELD = 30,
    /// sigaction refused a handler for signal `number`.
    CW_REFUSED_SIGNAL = 31,
    /// Signal `number` is a fault and cannot be held.
    CW_REFUSED_FAULT = 32,
    /// There is a handler of this library for signal `number` already.
    CW_REFUSED_SIGNAL_TAKEN = 33,
    /// There is none, or another was installed over it.
    CW_REFUSED_SIGNAL_NOT_OURS = 34,
    /// Another thread has been registering or removing a handler for a second.
    CW_REFUSED_SIGNALS_BUSY = 35,
    /// A system call failed with `error`.
    CW_REFUSED_SYSTEM = 36,
    /// The descriptor of a link unit at `address` is of another version, or describes no table.
    CW_REFUSED_BAD_UNIT = 37,
    /// The program's hook has no function behind it to forward to.
    CW_REFUSED_NOTHING_BEHIND = 38,
    /// What is written at `address` is not what runs: a tool moved or copied the code after it was linked (llvm-bolt, a code cache).
    CW_REFUSED_MOVED_TEXT = 39,
    /// The program was linked without the hooks of thread creation.
    CW_REFUSED_NOT_HOOKED = 64,
    /// An argument has no meaning here; the message names it.
    CW_REFUSED_ARGUMENT = 65,
    /// The calling thread would wait for itself, or for a thread that a fork has left behind.
    CW_REFUSED_DEADLOCK = 66,
    /// The sites of a link unit keep LOCK until the program elides the next time.
    CW_REFUSED_NOT_NOW = 67,
    /// The hooks of thread creation in the program are of another version of the library: relink the program.
    CW_REFUSED_HOOKS_VERSION = 68,
    /// A reason that this version of the header does not name; the message says it.
    CW_REFUSED_OTHER = 127,
}

/// The bytes of a message, with its final NUL.
pub const CW_MESSAGE_SIZE: usize = 224;

/// Why a call was refused. Functions take a pointer to one, or null; they write to it only if they return a refusal.
#[repr(C)]
pub struct cw_refusal {
    /// An enum cw_refused.
    pub code: c_int,
    /// The errno of a system call, or 0.
    pub error: c_int,
    /// The address of a site, or 0.
    pub address: usize,
    /// A number of threads, a thread, a signal or a byte, as the code says; or 0.
    pub number: i64,
    /// One line, without a newline: what failed, how that is known, and what to do.
    pub message: [c_char; CW_MESSAGE_SIZE],
    /// 0; for later versions.
    pub reserved: [u64; 2],
}

/// What this crate refuses, and what the library does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Refused {
    Library(Refusal),
    NotHooked,
    HooksVersion,
    Argument(&'static str),
    Deadlock,
    NotNow,
    NotConfined,
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Self {
        Self::Library(refusal)
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotHooked => f.write_str(
                "this program was linked without cyclewise-hooks.o; add it to the link line: pkg-config --libs cyclewise-single",
            ),
            Self::HooksVersion => f.write_str(
                "this program's cyclewise-hooks.o is of another version of the library; relink it: pkg-config --libs cyclewise-single",
            ),
            // The library's lines on these name functions of Rust.
            Self::Library(Refusal::NotEnabled) => {
                f.write_str("no hooks were found in force; call cw_enable_single at the start of main")
            }
            Self::Library(refusal) => refusal.fmt(f),
            Self::Argument(what) => f.write_str(what),
            Self::NotConfined => {
                f.write_str("confined mode is not in force, or another thread is entering or leaving it; enter it first")
            }
            Self::NotNow => f.write_str("the sites of this link unit keep LOCK until the program elides the next time"),
            Self::Deadlock => f.write_str(
                "this thread has the lock, or a thread that a fork left in the parent has it; waiting would have no end",
            ),
        }
    }
}

/// What C is told: the code, the error, the address and the number.
fn told(refused: &Refused) -> (cw_refused, c_int, usize, i64) {
    use cw_refused::*;
    let Refused::Library(refusal) = *refused else {
        let code = match refused {
            Refused::NotHooked => CW_REFUSED_NOT_HOOKED,
            Refused::HooksVersion => CW_REFUSED_HOOKS_VERSION,
            Refused::Argument(_) => CW_REFUSED_ARGUMENT,
            Refused::NotNow => CW_REFUSED_NOT_NOW,
            Refused::NotConfined => CW_REFUSED_WRONG_MODE,
            _ => CW_REFUSED_DEADLOCK,
        };
        return (code, 0, 0, 0);
    };
    match refusal {
        Refusal::OtherThreads { threads } => (CW_REFUSED_OTHER_THREADS, 0, 0, threads.into()),
        Refusal::Busy => (CW_REFUSED_BUSY, 0, 0, 0),
        Refusal::Breakpoint { at } => (CW_REFUSED_BREAKPOINT, 0, at, 0),
        Refusal::UnexpectedByte { at, found } => (CW_REFUSED_UNEXPECTED_BYTE, 0, at, found.into()),
        Refusal::NotText { at } => (CW_REFUSED_NOT_TEXT, 0, at, 0),
        Refusal::Misshapen { at } => (CW_REFUSED_MISSHAPEN, 0, at, 0),
        Refusal::NotOneStore { at } => (CW_REFUSED_NOT_ONE_STORE, 0, at, 0),
        Refusal::NotVerified { at } => (CW_REFUSED_NOT_VERIFIED, 0, at, 0),
        Refusal::HalfWritten { at } => (CW_REFUSED_HALF_WRITTEN, 0, at, 0),
        Refusal::StillWritable { errno } => (CW_REFUSED_STILL_WRITABLE, errno, 0, 0),
        Refusal::SharedSite { at } => (CW_REFUSED_SHARED_SITE, 0, at, 0),
        Refusal::OtherUnit => (CW_REFUSED_OTHER_UNIT, 0, 0, 0),
        Refusal::NoUsers => (CW_REFUSED_NO_USERS, 0, 0, 0),
        Refusal::TooManyUsers => (CW_REFUSED_TOO_MANY_USERS, 0, 0, 0),
        Refusal::NoLockPrefix => (CW_REFUSED_NO_LOCK_PREFIX, 0, 0, 0),
        Refusal::Unwatched => (CW_REFUSED_UNWATCHED, 0, 0, 0),
        Refusal::NotEnabled => (CW_REFUSED_NOT_ENABLED, 0, 0, 0),
        Refusal::NotInForce { .. } => (CW_REFUSED_NOT_IN_FORCE, 0, 0, 0),
        Refusal::NothingBehind { .. } => (CW_REFUSED_NOTHING_BEHIND, 0, 0, 0),
        Refusal::Creating => (CW_REFUSED_CREATING, 0, 0, 0),
        Refusal::HelperThreads => (CW_REFUSED_HELPER_THREADS, 0, 0, 0),
        Refusal::Unhooked => (CW_REFUSED_UNHOOKED, 0, 0, 0),
        Refusal::WrongMode => (CW_REFUSED_WRONG_MODE, 0, 0, 0),
        Refusal::Unstable => (CW_REFUSED_UNSTABLE, 0, 0, 0),
        Refusal::ForeignProc => (CW_REFUSED_FOREIGN_PROC, 0, 0, 0),
        Refusal::AffinityNotKept { thread } => (CW_REFUSED_AFFINITY_NOT_KEPT, 0, 0, thread.into()),
        Refusal::LetOut { thread } => (CW_REFUSED_LET_OUT, 0, 0, thread.into()),
        Refusal::NoGs => (CW_REFUSED_NO_GS, 0, 0, 0),
        Refusal::GsInUse { base } => (CW_REFUSED_GS_IN_USE, 0, base, 0),
        Refusal::NoMemory => (CW_REFUSED_NO_MEMORY, 0, 0, 0),
        Refusal::SlotHeld => (CW_REFUSED_SLOT_HELD, 0, 0, 0),
        Refusal::Signal { signal, errno } => (CW_REFUSED_SIGNAL, errno, 0, signal.into()),
        Refusal::Fault { signal } => (CW_REFUSED_FAULT, 0, 0, signal.into()),
        Refusal::SignalTaken { signal } => (CW_REFUSED_SIGNAL_TAKEN, 0, 0, signal.into()),
        Refusal::SignalNotOurs { signal } => (CW_REFUSED_SIGNAL_NOT_OURS, 0, 0, signal.into()),
        Refusal::SignalsBusy => (CW_REFUSED_SIGNALS_BUSY, 0, 0, 0),
        Refusal::System { errno, .. } => (CW_REFUSED_SYSTEM, errno, 0, 0),
        Refusal::BadUnit { at } => (CW_REFUSED_BAD_UNIT, 0, at, 0),
        Refusal::MovedText { at } => (CW_REFUSED_MOVED_TEXT, 0, at, 0),
        _ => (CW_REFUSED_OTHER, 0, 0, 0),
    }
}

/// Writes text to a C string of a fixed size; the rest of a longer one is dropped.
struct CString<'a>(core::slice::IterMut<'a, c_char>);

impl Write for CString<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for from in text.bytes() {
            let Some(to) = self.0.next() else { break };
            *to = from.cast_signed() as c_char;
        }
        Ok(())
    }
}

/// A line as a C string. One that does not fit is cut; the messages fit, says a test.
pub(crate) fn c_text(line: &impl fmt::Display) -> [c_char; CW_MESSAGE_SIZE] {
    let mut text = [0; CW_MESSAGE_SIZE];
    let room = text.len() - 1;
    let _ = write!(CString(text[..room].iter_mut()), "{line}");
    text
}

impl cw_refusal {
    fn new(refused: &Refused) -> Self {
        let (code, error, address, number) = told(refused);
        let message = c_text(refused);
        Self {
            code: code as c_int,
            error,
            address,
            number,
            message,
            reserved: [0; 2],
        }
    }
}

/// What a function returns, and what it writes to `why`.
///
/// # Safety
/// `why` is null or may be written to (Safety 1).
pub(crate) unsafe fn answer<T>(result: Result<T, impl Into<Refused>>, why: *mut cw_refusal) -> c_int {
    let Err(refused) = result else { return 0 };
    let refused = refused.into();
    let code = told(&refused).0 as c_int;
    if !why.is_null() {
        // SAFETY: not null, so the caller lets us write to it.
        unsafe { why.write(cw_refusal::new(&refused)) };
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::ffi::CStr;
    use std::string::{String, ToString};
    use std::vec::Vec;

    fn message(refusal: &cw_refusal) -> String {
        let bytes: Vec<u8> = refusal.message.iter().map(|c| *c as u8).collect();
        CStr::from_bytes_until_nul(&bytes)
            .unwrap()
            .to_str()
            .unwrap()
            .to_string()
    }

    #[test]
    fn every_refusal_of_the_library_has_a_code() {
        let source = include_str!("../../cyclewise/src/error/mod.rs");
        let body = source.split("pub enum Refusal {").nth(1).unwrap();
        let body = body.split("\n}").next().unwrap();
        let variants = body.lines().filter_map(|line| line.strip_prefix("    "));
        let variants: Vec<_> = variants
            .filter(|line| line.starts_with(char::is_uppercase))
            .map(|line| line.split([',', ' ']).next().unwrap())
            .collect();
        assert!(variants.len() >= 36);
        let own = include_str!("refusal.rs");
        for variant in variants {
            assert!(
                own.contains(&std::format!("Refusal::{variant}")),
                "{variant} has no code"
            );
        }
    }

    #[test]
    fn the_longest_messages_fit() {
        let long = [
            Refused::Library(Refusal::System {
                call: "membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE)",
                errno: 38,
            }),
            Refused::Library(Refusal::NotInForce {
                hook: "_dl_allocate_tls_init",
            }),
            Refused::Library(Refusal::NothingBehind {
                hook: "_dl_allocate_tls_init",
            }),
            Refused::Library(Refusal::LetOut { thread: i32::MAX }),
            Refused::Library(Refusal::MovedText { at: usize::MAX }),
            Refused::Library(Refusal::HelperThreads),
            Refused::Library(Refusal::Unwatched),
            Refused::NotHooked,
            Refused::HooksVersion,
            Refused::Deadlock,
        ];
        for refused in long {
            assert_eq!(message(&cw_refusal::new(&refused)), refused.to_string());
        }
    }

    /// The twin: a message that does not fit is cut, and ends with its NUL.
    #[test]
    fn a_message_that_is_too_long_is_cut() {
        let text: &'static str = "a long reason ".repeat(40).leak();
        let refusal = cw_refusal::new(&Refused::Argument(text));
        assert_eq!(message(&refusal), text[..CW_MESSAGE_SIZE - 1]);
        assert_eq!(refusal.code, cw_refused::CW_REFUSED_ARGUMENT as c_int);
    }

    #[test]
    fn data_goes_where_the_header_says() {
        let refusal = cw_refusal::new(&Refused::Library(Refusal::Signal { signal: 9, errno: 22 }));
        assert_eq!((refusal.code, refusal.error, refusal.number), (31, 22, 9));
        let refusal = cw_refusal::new(&Refused::Library(Refusal::Breakpoint { at: 0x1000 }));
        assert_eq!((refusal.code, refusal.address), (3, 0x1000));
    }
}
