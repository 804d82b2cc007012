//! CPUID: what the CPU says of itself.
//!
//! # References
//! Intel SDM vol. 2, CPUID.
//!
//! # Safety
//! Every x86-64 CPU has the instruction, and it changes registers alone. The intrinsic is safe from Rust 1.94 on.
#![allow(unsafe_code, unused_unsafe, reason = "older compilers have the intrinsic as unsafe")]

pub(crate) use core::arch::x86_64::CpuidResult;

/// The answer to a leaf, subleaf 0.
#[inline]
pub(crate) fn cpuid(leaf: u32) -> CpuidResult {
    // SAFETY: every x86-64 CPU has it.
    unsafe { core::arch::x86_64::__cpuid(leaf) }
}
