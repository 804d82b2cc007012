//! The address of a weak symbol: null where nothing defines it.
//!
//! # References
//! gABI, STB_WEAK; ELF for the Arm 64-bit Architecture, 5.7.7 (GOT).
//!
//! # Safety
//! 1. The address is computed and not followed: who uses it says what is there.

macro_rules! weak {
    ($symbol:literal as $type:ty) => {{
        let at: *mut $type;
        // SAFETY: computes an address that the linker filled in, null for an undefined symbol.
        unsafe {
            core::arch::asm!(
                concat!(".weak ", $symbol),
                concat!("adrp {at}, :got:", $symbol),
                concat!("ldr {at}, [{at}, :got_lo12:", $symbol, "]"),
                at = out(reg) at,
                options(pure, nomem, nostack, preserves_flags),
            )
        };
        at
    }};
}
pub(super) use weak;
