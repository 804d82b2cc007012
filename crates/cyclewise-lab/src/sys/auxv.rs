//! The auxiliary vector: what the kernel told this process at exec.
//!
//! # Safety
//! `getauxval` takes a number, reads memory that the dynamic linker set up before `main`, and returns a number.
#![expect(unsafe_code, reason = "getauxval is a foreign function")]

/// Size of the rseq area's features in bytes; since Linux 6.3 (include/uapi/linux/auxvec.h).
pub(crate) const AT_RSEQ_FEATURE_SIZE: u64 = 27;
/// Alignment of the rseq area that the kernel wants; since Linux 6.3.
pub(crate) const AT_RSEQ_ALIGN: u64 = 28;

/// The entries that the lab looks at; `None` where the kernel gave none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Auxv {
    /// AT_HWCAP.
    pub hwcap: Option<u64>,
    /// AT_HWCAP2.
    pub hwcap2: Option<u64>,
    /// [`AT_RSEQ_FEATURE_SIZE`].
    pub rseq_feature_size: Option<u64>,
    /// [`AT_RSEQ_ALIGN`].
    pub rseq_align: Option<u64>,
    /// AT_SYSINFO_EHDR: where the vDSO is mapped.
    pub sysinfo_ehdr: Option<u64>,
}

impl Auxv {
    /// This process's.
    pub(crate) fn here() -> Self {
        Self {
            hwcap: get(libc::AT_HWCAP),
            hwcap2: get(libc::AT_HWCAP2),
            rseq_feature_size: get(AT_RSEQ_FEATURE_SIZE as libc::c_ulong),
            rseq_align: get(AT_RSEQ_ALIGN as libc::c_ulong),
            sysinfo_ehdr: get(libc::AT_SYSINFO_EHDR),
        }
    }
}

/// One entry. An entry whose value is 0 counts as absent: for those above the kernel's 0 says nothing more.
fn get(kind: libc::c_ulong) -> Option<u64> {
    // SAFETY: any number is a valid argument; an unknown one gives 0.
    let value = unsafe { libc::getauxval(kind) };
    (value != 0).then_some(value as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_entry_is_absent() {
        assert_eq!(get(0x7fff_ff00), None);
    }

    #[test]
    fn the_kernel_gives_hwcap() {
        assert!(Auxv::here().hwcap.is_some());
    }
}
