//! getauxval(3): the kernel's auxiliary vector, which a program gets when it starts.
//!
//! # Safety
//! 1. getauxval takes a number and reads what the C library has kept.
#![expect(unsafe_code, reason = "getauxval")]

/// An entry's value; 0 where there is none.
pub(crate) fn get(entry: libc::c_ulong) -> usize {
    // SAFETY: Invariant 1.
    (unsafe { libc::getauxval(entry) }) as usize
}

/// On AArch64: whether AT_HWCAP2 announces FEAT_ECV (bit 19, Linux Documentation/arch/arm64/elf_hwcaps.rst).
pub(crate) fn has_ecv() -> bool {
    get(libc::AT_HWCAP2) & 1 << 19 != 0
}
