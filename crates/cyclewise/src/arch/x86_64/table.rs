//! The records that a section of this link unit holds, between the two symbols that the linker defines for it.
//!
//! `.hidden` binds the symbols to the link unit of the reference, whatever other units export. So the function that uses this is not
//! inlined: another unit's code would find its own table.
//!
//! # Safety
//! 1. The section holds such records alone, aligned to 4, and nobody writes them: the module that uses this says so.

macro_rules! records {
    ($section:literal, $empty:literal, $record:ty) => {{
        let (start, stop): (*const $record, *const $record);
        // SAFETY: computes two addresses. The empty record makes the linker define both symbols even without another one.
        unsafe {
            core::arch::asm!(
                concat!(".pushsection ", $section, ", \"aR\", @progbits"),
                ".p2align 2",
                concat!(".long ", $empty),
                ".popsection",
                concat!(".hidden __start_", $section),
                concat!(".hidden __stop_", $section),
                concat!("lea {start}, [rip + __start_", $section, "]"),
                concat!("lea {stop}, [rip + __stop_", $section, "]"),
                start = out(reg) start,
                stop = out(reg) stop,
                options(pure, nomem, nostack, preserves_flags),
            )
        };
        let count = (stop.addr() - start.addr()) / size_of::<$record>();
        // SAFETY: the linker puts whole records between the two, aligned to 4, never written (Safety 1).
        unsafe { core::slice::from_raw_parts(start, count) }
    }};
}
pub(super) use records;
