//! The assembly of a site: a LOCK prefix, and a 4-byte record in the link unit's table that points at it.
//!
//! # Invariants
//! 1. Every copy that the compiler makes of the assembly has its own record: the label is local and numeric.
//! 2. A record holds the distance from itself to the prefix. It needs no relocation at run time, so it is read-only
//!    and the same under PIE.
//! 3. The prefix is the first byte of its instruction, so a segment override can replace it.
//! 4. `R` (SHF_GNU_RETAIN) keeps records although nothing refers to them: linkers that collect sections named by
//!    `__start_` symbols (`-z start-stop-gc`) would drop them otherwise.
//!
//! The section's name includes its version: a new layout needs a new name. Two versions of this crate that use the same
//! name share one table.
//!
//! # References
//! Linux arch/x86/include/asm/alternative.h, LOCK_PREFIX_HERE.

/// The record and the prefix; the instruction it belongs to is the next line of the template.
macro_rules! lock {
    () => {
        ".pushsection cyclewise_lock_v1,\"aR\",@progbits\n\
         .balign 4\n\
         .long 771f - .\n\
         .popsection\n\
         771: lock"
    };
}
pub(super) use lock;
