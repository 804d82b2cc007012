//! Which backend is in force, and why: for logs, and for tests that must not pass by way of another.

use super::registration;
use core::fmt;

/// How a thread changes its CPU's copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Backend {
    /// By restartable sequences.
    Rseq,
    /// In slots of no CPU, under a lock each.
    Portable,
}

/// Why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The C library has registered every thread.
    Libc,
    /// The C library has not, and we have registered this thread.
    Registered,
    /// The kernel refused to register.
    Refused {
        /// With this error: ENOSYS without the call, or what a filter says.
        errno: i32,
    },
    /// Another library has registered this thread, for itself.
    Foreign,
    /// The C library says that it registers, and has not registered this thread.
    LeftOut,
    /// This link unit may be unloaded, and the dynamic linker would not promise to keep it.
    MayBeUnloaded,
    /// This build has no sequences: another system or architecture, loom, or no `std`.
    Build,
}

/// What [`backend`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// The backend.
    pub backend: Backend,
    /// Why.
    pub reason: Reason,
    /// Whether the kernel publishes `mm_cid`. Without it variables by [`Cid`](super::Cid) are indexed by `cpu_id`.
    pub cid: bool,
}

/// Which backend the calling thread uses, and why. It is the same for the thread's whole life.
///
/// It also uses the thread's words for the first time, so that no signal handler has to: in an object that was loaded by
/// dlopen(3) that may allocate them.
///
/// Cost: a few loads, where libc has registered; at the first call the decision, and where we register a thread's first
/// call does that.
pub fn backend() -> Report {
    registration::report()
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cid = if self.cid { "mm_cid" } else { "no mm_cid" };
        match (self.backend, self.reason) {
            (Backend::Rseq, Reason::Libc) => write!(f, "rseq: registered by the C library, {cid}"),
            (Backend::Rseq, _) => write!(f, "rseq: registered by this library, thread by thread, {cid}"),
            (Backend::Portable, Reason::Refused { errno }) => {
                write!(f, "portable: rseq(2) says errno {errno}; allow the call, or use Linux 4.18 or later")
            }
            (Backend::Portable, Reason::Foreign) => {
                f.write_str("portable: another library has registered this thread's rseq area; let the C library do it")
            }
            (Backend::Portable, Reason::LeftOut) => {
                f.write_str("portable: the C library has not registered this thread; create threads through it")
            }
            (Backend::Portable, Reason::MayBeUnloaded) => f.write_str(
                "portable: this shared object may be unloaded; let it be opened by its name, or link it with -z nodelete",
            ),
            (Backend::Portable, _) => f.write_str(
                "portable: no restartable sequences in this build; it needs Linux on x86-64 or AArch64, and `std`",
            ),
        }
    }
}
