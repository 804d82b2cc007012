//! Which of the kernel's ids a variable is indexed by.

use crate::arch::{Cid, Cpu, Id};

mod sealed {
    pub trait Sealed {
        /// By `mm_cid`, where the kernel has it.
        const BY_CID: bool;
    }
}

/// [`Cpu`] or [`Cid`].
///
/// By CPU a copy stays with its CPU, its caches and its memory node, and each CPU that ever ran a thread of the process
/// has one. By `mm_cid` there are at most as many copies as threads; a number may move to another CPU with its thread.
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

/// Whether it is by `mm_cid`.
pub(super) const fn by_cid<I: Index>() -> bool {
    I::BY_CID
}
