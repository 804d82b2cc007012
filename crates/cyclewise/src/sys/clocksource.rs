//! What the kernel keeps its time by, and what the hypervisor says of interruptions.
//!
//! # Safety
//! 1. The kernel reads a C string, and writes at most the length of the buffer it is given.
//! 2. The page of `/dev/vmclock0` is mapped once, for reading, and never unmapped.
#![expect(unsafe_code, reason = "read, mmap")]

use super::descriptor::Descriptor;
use super::errno;

#[cfg(target_arch = "aarch64")]
pub(crate) use auxv::has_ecv;

/// The longest name of a clock source that is kept (`struct clocksource` has names of up to 31).
pub(crate) const NAME: usize = 32;

/// Why the clock source is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unknown {
    /// There is no file, it may not be read, or it says nothing.
    Hidden,
    /// There was no descriptor or no memory left. There may be later.
    Exhausted,
}

/// `/sys/devices/system/clocksource/clocksource0/current_clocksource`, without the newline and filled up with zeroes.
///
/// Leaves errno alone. Cost: three system calls, a few microseconds.
///
/// # Errors
/// Why it cannot be read.
pub(crate) fn current() -> Result<[u8; NAME], Unknown> {
    errno::kept(read)
}

fn unknown(errno: i32) -> Unknown {
    match errno {
        libc::EMFILE | libc::ENFILE | libc::ENOMEM | libc::EINTR => Unknown::Exhausted,
        _ => Unknown::Hidden,
    }
}

fn read() -> Result<[u8; NAME], Unknown> {
    const PATH: &core::ffi::CStr = c"/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let mut name = [0; NAME];
    let file = Descriptor::open(PATH, libc::O_RDONLY).map_err(unknown)?;
    // SAFETY: the kernel writes at most the buffer's length (Invariant 1).
    let n = unsafe { libc::read(file.number(), name.as_mut_ptr().cast(), NAME) };
    let n = usize::try_from(n).map_err(|_| unknown(errno::last()))?;
    // The newline, and what was not written; a file of no bytes says nothing.
    let rest = n.checked_sub(1).and_then(|n| name.get_mut(n..));
    rest.ok_or(Unknown::Hidden)?.fill(0);
    Ok(name)
}

pub(crate) use vmclock::Vmclock;

mod vmclock {
    use crate::sys::descriptor::Descriptor;
    use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed, fence};

    /// `struct vmclock_abi` begins with this (include/uapi/linux/vmclock-abi.h), little-endian.
    const MAGIC: u32 = 0x4b4c_4356; // "VCLK"
    const LENGTH: usize = 4096;

    /// The page in which a hypervisor says that the guest has been moved or restored: 32 bits of magic, of size, 16 of
    /// version and 16 of kind, 32 of sequence number, and 64 that change with each disruption.
    #[derive(Clone, Copy)]
    pub(crate) struct Vmclock {
        magic: &'static AtomicU32,
        sequence: &'static AtomicU32,
        marker: &'static AtomicU64,
    }

    impl Vmclock {
        /// `/dev/vmclock0`; `None` where there is none. Looked for once: no machine gets the device later.
        pub(crate) fn get() -> Option<Self> {
            const UNKNOWN: usize = 0; // nobody has looked
            const MISSING: usize = 1; // there is none
            static PAGE: AtomicUsize = AtomicUsize::new(UNKNOWN);
            // Relaxed: the page is the hypervisor's, and nothing was written to it.
            let page = match PAGE.load(Relaxed) {
                UNKNOWN => {
                    let page = Self::open().map_or(MISSING, |vmclock| vmclock.magic.as_ptr().expose_provenance());
                    PAGE.store(page, Relaxed);
                    page
                }
                page => page,
            };
            if page == MISSING {
                return None;
            }
            // SAFETY: mapped for good and aligned to a page (Invariant 2 of the module).
            Self::at(unsafe { &*core::ptr::with_exposed_provenance::<[u64; LENGTH / 8]>(page) })
        }

        /// Maps it, and leaves errno alone.
        fn open() -> Option<Self> {
            crate::sys::errno::kept(Self::map)
        }

        fn map() -> Option<Self> {
            let device = Descriptor::open(c"/dev/vmclock0", libc::O_RDONLY).ok()?;
            let (anywhere, file) = (core::ptr::null_mut(), device.number());
            // SAFETY: a mapping of its own, for reading (Invariant 2 of the module).
            let page = unsafe { libc::mmap(anywhere, LENGTH, libc::PROT_READ, libc::MAP_SHARED, file, 0) };
            // Null is what a filter answers that only says that it went well.
            if page == libc::MAP_FAILED || page.is_null() {
                return None;
            }
            // SAFETY: mapped for good and aligned to a page (Invariant 2 of the module).
            Self::at(unsafe { &*page.cast::<[u64; LENGTH / 8]>() })
        }

        /// The structure at the start of `page`, if it is one.
        pub(super) fn at(page: &'static [u64; LENGTH / 8]) -> Option<Self> {
            let start = page.as_ptr();
            let word = |offset: usize| start.cast::<AtomicU32>().wrapping_add(offset / 4);
            let vmclock = Self {
                // SAFETY: inside the page and aligned; the hypervisor writes it, and we only load.
                magic: unsafe { &*word(0) },
                // SAFETY: inside the page and aligned; the hypervisor writes it, and we only load.
                sequence: unsafe { &*word(12) },
                // SAFETY: inside the page and aligned to 8; the hypervisor writes it, and we only load.
                marker: unsafe { &*start.cast::<AtomicU64>().wrapping_add(2) },
            };
            (u32::from_le(vmclock.magic.load(Relaxed)) == MAGIC).then_some(vmclock)
        }

        /// The number that changes whenever the guest's time was disrupted; `None` while it is being changed.
        pub(crate) fn marker(self) -> Option<u64> {
            let before = self.sequence.load(Relaxed);
            // Acquire: pairs with the hypervisor's write barriers around each change of the page.
            fence(core::sync::atomic::Ordering::Acquire);
            let marker = u64::from_le(self.marker.load(Relaxed));
            // Acquire: the marker is read before the second look.
            fence(core::sync::atomic::Ordering::Acquire);
            (u32::from_le(before) & 1 == 0 && self.sequence.load(Relaxed) == before).then_some(marker)
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use std::boxed::Box;

        /// A time is also read in signal handlers, and between a call that failed and the look at why.
        #[test]
        fn errno_is_left_alone() {
            // ENOTDIR, which is not what a device that is missing leaves.
            assert!(std::fs::File::open("/dev/null/x").is_err());
            let before = std::io::Error::last_os_error().raw_os_error();
            Vmclock::open();
            let _ = super::super::current();
            assert_eq!(std::io::Error::last_os_error().raw_os_error(), before);
        }

        #[test]
        fn a_page_is_read_by_its_layout() {
            let mut page = Box::new([0u64; LENGTH / 8]);
            page[0] = u64::from(MAGIC.to_le());
            page[1] = 6 << 32;
            page[2] = 77;
            let clock = Vmclock::at(Box::leak(page)).unwrap();
            assert_eq!(clock.marker(), Some(77));
        }

        #[test]
        fn a_page_in_the_middle_of_a_change_and_one_of_another_kind_are_refused() {
            let mut page = Box::new([0u64; LENGTH / 8]);
            page[0] = u64::from(MAGIC.to_le());
            page[1] = 7 << 32;
            assert_eq!(Vmclock::at(Box::leak(page)).unwrap().marker(), None);
            assert!(Vmclock::at(Box::leak(Box::new([0; LENGTH / 8]))).is_none());
        }
    }
}

#[cfg(target_arch = "aarch64")]
mod auxv {
    /// Whether AT_HWCAP2 announces FEAT_ECV (bit 19, Linux Documentation/arch/arm64/elf_hwcaps.rst).
    pub(crate) fn has_ecv() -> bool {
        // SAFETY: looks a number up.
        let word = unsafe { libc::getauxval(libc::AT_HWCAP2) };
        word & 1 << 19 != 0
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_name_has_no_newline() {
        match super::current() {
            Ok(name) => assert!(name[0] > b' ' && !name.contains(&b'\n')),
            Err(_) => std::eprintln!("skipped: the kernel shows no clock source here"),
        }
    }
}
