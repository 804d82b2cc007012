//! CPUID as a serializing instruction: the calling core discards prefetched text.
//!
//! The patching core needs it only where it writes the bytes by another address than it fetches them from, as through
//! `/proc/self/mem`. It is done always, because it is cheap compared with a system call. membarrier serializes the
//! other cores. SERIALIZE would do as well, but most CPUs lack it.
//!
//! # Cost
//! A hundred cycles; in a virtual machine an exit to the hypervisor, a microsecond or two (a guess).
//!
//! # References
//! Intel SDM vol. 3, 8.3 (serializing instructions); AMD APM vol. 2, 7.6.4.

use super::cpuid::cpuid;
use super::valgrind::discard_translations;

/// Serializes the calling core, and discards Valgrind's translations.
pub(crate) fn sync_core() {
    discard_translations();
    core::hint::black_box(cpuid(0));
}
