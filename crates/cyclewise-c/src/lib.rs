//! The C interface of `cyclewise`: the functions that C and C++ programs call, under names that begin with `cw_`.
//!
//! What has to be inline is in the headers under `include/cyclewise`; everything else is a function of this crate, which
//! is built as a shared and as a static library.

#![deny(unsafe_code)]

mod version;

pub use version::cw_version;
