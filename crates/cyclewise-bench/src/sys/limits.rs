//! getrlimit(2), geteuid(2): how many processes and descriptors the load experiments may have, and how large files may be.

pub use rustix::process::Rlimit;
use rustix::process::{Resource, geteuid, getrlimit};

/// The limits that hackbench and open-read-close meet; `None` is unlimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// RLIMIT_NPROC (`ulimit -u`): tasks of this user; root is exempt.
    pub processes: Rlimit,
    /// RLIMIT_NOFILE (`ulimit -n`): descriptors of this process.
    pub files: Rlimit,
}

impl Limits {
    pub fn of_this_process() -> Self {
        Self {
            processes: getrlimit(Resource::Nproc),
            files: getrlimit(Resource::Nofile),
        }
    }
}

/// Whether RLIMIT_FSIZE (`ulimit -f`) bounds the files that this process writes, those in memory included.
pub fn file_size_is_limited() -> bool {
    getrlimit(Resource::Fsize).current.is_some()
}

/// Whether the effective user is root, whom RLIMIT_NPROC does not bind.
pub fn is_root() -> bool {
    geteuid().is_root()
}
