//! The kernel's id by which a variable is indexed.

use crate::arch::{Cid, Cpu, Id};

mod sealed {
    pub trait Sealed {
        /// Whether it is `mm_cid`, on kernels that publish it.
        const BY_CID: bool;
    }
}

/// [`Cpu`] or [`Cid`].
///
/// By CPU, a copy stays with its CPU, its caches and its memory node, and each CPU that has run a thread of the process
/// has one. By `mm_cid`, there are at most as many copies as threads, and an id may move to another CPU with its thread.
#[expect(private_bounds, reason = "sealed: the kernel has these two")]
pub trait Index: Id + sealed::Sealed + 'static {}

impl sealed::Sealed for Cpu {
    const BY_CID: bool = false;
}
impl sealed::Sealed for Cid {
    const BY_CID: bool = true;
}
impl Index for Cpu {}
impl Index for Cid {}

/// Whether the index is `mm_cid`.
#[inline]
pub(super) const fn by_cid<I: Index>() -> bool {
    I::BY_CID
}
