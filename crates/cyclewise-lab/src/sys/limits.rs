//! getrlimit(2): how many processes and descriptors the load experiments may have.
//!
//! # Safety
//! The kernel writes one `rlimit` into a local that is one.
#![expect(unsafe_code, reason = "getrlimit, geteuid")]

use super::errno::Errno;

/// Soft and hard limit; `None` is unlimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// In force.
    pub soft: Option<u64>,
    /// How far it may be raised.
    pub hard: Option<u64>,
}

impl Limit {
    /// No limit, which is also how a limit that cannot be read is taken.
    pub const UNLIMITED: Self = Self { soft: None, hard: None };
}

/// The limits that hackbench and open-read-close meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// RLIMIT_NPROC: processes of this user.
    pub processes: Result<Limit, Errno>,
    /// RLIMIT_NOFILE: descriptors of this process.
    pub files: Result<Limit, Errno>,
}

impl Limits {
    /// This process's.
    pub fn here() -> Self {
        let mut processes = libc::rlimit {
            rlim_cur: 0,
            rlim_max: 0,
        };
        // SAFETY: the kernel writes one rlimit into a local that is one.
        let of_processes = unsafe { libc::getrlimit(libc::RLIMIT_NPROC, &raw mut processes) };
        let of_processes = checked(of_processes, processes);
        let mut files = libc::rlimit {
            rlim_cur: 0,
            rlim_max: 0,
        };
        // SAFETY: the kernel writes one rlimit into a local that is one.
        let of_files = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut files) };
        Self {
            processes: of_processes,
            files: checked(of_files, files),
        }
    }
}

/// Open files of this process (RLIMIT_NOFILE, `ulimit -n`).
pub fn open_files() -> Limit {
    Limits::here().files.unwrap_or(Limit::UNLIMITED)
}

/// Tasks of this user (RLIMIT_NPROC, `ulimit -u`); root is exempt.
pub fn user_tasks() -> Limit {
    Limits::here().processes.unwrap_or(Limit::UNLIMITED)
}

/// Whether the effective user is root, whom RLIMIT_NPROC does not bind.
pub fn is_root() -> bool {
    // SAFETY: takes nothing, cannot fail.
    unsafe { libc::geteuid() == 0 }
}

fn checked(status: libc::c_int, limit: libc::rlimit) -> Result<Limit, Errno> {
    if status != 0 {
        return Err(Errno::last());
    }
    let finite = |v: libc::rlim_t| (v != libc::RLIM_INFINITY).then_some(v);
    Ok(Limit {
        soft: finite(limit.rlim_cur),
        hard: finite(limit.rlim_max),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn infinity_is_none() {
        let limit = libc::rlimit {
            rlim_cur: 7,
            rlim_max: libc::RLIM_INFINITY,
        };
        assert_eq!(
            checked(0, limit),
            Ok(Limit {
                soft: Some(7),
                hard: None
            })
        );
    }

    #[test]
    fn this_process_may_open_files() {
        assert!(Limits::here().files.unwrap().soft.is_none_or(|n| n > 0));
    }
}
