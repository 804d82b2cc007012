//! The site of an alternative: a default sequence, padded to the length of its replacement, and a record of both.
//!
//! ```text
//! 775:    default                    runs until the replacement is chosen; correct on every CPU
//! 776:    NOPs up to the longer of the two
//! 777:
//! ```
//! Assembly, because the compiler cannot reserve space for instructions it does not emit. A record is 16 bytes of the
//! section `cyclewise_alt_v1`. `cyclewise_altcode_v1` has both sequences again, as data: a site is compared with the
//! default before it is written, and the replacement is copied to it.
//!
//! # Invariants
//! 1. A site holds its default or its replacement, each followed by NOPs.
//! 2. Records and sequences are never written, and stay mapped as long as the sites (see `key`, Invariant 3).
//! 3. Both sequences are at most 255 bytes and position-independent: no jump or call out of the sequence, nothing
//!    relative to RIP. The author of the sequence guarantees it, and a test decodes them.
//!
//! # References
//! Linux arch/x86/include/asm/alternative.h; Intel SDM vol. 2, NOP (recommended multi-byte sequences).
//!
//! # Safety
//! Only the assembler writes the records, from the macro in this file.
#![expect(unsafe_code, reason = "reads records between linker symbols")]

use super::feature::{self, LFENCE_ORDERS};
use super::table::records;
use super::tsc_order;

/// Longest instruction of [`NOPS`].
const LONGEST_NOP: usize = 9;

/// The recommended NOPs of 1 to 9 bytes; the NOP of n bytes is at index n(n-1)/2.
const NOPS: [u8; 45] = [
    0x90, // 1
    0x66, 0x90, // 2
    0x0f, 0x1f, 0x00, // 3
    0x0f, 0x1f, 0x40, 0x00, // 4
    0x0f, 0x1f, 0x44, 0x00, 0x00, // 5
    0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00, // 6
    0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00, // 7
    0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00, // 8
    0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00, // 9
];

/// Whether this CPU has the feature with that number; false for an unknown number.
///
/// Cost: CPUID, which in a virtual machine exits to the hypervisor; for `LFENCE_ORDERS` 100 µs once.
pub fn has(feature: u8) -> bool {
    match feature {
        LFENCE_ORDERS => tsc_order::lfence_is_chosen(),
        _ => feature::has(feature),
    }
}

/// Emits a sequence of instructions that [`apply_alternatives`](crate::patch::apply_alternatives) replaces by another
/// where the CPU has a feature. The text contains no test and no branch.
///
/// ```
/// use cyclewise::arch::feature::RDTSCP;
///
/// let (low, high): (u32, u32);
/// // SAFETY: both give the counter in EDX:EAX; neither touches memory.
/// unsafe {
///     cyclewise::alternative!(
///         feature = RDTSCP,
///         default = ["lfence", "rdtsc"],
///         replacement = ["rdtscp"],
///         out("eax") low,
///         out("edx") high,
///         out("ecx") _,
///         options(nostack, preserves_flags)
///     )
/// };
/// assert!(low != 0 || high != 0);
/// ```
/// Operands and options follow as in `asm!`, and must be right for both sequences.
///
/// # Safety
/// As `asm!`, for both sequences. Both are position-independent: jumps stay inside, nothing is relative to RIP.
#[macro_export]
macro_rules! alternative {
    (feature = $feature:expr, default = [$($default:literal),+], replacement = [$($replacement:literal),+] $(, $($rest:tt)*)?) => {
        $crate::__core::arch::asm!(
            ".pushsection cyclewise_altcode_v1, \"aR\", @progbits",
            "772:", $($default,)+
            "773:", $($replacement,)+
            "774:",
            ".popsection",
            "775:", $($default,)+
            "776:",
            // Pads where the replacement is longer: a true comparison is -1.
            ".skip -(((774b - 773b) - (773b - 772b)) > 0) * ((774b - 773b) - (773b - 772b)), 0x90",
            "777:",
            ".pushsection cyclewise_alt_v1, \"aR\", @progbits",
            ".p2align 2",
            ".long 775b - .",
            ".long 772b - .",
            ".byte 777b - 775b, 773b - 772b, 774b - 773b, {cyclewise_feature}",
            ".long 0",
            ".popsection",
            $($($rest)*,)?
            cyclewise_feature = const $feature,
        )
    };
}

/// A record as the assembler writes it.
#[repr(C)]
struct Record {
    site: i32,
    code: i32,
    room: u8,
    default: u8,
    replacement: u8,
    feature: u8,
    reserved: u32,
}

/// A replaceable sequence in the text. Only [`sites`] creates one, so its address is always text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    at: *mut u8,
    room: usize,
    default: &'static [u8],
    replacement: &'static [u8],
    feature: u8,
}

impl Site {
    /// The address of the site.
    pub fn at(&self) -> *mut u8 {
        self.at
    }

    /// The length of the longer of the two sequences.
    pub fn room(&self) -> usize {
        self.room
    }

    /// The sequence in force when the program starts, without padding.
    pub fn default(&self) -> &'static [u8] {
        self.default
    }

    /// The sequence for CPUs that have the feature, without padding.
    pub fn replacement(&self) -> &'static [u8] {
        self.replacement
    }

    /// The feature's number.
    pub fn feature(&self) -> u8 {
        self.feature
    }

    /// A site for tests, never read or written.
    #[cfg(test)]
    pub(crate) fn fake(at: *mut u8, room: usize, default: &'static [u8], replacement: &'static [u8]) -> Self {
        Self {
            at,
            room,
            default,
            replacement,
            feature: 0,
        }
    }

    /// The byte at `offset` of the site after `code` is copied there and padded with the longest NOPs.
    pub(crate) fn padded(&self, code: &[u8], offset: usize) -> u8 {
        let Some(padding) = offset.checked_sub(code.len()) else {
            return code.get(offset).copied().unwrap_or(0x90);
        };
        // The longest NOPs, then one for the rest.
        let total = self.room - code.len();
        let start = padding - padding % LONGEST_NOP;
        let length = LONGEST_NOP.min(total - start);
        NOPS[length * (length - 1) / 2 + padding - start]
    }

    /// The byte at `offset` as the assembler left it.
    pub(crate) fn assembled(&self, offset: usize) -> u8 {
        self.default.get(offset).copied().unwrap_or(0x90)
    }
}

/// The alternatives of this link unit, in link order.
pub fn sites() -> impl Iterator<Item = Site> + Clone {
    records().iter().filter(|r| r.site != 0).map(|record| {
        let code = core::ptr::with_exposed_provenance::<u8>(at(&record.code));
        let (default, replacement) = (usize::from(record.default), usize::from(record.replacement));
        // SAFETY: the assembler put both sequences there, one after the other (Invariant 2).
        let code = unsafe { core::slice::from_raw_parts(code, default + replacement) };
        let (default, replacement) = code.split_at(default);
        Site {
            at: core::ptr::with_exposed_provenance_mut(at(&record.site)),
            room: usize::from(record.room),
            default,
            replacement,
            feature: record.feature,
        }
    })
}

/// The address that a record's field points at.
fn at(field: &i32) -> usize {
    (&raw const *field).addr().wrapping_add_signed(*field as isize)
}

/// The records of this link unit. Not inlined: another unit's code would find its own table.
#[inline(never)]
fn records() -> &'static [Record] {
    records!("cyclewise_alt_v1", "0, 0, 0, 0", Record)
}
