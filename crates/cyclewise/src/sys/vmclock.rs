//! `/dev/vmclock0`: the page in which a hypervisor announces that it has moved or restored the guest.
//!
//! # References
//! Linux include/uapi/linux/vmclock-abi.h.
//!
//! # Safety
//! 1. The page is mapped once, for reading, and never unmapped.
#![expect(unsafe_code, reason = "loads from a page that the hypervisor writes")]

use super::file::File;
use super::{errno, mmap};
use core::sync::atomic::Ordering::{Acquire, Relaxed};
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, fence};

/// The first word of `struct vmclock_abi`, little-endian.
const MAGIC: u32 = 0x4b4c_4356; // "VCLK"
const LENGTH: usize = 4096;

/// `struct vmclock_abi`: 32 bits of magic, of size, 16 of version and 16 of kind, 32 of sequence number, and 64 that change
/// with each disruption.
#[derive(Clone, Copy)]
pub(crate) struct Vmclock {
    magic: &'static AtomicU32,
    sequence: &'static AtomicU32,
    marker: &'static AtomicU64,
}

impl Vmclock {
    /// `None` where there is no device. Looked for once: no machine gets the device later.
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
        // SAFETY: mapped for good and aligned to a page (Invariant 1).
        Self::at(unsafe { &*core::ptr::with_exposed_provenance::<[u64; LENGTH / 8]>(page) })
    }

    /// Maps the page, and preserves errno.
    fn open() -> Option<Self> {
        errno::preserve(Self::map)
    }

    fn map() -> Option<Self> {
        let device = File::open(c"/dev/vmclock0", libc::O_RDONLY).ok()?;
        let page = mmap::map_file(&device, LENGTH).ok()?;
        // SAFETY: mapped for good and aligned to a page (Invariant 1).
        Self::at(unsafe { page.cast::<[u64; LENGTH / 8]>().as_ref() })
    }

    /// The structure at the start of `page`; `None` where the magic is another.
    fn at(page: &'static [u64; LENGTH / 8]) -> Option<Self> {
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
        fence(Acquire);
        let marker = u64::from_le(self.marker.load(Relaxed));
        // Acquire: the marker is read before the second look at the sequence.
        fence(Acquire);
        (u32::from_le(before) & 1 == 0 && self.sequence.load(Relaxed) == before).then_some(marker)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::boxed::Box;

    /// A time is also read in signal handlers, and between a call that failed and a look at its errno.
    #[test]
    fn errno_is_left_alone() {
        // ENOTDIR, which is not what a missing device leaves.
        assert!(std::fs::File::open("/dev/null/x").is_err());
        let before = std::io::Error::last_os_error().raw_os_error();
        Vmclock::open();
        let _ = crate::sys::clocksource::current();
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
