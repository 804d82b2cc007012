//! The report of a thread's backend: for logs, and for tests that must not pass on another backend.

use core::fmt;

/// How a thread changes its CPU's copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Backend {
    /// By restartable sequences.
    Rseq,
    /// In slots that belong to no CPU, each under a lock.
    Portable,
}

/// Why a thread uses its backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The C library has registered every thread.
    Libc,
    /// The C library has not, and this crate has registered the thread.
    Registered,
    /// The kernel refused to register the thread.
    Refused {
        /// ENOSYS where the kernel has no rseq(2), or a filter's errno.
        errno: i32,
    },
    /// Another library has registered this thread for itself, or the thread that was the first to use per-CPU data.
    Foreign,
    /// The C library registers threads, but has not registered this one.
    LeftOut,
    /// This link unit may be unloaded, and the dynamic linker would not promise to keep it.
    MayBeUnloaded,
    /// This link unit's sequences were moved after it was linked, without their descriptors, or its segments could not be listed.
    Moved,
    /// Areas are registered, but a sequence that was interrupted was not restarted: an emulator, a user-space kernel, or Linux on AArch64 from
    /// 6.19 until its repair.
    NotRestarted,
    /// This build has no sequences: another system or architecture, no `std`, or `--cfg cyclewise_tsan`.
    Build,
}

/// The result of [`backend`](super::backend()).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// The backend.
    pub backend: Backend,
    /// Why.
    pub reason: Reason,
    /// Whether the kernel publishes `mm_cid`. Without it variables by [`Cid`](super::Cid) are indexed by `cpu_id`.
    pub cid: bool,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cid = if self.cid { "mm_cid" } else { "no mm_cid" };
        match (self.backend, self.reason) {
            (Backend::Rseq, Reason::Libc) => write!(f, "rseq: registered by the C library, {cid}"),
            (Backend::Rseq, _) => write!(f, "rseq: registered by this library, thread by thread, {cid}"),
            (Backend::Portable, Reason::Refused { errno }) => {
                write!(
                    f,
                    "portable: rseq(2) failed with errno {errno}; allow the call, or use Linux 4.18 or later"
                )
            }
            (Backend::Portable, Reason::Foreign) => {
                f.write_str("portable: another library has registered this thread, or the first one, for rseq; let the C library do it")
            }
            (Backend::Portable, Reason::LeftOut) => {
                f.write_str("portable: the C library has not registered this thread; create threads through it")
            }
            (Backend::Portable, Reason::MayBeUnloaded) => f.write_str(
                "portable: this shared object may be unloaded; open it by its name, or link it with -z nodelete",
            ),
            (Backend::Portable, Reason::Moved) => f.write_str(
                "portable: a tool has moved this program's restartable sequences without their descriptors, or its segments cannot be \
                 listed; use a BOLT that knows __rseq_cs, or skip the functions with sequences (-skip-funcs)",
            ),
            (Backend::Portable, Reason::NotRestarted) => f.write_str(
                "portable: rseq(2) registers areas, but an interrupted sequence was not restarted; use a kernel that restarts it, without \
                 an emulator in between",
            ),
            (Backend::Portable, _) => f.write_str(
                "portable: this build has no restartable sequences; they need Linux on x86-64 or AArch64, and `std`",
            ),
        }
    }
}
