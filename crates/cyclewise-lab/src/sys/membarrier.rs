//! membarrier(2): which commands this kernel has, and the barrier that is measured.
//!
//! # Safety
//! The commands take numbers, and change nothing but how the kernel switches this process.
#![expect(unsafe_code, reason = "membarrier has no wrapper in libc")]

use super::errno::Errno;

/// Bits of the answer, with their names without `MEMBARRIER_CMD_` (include/uapi/linux/membarrier.h).
pub(crate) const COMMANDS: [(u32, &str); 10] = [
    (1 << 0, "GLOBAL"),
    (1 << 1, "GLOBAL_EXPEDITED"),
    (1 << 2, "REGISTER_GLOBAL_EXPEDITED"),
    (PRIVATE_EXPEDITED, "PRIVATE_EXPEDITED"),
    (1 << 4, "REGISTER_PRIVATE_EXPEDITED"),
    (SYNC_CORE, "PRIVATE_EXPEDITED_SYNC_CORE"),
    (1 << 6, "REGISTER_PRIVATE_EXPEDITED_SYNC_CORE"),
    (RSEQ, "PRIVATE_EXPEDITED_RSEQ"),
    (1 << 8, "REGISTER_PRIVATE_EXPEDITED_RSEQ"),
    (1 << 9, "GET_REGISTRATIONS"),
];
/// A barrier on every CPU that runs this process.
pub(crate) const PRIVATE_EXPEDITED: u32 = 1 << 3;
/// The same with a serializing instruction: what patching code needs.
pub(crate) const SYNC_CORE: u32 = 1 << 5;
/// Restarts rseq critical sections elsewhere: what remote access to per-CPU data needs.
pub(crate) const RSEQ: u32 = 1 << 7;

/// The bit mask of supported commands.
///
/// # Errors
/// ENOSYS where the kernel was built without it or a filter hides it.
pub(crate) fn query() -> Result<u32, Errno> {
    // SAFETY: the arguments are numbers, and QUERY (0) only reports.
    let mask = unsafe { libc::syscall(libc::SYS_membarrier, 0, 0, 0) };
    u32::try_from(mask).map_err(|_| Errno::last())
}

/// One barrier on every CPU that runs this process; false where it is refused. The first call registers.
pub(crate) fn expedited() -> bool {
    const REGISTER: u32 = 1 << 4;
    // SAFETY: the arguments are numbers.
    let command = |command: u32| unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) } == 0;
    command(PRIVATE_EXPEDITED) || command(REGISTER) && command(PRIVATE_EXPEDITED)
}

/// Names of the commands in `mask`, in the order of their bits.
pub(crate) fn names(mask: u32) -> Vec<&'static str> {
    COMMANDS
        .iter()
        .filter(|(bit, _)| mask & bit != 0)
        .map(|(_, name)| *name)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_have_the_kernels_names() {
        assert_eq!(names(0), Vec::<&str>::new());
        assert_eq!(
            names(0b1010_1000),
            [
                "PRIVATE_EXPEDITED",
                "PRIVATE_EXPEDITED_SYNC_CORE",
                "PRIVATE_EXPEDITED_RSEQ"
            ]
        );
        assert_eq!(names(0x3ff).len(), COMMANDS.len());
    }

    #[test]
    fn a_query_answers_or_says_why_not() {
        match query() {
            Ok(mask) => assert!(
                names(mask).contains(&"GLOBAL"),
                "GLOBAL is in every kernel that answers: {mask:#x}"
            ),
            Err(errno) => eprintln!("skipped: membarrier QUERY gave {errno}"),
        }
    }
}
