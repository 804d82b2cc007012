//! The counterpart for builds with a dynamic linker, or with a C library other than glibc.

/// `None`: the dynamic linker finds the symbols, if any.
pub(crate) fn rseq_words() -> Option<(u32, isize)> {
    None
}
