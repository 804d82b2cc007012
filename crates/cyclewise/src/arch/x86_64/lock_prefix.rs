//! The text of a site: a record of 4 bytes in a table of the link unit, and the LOCK prefix it points at.
//!
//! # Invariants
//! 1. Every copy of the assembly that the compiler makes has its own record: the label is local and numeric.
//! 2. A record holds the distance from itself to the prefix. It needs no relocation at run time, so it is read-only
//!    and the same under PIE.
//! 3. The prefix is a byte of its own and the first of its instruction: a segment override may stand in its place.
//! 4. `R` (SHF_GNU_RETAIN) keeps records although nothing refers to them: linkers that collect sections named by
//!    `__start_` symbols (`-z start-stop-gc`) would drop them otherwise.
//!
//! The name of the section is its version: another layout takes another name, and two versions of this crate that share
//! a name share one table.
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
