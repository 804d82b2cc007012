//! Why the program's text was not changed: which call, why, and what to do.

use core::fmt;

/// A change of the program's text that was refused. The text is as it was, except where [`Reason::HalfWritten`] and
/// [`Reason::StillWritable`] say otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What was being done.
    pub call: Call,
    /// Why it was not done.
    pub reason: Reason,
    /// The kernel's errno, or 0 where the reason is our own.
    pub errno: i32,
}

/// What was being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// mprotect(2) of pages of text.
    Mprotect,
    /// Opening or writing `/proc/self/mem`.
    ProcMem,
    /// Reading `/proc/self/maps`.
    Maps,
    /// membarrier(2) PRIVATE_EXPEDITED_SYNC_CORE.
    Membarrier,
    /// pthread_atfork(3).
    AtFork,
    /// Looking at the bytes of a site.
    Site,
    /// Taking the lock of the text.
    Lock,
    /// Counting the users of a static key.
    Count,
    /// Room for the list of sites.
    Allocate,
}

/// Why it was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The kernel said no; the errno tells.
    Denied,
    /// A breakpoint (0xCC) is on the site.
    Breakpoint,
    /// The site holds neither the old nor the new bytes.
    Unexpected,
    /// The address is in no mapping that is readable, executable and not writable.
    NotText,
    /// The edit crosses a page, is empty or longer than 8 bytes, or overlaps another.
    Shape,
    /// Other threads run, and the edit is not one aligned store.
    Straddles,
    /// Other threads run, or their number cannot be read.
    Threads,
    /// The bytes read back are not those written; everything was rolled back.
    NotKept,
    /// Writing failed and so did rolling back: some sites are old, some new, each of them whole.
    HalfWritten,
    /// The old protection could not be restored: the bytes were rolled back, the pages are still writable.
    StillWritable,
    /// This thread is inside a change of the text already, in code that a signal handler has interrupted.
    Reentered,
    /// More `dec` than `inc`.
    Underflow,
    /// The count is at its maximum.
    Overflow,
    /// No memory.
    NoMemory,
}

impl Refusal {
    /// A refusal of our own.
    pub(crate) const fn new(call: Call, reason: Reason) -> Self {
        Self { call, reason, errno: 0 }
    }

    /// The kernel's.
    pub(crate) const fn denied(call: Call, errno: i32) -> Self {
        Self {
            call,
            reason: Reason::Denied,
            errno,
        }
    }
}

impl Call {
    const fn words(self) -> &'static str {
        match self {
            Call::Mprotect => "mprotect of text",
            Call::ProcMem => "writing /proc/self/mem",
            Call::Maps => "reading /proc/self/maps",
            Call::Membarrier => "membarrier SYNC_CORE",
            Call::AtFork => "pthread_atfork",
            Call::Site => "checking a site",
            Call::Lock => "locking the text",
            Call::Count => "counting a key's users",
            Call::Allocate => "listing the sites",
        }
    }
}

impl Reason {
    /// Why, and what to do.
    const fn words(self) -> &'static str {
        match self {
            Reason::Denied => "the kernel refused; allow it in the seccomp filter or security policy",
            Reason::Breakpoint => "a breakpoint is on it; remove the debugger's breakpoint or uprobe and try again",
            Reason::Unexpected => "it holds bytes that are not ours; find out what else patches this program",
            Reason::NotText => "it is not in read-only executable memory; do not remap or unprotect text",
            Reason::Shape => "it crosses a page or another edit; split it",
            Reason::Straddles => "it is not one aligned store; do it before the second thread starts",
            Reason::Threads => "more than one thread, or no /proc; do it before the second thread starts",
            Reason::NotKept => "the bytes did not stay and were rolled back; find out what else patches this program",
            Reason::HalfWritten => "rolling back failed too; each site is whole, but restart the program",
            Reason::StillWritable => "the old protection was refused and the bytes rolled back; restart the program",
            Reason::Reentered => "a change is under way below this signal handler; do it outside the handler",
            Reason::Underflow => "more dec than inc; pair them",
            Reason::Overflow => "too many inc; pair each with a dec",
            Reason::NoMemory => "no memory; try again later",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.call.words(), self.reason.words())?;
        if self.errno != 0 {
            write!(f, " (errno {})", self.errno)?;
        }
        Ok(())
    }
}

impl core::error::Error for Refusal {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn a_refusal_says_what_why_and_what_to_do() {
        assert_eq!(
            Refusal::denied(Call::Mprotect, 13).to_string(),
            "mprotect of text: the kernel refused; allow it in the seccomp filter or security policy (errno 13)"
        );
        assert_eq!(
            Refusal::new(Call::Site, Reason::Breakpoint).to_string(),
            "checking a site: a breakpoint is on it; remove the debugger's breakpoint or uprobe and try again"
        );
    }
}
