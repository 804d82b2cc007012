//! Features of the CPU, by the numbers that alternatives carry.
//!
//! # References
//! Intel SDM vol. 2, CPUID; AMD APM vol. 3, E.

use super::cpuid::cpuid;

/// The CPU has RDTSCP.
pub const RDTSCP: u8 = 1;
/// The CPU has MOVBE.
pub const MOVBE: u8 = 2;
/// The CPU has SERIALIZE.
pub const SERIALIZE: u8 = 3;
/// LFENCE makes RDTSC wait for earlier loads, and costs less than RDTSCP. Measured by `tsc_order`, not in CPUID.
pub const LFENCE_ORDERS: u8 = 4;

/// Whether CPUID announces the feature; false for an unknown number.
///
/// Cost: CPUID, which in a virtual machine exits to the hypervisor.
pub(super) fn has(feature: u8) -> bool {
    // Leaf, whether EDX rather than ECX, and bit.
    let (leaf, in_edx, bit) = match feature {
        RDTSCP => (0x8000_0001, true, 27),
        MOVBE => (1, false, 22),
        SERIALIZE => (7, true, 14),
        _ => return false,
    };
    if cpuid(leaf & 0x8000_0000).eax < leaf {
        return false;
    }
    let answer = cpuid(leaf);
    let word = if in_edx { answer.edx } else { answer.ecx };
    word >> bit & 1 == 1
}
