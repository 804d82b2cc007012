//! The twin where the dynamic linker can be asked, or the C library is not glibc: nothing is linked statically.

/// None: ask the dynamic linker.
pub(crate) fn rseq_words() -> Option<(u32, isize)> {
    None
}
