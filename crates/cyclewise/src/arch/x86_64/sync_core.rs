//! CPUID as a serializing instruction: the calling core forgets what it has fetched of the text.
//!
//! Needed by the core that patches only where the bytes came by another address than the one they are fetched from, as
//! through `/proc/self/mem`; done always, because it is cheap beside a system call. Other cores are membarrier's
//! business. SERIALIZE would do as well and is missing on most CPUs.
//!
//! # Cost
//! A hundred cycles; in a virtual machine an exit to the hypervisor, a microsecond or two (a guess).
//!
//! # References
//! Intel SDM vol. 3, 8.3 (serializing instructions); AMD APM vol. 2, 7.6.4.

use super::valgrind::discard_translations;
use core::arch::x86_64::__cpuid;

/// Serializes the calling core, and a translator that executes in its place.
pub(crate) fn sync_core() {
    discard_translations();
    core::hint::black_box(__cpuid(0));
}
