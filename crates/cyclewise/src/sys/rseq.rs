//! rseq(2): what the C library has registered, registering ourselves, and what must hold before either is used.
//!
//! # References
//! Linux kernel/rseq.c, include/uapi/linux/rseq.h, include/uapi/linux/auxvec.h; glibc manual, "Restartable Sequences".
//!
//! # Safety
//! 1. `__rseq_offset`, `__rseq_size` have the types that glibc's <sys/rseq.h> gives them, and are constant once the
//!    program's first constructors run.
//! 2. The other calls take numbers, or addresses of what their caller owns.
#![expect(unsafe_code, reason = "dlsym, rseq, getauxval, dlopen, sched_getaffinity")]

use core::ffi::{CStr, c_void};
use core::mem::MaybeUninit;
use core::ptr::NonNull;

const AT_RSEQ_FEATURE_SIZE: libc::c_ulong = 27; // include/uapi/linux/auxvec.h
const AT_RSEQ_ALIGN: libc::c_ulong = 28; // same place

/// Bytes that the first kernels with rseq fill; the area is 32 long even so.
const ORIGINAL_FEATURES: usize = 20;
/// Bytes of the area of the first kernels.
pub(crate) const ORIGINAL_AREA: usize = 32;

/// What glibc (since 2.35) says that it registered for every thread: the distance from the thread pointer to the area, and
/// how many bytes of it are for the kernel. `None` where it registered none, or the C library is another.
///
/// `linked` are the size and the offset of a C library that is linked statically; others are asked for by name.
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
fn registered(size: Option<u32>, offset: Option<isize>) -> Option<(isize, usize)> {
    let length = match size? as usize {
        0 => return None,
        // Before 2.40 it says 20 or 32 for an area of 32.
        ORIGINAL_FEATURES | ORIGINAL_AREA => ORIGINAL_AREA,
        size => size,
    };
    offset.filter(|&offset| offset != 0).map(|offset| (offset, length))
}

fn symbol<T>(name: &CStr) -> Option<*const T> {
    // SAFETY: the name is a C string, and RTLD_DEFAULT needs no handle.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!address.is_null()).then_some(address.cast::<T>().cast_const())
}

/// How many bytes of an area this kernel fills.
pub(crate) fn features() -> usize {
    filled(auxiliary(AT_RSEQ_FEATURE_SIZE))
}

fn filled(entry: usize) -> usize {
    match entry {
        0 => ORIGINAL_FEATURES,
        size => size,
    }
}

/// Length and alignment of an area of our own. "V2" kernels want all that they fill, and treat 32 bytes as a legacy.
pub(crate) fn shape() -> (usize, usize) {
    shaped(auxiliary(AT_RSEQ_FEATURE_SIZE), auxiliary(AT_RSEQ_ALIGN))
}

/// For a kernel with these entries; 0 for one that is not there.
pub(crate) fn shaped(feature_size: usize, align: usize) -> (usize, usize) {
    (filled(feature_size).max(ORIGINAL_AREA), align.max(ORIGINAL_AREA))
}

fn auxiliary(entry: libc::c_ulong) -> usize {
    // SAFETY: takes a number; 0 for an entry that is not there.
    (unsafe { libc::getauxval(entry) }) as usize
}

/// Registers an area for the calling thread, with the word that stands before abort handlers.
///
/// # Safety
/// `area` is `length` bytes, aligned as [`shape`] says, that stay mapped and are nobody else's until the thread has ended.
///
/// # Errors
/// ENOSYS without the call or under a filter; EINVAL where another area is registered; EPERM for another signature.
pub(crate) unsafe fn register(area: NonNull<u8>, length: usize, signature: u32) -> Result<(), i32> {
    // SAFETY: the caller vouches for the area.
    let rc = unsafe { libc::syscall(libc::SYS_rseq, area.as_ptr(), length as u32, 0, signature) };
    if rc == 0 { Ok(()) } else { Err(super::errno::last()) }
}

/// Whether the call reaches the kernel, or is refused. The kernel refuses a flag that it does not know before it looks at
/// anything else, so whoever says that it went well has not looked.
pub(crate) fn is_made() -> bool {
    const UNKNOWN: u32 = 1 << 30; // not a flag of include/uapi/linux/rseq.h
    // SAFETY: takes numbers (Invariant 2), and no address is passed.
    (unsafe { libc::syscall(libc::SYS_rseq, 0, 0, UNKNOWN, 0) }) != 0
}

/// Takes back the registration of the calling thread's area, for tests.
///
/// # Safety
/// Nobody uses the thread's area any more, by whatever name.
///
/// # Errors
/// EINVAL where another area is registered, or none.
#[cfg(test)]
pub(crate) unsafe fn unregister(area: NonNull<u8>, length: usize, signature: u32) -> Result<(), i32> {
    const UNREGISTER: u32 = 1; // RSEQ_FLAG_UNREGISTER, include/uapi/linux/rseq.h
    // SAFETY: the caller vouches that nobody uses the area any more.
    let rc = unsafe { libc::syscall(libc::SYS_rseq, area.as_ptr(), length as u32, UNREGISTER, signature) };
    if rc == 0 { Ok(()) } else { Err(super::errno::last()) }
}

/// Keeps this link unit mapped until the process ends: the kernel may read a descriptor of ours long after its sequence.
/// False where that cannot be had.
pub(crate) fn stay_loaded() -> bool {
    static HERE: u8 = 0;
    let (here, main) = (unit((&raw const HERE).cast()), program());
    let Some(here) = here else {
        // A static program has no units to ask about, and unloads nothing.
        return unit(main).is_none();
    };
    // The program itself is never unloaded.
    if unit(main).is_some_and(|main| main.dli_fbase == here.dli_fbase) {
        return true;
    }
    let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE;
    // SAFETY: the linker's own name of the unit. It is loaded, so nothing is loaded and no code runs.
    !unsafe { libc::dlopen(here.dli_fname, flags) }.is_null()
}

/// An address in the program itself: its headers.
fn program() -> *const c_void {
    core::ptr::with_exposed_provenance(auxiliary(libc::AT_PHDR))
}

fn unit(address: *const c_void) -> Option<libc::Dl_info> {
    let mut information = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: takes any address, and fills what it is given where it answers anything but 0.
    let found = unsafe { libc::dladdr(address, information.as_mut_ptr()) };
    // SAFETY: all zeroes is valid, and the linker may have filled it.
    let information = unsafe { information.assume_init() };
    (found != 0).then_some(information)
}

/// A number that every CPU id of this kernel, and so every mm_cid, is below: the bits of the shortest mask that it takes.
/// A shorter one it refuses with EINVAL (kernel/sched, sched_getaffinity: `len * BITS_PER_BYTE < nr_cpu_ids`), whatever
/// CPUs the thread may use, and whatever a container shows of /sys.
pub(crate) fn ids() -> usize {
    const MOST: usize = 8192; // NR_CPUS of the largest configuration, arch/x86/Kconfig
    let mut mask = [0u64; MOST / 64];
    for words in 1..mask.len() {
        let length = words * size_of::<u64>();
        // SAFETY: the kernel writes at most the length that is passed, which the mask has.
        let written = unsafe { libc::syscall(libc::SYS_sched_getaffinity, 0, length, mask.as_mut_ptr()) };
        if written > 0 {
            return words * 64;
        }
        // Who forbids the call does not say how many there are.
        if super::errno::last() != libc::EINVAL {
            break;
        }
    }
    MOST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_libc_and_another_one_have_registered_nothing() {
        // glibc before 2.35, and musl.
        assert_eq!(registered(None, None), None);
        // By the tunable, or where the kernel refused.
        assert_eq!(registered(Some(0), Some(-160)), None);
        assert_eq!(registered(Some(32), None), None);
        assert_eq!(registered(Some(32), Some(0)), None);
    }

    #[test]
    fn what_libc_registered_is_as_long_as_it_means() {
        for (says, length) in [(20, 32), (32, 32), (28, 28), (33, 33), (40, 40), (64, 64)] {
            assert_eq!(registered(Some(says), Some(-160)), Some((-160, length)), "{says}");
        }
    }

    #[test]
    fn our_areas_are_what_the_kernel_wants() {
        // Before Linux 6.3 there are no entries; then 28 and 32; "V2" has 33 and 64; and there may be more.
        for (feature_size, align, shape) in [
            (0, 0, (32, 32)),
            (20, 32, (32, 32)),
            (28, 32, (32, 32)),
            (33, 64, (33, 64)),
            (40, 64, (40, 64)),
            (300, 512, (300, 512)),
        ] {
            assert_eq!(shaped(feature_size, align), shape, "{feature_size} {align}");
        }
    }
}
