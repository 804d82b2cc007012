//! rseq(2): what the C library has registered for each thread, and registering an area of our own.
//!
//! # References
//! Linux kernel/rseq.c, include/uapi/linux/rseq.h, include/uapi/linux/auxvec.h; glibc manual, "Restartable Sequences".
//!
//! # Safety
//! 1. `__rseq_offset`, `__rseq_size` have the types that glibc's <sys/rseq.h> gives them, and are constant once the
//!    program's first constructors run.
//! 2. rseq(2) takes numbers, and the address of an area that its caller owns.
#![expect(unsafe_code, reason = "rseq has no wrapper in libc; glibc's variables")]

use super::{auxv, dl, errno};
use core::ffi::CStr;
use core::ptr::NonNull;

const AT_RSEQ_FEATURE_SIZE: libc::c_ulong = 27; // include/uapi/linux/auxvec.h
const AT_RSEQ_ALIGN: libc::c_ulong = 28; // same place

/// Bytes that the first kernels with rseq fill; the area is 32 long even so.
const ORIGINAL_FEATURES: usize = 20;
/// Bytes of the area of the first kernels.
pub(crate) const ORIGINAL_AREA: usize = 32;

/// What glibc (since 2.35) has registered for every thread: the distance from the thread pointer to the area, and how many
/// bytes of it are for the kernel. `None` where it registered none, and with another C library.
///
/// `linked` are the size and the offset of a statically linked C library; otherwise they are looked up by name.
pub(crate) fn of_libc(linked: Option<(u32, isize)>) -> Option<(isize, usize)> {
    if let Some((size, offset)) = linked {
        return registered(Some(size), Some(offset));
    }
    let size = symbol::<u32>(c"__rseq_size").map(|size| {
        // SAFETY: Invariant 1.
        unsafe { size.read() }
    });
    let offset = symbol::<isize>(c"__rseq_offset").map(|offset| {
        // SAFETY: Invariant 1.
        unsafe { offset.read() }
    });
    registered(size, offset)
}

/// What those symbols mean, where they are.
pub(super) fn registered(size: Option<u32>, offset: Option<isize>) -> Option<(isize, usize)> {
    let length = match size? as usize {
        0 => return None,
        // Before 2.40 the size is 20 or 32 for an area of 32.
        ORIGINAL_FEATURES | ORIGINAL_AREA => ORIGINAL_AREA,
        size => size,
    };
    offset.filter(|&offset| offset != 0).map(|offset| (offset, length))
}

fn symbol<T>(name: &CStr) -> Option<*const T> {
    let address = dl::bound(name);
    (!address.is_null()).then_some(address.cast::<T>().cast_const())
}

/// How many bytes of an area this kernel fills.
pub(crate) fn features() -> usize {
    filled(auxv::get(AT_RSEQ_FEATURE_SIZE))
}

fn filled(entry: usize) -> usize {
    match entry {
        0 => ORIGINAL_FEATURES,
        size => size,
    }
}

/// Length and alignment of an area of our own. "V2" kernels want all that they fill; 32 bytes are their legacy mode.
pub(crate) fn shape() -> (usize, usize) {
    shaped(auxv::get(AT_RSEQ_FEATURE_SIZE), auxv::get(AT_RSEQ_ALIGN))
}

/// The same for a kernel with these auxiliary entries; 0 is a missing one.
pub(crate) fn shaped(feature_size: usize, align: usize) -> (usize, usize) {
    (filled(feature_size).max(ORIGINAL_AREA), align.max(ORIGINAL_AREA))
}

/// Registers an area for the calling thread. `signature` is the word before abort handlers.
///
/// # Safety
/// `area` is `length` bytes, aligned as [`shape`] says, that stay mapped and belong to this thread until it has ended.
///
/// # Errors
/// ENOSYS without the call or under a filter; EINVAL where another area is registered; EPERM for another signature.
pub(crate) unsafe fn register(area: NonNull<u8>, length: usize, signature: u32) -> Result<(), i32> {
    // SAFETY: the caller vouches for the area.
    unsafe { call(area, length, 0, signature) }
}

/// # Safety
/// Without flags as [`register`]; with RSEQ_FLAG_UNREGISTER nobody uses the thread's area any more.
pub(super) unsafe fn call(area: NonNull<u8>, length: usize, flags: u32, signature: u32) -> Result<(), i32> {
    // SAFETY: the caller vouches for the area, or that nobody uses it.
    let rc = unsafe { libc::syscall(libc::SYS_rseq, area.as_ptr(), length as u32, flags, signature) };
    if rc == 0 { Ok(()) } else { Err(errno::get()) }
}

/// Whether the call reaches the kernel, or is refused on the way. The kernel refuses an unknown flag before it looks at
/// anything else; a filter that answers 0 does not look.
pub(crate) fn is_made() -> bool {
    const UNKNOWN: u32 = 1 << 30; // not a flag of include/uapi/linux/rseq.h
    // SAFETY: takes numbers (Invariant 2), and no address is passed.
    (unsafe { libc::syscall(libc::SYS_rseq, 0, 0, UNKNOWN, 0) }) != 0
}
