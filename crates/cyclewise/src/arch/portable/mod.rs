//! The implementation without assembly, compiled on every target. An architecture re-exports it and replaces parts.
//!
//! Read-modify-writes are std's, a key is an atomic flag, no text is written, and there are no restartable sequences.
//!
//! # Safety
//! An `uncalled!` function takes a value of a type without values.
#![allow(dead_code, reason = "architectures replace most of it")]

/// Functions of a value of `$none`, which has none, and of arguments of these types.
macro_rules! uncalled {
    ($none:ty: $($vis:vis fn $name:ident[$($generic:tt)*]($($argument:ty),*) -> $result:ty;)*) => { $(
        /// Never called.
        ///
        /// # Safety
        /// None is needed.
        #[allow(clippy::too_many_arguments, reason = "the operands of the sequence")]
        $vis unsafe fn $name<$($generic)*>(none: $none, $(_: $argument),*) -> $result {
            match none {}
        }
    )* };
}

pub(crate) mod counter;
pub(crate) mod freeze;
pub(crate) mod gs;
pub(crate) mod weak_symbol;
// Its macros are exported under the same names as the x86-64 ones.
#[cfg(not(target_arch = "x86_64"))]
pub mod key;
pub(crate) mod leak_sanitizer;
// x86-64 implements the same traits for the same types.
#[cfg(any(not(target_arch = "x86_64"), cyclewise_tsan))]
mod rmw;
pub(crate) mod rmw_offset;
pub(crate) mod rseq;
pub(crate) mod site_table;
pub(crate) mod static_libc;
pub(crate) mod text_lock;
#[cfg(feature = "std")]
pub(crate) mod thread_block;
pub(crate) mod unit;
pub(crate) mod valgrind;
